//! Several applies in one transaction: one commit, one fsync, and none of them can harm another.
//!
//! The first pass is optimistic and has no savepoints. If an apply wants to keep nothing, fails or panics, the
//! transaction is rolled back and the batch runs once more with a savepoint around each apply. Where even a savepoint
//! does not hold, each apply gets a transaction of its own.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::Instant;

use crate::ahead::Alike;
use crate::conn::{Conn, Tx};
use crate::error::{StoreError, WriteError};
use crate::events::{self, Duplicate, EventRow, Unfinished};

/// A change as SQL. It may be called several times, each time in a transaction that has none of its earlier effects;
/// so it does nothing but SQL, and what it captures it clones into the future.
pub type Apply<T> = Box<dyn for<'a, 'c> FnMut(&'a mut Tx<'c>) -> BoxFuture<'a, Result<Applied<T>, StoreError>> + Send>;

#[derive(Debug)]
pub struct Applied<T> {
    pub value: T,
    pub event: Option<EventRow>,
    pub keep: Keep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    Changes,
    /// The apply's own changes are rolled back, its event is stored all the same: a refusal.
    Nothing,
}

/// A write of any output type, with the caller who waits for it.
pub(crate) trait Job: Send {
    fn deadline(&self) -> Instant;
    fn apply<'a>(&'a mut self, conn: &'a mut Conn) -> BoxFuture<'a, Result<Step, WriteError>>;
    fn answer(self: Box<Self>, result: Result<(), WriteError>);
}

/// What an apply left to be stored.
pub(crate) struct Step {
    event: Option<EventRow>,
    keep: Keep,
}

pub(crate) struct Write<T> {
    pub apply: Apply<T>,
    pub deadline: Instant,
    /// What the last run of `apply` gave.
    pub value: Option<T>,
    pub reply: oneshot::Sender<Result<T, WriteError>>,
    pub permit: OwnedSemaphorePermit,
}

impl<T: Send> Job for Write<T> {
    fn deadline(&self) -> Instant {
        self.deadline
    }

    fn apply<'a>(&'a mut self, conn: &'a mut Conn) -> BoxFuture<'a, Result<Step, WriteError>> {
        Box::pin(async move {
            let mut tx = Tx::new(conn);
            let outcome = AssertUnwindSafe(async { (self.apply)(&mut tx).await }).catch_unwind().await;
            let applied = match outcome {
                Ok(Ok(applied)) => applied,
                Ok(Err(error)) => return Err(WriteError::Store(error)),
                Err(_panic) => return Err(WriteError::Panicked),
            };
            if let Some(failure) = tx.failure() {
                return Err(WriteError::Store(failure.clone()));
            }
            if tx.is_lost() {
                return Err(WriteError::Store(StoreError::unavailable("the apply abandoned a statement")));
            }
            self.value = Some(applied.value);
            Ok(Step { event: applied.event, keep: applied.keep })
        })
    }

    fn answer(self: Box<Self>, result: Result<(), WriteError>) {
        let Write { value, reply, permit, .. } = *self;
        // First, so that a caller who writes again at once finds its place free.
        drop(permit);
        let missing = || WriteError::Store(StoreError::other("a committed apply left no value"));
        if reply.send(result.and_then(|()| value.ok_or_else(missing))).is_err() {
            tracing::debug!("The caller of a finished write is gone");
        }
    }
}

/// A job on its way through one or more attempts.
pub(crate) struct Slot {
    job: Box<dyn Job>,
    /// Writes with the same word are alike: see [`crate::ahead`]. With when its call began.
    alike: Option<(String, i64)>,
    has_started: bool,
    state: State,
}

enum State {
    Waiting,
    Applied(Step),
    Failed(WriteError),
}

impl Slot {
    pub(crate) fn new(job: Box<dyn Job>, alike: Option<(String, i64)>) -> Slot {
        Slot { job, alike, has_started: false, state: State::Waiting }
    }

    /// The store error of this job alone, if that is how it ended.
    pub(crate) fn store_error(&self) -> Option<&StoreError> {
        match &self.state {
            State::Failed(WriteError::Store(error)) => Some(error),
            State::Failed(WriteError::Expired | WriteError::QueueFull | WriteError::Panicked)
            | State::Applied(_)
            | State::Waiting => None,
        }
    }

