//! The test binaries of the workspace, as cargo tells of them while it builds.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use crate::cargo::{forget_package, root};

/// One of them.
#[derive(Debug, PartialEq, Eq)]
pub struct Binary {
    /// The folder of its crate, where it runs.
    folder: PathBuf,
    /// The file that its tests begin with, in that folder.
    source: PathBuf,
    program: PathBuf,
}

impl Binary {
    /// The binaries that cargo's messages (`--message-format=json`) tell of.
    pub fn read_all(messages: &str) -> Result<Vec<Binary>> {
        let mut binaries = Vec::new();
        for message in messages.lines() {
            binaries.extend(Binary::read(message).with_context(|| format!("cargo's message: {message}"))?);
        }
        if binaries.is_empty() {
            bail!("cargo told of no test binary");
        }
        Ok(binaries)
    }

    /// The binary that a message is about; nothing if it is about something else.
    fn read(message: &str) -> Result<Option<Binary>> {
        if !message.starts_with(r#"{"reason":"compiler-artifact""#) {
            return Ok(None);
        }
        let (target, built) = message.split_once(r#","profile":{"#).context("no profile")?;
        let (profile, result) = built.split_once('}').context("no end of the profile")?;
        if !profile.contains(r#""test":true"#) {
            return Ok(None);
        }
        let manifest = PathBuf::from(text(target, "manifest_path")?);
        let folder = manifest.parent().context("the manifest is in no folder")?.to_path_buf();
        let source = PathBuf::from(text(target, "src_path")?);
        let source = source.strip_prefix(&folder).context("the source is not in the crate")?.to_path_buf();
        Ok(Some(Binary { folder, source, program: text(result, "executable")?.into() }))
    }

    /// The crate that it tests.
    pub fn package(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Crate and source, such as `ops tests/it/main.rs`.
    pub fn name(&self) -> String {
        format!("{} {}", self.package(), self.source.display())
    }

    /// The line that `cargo test` prints before it runs it.
    pub fn headline(&self) -> String {
        let units = if self.source.starts_with("src") { "unittests " } else { "" };
        let program = self.program.strip_prefix(root()).unwrap_or(&self.program);
        format!("     Running {units}{} ({})", self.source.display(), program.display())
    }

    /// Runs it as `cargo test` does, and with the time of each test in its output.
    pub fn command(&self, filter: Option<&str>) -> Command {
        let mut command = Command::new(&self.program);
        forget_package(&mut command);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        // The harness asks for this variable as long as the option is unstable; nothing is compiled with it.
        command.env("RUSTC_BOOTSTRAP", "1").args(["-Z", "unstable-options", "--report-time"]);
        command.args(filter);
        command
    }

    /// Begins with the crates, the longest first: at the end the lanes have something short to share.
    pub fn sort(binaries: &mut [Binary]) {
        let rank = |binary: &Binary| {
            let is_unit = binary.source.starts_with(Path::new("src"));
            let at = LONGEST.iter().position(|name| *name == binary.package()).unwrap_or(LONGEST.len());
            (is_unit, at)
        };
        binaries.sort_by_key(rank);
    }
}

/// Crates whose integration tests take minutes.
const LONGEST: &[&str] = &["server", "ops", "store"];

/// The text `"key":"text"` in a message. Not a whole parser of JSON, which every first build of xtask would have to wait for:
/// cargo's messages are one line each, and a path that they would have to escape is refused.
fn text<'m>(message: &'m str, key: &str) -> Result<&'m str> {
    let (_, rest) = message.split_once(&format!(r#""{key}":""#)).with_context(|| format!("no `{key}`"))?;
    let (text, _) = rest.split_once('"').with_context(|| format!("`{key}` has no end"))?;
    if text.contains('\\') {
        bail!("`{key}` is a path with quotes or backslashes");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(source: &str, profile_test: bool, executable: &str) -> String {
        format!(
            r#"{{"reason":"compiler-artifact","package_id":"path+file:///w/crates/ops#0.1.0","manifest_path":"/w/crates/ops/Cargo.toml","target":{{"kind":["lib"],"crate_types":["lib"],"name":"ops","src_path":"/w/crates/ops/{source}","edition":"2024","doc":true,"doctest":true,"test":true}},"profile":{{"opt_level":"0","debuginfo":1,"debug_assertions":true,"overflow_checks":true,"test":{profile_test}}},"features":[],"filenames":["/w/x"],"executable":{executable},"fresh":true}}"#
        )
    }

    #[test]
    fn a_test_binary_is_told_from_everything_else_that_is_built() {
        let messages = [
            message("src/lib.rs", false, "null"),
            message("src/lib.rs", true, r#""/w/target/debug/deps/ops-1""#),
            message("tests/it/main.rs", true, r#""/w/target/debug/deps/it-2""#),
            r#"{"reason":"build-finished","success":true}"#.to_owned(),
        ];
        let mut binaries = Binary::read_all(&messages.join("\n")).unwrap();
        let names = |binaries: &[Binary]| binaries.iter().map(Binary::name).collect::<Vec<_>>();
        assert_eq!(names(&binaries), ["ops src/lib.rs", "ops tests/it/main.rs"]);
        Binary::sort(&mut binaries);
        assert_eq!(names(&binaries), ["ops tests/it/main.rs", "ops src/lib.rs"]);
        assert_eq!(binaries[1].headline(), "     Running unittests src/lib.rs (/w/target/debug/deps/ops-1)");
    }

    #[test]
    fn a_binary_that_is_not_understood_is_an_error_and_not_left_out() {
        for executable in ["null", r#""/w/a\"b""#] {
            assert!(Binary::read(&message("src/lib.rs", true, executable)).is_err(), "{executable}");
        }
        assert!(Binary::read_all(r#"{"reason":"build-finished","success":true}"#).is_err());
    }
}
