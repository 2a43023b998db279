//! Calls of cargo and other programs, as seen from inside `cargo run`.

use std::{
    env,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, anyhow, bail};

/// The root of the work tree.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// The folder of downloaded test tools; ignored by git.
pub fn tools() -> PathBuf {
    root().join(".tools")
}

/// Where cargo puts what it builds.
fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |folder| root().join(folder))
}

/// The debug build of one of our programs.
pub fn debug(program: &str) -> PathBuf {
    target().join("debug").join(program)
}

/// The release build of one of our programs.
pub fn release(program: &str) -> PathBuf {
    target().join("release").join(program)
}

/// A cargo call in the root of the work tree.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(arguments);
    forget_package(&mut command);
    command
}

/// Takes the variables away in which the outer `cargo run` describes the package `xtask`. Build scripts that watch them would
/// run again, and their crates with them, each time xtask and a plain cargo call take turns.
pub fn forget_package(command: &mut Command) {
    for (name, _) in env::vars_os() {
        let described = name.to_str().is_some_and(|name| {
            ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"]
                .iter()
                .any(|prefix| name.starts_with(prefix))
        });
        if described {
            command.env_remove(name);
        }
    }
}

/// A cargo call whose compiler of our own crates is clippy's, which denies warnings and otherwise compiles as rustc does:
/// `cargo clippy` would check every dependency once more, which costs a cold run minutes.
pub fn cargo_with_lints(arguments: &[&str]) -> Result<Command> {
    let sysroot = run_quietly(Command::new("rustc").args(["--print", "sysroot"]))?;
    let driver = Path::new(sysroot.trim()).join("bin").join("clippy-driver");
    if !driver.is_file() {
        bail!("`{}` is missing; `rustup component add clippy` brings it", driver.display());
    }
    let mut command = cargo(arguments);
    // The driver's own form of a list of arguments.
    command.env("CLIPPY_ARGS", "--deny__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
    command.env("RUSTC_WORKSPACE_WRAPPER", driver);
    // What a later build could take up again is worth nothing where there is none.
    if env::var_os("CI").is_some() && env::var_os("CARGO_INCREMENTAL").is_none() {
        command.env("CARGO_INCREMENTAL", "0");
    }
    Ok(command)
}

/// Runs `command` on the terminal. An exit code other than zero is an error.
pub fn run(command: &mut Command) -> Result<()> {
    let line = line(command);
    println!("$ {line}");
    let status = command.status().with_context(|| format!("could not start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` ended with {status}");
    }
    Ok(())
}

/// Runs `command` on the terminal except for its standard output, which is returned with how it ended.
pub fn run_and_read(command: &mut Command) -> Result<(String, Result<()>)> {
    let line = line(command);
    println!("$ {line}");
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| format!("could not start `{line}`"))?;
    let mut text = String::new();
    child.stdout.take().context("it has no output")?.read_to_string(&mut text)?;
    let status = child.wait()?;
    let result = if status.success() { Ok(()) } else { Err(anyhow!("`{line}` ended with {status}")) };
    Ok((text, result))
}

/// Runs `command` in silence and gives its standard output; what it printed is shown only if it fails.
pub fn run_quietly(command: &mut Command) -> Result<String> {
    let line = line(command);
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("could not start `{line}`"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("`{line}` ended with {}\n{text}{errors}", output.status);
    }
    Ok(text)
}

/// The command as one would type it, without its environment.
pub fn line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program()).to_string_lossy().into_owned();
    command.get_args().fold(name, |line, argument| format!("{line} {}", argument.to_string_lossy()))
}
