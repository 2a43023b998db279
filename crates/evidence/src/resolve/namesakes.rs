//! Others that share a name with what is meant, and of which an answer tells nothing. They may be the same thing under another
//! category or id, so their warnings are never passed over in silence.

use std::collections::BTreeSet;

use super::{CANDIDATES_MAX, Meant, is_own, source};
use crate::contraindications::warned_of;
use crate::graph::{Graph, NodeNumber};
use crate::network::{quoted, same_things};
use crate::rest;

/// Those that have warnings, by any name that the thing has under any of its ids; and of whoever asks by an id for what somebody
/// brought under a name of ours, what is ours of this category. `is_told` has whom the answer is about.
pub fn namesakes(
    graph: &Graph,
    word: &str,
    meant: &Meant,
    kind: Option<&str>,
    is_told: impl Fn(NodeNumber) -> bool,
) -> Option<String> {
    let nodes = graph.nodes();
    let is_foreign = nodes.find(word).is_some_and(|node| !is_own(graph, node));
    let is_ours =
        |node: NodeNumber| is_foreign && is_own(graph, node) && kind.is_some_and(|kind| nodes.is_a(node, kind));
    let meant = same_things(graph, &meant.nodes()).into_iter().map(|it| it.node);
    let others: BTreeSet<NodeNumber> = meant.flat_map(|node| nodes.sharing_a_name(node)).collect();
    let told = others.into_iter().filter(|node| !is_told(*node)).filter_map(|node| {
        let warnings = match warned_of(graph, node).len() {
            0 if !is_ours(node) => return None,
            0 => String::new(),
            1 => ", 1 warning".to_owned(),
            n => format!(", {n} warnings"),
        };
        let [label, id] = quoted::label_and_id(graph, node);
        let kind = quoted::word(nodes.kind(node));
        Some(format!("{label} ({id}, {kind} from {}{warnings})", source(graph, node)))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| {
        format!(
            "`{word}` has a name that is also one of {}. They may be different things, and what is recorded of that one is \
             not told here: `kg_get_everything` tells it by its id.",
            rest::first(&told, CANDIDATES_MAX)
        )
    })
}

/// Those that share a name with what is meant and that an answer without results is not about, whatever is recorded of them.
pub fn namesakes_of_other_types(graph: &Graph, word: &str, meant: &Meant, told: &[NodeNumber]) -> Option<String> {
    let nodes = graph.nodes();
    let others: BTreeSet<NodeNumber> = meant.nodes().into_iter().flat_map(|node| nodes.sharing_a_name(node)).collect();
    let named = others.into_iter().filter(|node| !told.contains(node)).map(|node| {
        let [label, id] = quoted::label_and_id(graph, node);
        format!("{label} ({id}, {} from {})", quoted::word(nodes.kind(node)), source(graph, node))
    });
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| {
        let named = rest::first(&named, CANDIDATES_MAX);
        format!("`{word}` has a name that is also one of {named}, of which nothing is told here: ask for it by its type and id.")
    })
}
