//! A herb, a node or a paper with what is said of it, as the resources show them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use contract::evidence::record::{Author, Document, Node, RetractedReference};
use contract::evidence::resources::{Constituent, Herb, Indication, LicenceOf, NodeDetails, Paper, Relation};
use contract::evidence::starter::is_own_source;
use serde_json::Value;

use crate::contraindications;
use crate::graph::{Direction, Graph, Hop, NodeNumber, label};
use crate::network::{Edges, quoted};
use crate::rest;

/// Relations that are shown of a node.
pub const RELATIONS_MAX: usize = 500;

/// Indications that a note names.
const NAMED_MAX: usize = 10;

const CONTAINS: [&str; 5] = ["contains", "has_part", "has_constituent", "has_active_ingredient", "has_component"];
const CONSTITUENTS: [&str; 4] = ["constituent", "chemical_entity", "small_molecule", "chemical_mixture"];
const TREATS: [&str; 5] =
    ["treats", "applied_to_treat", "treats_or_applied_or_studied_to_treat", "has_indication", "ameliorates_condition"];
const PARTS: [&str; 2] = ["plant_part", "part"];
/// Prefixes of ids that are codes of ICD-10, the Thai block among them.
const ICD: [&str; 4] = ["ICD10", "ICD10TM", "ICD10CM", "ICD10WHO"];

/// Something that a herb contains or is used for, and who says so.
struct Related {
    end: NodeNumber,
    verified: bool,
    sources: Vec<String>,
    retracted: Vec<RetractedReference>,
}

/// A herb with its relations, and the sources of all of it. `edges` has those of [`herb_edge_ids`].
pub fn herb(
    graph: &Graph,
    number: NodeNumber,
    node: &Node,
    edges: &Edges,
    record: impl Fn(NodeNumber) -> Option<Node>,
) -> (Herb, Vec<u32>) {
    let nodes = graph.nodes();
    let mut sources = vec![nodes.source(number)];
    let mut take = |predicates: &[&str], kinds: &[&str]| -> Vec<Related> {
        let hops = predicates.iter().filter_map(|it| graph.predicates().find(it));
        let hops = hops.flat_map(|predicate| graph.hops(number, Direction::Out, Some(predicate)));
        let hops = hops.filter(|hop| kinds.is_empty() || kinds.iter().any(|kind| nodes.is_a(hop.end, kind)));
        let hops: Vec<Hop> = hops.collect();
        sources.extend(hops.iter().flat_map(|hop| [graph.edge_source(hop.edge), nodes.source(hop.end)]));
        let mut ends: Vec<NodeNumber> = hops.iter().map(|hop| hop.end).collect();
        ends.sort_by(|a, b| nodes.id(*a).cmp(nodes.id(*b)));
        ends.dedup();
        // Of several statements of the same, one that was verified makes up for those that were not.
        let is_verified = |hop: &Hop| graph.edge_verified(hop.edge) == Some(true);
        let related = |end: NodeNumber| {
            let said = hops.iter().filter(|hop| hop.end == end);
            let by: BTreeSet<&str> = said.clone().map(|hop| graph.sources().id(graph.edge_source(hop.edge))).collect();
            let sources = by.into_iter().map(str::to_owned).collect();
            let mut retracted: Vec<RetractedReference> = Vec::new();
            for it in said.clone().flat_map(|hop| edges.retracted(graph.edge_id(hop.edge))) {
                if !retracted.contains(&it) {
                    retracted.push(it);
                }
            }
            Related { end, verified: said.clone().any(is_verified), sources, retracted }
        };
        let mut told: Vec<Related> = ends.into_iter().map(related).collect();
        // Stable: of equals in the order of their ids.
        told.sort_by_key(|it| !it.verified);
        told
    };
    let (constituents, treated, parts) =
        (take(&CONTAINS, &CONSTITUENTS), take(&TREATS, &[]), take(&["has_part"], &PARTS));
    let named = |end: NodeNumber| nodes.label(end).to_owned();
    let constituent = |Related { end, verified, sources, retracted }: Related| Constituent {
        id: nodes.id(end).to_owned(),
        name: named(end),
        verified,
        sources,
        retracted,
    };
    let indication = |Related { end, verified, sources, retracted }: Related| Indication {
        icd_code: record(end).as_ref().and_then(icd_code).unwrap_or_default(),
        description: named(end),
        verified,
        sources,
        retracted,
    };
    let herb = Herb {
        id: node.id.clone(),
        names: first_names(node),
        parts: attribute_texts(node, "parts").into_iter().chain(parts.iter().map(|it| named(it.end))).collect(),
        constituents: constituents.into_iter().map(constituent).collect(),
        indications: treated.into_iter().map(indication).collect(),
        sources: Vec::new(),
        note: used_and_warned_of(graph, number),
    };
    (herb, sources)
}

