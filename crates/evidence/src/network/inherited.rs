//! What is said of things by way of what they are, belong to or are made of: a drug under its other ids and by its classes and
//! theirs, a combination by what is in it. Most interactions are written of classes; whoever asks for two drugs must get them
//! all the same.

use std::collections::{BTreeSet, HashMap};

use contract::evidence::checked::Checked;
use contract::evidence::record::SameAs;

use super::statement::{Statement, statements_of};
use super::{Reach, Told};
use crate::contraindications;
use crate::graph::{Direction, Graph, NodeNumber};

/// Steps away from a thing. Nothing is or belongs to more.
const WIDER_MAX: usize = 500;
/// Members of a class and of the classes in it. There may be more in a whole ontology, of which nobody asks for the root.
pub(super) const NARROWER_MAX: usize = 5_000;

/// How far to go from a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Climb {
    /// To the nodes that are said to be the same thing.
    Same,
    /// Also to what it belongs to or is made of.
    Wider,
    /// Also to the classes that it is in, and the broader ones.
    Classes,
    /// To what is in it, where it is a class.
    Narrower,
}

impl Climb {
    fn n_max(self) -> usize {
        match self {
            Climb::Same | Climb::Wider | Climb::Classes => WIDER_MAX,
            Climb::Narrower => NARROWER_MAX,
        }
    }
}

/// An end of a statement: the number of a thing, and of what it belongs to among all that it belongs to.
pub(super) type End = (usize, usize);

/// Something that a thing is or belongs to, or that is in it, and the statement that led there from the one before; none for the
/// thing itself.
pub(super) struct Wider {
    pub node: NodeNumber,
    /// As the weakest of all statements that led there.
    pub checked: Checked,
    /// By nothing but statements that it is the same.
    pub is_same: bool,
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
    let wider: Vec<Vec<Wider>> = things.iter().map(|thing| climb(graph, thing, Climb::Wider)).collect();
    let mut reached_from: HashMap<NodeNumber, Vec<End>> = HashMap::new();
    for (start, reached) in wider.iter().enumerate() {
        for (at, step) in reached.iter().enumerate() {
            reached_from.entry(step.node).or_default().push((start, at));
        }
    }
    let mut found = said_to_be_one(things, &wider);
    let mut seen = BTreeSet::new();
    for node in wider.iter().flatten().map(|step| step.node).filter(|node| seen.insert(*node)) {
        let from = reached_from.get(&node).map(Vec::as_slice).unwrap_or_default();
        for statement in statements_of(graph, node) {
            let to = reached_from.get(&statement.other(node)).map(Vec::as_slice).unwrap_or_default();
            let ends = from.iter().flat_map(|one| to.iter().map(move |other| [*one, *other]));
            let mut ends: Vec<[End; 2]> = ends.filter(|[one, other]| one.0 != other.0).collect();
            if ends.is_empty() || statement.leads(graph) {
                continue;
            }
            let checked: Checked = statement.verified(graph).into();
            let is_short = |(start, at): End| {
                wider.get(start).and_then(|it| it.get(at)).is_some_and(|it| !it.checked.carries(checked))
            };
            let is_whole = |[one, other]: &[End; 2]| !is_short(*one) && !is_short(*other);
            // Whom it reaches as it is, it reaches by no worse way.
            let whole: BTreeSet<(usize, usize)> = ends.iter().filter(|ends| is_whole(ends)).map(pair).collect();
            ends.retain(|ends| is_whole(ends) || !whole.contains(&pair(ends)));
            let pairs = ends.iter().map(pair).collect();
            let near_and_far = [0, 1].into_iter().flat_map(|side| ends.iter().filter_map(move |ends| ends.get(side)));
            let way = near_and_far.flat_map(|end| way(&wider, *end)).collect();
            let short = ends.iter().flatten().filter(|end| is_short(**end));
            let short = short.filter_map(|(start, _)| things.get(*start)?.first().copied()).collect();
            let is_whole = !whole.is_empty();
            found.push(Between { told: Told { way, statement, reach: Reach { is_whole, short } }, pairs });
        }
    }
    found
}

/// The two things, the smaller number first.
fn pair([one, other]: &[End; 2]) -> (usize, usize) {
    (one.0.min(other.0), one.0.max(other.0))
}

/// Things that are said to be one.
fn said_to_be_one(things: &[Vec<NodeNumber>], wider: &[Vec<Wider>]) -> Vec<Between> {
    let mut found = Vec::new();
    for (one, reached) in wider.iter().enumerate() {
        for (at, step) in reached.iter().enumerate().filter(|(_, step)| step.is_same && step.led_here.is_some()) {
            let Some(other) = things.iter().position(|thing| thing.contains(&step.node)) else { continue };
            let mut way = way(wider, (one, at));
            if let Some(statement) = way.pop().filter(|_| one < other) {
                let reach = Reach { is_whole: true, short: Vec::new() };
                found.push(Between { told: Told { way, statement, reach }, pairs: vec![(one, other)] });
            }
        }
    }
    found
}

