//! The owner's notary: keeps the log growing, and keeps its newest checkpoint beside the database, where a database that
//! was rolled back does not reach it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use contract::id::OrganisationId;
use ledger::checkpoint::SignedCheckpoint;
use ledger::tree::TreeHead;
use ops::acceptance::Acceptance;
use ops::{Afterwards, Claim, Notary, NotaryError, Platform, Standing, Unrecorded, held_doubts};
use store::{Engine, Store};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::HouseError;
use super::keys::{self, KeyFile, KeyFileError};
use super::witnesses::{WitnessStanding, Witnesses};
use crate::auth::owner;

/// How long an event waits for its place in the log at most, while the store answers.
const WORK_EVERY: Duration = Duration::from_millis(200);
const AGAIN_AFTER: Duration = Duration::from_secs(1);
/// How often events are looked for that wait too long for their place.
const LOOK_EVERY: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
pub enum RollbackError {
    #[error("the log could not be compared with its last checkpoint")]
    Log(#[source] NotaryError),
    #[error("the log's own tables are damaged; restore a backup (`materia restore`)")]
    Damaged(#[source] store::StoreError),
    #[error("the checkpoint `{path}` cannot be read")]
    File { path: PathBuf, source: std::io::Error },
    #[error(
        "the database is older than its last checkpoint: {found} events instead of {kept}; restore a newer one, or accept \
         the loss with `materia recover --accept-rollback`"
    )]
    Shorter { kept: u64, found: u64 },
    #[error(
        "the database is empty, but {kept} events were signed in this data folder: is this the right database? check \
         --database-url and --data; if the events are really lost, restore a backup, or accept the loss with `materia \
         recover --accept-rollback`"
    )]
    Empty { kept: u64 },
    #[error(
        "the first {size} events are not those that were signed; find out who changed them, or accept it with \
         `materia recover --accept-rollback`"
    )]
    Different { size: u64 },
    #[error(
        "the log was signed, but neither `ledger.checkpoint` nor `ledger.head` lies beside the database: nobody can tell \
         whether it was rolled back; put them back, or accept what may be lost with `materia recover --accept-rollback`"
    )]
    NothingKept,
    #[error(
        "`ledger.head` beside the database is gone or is none, and `ledger.checkpoint`, over {kept} events, was kept after \
         one: nobody can tell what came after it and whether that is still there; put the head back, or accept what may be \
         lost with `materia recover --accept-rollback`"
    )]
    NoHead { kept: u64 },
    #[error("the last checkpoint `{path}` is not signed by this log's key; is `ledger.key` the right one?")]
    OtherKey { path: PathBuf },
    #[error(
        "the log in this database is signed by another key; copy `ledger.key` from the data folder of the server that made \
         it, or name it with `ledger_key_file`; where this key is the right one, other hands changed `log_identity` or \
         `log_checkpoints`"
    )]
    OtherLog,
    #[error(
        "the witness `{}` {}; find out why, or accept it with `materia recover --accept-rollback`",
        .0.name, .0.standing
    )]
    Witness(WitnessStanding),
}

/// Says that a rollback was meant, until the witnesses agree again.
pub fn acceptance_file(folder: &Path) -> PathBuf {
    folder.join("ledger.rollback-accepted")
}

pub fn forget_acceptance(path: &Path) {
    match std::fs::remove_file(path) {
        Ok(()) => tracing::info!("Every witness agrees with the log again"),
        Err(error) => tracing::warn!(error = %error, "The accepted rollback could not be forgotten"),
    }
}

pub fn checkpoint_file(folder: &Path) -> PathBuf {
    folder.join("ledger.checkpoint")
}

/// The newest signed head of the log. It is written with every step of the sequencer, and before every checkpoint.
pub fn head_file(folder: &Path) -> PathBuf {
    folder.join("ledger.head")
}

