//! From what somebody calls a thing to the node: its id, another id of it, or a name in any language.

use crate::graph::names::normalise;
use crate::graph::{Graph, NodeNumber};

/// Nodes that a misspelt name is told with, and how alike they have to be, 0…1.
const NEAR_MAX: usize = 3;
const NEAR_FROM: f64 = 0.7;
/// Nodes that are compared, and letters of a word that may be a misspelt name. Comparing costs the product of the lengths
/// for each node, so beyond these nothing is suggested.
const COMPARED_MAX: u32 = 20_000;
const WORD_CHARS_MAX: usize = 60;
/// Candidates that an ambiguous name is told with.
const CANDIDATES_MAX: usize = 10;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    #[error("no {kind} has the id or name `{word}`")]
    Unknown { kind: String, word: String, near: Vec<String> },
    #[error("`{word}` is a {found}, not a {kind}")]
    OtherKind { kind: String, word: String, found: String },
    #[error("`{word}` is the name of several")]
    Ambiguous { word: String, candidates: Vec<String> },
}

impl Unresolved {
    /// What could have been meant, to go on with after the message. Whoever reads it can tell what the word was.
    pub fn advice(&self) -> String {
        match self {
            Unresolved::Unknown { near, .. } if near.is_empty() => String::new(),
            Unresolved::Unknown { near, .. } => format!("; did you mean {}?", near.join(", ")),
            Unresolved::OtherKind { .. } => String::new(),
            Unresolved::Ambiguous { candidates, .. } => format!(": {}; use one of these ids", candidates.join(", ")),
        }
    }
}

/// The one node of a category that a word means; of any category where none is named.
pub fn resolve(graph: &Graph, word: &str, kind: Option<&str>) -> Result<NodeNumber, Unresolved> {
    resolve_all(graph, word, kind).map(|(first, _)| first)
}

/// As [`resolve`], with the other nodes that the word means as well: what sources call one thing is one thing, and a node
/// whose id happens to be another one's name must not hide it.
pub fn resolve_all(graph: &Graph, word: &str, kind: Option<&str>) -> Result<(NodeNumber, Vec<NodeNumber>), Unresolved> {
    let nodes = graph.nodes();
    let is_wanted = |node: &NodeNumber| kind.is_none_or(|kind| nodes.is_a(*node, kind));
    let by_id = nodes.find(word);
    let named = nodes.find_named(word);
    let wanted: Vec<NodeNumber> = named.iter().copied().filter(is_wanted).collect();
    let Some(first) = by_id.filter(is_wanted).or(wanted.first().copied()) else {
        let expected = kind.unwrap_or("node").to_owned();
        return Err(match by_id.or(named.first().copied()) {
            Some(other) => {
                let found = nodes.kind(other).to_owned();
                Unresolved::OtherKind { kind: expected, word: word.to_owned(), found }
            }
            None => Unresolved::Unknown { kind: expected, word: word.to_owned(), near: near(graph, word, is_wanted) },
        });
    };
    let mut same: Vec<NodeNumber> = nodes.twins(first);
    let is_id = by_id == Some(first);
    if !is_id && wanted.iter().any(|node| *node != first && !same.contains(node)) {
        let candidates = wanted.iter().take(CANDIDATES_MAX).map(|node| nodes.id(*node).to_owned()).collect();
        return Err(Unresolved::Ambiguous { word: word.to_owned(), candidates });
    }
    for node in wanted {
        same.push(node);
        same.extend(nodes.twins(node));
    }
    let mut all = Vec::new();
    for node in same.into_iter().filter(is_wanted).filter(|node| *node != first) {
        if !all.contains(&node) {
            all.push(node);
        }
    }
    Ok((first, all))
}

/// Nodes whose label or id is spelt much like the word, the likeliest first.
fn near(graph: &Graph, word: &str, is_wanted: impl Fn(&NodeNumber) -> bool) -> Vec<String> {
    let nodes = graph.nodes();
    let word = normalise(word);
    let n_chars = word.chars().count();
    if nodes.len() > COMPARED_MAX || n_chars > WORD_CHARS_MAX {
        return Vec::new();
    }
    let likeness = |node: NodeNumber| {
        let label = nodes.label(node);
        let spelt = [label, nodes.id(node)].into_iter().filter(|name| name.chars().count() <= 2 * n_chars);
        let spelt = spelt.map(|name| normalise(&name.replace('_', " ")));
        spelt.map(|name| strsim::normalized_damerau_levenshtein(&word, &name)).fold(0.0, f64::max)
    };
    let there = (0..nodes.len()).filter(|node| nodes.is_there(*node)).filter(is_wanted);
    let mut alike: Vec<(f64, NodeNumber)> = there.map(|node| (likeness(node), node)).collect();
    alike.retain(|(likeness, _)| *likeness >= NEAR_FROM);
    alike.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| nodes.id(a.1).cmp(nodes.id(b.1))));
    let shown = alike.iter().take(NEAR_MAX);
    shown.map(|(_, node)| format!("{} ({})", nodes.label(*node), nodes.id(*node))).collect()
}