/// Everything that is said of a thing under whichever id, with the node that it is said of.
pub(super) fn own(graph: &Graph, thing: &[NodeNumber]) -> Vec<(NodeNumber, Told)> {
    let same = [climb(graph, thing, Climb::Same)];
    let steps = same.iter().flatten().enumerate();
    let told = steps.flat_map(|(at, step)| {
        let told = statements_of(graph, step.node).into_iter();
        let told = told.map(|statement| told_of(graph, thing, &same, at, step, statement));
        told.map(|told| (step.node, told)).collect::<Vec<_>>()
    });
    told.collect()
}

/// Warnings of what a thing belongs to, each with the steps that lead to it: a class that must not be taken with itself
/// concerns everybody who asks for one of its members.
pub(super) fn warnings(graph: &Graph, thing: &[NodeNumber]) -> Vec<Told> {
    let warning: Vec<u32> = contraindications::warnings().filter_map(|it| graph.predicates().find(it)).collect();
    let is_warning = |it: &Statement| it.predicate_number().is_some_and(|predicate| warning.contains(&predicate));
    let wider = [climb(graph, thing, Climb::Wider)];
    let mut found = Vec::new();
    for (at, step) in wider.iter().flatten().enumerate().filter(|(_, step)| !step.is_same) {
        let said = statements_of(graph, step.node).into_iter().filter(is_warning);
        found.extend(said.map(|statement| told_of(graph, thing, &wider, at, step, statement)));
    }
    // A statement whose both ends are reached is met from each of them.
    let whole = found.iter().filter(|it| it.reach.is_whole).map(|it| it.statement.key(graph));
    let whole: BTreeSet<_> = whole.collect();
    for told in found.iter_mut().filter(|it| whole.contains(&it.statement.key(graph))) {
        told.reach = Reach { is_whole: true, short: Vec::new() };
    }
    found
}

/// A statement of something that a thing is or belongs to, with the way there.
fn told_of(
    graph: &Graph,
    thing: &[NodeNumber],
    wider: &[Vec<Wider>],
    at: usize,
    step: &Wider,
    statement: Statement,
) -> Told {
    let is_whole = step.checked.carries(statement.verified(graph).into());
    let short = thing.first().filter(|_| !is_whole).copied().into_iter().collect();
    Told { way: way(wider, (0, at)), statement, reach: Reach { is_whole, short } }
}

/// A node that is said to be the same thing as one that was asked for, or that one itself.
pub(crate) struct SameThing {
    pub node: NodeNumber,
    pub checked: Checked,
    /// The node that was asked for, and whose word it is that this one is the same; absent for the one that was asked for.
    pub said: Option<(NodeNumber, Vec<u32>)>,
}

impl SameThing {
    /// The node that something is recorded of, where it is not the one that was asked for.
    pub fn same_as(&self, graph: &Graph) -> Option<SameAs<'static>> {
        let (_, sources) = self.said.as_ref()?;
        let sources: Vec<&str> = sources.iter().map(|source| graph.sources().id(*source)).collect();
        Some(SameAs {
            id: graph.nodes().id(self.node).to_owned().into(),
            source: sources.join(", ").into(),
            verified: self.checked == Checked::Verified,
        })
    }
}

/// Nodes for one thing, those that were asked for first.
pub(crate) fn same_things(graph: &Graph, thing: &[NodeNumber]) -> Vec<SameThing> {
    let same = [climb(graph, thing, Climb::Same)];
    let told = same.iter().flatten().enumerate().map(|(at, step)| {
        let way = way(&same, (0, at));
        let mut sources: Vec<u32> = way.iter().flat_map(|it| it.sources(graph)).collect();
        let mut seen = BTreeSet::new();
        sources.retain(|source| seen.insert(*source));
        let said = step.led_here.is_some().then(|| (start(&same, (0, at)), sources));
        SameThing { node: step.node, checked: step.checked, said }
    });
    told.collect()
}

/// The nodes that are said to be one thing with those that were asked for, these first.
pub fn one_thing(graph: &Graph, thing: &[NodeNumber]) -> Vec<NodeNumber> {
    climb(graph, thing, Climb::Same).into_iter().map(|step| step.node).collect()
}

/// The classes that a node is in under whichever id, and the broader ones.
pub(crate) fn classes_of(graph: &Graph, node: NodeNumber) -> Vec<NodeNumber> {
    let classes = climb(graph, &[node], Climb::Classes).into_iter().filter(|step| !step.is_same);
    classes.map(|step| step.node).collect()
}

/// All nodes whose warnings hold for a thing: it under each of its ids, and what it belongs to or is made of.
pub fn concerned(graph: &Graph, thing: &[NodeNumber]) -> BTreeSet<NodeNumber> {
    climb(graph, thing, Climb::Wider).into_iter().map(|step| step.node).collect()
}

