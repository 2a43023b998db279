//! What an entity inherits warnings from: what is in it, what is in that, and the kinds of herb that a herb is one of.

use contract::evidence::checked::Checked;
use contract::evidence::contraindications::EntityKind;

use super::{Entity, hops_by};
use crate::graph::predicates::{HAS_INGREDIENT, IS_INGREDIENT_OF, is_kind_of};
use crate::graph::{Direction, Graph, Hop, NodeNumber};
use crate::network::same_things;
use crate::resolve::is_herb;

/// Nothing is made of more.
const INGREDIENTS_MAX: usize = 1_000;

/// Something that warnings are inherited from, and how well it is checked that they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ingredient {
    pub node: NodeNumber,
    pub checked: Checked,
    pub is: Is,
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
}

/// Each once, in the order of their ids.
pub(super) fn inherits(graph: &Graph, entity: Entity) -> Vec<Ingredient> {
    let mut found = vec![Ingredient { node: entity.node, checked: Checked::Verified, is: Is::Ingredient }];
    let mut at = 0;
    while let Some(from) = found.get(at).copied() {
        for next in next(graph, entity, from) {
            // What somebody put in stands for itself, whatever else holds it too.
            if let Some(known) = found.iter_mut().find(|it| it.node == next.node) {
                (known.checked, known.is) = (known.checked.max(next.checked), known.is.min(next.is));
            } else if found.len() < INGREDIENTS_MAX {
                found.push(next);
            }
        }
        at += 1;
    }
    let mut inherited = found.split_off(1);
    inherited.sort_by(|a, b| graph.nodes().id(a.node).cmp(graph.nodes().id(b.node)));
    inherited
}

fn next(graph: &Graph, entity: Entity, from: Ingredient) -> Vec<Ingredient> {
    let is_entity = from.node == entity.node;
    let kinds: Vec<&str> = is_kind_of().collect();
    let mut found = Vec::new();
    for same in same_things(graph, &[from.node]) {
        let checked = from.checked.min(same.checked);
        let reached = |hop: Hop, is: Is| {
            let checked = checked.min(graph.edge_verified(hop.edge).into());
            Ingredient { node: hop.end, checked, is }
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
        if is_herb(graph, same.node) {
            let is = if is_entity || from.is == Is::Kind { Is::Kind } else { Is::Constituent };
            let kinds = hops_by(graph, same.node, Direction::Out, &kinds).into_iter();
            found.extend(kinds.filter(|hop| is_herb(graph, hop.end)).map(|hop| reached(hop, is)));
        }
    }
    found
}
