//! How many requests at once, and how often, in all and by one principal; and how many failures of one address.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Instant;

use contract::actor::Actor;
use contract::error::OpError;
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::failures::Failures;
use super::places::{Places, principal};
use crate::settings::Settings;

pub struct Limiter {
    all: Arc<Semaphore>,
    of_principal: Places,
    rate: Option<DefaultKeyedRateLimiter<String>>,
    failures: Failures,
}

impl Limiter {
    pub fn new(settings: &Settings) -> Limiter {
        let rate = NonZeroU32::new(settings.rate_per_second).map(|per_second| {
            let burst = NonZeroU32::new(settings.rate_burst).unwrap_or(per_second);
            RateLimiter::keyed(Quota::per_second(per_second).allow_burst(burst))
        });
        Limiter {
            all: Arc::new(Semaphore::new(settings.calls_in_flight_max)),
            of_principal: Places::new(settings.calls_per_principal_max),
            rate,
            failures: Failures::new(settings.auth_failures_per_second, settings.auth_failures_burst),
        }
    }

    /// A place among all requests at work, if there is one.
    pub fn enter(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.all).try_acquire_owned().ok()
    }

    /// Counts an address that was not recognised. An error where it failed too often just now.
    pub fn count_failure(&self, address: Option<IpAddr>) -> Result<(), OpError> {
        match address.and_then(|address| self.failures.count(address, Instant::now())) {
            None => Ok(()),
            Some(wait) => {
                let ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1);
                Err(OpError::rate_limited("too many tokens from this address were wrong, wait a moment", ms))
            }
        }
    }

    /// A place among the requests of one principal, within their rate.
    pub fn admit(&self, actor: &Actor) -> Result<OwnedSemaphorePermit, OpError> {
        let principal = principal(actor);
        if let Some(rate) = &self.rate
            && let Err(not_until) = rate.check_key(&principal)
        {
            let wait = not_until.wait_time_from(DefaultClock::default().now());
            let ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1);
            return Err(OpError::rate_limited("too many requests, slow down", ms));
        }
        // Only who gets a rate gets a place, so the two grow alike. A rate like a newcomer's is forgotten.
        let forget = || {
            if let Some(rate) = &self.rate {
                rate.retain_recent();
                rate.shrink_to_fit();
            }
        };
        let place = self.of_principal.enter(principal, forget);
        place.ok_or_else(|| OpError::rate_limited("too many requests at once, wait for some to end", 1_000))
    }
}

#[cfg(test)]
mod tests {
    use super::super::places::PRINCIPALS_MAX;
    use super::super::places::tests::actor;
    use super::*;

    #[test]
    fn principals_who_have_gone_are_forgotten() {
        let limiter = Limiter::new(&Settings { rate_per_second: 1_000_000, rate_burst: 1, ..Settings::default() });
        for n in 0..3 * PRINCIPALS_MAX {
            drop(limiter.admit(&actor(&format!("passer-by-{n}"))).unwrap());
        }
        let n_rates = limiter.rate.as_ref().unwrap().len();
        assert!(n_rates <= PRINCIPALS_MAX, "the rates of {n_rates} are remembered");
        assert!(limiter.of_principal.n_principals() <= PRINCIPALS_MAX);
    }

    #[test]
    fn who_was_too_quick_is_not_forgotten_with_the_others() {
        // One in a day, so that no clock decides this test.
        let mut limiter = Limiter::new(&Settings::default());
        let daily = Quota::with_period(std::time::Duration::from_secs(24 * 60 * 60)).unwrap();
        limiter.rate = Some(RateLimiter::keyed(daily));
        drop(limiter.admit(&actor("quick")).unwrap());
        for n in 0..PRINCIPALS_MAX {
            drop(limiter.admit(&actor(&format!("passer-by-{n}"))).unwrap());
        }
        assert!(limiter.admit(&actor("quick")).is_err());
    }
}
