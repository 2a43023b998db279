//! The key file: what signs the log, and the master key of what is encrypted. For its owner alone, never in the database.

use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use ledger::key::{KeyError, LogSigner};
use ledger::keyring::{Keyring, KeyringError};
use store::subject_keys::{MasterKey, MasterKeyError};

#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    #[error(
        "there is no signing key in `{path}`, but the log that is here was begun with one, and only that one can continue it: \
         put it back from where you keep it, mode 0600; copy `ledger.key` from the data folder of the server that made the \
         log; or name it with `ledger_key_file`. Where it is lost for good, keep this database for auditors and begin \
         another one in a new folder (--data)"
    )]
    Missing { path: PathBuf },
    #[error("could not read or write the log's key in `{path}`")]
    File { path: PathBuf, source: std::io::Error },
    #[error("`{path}` has mode {mode:o}; a signing key must be readable by its owner alone (chmod 600)")]
    OpenToOthers { path: PathBuf, mode: u32 },
    #[error("`{path}` does not hold a signing key")]
    Parse { path: PathBuf, source: KeyringError },
    #[error("`{path}` does not hold a master key where it should")]
    ParseMaster { path: PathBuf, source: MasterKeyError },
    #[error(
        "the database holds what is encrypted under a master key, and `{path}` has none: copy the key file of the server that \
         made it, or put back the copy that you keep of it"
    )]
    NoMaster { path: PathBuf },
    #[error(
        "the master key in `{path}` is not the one of this database: copy the key file of the server that encrypted what is in \
         it, or put back the copy that you keep of it"
    )]
    OtherMaster { path: PathBuf },
    #[error("a master key could not be made or compared with the database")]
    Master(#[source] store::StoreError),
    #[error("a signing key could not be made")]
    Make(#[source] KeyError),
    #[error("the keys could not be changed")]
    Change(#[source] KeyringError),
}

/// The keys of a data folder.
pub struct KeyFile {
    pub keyring: Keyring,
    /// Absent in files of earlier versions, until the next start.
    pub master: Option<MasterKey>,
}

impl KeyFile {
    fn parse(path: &Path, text: &str) -> Result<KeyFile, KeyFileError> {
        let (master, rest): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| MasterKey::is_in(line));
        let master = match master.as_slice() {
            [] => Ok(None),
            [line] => MasterKey::parse(line).map(Some),
            [_, _, ..] => Err(MasterKeyError::Several),
        };
        let keyring: String = rest.iter().map(|line| format!("{line}\n")).collect();
        Ok(KeyFile {
            keyring: Keyring::parse(&keyring)
                .map_err(|source| KeyFileError::Parse { path: path.to_owned(), source })?,
            master: master.map_err(|source| KeyFileError::ParseMaster { path: path.to_owned(), source })?,
        })
    }

    fn to_private_text(&self) -> String {
        let master = self.master.as_ref().map(|master| format!("{}\n", master.to_private_text()));
        format!("{}{}", self.keyring.to_private_text(), master.unwrap_or_default())
    }
}

/// Where it is remembered beside the database whose keys were destroyed.
pub fn destroyed_file(folder: &Path) -> PathBuf {
    folder.join("keys.destroyed")
}

/// What the house remembers of API keys beside the database.
pub fn known_file(folder: &Path) -> PathBuf {
    folder.join("keys.known")
}

/// Lets the keys of a restored backup have their seals anew: it may be older than those.
pub fn forget_seals(folder: &Path) -> std::io::Result<()> {
    ops::keys::known::forget_seals(&known_file(folder))
}

/// Reads the key file, if it is there.
pub fn find(path: &Path) -> Result<Option<KeyFile>, KeyFileError> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(file_error(path, source)),
    };
    let metadata = std::fs::metadata(path).map_err(|source| file_error(path, source))?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(KeyFileError::OpenToOthers { path: path.to_owned(), mode });
    }
    KeyFile::parse(path, &text).map(Some)
}

/// Reads the key file of a log that is there already.
pub fn read(path: &Path) -> Result<KeyFile, KeyFileError> {
    find(path)?.ok_or_else(|| KeyFileError::Missing { path: path.to_owned() })
}

/// Makes the first keys of a log that is still to begin.
pub fn make(path: &Path) -> Result<KeyFile, KeyFileError> {
    let random = crate::auth::random_bytes();
    let origin = format!("materia/{}", hex::encode(random.get(..8).unwrap_or_default()));
    let master = MasterKey::generate().map_err(KeyFileError::Master)?;
    let keys = KeyFile { keyring: Keyring::new(new_signer(&origin)?), master: Some(master) };
    write(path, &keys)?;
    Ok(keys)
}

pub fn new_signer(origin: &str) -> Result<LogSigner, KeyFileError> {
    LogSigner::generate(origin, crate::auth::random_bytes()).map_err(KeyFileError::Make)
}

/// Replaces the file as a whole: a crash leaves the old one or the new one.
pub fn write(path: &Path, keys: &KeyFile) -> Result<(), KeyFileError> {
    replace(path, &keys.to_private_text()).map_err(|source| file_error(path, source))
}

/// As [`replace`], but does not wait for the folder: after a loss of power it may be the older one, and never half of one.
pub fn replace_soon(path: &Path, text: &str) -> std::io::Result<()> {
    write_aside(path, text)?.sync_data()?;
    std::fs::rename(aside(path), path)
}

fn aside(path: &Path) -> PathBuf {
    path.with_extension(format!("{}.new", std::process::id()))
}

fn write_aside(path: &Path, text: &str) -> std::io::Result<std::fs::File> {
    let options = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).clone();
    let mut file = options.open(aside(path))?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}

/// Writes aside, syncs, renames and syncs the folder.
pub fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    write_aside(path, text)?.sync_all()?;
    std::fs::rename(aside(path), path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::File::open(folder)?.sync_all()
}

fn file_error(path: &Path, source: std::io::Error) -> KeyFileError {
    KeyFileError::File { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.key");
        assert!(find(&path).unwrap().is_none());
        assert!(matches!(read(&path), Err(KeyFileError::Missing { .. })));
        let made = make(&path).unwrap();
        let found = read(&path).unwrap();
        assert_eq!(found.keyring.origin(), made.keyring.origin());
        assert_eq!(found.master.unwrap().id(), made.master.unwrap().id());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(read(&path), Err(KeyFileError::OpenToOthers { mode: 0o644, .. })));
    }
}
