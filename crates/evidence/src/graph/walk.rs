//! Walking the graph along a pattern. No node comes twice on a path, and a statement that several edges make is one hop.

use std::ops::ControlFlow;

use contract::evidence::record::Strength;
use rustc_hash::FxHashMap;

use super::base::{Rows, packed};
use super::nodes::NodeNumber;
use super::pattern::{HOPS_MAX, Pattern};
use super::words::index;
use super::{Direction, EdgeRef, Graph, Hop};

/// Which nodes and edges count. An absent list lets everything pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    pub kinds: Option<Vec<String>>,
    pub predicates: Option<Vec<String>>,
    pub sources: Option<Vec<String>>,
    /// An edge whose strength nobody stated does not reach any.
    pub strength_min: Option<Strength>,
}

/// What holds of both ends alike. A source writes it once, from whichever end it likes.
const BOTH_WAYS: [&str; 2] = ["interacts_with", "contraindicated_with"];

/// One hop of a walk, in the numbers of one graph.
#[derive(Debug, Clone)]
struct Step {
    direction: Direction,
    /// Against the direction as well.
    is_both_ways: bool,
    predicates: Wanted,
    /// By the set of categories: whether the hop may end there.
    sets: Vec<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Wanted {
    Any,
    One(u32),
    /// By number.
    Some(Vec<bool>),
    /// Nothing has this predicate.
    None,
}

/// The hops of a path, as far as it has come; what stands behind them means nothing.
type Trail = [Hop; HOPS_MAX];

/// Why a walk ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Whoever received the paths has enough.
    Enough,
    /// More edges were looked at than the budget allows.
    Work,
}

/// A walk that is ready to go.
#[derive(Debug, Clone)]
pub struct Walk<'g> {
    graph: &'g Graph,
    start: NodeNumber,
    steps: Vec<Step>,
    sources: Option<Vec<bool>>,
    strength_min: u8,
    n_work_max: u64,
}

