//! The change feed: what calls changed, in the order of the log. Every process of the house sees the same.

use contract::error::OpError;
use contract::event::Event;
use serde::{Deserialize, Serialize};
use store::log;

use crate::door::Platform;
use crate::jobs::runner::RUN_JOB;
use crate::operation::store_error;

/// Events that one look takes.
const EVENTS_MAX: u32 = 1_000;

/// What one call changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub organisation_id: String,
    /// The things that were created, changed or deleted.
    pub things: Vec<Thing>,
}

/// As events name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thing {
    pub kind: String,
    pub id: String,
}

/// A piece of the feed, and where the next one begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    pub next_index: u64,
    pub changes: Vec<Change>,
}

impl Platform {
    /// The feed from a place on, or its end where no place is given.
    pub async fn changes_from(&self, index: Option<u64>) -> Result<Changes, OpError> {
        let mut reader = self.store().read().await.map_err(store_error)?;
        let Some(index) = index else {
            let state = log::read_state(&mut reader).await.map_err(store_error)?;
            return Ok(Changes { next_index: state.frontier.size(), changes: Vec::new() });
        };
        let leaves = log::read_leaves(&mut reader, index, EVENTS_MAX).await.map_err(store_error)?;
        let next_index = leaves.last().map_or(index, |leaf| leaf.leaf_index + 1);
        let changes = leaves.into_iter().filter_map(|leaf| {
            let event = leaf.event?;
            let is_change = event.operation == RUN_JOB
                || self.table().find(&event.operation).is_some_and(|tool| tool.entry.is_write);
            let body: Event = is_change.then(|| serde_json::from_str(&event.body).ok())??;
            let things = body.objects.into_iter().map(|object| Thing { kind: object.kind, id: object.id });
            let things: Vec<Thing> = things.collect();
            (!things.is_empty()).then_some(Change { organisation_id: event.organisation_id, things })
        });
        Ok(Changes { next_index, changes: changes.collect() })
    }
}
