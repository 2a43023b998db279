//! Which nodes are herbs. Other vocabularies have no such word: there a herb is a plant, or only some living thing.

use contract::evidence::contraindications::EntityKind;

use super::{Meant, Unresolved, resolve, resolve_among};
use crate::graph::{Graph, NodeNumber};

const PLANT: &str = "plant";
/// The categories under which Biolink has plants, the narrowest first.
const PLANTS: [&str; 5] = [PLANT, "fungus", "organism_taxon", "cellular_organism", "organismal_entity"];

pub(crate) fn is_herb(graph: &Graph, node: NodeNumber) -> bool {
    [EntityKind::Herb.name(), PLANT].iter().any(|kind| graph.nodes().is_a(node, kind))
}

/// What a word means among herbs; where it means none, among plants.
pub fn resolve_herb(graph: &Graph, word: &str) -> Result<Meant, Unresolved> {
    let herb = resolve(graph, word, Some(EntityKind::Herb.name()));
    let Err(Unresolved::Unknown { .. } | Unresolved::OtherKind { .. }) = &herb else { return herb };
    match resolve_among(graph, word, &PLANTS) {
        Ok(plant) => Ok(plant),
        Err(several @ Unresolved::Ambiguous { .. }) => Err(several),
        Err(Unresolved::Unknown { .. } | Unresolved::OtherKind { .. }) => herb,
    }
}
