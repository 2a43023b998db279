//! Rows that are taken as they are: every end is of a wanted type and on no path yet, and nothing is said twice.

use std::ops::ControlFlow;

use super::step::{Step, Wanted};
use super::{Stop, Trail, Walk, Work};
use crate::graph::nodes::NodeNumber;
use crate::graph::{EdgeRef, Hop};

/// Nodes whose rows are read before the walk goes on from the first of them. Few answers need more.
const AHEAD_MAX: usize = 32;

/// The hops of a row of the base. `edge` says which way the row leads.
#[inline(always)]
pub(super) fn hops_of_row(
    predicate: u32,
    start: u32,
    ends: &[NodeNumber],
    edge: impl Fn(u32) -> EdgeRef + Clone,
) -> impl Iterator<Item = Hop> + Clone {
    (start..).zip(ends).map(move |(at, end)| Hop { end: *end, predicate, edge: edge(at) })
}

impl Walk<'_> {
    /// Goes on along all of the hops.
    #[inline(always)]
    pub(super) fn go_plainly<F: FnMut(&[Hop], Hop) -> ControlFlow<Stop>>(
        &self,
        mut hops: impl Iterator<Item = Hop> + Clone,
        depth: usize,
        trail: &mut Trail,
        work: &mut Work<'_>,
        found: &mut F,
    ) -> ControlFlow<Stop> {
        if depth + 1 == self.steps.len() {
            let before = trail.get(..depth).unwrap_or_default();
            return hops.try_for_each(|hop| found(before, hop));
        }
        if self.looks_ahead {
            self.look_ahead(hops.clone().take(AHEAD_MAX).map(|hop| hop.end), depth + 1);
        }
        hops.try_for_each(|hop| {
            if let Some(place) = trail.get_mut(depth) {
                *place = hop;
            }
            self.descend(hop.end, depth + 1, trail, work, found)
        })
    }

    /// Reads where the walk is about to go on.
    fn look_ahead(&self, nodes: impl Iterator<Item = NodeNumber> + Clone, depth: usize) {
        if let Some(Step { direction, predicates: Wanted::One(predicate), .. }) = self.steps.get(depth) {
            self.graph.rows(*direction).touch(nodes, *predicate);
        }
    }
}
