//! A herb, a node or a paper with what is said of it, as the resources show them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use contract::evidence::checked::Checked;
use contract::evidence::record::{Author, Document, Node, RetractedReference, SameAs};
use contract::evidence::resources::{Constituent, Herb, Indication, LicenceOf, NodeDetails, Paper, Relation};
use contract::evidence::starter::is_own_source;
use serde_json::Value;

use crate::codes::ICD;
use crate::contraindications;
use crate::graph::{Direction, Graph, Hop, NodeNumber, label};
use crate::literature::own_terms;
use crate::network::{Edges, SameThing, quoted, same_things};
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
    let same = same_things(graph, &[number]);
    let mut sources = vec![nodes.source(number)];
    let mut take = |predicates: &[&str], kinds: &[&str]| -> Vec<Related> {
        let predicates: Vec<u32> = predicates.iter().filter_map(|it| graph.predicates().find(it)).collect();
        let hops = same.iter().flat_map(|of| said_out(graph, of.node, &predicates).map(move |hop| (hop, of)));
        let hops = hops.filter(|(hop, _)| kinds.is_empty() || kinds.iter().any(|kind| nodes.is_a(hop.end, kind)));
        let hops: Vec<(Hop, &SameThing)> = hops.collect();
        sources.extend(hops.iter().flat_map(|(hop, of)| sources_of(graph, hop, of)));
        let mut ends: Vec<NodeNumber> = hops.iter().map(|(hop, _)| hop.end).collect();
        ends.sort_by(|a, b| nodes.id(*a).cmp(nodes.id(*b)));
        ends.dedup();
        // Of several statements of the same, one that was verified makes up for those that were not.
        let is_verified = |(hop, of): &(Hop, &SameThing)| {
            graph.edge_verified(hop.edge) == Some(true) && of.checked == Checked::Verified
        };
        let related = |end: NodeNumber| {
            let said = hops.iter().filter(|(hop, _)| hop.end == end);
            let by = said.clone().map(|(hop, _)| graph.sources().id(graph.edge_source(hop.edge)));
            let by: BTreeSet<&str> = by.collect();
            let sources = by.into_iter().map(str::to_owned).collect();
            let mut retracted: Vec<RetractedReference> = Vec::new();
            for it in said.clone().flat_map(|(hop, _)| edges.retracted(graph.edge_id(hop.edge))) {
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

/// What a node says with these predicates.
fn said_out(graph: &Graph, node: NodeNumber, predicates: &[u32]) -> impl Iterator<Item = Hop> {
    predicates.iter().flat_map(move |predicate| graph.hops(node, Direction::Out, Some(*predicate)))
}

/// Who says it, and who that it is said of the thing.
fn sources_of(graph: &Graph, hop: &Hop, of: &SameThing) -> Vec<u32> {
    let mut sources = vec![graph.edge_source(hop.edge), graph.nodes().source(hop.end)];
    sources.extend(of.said.iter().flat_map(|(_, by)| by));
    sources
}

/// Under which other ids a thing is told, and whose word that is; `None` where it has no other.
pub fn same_note(graph: &Graph, number: NodeNumber) -> Option<String> {
    let told = same_things(graph, &[number]).into_iter().filter_map(|of| {
        let SameAs { source, verified, .. } = of.same_as(graph)?;
        let doubt = if verified { "" } else { ", not verified" };
        Some(format!("{} (by {}{doubt})", quoted::named(graph, of.node), quoted::word(&source)))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty())
        .then(|| format!("Told together with what is said to be the same: {}.", rest::first(&told, NAMED_MAX)))
}

/// The edges that a herb is told by.
pub fn herb_edge_ids(graph: &Graph, herb: NodeNumber) -> Vec<&str> {
    let predicates = CONTAINS.iter().chain(&TREATS).filter_map(|it| graph.predicates().find(it));
    let predicates: Vec<u32> = predicates.collect();
    let same = same_things(graph, &[herb]);
    same.iter().flat_map(|of| said_out(graph, of.node, &predicates)).map(|hop| graph.edge_id(hop.edge)).collect()
}

/// That a herb is said to treat what it is also warned of: who reads only indications must know it.
fn used_and_warned_of(graph: &Graph, herb: NodeNumber) -> Option<String> {
    let same = same_things(graph, &[herb]);
    let warned_of: BTreeSet<NodeNumber> =
        same.iter().flat_map(|of| contraindications::warned_of(graph, of.node)).collect();
    let both: BTreeSet<NodeNumber> = treated(graph, herb).into_iter().filter(|end| warned_of.contains(end)).collect();
    let both: Vec<String> = both.into_iter().map(|end| quoted::named(graph, end)).collect();
    (!both.is_empty()).then(|| {
        let both = rest::first(&both, NAMED_MAX);
        format!("Also recorded against taking it: {both}. `find_contraindications` tells what.")
    })
}

/// The nodes that a herb is said to treat, whose records have their codes.
pub fn treated(graph: &Graph, herb: NodeNumber) -> Vec<NodeNumber> {
    let predicates: Vec<u32> = TREATS.iter().filter_map(|it| graph.predicates().find(it)).collect();
    let same = same_things(graph, &[herb]);
    same.iter().flat_map(|of| said_out(graph, of.node, &predicates)).map(|hop| hop.end).collect()
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

/// A statement of a thing under one of its ids.
struct Said<'s> {
    hop: Hop,
    is_reverse: bool,
    of: &'s SameThing,
}

/// Everything that is said of a thing under whichever id, each statement once.
fn said_of<'s>(graph: &Graph, same: &'s [SameThing]) -> Vec<Said<'s>> {
    let mut seen = HashSet::new();
    let said = same.iter().flat_map(|of| {
        let hops = move |direction| graph.hops(of.node, direction, None).into_iter();
        let out = hops(Direction::Out).map(move |hop| Said { hop, is_reverse: false, of });
        out.chain(hops(Direction::In).map(move |hop| Said { hop, is_reverse: true, of }))
    });
    // What is said of a node and itself stays as it is; what is said between two of the nodes was met from both.
    let mut said: Vec<Said<'s>> = said.collect();
    said.retain(|it| seen.insert(graph.edge_id(it.hop.edge)) || it.hop.end == it.of.node);
    said
}

/// Those of a node's statements that are shown, in their order: where there are too many, the gravest.
fn shown_of<'s>(graph: &Graph, mut said: Vec<Said<'s>>) -> Vec<Said<'s>> {
    if said.len() <= RELATIONS_MAX {
        return said;
    }
    let mut places: Vec<usize> = (0..said.len()).collect();
    places.sort_by_cached_key(|place| {
        let edge = said.get(*place).map(|it| graph.edge(it.hop.edge));
        Reverse(edge.map(|edge| (edge.verified() == Some(true), edge.gravity())))
    });
    let shown: HashSet<usize> = places.into_iter().take(RELATIONS_MAX).collect();
    let mut place = 0..;
    said.retain(|_| place.next().is_some_and(|place| shown.contains(&place)));
    said
}

