//! What is recorded against taking a herb or a formulation, under whichever id. Both inherit from
//! all that is in them and from the classes of these, and a herb from the kind that it is one of.

mod cut;
mod inherits;
mod unread;
mod words;

pub(crate) use words::{NOT_INTERACTS, Word, is_no_interaction, word};

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use contract::evidence::checked::Checked;
use contract::evidence::contraindications::{AlsoStated, Contraindication, EntityKind, NotCovered};
use contract::evidence::record::{Edge, Node, RecordKind, SameAs, Strength};
use serde_json::Value;
use store::{Conn, StoreError};

use crate::graph::predicates::{HAS_INGREDIENT, IS_INGREDIENT_OF, WARNS_BY_NOT, holds_both_ways};
use crate::graph::{Direction, Graph, Hop, NodeNumber};
use crate::network::{SameThing, classes_of, quoted, same_things};
use crate::record::papers::{self, Doubts};
use crate::record::read;
use inherits::{Ingredient, Is, inherits, withdrawn};

/// Statements against taking something, along the edge.
const AGAINST: [&str; 5] =
    ["contraindicated_in", "contraindicated_with", "cautioned_in", "has_contraindication", "interacts_with"];

/// Those of them that some write from the condition to the herb.
const ALSO_BACK: [&str; 2] = ["contraindicated_in", "cautioned_in"];

/// What others warn of in words of their own. It is told in these words, and nothing rests on it.
const WARNS_OTHERWISE: [&str; 12] = [
    "causes_adverse_event",
    "complicates",
    "exacerbates",
    "exacerbates_condition",
    "has_adverse_effect",
    "has_adverse_event",
    "has_side_effect",
    "increases_risk_of",
    "predisposes",
    "predisposes_to_condition",
    "toxic_to",
    "worsens",
];

/// Those, and the ones that begin as a denial does.
fn warns_otherwise() -> impl Iterator<Item = &'static str> {
    WARNS_OTHERWISE.into_iter().chain(WARNS_BY_NOT)
}

const CONSTITUENT: &str = "constituent";
const INGREDIENT_NOT_VERIFIED: &str = "(ingredient not verified)";
const CONSTITUENT_NOT_VERIFIED: &str = "(constituent not verified)";
const KIND_NOT_VERIFIED: &str = "(kind not verified)";
const CLASS_NOT_VERIFIED: &str = "(ingredient or class not verified)";

/// Every predicate that an answer about safety rests on.
pub(crate) fn predicates() -> impl Iterator<Item = &'static str> {
    AGAINST.into_iter().chain(HAS_INGREDIENT).chain(IS_INGREDIENT_OF)
}

/// Those that warn of something by themselves.
pub(crate) fn warnings() -> impl Iterator<Item = &'static str> {
    AGAINST.into_iter()
}

/// Does an edge with this predicate warn of something?
pub fn is_warning(predicate: &str) -> bool {
    AGAINST.contains(&predicate)
}

/// Results of one call, and statements that they are made of.
pub const RESULTS_MAX: usize = 1_000;
const STATEMENTS_MAX: usize = 4_000;

/// A herb or formulation that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entity {
    pub node: NodeNumber,
    pub kind: EntityKind,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Findings {
    pub results: Vec<Contraindication>,
    /// Entities that nothing is recorded against.
    pub no_record: Vec<String>,
    pub not_covered: Vec<NotCovered>,
    pub is_truncated: bool,
    /// The sources of the results.
    pub sources: Vec<u32>,
    /// What is not in the results, and of whom.
    pub notes: Vec<String>,
}

/// A statement about an entity, before its evidence was read.
struct Statement {
    entity: Entity,
    inherited_from: Option<Arc<Ingredient>>,
    /// The node that it is recorded of.
    of: Arc<SameThing>,
    hop: Hop,
}

