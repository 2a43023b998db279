//! How many streams are open, of all and of one principal. A call ends by itself; a stream may stay and do nothing, and
//! while it does, it holds a connection.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use contract::actor::Actor;
use contract::error::OpError;

use crate::settings::Settings;

/// When somebody who found no place may look for one again.
const RETRY_AFTER_MS: u64 = 5_000;

pub struct Streams {
    n_max: usize,
    n_per_principal_max: usize,
    /// How long one that waits for changes stays open.
    pub lifetime: Duration,
    open: Mutex<Open>,
}

/// Only who has one open is remembered.
#[derive(Default)]
struct Open {
    n_all: usize,
    of_principal: HashMap<String, usize>,
}

/// The place of an open stream; dropping it gives it back.
pub struct StreamPlace {
    streams: Arc<Streams>,
    principal: String,
}

impl Streams {
    pub fn new(settings: &Settings) -> Streams {
        Streams {
            n_max: settings.streams_max(),
            n_per_principal_max: settings.streams_per_principal_max,
            lifetime: Duration::from_millis(settings.stream_lifetime_ms),
            open: Mutex::default(),
        }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for one more stream of this principal.
    pub fn enter(self: &Arc<Streams>, actor: &Actor) -> Result<StreamPlace, OpError> {
        let principal = format!("{}/{}", actor.organisation_id, actor.id);
        let mut open = self.open();
        let n_own = open.of_principal.get(&principal).copied().unwrap_or_default();
        if n_own >= self.n_per_principal_max {
            return Err(OpError::rate_limited("too many streams are open, close some of them", RETRY_AFTER_MS));
        }
        if open.n_all >= self.n_max {
            return Err(OpError::busy("the server has too many streams open, try again", RETRY_AFTER_MS));
        }
        open.n_all += 1;
        open.of_principal.insert(principal.clone(), n_own + 1);
        Ok(StreamPlace { streams: Arc::clone(self), principal })
    }
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        let mut open = self.streams.open();
        open.n_all = open.n_all.saturating_sub(1);
        let n_left = open.of_principal.get(&self.principal).map_or(0, |n_own| n_own.saturating_sub(1));
        if n_left == 0 {
            open.of_principal.remove(&self.principal);
        } else {
            open.of_principal.insert(self.principal.clone(), n_left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::actor::{ActorKind, Role};
    use contract::id::{ActorId, OrganisationId};

    fn actor(name: &str) -> Actor {
        let (here, id) = (OrganisationId::parse("here").unwrap(), ActorId::parse(name).unwrap());
        Actor::new(here, id, ActorKind::Service, vec![Role::Agent])
    }

    #[test]
    fn places_are_counted_for_each_and_for_all_and_are_given_back() {
        let settings = Settings { streams_per_principal_max: 2, connections_max: 12, ..Settings::default() };
        let streams = Arc::new(Streams::new(&settings));
        let enter = |name: &str| streams.enter(&actor(name)).map_err(|error| contract::dialect::http_status(&error));
        let (first, _second) = (enter("one").unwrap(), enter("one").unwrap());
        assert_eq!(enter("one").err(), Some(429));
        let _third = enter("other").unwrap();
        assert_eq!(enter("other").err(), Some(503), "a quarter of the connections are open streams");
        drop(first);
        let fourth = enter("other").unwrap();
        assert_eq!(enter("one").err(), Some(503));
        drop(fourth);
        assert!(enter("one").is_ok());
        assert_eq!(streams.open().of_principal.len(), 2);
    }
}
