//! Events of calls that change nothing: gathered, and stored together within `flush_every`.
//!
//! The queue is bounded. A flush that fails keeps its events and stops the queue until they are stored, so that no
//! call is answered whose event could be lost unnoticed for longer than one flush.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::task;
use tokio::time;

use crate::error::StoreError;
use crate::events::EventRow;
use crate::open::Store;

const CHUNK_MAX: usize = 512;
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(1);
/// How often `close` tries to store the rest.
const CLOSE_ATTEMPTS_MAX: u32 = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QueueRefused {
    #[error("the event queue is full")]
    Full,
    #[error("events cannot be stored at present")]
    Stopped,
}

/// Cloning it is cheap; all clones share the queue.
#[derive(Clone)]
pub struct EventQueue {
    shared: Arc<Shared>,
}

struct Shared {
    store: Store,
    capacity: usize,
    flush_every: Duration,
    state: Mutex<State>,
    /// There is something to flush.
    filled: Notify,
    /// Somebody does not want to wait for `flush_every`.
    hurried: Notify,
    progress: watch::Sender<Progress>,
}

#[derive(Default)]
struct State {
    events: VecDeque<EventRow>,
    n_pushed: usize,
    is_stopped: bool,
    is_closed: bool,
    /// `close` has given up on the rest.
    is_ended: bool,
}

#[derive(Clone, Default)]
struct Progress {
    n_stored: usize,
    n_failures: usize,
    last_failure: Option<StoreError>,
}

impl EventQueue {
    /// Starts the task that flushes. It ends with [`EventQueue::close`].
    pub fn start(store: Store, capacity: usize, flush_every: Duration) -> EventQueue {
        let shared = Arc::new(Shared {
            store,
            capacity,
            flush_every,
            state: Mutex::default(),
            filled: Notify::new(),
            hurried: Notify::new(),
            progress: watch::Sender::default(),
        });
        task::spawn(run(Arc::clone(&shared)));
        EventQueue { shared }
    }

    /// Accepts the event or refuses it, without waiting.
    pub fn try_push(&self, event: EventRow) -> Result<(), QueueRefused> {
        let mut state = self.shared.state();
        if state.is_stopped || state.is_closed {
            return Err(QueueRefused::Stopped);
        }
        if state.events.len() >= self.shared.capacity {
            return Err(QueueRefused::Full);
        }
        state.events.push_back(event);
        state.n_pushed += 1;
        self.shared.filled.notify_one();
        Ok(())
    }

    /// Why events cannot be stored at present, while they cannot.
    pub fn failure(&self) -> Option<StoreError> {
        let is_stopped = self.shared.state().is_stopped;
        self.shared.progress.borrow().last_failure.clone().filter(|_| is_stopped)
    }

    /// Stores what was pushed so far, without waiting for `flush_every`. After an error the events are still in the
    /// queue, which goes on trying.
    pub async fn flush(&self) -> Result<(), StoreError> {
        let mut progress = self.shared.progress.subscribe();
        let n_failures = progress.borrow_and_update().n_failures;
        let (n_pushed, is_ended) = {
            let state = self.shared.state();
            (state.n_pushed, state.is_ended)
        };
        if is_ended {
            return Err(StoreError::unavailable("the event queue has ended"));
        }
        self.shared.hurried.notify_one();
        let reached = progress
            .wait_for(|progress| progress.n_stored >= n_pushed || progress.n_failures > n_failures)
            .await
            .map_err(|_ended| StoreError::unavailable("the event queue has ended"))?;
        match &reached.last_failure {
            Some(failure) if reached.n_stored < n_pushed => Err(failure.clone()),
            Some(_) | None => Ok(()),
        }
    }

    /// Refuses further events and stores the rest. An error means that some are lost.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.shared.state().is_closed = true;
        let mut result = self.flush().await;
        for _ in 1..CLOSE_ATTEMPTS_MAX {
            if result.is_ok() {
                break;
            }
            result = self.flush().await;
        }
        if result.is_err() {
            let n_lost = {
                let mut state = self.shared.state();
                state.is_ended = true;
                state.events.len()
            };
            tracing::error!(
                events.n_lost = n_lost,
                "Closed the event queue with {n_lost} events that could not be stored"
            );
        }
        // Wakes the task, which ends when it sees that there is nothing left to do.
        self.shared.filled.notify_one();
        self.shared.hurried.notify_one();
        result
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing under the lock can panic half way, so a poisoned one is still whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn run(shared: Arc<Shared>) {
    let mut n_failures_in_a_row: u32 = 0;
    loop {
        let (is_empty, is_done) = {
            let state = shared.state();
            let is_empty = state.events.is_empty();
            (is_empty, state.is_ended || (is_empty && state.is_closed))
        };
        if is_done {
            return;
        }
        if is_empty {
            // A flush of an empty queue leaves its permit in `hurried`; it only makes the next flush early.
            shared.filled.notified().await;
            continue;
        }
        let pause = if n_failures_in_a_row == 0 {
            shared.flush_every
        } else {
            shared.flush_every.saturating_mul(1 << n_failures_in_a_row.min(10)).min(RETRY_PAUSE_MAX)
        };
        // Whether the time passed or somebody hurries, the next step is the same.
        if time::timeout(pause, shared.hurried.notified()).await.is_ok() {
            tracing::trace!("Flushing events early");
        }
        match flush(&shared).await {
            Ok(()) => {
                n_failures_in_a_row = 0;
                shared.state().is_stopped = false;
            }
            Err(error) => {
                n_failures_in_a_row += 1;
                shared.state().is_stopped = true;
                tracing::error!(error.kind = ?error.kind(), "Could not store events; the queue is stopped until it can");
                shared.progress.send_modify(|progress| {
                    progress.n_failures += 1;
                    progress.last_failure = Some(error);
                });
            }
        }
    }
}

/// Stores the events that are in the queue at the start. They leave the queue only when they are stored.
async fn flush(shared: &Shared) -> Result<(), StoreError> {
    let mut n_rest = shared.state().events.len();
    while n_rest > 0 {
        let chunk: Vec<EventRow> = shared.state().events.iter().take(n_rest.min(CHUNK_MAX)).cloned().collect();
        let n_chunk = chunk.len();
        shared.store.append_events(chunk).await?;
        shared.state().events.drain(..n_chunk);
        shared.progress.send_modify(|progress| progress.n_stored += n_chunk);
        n_rest -= n_chunk;
    }
    Ok(())
}