    pub(crate) fn answer(self) {
        let result = match self.state {
            State::Applied(_) => Ok(()),
            State::Failed(error) => Err(error),
            State::Waiting => Err(WriteError::Store(StoreError::other("a write was not attempted"))),
        };
        self.job.answer(result);
    }

    pub(crate) fn answer_error(self, error: StoreError) {
        // An expired job was not run, whatever became of the others.
        match self.state {
            State::Failed(WriteError::Expired) => self.job.answer(Err(WriteError::Expired)),
            State::Failed(_) | State::Applied(_) | State::Waiting => self.job.answer(Err(WriteError::Store(error))),
        }
    }

    /// Whether its caller still waits.
    pub(crate) fn has_time(&self) -> bool {
        self.job.deadline() > Instant::now()
    }

    pub(crate) fn expire(&mut self) -> bool {
        let is_expired = !self.has_started && self.job.deadline() <= Instant::now();
        if is_expired {
            self.state = State::Failed(WriteError::Expired);
        }
        is_expired
    }

    async fn apply(&mut self, conn: &mut Conn) {
        if self.expire() {
            return;
        }
        self.has_started = true;
        self.state = match self.job.apply(conn).await {
            Ok(step) => State::Applied(step),
            Err(error) => State::Failed(error),
        };
    }

    pub(crate) fn event(&self) -> Option<&EventRow> {
        match &self.state {
            State::Applied(step) => step.event.as_ref(),
            State::Failed(_) | State::Waiting => None,
        }
    }
}

#[derive(Default)]
pub(crate) struct Committed {
    pub n_commits: u64,
    pub n_applies: u64,
    /// Of the last COMMIT alone.
    pub took: Duration,
}

/// Runs the batch in the transaction that `conn` has just begun. `Ok` means that each slot knows its own outcome.
/// After an error nothing of the batch is stored, and in any case `conn` is in no transaction.
pub(crate) async fn run(conn: &mut Conn, slots: &mut [Slot]) -> Result<Committed, StoreError> {
    let result = attempt(conn, slots).await;
    abort(conn).await;
    result
}

async fn attempt(conn: &mut Conn, slots: &mut [Slot]) -> Result<Committed, StoreError> {
    if let [slot] = slots {
        return attempt_single(conn, slot).await;
    }
    if let Some(committed) = apply_together(conn, slots).await? {
        return Ok(committed);
    }
    conn.rollback().await?;
    conn.ahead.end();
    conn.begin().await?;
    if let Some(committed) = apply_apart(conn, slots).await? {
        return Ok(committed);
    }
    conn.rollback().await?;
    Ok(apply_alone(conn, slots).await)
}

/// A batch of one needs no second run: its transaction is rolled back, and at most its event is left to store.
async fn attempt_single(conn: &mut Conn, slot: &mut Slot) -> Result<Committed, StoreError> {
    if let Some(committed) = apply_together(conn, std::slice::from_mut(slot)).await? {
        return Ok(committed);
    }
    conn.rollback().await?;
    let Some(event) = slot.event() else {
        return Ok(Committed::default());
    };
    conn.begin().await?;
    events::insert(conn, &[event], Duplicate::Refuse).await?;
    commit(conn, 1).await
}

