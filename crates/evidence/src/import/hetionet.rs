//! Hetionet: a table of nodes (`id`, `name`, `kind`) and one of edges (`source`, `metaedge`, `target`), split by tabs.

use std::collections::{BTreeMap, VecDeque};

use contract::evidence::record::{Edge, Node, Record};
use serde_json::json;

use super::input::Input;
use super::lines::Lines;
use super::{Format, ImportError, Item, Options, Parser, Progress, vocabulary};

#[derive(Clone, Copy)]
enum Table {
    Nodes,
    Edges,
}

pub struct Hetionet {
    lines: Lines<Input>,
    source: String,
    table: Table,
}

impl Hetionet {
    pub fn open(input: Input, options: Options) -> Result<Hetionet, ImportError> {
        let mut lines = Lines::new(input);
        let header = lines.read()?.and_then(Result::ok);
        let columns: Vec<&str> = header.iter().flat_map(|line| line.text.split('\t').map(str::trim)).collect();
        let table = match columns.as_slice() {
            ["id", "name", "kind"] => Table::Nodes,
            ["source", "metaedge", "target"] => Table::Edges,
            _ => {
                let expected = "a first line `id name kind` or `source metaedge target`, split by tabs".to_owned();
                return Err(ImportError::Unlike { format: Format::Hetionet, expected });
            }
        };
        Ok(Hetionet { lines, source: options.source.id, table })
    }
}

impl Parser for Hetionet {
    fn advance(&mut self, out: &mut VecDeque<Item>) -> Result<Progress, ImportError> {
        match self.lines.read()? {
            None => return Ok(Progress::Ended),
            Some(Err(rejection)) => out.push_back(Item::Rejected(rejection)),
            Some(Ok(line)) if line.text.trim().is_empty() => {}
            Some(Ok(line)) => {
                let cells: Vec<&str> = line.text.split('\t').map(str::trim).collect();
                let read = match self.table {
                    Table::Nodes => node(&cells, &self.source).map(Record::Node),
                    Table::Edges => edge(&cells, &self.source).map(Record::Edge),
                };
                let at = || format!("line {}", line.number);
                out.push_back(read.map_or_else(|reason| Item::rejected(at(), reason), Item::of));
            }
        }
        Ok(Progress::More)
    }
}

fn node(cells: &[&str], source: &str) -> Result<Node, String> {
    let [id, name, kind] = cells else { return Err(format!("{} cells, expected 3", cells.len())) };
    if name.is_empty() || kind.is_empty() {
        return Err("the name or the kind is empty".to_owned());
    }
    Ok(Node {
        id: curie(id)?,
        categories: vec![category(kind)],
        names: vec![vocabulary::name_in(name, "en")],
        description: None,
        same_as: Vec::new(),
        attributes: BTreeMap::from([("hetionet_id".to_owned(), json!(id))]),
        source: source.to_owned(),
    })
}

fn edge(cells: &[&str], source: &str) -> Result<Edge, String> {
    let [subject, metaedge, object] = cells else { return Err(format!("{} cells, expected 3", cells.len())) };
    let known = METAEDGES.iter().find(|(short, ..)| short == metaedge);
    let Some((_, predicate, direction)) = known else {
        return Err(format!("`{}` is no metaedge of Hetionet", metaedge.chars().take(20).collect::<String>()));
    };
    let (subject, object) = (curie(subject)?, curie(object)?);
    let mut qualifiers = BTreeMap::from([("metaedge".to_owned(), json!(metaedge))]);
    if let Some(direction) = direction {
        qualifiers.insert("object_aspect_qualifier".to_owned(), json!("expression"));
        qualifiers.insert("object_direction_qualifier".to_owned(), json!(direction));
    }
    let id = vocabulary::edge_id(&[source, &subject, metaedge, &object], "");
    Ok(Edge {
        id,
        subject,
        predicate: (*predicate).to_owned(),
        object,
        strength: None,
        evidence: Vec::new(),
        qualifiers,
        source: source.to_owned(),
    })
}

/// `Gene::9021` → `NCBIGene:9021`. Parts that are CURIEs already stay; a kind without a prefix of its own keeps its id.
fn curie(id: &str) -> Result<String, String> {
    let Some((kind, part)) = id.split_once("::").filter(|(kind, part)| !kind.is_empty() && !part.is_empty()) else {
        return Err(format!("`{}` is no id such as `Gene::9021`", id.chars().take(40).collect::<String>()));
    };
    let prefix = match kind {
        "Gene" => "NCBIGene",
        "Compound" => "DRUGBANK",
        "Side Effect" => "UMLS",
        "Symptom" => "MESH",
        "Pharmacologic Class" => "NDFRT",
        _ if part.contains(':') => return Ok(part.to_owned()),
        _ => return Ok(id.to_owned()),
    };
    Ok(format!("{prefix}:{part}"))
}

fn category(kind: &str) -> String {
    let known = match kind {
        "Anatomy" => "anatomical_entity",
        "Compound" => "drug",
        "Pharmacologic Class" => "chemical_role",
        "Side Effect" | "Symptom" => "phenotypic_feature",
        other => return vocabulary::category(other),
    };
    known.to_owned()
}

/// Abbreviation, predicate, and the direction of expression where the abbreviation states one.
const METAEDGES: &[(&str, &str, Option<&str>)] = &[
    ("AdG", "affects", Some("decreased")),
    ("AeG", "expresses", None),
    ("AuG", "affects", Some("increased")),
    ("CbG", "binds", None),
    ("CcSE", "has_side_effect", None),
    ("CdG", "affects", Some("decreased")),
    ("CpD", "palliates", None),
    ("CrC", "chemically_similar_to", None),
    ("CtD", "treats", None),
    ("CuG", "affects", Some("increased")),
    ("DaG", "associated_with", None),
    ("DdG", "affects", Some("decreased")),
    ("DlA", "located_in", None),
    ("DpS", "has_phenotype", None),
    ("DrD", "similar_to", None),
    ("DuG", "affects", Some("increased")),
    ("GcG", "covaries_with", None),
    ("GiG", "interacts_with", None),
    ("GpBP", "participates_in", None),
    ("GpCC", "located_in", None),
    ("GpMF", "enables", None),
    ("GpPW", "participates_in", None),
    ("Gr>G", "regulates", None),
    ("PCiC", "has_member", None),
];
