//! Path queries: from the words of a question to paths with labels, licences and the reason for each hop.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use contract::evidence::graph::{DEPTH_DEFAULT, PATHS_DEFAULT, PathNode, QueryKg, QueryKgOutput, Truncated, Via};

use crate::graph::pattern::{Pattern, PatternError};
use crate::graph::walk::{Filter, Stop, Walk};
use crate::graph::{Direction, Graph, Hop, NodeNumber, Words};
use crate::resolve::{Unresolved, resolve_all};

/// As the type of the start: whatever has the id or name.
const ANY_TYPE: &str = "*";
const TYPE: &str = "type of node";
const PREDICATE: &str = "predicate";
/// Words that a mistaken one is told with.
const KNOWN_SHOWN_MAX: usize = 12;

/// Edges that a question may look at.
pub const WORK_MAX: u64 = 20_000_000;
/// Edges that a count may look at: nothing is kept on the way.
pub const COUNT_WORK_MAX: u64 = 500_000_000;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathsError {
    #[error(transparent)]
    Pattern(PatternError),
    #[error("the pattern has {n_hops} hops, but `max_depth` is {max_depth}")]
    TooDeep { n_hops: usize, max_depth: u32 },
    #[error("the depth is 0, which only a dry run may have")]
    NoDepth,
    #[error("the pattern begins with `{pattern}`, but `start` is a `{start}`")]
    OtherStart { pattern: String, start: String },
    #[error(transparent)]
    Start(Unresolved),
    /// Nothing would be found, and that would look as if there were nothing.
    #[error("the record has no {what} `{word}`; it has {}", known.join(", "))]
    Unknown { field: &'static str, what: &'static str, word: String, known: Vec<String> },
    #[error("there are too many paths to count; a narrower pattern or filter has fewer")]
    TooMany,
}

/// A question that can be asked of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    kind: String,
    id: String,
    pattern: Option<Pattern>,
    filter: Filter,
    max_depth: u32,
    limit: usize,
    is_count: bool,
}

/// What was found, and whose words it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub output: QueryKgOutput,
    /// Source and licence, in the order of the sources.
    pub licences: Vec<(String, String)>,
}

impl Question {
    pub fn parse(asked: &QueryKg) -> Result<Question, PathsError> {
        let pattern = asked.pattern.as_deref().map(Pattern::parse).transpose().map_err(PathsError::Pattern)?;
        let max_depth = asked.max_depth.unwrap_or(DEPTH_DEFAULT);
        if max_depth == 0 && !asked.dry {
            return Err(PathsError::NoDepth);
        }
        if let Some(pattern) = pattern.as_ref().filter(|it| !asked.dry && it.hops.len() > depth(max_depth)) {
            return Err(PathsError::TooDeep { n_hops: pattern.hops.len(), max_depth });
        }
        let filters = asked.filters.clone().unwrap_or_default();
        Ok(Question {
            kind: asked.start.kind.clone(),
            id: asked.start.id.clone(),
            pattern,
            filter: Filter {
                kinds: filters.kind.map(|it| it.list()),
                predicates: filters.predicate.map(|it| it.list()),
                sources: filters.source.map(|it| it.list()),
                strength_min: filters.strength,
            },
            max_depth,
            limit: depth(asked.limit.unwrap_or(PATHS_DEFAULT)),
            is_count: asked.count,
        })
    }

    /// Answers, looking at no more than so many edges. `None` means that this was not enough.
    pub fn ask(&self, graph: &Graph, n_work_max: u64) -> Result<Option<Found>, PathsError> {
        let kind = Some(self.kind.as_str()).filter(|kind| *kind != ANY_TYPE);
        let (start, same) = resolve_all(graph, &self.id, kind).map_err(PathsError::Start)?;
        if let Some(kind) = self.pattern.as_ref().and_then(|pattern| pattern.start.as_deref())
            && !graph.nodes().is_a(start, kind)
        {
            let (pattern, start) = (kind.to_owned(), self.kind.clone());
            return Err(PathsError::OtherStart { pattern, start });
        }
        self.check_words(graph)?;
        let starts: Vec<NodeNumber> = std::iter::once(start).chain(same).collect();
        if self.is_count {
            return Ok(self.count(graph, &starts, n_work_max).map(Found::count));
        }
        let mut told = Told::new(graph);
        let truncated = self.walk(graph, &starts, n_work_max, &mut told);
        if truncated == Some(Truncated::Work) && n_work_max < WORK_MAX {
            return Ok(None);
        }
        Ok(Some(told.finish(truncated)))
    }

