//! What a house remembers of its keys beside the database: which were revoked, and under which signing keys all were sealed.
//!
//! A row that was copied before its key was revoked has a seal that holds. Put back, nothing in the database tells that it is
//! an older one; this memory does. One line each: `revoked KEY` and `sealed SIGNING_KEY`. Lines are only added, but for a
//! restore.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use contract::id::KeyId;

pub(crate) struct KnownKeys {
    file: Option<PathBuf>,
    lines: Mutex<BTreeSet<String>>,
}

impl KnownKeys {
    pub fn open(file: Option<PathBuf>) -> KnownKeys {
        match file.as_deref().map(read) {
            Some(Ok(lines)) => KnownKeys { file, lines: Mutex::new(lines) },
            // What cannot be read is not written over either.
            Some(Err(error)) => {
                tracing::error!(error = %error, "Which keys were revoked could not be read beside the database");
                KnownKeys { file: None, lines: Mutex::default() }
            }
            None => KnownKeys { file: None, lines: Mutex::default() },
        }
    }

    pub fn is_revoked(&self, key_id: &KeyId) -> bool {
        self.lines().contains(&revoked(key_id))
    }

    pub fn note_revoked(&self, key_id: &KeyId) {
        self.note(revoked(key_id));
    }

    /// Whether every key that had its seal coming has got it under this signing key.
    pub fn is_sealed(&self, signing_key: &str) -> bool {
        self.lines().contains(&sealed(signing_key))
    }

    pub fn note_sealed(&self, signing_key: &str) {
        self.note(sealed(signing_key));
    }

    fn note(&self, line: String) {
        let mut lines = self.lines();
        if lines.insert(line)
            && let Some(file) = &self.file
            && let Err(error) = write(file, &lines)
        {
            tracing::warn!(error = %error, "What is known of keys could not be kept beside the database");
        }
    }

    fn lines(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn revoked(key_id: &KeyId) -> String {
    format!("revoked {key_id}")
}

fn sealed(signing_key: &str) -> String {
    format!("sealed {signing_key}")
}

fn read(file: &Path) -> std::io::Result<BTreeSet<String>> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        Err(error) => Err(error),
    }
}

/// Replaces the file as a whole: a crash leaves the old one or the new one.
fn write(file: &Path, lines: &BTreeSet<String>) -> std::io::Result<()> {
    let aside = file.with_extension("new");
    let mut written = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&aside)?;
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    written.write_all(text.as_bytes())?;
    written.sync_all()?;
    std::fs::rename(&aside, file)
}

/// Forgets under which signing keys all were sealed: a restored backup may be older than seals, and every row of it was
/// compared with the log.
pub fn forget_seals(file: &Path) -> std::io::Result<()> {
    let mut lines = read(file)?;
    let n_before = lines.len();
    lines.retain(|line| !line.starts_with(&sealed("")));
    if lines.len() == n_before { Ok(()) } else { write(file, &lines) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revoked_key_is_remembered_by_the_next_process() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys.known");
        let key_id = |text: &str| KeyId::parse(text).unwrap();
        let known = KnownKeys::open(Some(file.clone()));
        known.note_revoked(&key_id("0123456789abcdef"));
        known.note_revoked(&key_id("0123456789abcdef"));
        known.note_sealed("1a2b3c4d");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "revoked 0123456789abcdef\nsealed 1a2b3c4d\n");
        let known = KnownKeys::open(Some(file.clone()));
        assert!(known.is_revoked(&key_id("0123456789abcdef")) && !known.is_revoked(&key_id("0123456789abcdee")));
        assert!(known.is_sealed("1a2b3c4d"));
        forget_seals(&file).unwrap();
        let known = KnownKeys::open(Some(file));
        assert!(known.is_revoked(&key_id("0123456789abcdef")) && !known.is_sealed("1a2b3c4d"));
    }
}
