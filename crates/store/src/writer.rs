//! The way of a write from its caller to the commit: lanes, batches, retries.
//!
//! A lane is a task that takes the jobs that have gathered in its queue and commits them together. SQLite has one
//! lane; on PostgreSQL a lane serialises the writers of one counter over all processes, by an advisory lock.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError, oneshot};
use tokio::task;
use tokio::time::{self, Instant};

use crate::ahead::Kind;
use crate::batch::{self, Apply, Committed, Slot, Write};
use crate::conn::{Conn, Pool};
use crate::dialect::Engine;
use crate::error::{StoreError, StoreErrorKind, WriteError};
use crate::presence::Presence;

/// Calls that met others in a race are tried again until their deadline. With pauses between them nobody comes this far.
const ATTEMPTS_MAX: u32 = 1_000;
/// What failed otherwise is hardly better later.
const DUPLICATE_ATTEMPTS_MAX: u32 = 8;
/// Within a lane a duplicate key is hardly ever a race, and every attempt keeps the rest of the lane waiting.
const LANE_DUPLICATE_ATTEMPTS_MAX: u32 = 3;
const BACKOFF_MIN: Duration = Duration::from_millis(2);
const BACKOFF_MAX: Duration = Duration::from_millis(200);
/// How long a batch may wait for more jobs at most.
const GATHER_MAX: Duration = Duration::from_millis(1);
/// A batch that takes longer is given up, so that one hanging apply or dead link cannot stop its lane for ever.
const BATCH_TIME_MAX: Duration = Duration::from_secs(30);
const UNLOCK_TIME_MAX: Duration = Duration::from_secs(5);
const LANE_REST_MAX: Duration = Duration::from_secs(10);
const N_LANES_MAX: usize = 1024;
/// After a restart of the server every pooled connection may be stale.
const N_STALE_CONNECTIONS_MAX: u32 = 64;

/// Counts since the store was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stats {
    pub n_commits: u64,
    /// Committed applies; divided by `n_commits` it is the mean size of a batch.
    pub n_applies: u64,
}

pub(crate) struct Writer {
    engine: Engine,
    pool: Pool,
    presence: Arc<Presence>,
    batch_max: usize,
    /// One per write that may wait or run at once.
    permits: Arc<Semaphore>,
    n_permits: u32,
    lanes: Mutex<Lanes>,
    n_commits: AtomicU64,
    n_applies: AtomicU64,
}

#[derive(Default)]
struct Lanes {
    is_closed: bool,
    open: HashMap<String, UnboundedSender<Slot>>,
}

impl Writer {
    pub(crate) fn new(
        engine: Engine,
        pool: Pool,
        presence: Arc<Presence>,
        write_queue_max: usize,
        batch_max: usize,
    ) -> Arc<Writer> {
        let write_queue_max = write_queue_max.clamp(1, Semaphore::MAX_PERMITS);
        Arc::new(Writer {
            engine,
            pool,
            presence,
            batch_max: batch_max.max(1),
            permits: Arc::new(Semaphore::new(write_queue_max)),
            n_permits: u32::try_from(write_queue_max).unwrap_or(u32::MAX),
            lanes: Mutex::default(),
            n_commits: AtomicU64::new(0),
            n_applies: AtomicU64::new(0),
        })
    }

    pub(crate) fn stats(&self) -> Stats {
        Stats { n_commits: self.n_commits.load(Ordering::Relaxed), n_applies: self.n_applies.load(Ordering::Relaxed) }
    }

    pub(crate) fn n_foreign_writes(&self) -> u64 {
        self.presence.n_foreign()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lanes().is_closed
    }

    pub(crate) async fn connection(&self) -> Result<Conn, StoreError> {
        self.pool.acquire().await
    }

    /// Refuses at once when too many writes are waiting.
    pub(crate) fn try_permit(&self) -> Result<OwnedSemaphorePermit, WriteError> {
        Arc::clone(&self.permits).try_acquire_owned().map_err(|error| match error {
            TryAcquireError::NoPermits => WriteError::QueueFull,
            TryAcquireError::Closed => WriteError::Store(StoreError::unavailable(CLOSED)),
        })
    }

    /// Waits for its turn, for writes that must not be refused.
    pub(crate) async fn permit(&self) -> Result<OwnedSemaphorePermit, WriteError> {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        permit.map_err(|_closed| WriteError::Store(StoreError::unavailable(CLOSED)))
    }

