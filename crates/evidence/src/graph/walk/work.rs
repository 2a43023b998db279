//! How much a walk may look at, and whether anybody still waits for it.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Edges between two looks at whether anybody waits: some ten microseconds.
const LOOK_EVERY: u64 = 10_000;

/// Why a walk ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Whoever received the paths has enough.
    Enough,
    /// More edges were looked at than the budget allows.
    Work,
    /// Nobody waits for the answer.
    Alone,
}

/// The work of all walks of a question together.
#[derive(Debug)]
pub struct Work<'a> {
    n_done: u64,
    n_max: u64,
    /// After so much there is something to see to.
    n_next: u64,
    nobody_waits: Option<&'a AtomicBool>,
}

impl<'a> Work<'a> {
    /// Ends a walk beyond so many edges, and soon after `nobody_waits` becomes true.
    pub fn new(n_max: u64, nobody_waits: Option<&'a AtomicBool>) -> Work<'a> {
        Work { n_done: 0, n_max, n_next: 0, nobody_waits }
    }

    /// Without an end, for whoever measures.
    pub fn unlimited() -> Work<'static> {
        Work::new(u64::MAX, None)
    }

    /// So many edges are about to be looked at.
    #[inline]
    pub(super) fn take(&mut self, n_edges: usize) -> ControlFlow<Stop> {
        self.n_done = self.n_done.saturating_add(u64::try_from(n_edges).unwrap_or(u64::MAX));
        if self.n_done > self.n_next { self.look() } else { ControlFlow::Continue(()) }
    }

    #[cold]
    fn look(&mut self) -> ControlFlow<Stop> {
        if self.n_done > self.n_max {
            return ControlFlow::Break(Stop::Work);
        }
        if self.nobody_waits.is_some_and(|nobody_waits| nobody_waits.load(Ordering::Relaxed)) {
            return ControlFlow::Break(Stop::Alone);
        }
        self.n_next = self.n_done.saturating_add(LOOK_EVERY).min(self.n_max);
        ControlFlow::Continue(())
    }
}
