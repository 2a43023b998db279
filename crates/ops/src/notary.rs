//! The notary: gives events their place in the log within a second, and signs checkpoints within a minute.

mod head;

pub use head::{Afterwards, is_headed};

use std::time::Duration;

use contract::error::OpError;
use ledger::checkpoint::SignedCheckpoint;
use ledger::hash::Hash;
use ledger::keyring::Keyring;
use ledger::policy::Policy;
use ledger::proof::{root_at, subtrees_for_root};
use ledger::tree::{Frontier, TreeHead};
use store::log::{self, Sequenced, StoredCheckpoint};
use store::{Applied, Apply, Conn, Keep, LogIdentity, Reader, StoreError, WriteError};
use tokio::time::Instant;

use crate::audit;
use crate::backup::as_f64;
use crate::door::Platform;
use crate::doubts::Doubt;
use crate::watch::{Contradiction, KeptCheckpoint, LogWatch, SEQUENCED_WITHIN_US, Tried};

const CHECKPOINT_EVERY_US: i64 = 60_000_000;
pub(crate) const CHECKPOINT_EVENTS_MAX: u64 = 1_000;
const PROBE_WAIT_MAX: Duration = Duration::from_secs(5);

#[derive(Debug, thiserror::Error)]
pub enum NotaryError {
    #[error("the log could not be read or written")]
    Store(#[source] store::StoreError),
    #[error("a checkpoint could not be signed")]
    Sign(#[source] OpError),
    #[error("the log does not continue what was signed: {0}")]
    Contradicted(String),
}

pub struct Notary {
    platform: Platform,
}

impl Notary {
    pub fn new(platform: Platform) -> Notary {
        Notary { platform }
    }

    /// Sequences everything that waits, and signs a checkpoint where one is due. Returns the new checkpoint, if any.
    pub async fn work(&self) -> Result<Option<StoredCheckpoint>, NotaryError> {
        let worked = self.step().await;
        // What was found against the log is recorded once it is the right one again, and gets its place at once: the process
        // may be about to end.
        if worked.is_err() || !self.platform.watch().is_holding() {
            return worked;
        }
        self.platform.record_doubts().await;
        Ok(self.step().await?.or(worked?))
    }

    async fn step(&self) -> Result<Option<StoredCheckpoint>, NotaryError> {
        let sequenced = self.sequence_all().await;
        self.platform.watch().note_sequencing(tried(&sequenced), self.now_us());
        match sequenced {
            Ok(Sequenced::Elsewhere) => self.follow().await.map(|_| None),
            Ok(Sequenced::Events(_)) => self.checkpoint_if_due().await,
            // A database that was rolled back takes no writes of this process, and reading it tells why.
            Err(error) => self.follow().await.and(Err(error)),
        }
    }

    /// Doubts a file of SQLite that others wrote to: this house alone does.
    pub fn doubt_others(&self) {
        if self.platform.store().n_foreign_writes() > 0 {
            let what = "another program wrote to the file of the database while this house served it; `materia audit verify` \
                        names the rows that differ";
            self.platform.doubt(Doubt::wrong("FOREIGN_WRITE", what.to_owned()));
        }
    }

    async fn sequence_all(&self) -> Result<Sequenced, NotaryError> {
        loop {
            match self.platform.store().sequence().await.map_err(NotaryError::Store)? {
                Sequenced::Events(n) if n >= log::SEQUENCE_EVENTS_MAX.unsigned_abs() => {}
                done => return Ok(done),
            }
        }
    }

    /// Gives those events their places that an earlier process left behind.
    pub async fn catch_up(&self) -> Result<(), NotaryError> {
        self.sequence_all().await.map(|_| ())
    }

    /// Looks whether an event waits longer than it should, whoever is the sequencer.
    pub async fn look_for_waiting(&self) -> Result<(), NotaryError> {
        let now_us = self.now_us();
        let mut conn = self.read().await?;
        let before_us = now_us.saturating_sub(SEQUENCED_WITHIN_US);
        let oldest = log::oldest_waiting(&mut conn, before_us).await.map_err(NotaryError::Store)?;
        self.platform.watch().note_waiting(oldest, now_us);
        Ok(())
    }

    async fn checkpoint_if_due(&self) -> Result<Option<StoredCheckpoint>, NotaryError> {
        let now_us = self.platform.clock().now_us();
        let (size, kept) = self.follow().await?;
        let (kept_size, kept_us) = kept.map_or((0, i64::MIN / 2), |kept| (kept.tree_size, kept.created_at_us));
        metrics::gauge!("materia_log_size").set(as_f64(size));
        metrics::gauge!("materia_log_checkpoint_size").set(as_f64(kept_size));
        let n_new = size.saturating_sub(kept_size);
        // A clock that was set back must not put off the next checkpoint for ever.
        let is_old = now_us.saturating_sub(kept_us) >= CHECKPOINT_EVERY_US || now_us < kept_us;
        if n_new == 0 || (n_new < CHECKPOINT_EVENTS_MAX && !is_old) {
            return Ok(None);
        }
        self.checkpoint(now_us).await
    }

    /// Looks at the log as it is, whichever process made it so: how long it is, and its newest checkpoint. Until it is signed,
    /// nobody but this process can tell that what had a place in the log was changed.
    async fn follow(&self) -> Result<(u64, Option<StoredCheckpoint>), NotaryError> {
        let mut conn = self.read().await?;
        let head = log::read_state(&mut conn).await.map_err(NotaryError::Store)?.frontier.head();
        let kept = log::latest_checkpoint(&mut conn).await.map_err(NotaryError::Store)?;
        drop(conn);
        let watch = self.platform.watch();
        if watch.is_doubtful(head.size) || watch.seen() != Some(head) || self.is_replaced().await {
            self.continued().await?;
        }
        if let Some(kept) = &kept {
            self.learn(kept).await?;
        }
        Ok((head.size, kept))
    }

    /// Remembers what another process signed: it may be gone from the table when the next one is numbered, and a database that
    /// is rolled back must not be older than what this process knew of.
    async fn learn(&self, kept: &StoredCheckpoint) -> Result<(), NotaryError> {
        let watch = self.platform.watch();
        if watch.remembers(kept.tree_size) {
            return Ok(());
        }
        // It takes the place of what was remembered, so the log must continue that too.
        self.continued().await?;
        if self.holds(&kept.note).await? == Standing::Same {
            watch.remember(kept.tree_size, &kept.note);
        }
        Ok(())
    }

    /// Signs the log as it is, if it continues what was signed before. `None` where another process was faster.
    async fn checkpoint(&self, now_us: i64) -> Result<Option<StoredCheckpoint>, NotaryError> {
        let (state, known) = self.continued().await?;
        let tree_size = state.frontier.size();
        let mut conn = self.read().await?;
        let latest = log::latest_checkpoint(&mut conn).await.map_err(NotaryError::Store)?;
        let after_size = latest.as_ref().map_or(0, |latest| latest.tree_size);
        if after_size >= tree_size {
            return Ok(None);
        }
        let keyring = self.platform.keyring();
        let known = known.iter().map(|kept| kept.note.as_str()).chain(latest.iter().map(|latest| latest.note.as_str()));
        let last_number = match known.filter_map(|note| number_of(keyring, note)).max() {
            Some(number) => number,
            // Those before were signed by a program that gave no numbers.
            None => log::count_checkpoints(&mut conn).await.map_err(NotaryError::Store)?,
        };
        drop(conn);
        let checkpoint = audit::checkpoint_of(keyring, &state).map_err(NotaryError::Sign)?;
        let headed = checkpoint.with_extensions(vec![head::HEADED.to_owned()]);
        let signed = headed.and_then(|checkpoint| keyring.sign(checkpoint.with_number(last_number.saturating_add(1))));
        let note = signed.map_err(|error| NotaryError::Sign(OpError::internal(error)))?.to_string();
        let checkpoint = StoredCheckpoint { tree_size, note, created_at_us: now_us };
        let added = self.platform.store().add_checkpoint(checkpoint.clone(), after_size).await;
        if !added.map_err(NotaryError::Store)? {
            return Ok(None);
        }
        self.platform.watch().remember(checkpoint.tree_size, &checkpoint.note);
        Ok(Some(checkpoint))
    }

    /// The log, if it continues everything that was signed, and what that is; what was found is remembered.
    async fn continued(&self) -> Result<(log::LogState, Vec<KeptCheckpoint>), NotaryError> {
        let watch = self.platform.watch();
        // Before the log is read: another task may see it longer meanwhile.
        let (kept, seen) = (watch.kept(), watch.seen());
        let mut conn = self.read().await?;
        let mut found = continued(&mut conn, self.platform.keyring(), &kept).await.map_err(NotaryError::Store)?;
        if let Ok(state) = &found
            && let Some(strayed) = strayed(&mut conn, state, seen).await.map_err(NotaryError::Store)?
        {
            found = Err(strayed);
        }
        drop(conn);
        if found.is_ok() && self.is_replaced().await {
            found = Err(replaced());
        }
        watch.note_contradiction(found.as_ref().err().cloned());
        match found {
            Ok(state) => {
                watch.see(state.frontier.head());
                Ok((state, kept))
            }
            Err(contradiction) => Err(NotaryError::Contradicted(contradiction.reason)),
        }
    }

    /// Whether writes find another file than the one that is read.
    async fn is_replaced(&self) -> bool {
        let store = self.platform.store();
        if !store.ping().await.is_err_and(|error| error.is_about_another_file()) {
            return false;
        }
        // It was so at the last write; a write that changes nothing tells whether it still is.
        let nothing: Apply<()> =
            Box::new(|_tx| Box::pin(async { Ok(Applied { value: (), event: None, keep: Keep::Changes }) }));
        let written = store.write(None, Instant::now() + PROBE_WAIT_MAX, nothing).await;
        matches!(written, Err(WriteError::Store(error)) if error.is_about_another_file())
    }

    pub(crate) async fn keep(&self, checkpoint: StoredCheckpoint) -> Result<(), NotaryError> {
        self.platform.store().keep_checkpoint(checkpoint).await.map_err(NotaryError::Store)
    }

    pub(crate) async fn read(&self) -> Result<Reader, NotaryError> {
        self.platform.store().read().await.map_err(|error| {
            if !error.is_about_another_file() {
                return NotaryError::Store(error);
            }
            let replaced = replaced();
            self.platform.watch().note_contradiction(Some(replaced.clone()));
            NotaryError::Contradicted(replaced.reason)
        })
    }

    pub(crate) fn now_us(&self) -> i64 {
        self.platform.clock().now_us()
    }

    pub(crate) fn keyring(&self) -> &Keyring {
        self.platform.keyring()
    }

    /// How many events have their place in the log.
    pub async fn size(&self) -> Result<u64, NotaryError> {
        let mut conn = self.read().await?;
        Ok(log::read_state(&mut conn).await.map_err(NotaryError::Store)?.frontier.size())
    }

    /// Sequences what waits and signs it, due or not: before a process ends, and in tests.
    pub async fn finish(&self) -> Result<Option<StoredCheckpoint>, NotaryError> {
        let signed = self.work().await?;
        let (size, kept) = self.follow().await?;
        if size == 0 || kept.is_some_and(|kept| kept.tree_size >= size) {
            return Ok(signed);
        }
        let signed = self.checkpoint(self.now_us()).await?;
        if signed.is_none() {
            // Another process was faster.
            self.follow().await?;
        }
        Ok(signed)
    }

    /// Whether an event has no place yet, by its call. Where several servers write, one may always come.
    pub async fn find_waiting(&self) -> Result<Option<String>, NotaryError> {
        let mut conn = self.read().await?;
        let oldest = log::oldest_waiting(&mut conn, i64::MAX).await.map_err(NotaryError::Store)?;
        Ok(oldest.map(|(call_id, _)| call_id))
    }

    /// Compares the log with a checkpoint that was kept outside the database: is it still a prefix of what is there?
    pub async fn holds(&self, note: &str) -> Result<Standing, NotaryError> {
        let mut conn = self.read().await?;
        let state = log::read_state(&mut conn).await.map_err(NotaryError::Store)?;
        compare(&mut conn, self.platform.keyring(), &state, note).await.map_err(NotaryError::Store)
    }

    /// Remembers a checkpoint that was kept beside the database and that the log was found to continue. The table must
    /// have it too: it is written there first.
    pub async fn remember(&self, note: &str) -> Result<(), NotaryError> {
        let Ok(signed) = SignedCheckpoint::parse(note.as_bytes()) else { return Ok(()) };
        let size = signed.unverified().size();
        let mut conn = self.read().await?;
        if log::find_checkpoint(&mut conn, size).await.map_err(NotaryError::Store)?.is_none() {
            let what = format!(
                "the checkpoint kept beside the database, over {size} events, was missing from \
                `log_checkpoints` when this process came"
            );
            self.platform.watch().note_missing_at_start(what);
        }
        self.platform.watch().remember(size, note);
        Ok(())
    }

    /// Notes what a house that was left alone would have: a log that is older than the time between two checkpoints has one
    /// in the database, and one beside it. Without them a shorter log would pass for this one.
    pub async fn note_lacking(&self, has_kept_one: bool) -> Result<(), NotaryError> {
        let mut conn = self.read().await?;
        let size = log::read_state(&mut conn).await.map_err(NotaryError::Store)?.frontier.size();
        let n_checkpoints = log::count_checkpoints(&mut conn).await.map_err(NotaryError::Store)?;
        let first = log::read_leaves(&mut conn, 0, 1).await.map_err(NotaryError::Store)?.pop();
        drop(conn);
        let began_us = first.and_then(|leaf| leaf.event).map_or(i64::MIN, |event| event.recorded_at_us);
        if size == 0 || self.now_us().saturating_sub(began_us) <= CHECKPOINT_EVERY_US {
            return Ok(());
        }
        if n_checkpoints == 0 {
            let what = format!(
                "the log had {size} events and no row in `log_checkpoints` when this process came: unless the one before was \
                 killed within a minute of its first event, other hands deleted them"
            );
            self.platform.watch().note(what);
        }
        if !has_kept_one {
            let what = format!(
                "the log had {size} events, but no `ledger.checkpoint` lay beside the database when this process came: unless \
                 the data folder is new or a backup was restored, other hands deleted it, and the log may have been longer"
            );
            self.platform.watch().note(what);
        }
        Ok(())
    }

    pub async fn count_checkpoints(&self) -> Result<u64, NotaryError> {
        log::count_checkpoints(&mut *self.read().await?).await.map_err(NotaryError::Store)
    }

    /// What is known of the log beyond the database.
    pub fn watch(&self) -> &LogWatch {
        self.platform.watch()
    }

    /// Makes the log of the database that of this key, unless it is already another's. A key that was rotated in takes the
    /// place of the one it follows.
    pub async fn claim(&self) -> Result<Claim, NotaryError> {
        let keyring = self.platform.keyring();
        let keys: Vec<String> = keyring.all_verifiers().iter().map(ToString::to_string).collect();
        let Some(current) = keys.first() else { return Ok(Claim::OtherLog) };
        let claimed = LogIdentity { origin: keyring.origin().to_owned(), verifier_key: current.clone() };
        let store = self.platform.store();
        let mut conn = self.read().await?;
        let before = store::log_identity::find(&mut conn).await.map_err(NotaryError::Store)?;
        let is_old = log::is_older_than_identity(&mut conn).await.map_err(NotaryError::Store)?;
        drop(conn);
        if before.is_none() && is_old {
            let what =
                "whose log this is was missing from `log_identity` when this process came, although it was signed";
            self.platform.watch().note_missing_at_start(what.to_owned());
        }
        let recorded = store.claim_log(&claimed).await.map_err(NotaryError::Store)?;
        if recorded.origin != claimed.origin || !keys.contains(&recorded.verifier_key) {
            return Ok(Claim::OtherLog);
        }
        if recorded.verifier_key != claimed.verifier_key {
            let changed = store.change_log_key(&recorded.verifier_key, &claimed.verifier_key).await;
            changed.map_err(NotaryError::Store)?;
        }
        self.platform.watch().note_claimed();
        Ok(Claim::Ours)
    }

    /// The newest checkpoint in the database.
    pub async fn latest(&self) -> Result<Option<StoredCheckpoint>, NotaryError> {
        let mut conn = self.read().await?;
        log::latest_checkpoint(&mut conn).await.map_err(NotaryError::Store)
    }
}

/// The log, or why it does not continue one of the kept checkpoints. They were read before it.
pub(crate) async fn continued(
    conn: &mut Conn,
    keyring: &Keyring,
    kept: &[KeptCheckpoint],
) -> Result<Result<log::LogState, Contradiction>, StoreError> {
    let state = log::read_state(conn).await?;
    for KeptCheckpoint { place, note, .. } in kept {
        let standing = compare(conn, keyring, &state, note).await?;
        let what = match standing {
            Standing::Same => continue,
            Standing::Shorter { kept, found } => format!("is over {kept} events, but the log has {found}"),
            Standing::Different { size } => format!("is over {size} events that are not the first {size} of the log"),
            Standing::OtherKey => "is not signed by this log's key".to_owned(),
            Standing::Unreadable => "cannot be read".to_owned(),
        };
        let is_certain = standing != Standing::Unreadable;
        return Ok(Err(Contradiction { reason: format!("{place} {what}"), is_certain }));
    }
    Ok(Ok(state))
}

/// Why the tree is not the one that this process saw, or that its own leaves make.
async fn strayed(
    conn: &mut Conn,
    state: &log::LogState,
    seen: Option<TreeHead>,
) -> Result<Option<Contradiction>, StoreError> {
    let certain = |reason: String| Ok(Some(Contradiction { reason, is_certain: true }));
    let head = state.frontier.head();
    if let Some(seen) = seen {
        if head.size < seen.size {
            return certain(format!("the log had {} events under this process and has {} now", seen.size, head.size));
        }
        if root_of(conn, seen.size).await? != Some(seen.root) {
            return certain(format!("the first {} events had their places and are no longer the same", seen.size));
        }
    }
    if root_of(conn, head.size).await? != Some(head.root) {
        return certain("`log_state` holds another tree than the events of the log make".to_owned());
    }
    Ok(None)
}

fn replaced() -> Contradiction {
    let reason = "the file of the database was replaced or removed under this process".to_owned();
    Contradiction { reason, is_certain: true }
}

/// The root over the first leaves, by the hashes that are kept of them. `None` where some of those are not there.
async fn root_of(conn: &mut Conn, size: u64) -> Result<Option<Hash>, StoreError> {
    if size == 0 {
        return Ok(Some(Frontier::new().root()));
    }
    let hashes = log::subtree_hashes(conn, &subtrees_for_root(size)).await?;
    Ok(root_at(size, |subtree| hashes.get(&subtree).copied()).ok())
}

fn tried(sequenced: &Result<Sequenced, NotaryError>) -> Tried {
    match sequenced {
        Ok(Sequenced::Events(_)) => Tried::Worked,
        Ok(Sequenced::Elsewhere) => Tried::Elsewhere,
        Err(NotaryError::Store(error)) if error.is_unavailable() || error.is_serialization() => Tried::Unavailable,
        Err(NotaryError::Store(error)) => Tried::Refused(error.to_string()),
        Err(error @ (NotaryError::Sign(_) | NotaryError::Contradicted(_))) => Tried::Refused(error.to_string()),
    }
}

/// The number of a checkpoint, if it is one of this log: anybody can write one into the table.
fn number_of(keyring: &Keyring, note: &str) -> Option<u64> {
    let signed = SignedCheckpoint::parse(note.as_bytes()).ok()?;
    let policy = Policy::new(keyring.all_verifiers(), Vec::new(), 0).ok()?;
    policy.check(&signed).ok()?;
    signed.unverified().number()
}

/// How a log stands to a checkpoint, by the hashes that are kept of it.
async fn compare(
    conn: &mut Conn,
    keyring: &Keyring,
    state: &log::LogState,
    note: &str,
) -> Result<Standing, StoreError> {
    let Ok(signed) = SignedCheckpoint::parse(note.as_bytes()) else { return Ok(Standing::Unreadable) };
    let Ok(policy) = Policy::new(keyring.all_verifiers(), Vec::new(), 0) else { return Ok(Standing::Unreadable) };
    if policy.check(&signed).is_err() {
        return Ok(Standing::OtherKey);
    }
    let head = signed.unverified().head();
    if state.frontier.size() < head.size {
        return Ok(Standing::Shorter { kept: head.size, found: state.frontier.size() });
    }
    let is_same = root_of(conn, head.size).await? == Some(head.root);
    Ok(if is_same { Standing::Same } else { Standing::Different { size: head.size } })
}

/// Whether the log of a database is that of the key at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    Ours,
    OtherLog,
}

/// How a log stands to a checkpoint that was signed earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Same,
    /// The log was longer when the checkpoint was signed.
    Shorter {
        kept: u64,
        found: u64,
    },
    /// The first so many leaves are not those that were signed.
    Different {
        size: u64,
    },
    /// The checkpoint is not signed by a key of this log.
    OtherKey,
    Unreadable,
}
