//! The walk alone, ids only, against a loop that somebody would write by hand for just this pattern: over the same rows,
//! with the same two checks, that a node is of the wanted type and not yet on the path.

use std::ops::ControlFlow;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use evidence::graph::pattern::Pattern;
use evidence::graph::walk::{Filter, Stop, Walk, Work};
use evidence::graph::{Direction, Graph, NodeNumber};

use super::generated::{ends, predicate};
use crate::figures::median;

const ROUNDS: usize = 5;
/// Paths of one start that are walked.
const PATHS_MAX: u64 = 3_000_000;

/// How fast the walk is, compared with the loop.
pub fn compare(graph: &Graph, predicates: &[usize], starts: &[String]) -> anyhow::Result<f64> {
    let hops: String = predicates.iter().map(|it| format!(" -{}-> {}", predicate(*it), ends(*it).1)).collect();
    let pattern = Pattern::parse(&format!("herb{hops}"))?;
    let numbers: Option<Vec<u32>> = predicates.iter().map(|it| graph.predicates().find(&predicate(*it))).collect();
    let numbers = numbers.context("every predicate has edges")?;
    let kinds: Vec<Vec<bool>> = predicates
        .iter()
        .map(|it| (0..graph.nodes().len()).map(|node| graph.nodes().is_a(node, ends(*it).1)).collect())
        .collect();
    let starts: Vec<NodeNumber> = starts.iter().filter_map(|id| graph.nodes().find(id)).collect();
    let filter = Filter::default();
    let mut ratios = Vec::new();
    for round in 0..ROUNDS {
        let (mut ours, mut plain) = (0.0, 0.0);
        for (at, start) in starts.iter().enumerate() {
            // Whoever goes second finds the rows in the cache, so they take turns.
            let (mut walked, mut looped) = (Sum::default(), Sum::default());
            for is_ours in [(round + at) % 2 == 0, (round + at) % 2 != 0] {
                let began = Instant::now();
                if is_ours {
                    walked = by_walk(&Walk::along(graph, *start, &pattern, &filter))?;
                    ours += began.elapsed().as_secs_f64();
                } else {
                    looped = by_hand(graph, *start, &numbers, &kinds);
                    plain += began.elapsed().as_secs_f64();
                }
            }
            ensure!(walked == looped, "the walk and the loop found other paths");
        }
        ratios.push(plain / ours);
    }
    Ok(median(ratios))
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Sum {
    n_paths: u64,
    of_ends: u64,
}

impl Sum {
    fn add(&mut self, end: NodeNumber) {
        self.n_paths += 1;
        self.of_ends = self.of_ends.wrapping_add(u64::from(end));
    }
}

fn by_walk(walk: &Walk<'_>) -> anyhow::Result<Sum> {
    let mut sum = Sum::default();
    let ended = walk.each(&mut Work::unlimited(), |_, last| {
        sum.add(last.end);
        if sum.n_paths == PATHS_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    // It ends early where it has enough, as the loop does.
    ensure!(matches!(ended, Ok(()) | Err(Stop::Enough)), "the walk was given up: {ended:?}");
    Ok(sum)
}

fn by_hand(graph: &Graph, start: NodeNumber, predicates: &[u32], kinds: &[Vec<bool>]) -> Sum {
    let is_a = |step: usize, node: NodeNumber| {
        let node = usize::try_from(node).unwrap_or(usize::MAX);
        kinds.get(step).and_then(|kinds| kinds.get(node)).copied().unwrap_or(false)
    };
    let next = |step: usize, node: NodeNumber| {
        predicates.get(step).map_or(&[][..], |predicate| graph.ends(node, Direction::Out, *predicate))
    };
    let mut sum = Sum::default();
    for first in next(0, start).iter().filter(|it| is_a(0, **it) && **it != start) {
        for second in next(1, *first).iter().filter(|it| is_a(1, **it) && **it != start && *it != first) {
            if predicates.len() == 2 {
                sum.add(*second);
                continue;
            }
            for third in next(2, *second) {
                if is_a(2, *third) && *third != start && third != first && third != second {
                    sum.add(*third);
                    if sum.n_paths == PATHS_MAX {
                        return sum;
                    }
                }
            }
        }
    }
    sum
}