/// The edges that a herb is told by.
pub fn herb_edge_ids(graph: &Graph, herb: NodeNumber) -> Vec<&str> {
    let predicates = CONTAINS.iter().chain(&TREATS).filter_map(|it| graph.predicates().find(it));
    let hops = predicates.flat_map(|predicate| graph.hops(herb, Direction::Out, Some(predicate)));
    hops.map(|hop| graph.edge_id(hop.edge)).collect()
}

/// That a herb is said to treat what it is also warned of: who reads only indications must know it.
fn used_and_warned_of(graph: &Graph, herb: NodeNumber) -> Option<String> {
    let warned_of = contraindications::warned_of(graph, herb);
    let both: BTreeSet<NodeNumber> = treated(graph, herb).into_iter().filter(|end| warned_of.contains(end)).collect();
    let both: Vec<String> = both.into_iter().map(|end| quoted::named(graph, end)).collect();
    (!both.is_empty()).then(|| {
        let both = rest::first(&both, NAMED_MAX);
        format!("Also recorded against taking it: {both}. `find_contraindications` tells what.")
    })
}

/// The nodes that a herb is said to treat, whose records have their codes.
pub fn treated(graph: &Graph, herb: NodeNumber) -> Vec<NodeNumber> {
    let predicates = TREATS.iter().filter_map(|it| graph.predicates().find(it));
    predicates.flat_map(|predicate| graph.hops(herb, Direction::Out, Some(predicate))).map(|hop| hop.end).collect()
}

fn first_names(node: &Node) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for name in &node.names {
        names.entry(name.lang.clone()).or_insert_with(|| name.text.clone());
    }
    names
}

fn attribute_texts(node: &Node, name: &str) -> Vec<String> {
    match node.attributes.get(name) {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(Value::String(text)) => vec![text.clone()],
        Some(_) | None => Vec::new(),
    }
}

/// The node's own code, or that of its id or another id of it.
fn icd_code(node: &Node) -> Option<String> {
    let stated =
        ["icd_code", "icdCode"].iter().find_map(|name| node.attributes.get(*name)?.as_str().map(str::to_owned));
    let of = |id: &String| {
        let (prefix, code) = id.split_once(':')?;
        ICD.contains(&prefix).then(|| code.to_owned())
    };
    stated.or_else(|| std::iter::once(&node.id).chain(&node.same_as).find_map(of))
}

fn hops_of(graph: &Graph, number: NodeNumber) -> Vec<(Hop, bool)> {
    let out = graph.hops(number, Direction::Out, None).into_iter().map(|hop| (hop, false));
    let back = graph.hops(number, Direction::In, None).into_iter().map(|hop| (hop, true));
    out.chain(back).collect()
}

/// Those of a node's statements that are shown, in their order: where there are too many, the gravest.
fn shown_of(graph: &Graph, mut hops: Vec<(Hop, bool)>) -> Vec<(Hop, bool)> {
    if hops.len() <= RELATIONS_MAX {
        return hops;
    }
    let mut places: Vec<usize> = (0..hops.len()).collect();
    places.sort_by_cached_key(|place| {
        let edge = hops.get(*place).map(|(hop, _)| graph.edge(hop.edge));
        Reverse(edge.map(|edge| (edge.verified() == Some(true), edge.gravity())))
    });
    let shown: HashSet<usize> = places.into_iter().take(RELATIONS_MAX).collect();
    let mut place = 0..;
    hops.retain(|_| place.next().is_some_and(|place| shown.contains(&place)));
    hops
}

