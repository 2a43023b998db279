//! Rows that are taken as they are: every end is of a wanted type and on no path yet, and nothing is said twice.

use std::ops::ControlFlow;

use super::{Stop, Trail, Walk, Work};
use crate::graph::nodes::NodeNumber;
use crate::graph::{EdgeRef, Hop};

/// The hops of a row of the base. `edge` says which way the row leads.
#[inline(always)]
pub(super) fn hops_of_row(
    predicate: u32,
    start: u32,
    ends: &[NodeNumber],
    edge: impl Fn(u32) -> EdgeRef,
) -> impl Iterator<Item = Hop> {
    (start..).zip(ends).map(move |(at, end)| Hop { end: *end, predicate, edge: edge(at) })
}

impl Walk<'_> {
    /// Goes on along all of the hops.
    #[inline(always)]
    pub(super) fn go_plainly<F: FnMut(&[Hop], Hop) -> ControlFlow<Stop>>(
        &self,
        mut hops: impl Iterator<Item = Hop>,
        depth: usize,
        trail: &mut Trail,
        work: &mut Work<'_>,
        found: &mut F,
    ) -> ControlFlow<Stop> {
        if depth + 1 == self.steps.len() {
            let before = trail.get(..depth).unwrap_or_default();
            return hops.try_for_each(|hop| found(before, hop));
        }
        hops.try_for_each(|hop| {
            if let Some(place) = trail.get_mut(depth) {
                *place = hop;
            }
            self.descend(hop.end, depth + 1, trail, work, found)
        })
    }
}