    /// The write goes on even if the returned future is dropped.
    pub(crate) async fn write<T: Send + 'static>(
        self: &Arc<Writer>,
        lane: Option<String>,
        kind: Option<Kind>,
        deadline: Instant,
        apply: Apply<T>,
        permit: OwnedSemaphorePermit,
    ) -> Result<T, WriteError> {
        let (reply, answer) = oneshot::channel();
        let alike = kind.zip(lane.as_ref()).map(|(kind, lane)| (format!("{} {lane}", kind.word), kind.at_us));
        let slot = Slot::new(Box::new(Write { apply, deadline, value: None, reply, permit }), alike);
        self.submit(lane, slot)?;
        answer.await.unwrap_or_else(|_dropped| Err(WriteError::Store(StoreError::unavailable("the writer has ended"))))
    }

    fn submit(self: &Arc<Writer>, lane: Option<String>, mut slot: Slot) -> Result<(), WriteError> {
        let mut lanes = self.lanes();
        if lanes.is_closed {
            return Err(WriteError::Store(StoreError::unavailable(CLOSED)));
        }
        let Some(name) = self.engine.lane(lane) else {
            let mut lane = Lane::new(Arc::clone(self), None);
            task::spawn(async move { lane.settle(vec![slot]).await });
            return Ok(());
        };
        if let Some(queue) = lanes.open.get(&name) {
            match queue.send(slot) {
                Ok(()) => return Ok(()),
                Err(mpsc::error::SendError(unsent)) => slot = unsent,
            }
        }
        if lanes.open.len() >= N_LANES_MAX {
            return Err(WriteError::QueueFull);
        }
        let (queue, jobs) = mpsc::unbounded_channel();
        if queue.send(slot).is_err() {
            return Err(WriteError::Store(StoreError::unavailable("a lane did not open")));
        }
        lanes.open.insert(name.clone(), queue);
        task::spawn(run_lane(Arc::clone(self), name, jobs));
        Ok(())
    }

    /// Answers everybody who waits, then closes the connections.
    pub(crate) async fn close(&self) {
        {
            let mut lanes = self.lanes();
            lanes.is_closed = true;
            // Without its sender a lane ends when its queue is empty.
            lanes.open.clear();
        }
        match self.permits.acquire_many(self.n_permits).await {
            Ok(all) => {
                self.permits.close();
                all.forget();
            }
            Err(_already_closed) => {}
        }
        self.pool.close().await;
    }

    fn lanes(&self) -> MutexGuard<'_, Lanes> {
        // Nothing under the lock can panic half way, so a poisoned one is still whole.
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const CLOSED: &str = "the store is closed";

async fn run_lane(writer: Arc<Writer>, name: String, mut jobs: UnboundedReceiver<Slot>) {
    let lock_key = writer.engine.lane_lock_key(&name);
    let mut lane = Lane::new(Arc::clone(&writer), lock_key);
    loop {
        match time::timeout(LANE_REST_MAX, jobs.recv()).await {
            Ok(Some(first)) => {
                let slots = lane.gather(first, &mut jobs).await;
                lane.settle(slots).await;
            }
            Ok(None) => return,
            Err(_elapsed) => {
                // Jobs are sent under the same lock, so none can slip in between the look and the end.
                let mut lanes = writer.lanes();
                if jobs.is_empty() {
                    lanes.open.remove(&name);
                    return;
                }
            }
        }
    }
}

struct Lane {
    writer: Arc<Writer>,
    lock_key: Option<i64>,
    conn: Option<Conn>,
    n_jobs_last: usize,
    commit_took_last: Duration,
}

impl Lane {
    fn new(writer: Arc<Writer>, lock_key: Option<i64>) -> Lane {
        Lane { writer, lock_key, conn: None, n_jobs_last: 0, commit_took_last: Duration::ZERO }
    }

    /// Waits a little for as many jobs as last time: callers that were answered together tend to come back together,
    /// and a commit costs far more than the wait.
    async fn gather(&self, first: Slot, jobs: &mut UnboundedReceiver<Slot>) -> Vec<Slot> {
        let n_max = self.writer.batch_max;
        let n_expected = self.n_jobs_last.min(n_max);
        let until = Instant::now() + GATHER_MAX.min(self.commit_took_last / 2);
        let mut slots = vec![first];
        loop {
            while slots.len() < n_max
                && let Ok(slot) = jobs.try_recv()
            {
                slots.push(slot);
            }
            if n_expected <= 1 || slots.len() >= n_expected || Instant::now() >= until {
                return slots;
            }
            // Not a timer: its granularity is the whole of the longest wait.
            task::yield_now().await;
        }
    }

    /// Commits the jobs, in as many attempts as it takes up to the limit, and answers each of them.
    async fn settle(&mut self, mut slots: Vec<Slot>) {
        self.n_jobs_last = slots.len();
        for attempt in 1..=ATTEMPTS_MAX {
            let mut live = Vec::with_capacity(slots.len());
            for mut slot in slots {
                if slot.expire() {
                    slot.answer();
                } else {
                    live.push(slot);
                }
            }
            if live.is_empty() {
                return;
            }
            let result = time::timeout(BATCH_TIME_MAX, self.attempt(&mut live)).await;
            let result = result.unwrap_or_else(|_elapsed| Err(StoreError::unavailable("the batch took too long")));
            slots = self.answer(live, result, attempt);
            self.finish().await;
            if slots.is_empty() {
                return;
            }
            time::sleep(backoff(attempt)).await;
        }
    }