    /// Types, predicates and sources that nothing in the graph has are mistakes.
    fn check_words(&self, graph: &Graph) -> Result<(), PathsError> {
        let nodes = graph.nodes();
        let hops = self.pattern.iter().flat_map(|pattern| &pattern.hops);
        let types = self.pattern.iter().filter_map(|pattern| pattern.start.as_deref());
        let types = types.chain(hops.clone().filter_map(|hop| hop.end.as_deref()));
        let predicates = hops.filter_map(|hop| hop.predicate.as_deref());
        let filter = &self.filter;
        let listed = |words: &'_ Option<Vec<String>>| words.clone().unwrap_or_default();
        let wanted: [(&str, &str, Vec<String>, &Words); 5] = [
            ("pattern", TYPE, types.map(str::to_owned).collect(), nodes.categories()),
            ("pattern", PREDICATE, predicates.map(str::to_owned).collect(), graph.predicates()),
            ("filters/type", TYPE, listed(&filter.kinds), nodes.categories()),
            ("filters/predicate", PREDICATE, listed(&filter.predicates), graph.predicates()),
            ("filters/source", "source", listed(&filter.sources), graph.sources().words()),
        ];
        for (field, what, words, known) in wanted {
            if let Some(word) = words.into_iter().find(|word| known.find(word).is_none()) {
                let mut known: Vec<String> = known.all().iter().map(|word| word.as_ref().to_owned()).collect();
                known.sort_by_cached_key(|one| (Reverse(likeness(one, &word)), one.clone()));
                known.truncate(KNOWN_SHOWN_MAX);
                return Err(PathsError::Unknown { field, what, word, known });
            }
        }
        Ok(())
    }

    /// As [`Question::ask`], with as much work as any question may cost.
    pub fn ask_fully(&self, graph: &Graph) -> Result<Found, PathsError> {
        let n_work_max = if self.is_count { COUNT_WORK_MAX } else { WORK_MAX };
        self.ask(graph, n_work_max)?.ok_or(PathsError::TooMany)
    }

    fn walks_from<'g>(&self, graph: &'g Graph, start: NodeNumber, n_work_max: u64) -> Vec<Walk<'g>> {
        match &self.pattern {
            Some(pattern) => vec![Walk::along(graph, start, pattern, &self.filter, n_work_max)],
            None => (1..=depth(self.max_depth))
                .map(|n_hops| Walk::anywhere(graph, start, n_hops, &self.filter, n_work_max))
                .collect(),
        }
    }

    /// Tells the paths one after the other, up to the limit.
    fn walk(&self, graph: &Graph, starts: &[NodeNumber], n_work_max: u64, told: &mut Told<'_>) -> Option<Truncated> {
        let walks = starts.iter().flat_map(|start| self.walks_from(graph, *start, n_work_max));
        for walk in walks {
            let ended = walk.each(|hops| {
                if told.paths.len() == self.limit {
                    return ControlFlow::Break(());
                }
                told.add(walk.start(), hops);
                ControlFlow::Continue(())
            });
            match ended {
                Ok(()) => {}
                Err(Stop::Enough) => return Some(Truncated::Limit),
                Err(Stop::Work) => return Some(Truncated::Work),
            }
        }
        None
    }

    fn count(&self, graph: &Graph, starts: &[NodeNumber], n_work_max: u64) -> Option<u64> {
        let walks = starts.iter().flat_map(|start| self.walks_from(graph, *start, n_work_max));
        walks.map(|walk| walk.count().ok()).sum()
    }
}