/// The strongest first over all entities, and of equals what was verified. What is stated of one pair is one result, with all that state it.
pub async fn find(
    conn: &mut Conn,
    organisation_id: &str,
    graph: &Graph,
    entities: &[Entity],
) -> Result<Findings, StoreError> {
    let mut statements: Vec<Statement> = entities.iter().flat_map(|entity| statements_about(graph, *entity)).collect();
    // Nobody outvotes what was verified, however much they bring. What is cut off counts as recorded.
    statements.sort_by_key(|it| Reverse((it.is_verified(graph), it.strength(graph))));
    let cut = statements.split_off(statements.len().min(STATEMENTS_MAX));
    // Stable: what is equally strong stays in the order of entity, predicate and id.
    statements.sort_by_key(|it| Reverse((it.strength(graph), it.is_verified(graph))));
    let mut recorded: HashSet<(NodeNumber, Option<NodeNumber>)> = cut.iter().map(Statement::of_whom).collect();
    let ids: Vec<&str> = statements.iter().map(|it| graph.edge_id(it.hop.edge)).collect();
    let stored = read::find(conn, organisation_id, RecordKind::Edge, &ids).await?;
    let edges = stored.iter().map(|it| Ok((it.id.clone(), it.parse::<Edge>()?)));
    let edges: HashMap<String, Edge> = edges.collect::<Result<_, StoreError>>()?;
    let doubts = Doubts::read(conn, organisation_id, edges.values()).await?;
    let mut findings = Findings::default();
    let mut places: HashMap<_, usize> = HashMap::new();
    for statement in &statements {
        // An edge that was withdrawn a moment ago is no longer in the record.
        let edge = edges.get(graph.edge_id(statement.hop.edge)).filter(|edge| !is_no_interaction(edge));
        let Some(edge) = edge else { continue };
        recorded.insert(statement.of_whom());
        findings.sources.push(graph.edge_source(statement.hop.edge));
        findings.sources.extend(statement.of.said.iter().flat_map(|(_, sources)| sources));
        findings.sources.extend(statement.inherited_from.iter().flat_map(|it| &it.sources));
        let result = told(graph, statement, edge, &doubts);
        let place = places.entry((statement.of_whom(), statement.hop.end)).or_insert(findings.results.len());
        match findings.results.get_mut(*place) {
            Some(known) => add(known, result),
            None => findings.results.push(result),
        }
    }
    let not_read = cut.iter().map(|it| graph.nodes().id(it.entity.node).to_owned());
    let note = cut::cut(&mut findings.results, RESULTS_MAX, not_read.collect());
    findings.is_truncated = note.is_some();
    findings.notes.extend(note);
    for entity in entities {
        let ingredients = inherits(graph, *entity);
        let of_ingredient = |it: &Ingredient| recorded.contains(&(entity.node, Some(it.node)));
        let entity_id = graph.nodes().id(entity.node);
        if !recorded.contains(&(entity.node, None)) && !ingredients.iter().any(of_ingredient) {
            findings.no_record.push(entity_id.to_owned());
        }
        findings.notes.extend(unread::note(graph, entity.node));
        if entity.kind == EntityKind::Formulation {
            // What a plant is made of stands for no ingredient that somebody might have looked at.
            let is_put_in = |it: &Ingredient| it.is == Is::Ingredient && !graph.nodes().is_a(it.node, CONSTITUENT);
            // What is written of its class is written of it.
            let by_class = |it: &Ingredient| {
                let classes = classes_of(graph, it.node);
                classes.iter().any(|class| recorded.contains(&(entity.node, Some(*class))))
            };
            let bare = ingredients.iter().filter(|it| is_put_in(it) && !of_ingredient(it) && !by_class(it));
            findings.sources.extend(bare.clone().flat_map(|it| &it.sources));
            let bare: Vec<String> = bare.map(|it| graph.nodes().id(it.node).to_owned()).collect();
            let gone = withdrawn(graph, *entity, &ingredients);
            let others = other_ingredients(conn, organisation_id, entity_id).await?;
            if ingredients.is_empty() && gone.is_empty() && others.is_empty() {
                findings.notes.push(format!("No ingredient of `{entity_id}` is recorded, so it inherits nothing."));
            }
            let told = bare.into_iter().chain(gone).chain(others);
            findings.not_covered.extend(told.map(|it| NotCovered { entity_id: entity_id.to_owned(), ingredient: it }));
        }
    }
    Ok(findings)
}