    /// Answers the jobs whose fate is known and gives back those that are worth another attempt.
    fn answer(&mut self, slots: Vec<Slot>, result: Result<Committed, StoreError>, attempt: u32) -> Vec<Slot> {
        let duplicate_attempts_max = match (self.writer.engine.may_repeat_after_unique_violation(), self.lock_key) {
            (true, None) => DUPLICATE_ATTEMPTS_MAX,
            (true, Some(_)) => LANE_DUPLICATE_ATTEMPTS_MAX,
            (false, _) => 1,
        };
        let may_repeat = |error: &StoreError| match error.kind() {
            StoreErrorKind::Serialization => attempt < ATTEMPTS_MAX,
            StoreErrorKind::UniqueViolation { .. } => attempt < duplicate_attempts_max,
            StoreErrorKind::Unavailable
            | StoreErrorKind::DiskFull
            | StoreErrorKind::Damaged { .. }
            | StoreErrorKind::Broken { .. }
            | StoreErrorKind::Other => false,
        };
        match result {
            Ok(committed) => {
                self.writer.n_commits.fetch_add(committed.n_commits, Ordering::Relaxed);
                self.writer.n_applies.fetch_add(committed.n_applies, Ordering::Relaxed);
                if committed.n_commits > 0 {
                    self.commit_took_last = committed.took;
                    if let Some(event) = slots.iter().rev().find_map(Slot::event) {
                        self.writer.presence.note_event(&event.call_id);
                    }
                }
                let (again, done): (Vec<Slot>, Vec<Slot>) =
                    slots.into_iter().partition(|slot| slot.has_time() && slot.store_error().is_some_and(may_repeat));
                done.into_iter().for_each(Slot::answer);
                again
            }
            Err(error) if may_repeat(&error) => {
                let (again, late): (Vec<Slot>, Vec<Slot>) = slots.into_iter().partition(Slot::has_time);
                late.into_iter().for_each(|slot| slot.answer_error(error.clone()));
                again
            }
            Err(error) => {
                slots.into_iter().for_each(|slot| slot.answer_error(error.clone()));
                Vec::new()
            }
        }
    }

    async fn attempt(&mut self, slots: &mut [Slot]) -> Result<Committed, StoreError> {
        for _ in 0..N_STALE_CONNECTIONS_MAX {
            let begun = self.begin().await;
            match (&mut self.conn, begun) {
                (Some(conn), Ok(())) => return batch::run(conn, slots).await,
                // Nothing has run yet, so a connection that died in the pool is no reason to fail the jobs.
                (Some(conn), Err(_)) if conn.is_lost() => self.conn = None,
                (_, Err(error)) => return Err(error),
                (None, Ok(())) => break,
            }
        }
        Err(StoreError::unavailable("no connection of the pool is alive"))
    }

    async fn begin(&mut self) -> Result<(), StoreError> {
        let conn = match self.conn.take() {
            Some(conn) => conn,
            None => self.writer.pool.acquire().await?,
        };
        let conn = self.conn.insert(conn);
        let data_version = match self.lock_key {
            Some(key) => conn.begin_locked(key).await.map(|()| None)?,
            None => conn.begin_looking().await?,
        };
        match data_version {
            Some(data_version) => self.writer.presence.check(conn, data_version).await,
            None => Ok(()),
        }
    }

    /// Gives back the lock, where no commit did, and the connection unless the lane keeps it. A connection in doubt is closed.
    async fn finish(&mut self) {
        let Some(mut conn) = self.conn.take() else { return };
        if let Some(key) = self.lock_key
            && conn.holds_lock()
            && !conn.is_in_transaction()
            && !conn.is_lost()
        {
            match time::timeout(UNLOCK_TIME_MAX, conn.unlock(key)).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => tracing::warn!("Could not free the lock of a lane; closing its connection"),
            }
        }
        if conn.is_clean() && self.writer.engine.lane_keeps_connection() {
            self.conn = Some(conn);
        }
    }
}

/// Doubles with each attempt; the jitter keeps those who met once from meeting again.
fn backoff(attempt: u32) -> Duration {
    let ceiling = BACKOFF_MIN.saturating_mul(1 << attempt.min(16)).min(BACKOFF_MAX);
    let ceiling_us = ceiling.as_micros().max(1);
    let jitter_us = uuid::Uuid::new_v4().as_u128() % ceiling_us;
    Duration::from_micros(u64::try_from(jitter_us).unwrap_or(0))
}
