//! Requests that were refused before they became calls, folded: a flood must not become a flood of events.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Mutex;

use contract::actor::{Actor, ActorKind};
use contract::canonical;
use contract::event::{Correlation, Event, EventActor, Outcome};
use contract::id::{ActorId, KeyId, OrganisationId};
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
    /// What was called, where that was known.
    #[serde(default)]
    pub operation: Option<String>,
    /// The key that was shown and is in force no more.
    #[serde(default)]
    pub key_id: Option<KeyId>,
    /// What the first of them called its key. Anybody may write that, so it is told in the log line and not recorded.
    #[serde(default)]
    pub claimed_key_id: Option<KeyId>,
    pub count: u64,
}

/// What somebody showed who was not let in. Only the public id of a key, never anything else of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// Nothing, or what has not the form of a key: it may be a password in the wrong place.
    Nothing,
    /// Something in the form of a key, which it is not.
    Claimed(KeyId),
    /// The key itself, which was revoked or has expired.
    Held(KeyId),
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    organisation_id: OrganisationId,
    actor_id: Option<ActorId>,
    source: String,
    reason: &'static str,
    operation: Option<String>,
    key_id: Option<KeyId>,
}

#[derive(Debug)]
struct Count {
    actor: Option<EventActor>,
    claimed_key_id: Option<KeyId>,
    n: u64,
}

#[derive(Debug, Default)]
pub struct RefusalCounter(Mutex<HashMap<Key, Count>>);

impl RefusalCounter {
    /// Counts a request of somebody unknown against the house.
    pub fn note(&self, house: &OrganisationId, source: &str, reason: &'static str, shown: Shown) {
        let (key_id, claimed_key_id) = match shown {
            Shown::Nothing => (None, None),
            Shown::Claimed(key_id) => (None, Some(key_id)),
            Shown::Held(key_id) => (Some(key_id), None),
        };
        let (organisation_id, source) = (house.clone(), source.to_owned());
        let key = Key { organisation_id, actor_id: None, source, reason, operation: None, key_id };
        self.count(key, Count { actor: None, claimed_key_id, n: 1 });
    }

    /// Counts a request of somebody who was recognised.
    pub fn note_of(&self, actor: &Actor, reason: &'static str) {
        self.note_actor(actor, reason, None);
    }

    /// Counts a call whose event cannot be stored.
    pub(crate) fn note_unrecorded(&self, actor: &Actor, operation: &str) {
        self.note_actor(actor, NOT_RECORDED, Some(operation.to_owned()));
    }

    fn note_actor(&self, actor: &Actor, reason: &'static str, operation: Option<String>) {
        let (organisation_id, source) = (actor.organisation_id.clone(), actor.id.to_string());
        let key = Key { organisation_id, actor_id: Some(actor.id.clone()), source, reason, operation, key_id: None };
        self.count(key, Count { actor: Some(EventActor::from(actor)), claimed_key_id: None, n: 1 });
    }

    fn count(&self, key: Key, count: Count) {
        metrics::counter!("materia_requests_refused_total", "reason" => key.reason).increment(1);
        self.add(key, count);
    }

    /// Counts again what was drained and could not be recorded.
    pub fn put_back(&self, refused: Refused, reason: &'static str) {
        let Refused { organisation_id, actor, source, operation, key_id, claimed_key_id, count, .. } = refused;
        let actor_id = actor.as_ref().map(|actor| actor.id.clone());
        let key = Key { organisation_id, actor_id, source, reason, operation, key_id };
        self.add(key, Count { actor, claimed_key_id, n: count });
    }

    fn add(&self, mut key: Key, mut count: Count) {
        let mut counts = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !counts.contains_key(&key) && counts.len() >= SOURCES_MAX {
            (key.actor_id, key.source, key.operation, key.key_id) = (None, "others".to_owned(), None, None);
            count.claimed_key_id = None;
        }
        match counts.entry(key) {
            Entry::Occupied(mut known) => {
                let known = known.get_mut();
                known.n += count.n;
                known.claimed_key_id = known.claimed_key_id.take().or(count.claimed_key_id);
            }
            Entry::Vacant(place) => {
                place.insert(count);
            }
        }
    }

