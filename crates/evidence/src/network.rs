//! Parts of the graph to look at: everything about a node, and what several nodes have to do with each other.

mod inherited;
mod members;
pub(crate) mod quoted;
mod shown;
pub(crate) mod stated;
mod statement;
mod text;

pub(crate) use inherited::{SameThing, classes_of, same_things};
pub use inherited::{concerned, one_thing};
pub use members::class_note;
pub use quoted::{named, ticked};

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use contract::evidence::record::{Edge, RecordKind, RetractedReference, Strength};
use contract::evidence::starter::is_own_source;
use serde_json::Value;
use store::{Conn, StoreError};

use crate::contraindications::{NOT_INTERACTS, is_no_interaction};
use crate::graph::{Graph, Hop, NodeNumber};
use crate::record::papers::Doubts;
use crate::record::read;
use statement::Statement;

/// Statements that one answer shows.
pub const STATEMENTS_MAX: usize = 1_000;

/// How grave interactions are graded, the gravest first.
const GRADES: [&str; 4] = [CRITICAL, MAJOR, MODERATE, MINOR];
const CRITICAL: &str = "critical";
const MAJOR: &str = "major";
const MODERATE: &str = "moderate";
const MINOR: &str = "minor";

const OF_OTHERS: &str = "About others, which two or more of them are connected with:";
const OF_WIDER: &str = "About what it belongs to or is made of, and so about it:";

/// Edges as their sources wrote them, and what is known against the documents that they rest on.
#[derive(Debug, Clone, PartialEq)]
pub struct Edges {
    by_id: HashMap<String, Edge>,
    doubts: Doubts,
}

impl Edges {
    pub async fn read(conn: &mut Conn, organisation_id: &str, edges: Vec<Edge>) -> Result<Edges, StoreError> {
        let doubts = Doubts::read(conn, organisation_id, &edges).await?;
        Ok(Edges { by_id: edges.into_iter().map(|edge| (edge.id.clone(), edge)).collect(), doubts })
    }

    /// Those of the record with these ids.
    pub async fn find(conn: &mut Conn, organisation_id: &str, ids: &[&str]) -> Result<Edges, StoreError> {
        let stored = read::find(conn, organisation_id, RecordKind::Edge, ids).await?;
        let edges = stored.iter().map(|it| it.parse::<Edge>()).collect::<Result<_, StoreError>>()?;
        Edges::read(conn, organisation_id, edges).await
    }

    fn get(&self, id: &str) -> Option<&Edge> {
        self.by_id.get(id)
    }

    /// The edge that a statement is; none where it is that two nodes are one thing.
    fn of(&self, graph: &Graph, statement: &Statement) -> Option<&Edge> {
        self.get(statement.edge_id(graph)?)
    }

    /// The references of an edge that do not stand.
    pub fn retracted(&self, id: &str) -> Vec<RetractedReference> {
        self.get(id).map(|edge| self.doubts.of(edge)).unwrap_or_default()
    }

    /// The predicate of a hop. What is graded as no interaction is none.
    pub fn predicate<'g>(&self, graph: &'g Graph, hop: &Hop) -> &'g str {
        let is_none = self.get(graph.edge_id(hop.edge)).is_some_and(is_no_interaction);
        if is_none { NOT_INTERACTS } else { graph.predicates().text(hop.predicate) }
    }
}

/// A statement, and the steps that lead to its ends where it is about what things belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    way: Vec<Statement>,
    statement: Statement,
    reach: Reach,
}

/// Of whom a statement holds as it is, by ways that are checked as well as itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Reach {
    /// It holds of somebody.
    is_whole: bool,
    /// Things that it reaches only by a worse way.
    short: Vec<NodeNumber>,
}

/// Statements around the nodes that were asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    starts: Vec<NodeNumber>,
    /// About what was asked for.
    main: Vec<Told>,
    members: Members,
    others: Others,
    /// Pairs of things of which nothing is said, nor of what they belong to.
    unknown_pairs: Vec<UnknownPair>,
    /// Of the statements that do not reach everybody as they are, by the ids of their edges.
    short: HashMap<String, Reach>,
    /// All that is shown, each once.
    statements: Vec<Statement>,
    /// How many there are, shown or not.
    pub n_statements: usize,
}