/// Something that a thing is, belongs to or is made of, or the thing itself.
pub(super) struct Reached {
    /// From where on nothing but memberships lead to it.
    pub start: NodeNumber,
    /// Predicates, whether along the edge, and where each leads.
    pub way: Vec<(u32, Direction, NodeNumber)>,
    /// Who says that the start is the same as something on the way there; nobody where it was asked for.
    pub same_by: Vec<u32>,
    pub checked: Checked,
    pub node: NodeNumber,
}

/// A thing and everything that it belongs to or is made of: the best checked first, and of equals the nearest.
pub(super) fn reached(graph: &Graph, thing: &[NodeNumber]) -> Vec<Reached> {
    let wider = [climb(graph, thing, Climb::Wider)];
    let steps = wider.iter().flatten().enumerate();
    let reached = steps.map(|(at, step)| {
        let mut reached = Reached {
            start: start(&wider, (0, at)),
            way: Vec::new(),
            same_by: Vec::new(),
            checked: step.checked,
            node: step.node,
        };
        let mut from = reached.start;
        for statement in way(&wider, (0, at)) {
            let direction = if statement.subject == from { Direction::Out } else { Direction::In };
            from = statement.other(from);
            match statement.predicate_number().filter(|_| !statement.is_same(graph)) {
                Some(predicate) => reached.way.push((predicate, direction, from)),
                None => {
                    (reached.start, reached.way) = (from, Vec::new());
                    reached.same_by.extend(statement.sources(graph));
                }
            }
        }
        reached
    });
    reached.collect()
}

/// Everything that a thing is or belongs to, or that is in it, each by the way that is checked best; of equals the nearest, in the
/// order of the graph.
pub(super) fn climb(graph: &Graph, thing: &[NodeNumber], climb: Climb) -> Vec<Wider> {
    let asked = |node: &NodeNumber| Wider { node: *node, checked: Checked::Verified, is_same: true, led_here: None };
    let mut reached: Vec<Wider> = thing.iter().map(asked).collect();
    let mut known: BTreeSet<NodeNumber> = thing.iter().copied().collect();
    // Of each that was reached.
    let mut leading_on: Vec<Vec<Statement>> = Vec::new();
    // A short way that nobody verified must not hide a longer one that somebody did.
    for checked in Checked::ALL.into_iter().rev() {
        let mut at = 0;
        while let Some((node, was_same)) = reached.get(at).map(|step| (step.node, step.is_same)) {
            if leading_on.len() == at {
                leading_on.push(steps(graph, node, was_same, climb));
            }
            let steps = leading_on.get(at).into_iter().flatten();
            for statement in steps.filter(|it| it.checked(graph) >= checked) {
                let end = statement.other(node);
                if reached.len() < climb.n_max() && known.insert(end) {
                    let is_same = was_same && statement.is_same(graph);
                    reached.push(Wider { node: end, checked, is_same, led_here: Some((at, *statement)) });
                }
            }
            at += 1;
        }
    }
    reached
}

/// The statements that lead on from a node.
fn steps(graph: &Graph, node: NodeNumber, is_same: bool, climb: Climb) -> Vec<Statement> {
    let members = graph.leads().members();
    let leads: Vec<(u32, Direction)> = match climb {
        Climb::Same => Vec::new(),
        Climb::Wider => graph.leads().upward().to_vec(),
        Climb::Classes => members.iter().map(|(predicate, direction)| (*predicate, direction.back())).collect(),
        Climb::Narrower => members.to_vec(),
    };
    // A member under another of its ids is no further member.
    let same = if climb == Climb::Narrower && !is_same { Vec::new() } else { graph.same(node) };
    let mut steps: Vec<Statement> = same.into_iter().map(Statement::from).collect();
    for (predicate, direction) in leads {
        let hops = graph.hops(node, direction, Some(predicate)).into_iter();
        steps.extend(hops.map(|hop| Statement::new(node, direction, hop)));
    }
    steps
}

/// The statements from a start to one of what it belongs to.
pub(super) fn way(wider: &[Vec<Wider>], end: End) -> Vec<Statement> {
    let mut way: Vec<Statement> = back(wider, end).filter_map(|step| step.led_here.map(|(_, it)| it)).collect();
    way.reverse();
    way
}

/// Where the way to it begins.
fn start(wider: &[Vec<Wider>], end: End) -> NodeNumber {
    back(wider, end).last().map_or(0, |step| step.node)
}

/// From something that a thing belongs to back to the thing.
fn back(wider: &[Vec<Wider>], (start, at): End) -> impl Iterator<Item = &Wider> {
    let step = move |at: usize| wider.get(start).and_then(|reached| reached.get(at));
    std::iter::successors(step(at), move |it| it.led_here.and_then(|(before, _)| step(before)))
}
