//! Backups of the whole record: what lies beside the tables, and how a restored one is checked.
//!
//! The signing key is never in a backup: who holds both could rewrite history. Tokens and settings are not either; files
//! made from the record are made again.

use std::path::{Path, PathBuf};

use contract::ledger::Verification;
use ledger::checkpoint::{CheckpointError, SignedCheckpoint};
use ledger::keyring::Keyring;
use ledger::policy::{Distrust, Policy, PolicyError};
use ledger::proof::{root_at, subtrees_for_root};
use serde::{Deserialize, Serialize};
use store::backup::{self, BackupError, Contents};
use store::{Store, log};

use crate::audit::check::{self, Trust};
use crate::audit::report::Reader;
use crate::context::Progress;
use crate::witnesses::WitnessPolicy;

pub const MANIFEST: &str = "backup.json";
const FORMAT: u32 = 1;
const MANIFEST_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The file `backup.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub format: u32,
    /// Version of the program that wrote it.
    pub program: String,
    pub created_at: String,
    /// Signed over the log as it is in the backup.
    pub checkpoint: String,
    /// Verifier keys of the log, one a line.
    pub log_key: String,
    pub contents: Contents,
}

impl Manifest {
    pub(crate) fn new(
        created_at: String,
        checkpoint: &SignedCheckpoint,
        log_key: String,
        contents: Contents,
    ) -> Manifest {
        let program = env!("CARGO_PKG_VERSION").to_owned();
        Manifest { format: FORMAT, program, created_at, checkpoint: checkpoint.to_string(), log_key, contents }
    }

    pub fn read(folder: &Path) -> Result<Manifest, RestoreError> {
        let path = folder.join(MANIFEST);
        let failed = |source| RestoreError::Manifest { path: path.clone(), source };
        let length = std::fs::metadata(&path).map_err(failed)?.len();
        if length > MANIFEST_BYTES_MAX {
            return Err(RestoreError::NoManifest(path));
        }
        let text = std::fs::read_to_string(&path).map_err(failed)?;
        match serde_json::from_str::<Manifest>(&text) {
            Ok(manifest) if manifest.format == FORMAT => Ok(manifest),
            Ok(_) | Err(_) => Err(RestoreError::NoManifest(path)),
        }
    }

    pub fn n_rows(&self) -> u64 {
        self.contents.tables.iter().map(|table| table.n_rows).sum()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    #[error("could not read `{}`; is this the folder of a backup?", path.display())]
    Manifest { path: PathBuf, source: std::io::Error },
    #[error("`{}` is not a backup that this program can read", .0.display())]
    NoManifest(PathBuf),
    #[error("the backup cannot be restored")]
    Backup(#[source] BackupError),
    #[error("the restored database cannot be opened")]
    Open(#[source] store::OpenError),
    #[error("the restored log cannot be read")]
    Read(#[source] store::StoreError),
    #[error("the checkpoint of the backup cannot be read")]
    Checkpoint(#[source] CheckpointError),
    #[error("the keys of the log do not make a policy")]
    Policy(#[source] PolicyError),
    #[error("the checkpoint of the backup is not signed by this log's key; is `ledger.key` the right one?")]
    OtherKey(#[source] Distrust),
    #[error(
        "the restored log is not the one that the backup's checkpoint was signed over; everything was taken out again"
    )]
    OtherLog,
    #[error("the restored log does not verify; everything was taken out again")]
    Wrong(Box<Verification>),
}

/// What a restore left behind.
#[derive(Debug)]
pub struct Restored {
    pub n_rows: u64,
    pub verification: Verification,
    /// The newest checkpoint of its table, for the folder that the house moves into.
    pub checkpoint: Option<String>,
}

/// Restores a backup into an empty database and verifies it: against the checkpoint of the backup, and as `audit_verify`
/// does. What does not verify is taken out again.
pub async fn restore(
    options: &store::Options,
    folder: &Path,
    keyring: &Keyring,
    now_us: i64,
    progress: &Progress,
) -> Result<Restored, RestoreError> {
    let manifest = Manifest::read(folder)?;
    let policy = Policy::new(keyring.all_verifiers(), Vec::new(), 0).map_err(RestoreError::Policy)?;
    let signed = SignedCheckpoint::parse(manifest.checkpoint.as_bytes()).map_err(RestoreError::Checkpoint)?;
    policy.check(&signed).map_err(RestoreError::OtherKey)?;
    let n_rows = manifest.n_rows();
    let report = |n_restored: u64| progress.report(as_f64(n_restored), Some(as_f64(n_rows)), "rows");
    let n_rows = backup::restore(options, folder, &manifest.contents, report).await.map_err(RestoreError::Backup)?;
    match verify(options, &signed, keyring, now_us, progress).await {
        Ok((verification, checkpoint)) => Ok(Restored { n_rows, verification, checkpoint }),
        Err(error) => {
            backup::clear(options).await.map_err(RestoreError::Backup)?;
            Err(error)
        }
    }
}

async fn verify(
    options: &store::Options,
    signed: &SignedCheckpoint,
    keyring: &Keyring,
    now_us: i64,
    progress: &Progress,
) -> Result<(Verification, Option<String>), RestoreError> {
    let store = Store::open(options.clone()).await.map_err(RestoreError::Open)?;
    let checked = async {
        let mut conn = store.read().await?;
        let head = signed.unverified().head();
        // A checkpoint over fewer events would vouch for nothing of those after them.
        let is_whole = log::read_state(&mut conn).await?.frontier.size() == head.size;
        let is_same = is_whole
            && match log::subtree_hashes(&mut conn, &subtrees_for_root(head.size)).await {
                Ok(hashes) => {
                    root_at(head.size, |subtree| hashes.get(&subtree).copied()).is_ok_and(|root| root == head.root)
                }
                Err(_) => false,
            };
        // Cosignatures are for the house to ask for once it stands: a backup may be older than the last of them.
        let trust = Trust {
            keyring,
            witness_policy: &WitnessPolicy::default(),
            now_us,
            settled_before: log::Position::FIRST,
            kept: &[],
            doubts: &[],
            keys: None,
            is_claimed: false,
            contradictions: &[],
            reader: Reader::Restorer,
        };
        let found = check::whole_log(&mut conn, &trust, progress).await?.verification;
        Ok((is_same, found, log::latest_checkpoint(&mut conn).await?.map(|kept| kept.note)))
    };
    let checked = checked.await.map_err(RestoreError::Read);
    store.close().await;
    match checked? {
        (_, found, _) if !found.ok => Err(RestoreError::Wrong(Box::new(found))),
        (false, _, _) => Err(RestoreError::OtherLog),
        (true, found, checkpoint) => Ok((found, checkpoint)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a progress bar does not need the last digit")]
pub(crate) fn as_f64(n: u64) -> f64 {
    n as f64
}
