//! From what somebody calls a thing to the node: its id, another id of it, or a name in any language.

mod herbs;
mod namesakes;

pub(crate) use herbs::is_herb;
pub use herbs::resolve_herb;
pub use namesakes::{namesakes, namesakes_of_other_types};

use contract::evidence::starter::is_own_source;

use crate::graph::names::normalise;
use crate::graph::{Graph, Named, NodeNumber};
use crate::network::{quoted, same_things};
use crate::rest;

/// Nodes that a misspelt name is told with, and how alike they have to be, 0…1.
const NEAR_MAX: usize = 3;
const NEAR_FROM: f64 = 0.7;
/// Nodes that are compared, and letters of a word that may be a misspelt name. Comparing costs the product of the lengths
/// for each node, so beyond these nothing is suggested.
const COMPARED_MAX: u32 = 20_000;
const WORD_CHARS_MAX: usize = 60;
/// Nodes that a name of several is told with.
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
            Unresolved::Ambiguous { candidates, .. } => {
                format!(": {}; use one of these ids", rest::first(candidates, CANDIDATES_MAX))
            }
        }
    }
}

/// What a word means: a node, and others that have the word for an id or a name too. What is recorded of those is told as well:
/// whoever else uses a name must neither hide what is known of a thing nor be taken for it in silence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meant {
    pub node: NodeNumber,
    pub others: Vec<NodeNumber>,
}

impl Meant {
    /// All of them, the first one first.
    pub fn nodes(&self) -> Vec<NodeNumber> {
        std::iter::once(self.node).chain(self.others.iter().copied()).collect()
    }

    /// What the word does not say: that its own node is gone, and that there are others; `None` where there is neither.
    pub fn note(&self, graph: &Graph, word: &str) -> Option<String> {
        let notes: Vec<String> =
            [self.withdrawn(graph, word), self.ambiguity(graph, word)].into_iter().flatten().collect();
        (!notes.is_empty()).then(|| notes.join(" "))
    }

    /// That the word was the id of a node that its source took back, and that the answer is about another.
    fn withdrawn(&self, graph: &Graph, word: &str) -> Option<String> {
        // Who asks by the id itself knows whom the answer is about.
        let is_its_id = graph.nodes().id(self.node) == word;
        (!is_its_id && graph.is_withdrawn(word)).then(|| {
            let [label, id] = quoted::label_and_id(graph, self.node);
            format!(
                "The entry `{word}` was withdrawn by its source, and statements about it are still recorded that are not told \
                 here. This is about {label} ({id}, from {}), which has `{word}` among its names or other ids.",
                source(graph, self.node)
            )
        })
    }

    fn ambiguity(&self, graph: &Graph, word: &str) -> Option<String> {
        let named = |node: &NodeNumber| {
            let [label, id] = quoted::label_and_id(graph, *node);
            format!("{label} ({id}, from {})", source(graph, *node))
        };
        let others: Vec<String> = self.others.iter().map(named).collect();
        (!others.is_empty()).then(|| {
            format!(
                "`{word}` means {} and is also an id or a name of {}. They may be different things.",
                named(&self.node),
                rest::first(&others, CANDIDATES_MAX)
            )
        })
    }
}

/// What a word means among the nodes of a category; of any category where none is named. Nodes that only say that they are what
/// the word means are not among them where it is somebody's id: the graph tells who says so.
pub fn resolve(graph: &Graph, word: &str, kind: Option<&str>) -> Result<Meant, Unresolved> {
    resolve_among(graph, word, kind.as_slice())
}

/// As [`resolve`], among the nodes of any of these categories; of any at all where none is named.
fn resolve_among(graph: &Graph, word: &str, kinds: &[&str]) -> Result<Meant, Unresolved> {
    let nodes = graph.nodes();
    let is_wanted = |node: &NodeNumber| kinds.is_empty() || kinds.iter().any(|kind| nodes.is_a(*node, kind));
    let by_id = nodes.find(word);
    by_id.iter().for_each(|node| graph.touch_start(*node));
    let Named { by_name, mut by_other_id } = nodes.find_named(word, by_id);
    // Stable: whose other ids somebody verified come first.
    by_other_id.sort_by_key(|node| !nodes.is_verified(*node));
    let known: Vec<NodeNumber> = by_id.into_iter().chain(by_name.iter().chain(&by_other_id).copied()).collect();
    let wanted: Vec<NodeNumber> = known.iter().copied().filter(is_wanted).collect();
    let Some(first) = wanted.first().copied() else {
        let expected = kinds.first().copied().unwrap_or("node").to_owned();
        return Err(match known.first() {
            Some(other) => {
                let found = nodes.kind(*other).to_owned();
                Unresolved::OtherKind { kind: expected, word: word.to_owned(), found }
            }
            None => Unresolved::Unknown { kind: expected, word: word.to_owned(), near: near(graph, word, is_wanted) },
        });
    };
    let by_name = by_name.into_iter().filter(is_wanted);
    if by_id == Some(first) {
        return Ok(Meant { node: first, others: by_name.filter(|node| *node != first).collect() });
    }
    // A name of what came with the program keeps meaning that, whoever else brings something under it.
    let own: Vec<NodeNumber> = wanted.iter().copied().filter(|node| is_own(graph, *node)).collect();
    let meant = if own.is_empty() { &wanted } else { &own };
    let node = meant.first().copied().unwrap_or(first);
    let same: Vec<NodeNumber> = same_things(graph, &[node]).iter().map(|it| it.node).collect();
    if !meant.iter().all(|node| same.contains(node)) {
        let mut candidates: Vec<&str> = wanted.iter().map(|node| nodes.id(*node)).collect();
        candidates.sort_unstable();
        let candidates = candidates.into_iter().map(quoted::word).collect();
        return Err(Unresolved::Ambiguous { word: word.to_owned(), candidates });
    }
    let by_other_id = by_other_id.into_iter().filter(is_wanted).filter(|node| !same.contains(node));
    Ok(Meant { node, others: by_name.chain(by_other_id).filter(|other| *other != node).collect() })
}

/// Whether a node came with the program.
fn is_own(graph: &Graph, node: NodeNumber) -> bool {
    is_own_source(graph.sources().id(graph.nodes().source(node)))
}

/// Whose word a node is, as notes name it.
fn source(graph: &Graph, node: NodeNumber) -> String {
    quoted::word(graph.sources().id(graph.nodes().source(node)))
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
    let there = (0..nodes.len()).filter(|node| nodes.is_there(*node)).filter(&is_wanted);
    let mut alike: Vec<(f64, NodeNumber)> = there.map(|node| (likeness(node), node)).collect();
    alike.retain(|(likeness, _)| *likeness >= NEAR_FROM);
    alike.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| nodes.id(a.1).cmp(nodes.id(b.1))));
    let mut shown: Vec<NodeNumber> = Vec::new();
    for (_, node) in alike.into_iter().take(NEAR_MAX) {
        // A name of what came with the program keeps meaning that, whoever else is called so.
        let ours = nodes.sharing_a_name(node).into_iter().filter(|other| is_own(graph, *other) && is_wanted(other));
        let meant: Vec<NodeNumber> = ours.filter(|_| !is_own(graph, node)).chain([node]).collect();
        shown.extend(meant.into_iter().filter(|node| !shown.contains(node)).collect::<Vec<_>>());
    }
    let told = shown.into_iter().take(NEAR_MAX);
    told.map(|node| format!("{} ({})", quoted::ticked(nodes.label(node)), quoted::ticked(nodes.id(node)))).collect()
}
