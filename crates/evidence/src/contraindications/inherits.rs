//! What an entity inherits warnings from: what is in it, what is in that, the kinds of herb that a herb is one of, and the
//! classes that any of these is in.

use std::collections::{BTreeSet, VecDeque};

use contract::evidence::checked::Checked;
use contract::evidence::contraindications::EntityKind;

use super::{Entity, hops_by};
use crate::graph::predicates::{HAS_INGREDIENT, HAS_MEMBER, IS_INGREDIENT_OF, in_class, is_kind_of};
use crate::graph::{Direction, Graph, Hop, NodeNumber};
use crate::network::same_things;
use crate::resolve::is_herb;

/// Nothing is made of more.
const INGREDIENTS_MAX: usize = 1_000;

/// Something that warnings are inherited from, and how well it is checked that they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ingredient {
    pub node: NodeNumber,
    pub checked: Checked,
    pub is: Is,
    /// Whose word it is, along the whole way.
    pub sources: Vec<u32>,
}

/// What it is to the entity: of several the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Is {
    /// Somebody put it in, by itself or in another formulation.
    Ingredient,
    /// Part of something that is in it, or of the herb itself.
    Constituent,
    /// The kind of herb that it is one of.
    Kind,
    /// A class that one of the others is in, or a broader one: what is said of it holds for all that are in it.
    Class,
}

/// Each once, in the order of their ids.
pub(super) fn inherits(graph: &Graph, entity: Entity) -> Vec<Ingredient> {
    let itself = Ingredient { node: entity.node, checked: Checked::Verified, is: Is::Ingredient, sources: Vec::new() };
    let mut found = vec![itself];
    // Whatever turns out to be reached by a better way is gone through again, so that a short one that nobody verified does not
    // hide a longer one that somebody did.
    let mut due = VecDeque::from([0]);
    while let Some(from) = due.pop_front().and_then(|at: usize| found.get(at).cloned()) {
        for next in next(graph, entity, &from) {
            let known = found.iter().position(|it| it.node == next.node);
            if let Some(at) = known
                && let Some(known) = found.get_mut(at)
            {
                if next.is < known.is || next.checked > known.checked {
                    due.push_back(at);
                }
                // What somebody put in stands for itself, whatever else holds it too.
                known.is = known.is.min(next.is);
                if next.checked > known.checked {
                    (known.checked, known.sources) = (next.checked, next.sources);
                }
            } else if found.len() < INGREDIENTS_MAX {
                due.push_back(found.len());
                found.push(next);
            }
        }
    }
    let mut inherited = found.split_off(1);
    inherited.sort_by(|a, b| graph.nodes().id(a.node).cmp(graph.nodes().id(b.node)));
    inherited
}

fn next(graph: &Graph, entity: Entity, from: &Ingredient) -> Vec<Ingredient> {
    let is_entity = from.node == entity.node;
    let kinds: Vec<&str> = is_kind_of().collect();
    let mut found = Vec::new();
    for same in same_things(graph, &[from.node]) {
        let checked = from.checked.min(same.checked);
        let reached = |hop: Hop, is: Is| {
            let checked = checked.min(graph.edge_verified(hop.edge).into());
            let same_by = same.said.iter().flat_map(|(_, sources)| sources);
            let mut sources: Vec<u32> = from.sources.iter().chain(same_by).copied().collect();
            sources.push(graph.edge_source(hop.edge));
            Ingredient { node: hop.end, checked, is, sources }
        };
        let is_mixed = match entity.kind {
            _ if !is_entity => graph.nodes().is_a(same.node, EntityKind::Formulation.name()),
            EntityKind::Formulation => true,
            EntityKind::Herb => false,
        };
        let is = if is_mixed && from.is == Is::Ingredient { Is::Ingredient } else { Is::Constituent };
        let out = hops_by(graph, same.node, Direction::Out, &HAS_INGREDIENT);
        let back = hops_by(graph, same.node, Direction::In, &IS_INGREDIENT_OF);
        found.extend(out.into_iter().chain(back).map(|hop| reached(hop, is)));
        let of_herb = if is_entity || from.is == Is::Kind { Is::Kind } else { Is::Constituent };
        let is_own_kind = |hop: &Hop| {
            let is_kind = kinds.contains(&graph.predicates().text(hop.predicate));
            is_kind && is_herb(graph, same.node) && is_herb(graph, hop.end)
        };
        let classes = class_hops(graph, same.node).into_iter();
        found.extend(classes.map(|hop| reached(hop, if is_own_kind(&hop) { of_herb } else { Is::Class })));
    }
    found
}

/// To the classes that a node is said to be in.
fn class_hops(graph: &Graph, node: NodeNumber) -> Vec<Hop> {
    let along = hops_by(graph, node, Direction::Out, &in_class().collect::<Vec<&str>>());
    let against = hops_by(graph, node, Direction::In, &HAS_MEMBER);
    along.into_iter().chain(against).collect()
}

/// The ids of what somebody put in, by itself or in another formulation, and whose record is gone: nothing is known of it here.
pub(super) fn withdrawn(graph: &Graph, entity: Entity, ingredients: &[Ingredient]) -> BTreeSet<String> {
    let mixed = ingredients.iter().filter(|it| it.is == Is::Ingredient).map(|it| it.node);
    let mixed = mixed.filter(|node| graph.nodes().is_a(*node, EntityKind::Formulation.name()));
    let mut gone = BTreeSet::new();
    for same in std::iter::once(entity.node).chain(mixed).flat_map(|node| same_things(graph, &[node])) {
        let out = HAS_INGREDIENT.iter().map(|predicate| (Direction::Out, predicate));
        let back = IS_INGREDIENT_OF.iter().map(|predicate| (Direction::In, predicate));
        for (direction, predicate) in out.chain(back) {
            let Some(predicate) = graph.predicates().find(predicate) else { continue };
            let ends = graph.withdrawn_ends(same.node, direction, predicate);
            gone.extend(ends.into_iter().map(|node| graph.nodes().id(node).to_owned()));
        }
    }
    gone
}