/// Whether a log was begun here: the database names its key or holds a checkpoint of it, or one lies beside it.
async fn has_begun(folder: &Path, store: &Store) -> Result<bool, RollbackError> {
    let looked = async {
        let mut conn = store.read().await?;
        Ok(store::log_identity::find(&mut conn).await?.is_some() || store::log::count_checkpoints(&mut conn).await? > 0)
    };
    let is_in_database = looked.await.map_err(|error| log_error(NotaryError::Store(error)))?;
    Ok(is_in_database || checkpoint_file(folder).exists())
}

/// A key for a log that has not begun. One that has is continued with its own key or not at all.
pub async fn first_key(folder: &Path, store: &Store, key_file: &Path) -> Result<KeyFile, HouseError> {
    if has_begun(folder, store).await.map_err(HouseError::Rollback)? {
        return Err(HouseError::Key(KeyFileError::Missing { path: key_file.to_owned() }));
    }
    keys::make(key_file).map_err(HouseError::Key)
}

/// Has the log tell of a rollback that somebody accepted. Until it can, the file does.
pub async fn record_acceptance(folder: &Path, platform: &Platform, organisation_id: &OrganisationId) {
    let Ok(text) = std::fs::read_to_string(acceptance_file(folder)) else { return };
    // Older programs left a line for people there.
    let Ok(accepted) = serde_json::from_str::<Acceptance>(&text) else { return };
    if let Err(error) = platform.record_acceptance(&owner(organisation_id), &accepted).await {
        tracing::error!(error = %error, "The accepted rollback could not be recorded; the next start tries again");
    }
}

/// Refuses a database that lost or changed what was signed, by the word of the last checkpoint and of the witnesses.
pub async fn check(folder: &Path, platform: &Platform, witnesses: &Witnesses) -> Result<(), RollbackError> {
    let notary = Notary::new(platform.clone());
    if let Some(latest) = notary.latest().await.map_err(log_error)?
        && notary.holds(&latest.note).await.map_err(log_error)? == Standing::OtherKey
    {
        return Err(RollbackError::OtherLog);
    }
    let kept = check_kept(folder, &notary).await?;
    check_head(folder, &notary, kept.as_deref()).await?;
    check_beside(folder, platform.engine(), &notary).await?;
    notary.note_lacking(checkpoint_file(folder).exists()).await.map_err(log_error)?;
    // Last, so that a folder which is refused leaves no name in a database that may not be its own.
    if notary.claim().await.map_err(log_error)? == Claim::OtherLog {
        return Err(RollbackError::OtherLog);
    }
    if let Err(error) = notary.catch_up().await {
        tracing::warn!(error = %error, "Events of an earlier process have no place in the log yet");
    }
    let is_loss_accepted = acceptance_file(folder).exists();
    platform.watch().accept_loss(is_loss_accepted);
    if notary.latest().await.map_err(log_error)?.is_none() {
        // Whoever rolled the log back may have taken every checkpoint away.
        let found_size = notary.size().await.map_err(log_error)?;
        let is_known = witnesses.ask_sizes(&notary, found_size).await;
        match witnesses.contradiction() {
            Some(found) if !is_loss_accepted => return Err(RollbackError::Witness(found)),
            None if is_known => match notary.finish().await {
                // With something to show, they can tell another history of the same length.
                Ok(signed) => {
                    keep_head(folder, &notary, &mut None, Afterwards::MoreMayCome).await;
                    keep(folder, signed.map(|checkpoint| checkpoint.note));
                }
                Err(error) => tracing::warn!(error = %error, "The log has no checkpoint that witnesses could be shown"),
            },
            Some(_) | None => {}
        }
    }
    witnesses.ask_all(&notary).await;
    match witnesses.contradiction() {
        Some(found) if !is_loss_accepted => Err(RollbackError::Witness(found)),
        Some(_) | None => Ok(()),
    }
}

fn log_error(error: NotaryError) -> RollbackError {
    match error {
        NotaryError::Store(error) if error.is_damage() => RollbackError::Damaged(error),
        NotaryError::Store(_) | NotaryError::Sign(_) | NotaryError::Contradicted(_) => RollbackError::Log(error),
    }
}

