//! Answers that were kept for repeated calls, held against the log: the event of the first call has the hash of what it
//! answered, so an answer that was changed by other hands is not given again as the true one.

use contract::canonical;
use contract::event::{Event, Outcome, Touched};
use serde_json::Value;
use store::idempotency::{self, Kept};
use store::{Conn, StoreError};

use crate::drive::Done;
use crate::record::REQUEST_STATE;

/// Organisation, actor, operation and idempotency key, as an event tells of them.
pub(crate) fn place_hash(place: [&str; 4]) -> String {
    canonical::hash_of(&Value::from(place.as_slice()))
}

/// Does an event tell of this answer, in this place?
pub(crate) async fn is_told(conn: &mut Conn, place: [&str; 4], kept: &Kept) -> Result<bool, StoreError> {
    let [organisation_id, actor_id, _, _] = place;
    let Some(answer) = Answered::parse(&kept.stored.output) else { return Ok(false) };
    let bodies = idempotency::event_bodies(conn, organisation_id, actor_id, kept.recorded_at_us).await?;
    let events = bodies.iter().filter_map(|body| serde_json::from_str::<Event>(body).ok());
    let hash = place_hash(place);
    let is_its = |event: &Event| {
        // Events of earlier versions say nothing of the place.
        let is_here = event.kept_as.as_ref().is_none_or(|kept_as| *kept_as == hash);
        event.outcome == Outcome::Ok && event.in_hash == kept.stored.in_hash && is_here
    };
    Ok(events.filter(is_its).any(|event| answer.is_that_of(&event)))
}

struct Answered {
    /// Absent where an answer was shown once and only what it made is kept.
    out_hash: Option<String>,
    objects: Vec<Touched>,
}

impl Answered {
    /// `None` if it cannot be read, or is not what its own hash says.
    fn parse(output: &str) -> Option<Answered> {
        if output.starts_with('[') {
            return Some(Answered { out_hash: None, objects: serde_json::from_str(output).ok()? });
        }
        let Done { output, out_hash, objects, .. } = serde_json::from_str(output).ok()?;
        (hash_of(&output) == out_hash).then_some(Answered { out_hash: Some(out_hash), objects })
    }

    fn is_that_of(&self, event: &Event) -> bool {
        // The event also names the request state that the call used up, which is no part of its answer.
        let objects = event.objects.iter().filter(|object| object.kind != REQUEST_STATE);
        self.out_hash.as_ref().is_none_or(|hash| *hash == event.out_hash) && objects.eq(&self.objects)
    }
}

/// The hash of an output. The audit block tells how long the call took; the hash must not depend on it.
pub(crate) fn hash_of(output: &Value) -> String {
    if output.get("audit").is_some() { canonical::hash_without(output, "audit") } else { canonical::hash_of(output) }
}
