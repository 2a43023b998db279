//! Paths on their way into the words of the answer: numbers while the graph is walked, and all texts at once afterwards,
//! because what is far apart in memory is fetched much faster together than one after the other.

use std::collections::HashSet;

use contract::evidence::checked::Checked;
use contract::evidence::graph::{Paths, QueryKgOutput, Step, StepSame, StepVia, Text, Truncated};

use super::{Found, licences};
use crate::graph::pattern::HOPS_MAX;
use crate::graph::{Direction, Graph, Hop, NodeNumber, Words};
use crate::network::SameThing;

/// Bytes that the texts of one step mostly take.
const STEP_BYTES: usize = 80;

/// A node of one or more paths; the first of a path has no hop.
#[derive(Debug, Clone, Copy)]
struct Met {
    node: NodeNumber,
    /// The number of the one before, and the hop from there.
    via: Option<(u32, Hop)>,
}

pub(super) struct Told<'g> {
    graph: &'g Graph,
    /// All nodes that paths may begin with.
    starts: &'g [SameThing],
    met: Vec<Met>,
    /// The last of each path.
    ends: Vec<u32>,
    /// Where the paths begin at the moment, and its number once there is one.
    start: (NodeNumber, Option<u32>),
    /// Of the path before, from its first hop on: each hop and its number.
    way: [Option<(Hop, u32)>; HOPS_MAX],
}

impl<'g> Told<'g> {
    pub fn new(graph: &'g Graph, starts: &'g [SameThing], n_paths_max: usize) -> Told<'g> {
        let (met, ends) = (Vec::with_capacity(n_paths_max + n_paths_max / 2), Vec::with_capacity(n_paths_max));
        Told { graph, starts, met, ends, start: (0, None), way: [None; HOPS_MAX] }
    }

    pub fn n_paths(&self) -> usize {
        self.ends.len()
    }

    /// The paths that follow begin here.
    pub fn begin(&mut self, start: NodeNumber) {
        self.way = [None; HOPS_MAX];
        self.start = (start, None);
    }

    fn push(&mut self, met: Met) -> u32 {
        let number = u32::try_from(self.met.len()).unwrap_or(u32::MAX);
        self.met.push(met);
        number
    }

    pub fn add(&mut self, before: &[Hop], last: Hop) {
        let mut from = match self.start {
            (_, Some(number)) => number,
            (node, None) => self.push(Met { node, via: None }),
        };
        self.start.1 = Some(from);
        // Paths come in order, so they mostly begin like the one before.
        let mut is_alike = true;
        for (depth, hop) in before.iter().enumerate() {
            let known = self.way.get(depth).copied().flatten();
            from = match known.filter(|(known, _)| is_alike && known == hop) {
                Some((_, number)) => number,
                None => {
                    is_alike = false;
                    let number = self.push(Met { node: hop.end, via: Some((from, *hop)) });
                    if let Some(place) = self.way.get_mut(depth) {
                        *place = Some((*hop, number));
                    }
                    number
                }
            };
        }
        let end = self.push(Met { node: last.end, via: Some((from, last)) });
        self.ends.push(end);
    }

    /// Whether all that is told was compared with its source.
    pub fn is_verified(&self) -> bool {
        let is_verified = |met: &Met| met.via.is_none_or(|(_, hop)| self.graph.edge_verified(hop.edge) == Some(true));
        self.starts.iter().all(|start| start.checked == Checked::Verified) && self.met.iter().all(is_verified)
    }

    /// Each path: where it begins, and its hops.
    fn paths(&self) -> impl Iterator<Item = (NodeNumber, Vec<Hop>)> {
        let met = |number: u32| usize::try_from(number).ok().and_then(|number| self.met.get(number));
        self.ends.iter().map(move |end| {
            let steps = std::iter::successors(met(*end), |step| step.via.and_then(|(from, _)| met(from)));
            let mut hops: Vec<Hop> = steps.clone().filter_map(|step| step.via.map(|(_, hop)| hop)).collect();
            hops.reverse();
            (steps.last().map_or(0, |step| step.node), hops)
        })
    }

    /// The same paths and behind them those of another answer that are not among them, no more than so many together. The others
    /// keep `n_others` places where there are as many of them.
    pub fn with_others(self, others: Told<'g>, n_others: usize, n_paths_max: usize) -> Told<'g> {
        let key = |(start, hops): &(NodeNumber, Vec<Hop>)| {
            (*start, hops.iter().map(|hop| (hop.predicate, hop.end)).collect::<Vec<_>>())
        };
        let own: Vec<(NodeNumber, Vec<Hop>)> = self.paths().collect();
        let known: HashSet<_> = own.iter().map(key).collect();
        let others: Vec<(NodeNumber, Vec<Hop>)> = others.paths().filter(|path| !known.contains(&key(path))).collect();
        let n_own = own.len().min(n_paths_max - others.len().min(n_others));
        let mut told = Told::new(self.graph, self.starts, n_paths_max);
        let mut begun = None;
        for (start, hops) in own.into_iter().take(n_own).chain(others).take(n_paths_max) {
            if begun != Some(start) {
                told.begin(start);
                begun = Some(start);
            }
            if let Some((last, before)) = hops.split_last() {
                told.add(before, *last);
            }
        }
        told
    }

    pub fn finish(self, truncated: Option<Truncated>) -> Found {
        let Told { graph, starts, met, ends, .. } = self;
        graph.touch(met.iter().map(|met| (met.node, met.via.map(|(_, hop)| hop.edge))));
        let mut paths = Paths::with_capacity(ends.len(), met.len(), met.len() * STEP_BYTES);
        let (mut predicates, mut kinds, mut sources) = (Shown::default(), Shown::default(), Shown::default());
        let (mut noted, mut leads) = (Noted::default(), Leading::default());
        for met in &met {
            let told = graph.nodes().told(met.node);
            noted.add(told.source);
            let (id, label) = match told.n_id {
                n_id if n_id == told.id_and_label.len() => {
                    let id = paths.text(told.id_and_label);
                    (id, id)
                }
                n_id => paths.two_texts(told.id_and_label, n_id),
            };
            let kind = kinds.text(told.kind, graph.nodes().categories(), &mut paths);
            let via = met.via.map(|(from, hop)| {
                let edge = graph.edge(hop.edge);
                noted.add(edge.source);
                StepVia {
                    from,
                    predicate: predicates.text(hop.predicate, graph.predicates(), &mut paths),
                    reverse: graph.direction(hop.edge, hop.end) == Direction::In,
                    edge_id: paths.text(edge.id),
                    source: sources.text(edge.source, graph.sources().words(), &mut paths),
                    strength: edge.strength(),
                    critical: edge.is_critical(),
                    verified: edge.verified(),
                    leads: leads.checked(graph, hop.predicate, edge.verified()),
                }
            });
            let same_as = match met.via {
                Some(_) => None,
                None => {
                    starts.iter().find(|start| start.node == met.node).and_then(|start| same(graph, start, &mut paths))
                }
            };
            paths.push_step(Step { id, kind, label, same_as, via });
        }
        starts.iter().flat_map(|start| &start.said).flat_map(|(_, sources)| sources).for_each(|it| noted.add(*it));
        ends.iter().for_each(|end| paths.push_path(*end));
        let licences = licences(graph, noted.all);
        Found { output: QueryKgOutput { paths, truncated, ..QueryKgOutput::default() }, licences }
    }
}

