//! How many streams are open, of all and of one principal. A call ends by itself; a stream may stay and do nothing, and
//! while it does, it holds a connection.

use std::sync::Arc;
use std::time::Duration;

use contract::actor::Actor;
use contract::error::OpError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::places::{Places, principal};
use crate::settings::Settings;

/// When somebody who found no place may look for one again.
const RETRY_AFTER_MS: u64 = 5_000;

pub struct Streams {
    all: Arc<Semaphore>,
    of_principal: Places,
    /// How long one that waits for changes stays open.
    pub lifetime: Duration,
}

/// The place of an open stream; dropping it gives it back.
pub struct StreamPlace {
    _of_principal: OwnedSemaphorePermit,
    _among_all: OwnedSemaphorePermit,
}

impl Streams {
    pub fn new(settings: &Settings) -> Streams {
        Streams {
            all: Arc::new(Semaphore::new(settings.streams_max())),
            of_principal: Places::new(settings.streams_per_principal_max),
            lifetime: Duration::from_millis(settings.stream_lifetime_ms),
        }
    }

    /// A place for one more stream of this principal.
    pub fn enter(&self, actor: &Actor) -> Result<StreamPlace, OpError> {
        let Some(of_principal) = self.of_principal.enter(principal(actor), || ()) else {
            return Err(OpError::rate_limited("too many streams are open, close some of them", RETRY_AFTER_MS));
        };
        let Ok(among_all) = Arc::clone(&self.all).try_acquire_owned() else {
            return Err(OpError::busy("the server has too many streams open, try again", RETRY_AFTER_MS));
        };
        Ok(StreamPlace { _of_principal: of_principal, _among_all: among_all })
    }
}

#[cfg(test)]
mod tests {
    use super::super::places::tests::actor;
    use super::*;

    #[test]
    fn places_are_counted_for_each_and_for_all_and_are_given_back() {
        let settings = Settings { streams_per_principal_max: 2, connections_max: 12, ..Settings::default() };
        let streams = Streams::new(&settings);
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
    }
}
