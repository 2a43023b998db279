//! An operator's word that a rollback was meant. It is given where no call can be made, and becomes an event at the next
//! start: an auditor sees who accepted the loss of what.

use contract::actor::Actor;
use contract::canonical;
use contract::error::OpError;
use contract::event::{Correlation, Event, EventActor, Outcome, Touched};
use contract::time::rfc3339_us;
use serde::{Deserialize, Serialize};

use crate::door::Platform;
use crate::operation::store_error;
use crate::record::{SCHEMA_VERSION, row};

/// What the event calls it.
pub(crate) const OPERATION: &str = "accept_rollback";

/// The content of the file that says so until every witness agrees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acceptance {
    /// The event has this id, however often it is written.
    pub call_id: String,
    pub accepted_at_us: i64,
    /// Why the log was refused, in a word.
    pub code: String,
    /// How many events were signed; absent where nobody can tell.
    pub kept_size: Option<u64>,
    /// How many the log had instead; absent where it is another history.
    pub found_size: Option<u64>,
    /// Of the checkpoint that was set aside, if there was one.
    pub checkpoint_sha256: Option<String>,
}

impl Acceptance {
    fn what(&self) -> String {
        let from = self.kept_size.map_or("from an unknown size".to_owned(), |kept| format!("from {kept} events"));
        let to = self.found_size.map_or("to another history".to_owned(), |found| format!("to {found} events"));
        format!("{from} {to}")
    }
}

impl Platform {
    /// Writes the event of an acceptance, unless it is there already.
    pub async fn record_acceptance(&self, actor: &Actor, accepted: &Acceptance) -> Result<(), OpError> {
        let n_lost = accepted.kept_size.zip(accepted.found_size).map(|(kept, found)| kept.saturating_sub(found));
        let event = Event {
            call_id: accepted.call_id.clone(),
            time: rfc3339_us(accepted.accepted_at_us),
            organisation_id: actor.organisation_id.clone(),
            actor: EventActor::from(actor),
            operation: OPERATION.to_owned(),
            outcome: Outcome::Ok,
            code: Some(accepted.code.clone()),
            count: n_lost,
            in_hash: canonical::hash(accepted).map_err(OpError::internal)?,
            out_hash: canonical::hash(&accepted.checkpoint_sha256).map_err(OpError::internal)?,
            hash_key: None,
            latency_ms: 0,
            objects: vec![Touched::named("log", accepted.what())],
            kept_as: None,
            correlation: Correlation::default(),
            schema_version: SCHEMA_VERSION.to_owned(),
        };
        let event = row(&event, accepted.accepted_at_us);
        self.store().append_events(vec![event]).await.map_err(store_error)
    }
}
