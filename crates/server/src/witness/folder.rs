//! The folder of a witness: its key, the keys of the logs it knows, and the newest checkpoint it cosigned for each.
//!
//! - `witness.key`: the signing key, for its owner alone
//! - `logs`: one verifier key a line; read for every request, so that a log's new key counts at once
//! - `heads/`: the newest cosigned checkpoint of each log, as the log signed it
//! - `evidence/`: requests that contradicted such a checkpoint, as they came
//!
//! One process holds the folder, and within it one request at a time reads, decides and stores. A head is on the disk
//! before its cosignature leaves.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ledger::checkpoint::{CheckpointError, SignedCheckpoint};
use ledger::cosignature::TimeTooLarge;
use ledger::key::{KeyError, LogVerifier, WitnessSigner, WitnessVerifier};
use ledger::note::signature_lines;
use ledger::tree::TreeHead;
use ledger::witness::{AddCheckpoint, Refusal, decide};
use sha2::{Digest, Sha256};
use store::{OwnerError, OwnerLock};

use crate::owner::keys::replace;

const LOGS_MAX: usize = 256;
const FILE_BYTES_MAX: u64 = 512 * 1024;
/// Who floods a witness with forks must not fill its disk.
const EVIDENCE_MAX: usize = 1_000;

#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("the folder `{}` cannot be used", path.display())]
    Lock { path: PathBuf, source: OwnerError },
    #[error("another witness runs in `{}`", .0.display())]
    Taken(PathBuf),
    #[error("`{}` is the data folder of a log; a witness needs a folder of its own, best on another machine", .0.display())]
    OfALog(PathBuf),
    #[error("could not read or write `{}`", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("`{}` has mode {mode:o}; a signing key must be readable by its owner alone (chmod 600)", path.display())]
    OpenToOthers { path: PathBuf, mode: u32 },
    #[error("`{}` does not hold a key", path.display())]
    Key { path: PathBuf, source: KeyError },
    #[error("the key in `{}` is called `{found}`, and a key keeps its name; leave out --name, or use another folder", path.display())]
    Named { path: PathBuf, found: String },
    #[error("line {line} of `{}` is not the verifier key of a log", path.display())]
    LogKey { path: PathBuf, line: usize, source: KeyError },
    #[error("a witness knows at most {LOGS_MAX} log keys")]
    TooManyLogs,
    #[error("`{}` is not a checkpoint that was cosigned here; nothing of this log is cosigned until it is mended", .0.display())]
    Head(PathBuf, #[source] Option<CheckpointError>),
    #[error("this machine's clock is beyond what a cosignature can hold")]
    Clock(#[source] TimeTooLarge),
}

pub struct Folder {
    path: PathBuf,
    signer: WitnessSigner,
    /// Held from reading a head to storing the next one.
    deciding: Mutex<()>,
    _lock: OwnerLock,
}

impl Folder {
    /// Takes the folder; makes it, and a key called `name`, on first use.
    pub fn open(path: &Path, name: Option<&str>) -> Result<Folder, FolderError> {
        if ["materia.db", "ledger.key"].iter().any(|file| path.join(file).exists()) {
            return Err(FolderError::OfALog(path.to_owned()));
        }
        let lock = OwnerLock::try_acquire(path)
            .map_err(|source| FolderError::Lock { path: path.to_owned(), source })?
            .ok_or_else(|| FolderError::Taken(path.to_owned()))?;
        for inner in ["heads", "evidence"] {
            let inner = path.join(inner);
            make(&inner).map_err(|source| FolderError::File { path: inner, source })?;
        }
        let signer = read_or_make_key(path, name)?;
        Ok(Folder { path: path.to_owned(), signer, deciding: Mutex::new(()), _lock: lock })
    }

    /// The key by which cosignatures are verified.
    pub fn key(&self) -> WitnessVerifier {
        self.signer.verifier()
    }

    /// The logs whose checkpoints are cosigned.
    pub fn logs(&self) -> Result<Vec<LogVerifier>, FolderError> {
        read_logs(&self.path.join("logs"))
    }

    /// Forgets what was cosigned of a log, so that another history of it can begin. The old head stays as evidence.
    pub fn forget(&self, origin: &str) -> Result<Option<PathBuf>, FolderError> {
        let head = self.head_file(origin);
        if !head.exists() {
            return Ok(None);
        }
        let aside = self.path.join("evidence").join(format!("head-{}", uuid::Uuid::now_v7()));
        std::fs::rename(&head, &aside).map_err(|source| FolderError::File { path: head, source })?;
        Ok(Some(aside))
    }

    /// The newest checkpoint that was cosigned for a log.
    pub fn head(&self, origin: &str) -> Result<Option<SignedCheckpoint>, FolderError> {
        let path = self.head_file(origin);
        let Some(text) = read_if_there(&path)? else { return Ok(None) };
        match SignedCheckpoint::parse(text.as_bytes()) {
            Ok(head) if head.unverified().origin() == origin => Ok(Some(head)),
            Ok(_) => Err(FolderError::Head(path, None)),
            Err(error) => Err(FolderError::Head(path, Some(error))),
        }
    }

    /// Decides about a request and, if it is accepted, answers the cosignature line. Blocks on the disk.
    pub fn add_checkpoint(&self, request: &AddCheckpoint, time_s: u64) -> Result<Result<String, Refusal>, FolderError> {
        let _one_at_a_time = self.deciding.lock().unwrap_or_else(PoisonError::into_inner);
        let logs = self.logs()?;
        let origin = request.checkpoint().unverified().origin();
        let known: Option<TreeHead> = self.head(origin)?.map(|head| head.unverified().head());
        match decide(request, &logs, known) {
            Ok(head) => {
                if known != Some(head) {
                    let path = self.head_file(origin);
                    replace(&path, &request.checkpoint().to_string())
                        .map_err(|source| FolderError::File { path, source })?;
                }
                let line = self.signer.cosign(request.checkpoint(), time_s).map_err(FolderError::Clock)?;
                Ok(Ok(signature_lines(&[line])))
            }
            Err(refusal) => {
                if refusal.is_evidence() {
                    self.keep_evidence(request)?;
                }
                Ok(Err(refusal))
            }
        }
    }

    /// The file of a log: origins may hold anything, file names may not.
    fn head_file(&self, origin: &str) -> PathBuf {
        self.path.join("heads").join(hex::encode(Sha256::digest(origin)))
    }

    fn keep_evidence(&self, request: &AddCheckpoint) -> Result<(), FolderError> {
        let folder = self.path.join("evidence");
        let wrong = |source| FolderError::File { path: folder.clone(), source };
        if std::fs::read_dir(&folder).map_err(wrong)?.count() >= EVIDENCE_MAX {
            tracing::error!("There is more evidence of forks than is kept");
            return Ok(());
        }
        let body = request.to_string();
        let path = folder.join(hex::encode(Sha256::digest(&body)));
        let opened = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        match opened {
            Ok(mut file) => file.write_all(body.as_bytes()).and_then(|()| file.sync_all()).map_err(wrong),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(wrong(error)),
        }
    }
}

/// Adds a log, or another key of a known one, also while a witness serves. Returns whether it was new.
pub fn trust(folder: &Path, key: LogVerifier) -> Result<bool, FolderError> {
    let path = folder.join("logs");
    let mut logs = read_logs(&path)?;
    if logs.contains(&key) {
        return Ok(false);
    }
    logs.push(key);
    if logs.len() > LOGS_MAX {
        return Err(FolderError::TooManyLogs);
    }
    let text: String = logs.iter().map(|key| format!("{key}\n")).collect();
    make(folder).and_then(|()| replace(&path, &text)).map_err(|source| FolderError::File { path, source })?;
    Ok(true)
}

fn make(folder: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn read_logs(path: &Path) -> Result<Vec<LogVerifier>, FolderError> {
    let text = read_if_there(path)?.unwrap_or_default();
    let parse = |(index, line)| {
        let wrong = |source| FolderError::LogKey { path: path.to_owned(), line: index + 1, source };
        LogVerifier::parse(line).map_err(wrong)
    };
    let logs: Vec<LogVerifier> = text.lines().enumerate().map(parse).collect::<Result<_, _>>()?;
    if logs.len() > LOGS_MAX { Err(FolderError::TooManyLogs) } else { Ok(logs) }
}

/// The signing key of a witness' folder, made on first use. One that has another name than the one asked for is refused.
pub fn read_or_make_key(folder: &Path, name: Option<&str>) -> Result<WitnessSigner, FolderError> {
    let path = &folder.join("witness.key");
    if let Some(text) = read_if_there(path)? {
        let metadata = std::fs::metadata(path).map_err(|source| FolderError::File { path: path.to_owned(), source })?;
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(FolderError::OpenToOthers { path: path.to_owned(), mode });
        }
        let line = text.strip_suffix('\n').unwrap_or(&text);
        let signer = WitnessSigner::parse(line).map_err(|source| FolderError::Key { path: path.to_owned(), source })?;
        let found = signer.verifier().name().to_owned();
        return match name.is_none_or(|name| name == found) {
            true => Ok(signer),
            false => Err(FolderError::Named { path: path.to_owned(), found }),
        };
    }
    let random = crate::auth::random_bytes();
    let fallback = format!("materia-witness/{}", hex::encode(random.get(..8).unwrap_or_default()));
    let signer = WitnessSigner::generate(name.unwrap_or(&fallback), crate::auth::random_bytes())
        .map_err(|source| FolderError::Key { path: path.to_owned(), source })?;
    make(folder)
        .and_then(|()| replace(path, &format!("{}\n", signer.to_private_text())))
        .map_err(|source| FolderError::File { path: path.to_owned(), source })?;
    Ok(signer)
}

fn read_if_there(path: &Path) -> Result<Option<String>, FolderError> {
    let mut text = String::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(FILE_BYTES_MAX).read_to_string(&mut text));
    match read {
        Ok(_) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(FolderError::File { path: path.to_owned(), source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger::checkpoint::Checkpoint;
    use ledger::hash::Hash;
    use ledger::key::LogSigner;

    fn log() -> LogSigner {
        LogSigner::generate("log.example", [1; 32]).unwrap()
    }

    fn request(old_size: u64, size: u64, leaf: &[u8]) -> AddCheckpoint {
        let signed = Checkpoint::new("log.example", size, Hash::leaf(leaf)).unwrap().sign(&[&log()]).unwrap();
        AddCheckpoint::new(old_size, vec![], signed).unwrap()
    }

    #[test]
    fn what_was_cosigned_is_remembered_by_the_next_process() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Folder::open(folder.path(), Some("witness.example")).unwrap();
        let witness = open();
        let unknown = witness.add_checkpoint(&request(0, 1, b"a"), 7).unwrap().unwrap_err();
        assert_eq!(unknown.status(), 404);
        assert!(trust(folder.path(), log().verifier()).unwrap() && !trust(folder.path(), log().verifier()).unwrap());
        let line = witness.add_checkpoint(&request(0, 1, b"a"), 7).unwrap().unwrap();
        assert!(line.starts_with("— witness.example "), "{line}");
        assert!(matches!(Folder::open(folder.path(), None), Err(FolderError::Taken(_))));
        drop(witness);

        let witness = open();
        let refusal = witness.add_checkpoint(&request(0, 1, b"a"), 8).unwrap().unwrap_err();
        assert_eq!((refusal.status(), refusal.body()), (409, "1\n".to_owned()));
        let fork = witness.add_checkpoint(&request(1, 1, b"b"), 8).unwrap().unwrap_err();
        assert_eq!(fork.status(), 422);
        assert_eq!(std::fs::read_dir(folder.path().join("evidence")).unwrap().count(), 1);
        assert!(witness.add_checkpoint(&request(1, 1, b"a"), 8).unwrap().is_ok());
    }

    #[test]
    fn a_damaged_head_is_never_taken_for_none() {
        let folder = tempfile::tempdir().unwrap();
        let witness = Folder::open(folder.path(), None).unwrap();
        trust(folder.path(), log().verifier()).unwrap();
        witness.add_checkpoint(&request(0, 1, b"a"), 7).unwrap().unwrap();
        for damage in ["", "x", "log.example\n9\n"] {
            std::fs::write(witness.head_file("log.example"), damage).unwrap();
            assert!(matches!(witness.add_checkpoint(&request(0, 1, b"b"), 8), Err(FolderError::Head(_, _))));
        }
        assert!(witness.forget("log.example").unwrap().is_some());
        assert!(witness.add_checkpoint(&request(0, 1, b"b"), 9).unwrap().is_ok());
    }

    #[test]
    fn a_witness_does_not_move_in_with_the_log() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ledger.key"), "x").unwrap();
        assert!(matches!(Folder::open(folder.path(), None), Err(FolderError::OfALog(_))));
    }

    #[test]
    fn a_key_that_others_can_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        drop(Folder::open(folder.path(), None).unwrap());
        let key = folder.path().join("witness.key");
        assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(Folder::open(folder.path(), None), Err(FolderError::OpenToOthers { mode: 0o640, .. })));
    }
}