/// What a start is said to be, where it is not what was asked for.
fn same(graph: &Graph, start: &SameThing, paths: &mut Paths) -> Option<StepSame> {
    let (asked, sources) = start.said.as_ref()?;
    let sources: Vec<&str> = sources.iter().map(|source| graph.sources().id(*source)).collect();
    Some(StepSame {
        id: paths.text(graph.nodes().id(*asked)),
        source: paths.text(&sources.join(", ")),
        verified: start.checked == Checked::Verified,
    })
}

/// Words that were told already. There are few, so a list is quicker than a set, and mostly it is the one before.
#[derive(Default)]
struct Shown {
    all: Vec<(u32, Text)>,
    last: Option<(u32, Text)>,
}

impl Shown {
    #[inline]
    fn text(&mut self, number: u32, words: &Words, paths: &mut Paths) -> Text {
        match self.last {
            Some((last, text)) if last == number => text,
            Some(_) | None => self.another(number, words, paths),
        }
    }

    fn another(&mut self, number: u32, words: &Words, paths: &mut Paths) -> Text {
        let text = match self.all.iter().find(|(known, _)| *known == number) {
            Some((_, text)) => *text,
            None => {
                let text = paths.text(words.text(number));
                self.all.push((number, text));
                text
            }
        };
        self.last = Some((number, text));
        text
    }
}

/// The sources of what is told, each once.
#[derive(Default)]
struct Noted {
    all: Vec<u32>,
    last: Option<u32>,
}

impl Noted {
    #[inline]
    fn add(&mut self, source: u32) {
        if self.last == Some(source) {
            return;
        }
        self.last = Some(source);
        if !self.all.contains(&source) {
            self.all.push(source);
        }
    }
}

/// Whether a hop leads to what a thing is or belongs to, as was asked last.
#[derive(Default)]
struct Leading {
    asked: Option<(u32, Option<bool>)>,
    checked: Option<Checked>,
}

impl Leading {
    #[inline]
    fn checked(&mut self, graph: &Graph, predicate: u32, verified: Option<bool>) -> Option<Checked> {
        if self.asked != Some((predicate, verified)) {
            (self.asked, self.checked) = (Some((predicate, verified)), graph.leads().checked(predicate, verified));
        }
        self.checked
    }
}
