//! Who a kind of statement is recorded of, among a thing and all that it is, belongs to or is made of.

use contract::evidence::checked::Checked;

use super::inherited;
use crate::graph::predicates::holds_both_ways;
use crate::graph::{Direction, Graph, Hop, NodeNumber};

/// Statements of one node, and how it is reached.
pub(crate) struct Stated {
    pub start: NodeNumber,
    /// From the start to the node: predicates, whether along the edge, and where each leads; empty for the start itself.
    pub way: Vec<(u32, Direction, NodeNumber)>,
    /// Who says that the start is the same as something on the way there; nobody where it was asked for.
    pub same_by: Vec<u32>,
    /// As the weakest step of the way.
    pub checked: Checked,
    pub node: NodeNumber,
    pub hops: Vec<Hop>,
}

/// The best checked way first, and of equals the nearest. Nodes without such a statement are left out.
pub(crate) fn of_wider(graph: &Graph, thing: &[NodeNumber], predicate: u32) -> Vec<Stated> {
    let is_both_ways = holds_both_ways(graph.predicates().text(predicate));
    let directions: &[Direction] = if is_both_ways { &[Direction::Out, Direction::In] } else { &[Direction::Out] };
    let stated = inherited::reached(graph, thing).into_iter().filter_map(|reached| {
        let inherited::Reached { start, way, same_by, checked, node } = reached;
        let hops = directions.iter().flat_map(|direction| graph.hops(node, *direction, Some(predicate)));
        let hops: Vec<Hop> = hops.collect();
        (!hops.is_empty()).then_some(Stated { start, way, same_by, checked, node, hops })
    });
    stated.collect()
}