/// The edges that are shown of a node.
pub fn edge_ids(graph: &Graph, number: NodeNumber) -> Vec<&str> {
    let same = same_things(graph, &[number]);
    let shown = shown_of(graph, said_of(graph, &same));
    shown.iter().map(|it| graph.edge_id(it.hop.edge)).collect()
}

/// A node with what is said of it: first what it says of others, then what others say of it.
/// `edges` has those of [`edge_ids`].
pub fn node(graph: &Graph, number: NodeNumber, node: Node, edges: &Edges) -> (NodeDetails, Vec<u32>) {
    let nodes = graph.nodes();
    let same = same_things(graph, &[number]);
    let said = said_of(graph, &same);
    let n_relations = u64::try_from(said.len()).unwrap_or(u64::MAX);
    let mut sources = vec![nodes.source(number)];
    let shown = shown_of(graph, said);
    sources.extend(shown.iter().flat_map(|it| sources_of(graph, &it.hop, it.of)));
    let relation = |Said { hop, is_reverse, of }: &Said<'_>| Relation {
        predicate: edges.predicate(graph, hop).to_owned(),
        reverse: *is_reverse,
        same_as: of.same_as(graph),
        id: nodes.id(hop.end).to_owned(),
        kind: nodes.kind(hop.end).to_owned(),
        label: nodes.label(hop.end).to_owned(),
        edge_id: graph.edge_id(hop.edge).to_owned(),
        source: graph.sources().id(graph.edge_source(hop.edge)).to_owned(),
        strength: graph.edge_strength(hop.edge),
        // What nobody verified makes nothing critical.
        critical: graph.edge_is_critical(hop.edge) && of.checked.carries(graph.edge_verified(hop.edge).into()),
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
        relations: shown.iter().map(relation).collect(),
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
    let paper_licence = own_terms(&document).map(str::to_owned);
    let withdrawn = document.is_withdrawn();
    let address = format!("https://pubmed.ncbi.nlm.nih.gov/{pmid}/");
    let doi = document.ids.get("doi").map(|doi| format!("https://doi.org/{doi}"));
    let pmc = document.ids.get("pmc").map(|pmc| format!("https://pmc.ncbi.nlm.nih.gov/articles/{pmc}/"));
    let mut links: Vec<String> = Vec::new();
    for link in std::iter::once(address).chain(doi).chain(pmc).chain(document.links) {
        if !links.contains(&link) {
            links.push(link);
        }
    }
    Paper {
        pmid: pmid.to_owned(),
        title: document.title,
        text: document.text,
        authors: document.authors.iter().map(author).collect(),
        journal: document.journal.unwrap_or_default(),
        year: document.year,
        links,
        retraction,
        withdrawn,
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
