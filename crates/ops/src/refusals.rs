//! Requests that were refused before they became calls, folded: a flood must not become a flood of events.

use std::collections::HashMap;
use std::sync::Mutex;

use contract::actor::{Actor, ActorKind};
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

/// The reason of calls that were refused because their events could not be stored.
pub const NOT_RECORDED: &str = "NOT_RECORDED";

/// How often one source was refused for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Whose record it belongs to: the caller's organisation, else that of the house.
    pub organisation_id: OrganisationId,
    /// Absent while nobody was recognised.
    pub actor: Option<EventActor>,
    pub source: String,
    pub reason: String,
    pub count: u64,
}

type Key = (OrganisationId, Option<ActorId>, String, &'static str);

#[derive(Debug, Default)]
pub struct RefusalCounter(Mutex<HashMap<Key, (Option<EventActor>, u64)>>);

impl RefusalCounter {
    /// Counts a request of somebody unknown against the house.
    pub fn note(&self, house: &OrganisationId, source: &str, reason: &'static str) {
        self.count((house.clone(), None, source.to_owned(), reason), None);
    }

    /// Counts a request of somebody who was recognised.
    pub fn note_of(&self, actor: &Actor, reason: &'static str) {
        let key = (actor.organisation_id.clone(), Some(actor.id.clone()), actor.id.to_string(), reason);
        self.count(key, Some(EventActor::from(actor)));
    }

    fn count(&self, key: Key, actor: Option<EventActor>) {
        metrics::counter!("materia_requests_refused_total", "reason" => key.3).increment(1);
        self.add(key, actor, 1);
    }

    /// Counts again what was drained and could not be recorded.
    pub fn put_back(&self, refused: Refused, reason: &'static str) {
        let actor_id = refused.actor.as_ref().map(|actor| actor.id.clone());
        self.add((refused.organisation_id, actor_id, refused.source, reason), refused.actor, refused.count);
    }

    fn add(&self, mut key: Key, actor: Option<EventActor>, n: u64) {
        let mut counts = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !counts.contains_key(&key) && counts.len() >= SOURCES_MAX {
            (key.1, key.2) = (None, "others".to_owned());
        }
        counts.entry(key).or_insert((actor, 0)).1 += n;
    }

    /// What was counted since the last time.
    pub fn drain(&self) -> Vec<Refused> {
        let counts = std::mem::take(&mut *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        let refused =
            |((organisation_id, actor_id, source, reason), (actor, count)): (Key, (Option<EventActor>, u64))| {
                let actor = actor.filter(|_| actor_id.is_some());
                Refused { organisation_id, actor, source, reason: reason.to_owned(), count }
            };
        counts.into_iter().map(refused).collect()
    }
}

pub(crate) fn event(refused: &Refused, now_us: i64) -> Option<EventRow> {
    let anonymous = || {
        let id = ActorId::parse("anonymous").ok()?;
        Some(EventActor { id, kind: ActorKind::Service, issuer: None, client_id: None, key_id: None })
    };
    let operation = if refused.actor.is_some() { "admit" } else { "authenticate" };
    let event = Event {
        call_id: Uuid::now_v7().to_string(),
        time: rfc3339_us(now_us),
        organisation_id: refused.organisation_id.clone(),
        actor: refused.actor.clone().or_else(anonymous)?,
        operation: operation.to_owned(),
        outcome: if refused.reason == NOT_RECORDED { Outcome::Busy } else { Outcome::Denied },
        code: Some(refused.reason.clone()),
        count: Some(refused.count),
        // The address itself stays out of the log; its hash tells repeated sources apart.
        in_hash: canonical::hash(&refused.source).ok()?,
        out_hash: canonical::hash(&refused.reason).ok()?,
        latency_ms: 0,
        objects: Vec::new(),
        kept_as: None,
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
        let (counter, house) = (RefusalCounter::default(), OrganisationId::parse("house").unwrap());
        for _ in 0..1_000 {
            counter.note(&house, "10.0.0.1", "NO_TOKEN");
        }
        counter.note(&house, "10.0.0.2", "NO_TOKEN");
        let mut counts: Vec<u64> = counter.drain().iter().map(|refused| refused.count).collect();
        counts.sort_unstable();
        assert_eq!(counts, [1, 1_000]);
        assert!(counter.drain().is_empty());
    }
}