/// Statements that are told apart, after those about what was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Others {
    about: &'static str,
    told: Vec<Told>,
}

/// Statements about members of classes that were asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Members {
    told: Vec<Told>,
    n_cut: usize,
}

impl Members {
    /// Those that nothing else tells.
    fn new(graph: &Graph, told: Vec<Told>, others: &[&[Told]]) -> Members {
        let known: HashSet<_> = others.iter().flat_map(|told| told.iter()).map(|it| it.statement.key(graph)).collect();
        let told = told.into_iter().filter(|it| !known.contains(&it.statement.key(graph))).collect();
        let (told, n_cut) = members::chosen(graph, told);
        Members { told, n_cut }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct UnknownPair {
    ends: (NodeNumber, NodeNumber),
    /// Something is said of members of theirs.
    has_members: bool,
}

/// What is shown, in the order in which it is.
struct Ordered {
    main: Vec<Statement>,
    members: Vec<Told>,
    others: Vec<Statement>,
}

/// Everything that is said of a thing under whichever id, in both directions; after that the warnings of what it belongs to or
/// is made of, which hold for it too, and those of its members where it is a class.
pub fn everything(graph: &Graph, thing: &[NodeNumber]) -> Network {
    let own: Vec<Told> = inherited::own(graph, thing).into_iter().map(|(_, told)| told).collect();
    let others = Others { about: OF_WIDER, told: inherited::warnings(graph, thing) };
    let members = Members::new(graph, members::warnings(graph, thing), &[&own, &others.told]);
    Network::new(graph, thing.to_vec(), own, members, others, Vec::new())
}

/// What is said between things and between what they belong to, between members of those that are classes, and of others that
/// at least two of them are connected with.
pub fn neighbourhood(graph: &Graph, things: &[Vec<NodeNumber>]) -> Network {
    let (mut main, mut known) = (Vec::new(), BTreeSet::new());
    for between in inherited::between(graph, things) {
        known.extend(between.pairs);
        main.push(between.told);
    }
    let mut things_of: HashMap<NodeNumber, Vec<usize>> = HashMap::new();
    for (at, thing) in things.iter().enumerate() {
        same_things(graph, thing).iter().for_each(|it| things_of.entry(it.node).or_default().push(at));
    }
    let mut met: Vec<(usize, NodeNumber, Told)> = Vec::new();
    let mut friends: HashMap<NodeNumber, BTreeSet<usize>> = HashMap::new();
    for (thing, nodes) in things.iter().enumerate() {
        for (node, told) in inherited::own(graph, nodes) {
            let other = told.statement.other(node);
            friends.entry(other).or_default().insert(thing);
            met.push((thing, other, told));
        }
    }
    let mut others = Others { about: OF_OTHERS, told: Vec::new() };
    for (thing, end, told) in met {
        match things_of.get(&end) {
            // Everything else between them is told already, with the way at either end.
            Some(ends) if told.statement.leads(graph) && ends.iter().any(|other| *other != thing) => {
                known.extend(ends.iter().filter(|it| **it != thing).map(|it| (thing.min(*it), thing.max(*it))));
                main.push(told);
            }
            Some(_) => {}
            None if friends.get(&end).is_some_and(|it| it.len() > 1) => others.told.push(told),
            None => {}
        }
    }
    let (mut of_members, mut by_members) = (Vec::new(), BTreeSet::new());
    for between in members::between(graph, things) {
        by_members.extend(between.pairs);
        of_members.push(between.told);
    }
    let members = Members::new(graph, of_members, &[&main]);
    let first = |at: usize| things.get(at).and_then(|thing| thing.first()).copied();
    let pairs = (0..things.len()).flat_map(|one| (one + 1..things.len()).map(move |other| (one, other)));
    let unknown = pairs.filter(|pair| !known.contains(pair)).filter_map(|(one, other)| {
        let has_members = by_members.contains(&(one, other));
        Some(UnknownPair { ends: (first(one)?, first(other)?), has_members })
    });
    let unknown = unknown.collect();
    Network::new(graph, things.iter().flatten().copied().collect(), main, members, others, unknown)
}

impl Network {
    /// What is about the things comes first, and of that what is grave: it must not be cut off, however much others bring. Of
    /// members only so much was chosen that it leaves room for both.
    fn new(
        graph: &Graph,
        starts: Vec<NodeNumber>,
        mut main: Vec<Told>,
        members: Members,
        mut others: Others,
        unknown_pairs: Vec<UnknownPair>,
    ) -> Network {
        main.sort_by_key(|told| !told.statement.is_critical(graph));
        // What holds of a member holds of its class only as far as it is sure to be one, whatever is told of the member.
        let of_members: HashSet<_> = members.told.iter().map(|told| told.statement.key(graph)).collect();
        others.told.retain(|told| !of_members.contains(&told.statement.key(graph)));
        let n_of_members: usize = members.told.iter().map(|told| told.way.len() + 1).sum();
        if main.len() + n_of_members + others.told.len() > STATEMENTS_MAX {
            for told in [&mut main, &mut others.told] {
                told.sort_by_cached_key(|told| Reverse(told.statement.weight(graph)));
            }
        }
        let mut statements = each_once(graph, members.told.iter().chain(&main).chain(&others.told), |_| true);
        let n_statements = statements.len() + members.n_cut;
        statements.truncate(STATEMENTS_MAX);
        let short = short(graph, main.iter().chain(&members.told).chain(&others.told));
        Network { starts, main, members, others, unknown_pairs, short, statements, n_statements }
    }

    /// What is shown of the things and of others, the gravest first in each, and between them what is shown of members.
    fn ordered(&self, graph: &Graph, edges: &Edges) -> Ordered {
        let sorted = |told: &[Told]| {
            let mut told = told.to_vec();
            // Stable: what is equally grave, or not graded at all, stays in the order of predicate and id.
            told.sort_by_cached_key(|it| self.rank(edges.of(graph, &it.statement)));
            told
        };
        let shown: HashSet<_> = self.statements.iter().map(|it| it.key(graph)).collect();
        let main = each_once(graph, &sorted(&self.main), |id| shown.contains(id));
        let members = sorted(&self.members.told);
        let told = main.iter().chain(members.iter().map(|it| &it.statement));
        let told: HashSet<_> = told.map(|it| it.key(graph)).collect();
        let others = each_once(graph, &sorted(&self.others.told), |id| shown.contains(id) && !told.contains(id));
        Ordered { main, members, others }
    }

    pub fn n_unknown_pairs(&self) -> usize {
        self.unknown_pairs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }

    /// The sources of all that is shown.
    pub fn sources(&self, graph: &Graph) -> Vec<u32> {
        let nodes = self.nodes().into_keys().map(|node| graph.nodes().source(node));
        self.statements.iter().flat_map(|it| it.sources(graph)).chain(nodes).collect()
    }

    /// The nodes that are shown, with how many links each has.
    fn nodes(&self) -> BTreeMap<NodeNumber, u64> {
        let mut nodes: BTreeMap<NodeNumber, u64> = self.starts.iter().map(|start| (*start, 0)).collect();
        for end in self.statements.iter().flat_map(|it| [it.subject, it.object]) {
            *nodes.entry(end).or_default() += 1;
        }
        nodes
    }

    pub fn n_nodes(&self) -> usize {
        self.nodes().len()
    }

    /// The statements as the record or `others` have them, with the documents behind each.
    pub async fn edges(
        &self,
        conn: &mut Conn,
        organisation_id: &str,
        graph: &Graph,
        mut others: Vec<Edge>,
    ) -> Result<Edges, StoreError> {
        let ids: HashSet<&str> = self.statements.iter().filter_map(|it| it.edge_id(graph)).collect();
        others.retain(|edge| ids.contains(edge.id.as_str()));
        let ids: Vec<&str> = ids.into_iter().filter(|id| !others.iter().any(|edge| edge.id == *id)).collect();
        let stored = read::find(conn, organisation_id, RecordKind::Edge, &ids).await?;
        let stored = stored.iter().map(|it| it.parse::<Edge>()).collect::<Result<Vec<_>, StoreError>>()?;
        Edges::read(conn, organisation_id, [stored, others].concat()).await
    }

    /// The things of which a critical statement is told as a major one: what nobody verified makes nothing critical.
    fn capped_for(&self, edge: &Edge) -> &[NodeNumber] {
        let reach = self.short.get(&edge.id).filter(|_| is_critical(edge));
        reach.map(|reach| reach.short.as_slice()).unwrap_or_default()
    }

    /// Whether a critical statement is told as a major one of everybody.
    fn is_capped(&self, edge: &Edge) -> bool {
        let is_short = self.short.get(&edge.id).is_some_and(|reach| !reach.is_whole);
        let is_unverified = edge.qualifiers.get("verified").and_then(Value::as_bool) == Some(false);
        is_critical(edge) && (is_short || is_unverified)
    }

    fn severity(&self, edge: &Edge) -> Option<String> {
        if self.is_capped(edge) { Some(MAJOR.to_owned()) } else { word(edge, "severity") }
    }

    /// Whose word the severity is, where no rule of ours stands behind it.
    fn severity_by(&self, edge: &Edge) -> Option<String> {
        let is_graded = word(edge, "severity").is_some() && rule(edge).is_none() && !self.is_capped(edge);
        is_graded.then(|| edge.source.clone())
    }

    /// The place of a statement among others: the gravest first, and last what is not graded or says that there is nothing.
    /// What has no severity is as grave as it is strong.
    fn rank(&self, edge: Option<&Edge>) -> usize {
        let Some(edge) = edge.filter(|edge| !is_no_interaction(edge)) else { return GRADES.len() };
        let grade = |word: &str| GRADES.iter().position(|grade| word.eq_ignore_ascii_case(grade));
        let by_strength = edge.strength.and_then(|strength| match strength {
            Strength::High => grade(MAJOR),
            Strength::Moderate => grade(MODERATE),
            Strength::Low => grade(MINOR),
        });
        self.severity(edge).and_then(|severity| grade(&severity)).or(by_strength).unwrap_or(GRADES.len())
    }
}

/// Statements with the ways to them, each once: an edge between two of the nodes was met from both of its ends.
fn each_once<'t>(
    graph: &Graph,
    told: impl IntoIterator<Item = &'t Told>,
    is_wanted: impl Fn(&str) -> bool,
) -> Vec<Statement> {
    let mut seen = HashSet::new();
    let all = told.into_iter().flat_map(|it| it.way.iter().chain([&it.statement]));
    let is_new = |it: &&Statement| {
        let key = it.key(graph);
        is_wanted(&key) && seen.insert(key)
    };
    all.filter(is_new).copied().collect()
}

fn word(edge: &Edge, qualifier: &str) -> Option<String> {
    edge.qualifiers.get(qualifier)?.as_str().map(str::to_owned)
}

/// The rule by which a statement is graded. Rules are those of the starter data: nobody else grades by them.
fn rule(edge: &Edge) -> Option<String> {
    word(edge, "rule").filter(|_| is_own_source(&edge.source))
}

fn is_critical(edge: &Edge) -> bool {
    word(edge, "severity").is_some_and(|severity| severity.eq_ignore_ascii_case(CRITICAL))
}

/// Statements that do not reach everybody as they are. Who is reached by one of several ways is reached.
fn short<'t>(graph: &Graph, told: impl Iterator<Item = &'t Told> + Clone) -> HashMap<String, Reach> {
    let mut short: HashMap<String, Reach> = HashMap::new();
    for it in told.clone().filter(|it| !it.reach.short.is_empty()) {
        let reach = short.entry(it.statement.key(graph).into_owned()).or_default();
        reach.short.extend(&it.reach.short);
    }
    for it in told.filter(|it| it.reach.is_whole) {
        if let Some(reach) = short.get_mut(it.statement.key(graph).as_ref()) {
            reach.is_whole = true;
        }
    }
    for reach in short.values_mut() {
        reach.short.sort_by(|a, b| graph.nodes().id(*a).cmp(graph.nodes().id(*b)));
        reach.short.dedup();
    }
    short
}
