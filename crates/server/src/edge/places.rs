//! Places that each principal may hold at once, for requests at work and for open streams, and each address, for
//! connections.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use contract::actor::Actor;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Principals remembered before those who hold no place are forgotten.
pub(super) const PRINCIPALS_MAX: usize = 10_000;

pub struct Places {
    n_each_max: usize,
    principals: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// Who somebody is to those who count.
pub(super) fn principal(actor: &Actor) -> String {
    format!("{}/{}", actor.organisation_id, actor.id)
}

impl Places {
    pub fn new(n_each_max: usize) -> Places {
        Places { n_each_max, principals: Mutex::default() }
    }

    /// A place of this principal, where they have one left; dropping it gives it back. `forget` is called when those who have
    /// gone are forgotten here, for whoever else remembers them.
    pub fn enter(&self, principal: String, forget: impl FnOnce()) -> Option<OwnedSemaphorePermit> {
        let places = {
            let mut principals = self.principals.lock().unwrap_or_else(PoisonError::into_inner);
            if principals.len() >= PRINCIPALS_MAX {
                principals.retain(|_, places| places.available_permits() < self.n_each_max);
                forget();
            }
            Arc::clone(principals.entry(principal).or_insert_with(|| Arc::new(Semaphore::new(self.n_each_max))))
        };
        places.try_acquire_owned().ok()
    }

    #[cfg(test)]
    pub fn n_principals(&self) -> usize {
        self.principals.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use contract::actor::{ActorKind, Role};
    use contract::id::{ActorId, OrganisationId};

    pub fn actor(name: &str) -> Actor {
        let (here, id) = (OrganisationId::parse("here").unwrap(), ActorId::parse(name).unwrap());
        Actor::new(here, id, ActorKind::Service, vec![Role::Agent])
    }

    #[test]
    fn who_holds_a_place_is_not_forgotten_with_the_others() {
        let places = Places::new(1);
        let held = places.enter(principal(&actor("busy")), || ()).unwrap();
        for n in 0..3 * PRINCIPALS_MAX {
            drop(places.enter(principal(&actor(&format!("passer-by-{n}"))), || ()).unwrap());
        }
        assert!(places.n_principals() <= PRINCIPALS_MAX, "{} are remembered", places.n_principals());
        assert!(places.enter(principal(&actor("busy")), || ()).is_none());
        drop(held);
        assert!(places.enter(principal(&actor("busy")), || ()).is_some());
    }
}