/// The edges that are shown of a node.
pub fn edge_ids(graph: &Graph, number: NodeNumber) -> Vec<&str> {
    let shown = shown_of(graph, hops_of(graph, number));
    shown.iter().map(|(hop, _)| graph.edge_id(hop.edge)).collect()
}

/// A node with what is said of it: first what it says of others, then what others say of it.
/// `edges` has those of [`edge_ids`].
pub fn node(graph: &Graph, number: NodeNumber, node: Node, edges: &Edges) -> (NodeDetails, Vec<u32>) {
    let nodes = graph.nodes();
    let hops = hops_of(graph, number);
    let n_relations = u64::try_from(hops.len()).unwrap_or(u64::MAX);
    let mut sources = vec![nodes.source(number)];
    let hops = shown_of(graph, hops);
    let shown = hops.iter();
    sources.extend(shown.clone().flat_map(|(hop, _)| [graph.edge_source(hop.edge), nodes.source(hop.end)]));
    let relation = |(hop, reverse): &(Hop, bool)| Relation {
        predicate: edges.predicate(graph, hop).to_owned(),
        reverse: *reverse,
        id: nodes.id(hop.end).to_owned(),
        kind: nodes.kind(hop.end).to_owned(),
        label: nodes.label(hop.end).to_owned(),
        edge_id: graph.edge_id(hop.edge).to_owned(),
        source: graph.sources().id(graph.edge_source(hop.edge)).to_owned(),
        strength: graph.edge_strength(hop.edge),
        critical: graph.edge_is_critical(hop.edge),
        verified: graph.edge_verified(hop.edge) == Some(true),
        retracted: edges.retracted(graph.edge_id(hop.edge)),
    };
    let details = NodeDetails {
        kind: node.categories.first().cloned().unwrap_or_default(),
        label: label(&node).to_owned(),
        id: node.id,
        categories: node.categories,
        names: node.names,
        description: node.description,
        same_as: node.same_as,
        attributes: node.attributes,
        source: node.source,
        licence: graph.sources().licence(nodes.source(number)).to_owned(),
        relations: shown.map(relation).collect(),
        n_relations,
    };
    (details, sources)
}

/// The id of a paper of PubMed in the record.
pub fn paper_id(pmid: &str) -> String {
    format!("PMID:{pmid}")
}

pub fn paper(pmid: &str, document: Document, licence: &str) -> Paper {
    let retraction = document.doubt();
    let address = format!("https://pubmed.ncbi.nlm.nih.gov/{pmid}/");
    let doi = document.ids.get("doi").map(|doi| format!("https://doi.org/{doi}"));
    let pmc = document.ids.get("pmc").map(|pmc| format!("https://pmc.ncbi.nlm.nih.gov/articles/{pmc}/"));
    let mut links: Vec<String> = Vec::new();
    for link in std::iter::once(address).chain(doi).chain(pmc).chain(document.links) {
        if !links.contains(&link) {
            links.push(link);
        }
    }
    let paper_licence = ["licence", "copyright"].iter().find_map(|it| document.attributes.get(*it)?.as_str());
    let paper_licence = paper_licence.map(str::to_owned);
    Paper {
        pmid: pmid.to_owned(),
        title: document.title,
        text: document.text,
        authors: document.authors.iter().map(author).collect(),
        journal: document.journal.unwrap_or_default(),
        year: document.year,
        links,
        retraction,
        licence_of: if is_own_source(&document.source) { LicenceOf::Summary } else { LicenceOf::Record },
        paper_licence,
        source: document.source,
        licence: licence.to_owned(),
    }
}

/// `Last First`, or the name of the group.
fn author(author: &Author) -> String {
    match author.fore.as_ref().or(author.initials.as_ref()) {
        Some(fore) => format!("{} {fore}", author.last),
        None => author.last.clone(),
    }
}
