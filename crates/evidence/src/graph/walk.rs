//! Walking the graph along a pattern. A statement that several edges make is one hop, and no node comes twice on a path;
//! but what is said of a class and itself, such as that two of its members interact, is a hop that stays where it is.

mod plain;
mod step;
mod work;

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use super::nodes::NodeNumber;
use super::pattern::{HOPS_MAX, Pattern};
use super::words::index;
use super::{Direction, EdgeRef, Graph, Hop};
use plain::hops_of_row;
use step::{EdgeFilter, Step, Wanted};

pub use step::Filter;
pub use work::{Stop, Work};

/// The hops of a path, as far as it has come; what stands behind them means nothing.
type Trail = [Hop; HOPS_MAX];

/// Neighbours of a node under one predicate.
enum Segment<'a> {
    /// As the base has them: the place of the first and their other ends.
    Row {
        predicate: u32,
        start: u32,
        ends: &'a [NodeNumber],
    },
    Gathered(&'a [Hop]),
}

/// A walk that is ready to go.
#[derive(Debug, Clone)]
pub struct Walk<'g> {
    graph: &'g Graph,
    start: NodeNumber,
    steps: Vec<Step>,
    edges: EdgeFilter,
    /// Whether a node could come twice if nobody watched.
    may_repeat: bool,
    looks_ahead: bool,
}

impl<'g> Walk<'g> {
    /// Along a pattern.
    pub fn along(graph: &'g Graph, start: NodeNumber, pattern: &Pattern, filter: &Filter) -> Walk<'g> {
        let hops = pattern.hops.iter().map(|hop| (hop.direction, hop.predicate.as_deref(), hop.end.as_deref()));
        Walk::new(graph, start, hops, filter)
    }

    /// Any path of so many hops in the direction of the edges.
    pub fn anywhere(graph: &'g Graph, start: NodeNumber, n_hops: usize, filter: &Filter) -> Walk<'g> {
        Walk::new(graph, start, std::iter::repeat_n((Direction::Out, None, None), n_hops), filter)
    }

    fn new<'p>(
        graph: &'g Graph,
        start: NodeNumber,
        hops: impl Iterator<Item = (Direction, Option<&'p str>, Option<&'p str>)>,
        filter: &Filter,
    ) -> Walk<'g> {
        let edges = EdgeFilter::new(graph, filter);
        let steps: Vec<Step> =
            hops.map(|(direction, by, end)| Step::new(graph, direction, by, end, filter, &edges)).collect();
        let may_repeat = step::may_repeat(graph.nodes.set(start), &steps);
        Walk { graph, start, steps, edges, may_repeat, looks_ahead: false }
    }