impl<'g> Walk<'g> {
    /// Along a pattern.
    pub fn along(graph: &'g Graph, start: NodeNumber, pattern: &Pattern, filter: &Filter, n_work_max: u64) -> Walk<'g> {
        let hops = pattern.hops.iter().map(|hop| (hop.direction, hop.predicate.as_deref(), hop.end.as_deref()));
        Walk::new(graph, start, hops.collect(), filter, n_work_max)
    }

    /// Any path of so many hops in the direction of the edges.
    pub fn anywhere(graph: &'g Graph, start: NodeNumber, n_hops: usize, filter: &Filter, n_work_max: u64) -> Walk<'g> {
        Walk::new(graph, start, vec![(Direction::Out, None, None); n_hops], filter, n_work_max)
    }

    fn new(
        graph: &'g Graph,
        start: NodeNumber,
        hops: Vec<(Direction, Option<&str>, Option<&str>)>,
        filter: &Filter,
        n_work_max: u64,
    ) -> Walk<'g> {
        let filtered: Option<Vec<&str>> = filter.kinds.as_ref().map(|kinds| kinds.iter().map(String::as_str).collect());
        let allowed_sets = graph.nodes.sets_of(filtered.as_deref());
        let both = |sets: Vec<bool>| sets.iter().zip(&allowed_sets).map(|(a, b)| *a && *b).collect();
        let step = |(direction, predicate, end): (Direction, Option<&str>, Option<&str>)| Step {
            direction,
            is_both_ways: predicate.is_some_and(|predicate| BOTH_WAYS.contains(&predicate)),
            predicates: wanted(graph, predicate, filter.predicates.as_deref()),
            sets: both(graph.nodes.sets_of(end.as_ref().map(std::slice::from_ref))),
        };
        let sources = filter.sources.as_ref().map(|wanted| {
            let ids = graph.sources.ids.all();
            ids.iter().map(|id| wanted.iter().any(|wanted| **wanted == **id)).collect()
        });
        let steps = hops.into_iter().map(step).collect();
        Walk { graph, start, steps, sources, strength_min: packed(filter.strength_min), n_work_max }
    }

    pub fn start(&self) -> NodeNumber {
        self.start
    }

    /// Hands every path on, in order, until somebody has enough. A path is its hops; it begins at the start.
    pub fn each(&self, mut found: impl FnMut(&[Hop]) -> ControlFlow<()>) -> Result<(), Stop> {
        self.run(&mut |hops: &[Hop]| found(hops).map_break(|()| Stop::Enough))
    }

    /// How many paths there are.
    pub fn count(&self) -> Result<u64, Stop> {
        if self.may_repeat() {
            let mut n_paths = 0_u64;
            self.run(&mut |_: &[Hop]| {
                n_paths += 1;
                ControlFlow::Continue(())
            })?;
            return Ok(n_paths);
        }
        let mut known = vec![FxHashMap::default(); self.steps.len()];
        self.count_from(self.start, &self.steps, &mut known, &mut 0)
    }

    /// Whether a node could come twice if nobody watched: where two steps, or a step and the start, take the same nodes.
    fn may_repeat(&self) -> bool {
        let start = index(self.graph.nodes.set(self.start));
        let takes = |step: &Step, set: usize| step.sets.get(set).copied().unwrap_or_default();
        let n_sets = self.steps.iter().map(|step| step.sets.len()).max().unwrap_or(0);
        (0..n_sets).any(|set| {
            let n_takers = self.steps.iter().filter(|step| takes(step, set)).count();
            n_takers + usize::from(set == start) > 1
        })
    }

    /// Where no node can come twice, the paths from a node are the same however it was reached, and counted once.
    fn count_from(
        &self,
        node: NodeNumber,
        steps: &[Step],
        known: &mut [FxHashMap<NodeNumber, u64>],
        n_work: &mut u64,
    ) -> Result<u64, Stop> {
        let (Some((step, rest)), Some((mine, deeper))) = (steps.split_first(), known.split_first_mut()) else {
            return Ok(1);
        };
        if let Some(n_paths) = mine.get(&node) {
            return Ok(*n_paths);
        }
        let mut last = None;
        let mut n_paths = 0_u64;
        let flow = self.neighbours(node, step, n_work, &mut |hop, n_work| {
            let is_wanted =
                self.may_end_at(step, hop.end) && last != Some((hop.predicate, hop.end)) && self.passes(hop.edge);
            if is_wanted {
                last = Some((hop.predicate, hop.end));
                match self.count_from(hop.end, rest, deeper, n_work) {
                    Ok(n_more) => n_paths = n_paths.saturating_add(n_more),
                    Err(stop) => return ControlFlow::Break(stop),
                }
            }
            ControlFlow::Continue(())
        });
        if let ControlFlow::Break(stop) = flow {
            return Err(stop);
        }
        mine.insert(node, n_paths);
        Ok(n_paths)
    }

    fn run<F: FnMut(&[Hop]) -> ControlFlow<Stop>>(&self, found: &mut F) -> Result<(), Stop> {
        let mut trail = [Hop { end: self.start, predicate: 0, edge: EdgeRef::Out(0) }; HOPS_MAX];
        match self.descend(self.start, 0, &mut trail, &mut 0, found) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(stop) => Err(stop),
        }
    }

    /// Goes on from a node that the first `depth` hops of the trail led to.
    fn descend<F: FnMut(&[Hop]) -> ControlFlow<Stop>>(
        &self,
        node: NodeNumber,
        depth: usize,
        trail: &mut Trail,
        n_work: &mut u64,
        found: &mut F,
    ) -> ControlFlow<Stop> {
        let Some(step) = self.steps.get(depth) else { return ControlFlow::Continue(()) };
        let is_last = depth + 1 == self.steps.len();
        // The same statement may come from several edges, one after the other.
        let mut last = (0, self.start);
        self.neighbours(node, step, n_work, &mut |hop, n_work| {
            let is_wanted = self.may_end_at(step, hop.end)
                && hop.end != self.start
                && last != (hop.predicate, hop.end)
                && !trail.iter().take(depth).any(|before| before.end == hop.end)
                && self.passes(hop.edge);
            if !is_wanted {
                return ControlFlow::Continue(());
            }
            last = (hop.predicate, hop.end);
            if let Some(place) = trail.get_mut(depth) {
                *place = hop;
            }
            if is_last {
                found(trail.get(..=depth).unwrap_or_default())
            } else {
                self.descend(hop.end, depth + 1, trail, n_work, found)
            }
        })
    }

    #[inline]
    fn may_end_at(&self, step: &Step, node: NodeNumber) -> bool {
        step.sets.get(index(self.graph.nodes.set(node))).copied().unwrap_or_default()
    }

    #[inline]
    fn passes(&self, edge: EdgeRef) -> bool {
        if self.sources.is_none() && self.strength_min == 0 {
            return true;
        }
        let comes_from =
            |sources: &Vec<bool>| sources.get(index(self.graph.edge_source(edge))).copied().unwrap_or(false);
        self.sources.as_ref().is_none_or(comes_from) && packed(self.graph.edge_strength(edge)) >= self.strength_min
    }