/// The optimistic pass. `None` means that the transaction must be rolled back.
async fn apply_together(conn: &mut Conn, slots: &mut [Slot]) -> Result<Option<Committed>, StoreError> {
    conn.ahead.end();
    let mut left: HashMap<String, Alike> = HashMap::new();
    for (alike, at_us) in slots.iter().filter_map(|slot| slot.alike.clone()) {
        let left = left.entry(alike).or_insert(Alike { n: 0, last_at_us: at_us });
        (left.n, left.last_at_us) = (left.n + 1, at_us);
    }
    for slot in slots.iter_mut() {
        let left = slot.alike.as_ref().and_then(|(alike, _)| left.get_mut(alike));
        conn.ahead.begin(left.and_then(|left| {
            left.n -= 1;
            (left.n > 0).then_some(*left)
        }));
        slot.apply(conn).await;
        match &slot.state {
            State::Applied(Step { keep: Keep::Changes, .. }) | State::Failed(WriteError::Expired) => {}
            State::Failed(WriteError::Store(error)) if error.is_serialization() => return Err(error.clone()),
            State::Applied(Step { keep: Keep::Nothing, .. }) | State::Failed(_) | State::Waiting => return Ok(None),
        }
    }
    if conn.ahead.end() {
        return Ok(None);
    }
    let n_applies = n_applied(slots);
    if n_applies == 0 {
        return commit(conn, 0).await.map(Some);
    }
    let events: Vec<&EventRow> = slots.iter().filter_map(Slot::event).collect();
    let started = Instant::now();
    match events::insert_and_commit(conn, &events).await {
        Ok(()) => Ok(Some(Committed { n_commits: 1, n_applies, took: started.elapsed() })),
        Err(Unfinished::Commit(error)) => Err(error),
        Err(Unfinished::Events(error)) if error.is_serialization() => Err(error),
        Err(Unfinished::Events(error)) => {
            if let [slot] = slots {
                slot.state = State::Failed(WriteError::Store(error));
            }
            Ok(None)
        }
    }
}

/// The careful pass, with a savepoint around each apply. `None` means that a failure took the whole transaction with
/// it, as a full disk does on SQLite.
async fn apply_apart(conn: &mut Conn, slots: &mut [Slot]) -> Result<Option<Committed>, StoreError> {
    for slot in slots.iter_mut() {
        conn.savepoint().await?;
        slot.apply(conn).await;
        let mut undo = match &slot.state {
            State::Applied(Step { keep: Keep::Changes, .. }) | State::Failed(WriteError::Expired) => Ok(()),
            // A serialization failure dooms the whole transaction, savepoint or not.
            State::Failed(WriteError::Store(error)) if error.is_serialization() => return Err(error.clone()),
            State::Applied(Step { keep: Keep::Nothing, .. }) | State::Failed(_) | State::Waiting => {
                conn.rollback_to_savepoint().await
            }
        };
        if let Some(event) = slot.event()
            && undo.is_ok()
            && let Err(error) = events::insert(conn, &[event], Duplicate::Refuse).await
        {
            if error.is_serialization() {
                return Err(error);
            }
            undo = conn.rollback_to_savepoint().await;
            slot.state = State::Failed(WriteError::Store(error));
        }
        match undo {
            Ok(()) => conn.release_savepoint().await?,
            Err(error) if conn.is_lost() => return Err(error),
            Err(_) => return Ok(None),
        }
    }
    commit(conn, n_applied(slots)).await.map(Some)
}

/// The last resort: a transaction for each apply. It has no error of its own, since some may be stored already.
async fn apply_alone(conn: &mut Conn, slots: &mut [Slot]) -> Committed {
    let mut total = Committed::default();
    let mut outage: Option<StoreError> = None;
    for slot in slots {
        // Without this, each job in turn would wait for the same lock.
        if let Some(error) = &outage {
            slot.state = State::Failed(WriteError::Store(error.clone()));
            continue;
        }
        if let Err(error) = conn.begin().await {
            slot.state = State::Failed(WriteError::Store(error.clone()));
            outage = Some(error);
            continue;
        }
        match attempt_single(conn, slot).await {
            Ok(committed) => {
                total.n_commits += committed.n_commits;
                total.n_applies += committed.n_applies;
                total.took = committed.took;
            }
            Err(error) => slot.state = State::Failed(WriteError::Store(error)),
        }
        abort(conn).await;
    }
    total
}

fn n_applied(slots: &[Slot]) -> u64 {
    slots.iter().map(|slot| u64::from(matches!(slot.state, State::Applied(_)))).sum()
}

async fn commit(conn: &mut Conn, n_applies: u64) -> Result<Committed, StoreError> {
    if n_applies == 0 {
        conn.rollback().await?;
        return Ok(Committed::default());
    }
    let started = Instant::now();
    conn.commit().await?;
    Ok(Committed { n_commits: 1, n_applies, took: started.elapsed() })
}

async fn abort(conn: &mut Conn) {
    if conn.is_in_transaction() && conn.rollback().await.is_err() {
        tracing::debug!("Could not roll back a failed batch; its connection will be closed");
    }
}
