//! One folder for what a command throws away: gone when its guard is dropped and also when xtask is killed.
//!
//! A shell waits at the end of a pipe that xtask alone holds open. However xtask ends, the pipe closes and the shell removes
//! the folder. What outlives even that, such as the end of the machine, is removed by the next start.

use std::{
    env, fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result, bail};

use crate::cargo::run_quietly;

const PREFIX: &str = "materia-xtask-";
/// Where Linux keeps files in memory.
const MEMORY: &str = "/dev/shm";
/// The databases of all tests take half of it.
const ROOM_MIB: u64 = 8 * 1024;

/// Who is still ending may write while the folder is being removed.
const REMOVER: &str = r#"read -r _; for _ in $(seq 100); do rm -rf "$1" 2>/dev/null && exit; sleep 0.1; done; exit 1"#;

/// The folder, removed on drop.
pub struct Scratch {
    path: PathBuf,
    remover: Child,
}

impl Scratch {
    /// In memory where there is room, else on disk. A test's database is made ten times as fast in memory.
    pub fn in_memory() -> Result<Scratch> {
        match find_room_in_memory() {
            Ok((folder, free_mib)) => {
                println!("databases and folders of tests are in memory: `{MEMORY}` has {} GB free", free_mib / 1024);
                Scratch::make(&folder)
            }
            Err(error) => {
                println!("databases and folders of tests are on disk, which is slower: {error:#}");
                Scratch::on_disk()
            }
        }
    }

    /// Where a commit waits for the disk, as it does for users.
    pub fn on_disk() -> Result<Scratch> {
        Scratch::make(&env::temp_dir())
    }

    fn make(place: &Path) -> Result<Scratch> {
        remove_stale(place);
        let path = place.join(format!("{PREFIX}{}", std::process::id()));
        fs::create_dir(&path).with_context(|| format!("could not make `{}`", path.display()))?;
        let mut remover = Command::new("sh");
        remover.args(["-c", REMOVER, "remover"]).arg(&path).current_dir("/");
        // A group of its own: Ctrl-C ends the others, not the one that tidies up after them.
        remover.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let remover = remover.spawn().context("could not start the shell that removes the folder")?;
        let scratch = Scratch { path, remover };
        // The user of PostgreSQL passes through, whatever the umask says.
        fs::set_permissions(&scratch.path, fs::Permissions::from_mode(0o711))?;
        Ok(scratch)
    }

    /// A folder in it that is not there yet.
    pub fn make_folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.path.join(name);
        fs::create_dir(&folder).with_context(|| format!("could not make `{}`", folder.display()))?;
        Ok(folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // `wait` closes the pipe first.
        if !self.remover.wait().is_ok_and(|status| status.success()) {
            eprintln!("could not remove `{}`", self.path.display());
        }
    }
}

/// The folder in memory with the MiB that are free there, or why it will not do.
fn find_room_in_memory() -> Result<(PathBuf, u64)> {
    // A link on some systems; tests compare paths.
    let folder = fs::canonicalize(MEMORY).with_context(|| format!("there is no `{MEMORY}`"))?;
    let told = run_quietly(Command::new("df").args(["--output=fstype,avail", "--block-size=1M"]).arg(&folder))?;
    let memory = fs::read_to_string("/proc/meminfo").context("could not read `/proc/meminfo`")?;
    let free_mib = read_room(&told, &memory)?;
    if free_mib < ROOM_MIB {
        bail!("`{MEMORY}` has {} GB free, and {} are wanted", free_mib / 1024, ROOM_MIB / 1024);
    }
    Ok((folder, free_mib))
}

/// The free MiB by what `df` and the kernel tell: the file system may be larger than the memory behind it.
fn read_room(df: &str, meminfo: &str) -> Result<u64> {
    let mut words = df.lines().nth(1).unwrap_or_default().split_whitespace();
    let (kind, free) = (words.next().unwrap_or_default(), words.next().and_then(|free| free.parse::<u64>().ok()));
    if kind != "tmpfs" {
        bail!("`{MEMORY}` is of the type `{kind}`, expected `tmpfs`");
    }
    let available = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let available = available.and_then(|kib| kib.split_whitespace().next()?.parse::<u64>().ok());
    let (Some(free), Some(available_kib)) = (free, available) else {
        bail!("neither `df` nor `/proc/meminfo` was understood");
    };
    Ok(free.min(available_kib / 1024))
}

/// Removes the folders of xtask processes that are no more; one with our own number is of somebody before us.
fn remove_stale(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(PREFIX)).and_then(|id| id.parse::<u32>().ok());
        let is_gone = |owner: u32| owner == std::process::id() || !Path::new("/proc").join(owner.to_string()).exists();
        if owner.is_some_and(is_gone)
            && let Err(error) = fs::remove_dir_all(entry.path())
        {
            eprintln!("could not remove `{}`: {error}", entry.path().display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DF: &str = "Type  Avail\ntmpfs 24105\n";

    fn check(df: &str, meminfo: &str, expected: Option<u64>) {
        assert_eq!(read_room(df, meminfo).ok(), expected, "{df} {meminfo}");
    }

    #[test]
    fn the_room_in_memory_is_what_both_the_file_system_and_the_memory_have() {
        check(DF, "MemTotal: 1 kB\nMemAvailable:   40000000 kB\n", Some(24_105));
        check(DF, "MemTotal: 1 kB\nMemAvailable:   10485760 kB\n", Some(10_240));
        check("Type  Avail\noverlay 24105\n", "MemAvailable: 40000000 kB\n", None);
        check(DF, "", None);
        check("", "MemAvailable: 40000000 kB\n", None);
    }

    #[test]
    fn a_folder_goes_with_its_guard_and_so_does_one_that_was_left_behind() {
        let place = env::temp_dir().join(format!("materia-scratch-test-{}", std::process::id()));
        // No process has this number: Linux ends at 2^22.
        let left_behind = place.join(format!("{PREFIX}4194305"));
        fs::create_dir_all(left_behind.join("data")).unwrap();
        let scratch = Scratch::make(&place).unwrap();
        let folder = scratch.make_folder("data").unwrap();
        fs::write(folder.join("file"), "x").unwrap();
        assert!(!left_behind.exists());
        drop(scratch);
        assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
        fs::remove_dir(&place).unwrap();
    }
}
