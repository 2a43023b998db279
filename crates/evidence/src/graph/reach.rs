//! Where the edges of the base end, by predicate: a walk that wants every end of a row as it is need not look at each.
//!
//! What is said here may be too much and never too little: a type that no edge ends at any more may still be named.

use super::Direction;
use super::base::{Base, Rows, verified};
use super::nodes::{NodeNumber, Nodes};
use super::words::index;

#[derive(Debug, Clone, Default)]
pub(super) struct Reach {
    out: Vec<Reached>,
    into: Vec<Reached>,
    /// Whether somebody compared any of the edges with its source.
    pub has_verified: bool,
}

/// What the edges of a predicate lead to in one direction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reached {
    /// The sets of categories of their ends.
    pub sets: Vec<u32>,
    /// Whether several edges make the same statement.
    pub has_repeats: bool,
}

impl Reached {
    fn add(&mut self, set: u32) {
        if !self.sets.contains(&set) {
            self.sets.push(set);
        }
    }
}

impl Reach {
    pub fn of(base: &Base, nodes: &Nodes) -> Reach {
        let has_verified = base.edges.iter().any(|edge| verified(edge.marks) == Some(true));
        Reach { out: reached(&base.out, nodes), into: reached(&base.into, nodes), has_verified }
    }

    /// Of a predicate that the base has edges of.
    pub fn by(&self, direction: Direction, predicate: u32) -> Option<&Reached> {
        let reached = match direction {
            Direction::Out => &self.out,
            Direction::In => &self.into,
        };
        reached.get(index(predicate))
    }

    /// A node is something else from now on.
    pub fn note(&mut self, base: &Base, node: NodeNumber, set: u32) {
        for (rows, reached) in [(&base.into, &mut self.out), (&base.out, &mut self.into)] {
            for (predicate, _, _) in rows.segments(node) {
                if let Some(reached) = reached.get_mut(index(predicate)) {
                    reached.add(set);
                }
            }
        }
    }
}

fn reached(rows: &Rows, nodes: &Nodes) -> Vec<Reached> {
    let n_predicates = rows.segments.iter().map(|(predicate, _)| index(*predicate) + 1).max().unwrap_or(0);
    let n_sets = nodes.category_sets.len();
    let mut is_met = vec![vec![false; n_sets]; n_predicates];
    let mut has_repeats = vec![false; n_predicates];
    for node in 0..nodes.len() {
        for (predicate, _, ends) in rows.segments(node) {
            let at = index(predicate);
            let (Some(is_met), Some(has_repeats)) = (is_met.get_mut(at), has_repeats.get_mut(at)) else { continue };
            *has_repeats |= ends.array_windows().any(|[one, next]| one == next);
            for end in ends {
                if let Some(place) = is_met.get_mut(index(nodes.set(*end))) {
                    *place = true;
                }
            }
        }
    }
    let sets = |is_met: &Vec<bool>| (0..).zip(is_met).filter(|(_, is_met)| **is_met).map(|(set, _)| set).collect();
    let all = is_met.iter().zip(has_repeats);
    all.map(|(is_met, has_repeats)| Reached { sets: sets(is_met), has_repeats }).collect()
}
