//! What is recorded of the members of classes. Many interactions are written of single drugs; whoever asks for their classes
//! must be told of them all the same, and by which members.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use contract::evidence::checked::Checked;

use super::inherited::{self, Between, Climb, NARROWER_MAX, Wider, climb, way};
use super::statement::{Statement, statements_of};
use super::{Reach, Told, quoted};
use crate::contraindications;
use crate::graph::{Direction, Graph, NodeNumber};

/// Members of one class that are looked at, and of all classes of a question together.
const MEMBERS_MAX: usize = 200;
const MEMBERS_OF_ALL_MAX: usize = 1_000;
/// Statements of members that one answer tells.
const STATEMENTS_MAX: usize = 100;
/// Ways to a statement that are compared, at each of its ends: the best checked ones come first.
const WAYS_MAX: usize = 8;

/// How many members of each class are looked at where so many things are asked for.
fn n_members_max(n_things: usize) -> usize {
    (MEMBERS_OF_ALL_MAX / n_things.max(1)).clamp(1, MEMBERS_MAX)
}

/// A thing that was asked for or a member of it, and everything that this is, belongs to or is made of.
struct Part {
    /// The number of the thing.
    thing: usize,
    /// From the thing to the member; empty for the thing itself.
    down: Vec<Statement>,
    /// As the weakest of these.
    checked: Checked,
    wider: [Vec<Wider>; 1],
    /// The nodes that it is.
    nodes: BTreeSet<NodeNumber>,
}

impl Part {
    fn new(graph: &Graph, thing: usize, nodes: &[NodeNumber], down: Vec<Statement>, checked: Checked) -> Part {
        let wider = [climb(graph, nodes, Climb::Wider)];
        let nodes = wider.iter().flatten().filter(|step| step.is_same).map(|step| step.node).collect();
        Part { thing, down, checked, wider, nodes }
    }

    fn is_member(&self) -> bool {
        !self.down.is_empty()
    }

    /// From the thing over the member to something that this belongs to.
    fn way(&self, at: usize) -> impl Iterator<Item = Statement> {
        self.down.iter().copied().chain(way(&self.wider, (0, at)))
    }
}

/// Where a statement ends: a part, something that this belongs to, and how well the whole way is checked.
#[derive(Clone, Copy)]
struct End<'p> {
    part: &'p Part,
    at: usize,
    checked: Checked,
}

/// Statements that hold between different things by members of theirs, and not by the things themselves.
pub(super) fn between(graph: &Graph, things: &[Vec<NodeNumber>]) -> Vec<Between> {
    let n_max = n_members_max(things.len());
    let parts = things.iter().enumerate().flat_map(|(at, thing)| parts(graph, at, thing, n_max));
    let parts: Vec<Part> = parts.collect();
    if !parts.iter().any(Part::is_member) {
        return Vec::new();
    }
    let mut reached_from: HashMap<NodeNumber, BTreeMap<usize, Vec<End<'_>>>> = HashMap::new();
    for part in &parts {
        for (at, step) in part.wider.iter().flatten().enumerate() {
            let end = End { part, at, checked: part.checked.min(step.checked) };
            reached_from.entry(step.node).or_default().entry(part.thing).or_default().push(end);
        }
    }
    // Stable: of equally checked ways the member that was chosen first.
    reached_from.values_mut().flat_map(BTreeMap::values_mut).for_each(|ends| {
        ends.sort_by_key(|end| Reverse(end.checked));
        ends.truncate(WAYS_MAX);
    });
    let is_warning = warning(graph);
    let (mut seen, mut told) = (BTreeSet::new(), BTreeSet::new());
    let mut found = Vec::new();
    let nodes = parts.iter().flat_map(|part| part.wider.iter().flatten()).map(|step| step.node);
    for node in nodes.filter(|node| seen.insert(*node)) {
        for statement in statements_of(graph, node).into_iter().filter(|it| is_warning(it)) {
            let (Some(near), Some(far)) = (reached_from.get(&statement.subject), reached_from.get(&statement.object))
            else {
                continue;
            };
            if told.insert(statement.key(graph)) {
                found.extend(between_ends(graph, things, statement, near, far));
            }
        }
    }
    found
}