    /// What was counted since the last time.
    pub fn drain(&self) -> Vec<Refused> {
        let counts = std::mem::take(&mut *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        let refused = |(key, count): (Key, Count)| Refused {
            organisation_id: key.organisation_id,
            actor: count.actor.filter(|_| key.actor_id.is_some()),
            source: key.source,
            reason: key.reason.to_owned(),
            operation: key.operation,
            key_id: key.key_id,
            claimed_key_id: count.claimed_key_id,
            count: count.n,
        };
        counts.into_iter().map(refused).collect()
    }
}

/// A line for whoever watches the server. Where somebody comes from stands here alone, and leads to the event by its id.
pub(crate) fn warn(refused: &Refused, call_id: &str) {
    if refused.actor.is_some() || refused.reason == NOT_RECORDED {
        return;
    }
    let (source, reason, count) = (refused.source.as_str(), refused.reason.as_str(), refused.count);
    let key_id = refused.key_id.as_ref().or(refused.claimed_key_id.as_ref()).map(KeyId::as_str);
    tracing::warn!(call_id, source, reason, key_id, count, "Refused {count} requests from {source}: {reason}");
}

pub(crate) fn event(refused: &Refused, now_us: i64) -> Option<EventRow> {
    let anonymous = || {
        let id = ActorId::parse("anonymous").ok()?;
        let key_id = refused.key_id.clone();
        Some(EventActor { id, kind: ActorKind::Service, issuer: None, client_id: None, key_id })
    };
    let otherwise = if refused.actor.is_some() { "admit" } else { "authenticate" };
    let operation = refused.operation.as_deref().unwrap_or(otherwise);
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
        hash_key: None,
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
            counter.note(&house, "10.0.0.1", "NO_TOKEN", Shown::Nothing);
        }
        counter.note(&house, "10.0.0.2", "NO_TOKEN", Shown::Nothing);
        let mut counts: Vec<u64> = counter.drain().iter().map(|refused| refused.count).collect();
        counts.sort_unstable();
        assert_eq!(counts, [1, 1_000]);
        assert!(counter.drain().is_empty());
    }

    #[test]
    fn ten_thousand_sources_with_keys_of_their_own_take_bounded_room_and_are_all_counted() {
        let (counter, house) = (RefusalCounter::default(), OrganisationId::parse("house").unwrap());
        for n in 0..10_000 {
            let key_id = KeyId::parse(&format!("{n:016x}")).unwrap();
            let shown = if n % 2 == 0 { Shown::Claimed(key_id) } else { Shown::Held(key_id) };
            counter.note(&house, &format!("10.0.{}.{}", n / 256, n % 256), "UNKNOWN_TOKEN", shown);
        }
        let refused = counter.drain();
        assert_eq!(refused.len(), SOURCES_MAX + 1);
        assert_eq!(refused.iter().map(|refused| refused.count).sum::<u64>(), 10_000);
    }

    #[test]
    fn many_made_up_keys_of_one_source_are_one_event_without_a_key_and_a_revoked_one_is_named() {
        let (counter, house) = (RefusalCounter::default(), OrganisationId::parse("house").unwrap());
        let key_id = |n: u64| KeyId::parse(&format!("{n:016x}")).unwrap();
        for n in 0..100 {
            counter.note(&house, "10.0.0.1", "UNKNOWN_TOKEN", Shown::Claimed(key_id(n)));
        }
        counter.note(&house, "10.0.0.1", "KEY_REVOKED", Shown::Held(key_id(7)));
        let mut refused = counter.drain();
        refused.sort_by_key(|refused| refused.count);
        let named: Vec<_> = refused.iter().map(|refused| (refused.key_id.clone(), refused.count)).collect();
        assert_eq!(named, [(Some(key_id(7)), 1), (None, 100)]);
        let body = event(refused.first().unwrap(), 0).unwrap().body;
        assert!(body.contains(&format!("\"key_id\":\"{}\"", key_id(7))), "{body}");
    }
}
