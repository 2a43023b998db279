//! Path queries: from the words of a question to paths with labels, licences and the reason for each hop.

mod note;
mod told;

use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use contract::evidence::checked::Checked;
use contract::evidence::graph::{DEPTH_DEFAULT, PATHS_DEFAULT, QueryKg, QueryKgOutput, Truncated};

use crate::graph::pattern::{Pattern, PatternError, PatternHop};
use crate::graph::walk::{Filter, Stop, Walk, Work};
use crate::graph::{Direction, Graph, NodeNumber, Words};
use crate::network::{SameThing, same_things};
use crate::resolve::{Meant, Unresolved, namesakes_of_other_types, resolve};
use crate::rest;
use told::Told;

/// As the type of the start: whatever has the id or name.
const ANY_TYPE: &str = "*";
const TYPE: &str = "type of node";
const PREDICATE: &str = "predicate";
/// Words that a mistaken one is told with.
pub(crate) const KNOWN_SHOWN_MAX: usize = 12;

/// Edges that a question may look at.
pub const WORK_MAX: u64 = 20_000_000;
/// Edges that a count may look at: nothing is kept on the way. In a dense graph it takes some 25 ns for each.
pub const COUNT_WORK_MAX: u64 = 80_000_000;

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
    #[error("the record has no {what} `{word}`")]
    Unknown { field: &'static str, what: &'static str, word: String, known: Vec<String> },
    #[error("there are too many paths to count; a narrower pattern or filter has fewer")]
    TooMany,
    #[error("nobody waits for the answer any more")]
    Abandoned,
}

