//! One hop of a walk in the numbers of one graph, and what may be on it.

use contract::evidence::record::Strength;

use crate::graph::base::packed;
use crate::graph::nodes::NodeNumber;
use crate::graph::predicates;
use crate::graph::reach::Reached;
use crate::graph::words::index;
use crate::graph::{Direction, EdgeKept, EdgeRef, Graph};

/// Which nodes and edges count. An absent list lets everything pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    pub kinds: Option<Vec<String>>,
    pub predicates: Option<Vec<String>>,
    pub sources: Option<Vec<String>>,
    /// An edge whose strength nobody stated does not reach any.
    pub strength_min: Option<Strength>,
    /// Only edges that somebody compared with their source.
    pub is_verified_only: bool,
}

impl Filter {
    /// Whether an edge of a graph counts.
    pub fn edges<'g>(&self, graph: &'g Graph) -> impl Fn(EdgeRef) -> bool + use<'g> {
        let edges = EdgeFilter::new(graph, self);
        move |edge| edges.passes(&graph.edge(edge))
    }
}

/// Which edges count, in the numbers of one graph.
#[derive(Debug, Clone)]
pub(super) struct EdgeFilter {
    sources: Option<Vec<bool>>,
    strength_min: u8,
    is_verified_only: bool,
}

impl EdgeFilter {
    pub fn new(graph: &Graph, filter: &Filter) -> EdgeFilter {
        let sources = filter.sources.as_ref().map(|wanted| {
            let ids = graph.sources.words().all();
            ids.iter().map(|id| wanted.iter().any(|wanted| **wanted == **id)).collect()
        });
        let is_verified_only = filter.is_verified_only;
        EdgeFilter { sources, strength_min: packed(filter.strength_min), is_verified_only }
    }

    /// Whether every edge passes.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.sources.is_none() && self.strength_min == 0 && !self.is_verified_only
    }

    pub fn passes(&self, edge: &EdgeKept<'_>) -> bool {
        let comes_from = |sources: &Vec<bool>| sources.get(index(edge.source)).copied().unwrap_or(false);
        self.sources.as_ref().is_none_or(comes_from)
            && packed(edge.strength()) >= self.strength_min
            && (!self.is_verified_only || edge.verified() == Some(true))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    Any,
    One(u32),
    /// By number.
    Some(Vec<bool>),
    /// Nothing has this predicate.
    None,
}

impl Wanted {
    fn new(graph: &Graph, named: Option<&str>, allowed: Option<&[String]>) -> Wanted {
        match (named, allowed) {
            // That something is not so leads nowhere, unless somebody asks for just that.
            (None, None) if graph.leads().has_denials() => {
                Wanted::Some(graph.predicates.all().iter().map(|text| !predicates::denies(text)).collect())
            }
            (None, None) => Wanted::Any,
            (Some(named), None) => graph.predicates.find(named).map_or(Wanted::None, Wanted::One),
            (Some(named), Some(allowed)) if allowed.iter().any(|it| it == named) => {
                Wanted::new(graph, Some(named), None)
            }
            (Some(_), Some(_)) => Wanted::None,
            (None, Some(allowed)) => {
                let is_allowed = |text: &std::sync::Arc<str>| allowed.iter().any(|it| **it == **text);
                Wanted::Some(graph.predicates.all().iter().map(is_allowed).collect())
            }
        }
    }

    fn takes(&self, predicate: u32) -> bool {
        match self {
            Wanted::Any => true,
            Wanted::One(one) => *one == predicate,
            Wanted::Some(wanted) => wanted.get(index(predicate)).copied().unwrap_or(false),
            Wanted::None => false,
        }
    }

    /// What the wanted edges of the base lead to.
    fn reached<'g>(&self, graph: &'g Graph, direction: Direction) -> impl Iterator<Item = &'g Reached> + use<'g, '_> {
        let numbers = match self {
            Wanted::One(predicate) => *predicate..predicate + 1,
            Wanted::Any | Wanted::Some(_) => 0..graph.predicates.n_words(),
            Wanted::None => 0..0,
        };
        let numbers = numbers.filter(|predicate| self.takes(*predicate));
        numbers.filter_map(move |predicate| graph.reach.by(direction, predicate))
    }
}

#[derive(Debug, Clone)]
pub(super) struct Step {
    pub direction: Direction,
    pub predicates: Wanted,
    /// Those of them that are walked against the direction as well.
    pub both_ways: Vec<u32>,
    /// Whether every edge of the base counts and is the only one that says what it says.
    pub is_plain: bool,
    /// By the set of categories: whether the hop may end there.
    sets: Vec<bool>,
}

impl Step {
    pub fn new(
        graph: &Graph,
        direction: Direction,
        predicate: Option<&str>,
        end: Option<&str>,
        filter: &Filter,
        edges: &EdgeFilter,
    ) -> Step {
        let predicates = Wanted::new(graph, predicate, filter.predicates.as_deref());
        let both_ways: Vec<u32> = match predicate {
            Some(predicate) if !predicates::holds_both_ways(predicate) => Vec::new(),
            Some(_) | None => predicates::both_ways()
                .filter_map(|predicate| graph.predicates.find(predicate))
                .filter(|predicate| predicates.takes(*predicate))
                .collect(),
        };
        let mut sets = graph.nodes.sets_of(end.as_ref().map(std::slice::from_ref));
        if let Some(kinds) = &filter.kinds {
            let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
            let allowed = graph.nodes.sets_of(Some(&kinds));
            sets.iter_mut().zip(allowed).for_each(|(set, is_allowed)| *set &= is_allowed);
        }
        let takes = |set: &u32| sets.get(index(*set)).copied().unwrap_or(false);
        let is_plain = edges.is_open()
            && predicates.reached(graph, direction).all(|it| !it.has_repeats && it.sets.iter().all(takes));
        if graph.overlay.is_empty() && both_ways.is_empty() {
            // Only what edges lead to can be met: the fewer types, the less is there to watch for.
            let mut reached = vec![false; sets.len()];
            for set in predicates.reached(graph, direction).flat_map(|it| &it.sets) {
                if let Some(place) = reached.get_mut(index(*set)) {
                    *place = takes(set);
                }
            }
            sets = reached;
        }
        Step { direction, predicates, both_ways, is_plain, sets }
    }

    #[inline]
    pub fn may_end_at(&self, graph: &Graph, node: NodeNumber) -> bool {
        self.takes(graph.nodes.set(node))
    }

    #[inline]
    fn takes(&self, set: u32) -> bool {
        self.sets.get(index(set)).copied().unwrap_or_default()
    }
}

/// Whether a node could come twice if nobody watched: where two steps, or a step and the start, take the same nodes.
pub(super) fn may_repeat(start: u32, steps: &[Step]) -> bool {
    let n_sets = steps.iter().map(|step| step.sets.len()).max().unwrap_or(0);
    (0..u32::try_from(n_sets).unwrap_or(u32::MAX)).any(|set| {
        let n_takers = steps.iter().filter(|step| step.takes(set)).count();
        n_takers + usize::from(set == start) > 1
    })
}
