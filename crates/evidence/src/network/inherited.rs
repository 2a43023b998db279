//! What is said of two things by way of what they belong to: a drug by its classes and theirs, a combination by what is
//! in it. Most interactions are written of classes; whoever asks for two drugs must get them all the same.

use std::collections::{BTreeSet, HashMap};

use contract::evidence::checked::Checked;

use super::{Reach, Statement, Told, statements_of};
use crate::contraindications;
use crate::graph::{Direction, Graph, NodeNumber};

/// From a thing to what it belongs to or is made of: what is said of the end holds for the start.
const UPWARD: [&str; 4] = ["member_of", "subclass_of", "has_ingredient", "contains"];

/// Steps away from a thing. Nothing belongs to more.
const WIDER_MAX: usize = 500;

/// The numbers of those predicates in a graph.
pub(crate) fn upward(graph: &Graph) -> Vec<u32> {
    UPWARD.iter().filter_map(|predicate| graph.predicates().find(predicate)).collect()
}

/// An end of a statement: the number of a thing, and of what it belongs to among all that it belongs to.
type End = (usize, usize);

/// Something that a thing belongs to, and the statement that led there from the one before; none for the thing itself.
struct Wider {
    node: NodeNumber,
    /// As the weakest of all statements that led there.
    checked: Checked,
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
    let upward = upward(graph);
    let wider: Vec<Vec<Wider>> = things.iter().map(|thing| climb(graph, thing, &upward)).collect();
    let mut reached_from: HashMap<NodeNumber, Vec<End>> = HashMap::new();
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
            let ends = from.iter().flat_map(|one| to.iter().map(move |other| [*one, *other]));
            let ends: Vec<[End; 2]> = ends.filter(|[one, other]| one.0 != other.0).collect();
            if ends.is_empty() || upward.contains(&statement.predicate) {
                continue;
            }
            let pairs = ends.iter().map(|[one, other]| (one.0.min(other.0), one.0.max(other.0))).collect();
            let near_and_far = [0, 1].into_iter().flat_map(|side| ends.iter().filter_map(move |ends| ends.get(side)));
            let way = near_and_far.flat_map(|end| way(&wider, *end)).collect();
            let checked: Checked = graph.edge_verified(statement.edge).into();
            let is_short = |(start, at): End| {
                wider.get(start).and_then(|it| it.get(at)).is_some_and(|it| !it.checked.carries(checked))
            };
            let short = ends.iter().flatten().filter(|end| is_short(**end));
            let short = short.filter_map(|(start, _)| things.get(*start)?.first().copied()).collect();
            let is_whole = ends.iter().any(|[one, other]| !is_short(*one) && !is_short(*other));
            found.push(Between { told: Told { way, statement, reach: Reach { is_whole, short } }, pairs });
        }
    }
    found
}

/// Warnings of what a thing belongs to, each with the steps that lead to it: a class that must not be taken with itself
/// concerns everybody who asks for one of its members.
pub(super) fn warnings(graph: &Graph, thing: &[NodeNumber]) -> Vec<Told> {
    let warning: Vec<u32> = contraindications::warnings().filter_map(|it| graph.predicates().find(it)).collect();
    let wider = [climb(graph, thing, &upward(graph))];
    let mut found = Vec::new();
    for (at, step) in wider.iter().flatten().enumerate().filter(|(_, step)| step.led_here.is_some()) {
        let said = statements_of(graph, step.node).into_iter().filter(|it| warning.contains(&it.predicate));
        found.extend(said.map(|statement| {
            let is_whole = step.checked.carries(graph.edge_verified(statement.edge).into());
            let short = thing.first().filter(|_| !is_whole).copied().into_iter().collect();
            Told { way: way(&wider, (0, at)), statement, reach: Reach { is_whole, short } }
        }));
    }
    // A statement whose both ends are reached is met from each of them.
    let whole = found.iter().filter(|it| it.reach.is_whole).map(|it| graph.edge_id(it.statement.edge));
    let whole: BTreeSet<&str> = whole.collect();
    for told in found.iter_mut().filter(|it| whole.contains(graph.edge_id(it.statement.edge))) {
        told.reach = Reach { is_whole: true, short: Vec::new() };
    }
    found
}

/// Something that a thing belongs to or is made of, or the thing itself.
pub(super) struct Reached {
    pub start: NodeNumber,
    /// Predicates, and where each leads.
    pub way: Vec<(u32, NodeNumber)>,
    pub checked: Checked,
    pub node: NodeNumber,
}

/// A thing and everything that it belongs to or is made of: the best checked first, and of equals the nearest.
pub(super) fn reached(graph: &Graph, thing: &[NodeNumber]) -> Vec<Reached> {
    let wider = [climb(graph, thing, &upward(graph))];
    let steps = wider.iter().flatten().enumerate();
    let reached = steps.map(|(at, step)| {
        let way = way(&wider, (0, at));
        let start = way.first().map_or(step.node, |first| first.subject);
        let way = way.iter().map(|it| (it.predicate, it.object)).collect();
        Reached { start, way, checked: step.checked, node: step.node }
    });
    reached.collect()
}

/// Everything that a thing belongs to, each by the way that is checked best; of equals the nearest, in the order of the
/// graph.
fn climb(graph: &Graph, thing: &[NodeNumber], upward: &[u32]) -> Vec<Wider> {
    let mut reached: Vec<Wider> =
        thing.iter().map(|node| Wider { node: *node, checked: Checked::Verified, led_here: None }).collect();
    let mut known: BTreeSet<NodeNumber> = thing.iter().copied().collect();
    // A short way that nobody verified must not hide a longer one that somebody did.
    for checked in Checked::ALL.into_iter().rev() {
        let mut at = 0;
        while let Some(node) = reached.get(at).map(|step| step.node) {
            let hops = upward.iter().flat_map(|predicate| graph.hops(node, Direction::Out, Some(*predicate)));
            for hop in hops.filter(|hop| Checked::from(graph.edge_verified(hop.edge)) >= checked) {
                if reached.len() < WIDER_MAX && known.insert(hop.end) {
                    let (subject, predicate, object, edge) = (node, hop.predicate, hop.end, hop.edge);
                    let statement = Statement { subject, predicate, object, edge };
                    reached.push(Wider { node: hop.end, checked, led_here: Some((at, statement)) });
                }
            }
            at += 1;
        }
    }
    reached
}

/// The statements from a start to one of what it belongs to.
fn way(wider: &[Vec<Wider>], (start, at): End) -> Vec<Statement> {
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