/// Compares the log with the checkpoint that lies beside the database, and answers it.
async fn check_kept(folder: &Path, notary: &Notary) -> Result<Option<String>, RollbackError> {
    let path = checkpoint_file(folder);
    let note = match std::fs::read_to_string(&path) {
        Ok(note) => note,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(RollbackError::File { path, source }),
    };
    match notary.holds(&note).await.map_err(log_error)? {
        Standing::Same => {
            notary.remember(&note).await.map_err(log_error)?;
            Ok(Some(note))
        }
        Standing::Shorter { kept, found: 0 } => Err(RollbackError::Empty { kept }),
        Standing::Shorter { kept, found } => Err(RollbackError::Shorter { kept, found }),
        Standing::Different { size } => Err(RollbackError::Different { size }),
        Standing::OtherKey | Standing::Unreadable => Err(RollbackError::OtherKey { path }),
    }
}

/// Compares the log with the head that lies beside the database: after a kill it is newer than the last checkpoint, which
/// `kept` is. Where that was kept after a head, there must be one.
async fn check_head(folder: &Path, notary: &Notary, kept: Option<&str>) -> Result<(), RollbackError> {
    let path = head_file(folder);
    let head = match std::fs::read(&path) {
        Ok(head) => String::from_utf8_lossy(&head).into_owned(),
        // One that is empty says as much.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(source) => return Err(RollbackError::File { path, source }),
    };
    match notary.holds(&head).await.map_err(log_error)? {
        // It says that nothing comes any more, and from here on something does.
        Standing::Same if notary.doubt_added(&head).await.map_err(log_error)? => {
            if let Some(open) = notary.reopen_head(&head).map_err(log_error)? {
                keys::replace(&path, &open).map_err(|source| RollbackError::File { path, source })?;
            }
        }
        Standing::Same => {}
        Standing::Unreadable => match kept.filter(|kept| ops::is_headed(kept)) {
            Some(kept) => return Err(RollbackError::NoHead { kept: size_of(kept) }),
            // The checkpoint of an earlier program says what there is to say.
            None if !head.is_empty() => tracing::warn!("The head of the log beside the database cannot be read"),
            None => {}
        },
        Standing::Shorter { kept, found: 0 } => return Err(RollbackError::Empty { kept }),
        Standing::Shorter { kept, found } => return Err(RollbackError::Shorter { kept, found }),
        Standing::Different { size } => return Err(RollbackError::Different { size }),
        Standing::OtherKey => return Err(RollbackError::OtherKey { path }),
    }
    Ok(())
}

fn size_of(checkpoint: &str) -> u64 {
    SignedCheckpoint::parse(checkpoint.as_bytes()).map_or(0, |signed| signed.unverified().size())
}

/// Keeps in mind that a database was refused which could be put right before anybody looks. One that is empty is most often
/// another database than was meant.
pub fn hold_refusal(folder: &Path, refused: &RollbackError) {
    let is_told = match refused {
        RollbackError::Shorter { .. }
        | RollbackError::Different { .. }
        | RollbackError::NothingKept
        | RollbackError::NoHead { .. } => true,
        RollbackError::Log(_)
        | RollbackError::Damaged(_)
        | RollbackError::File { .. }
        | RollbackError::Empty { .. }
        | RollbackError::OtherKey { .. }
        | RollbackError::OtherLog
        | RollbackError::Witness(_) => false,
    };
    let told = format!("a start was refused: {refused}");
    if is_told && let Err(error) = held_doubts::add(&held_doubts::file(&checkpoint_file(folder)), &told) {
        tracing::warn!(error = %error, "That the database was refused could not be kept beside it");
    }
}

/// Refuses a file of SQLite that came without what lay beside it. Whoever shares a database may come with a new folder.
async fn check_beside(folder: &Path, engine: Engine, notary: &Notary) -> Result<(), RollbackError> {
    let is_kept =
        [checkpoint_file(folder), head_file(folder), acceptance_file(folder)].iter().any(|file| file.exists());
    // A process that was killed may have signed its first checkpoint and kept none.
    if engine == Engine::Postgres || is_kept || notary.count_checkpoints().await.map_err(log_error)? < 2 {
        return Ok(());
    }
    Err(RollbackError::NothingKept)
}

