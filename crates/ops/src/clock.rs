//! Wall time that never runs backwards within a process, and a hand-set clock for tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Debug, Clone)]
pub struct Clock(Source);

#[derive(Debug, Clone)]
enum Source {
    /// Holds the latest time shown: a clock that is set back must not revive what had expired.
    System(Arc<AtomicI64>),
    Manual(Arc<AtomicI64>),
}

impl Clock {
    pub fn system() -> Clock {
        Clock(Source::System(Arc::new(AtomicI64::new(0))))
    }

    pub fn manual(start_us: i64) -> Clock {
        Clock(Source::Manual(Arc::new(AtomicI64::new(start_us))))
    }

    /// Microseconds since 1970 in UTC.
    pub fn now_us(&self) -> i64 {
        match &self.0 {
            Source::System(latest) => {
                let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                let now = i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX);
                latest.fetch_max(now, Ordering::AcqRel).max(now)
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
    use super::*;

    #[test]
    fn time_never_runs_backwards() {
        let clock = Clock::manual(100);
        clock.set_us(50);
        assert_eq!(clock.now_us(), 100);
        let clock = Clock(Source::System(Arc::new(AtomicI64::new(i64::MAX - 1))));
        assert_eq!(clock.now_us(), i64::MAX - 1);
    }
}
