//! Numbers of a counter that the writes of a batch that are alike share: the first of them reads the counter, and the last
//! one writes it, instead of each one doing both.
//!
//! They are given out only in the transaction of the batch. If any is left in the end, nobody has written the counter: the
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

    /// The next number, and whether it is the last one.
    pub(crate) fn take(&mut self, counter: &str) -> Option<(i64, bool)> {
        let taken = self.taken.as_mut().filter(|taken| taken.counter == counter)?;
        let number = taken.numbers.next()?;
        let is_last = taken.numbers.is_empty();
        if is_last {
            self.taken = None;
        }
        Some((number, is_last))
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
        assert_eq!((ahead.n_alike(), ahead.take("b"), ahead.take("a")), (0, None, Some((8, false))));
        assert!(ahead.end());
        assert!(!ahead.end());
        ahead.keep("a".to_owned(), 8..=8);
        assert_eq!((ahead.take("a"), ahead.take("a")), (Some((8, true)), None));
        assert!(!ahead.end());
    }
}
