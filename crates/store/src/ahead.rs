//! Numbers of a counter that the writes of a batch that are alike share: the first of them raises the counter for all.
//!
//! They are given out only in the transaction of the batch. If any is left in the end, the counter stands too high: the
//! batch is rolled back and run again with each write for itself.

use std::ops::RangeInclusive;

#[derive(Debug, Default)]
pub(crate) struct Ahead {
    /// Writes like the present one that follow in the batch.
    n_alike: u32,
    taken: Option<Taken>,
}

#[derive(Debug)]
struct Taken {
    counter: String,
    numbers: RangeInclusive<i64>,
}

impl Ahead {
    /// A write begins, with so many like it behind it.
    pub(crate) fn begin(&mut self, n_alike: u32) {
        self.n_alike = n_alike;
    }

    pub(crate) fn n_alike(&self) -> u32 {
        // What one counter has ahead must not be forgotten for another one.
        if self.taken.is_some() { 0 } else { self.n_alike }
    }

    pub(crate) fn keep(&mut self, counter: String, numbers: RangeInclusive<i64>) {
        self.taken = Some(Taken { counter, numbers }).filter(|taken| !taken.numbers.is_empty());
    }

    pub(crate) fn has(&self, counter: &str) -> bool {
        self.taken.as_ref().is_some_and(|taken| taken.counter == counter)
    }

    pub(crate) fn take(&mut self, counter: &str) -> Option<i64> {
        let taken = self.taken.as_mut().filter(|taken| taken.counter == counter)?;
        let number = taken.numbers.next()?;
        if taken.numbers.is_empty() {
            self.taken = None;
        }
        Some(number)
    }

    /// Forgets everything. Says whether numbers were left that nobody wanted.
    pub(crate) fn end(&mut self) -> bool {
        std::mem::take(self).taken.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_given_in_order_to_their_counter_alone_and_leftovers_are_told() {
        let mut ahead = Ahead::default();
        ahead.begin(2);
        assert_eq!((ahead.n_alike(), ahead.take("a")), (2, None));
        ahead.keep("a".to_owned(), 8..=9);
        assert!(ahead.has("a") && !ahead.has("b"));
        ahead.begin(5);
        assert_eq!((ahead.n_alike(), ahead.take("b"), ahead.take("a")), (0, None, Some(8)));
        assert!(ahead.end());
        assert!(!ahead.end());
        ahead.keep("a".to_owned(), 8..=8);
        assert_eq!((ahead.take("a"), ahead.take("a")), (Some(8), None));
        assert!(!ahead.end());
    }
}