impl PathsError {
    /// What could have been meant, the likest first, to go on with after the message.
    pub fn advice(&self) -> String {
        match self {
            PathsError::Start(error) => error.advice(),
            PathsError::Unknown { known, .. } => format!("; it has {}", rest::first(known, KNOWN_SHOWN_MAX)),
            PathsError::Pattern(_)
            | PathsError::TooDeep { .. }
            | PathsError::NoDepth
            | PathsError::OtherStart { .. }
            | PathsError::TooMany
            | PathsError::Abandoned => String::new(),
        }
    }
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
                is_verified_only: false,
            },
            max_depth,
            limit: depth(asked.limit.unwrap_or(PATHS_DEFAULT)),
            is_count: asked.count,
        })
    }

    /// Answers, looking at no more than so many edges. `None` means that this was not enough.
    pub fn ask(&self, graph: &Graph, n_work_max: u64) -> Result<Option<Found>, PathsError> {
        self.answer(graph, Limits { n_work_max, nobody_waits: None })
    }

    /// As [`Question::ask`], with as much work as any question may cost, as long as anybody waits.
    pub fn ask_fully(&self, graph: &Graph, nobody_waits: &AtomicBool) -> Result<Found, PathsError> {
        let n_work_max = if self.is_count { COUNT_WORK_MAX } else { WORK_MAX };
        let answer = self.answer(graph, Limits { n_work_max, nobody_waits: Some(nobody_waits) })?;
        answer.ok_or(PathsError::TooMany)
    }

    fn answer<'g>(&self, graph: &'g Graph, limits: Limits<'g>) -> Result<Option<Found>, PathsError> {
        let kind = Some(self.kind.as_str()).filter(|kind| *kind != ANY_TYPE);
        let meant = resolve(graph, &self.id, kind).map_err(PathsError::Start)?;
        if let Some(kind) = self.pattern.as_ref().and_then(|pattern| pattern.start.as_deref())
            && !graph.nodes().is_a(meant.node, kind)
        {
            let (pattern, start) = (kind.to_owned(), self.kind.clone());
            return Err(PathsError::OtherStart { pattern, start });
        }
        self.check_words(graph)?;
        let asked = meant.nodes();
        let is_wanted = |it: &SameThing| kind.is_none_or(|kind| graph.nodes().is_a(it.node, kind));
        let starts: Vec<SameThing> = same_things(graph, &asked).into_iter().filter(is_wanted).collect();
        if self.is_count {
            let Some(count) = self.count(graph, &starts, limits)? else { return Ok(None) };
            let mut found = Found::count(count);
            found.output.note = self.note(graph, &meant, &starts, &found.output);
            return Ok(Some(found));
        }
        let mut told = Told::new(graph, &starts, self.limit);
        let nodes = starts.iter().map(|start| start.node);
        let truncated = self.walk(graph, nodes, &self.filter, limits, &mut told)?;
        if truncated == Some(Truncated::Work) && limits.n_work_max < WORK_MAX {
            return Ok(None);
        }
        if truncated.is_some() && graph.has_verified() && !told.is_verified() {
            match self.verified_first(graph, &starts, limits, told)? {
                Some(better) => told = better,
                None => return Ok(None),
            }
        }
        let mut found = told.finish(truncated);
        found.output.note = self.note(graph, &meant, &starts, &found.output);
        Ok(Some(found))
    }

    /// What the answer does not tell.
    fn note(&self, graph: &Graph, meant: &Meant, starts: &[SameThing], output: &QueryKgOutput) -> Option<String> {
        let mut notes: Vec<String> = meant.note(graph, &self.id).into_iter().collect();
        let starts: Vec<NodeNumber> = starts.iter().map(|start| start.node).collect();
        let is_nothing = output.paths.is_empty() && output.count.is_none_or(|count| count == 0);
        if is_nothing {
            notes.push(note::nothing(output, self.pattern.is_some()));
            notes.extend(namesakes_of_other_types(graph, &self.id, meant, &starts));
        }
        if self.pattern.is_none() {
            notes.extend(note::not_followed(graph, meant.node, &starts, &self.filter));
        }
        notes.extend(self.first_hop().and_then(|direction| note::denied(graph, meant.node, &starts, direction)));
        // Of paths that are only counted nobody knows which they are.
        if is_nothing || (!self.is_count && self.asks_for_interactions()) {
            notes.extend(note::not_among(graph, &meant.nodes(), &self.filter, output));
        }
        (!notes.is_empty()).then(|| notes.join(" "))
    }

    /// Which way the first hop goes, where it is along any statement but denials.
    fn first_hop(&self) -> Option<Direction> {
        let hop = self.pattern.as_ref().map(|pattern| pattern.hops.first());
        let is_any = |hop: &&PatternHop| hop.predicate.is_none();
        let direction = match hop {
            None => Some(Direction::Out),
            Some(hop) => hop.filter(is_any).map(|hop| hop.direction),
        };
        direction.filter(|_| self.filter.predicates.is_none())
    }

    fn asks_for_interactions(&self) -> bool {
        let hops = self.pattern.iter().flat_map(|pattern| &pattern.hops).filter_map(|hop| hop.predicate.as_deref());
        let filtered = self.filter.predicates.iter().flatten().map(String::as_str);
        hops.chain(filtered).any(|predicate| predicate == note::INTERACTS)
    }

    /// Types, predicates and sources that nothing in the graph has are mistakes.
    fn check_words(&self, graph: &Graph) -> Result<(), PathsError> {
        let categories = graph.nodes().categories();
        let check = |field: &'static str, what: &'static str, word: &str, known: &Words| match known.find(word) {
            Some(_) => Ok(()),
            None => Err(unknown(field, what, word, known)),
        };
        let hops = self.pattern.iter().flat_map(|pattern| &pattern.hops);
        let types = self.pattern.iter().filter_map(|pattern| pattern.start.as_deref());
        for word in types.chain(hops.clone().filter_map(|hop| hop.end.as_deref())) {
            check("pattern", TYPE, word, categories)?;
        }
        for word in hops.filter_map(|hop| hop.predicate.as_deref()) {
            check("pattern", PREDICATE, word, graph.predicates())?;
        }
        let filter = &self.filter;
        for (field, what, words, known) in [
            ("filters/type", TYPE, &filter.kinds, categories),
            ("filters/predicate", PREDICATE, &filter.predicates, graph.predicates()),
            ("filters/source", "source", &filter.sources, graph.sources().words()),
        ] {
            words.iter().flatten().try_for_each(|word| check(field, what, word, known))?;
        }
        Ok(())
    }

    fn walks_from<'g>(&self, graph: &'g Graph, start: NodeNumber, filter: &Filter) -> Vec<Walk<'g>> {
        match &self.pattern {
            Some(pattern) => vec![Walk::along(graph, start, pattern, filter)],
            None => (1..=depth(self.max_depth)).map(|n_hops| Walk::anywhere(graph, start, n_hops, filter)).collect(),
        }
    }

    /// Tells the paths one after the other, up to the limit.
    fn walk<'g>(
        &self,
        graph: &'g Graph,
        starts: impl Iterator<Item = NodeNumber>,
        filter: &Filter,
        limits: Limits<'g>,
        told: &mut Told<'_>,
    ) -> Result<Option<Truncated>, PathsError> {
        let walks = starts.flat_map(|start| self.walks_from(graph, start, filter));
        let mut work = limits.work();
        for walk in walks.map(Walk::looking_ahead) {
            told.begin(walk.start());
            let ended = walk.each(&mut work, |before, last| {
                if told.n_paths() == self.limit {
                    return ControlFlow::Break(());
                }
                told.add(before, last);
                ControlFlow::Continue(())
            });
            match ended {
                Ok(()) => {}
                Err(Stop::Enough) => return Ok(Some(Truncated::Limit)),
                Err(Stop::Work) => return Ok(Some(Truncated::Work)),
                Err(Stop::Alone) => return Err(PathsError::Abandoned),
            }
        }
        Ok(None)
    }

    /// Paths that were cut off, once more: those that are verified from their start to their end are not lost for others,
    /// however many somebody imports. `None` where it takes more work than was allowed.
    fn verified_first<'g>(
        &self,
        graph: &'g Graph,
        starts: &'g [SameThing],
        limits: Limits<'g>,
        told: Told<'g>,
    ) -> Result<Option<Told<'g>>, PathsError> {
        let filter = Filter { is_verified_only: true, ..self.filter.clone() };
        let sure = starts.iter().filter(|start| start.checked == Checked::Verified).map(|start| start.node);
        let mut verified = Told::new(graph, starts, self.limit);
        let truncated = self.walk(graph, sure, &filter, limits, &mut verified)?;
        if truncated == Some(Truncated::Work) && limits.n_work_max < WORK_MAX {
            return Ok(None);
        }
        // Without a pattern the others may be shorter, and say more about the start.
        let n_others = if self.pattern.is_some() { 0 } else { self.limit / 2 };
        Ok(Some(verified.with_others(told, n_others, self.limit)))
    }

    /// `None` where there are too many to count.
    fn count<'g>(&self, graph: &'g Graph, starts: &[SameThing], limits: Limits<'g>) -> Result<Option<u64>, PathsError> {
        let walks = starts.iter().flat_map(|start| self.walks_from(graph, start.node, &self.filter));
        let (mut work, mut n_paths) = (limits.work(), 0_u64);
        for walk in walks {
            match walk.count(&mut work) {
                Ok(n_more) => n_paths = n_paths.saturating_add(n_more),
                Err(Stop::Alone) => return Err(PathsError::Abandoned),
                Err(Stop::Work | Stop::Enough) => return Ok(None),
            }
        }
        Ok(Some(n_paths))
    }
}

