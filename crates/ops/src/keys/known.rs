//! What a house remembers of its keys beside the database: which were revoked, and under which signing keys all were sealed.
//!
//! A row that was copied before its key was revoked has a seal that holds. Put back, nothing in the database tells that it is
//! an older one; this memory does. One line each: `revoked KEY` and `sealed SIGNING_KEY`. Lines are only added, but for a
//! restore. The last line, `seal …`, is over all others: without one that holds the log is asked what was revoked.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contract::id::KeyId;

use super::seals::Seals;

const REVOKED: &str = "revoked ";
const SEALED: &str = "sealed ";
const SEAL: &str = "seal ";

pub(crate) struct KnownKeys {
    file: Option<PathBuf>,
    seals: Arc<Seals>,
    memory: Mutex<Memory>,
}

#[derive(Default)]
struct Memory {
    lines: BTreeSet<String>,
    vouched: Vouched,
}

/// What vouches for the lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Vouched {
    /// The seal over them, or the log since.
    Yes,
    /// There is no seal: the file is new, gone, restored, or older than seals.
    #[default]
    No,
    /// The seal is over other lines, or under a key that was retired.
    Broken,
}

/// The keys that were revoked by some moment.
pub(crate) struct Revoked(BTreeSet<String>);

impl Revoked {
    pub fn contains(&self, key_id: &KeyId) -> bool {
        self.0.contains(&revoked(key_id))
    }
}

impl KnownKeys {
    pub fn open(file: Option<PathBuf>, seals: Arc<Seals>) -> KnownKeys {
        match file.as_deref().map(read) {
            Some(Ok((lines, seal))) => {
                let vouched = match seal {
                    Some(seal) if seals.hold_known(&lines, &seal) => Vouched::Yes,
                    Some(_) => Vouched::Broken,
                    None => Vouched::No,
                };
                KnownKeys { file, seals, memory: Mutex::new(Memory { lines, vouched }) }
            }
            // What cannot be read is not written over either.
            Some(Err(error)) => {
                tracing::error!(error = %error, "Which keys were revoked could not be read beside the database");
                KnownKeys { file: None, seals, memory: Mutex::default() }
            }
            None => KnownKeys { file: None, seals, memory: Mutex::default() },
        }
    }

    pub fn vouched(&self) -> Vouched {
        self.memory().vouched
    }

    /// The log was asked, and these are all that it tells to be revoked.
    pub fn vouch<'k>(&self, all_revoked: impl Iterator<Item = &'k str>) {
        let mut memory = self.memory();
        memory.lines.extend(all_revoked.map(|key_id| format!("{REVOKED}{key_id}")));
        memory.vouched = Vouched::Yes;
        self.write(&memory);
    }

    pub fn is_revoked(&self, key_id: &KeyId) -> bool {
        self.memory().lines.contains(&revoked(key_id))
    }

    /// Those that were revoked by now.
    pub fn revoked(&self) -> Revoked {
        Revoked(self.memory().lines.iter().filter(|line| line.starts_with(REVOKED)).cloned().collect())
    }

    pub fn note_revoked(&self, key_id: &KeyId) {
        self.note(revoked(key_id));
    }

    /// Whether every key that had its seal coming has got it under this signing key.
    pub fn is_sealed(&self, signing_key: &str) -> bool {
        self.memory().lines.contains(&sealed(signing_key))
    }

    pub fn note_sealed(&self, signing_key: &str) {
        self.note(sealed(signing_key));
    }

    fn note(&self, line: String) {
        let mut memory = self.memory();
        if memory.lines.insert(line) {
            self.write(&memory);
        }
    }

    fn write(&self, memory: &Memory) {
        let Some(file) = &self.file else { return };
        let seal = (memory.vouched == Vouched::Yes).then(|| self.seals.seal_known(&memory.lines));
        if let Err(error) = write(file, &memory.lines, seal.as_deref()) {
            tracing::warn!(error = %error, "What is known of keys could not be kept beside the database");
        }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn revoked(key_id: &KeyId) -> String {
    format!("{REVOKED}{key_id}")
}

fn sealed(signing_key: &str) -> String {
    format!("{SEALED}{signing_key}")
}

/// The lines, and the seal over them.
fn read(file: &Path) -> std::io::Result<(BTreeSet<String>, Option<String>)> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    let seal = text.lines().find_map(|line| line.strip_prefix(SEAL)).map(str::to_owned);
    let lines = text.lines().filter(|line| !line.starts_with(SEAL)).map(str::to_owned).collect();
    Ok((lines, seal))
}

/// Replaces the file as a whole: a crash leaves the old one or the new one.
fn write(file: &Path, lines: &BTreeSet<String>, seal: Option<&str>) -> std::io::Result<()> {
    let aside = file.with_extension("new");
    let mut written = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&aside)?;
    let mut text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    text.extend(seal.map(|seal| format!("{SEAL}{seal}\n")));
    written.write_all(text.as_bytes())?;
    written.sync_all()?;
    std::fs::rename(&aside, file)
}

/// Forgets under which signing keys all were sealed: a restored backup may be older than seals, and every row of it was
/// compared with the log. The next start asks the log anew.
pub fn forget_seals(file: &Path) -> std::io::Result<()> {
    let (mut lines, _) = read(file)?;
    let n_before = lines.len();
    lines.retain(|line| !line.starts_with(SEALED));
    if lines.len() == n_before { Ok(()) } else { write(file, &lines, None) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger::key::LogSigner;
    use ledger::keyring::Keyring;

    #[test]
    fn a_revoked_key_is_remembered_by_the_next_process() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys.known");
        let key_id = |text: &str| KeyId::parse(text).unwrap();
        let signer = LogSigner::generate("log.example", [1; 32]).unwrap();
        let seals = Arc::new(Seals::new(&Keyring::new(signer)));
        let open = || KnownKeys::open(Some(file.clone()), Arc::clone(&seals));
        let known = open();
        known.note_revoked(&key_id("0123456789abcdef"));
        known.note_revoked(&key_id("0123456789abcdef"));
        known.note_sealed("1a2b3c4d");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "revoked 0123456789abcdef\nsealed 1a2b3c4d\n");
        let known = open();
        assert_eq!(known.vouched(), Vouched::No);
        assert!(known.is_revoked(&key_id("0123456789abcdef")) && !known.is_revoked(&key_id("0123456789abcdee")));
        assert!(known.is_sealed("1a2b3c4d"));
        known.vouch(["0123456789abcdef", "0123456789abcdee"].into_iter());
        assert!(open().is_revoked(&key_id("0123456789abcdee")) && open().vouched() == Vouched::Yes);
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replace("revoked 0123456789abcdee\n", "")).unwrap();
        assert_eq!(open().vouched(), Vouched::Broken);
        forget_seals(&file).unwrap();
        let known = open();
        assert!(known.is_revoked(&key_id("0123456789abcdef")) && !known.is_sealed("1a2b3c4d"));
    }
}