/// Letters that two words begin with in common: enough to put `treats` before the others for `treat`.
fn likeness(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count()
}

fn depth(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl Found {
    fn count(count: u64) -> Found {
        let output = QueryKgOutput { paths: Vec::new(), count: Some(count), truncated: None };
        Found { output, licences: Vec::new() }
    }
}

/// Paths on their way into the words of the answer.
struct Told<'g> {
    graph: &'g Graph,
    /// Of all paths, one after the other.
    hops: Vec<Hop>,
    /// Where each path begins, and where it ends among the hops.
    paths: Vec<(NodeNumber, usize)>,
}

impl<'g> Told<'g> {
    fn new(graph: &'g Graph) -> Told<'g> {
        Told { graph, hops: Vec::new(), paths: Vec::new() }
    }

    fn add(&mut self, start: NodeNumber, hops: &[Hop]) {
        self.hops.extend_from_slice(hops);
        self.paths.push((start, self.hops.len()));
    }

    fn finish(self, truncated: Option<Truncated>) -> Found {
        self.graph.nodes().touch(self.hops.iter().map(|hop| hop.end));
        // There are few, so a list is quicker than a set.
        let mut sources = Vec::new();
        let mut paths: Vec<Vec<PathNode>> = Vec::with_capacity(self.paths.len());
        let (mut begin, mut before) = (0, (None, &[][..]));
        for (start, end) in self.paths {
            let hops = self.hops.get(begin..end).unwrap_or_default();
            let mut path = Vec::with_capacity(hops.len() + 1);
            // Paths come in order, so they mostly begin like the one before.
            let n_alike = hops.iter().zip(before.1).take_while(|(a, b)| a == b).count();
            match paths.last().filter(|_| before.0 == Some(start)).and_then(|last| last.get(..=n_alike)) {
                Some(alike) => path.extend_from_slice(alike),
                None => {
                    note(&mut sources, self.graph.nodes().source(start));
                    path.push(shown(self.graph, start, None));
                    path.extend(hops.iter().take(n_alike).map(|hop| told(self.graph, hop, &mut sources)));
                }
            }
            path.extend(hops.iter().skip(n_alike).map(|hop| told(self.graph, hop, &mut sources)));
            paths.push(path);
            (begin, before) = (end, (Some(start), hops));
        }
        let licences = licences(self.graph, sources);
        Found { output: QueryKgOutput { paths, count: None, truncated }, licences }
    }
}

fn note(sources: &mut Vec<u32>, source: u32) {
    if !sources.contains(&source) {
        sources.push(source);
    }
}

/// The node that a hop leads to. Its source and that of the edge are noted.
fn told(graph: &Graph, hop: &Hop, sources: &mut Vec<u32>) -> PathNode {
    let source = graph.edge_source(hop.edge);
    note(sources, source);
    note(sources, graph.nodes().source(hop.end));
    let via = Via {
        predicate: graph.predicates().shared(hop.predicate),
        reverse: graph.direction(hop.edge, hop.end) == Direction::In,
        edge_id: graph.edge_id(hop.edge).to_owned(),
        source: graph.sources().shared_id(source),
        strength: graph.edge_strength(hop.edge),
        critical: graph.edge_is_critical(hop.edge),
        verified: graph.edge_verified(hop.edge),
    };
    shown(graph, hop.end, Some(via))
}

fn shown(graph: &Graph, node: NodeNumber, via: Option<Via>) -> PathNode {
    let nodes = graph.nodes();
    PathNode { id: nodes.shared_id(node), kind: nodes.kind(node), label: nodes.shared_label(node), via }
}

/// Ids and licences of sources, in the order of the ids.
pub fn licences(graph: &Graph, sources: impl IntoIterator<Item = u32>) -> Vec<(String, String)> {
    let named =
        sources.into_iter().map(|it| (graph.sources().id(it).to_owned(), graph.sources().licence(it).to_owned()));
    let mut named: Vec<(String, String)> = named.collect();
    named.sort();
    named.dedup();
    named
}
