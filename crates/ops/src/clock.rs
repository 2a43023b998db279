//! Wall time that never runs backwards and never stands still within a process, and a hand-set clock for tests.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

#[derive(Debug, Clone)]
pub struct Clock(Source);

#[derive(Debug, Clone)]
enum Source {
    System(Arc<Mutex<Forward>>),
    Manual(Arc<AtomicI64>),
}

/// The last time that came from the wall clock, and when that was. A clock that is set back must not revive what had
/// expired, nor hold what is to expire: time goes on from here, a little slower than it passes, until the wall clock has
/// caught up.
#[derive(Debug)]
struct Forward {
    shown_us: i64,
    at: Instant,
}

impl Forward {
    fn show(&mut self, wall_us: i64, at: Instant) -> i64 {
        let passed = i64::try_from(at.saturating_duration_since(self.at).as_micros()).unwrap_or(i64::MAX);
        // Seven eighths: an hour that was set back is made up for within eight.
        let at_least = self.shown_us.saturating_add(passed - passed / 8);
        if wall_us < at_least {
            return at_least;
        }
        *self = Forward { shown_us: wall_us, at };
        wall_us
    }
}

impl Clock {
    pub fn system() -> Clock {
        Clock(Source::System(Arc::new(Mutex::new(Forward { shown_us: 0, at: Instant::now() }))))
    }

    pub fn manual(start_us: i64) -> Clock {
        Clock(Source::Manual(Arc::new(AtomicI64::new(start_us))))
    }

    /// Microseconds since 1970 in UTC.
    pub fn now_us(&self) -> i64 {
        match &self.0 {
            Source::System(forward) => {
                let mut forward = forward.lock().unwrap_or_else(PoisonError::into_inner);
                let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                forward.show(i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX), Instant::now())
            }
            Source::Manual(now) => now.load(Ordering::Acquire),
        }
    }

    /// Moves a hand-set clock; a system clock stays as it is.
    pub fn set_us(&self, now_us: i64) {
        if let Source::Manual(now) = &self.0 {
            now.fetch_max(now_us, Ordering::AcqRel);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const HOUR_US: i64 = 3_600_000_000;

    #[test]
    fn a_clock_set_by_hand_never_runs_backwards() {
        let clock = Clock::manual(100);
        clock.set_us(50);
        assert_eq!(clock.now_us(), 100);
        assert!(Clock::system().now_us() > 0);
    }

    #[test]
    fn after_a_wall_clock_was_set_back_time_goes_on_and_is_caught_up_with() {
        let begun = Instant::now();
        let mut forward = Forward { shown_us: 0, at: begun };
        let start_us = 100 * HOUR_US;
        assert_eq!(forward.show(start_us, begun), start_us);
        let mut latest_us = start_us;
        for minutes in 1..=8 * 60 {
            let passed = Duration::from_secs(60 * minutes);
            let passed_us = i64::try_from(passed.as_micros()).unwrap();
            let shown_us = forward.show(start_us - HOUR_US + passed_us, begun + passed);
            assert!(shown_us - latest_us >= 52_500_000, "it moves on in minute {minutes}: {}", shown_us - latest_us);
            latest_us = shown_us;
        }
        assert_eq!(latest_us, start_us + 7 * HOUR_US, "and eight hours later it is the wall clock's again");
    }
}