/// How far a walk may go.
#[derive(Debug, Clone, Copy)]
struct Limits<'a> {
    n_work_max: u64,
    nobody_waits: Option<&'a AtomicBool>,
}

impl<'a> Limits<'a> {
    fn work(self) -> Work<'a> {
        Work::new(self.n_work_max, self.nobody_waits)
    }
}

/// Tells of a word that nothing has, with those that there are, the likest first.
fn unknown(field: &'static str, what: &'static str, word: &str, known: &Words) -> PathsError {
    let known = closest(known.all().iter().map(|word| word.as_ref().to_owned()).collect(), word);
    PathsError::Unknown { field, what, word: word.to_owned(), known }
}

/// The words that could have been meant, the likest first.
pub(crate) fn closest(mut known: Vec<String>, word: &str) -> Vec<String> {
    known.sort_by_cached_key(|one| (Reverse(likeness(one, word)), one.clone()));
    known
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
        let output = QueryKgOutput { count: Some(count), ..QueryKgOutput::default() };
        Found { output, licences: Vec::new() }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use contract::evidence::record::Record;
    use serde_json::json;

    #[test]
    fn a_question_costs_no_more_than_all_of_its_walks_may_together() {
        let ids = || (0..10).map(|number| format!("G:{number}"));
        let node = |id| json!({"record": "node", "id": id, "categories": ["gene"], "names": [], "source": "s"});
        let edge = |one: &String, other: &String| {
            json!({"record": "edge", "id": format!("{one}-{other}"), "subject": one, "predicate": "affects", "object": other,
                "source": "s"})
        };
        let pairs =
            ids().flat_map(|one| ids().map(move |other| (one.clone(), other))).filter(|(one, other)| one != other);
        let records = ids().map(node).chain(pairs.map(|(one, other)| edge(&one, &other)));
        let records: Vec<Record> = records.map(|record| serde_json::from_value(record).unwrap()).collect();
        let graph = Graph::of(&records).unwrap();
        let asked = json!({"start": {"type": "gene", "id": "G:0"}, "max_depth": 3, "count": true});
        let question = Question::parse(&serde_json::from_value(asked).unwrap()).unwrap();
        let count = |n_work_max| question.ask(&graph, n_work_max).unwrap().map(|found| found.output.count);
        // Nine edges at each of the nodes that the walks of one, two and three hops come by.
        let n_work = [1, 1 + 9, 1 + 9 + 72].iter().map(|n_nodes| n_nodes * 9).sum();
        assert_eq!(count(n_work), Some(Some(9 + 72 + 504)));
        assert_eq!(count(n_work - 1), None);
    }
}
