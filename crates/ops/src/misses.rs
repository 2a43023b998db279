//! Guessing handles: somebody who asks again and again for what is not there is told to wait.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::limits::NOT_FOUND_PER_MINUTE_MAX;

const MINUTE_US: i64 = 60_000_000;
/// Callers and operations remembered before the old ones are forgotten.
const KEYS_MAX: usize = 10_000;

/// How often a caller of an operation found nothing, and since when that is counted.
#[derive(Debug, Default)]
pub struct Misses(Mutex<Counts>);

type Counts = HashMap<(String, &'static str), (i64, u32)>;

impl Misses {
    pub fn note(&self, caller: String, operation: &'static str, now_us: i64) {
        let mut counts = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if counts.len() >= KEYS_MAX {
            counts.retain(|_, (since_us, _)| now_us - *since_us < MINUTE_US);
        }
        let (since_us, count) = counts.entry((caller, operation)).or_insert((now_us, 0));
        if now_us - *since_us >= MINUTE_US {
            (*since_us, *count) = (now_us, 0);
        }
        *count += 1;
    }

    /// Milliseconds that the caller must wait, if they found nothing too often.
    pub fn wait_ms(&self, caller: String, operation: &'static str, now_us: i64) -> Option<u64> {
        let counts = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (since_us, count) = counts.get(&(caller, operation))?;
        let left_us = since_us + MINUTE_US - now_us;
        (*count >= NOT_FOUND_PER_MINUTE_MAX && left_us > 0).then(|| left_us.unsigned_abs().div_ceil(1_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_guesses_too_often_waits_for_the_next_minute() {
        let misses = Misses::default();
        let caller = || "here/agent".to_owned();
        for _ in 0..NOT_FOUND_PER_MINUTE_MAX {
            assert_eq!(misses.wait_ms(caller(), "confirm_reservation", 0), None);
            misses.note(caller(), "confirm_reservation", 0);
        }
        assert_eq!(misses.wait_ms(caller(), "confirm_reservation", 1_000_000), Some(59_000));
        assert_eq!(misses.wait_ms(caller(), "describe_operation", 1_000_000), None);
        assert_eq!(misses.wait_ms("here/other".to_owned(), "confirm_reservation", 1_000_000), None);
        assert_eq!(misses.wait_ms(caller(), "confirm_reservation", MINUTE_US), None);
    }
}