    /// Reads ahead of itself: worth it for a walk that ends soon, whose rows nobody has looked at for a while.
    pub fn looking_ahead(self) -> Walk<'g> {
        Walk { looks_ahead: true, ..self }
    }

    pub fn start(&self) -> NodeNumber {
        self.start
    }

    /// Hands every path on, in order, until somebody has enough. A path is the hops before its last one, and that; it begins
    /// at the start.
    pub fn each(&self, work: &mut Work<'_>, mut found: impl FnMut(&[Hop], Hop) -> ControlFlow<()>) -> Result<(), Stop> {
        self.run(work, &mut |before: &[Hop], last: Hop| found(before, last).map_break(|()| Stop::Enough))
    }

    /// How many paths there are.
    pub fn count(&self, work: &mut Work<'_>) -> Result<u64, Stop> {
        if self.may_repeat {
            let mut n_paths = 0_u64;
            self.run(work, &mut |_: &[Hop], _: Hop| {
                n_paths += 1;
                ControlFlow::Continue(())
            })?;
            return Ok(n_paths);
        }
        let mut known = vec![FxHashMap::default(); self.steps.len()];
        self.count_from(self.start, &self.steps, &mut known, work)
    }

    /// Where no node can come twice, the paths from a node are the same however it was reached, and counted once.
    fn count_from(
        &self,
        node: NodeNumber,
        steps: &[Step],
        known: &mut [FxHashMap<NodeNumber, u64>],
        work: &mut Work<'_>,
    ) -> Result<u64, Stop> {
        let (Some((step, rest)), Some((mine, deeper))) = (steps.split_first(), known.split_first_mut()) else {
            return Ok(1);
        };
        if let Some(n_paths) = mine.get(&node) {
            return Ok(*n_paths);
        }
        let mut n_paths = 0_u64;
        let flow = self.segments(node, step, work, &mut |segment, work| {
            let mut last = None;
            let mut count = |hop: Hop| {
                if step.may_end_at(self.graph, hop.end) && last != Some(hop.end) && self.passes(hop.edge) {
                    last = Some(hop.end);
                    match self.count_from(hop.end, rest, deeper, work) {
                        Ok(n_more) => n_paths = n_paths.saturating_add(n_more),
                        Err(stop) => return ControlFlow::Break(stop),
                    }
                }
                ControlFlow::Continue(())
            };
            match segment {
                Segment::Row { ends, .. } if step.is_plain && rest.is_empty() => {
                    n_paths = n_paths.saturating_add(u64::try_from(ends.len()).unwrap_or(u64::MAX));
                    ControlFlow::Continue(())
                }
                Segment::Row { predicate, start, ends } => match step.direction {
                    Direction::Out => hops_of_row(predicate, start, ends, EdgeRef::Out).try_for_each(count),
                    Direction::In => hops_of_row(predicate, start, ends, EdgeRef::In).try_for_each(count),
                },
                Segment::Gathered(hops) => hops.iter().try_for_each(|hop| count(*hop)),
            }
        });
        if let ControlFlow::Break(stop) = flow {
            return Err(stop);
        }
        mine.insert(node, n_paths);
        Ok(n_paths)
    }

    fn run<F: FnMut(&[Hop], Hop) -> ControlFlow<Stop>>(&self, work: &mut Work<'_>, found: &mut F) -> Result<(), Stop> {
        let mut trail = [Hop { end: self.start, predicate: 0, edge: EdgeRef::Out(0) }; HOPS_MAX];
        match self.descend(self.start, 0, &mut trail, work, found) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(stop) => Err(stop),
        }
    }

    /// Goes on from a node that the first `depth` hops of the trail led to.
    fn descend<F: FnMut(&[Hop], Hop) -> ControlFlow<Stop>>(
        &self,
        node: NodeNumber,
        depth: usize,
        trail: &mut Trail,
        work: &mut Work<'_>,
        found: &mut F,
    ) -> ControlFlow<Stop> {
        let Some(step) = self.steps.get(depth) else { return ControlFlow::Continue(()) };
        let is_plain = step.is_plain && !self.may_repeat;
        self.segments(node, step, work, &mut |segment, work| match segment {
            Segment::Row { predicate, start, ends } => match step.direction {
                Direction::Out => {
                    let hops = hops_of_row(predicate, start, ends, EdgeRef::Out);
                    if is_plain {
                        self.go_plainly(hops, depth, trail, work, found)
                    } else {
                        self.go(hops, step, depth, trail, work, found)
                    }
                }
                Direction::In => {
                    let hops = hops_of_row(predicate, start, ends, EdgeRef::In);
                    if is_plain {
                        self.go_plainly(hops, depth, trail, work, found)
                    } else {
                        self.go(hops, step, depth, trail, work, found)
                    }
                }
            },
            Segment::Gathered(hops) => self.go(hops.iter().copied(), step, depth, trail, work, found),
        })
    }

    /// Goes on along those of the hops that may be part of a path. All have one predicate.
    fn go<F: FnMut(&[Hop], Hop) -> ControlFlow<Stop>>(
        &self,
        hops: impl Iterator<Item = Hop>,
        step: &Step,
        depth: usize,
        trail: &mut Trail,
        work: &mut Work<'_>,
        found: &mut F,
    ) -> ControlFlow<Stop> {
        let is_last = depth + 1 == self.steps.len();
        // The same statement may come from several edges, one after the other.
        let mut last = None;
        for hop in hops {
            let before = trail.get(..depth).unwrap_or_default();
            let is_wanted = step.may_end_at(self.graph, hop.end)
                && last != Some(hop.end)
                && self.is_new(step, before, hop)
                && self.passes(hop.edge);
            if !is_wanted {
                continue;
            }
            last = Some(hop.end);
            if is_last {
                found(before, hop)?;
            } else if let Some(place) = trail.get_mut(depth) {
                *place = hop;
                self.descend(hop.end, depth + 1, trail, work, found)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Whether the path was not there yet. Where a statement holds both ways of a node and itself, the path may stay there
    /// once.
    #[inline]
    fn is_new(&self, step: &Step, before: &[Hop], hop: Hop) -> bool {
        if hop.end != self.start && !before.iter().any(|it| it.end == hop.end) {
            return true;
        }
        let mut way = before.iter().rev().map(|it| it.end).chain([self.start]);
        way.next() == Some(hop.end) && way.next() != Some(hop.end) && step.both_ways.contains(&hop.predicate)
    }

    #[inline]
    fn passes(&self, edge: EdgeRef) -> bool {
        self.edges.is_open() || self.edges.passes(&self.graph.edge(edge))
    }

    /// Hands on the neighbours under the wanted predicates, predicate by predicate. Work is counted before it is done, so
    /// that a walk stops at the same path whether the edges are in the base or not.
    #[inline(always)]
    fn segments<'w>(
        &self,
        node: NodeNumber,
        step: &Step,
        work: &mut Work<'w>,
        each: &mut impl FnMut(Segment<'_>, &mut Work<'w>) -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop> {
        if self.is_gathered(node, step) {
            let hops = self.gathered(node, step);
            return hops.chunk_by(|a, b| a.predicate == b.predicate).try_for_each(|hops| {
                work.take(hops.len())?;
                each(Segment::Gathered(hops), work)
            });
        }
        let rows = self.graph.rows(step.direction);
        let mut row = |predicate: u32, start: u32, ends: &[NodeNumber]| {
            work.take(ends.len())?;
            each(Segment::Row { predicate, start, ends }, work)
        };
        match &step.predicates {
            Wanted::None => ControlFlow::Continue(()),
            Wanted::One(predicate) => {
                let (start, ends) = rows.segment(node, *predicate);
                row(*predicate, start, ends)
            }
            Wanted::Any => rows.segments(node).try_for_each(|(by, start, ends)| row(by, start, ends)),
            Wanted::Some(wanted) => rows
                .segments(node)
                .filter(|(by, _, _)| wanted.get(index(*by)).copied().unwrap_or(false))
                .try_for_each(|(by, start, ends)| row(by, start, ends)),
        }
    }

    /// Whether a node's neighbours have to be put together: they are not as the base has them, or some are at the other
    /// end of a statement that holds both ways.
    #[inline]
    fn is_gathered(&self, node: NodeNumber, step: &Step) -> bool {
        if !self.graph.overlay.is_empty() && self.graph.overlay.is_about(node) {
            return true;
        }
        let back = self.graph.rows(step.direction.back());
        step.both_ways.iter().any(|predicate| !back.segment(node, *predicate).1.is_empty())
    }

    fn gathered(&self, node: NodeNumber, step: &Step) -> Vec<Hop> {
        let mut hops = match &step.predicates {
            Wanted::None => Vec::new(),
            Wanted::One(predicate) => self.graph.all_hops(node, step.direction, Some(*predicate)),
            Wanted::Any => self.graph.all_hops(node, step.direction, None),
            Wanted::Some(wanted) => {
                let mut hops = self.graph.all_hops(node, step.direction, None);
                hops.retain(|hop| wanted.get(index(hop.predicate)).copied().unwrap_or(false));
                hops
            }
        };
        let n_along = hops.len();
        for predicate in &step.both_ways {
            let back = self.graph.all_hops(node, step.direction.back(), Some(*predicate));
            // What is said of the node and itself is there already.
            hops.extend(back.into_iter().filter(|hop| hop.end != node));
        }
        if hops.len() > n_along {
            self.graph.sort(&mut hops);
        }
        hops
    }
}