/// Works until told to stop. Trouble is logged and tried again: events wait, nothing is lost.
pub async fn run(folder: PathBuf, platform: Platform, witnesses: Arc<Witnesses>, stop: CancellationToken) {
    let notary = Notary::new(platform.clone());
    let mut look_next = Instant::now();
    let mut last_head = None;
    let mut last_kept = std::fs::read_to_string(checkpoint_file(&folder)).ok();
    loop {
        let wait = match notary.work().await {
            Ok(_) => {
                // In this order: a checkpoint without a head is one that lost it.
                keep_head(&folder, &notary, &mut last_head, Afterwards::MoreMayCome).await;
                keep_newest(&folder, &notary, &mut last_kept);
                WORK_EVERY
            }
            // Said once, when it was found, and by /health since.
            Err(NotaryError::Contradicted(_)) => AGAIN_AFTER,
            Err(error) => {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                tracing::warn!(error = %error, cause, "The log could not be extended; trying again");
                AGAIN_AFTER
            }
        };
        notary.doubt_others();
        if Instant::now() >= look_next {
            look_next = Instant::now() + LOOK_EVERY;
            if let Err(error) = notary.look_for_waiting().await {
                tracing::warn!(error = %error, "Events that wait for their place could not be looked for");
            }
            if platform.engine() == Engine::Postgres
                && let Err(error) = platform.learn_revoked().await
            {
                tracing::warn!(error = %error, "Keys that others revoked could not be looked for");
            }
        }
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = stop.cancelled() => break,
        }
    }
    match notary.finish().await {
        Ok(_) => {
            keep_head(&folder, &notary, &mut last_head, Afterwards::MoreMayCome).await;
            keep_newest(&folder, &notary, &mut last_kept);
        }
        Err(error) => tracing::warn!(error = %error, "The last events have no checkpoint yet"),
    }
    witnesses.ask_once_more(&notary).await;
}

/// Closes the platform. Where nothing waits and nothing came since, the head says so: whatever the next process finds
/// beyond it, other hands wrote.
pub async fn close(folder: &Path, platform: &Platform) -> Result<(), Unrecorded> {
    let notary = Notary::new(platform.clone());
    let written = platform.store_stats();
    let is_settled = notary.find_waiting().await.is_ok_and(|waiting| waiting.is_none());
    let closed = platform.close().await;
    if is_settled && platform.store_stats() == written {
        keep_head(folder, &notary, &mut None, Afterwards::Closed).await;
    }
    closed
}

/// Keeps the head of the log beside the database, if it is another than the last one.
async fn keep_head(folder: &Path, notary: &Notary, last: &mut Option<TreeHead>, after: Afterwards) {
    let (head, note) = match notary.sign_head(*last, after) {
        Ok(Some(signed)) => signed,
        Ok(None) => return,
        Err(error) => {
            tracing::warn!(error = %error, "The head of the log could not be signed");
            return;
        }
    };
    let path = head_file(folder);
    // It waits for the disk, five times a second while events come.
    let written = tokio::task::spawn_blocking(move || keys::replace_soon(&path, &note)).await;
    match written.map_err(std::io::Error::other).flatten() {
        Ok(()) => *last = Some(head),
        Err(error) => tracing::warn!(error = %error, "The head of the log could not be kept beside the database"),
    }
}

/// Keeps the newest checkpoint of the log beside the database, whichever server of it signed that one.
fn keep_newest(folder: &Path, notary: &Notary, last: &mut Option<String>) {
    let newest = notary.watch().newest();
    // Without a head the next start would refuse it.
    if newest != *last && head_file(folder).exists() {
        keep(folder, newest.clone());
        *last = newest;
    }
}

fn keep(folder: &Path, note: Option<String>) {
    let Some(note) = note else { return };
    if let Err(error) = keys::replace(&checkpoint_file(folder), &note) {
        tracing::warn!(error = %error, "The checkpoint could not be kept beside the database");
    }
}
