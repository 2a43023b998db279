//! Refusals before authentication, folded: a flood must not become a flood of events.

use std::collections::HashMap;
use std::sync::Mutex;

use contract::actor::ActorKind;
use contract::canonical;
use contract::event::{Correlation, Event, EventActor, Outcome};
use contract::id::{ActorId, OrganisationId};
use contract::time::rfc3339_us;
use serde::{Deserialize, Serialize};
use store::EventRow;
use uuid::Uuid;

use crate::record::{SCHEMA_VERSION, row};

/// Sources counted one by one; the rest are counted together.
const SOURCES_MAX: usize = 1_024;

/// How often one source was refused for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    pub source: String,
    pub reason: String,
    pub count: u64,
}

#[derive(Debug, Default)]
pub struct RefusalCounter(Mutex<HashMap<(String, &'static str), u64>>);

impl RefusalCounter {
    pub fn note(&self, source: &str, reason: &'static str) {
        let mut counts = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let known = counts.contains_key(&(source.to_owned(), reason));
        let source = if known || counts.len() < SOURCES_MAX { source } else { "others" };
        *counts.entry((source.to_owned(), reason)).or_default() += 1;
    }

    /// What was counted since the last time.
    pub fn drain(&self) -> Vec<Refused> {
        let counts = std::mem::take(&mut *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        let refused =
            |((source, reason), count): ((String, &str), u64)| Refused { source, reason: reason.to_owned(), count };
        counts.into_iter().map(refused).collect()
    }
}

pub(crate) fn event(refused: &Refused, now_us: i64) -> Option<EventRow> {
    let event = Event {
        call_id: Uuid::now_v7().to_string(),
        time: rfc3339_us(now_us),
        organisation_id: OrganisationId::parse("unknown").ok()?,
        actor: EventActor {
            id: ActorId::parse("anonymous").ok()?,
            kind: ActorKind::Service,
            issuer: None,
            client_id: None,
            key_id: None,
        },
        operation: "authenticate".to_owned(),
        outcome: Outcome::Denied,
        code: Some(refused.reason.clone()),
        count: Some(refused.count),
        // The address itself stays out of the log; its hash tells repeated sources apart.
        in_hash: canonical::hash(&refused.source).ok()?,
        out_hash: canonical::hash(&refused.reason).ok()?,
        latency_ms: 0,
        objects: Vec::new(),
        correlation: Correlation::default(),
        schema_version: SCHEMA_VERSION.to_owned(),
    };
    Some(row(&event, now_us))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_from_one_source_is_one_event() {
        let counter = RefusalCounter::default();
        for _ in 0..1_000 {
            counter.note("10.0.0.1", "NO_TOKEN");
        }
        counter.note("10.0.0.2", "NO_TOKEN");
        let mut counts: Vec<u64> = counter.drain().iter().map(|refused| refused.count).collect();
        counts.sort_unstable();
        assert_eq!(counts, [1, 1_000]);
        assert!(counter.drain().is_empty());
    }
}
