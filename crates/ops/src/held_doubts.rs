//! Doubts that cannot be recorded yet, because the database at hand is not the one whose log would tell of them. They lie
//! beside it, one line each, until a process can.

use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Whoever has to look has begun by then.
const LINES_MAX: usize = 100;
const LINE_CHARS_MAX: usize = 1_000;

/// Where they lie: beside the checkpoint.
pub fn file(checkpoint_file: &Path) -> PathBuf {
    checkpoint_file.with_extension("doubts")
}

/// Adds one, unless it is there.
pub fn add(file: &Path, what: &str) -> std::io::Result<()> {
    let known = read(file)?;
    if known.len() >= LINES_MAX || known.iter().any(|line| line == what) {
        return Ok(());
    }
    let mut opened = std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(file)?;
    writeln!(opened, "{what}")?;
    opened.sync_all()
}

pub fn read(file: &Path) -> std::io::Result<Vec<String>> {
    let text = match std::fs::read(file) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    Ok(text.lines().take(LINES_MAX).map(|line| line.chars().take(LINE_CHARS_MAX).collect()).collect())
}

/// Once the log tells of them, or somebody said that they have looked.
pub fn forget(file: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
