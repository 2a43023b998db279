//! From what somebody calls a thing to the node: its id, another id of it, or a name in any language.

use crate::graph::{Graph, NodeNumber};

/// Candidates that an ambiguous name is told with.
const CANDIDATES_MAX: usize = 10;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    #[error("no {kind} has the id or name `{word}`")]
    Unknown { kind: String, word: String },
    #[error("`{word}` is a {found}, not a {kind}")]
    OtherKind { kind: String, word: String, found: String },
    #[error("`{word}` is the name of several: {}; use one of these ids", candidates.join(", "))]
    Ambiguous { word: String, candidates: Vec<String> },
}

/// The one node of a category that a word means; of any category where none is named.
pub fn resolve(graph: &Graph, word: &str, kind: Option<&str>) -> Result<NodeNumber, Unresolved> {
    let nodes = graph.nodes();
    let is_wanted = |node: &NodeNumber| kind.is_none_or(|kind| nodes.is_a(*node, kind));
    let by_id = nodes.find(word);
    if let Some(node) = by_id.filter(is_wanted) {
        return Ok(node);
    }
    let named = nodes.find_named(word);
    let wanted: Vec<NodeNumber> = named.iter().copied().filter(is_wanted).collect();
    let expected = kind.unwrap_or("node").to_owned();
    match (wanted.as_slice(), by_id.or(named.first().copied())) {
        ([node], _) => Ok(*node),
        ([], Some(other)) => {
            let found = nodes.kind(other).as_ref().to_owned();
            Err(Unresolved::OtherKind { kind: expected, word: word.to_owned(), found })
        }
        ([], None) => Err(Unresolved::Unknown { kind: expected, word: word.to_owned() }),
        (several, _) => {
            let candidates = several.iter().take(CANDIDATES_MAX).map(|node| nodes.id(*node).to_owned()).collect();
            Err(Unresolved::Ambiguous { word: word.to_owned(), candidates })
        }
    }
}
