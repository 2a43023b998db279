//! What is said of two things by way of what they belong to: a drug by its classes and theirs, a combination by what is
//! in it. Most interactions are written of classes; whoever asks for two drugs must get them all the same.

use std::collections::{BTreeSet, HashMap};

use super::{Statement, Told, statements_of};
use crate::contraindications;
use crate::graph::{Direction, Graph, NodeNumber};

/// From a thing to what it belongs to or is made of: what is said of the end holds for the start.
const UPWARD: [&str; 4] = ["member_of", "subclass_of", "has_ingredient", "contains"];

/// Steps away from a thing. Nothing belongs to more.
const WIDER_MAX: usize = 500;

/// Something that a thing belongs to, and the statement that led there from the one before; none for the thing itself.
struct Wider {
    node: NodeNumber,
    led_here: Option<(usize, Statement)>,
}

/// A statement that holds between things by what they belong to.
pub(super) struct Between {
    pub told: Told,
    /// The pairs of things that it is about, the smaller number first.
    pub pairs: Vec<(usize, usize)>,
}

/// Statements between two different ones of the things, or between what they belong to. A thing is one or more nodes.
pub(super) fn between(graph: &Graph, things: &[Vec<NodeNumber>]) -> Vec<Between> {
    let upward: Vec<u32> = UPWARD.iter().filter_map(|predicate| graph.predicates().find(predicate)).collect();
    let wider: Vec<Vec<Wider>> = things.iter().map(|thing| climb(graph, thing, &upward)).collect();
    let mut reached_from: HashMap<NodeNumber, Vec<(usize, usize)>> = HashMap::new();
    for (start, reached) in wider.iter().enumerate() {
        for (at, step) in reached.iter().enumerate() {
            reached_from.entry(step.node).or_default().push((start, at));
        }
    }
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for node in wider.iter().flatten().map(|step| step.node).filter(|node| seen.insert(*node)) {
        let from = reached_from.get(&node).map(Vec::as_slice).unwrap_or_default();
        for statement in statements_of(graph, node) {
            let to = reached_from.get(&statement.other(node)).map(Vec::as_slice).unwrap_or_default();
            let (mut near, mut far, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
            for (one, other) in from.iter().flat_map(|one| to.iter().map(move |other| (one, other))) {
                if one.0 != other.0 {
                    near.push(*one);
                    far.push(*other);
                    pairs.push((one.0.min(other.0), one.0.max(other.0)));
                }
            }
            if near.is_empty() || upward.contains(&statement.predicate) {
                continue;
            }
            let way = near.into_iter().chain(far).flat_map(|end| way(&wider, end)).collect();
            found.push(Between { told: Told { way, statement }, pairs });
        }
    }
    found
}

/// Warnings of what a thing belongs to, each with the steps that lead to it: a class that must not be taken with itself
/// concerns everybody who asks for one of its members.
pub(super) fn warnings(graph: &Graph, thing: &[NodeNumber]) -> Vec<Told> {
    let numbers = |words: &mut dyn Iterator<Item = &'static str>| -> Vec<u32> {
        words.filter_map(|predicate| graph.predicates().find(predicate)).collect()
    };
    let (upward, warning) = (numbers(&mut UPWARD.into_iter()), numbers(&mut contraindications::warnings()));
    let wider = [climb(graph, thing, &upward)];
    let mut found = Vec::new();
    for (at, step) in wider.iter().flatten().enumerate().filter(|(_, step)| step.led_here.is_some()) {
        let said = statements_of(graph, step.node).into_iter().filter(|it| warning.contains(&it.predicate));
        found.extend(said.map(|statement| Told { way: way(&wider, (0, at)), statement }));
    }
    found
}

/// A start, the predicates and nodes on the way from it, and where the way ends.
type Reached = (NodeNumber, Vec<(u32, NodeNumber)>, NodeNumber);

/// A thing and everything that it belongs to or is made of, the nearest first.
pub(super) fn reached(graph: &Graph, thing: &[NodeNumber]) -> Vec<Reached> {
    let upward: Vec<u32> = UPWARD.iter().filter_map(|predicate| graph.predicates().find(predicate)).collect();
    let wider = [climb(graph, thing, &upward)];
    let steps = wider.iter().flatten().enumerate();
    let reached = steps.map(|(at, step)| {
        let way = way(&wider, (0, at));
        let start = way.first().map_or(step.node, |first| first.subject);
        (start, way.iter().map(|it| (it.predicate, it.object)).collect(), step.node)
    });
    reached.collect()
}

/// Everything that a thing belongs to, the nearest first, in the order of the graph.
fn climb(graph: &Graph, thing: &[NodeNumber], upward: &[u32]) -> Vec<Wider> {
    let mut reached: Vec<Wider> = thing.iter().map(|node| Wider { node: *node, led_here: None }).collect();
    let mut known: BTreeSet<NodeNumber> = thing.iter().copied().collect();
    let mut at = 0;
    while let Some(node) = reached.get(at).map(|step| step.node) {
        for hop in upward.iter().flat_map(|predicate| graph.hops(node, Direction::Out, Some(*predicate))) {
            if reached.len() < WIDER_MAX && known.insert(hop.end) {
                let statement = Statement { subject: node, predicate: hop.predicate, object: hop.end, edge: hop.edge };
                reached.push(Wider { node: hop.end, led_here: Some((at, statement)) });
            }
        }
        at += 1;
    }
    reached
}

/// The statements from a start to one of what it belongs to.
fn way(wider: &[Vec<Wider>], (start, at): (usize, usize)) -> Vec<Statement> {
    let step = |at: usize| wider.get(start).and_then(|reached| reached.get(at)).and_then(|step| step.led_here);
    let mut way: Vec<Statement> = Vec::new();
    let mut next = step(at);
    while let Some((before, statement)) = next {
        way.push(statement);
        next = step(before);
    }
    way.reverse();
    way
}
