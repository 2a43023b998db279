//! Doubts that cannot be recorded yet, because the database at hand is not the one whose log would tell of them. They lie
//! beside it, one line each, until a process can.

use std::fs::File;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Whoever has to look has begun by then.
const LINES_MAX: usize = 100;
const LINE_CHARS_MAX: usize = 1_000;
/// No file that this program wrote is longer.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Where they lie: beside the checkpoint.
pub fn file(checkpoint_file: &Path) -> PathBuf {
    checkpoint_file.with_extension("doubts")
}

/// Adds one, unless it is there.
pub fn add(file: &Path, what: &str) -> std::io::Result<()> {
    let (known, what) = (read(file)?, line(what));
    if known.len() >= LINES_MAX || known.contains(&what) {
        return Ok(());
    }
    let mut opened = std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(file)?;
    writeln!(opened, "{what}")?;
    opened.sync_all()
}

pub fn read(file: &Path) -> std::io::Result<Vec<String>> {
    let opened = match File::open(file) {
        Ok(opened) => opened.take(FILE_BYTES_MAX),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let lines = BufReader::new(opened).split(b'\n').take(LINES_MAX);
    lines.map(|bytes| Ok(line(&String::from_utf8_lossy(&bytes?)))).collect()
}

/// A doubt as it stands in the file.
fn line(what: &str) -> String {
    what.chars().filter(|c| *c != '\n').take(LINE_CHARS_MAX).collect()
}

/// Once the log tells of them, or somebody said that they have looked.
pub fn forget(file: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_held_once_however_long_it_is() {
        let folder = testkit::temp_dir();
        let file = file(&folder.path().join("ledger.checkpoint"));
        let long = "x".repeat(3 * LINE_CHARS_MAX);
        for what in ["one", long.as_str(), "one", long.as_str()] {
            add(&file, what).unwrap();
        }
        assert_eq!(read(&file).unwrap(), ["one", &"x".repeat(LINE_CHARS_MAX)]);
        // Other hands may have written anything there.
        std::fs::write(&file, "y".repeat(2 << 20)).unwrap();
        assert_eq!(read(&file).unwrap(), ["y".repeat(LINE_CHARS_MAX)]);
        forget(&file).unwrap();
        assert!(read(&file).unwrap().is_empty());
    }
}
