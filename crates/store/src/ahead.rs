//! Numbers of a counter that the writes of a batch that are alike share: the first of them raises the counter for all.
//!
//! They are given out only in the transaction of the batch. If any is left in the end, the counter stands too high: the
//! batch is rolled back and run again with each write for itself.

use std::ops::RangeInclusive;

/// What a write is, for those of its lane that do the same.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub word: &'static str,
    /// When its call began, as its event will say.
    pub at_us: i64,
}

/// Writes like the present one that follow in the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alike {
    pub n: u32,
    /// When the call of the last of them began.
    pub last_at_us: i64,
}

#[derive(Debug, Default)]
pub(crate) struct Ahead {
    alike: Option<Alike>,
    taken: Option<Taken>,
}

#[derive(Debug)]
struct Taken {
    counter: String,
    numbers: RangeInclusive<i64>,
}

impl Ahead {
    /// A write begins, with these behind it.
    pub(crate) fn begin(&mut self, alike: Option<Alike>) {
        self.alike = alike;
    }

    pub(crate) fn alike(&self) -> Option<Alike> {
        // What one counter has ahead must not be forgotten for another one.
        self.alike.filter(|_| self.taken.is_none())
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
        let two = Some(Alike { n: 2, last_at_us: 7 });
        ahead.begin(two);
        assert_eq!((ahead.alike(), ahead.take("a")), (two, None));
        ahead.keep("a".to_owned(), 8..=9);
        assert!(ahead.has("a") && !ahead.has("b"));
        ahead.begin(two);
        assert_eq!((ahead.alike(), ahead.take("b"), ahead.take("a")), (None, None, Some(8)));
        assert!(ahead.end());
        assert!(!ahead.end());
        ahead.keep("a".to_owned(), 8..=8);
        assert_eq!((ahead.take("a"), ahead.take("a")), (Some(8), None));
        assert!(!ahead.end());
    }
}