impl Statement {
    /// The entity, and the ingredient that it is recorded of.
    fn of_whom(&self) -> (NodeNumber, Option<NodeNumber>) {
        (self.entity.node, self.inherited_from.as_ref().map(|it| it.node))
    }

    /// As its weakest link: whose composition or identity nobody verified, its warning is not verified either.
    fn is_verified(&self, graph: &Graph) -> bool {
        let way = self.inherited_from.as_ref().map_or(Checked::Verified, |it| it.checked).min(self.of.checked);
        way.min(self.checked(graph)) == Checked::Verified
    }

    /// The statement alone.
    fn checked(&self, graph: &Graph) -> Checked {
        graph.edge_verified(self.hop.edge).into()
    }

    /// What it is inherited from, where that is checked less well than the statement, or is not verified.
    fn doubted(&self, graph: &Graph) -> Option<&Ingredient> {
        let is_doubted =
            |it: &&Ingredient| it.checked == Checked::NotVerified || !it.checked.carries(self.checked(graph));
        self.inherited_from.as_deref().filter(is_doubted)
    }

    fn strength(&self, graph: &Graph) -> Option<Strength> {
        graph.edge_strength(self.hop.edge)
    }
}

/// Another statement of the same pair.
fn add(known: &mut Contraindication, other: Contraindication) {
    if known.edge_id == other.edge_id || known.also.iter().any(|it| it.edge_id == other.edge_id) {
        return;
    }
    known.also.push(AlsoStated {
        predicate: other.predicate,
        evidence: other.evidence,
        strength: other.strength,
        verified: other.verified,
        references: other.references,
        retracted: other.retracted,
        edge_id: other.edge_id,
        source: other.source,
        licence: other.licence,
    });
}

fn statements_about(graph: &Graph, entity: Entity) -> Vec<Statement> {
    let mut statements = statements_of(graph, entity, None);
    let (classes, others): (Vec<_>, Vec<_>) =
        inherits(graph, entity).into_iter().map(Arc::new).partition(|it| it.is == Is::Class);
    statements.extend(others.iter().flat_map(|ingredient| statements_of(graph, entity, Some(ingredient))));
    // What is said between an ingredient and a class, or between two classes, is met from both ends and told once: of the
    // ingredient, unless only the other way to it was verified.
    let mut met: HashMap<&str, bool> = HashMap::new();
    for it in &statements {
        *met.entry(graph.edge_id(it.hop.edge)).or_default() |= it.is_verified(graph);
    }
    for class in &classes {
        for it in statements_of(graph, entity, Some(class)) {
            let (id, is_verified) = (graph.edge_id(it.hop.edge), it.is_verified(graph));
            if met.get(id).is_none_or(|was_verified| is_verified && !was_verified) {
                met.insert(id, is_verified);
                statements.push(it);
            }
        }
    }
    statements
}

/// Of an entity itself or of something in it, under whichever id.
fn statements_of(graph: &Graph, entity: Entity, inherited_from: Option<&Arc<Ingredient>>) -> Vec<Statement> {
    let node = inherited_from.map_or(entity.node, |it| it.node);
    let same = same_things(graph, &[node]).into_iter().map(Arc::new);
    let statements = same.flat_map(|of| {
        // A herb has nothing to do with itself, whoever says so; two members of a class have.
        let is_class = inherited_from.is_some_and(|it| it.is == Is::Class);
        let hops = against(graph, of.node).into_iter().filter(move |hop| is_class || hop.end != node);
        hops.map(move |hop| Statement { entity, inherited_from: inherited_from.cloned(), of: Arc::clone(&of), hop })
    });
    statements.collect()
}

/// All that the answer about these entities is made of: under each of their ids, and what they inherit from.
pub fn told_of(graph: &Graph, entities: &[Entity]) -> HashSet<NodeNumber> {
    let inherited = |entity: &Entity| inherits(graph, *entity).into_iter().map(|it| it.node);
    let all = entities.iter().flat_map(|entity| std::iter::once(entity.node).chain(inherited(entity)));
    all.flat_map(|node| same_things(graph, &[node])).map(|same| same.node).collect()
}

/// What a node is warned of, each once.
pub(crate) fn warned_of(graph: &Graph, node: NodeNumber) -> BTreeSet<NodeNumber> {
    against(graph, node).into_iter().map(|hop| hop.end).filter(|end| *end != node).collect()
}

