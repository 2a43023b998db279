//! How often one address may fail to say who it is before it is told to wait. Whoever shows a token that counts is never
//! held up by the failures of others behind the same address: what each try costs is bounded where keys are looked up.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Addresses remembered at once. Beyond them newcomers go uncounted, so that a flood locks nobody else out.
const ADDRESSES_MAX: usize = 10_000;
/// How often those that have been quiet long enough are looked for.
const TIDY_EVERY: Duration = Duration::from_secs(1);

pub struct Failures {
    /// One more failure is forgiven after each; `None` for no limit.
    interval: Option<Duration>,
    n_burst: u32,
    known: Mutex<Known>,
}

struct Known {
    /// When the last failure of an address is forgiven.
    forgiven_at: HashMap<IpAddr, Instant>,
    tidied: Option<Instant>,
}

impl Failures {
    /// So many per second on average, 0 for no limit, and so many at once.
    pub fn new(per_second: u32, n_burst: u32) -> Failures {
        let interval = Duration::from_secs(1).checked_div(per_second);
        Failures { interval, n_burst, known: Mutex::new(Known { forgiven_at: HashMap::new(), tidied: None }) }
    }

    /// Counts a failure, or says how long the address has to wait until one is answered as such again.
    pub fn count(&self, address: IpAddr, now: Instant) -> Option<Duration> {
        let interval = self.interval?;
        let address = network(address);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.forgiven_at.len() >= ADDRESSES_MAX && !known.forgiven_at.contains_key(&address) {
            known.tidy(now);
            if known.forgiven_at.len() >= ADDRESSES_MAX {
                return None;
            }
        }
        let forgiven_at = known.forgiven_at.entry(address).or_insert(now);
        let ahead = forgiven_at.saturating_duration_since(now);
        let wait = (ahead + interval).saturating_sub(interval * self.n_burst);
        if wait.is_zero() {
            *forgiven_at = (*forgiven_at).max(now) + interval;
            return None;
        }
        Some(wait)
    }
}

impl Known {
    fn tidy(&mut self, now: Instant) {
        if self.tidied.is_none_or(|tidied| now.saturating_duration_since(tidied) >= TIDY_EVERY) {
            self.forgiven_at.retain(|_, forgiven_at| *forgiven_at > now);
            self.tidied = Some(now);
        }
    }
}

/// The address itself, or the network of one that has 2^64 of them to choose from.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// How many of `n` failures at one moment are answered before the address has to wait.
    fn n_answered(failures: &Failures, address: IpAddr, n: usize, now: Instant) -> usize {
        (0..n).filter(|_| failures.count(address, now).is_none()).count()
    }

    #[test]
    fn an_address_that_fails_too_often_waits_a_moment_and_others_do_not() {
        let (failures, start) = (Failures::new(20, 60), Instant::now());
        assert_eq!(n_answered(&failures, ip("10.0.0.1"), 1_000, start), 60);
        assert_eq!(failures.count(ip("10.0.0.1"), start), Some(Duration::from_millis(50)));
        assert_eq!(failures.count(ip("10.0.0.2"), start), None);
        assert_eq!(n_answered(&failures, ip("10.0.0.1"), 1_000, start + Duration::from_secs(1)), 20);
        assert_eq!(n_answered(&failures, ip("10.0.0.1"), 1_000, start + Duration::from_secs(60)), 60);
    }

    #[test]
    fn a_network_of_ipv6_is_one_address_and_a_mapped_ipv4_is_itself() {
        let (failures, now) = (Failures::new(1, 1), Instant::now());
        assert!(failures.count(ip("2001:db8::1"), now).is_none());
        assert!(failures.count(ip("::ffff:10.0.0.1"), now).is_none());
        assert!(failures.count(ip("2001:db8::ffff"), now).is_some());
        assert!(failures.count(ip("2001:db8:0:1::1"), now).is_none());
        assert!(failures.count(ip("10.0.0.1"), now).is_some());
        assert!(failures.count(ip("10.0.0.2"), now).is_none());
    }

    #[test]
    fn a_flood_of_addresses_takes_bounded_room_and_is_forgotten() {
        let (failures, now) = (Failures::new(20, 60), Instant::now());
        let size = || failures.known.lock().unwrap().forgiven_at.len();
        for n in 0..20_000_u32 {
            failures.count(IpAddr::V4(n.into()), now);
        }
        assert_eq!(size(), ADDRESSES_MAX);
        failures.count(ip("192.0.2.1"), now + Duration::from_secs(10));
        assert_eq!(size(), 1);
    }

    #[test]
    fn without_a_limit_nobody_waits() {
        let (failures, now) = (Failures::new(0, 1), Instant::now());
        assert_eq!(n_answered(&failures, ip("10.0.0.1"), 1_000, now), 1_000);
    }
}