/// A statement with the best way to it for each pair of things.
fn between_ends(
    graph: &Graph,
    things: &[Vec<NodeNumber>],
    statement: Statement,
    near: &BTreeMap<usize, Vec<End<'_>>>,
    far: &BTreeMap<usize, Vec<End<'_>>>,
) -> Option<Between> {
    let checked: Checked = statement.verified(graph).into();
    let mut best: BTreeMap<(usize, usize), [End<'_>; 2]> = BTreeMap::new();
    for (one, near) in near {
        for (other, far) in far.iter().filter(|(other, _)| *other != one) {
            let ends = near.iter().flat_map(|near| far.iter().map(move |far| [*near, *far]));
            // Nobody takes a drug together with itself, and what holds of both things is told of them.
            let is_pair = |[near, far]: &[End<'_>; 2]| {
                (near.part.is_member() || far.part.is_member()) && near.part.nodes.is_disjoint(&far.part.nodes)
            };
            let worst = |[near, far]: &[End<'_>; 2]| near.checked.min(far.checked);
            // The first one of the best.
            let ends = ends.filter(is_pair).reduce(|best, ends| if worst(&ends) > worst(&best) { ends } else { best });
            let pair = (*one.min(other), *one.max(other));
            if let Some(ends) = ends
                && best.get(&pair).is_none_or(|known| worst(&ends) > worst(known))
            {
                best.insert(pair, ends);
            }
        }
    }
    let is_short = |end: &End<'_>| !end.checked.carries(checked);
    let is_whole = best.values().any(|ends| !ends.iter().any(is_short));
    let short = best.values().flatten().filter(|end| is_short(end));
    let short = short.filter_map(|end| things.get(end.part.thing)?.first().copied()).collect();
    let mut way: Vec<Statement> = Vec::new();
    for step in best.values().flatten().flat_map(|end| end.part.way(end.at)) {
        if !way.contains(&step) {
            way.push(step);
        }
    }
    let pairs: Vec<(usize, usize)> = best.into_keys().collect();
    (!pairs.is_empty()).then_some(Between { told: Told { way, statement, reach: Reach { is_whole, short } }, pairs })
}

/// The warnings of each member of a thing.
pub(super) fn warnings(graph: &Graph, thing: &[NodeNumber]) -> Vec<Told> {
    let is_warning = warning(graph);
    let mut found = Vec::new();
    for member in members(graph, thing, n_members_max(1)).chosen {
        for (_, told) in inherited::own(graph, &[member.node]) {
            if !is_warning(&told.statement) {
                continue;
            }
            let is_whole = told.reach.is_whole && member.checked.carries(told.statement.verified(graph).into());
            let short = thing.first().filter(|_| !is_whole).copied().into_iter().collect();
            let way = member.down.iter().copied().chain(told.way).collect();
            found.push(Told { way, statement: told.statement, reach: Reach { is_whole, short } });
        }
    }
    found
}

/// Each statement once, with all ways to it. What somebody verified comes first, and of that the gravest; beyond the limit the
/// others are counted.
pub(super) fn chosen(graph: &Graph, told: Vec<Told>) -> (Vec<Told>, usize) {
    let mut each: BTreeMap<String, Told> = BTreeMap::new();
    for told in told {
        let key = told.statement.key(graph).into_owned();
        match each.get_mut(&key) {
            Some(known) => {
                let news: Vec<Statement> = told.way.into_iter().filter(|step| !known.way.contains(step)).collect();
                known.way.extend(news);
                known.reach.is_whole |= told.reach.is_whole;
                known.reach.short.extend(told.reach.short);
            }
            None => {
                each.insert(key, told);
            }
        }
    }
    let mut chosen: Vec<Told> = each.into_values().collect();
    // Stable: of equals in the order of their ids.
    chosen.sort_by_cached_key(|told| {
        let (is_verified, gravity) = told.statement.weight(graph);
        Reverse((is_verified, told.reach.is_whole && told.statement.is_critical(graph), gravity))
    });
    let n_cut = chosen.len().saturating_sub(STATEMENTS_MAX);
    chosen.truncate(STATEMENTS_MAX);
    (chosen, n_cut)
}

/// That a thing is a class, and how many of its members were looked at where so many things are asked for; `None` where it is
/// none.
pub fn class_note(graph: &Graph, thing: &[NodeNumber], n_things: usize) -> Option<String> {
    let Members { chosen, n_known } = members(graph, thing, n_members_max(n_things));
    let first = thing.first().filter(|_| n_known > 0)?;
    // Nobody counted further.
    let or_more = if n_known < NARROWER_MAX { "" } else { " or more" };
    let (whose, rest) = match chosen.len() {
        n_chosen if n_chosen < n_known => {
            (format!("{n_chosen} of them"), "; the others were not looked at, ask for them by name")
        }
        _ => ("them".to_owned(), ""),
    };
    Some(format!(
        "{} is a class; members known here: {n_known}{or_more}. The warnings recorded of {whose} are told apart, with the way to \
         each{rest}.",
        quoted::named(graph, *first)
    ))
}

/// Something that is in a class.
struct Member {
    node: NodeNumber,
    down: Vec<Statement>,
    checked: Checked,
}

/// Those members of a class that are looked at, and how many are known.
struct Members {
    chosen: Vec<Member>,
    n_known: usize,
}

/// What is in a thing and in classes of that. Where there are too many, those that are best checked to be in it, of these the ones
/// with the gravest statements, and of equals in the order of their ids.
fn members(graph: &Graph, thing: &[NodeNumber], n_max: usize) -> Members {
    let narrower = [climb(graph, thing, Climb::Narrower)];
    let steps = narrower.iter().flatten().enumerate().filter(|(_, step)| !step.is_same);
    let mut found: Vec<(usize, &Wider)> = steps.collect();
    let n_known = found.len();
    if n_known > n_max {
        found.sort_by_cached_key(|(_, step)| {
            let id = graph.nodes().id(step.node);
            (Reverse(step.checked), Reverse(gravest(graph, step.node)), id)
        });
        found.truncate(n_max);
    }
    let member =
        |(at, step): (usize, &Wider)| Member { node: step.node, down: way(&narrower, (0, at)), checked: step.checked };
    Members { chosen: found.into_iter().map(member).collect(), n_known }
}

/// The thing itself and its members.
fn parts(graph: &Graph, thing: usize, nodes: &[NodeNumber], n_max: usize) -> Vec<Part> {
    let itself = Part::new(graph, thing, nodes, Vec::new(), Checked::Verified);
    let members = members(graph, nodes, n_max)
        .chosen
        .into_iter()
        .map(|it| Part::new(graph, thing, &[it.node], it.down, it.checked));
    std::iter::once(itself).chain(members).collect()
}

/// Of the warnings of a node.
fn gravest(graph: &Graph, node: NodeNumber) -> Option<(bool, u8)> {
    let predicates = contraindications::warnings().filter_map(|it| graph.predicates().find(it));
    let hops = predicates.flat_map(|predicate| {
        let of = move |direction| graph.hops(node, direction, Some(predicate));
        [Direction::Out, Direction::In].into_iter().flat_map(of)
    });
    let weight = |edge| {
        let edge = graph.edge(edge);
        (edge.verified() == Some(true), edge.gravity())
    };
    hops.map(|hop| weight(hop.edge)).max()
}

/// Whether a statement warns of something.
fn warning(graph: &Graph) -> impl Fn(&Statement) -> bool {
    let warning: Vec<u32> = contraindications::warnings().filter_map(|it| graph.predicates().find(it)).collect();
    move |it| it.predicate_number().is_some_and(|predicate| warning.contains(&predicate))
}
