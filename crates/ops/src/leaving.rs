//! Rows that a call leaves beside its event, such as what seed 004 calls its events: committed together with it, or not at
//! all. A call that leaves rows is no write for that: it needs no scope of its own, and a repeated call leaves them again.

use std::sync::Arc;

use contract::actor::Actor;
use contract::error::OpError;
use contract::event::Correlation;
use futures::future::BoxFuture;
use serde_json::Value;
use store::subject_keys::SubjectKeys;
use store::{Applied, EventRow, Keep, Store, StoreError, Tx, WriteError};
use tokio::time::Instant;
use uuid::Uuid;

use crate::limits::RECORD_WITHIN;
use crate::seed_ids;

/// Calls of this lane share a commit.
const LANE: &str = "rows of reads";

/// Inserts rows. Repeatable: it may run again on a fresh transaction, and touches nothing else.
pub type Rows = Arc<dyn for<'a> Fn(&'a mut Tx<'_>) -> BoxFuture<'a, Result<(), StoreError>> + Send + Sync>;

/// A call that was refused before it ran, or that failed: its operation may leave rows that tell of it.
#[derive(Clone, Copy)]
pub struct Failed<'a> {
    pub call_id: Uuid,
    pub actor: &'a Actor,
    pub correlation: &'a Correlation,
    pub started_us: i64,
    pub latency_ms: u64,
    /// As it came, valid or not.
    pub input: &'a Value,
    /// The input was as its schema wants it: the call failed later than that.
    pub was_valid: bool,
    pub error: &'a OpError,
    pub subject_keys: &'a SubjectKeys,
}

impl Failed<'_> {
    /// As [`crate::Context::request_id`].
    pub fn request_id(&self) -> String {
        seed_ids::request_id(self.correlation, self.call_id)
    }

    /// As [`crate::Context::user_id`].
    pub fn user_id(&self) -> String {
        seed_ids::user_id(self.correlation, self.actor, self.subject_keys)
    }
}

/// Commits rows and the event of their call.
pub(crate) async fn commit(store: &Store, rows: &[Rows], event: &EventRow) -> Result<(), WriteError> {
    let left = Arc::new((rows.to_vec(), event.clone()));
    let apply: store::Apply<()> = Box::new(move |tx| {
        let left = Arc::clone(&left);
        Box::pin(async move {
            let (rows, event) = &*left;
            for insert in rows {
                insert(tx).await?;
            }
            Ok(Applied { value: (), event: Some(event.clone()), keep: Keep::Changes })
        })
    });
    store.write(Some(LANE.to_owned()), Instant::now() + RECORD_WITHIN, apply).await
}
