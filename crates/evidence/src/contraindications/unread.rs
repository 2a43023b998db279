//! What is recorded of an entity in words that no answer about safety reads.

use std::collections::BTreeSet;

use super::{AGAINST, warns_otherwise};
use crate::graph::predicates::denies;
use crate::graph::{Direction, Graph, NodeNumber};
use crate::rest;

/// What is plainly no warning: what something is for.
const IS_FOR: [&str; 8] = [
    "ameliorates_condition",
    "applied_to_treat",
    "has_indication",
    "prevents",
    "studied_for",
    "traditionally_used_for",
    "treats",
    "treats_or_applied_or_studied_to_treat",
];
/// Predicates that a note names.
const NAMED_MAX: usize = 10;

/// That other statements are recorded, so that neither what is told nor "nothing is recorded against it" is taken for more than
/// it is.
pub fn note(graph: &Graph, node: NodeNumber) -> Option<String> {
    let by = |direction| {
        let hops = graph.hops(node, direction, None).into_iter();
        let hops = hops.filter(|hop| hop.end != node && !graph.leads().contains(hop.predicate));
        hops.map(move |hop| (direction, graph.predicates().text(hop.predicate)))
    };
    let is_read = |direction: Direction, predicate: &str| {
        AGAINST.contains(&predicate) || (direction == Direction::Out && warns_otherwise().any(|it| it == predicate))
    };
    let unread: BTreeSet<&str> = [Direction::Out, Direction::In]
        .into_iter()
        .flat_map(by)
        .filter(|(direction, predicate)| !is_read(*direction, predicate))
        .map(|(_, predicate)| predicate)
        .filter(|predicate| !IS_FOR.contains(predicate) && !denies(predicate))
        .collect();
    let unread: Vec<String> = unread.into_iter().map(str::to_owned).collect();
    (!unread.is_empty()).then(|| {
        format!(
            "Other statements are recorded of `{}` ({}), which are not read here; `kg_get_everything` tells them.",
            graph.nodes().id(node),
            rest::first(&unread, NAMED_MAX)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_denies_a_known_statement_is_passed_over() {
        let known = AGAINST.into_iter().chain(warns_otherwise()).chain(IS_FOR);
        for predicate in known {
            assert!(denies(&format!("not_{predicate}")) && !denies(predicate), "{predicate}");
        }
        for predicate in ["not_affects", "not_contains", "not_same_as", "not_RO:0002434"] {
            assert!(denies(predicate), "{predicate}");
        }
        for predicate in ["not_indicated_in", "not_not_contraindicated_in", "notable_for", "avoid_in", "not_"] {
            assert!(!denies(predicate), "{predicate}");
        }
    }
}