fn against(graph: &Graph, node: NodeNumber) -> Vec<Hop> {
    let out = hops_by(graph, node, Direction::Out, &AGAINST);
    let back = AGAINST.into_iter().filter(|predicate| holds_both_ways(predicate)).chain(ALSO_BACK);
    let back = hops_by(graph, node, Direction::In, &back.collect::<Vec<&str>>());
    let otherwise = hops_by(graph, node, Direction::Out, &warns_otherwise().collect::<Vec<&str>>());
    out.into_iter().chain(back).chain(otherwise).collect()
}

fn hops_by(graph: &Graph, node: NodeNumber, direction: Direction, predicates: &[&str]) -> Vec<Hop> {
    let known = predicates.iter().filter_map(|predicate| graph.predicates().find(predicate));
    known.flat_map(|predicate| graph.hops(node, direction, Some(predicate))).collect()
}

/// What else is in a formulation, in the words of its record.
async fn other_ingredients(conn: &mut Conn, organisation_id: &str, id: &str) -> Result<Vec<String>, StoreError> {
    let stored = read::find_one(conn, organisation_id, RecordKind::Node, id).await?;
    let Some(node) = stored.map(|it| it.parse::<Node>()).transpose()? else { return Ok(Vec::new()) };
    let listed = node.attributes.get("other_ingredients").and_then(Value::as_array);
    Ok(listed.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect())
}

fn told(graph: &Graph, statement: &Statement, edge: &Edge, doubts: &Doubts) -> Contraindication {
    let nodes = graph.nodes();
    let other = statement.hop.end;
    let texts: Vec<&str> = edge.evidence.iter().filter_map(|it| it.text.as_deref()).collect();
    let references: Vec<String> = edge.evidence.iter().filter_map(|it| it.reference.clone()).collect();
    let evidence = match (texts.is_empty(), references.is_empty()) {
        (false, _) => texts.join("; "),
        (true, false) => references.join("; "),
        (true, true) => format!("stated by {}", edge.source),
    };
    let retracted = doubts.of(edge);
    // Who reads only these words must know it too.
    let evidence = if retracted.is_empty() { evidence } else { format!("[{}] {evidence}", papers::words(&retracted)) };
    let evidence = match statement.doubted(graph) {
        Some(it) => format!("{} {evidence}", doubt(statement.entity.kind, it.is)),
        None => evidence,
    };
    let same_as = statement.of.same_as(graph);
    let evidence = match same_as.as_ref().filter(|same| !same.verified) {
        Some(SameAs { id, source, .. }) => {
            let [id, source] = [id, source].map(|text| quoted::word(text));
            format!("({id} is the same by {source}, not verified) {evidence}")
        }
        None => evidence,
    };
    Contraindication {
        entity_id: nodes.id(statement.entity.node).to_owned(),
        kind: statement.entity.kind,
        entity_label: nodes.label(statement.entity.node).to_owned(),
        contraindication: nodes.label(other).to_owned(),
        contraindication_id: nodes.id(other).to_owned(),
        predicate: edge.predicate.clone(),
        evidence,
        strength: edge.strength,
        verified: statement.is_verified(graph),
        references,
        retracted,
        n_also: None,
        also: Vec::new(),
        inherited_from: statement.inherited_from.as_ref().map(|it| nodes.id(it.node).to_owned()),
        same_as,
        edge_id: edge.id.clone(),
        source: edge.source.clone(),
        licence: graph.sources().licence(graph.edge_source(statement.hop.edge)).to_owned(),
    }
}

/// What nobody verified of something that is inherited.
fn doubt(kind: EntityKind, is: Is) -> &'static str {
    match (kind, is) {
        (_, Is::Class) => CLASS_NOT_VERIFIED,
        (EntityKind::Formulation, _) => INGREDIENT_NOT_VERIFIED,
        (EntityKind::Herb, Is::Kind) => KIND_NOT_VERIFIED,
        (EntityKind::Herb, Is::Ingredient | Is::Constituent) => CONSTITUENT_NOT_VERIFIED,
    }
}