    /// Hands on the neighbours under the wanted predicates, in the direction of the step first.
    #[inline(always)]
    fn neighbours(
        &self,
        node: NodeNumber,
        step: &Step,
        n_work: &mut u64,
        each: &mut impl FnMut(Hop, &mut u64) -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop> {
        self.neighbours_in(step.direction, node, step, n_work, each)?;
        if step.is_both_ways {
            let back = if step.direction == Direction::Out { Direction::In } else { Direction::Out };
            self.neighbours_in(back, node, step, n_work, each)?;
        }
        ControlFlow::Continue(())
    }

    /// Hands on the neighbours in one direction. Work is counted before it is done, a segment at a time, so that a
    /// walk stops at the same path whether the edges are in the base or not.
    #[inline(always)]
    fn neighbours_in(
        &self,
        direction: Direction,
        node: NodeNumber,
        step: &Step,
        n_work: &mut u64,
        each: &mut impl FnMut(Hop, &mut u64) -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop> {
        if !self.graph.overlay.is_empty() && self.graph.overlay.is_about(node) {
            return self.changed_neighbours(direction, node, step, n_work, each);
        }
        let rows: &Rows = self.graph.rows(direction);
        let mut segment = |predicate: u32, start: u32, ends: &[NodeNumber]| {
            *n_work += u64::try_from(ends.len()).unwrap_or(u64::MAX);
            if *n_work > self.n_work_max {
                return ControlFlow::Break(Stop::Work);
            }
            match direction {
                Direction::Out => {
                    for (at, end) in (start..).zip(ends) {
                        each(Hop { end: *end, predicate, edge: EdgeRef::Out(at) }, n_work)?;
                    }
                }
                Direction::In => {
                    for (at, end) in (start..).zip(ends) {
                        each(Hop { end: *end, predicate, edge: EdgeRef::In(at) }, n_work)?;
                    }
                }
            }
            ControlFlow::Continue(())
        };
        match &step.predicates {
            Wanted::None => ControlFlow::Continue(()),
            Wanted::One(predicate) => {
                let (start, ends) = rows.segment(node, *predicate);
                segment(*predicate, start, ends)
            }
            Wanted::Any => rows.segments(node).try_for_each(|(by, start, ends)| segment(by, start, ends)),
            Wanted::Some(wanted) => rows
                .segments(node)
                .filter(|(by, _, _)| wanted.get(index(*by)).copied().unwrap_or(false))
                .try_for_each(|(by, start, ends)| segment(by, start, ends)),
        }
    }

    /// As [`Walk::neighbours_in`], for a node whose edges are not as the base has them.
    fn changed_neighbours(
        &self,
        direction: Direction,
        node: NodeNumber,
        step: &Step,
        n_work: &mut u64,
        each: &mut impl FnMut(Hop, &mut u64) -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop> {
        let hops = match &step.predicates {
            Wanted::None => return ControlFlow::Continue(()),
            Wanted::One(predicate) => self.graph.all_hops(node, direction, Some(*predicate)),
            Wanted::Any => self.graph.all_hops(node, direction, None),
            Wanted::Some(wanted) => {
                let mut hops = self.graph.all_hops(node, direction, None);
                hops.retain(|hop| wanted.get(index(hop.predicate)).copied().unwrap_or(false));
                hops
            }
        };
        for segment in hops.chunk_by(|a, b| a.predicate == b.predicate) {
            *n_work += u64::try_from(segment.len()).unwrap_or(u64::MAX);
            if *n_work > self.n_work_max {
                return ControlFlow::Break(Stop::Work);
            }
            for hop in segment {
                each(*hop, n_work)?;
            }
        }
        ControlFlow::Continue(())
    }
}

fn wanted(graph: &Graph, named: Option<&str>, allowed: Option<&[String]>) -> Wanted {
    match (named, allowed) {
        (None, None) => Wanted::Any,
        (Some(named), None) => graph.predicates.find(named).map_or(Wanted::None, Wanted::One),
        (Some(named), Some(allowed)) if allowed.iter().any(|it| it == named) => wanted(graph, Some(named), None),
        (Some(_), Some(_)) => Wanted::None,
        (None, Some(allowed)) => {
            let is_allowed = |text: &std::sync::Arc<str>| allowed.iter().any(|it| **it == **text);
            Wanted::Some(graph.predicates.all().iter().map(is_allowed).collect())
        }
    }
}
