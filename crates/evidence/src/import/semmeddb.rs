//! SemMedDB: the table of predications. One row is one statement of one sentence of one citation.

use std::collections::{BTreeMap, VecDeque};

use contract::evidence::record::{Edge, Evidence, Node, Record};
use serde_json::{Value, json};

use super::input::Input;
use super::rows::Rows;
use super::vocabulary::{self, Lately};
use super::{ImportError, Item, Options, Parser, Progress};

/// Later versions have three more columns, which say nothing that is kept.
const COLUMNS_MIN: usize = 12;
const COLUMNS_MAX: usize = 15;

pub struct Semmeddb {
    rows: Rows<Input>,
    source: String,
    lately: Lately,
}

impl Semmeddb {
    pub fn new(input: Input, options: Options) -> Semmeddb {
        let rows = Rows::new(input, Some(b'\\'));
        Semmeddb { rows, source: options.source.id, lately: Lately::new() }
    }
}

impl Parser for Semmeddb {
    fn advance(&mut self, out: &mut VecDeque<Item>) -> Result<Progress, ImportError> {
        let Some(row) = self.rows.read()? else { return Ok(Progress::Ended) };
        let cells = row.cells.map(|cells| cells.iter().map(decoded).collect::<Vec<String>>());
        if row.line == 1 && cells.as_ref().is_ok_and(|it| it.first().is_some_and(|cell| cell == "PREDICATION_ID")) {
            return Ok(Progress::More);
        }
        match cells.and_then(|cells| statement(&cells, &self.source)) {
            Ok((nodes, edge)) => {
                let new = nodes.into_iter().filter(|node| self.lately.is_new(&node.id));
                out.extend(new.map(|node| Item::of(Record::Node(node))).collect::<Vec<_>>());
                out.push_back(Item::of(Record::Edge(edge)));
            }
            Err(reason) => out.push_back(Item::rejected(format!("line {}", row.line), reason)),
        }
        Ok(Progress::More)
    }
}

/// The public dumps mix UTF-8 and Latin-1.
fn decoded(cell: &[u8]) -> String {
    match std::str::from_utf8(cell) {
        Ok(text) => text.trim().to_owned(),
        Err(_) => cell.iter().map(|byte| char::from(*byte)).collect::<String>().trim().to_owned(),
    }
}

fn statement(cells: &[String], source: &str) -> Result<([Node; 2], Edge), String> {
    let wrong = || format!("{} cells, expected {COLUMNS_MIN} to {COLUMNS_MAX}", cells.len());
    if !(COLUMNS_MIN..=COLUMNS_MAX).contains(&cells.len()) {
        return Err(wrong());
    }
    let [id, sentence, pmid, predicate, subject_cui, subject, subject_type, _, object_cui, object, object_type, ..] =
        cells
    else {
        return Err(wrong());
    };
    for (name, cell) in
        [("PREDICATION_ID", id), ("PREDICATE", predicate), ("SUBJECT_CUI", subject_cui), ("OBJECT_CUI", object_cui)]
    {
        if cell.is_empty() || cell == "\\N" {
            return Err(format!("`{name}` is empty"));
        }
    }
    check_cui("SUBJECT_CUI", subject_cui)?;
    check_cui("OBJECT_CUI", object_cui)?;
    let pmid = super::paper::pmid(pmid).ok_or_else(|| "`PMID` is no PubMed number".to_owned())?;
    let nodes = [node(subject_cui, subject, subject_type, source), node(object_cui, object, object_type, source)];
    let (words, is_negated) = match predicate.strip_prefix("NEG_") {
        Some(rest) => (rest, true),
        None => (predicate.as_str(), false),
    };
    let (mapped, mut qualifiers) = mapped(words);
    qualifiers.insert("original_predicate".to_owned(), json!(predicate));
    qualifiers.insert("sentence_id".to_owned(), json!(sentence));
    if is_negated {
        qualifiers.insert("negated".to_owned(), json!(true));
    }
    let edge = Edge {
        id: format!("SEMMEDDB:{id}"),
        subject: nodes[0].id.clone(),
        predicate: if is_negated { vocabulary::negated(&mapped) } else { mapped },
        object: nodes[1].id.clone(),
        strength: None,
        evidence: vec![Evidence { reference: Some(format!("PMID:{pmid}")), text: None }],
        qualifiers,
        source: source.to_owned(),
    };
    Ok((nodes, edge))
}

/// Anything else is a cell of another column: a row whose cells are shifted must not become a statement.
fn check_cui(column: &str, cui: &str) -> Result<(), String> {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_concept = |part: &str| part.strip_prefix('C').is_some_and(|rest| rest.len() == 7 && is_digits(rest));
    let mut parts = cui.split('|').filter(|part| !part.is_empty()).peekable();
    if parts.peek().is_some() && parts.all(|part| is_concept(part) || is_digits(part)) {
        return Ok(());
    }
    let shown: String = cui.chars().take(40).collect();
    Err(format!("`{column}` is `{shown}`, expected `C` and seven digits, or the number of a gene"))
}

/// A concept of UMLS; where there is none, a gene. Further numbers after `|` name the same thing.
fn node(cui: &str, name: &str, kind: &str, source: &str) -> Node {
    let id = |part: &str| if part.starts_with('C') { format!("UMLS:{part}") } else { format!("NCBIGene:{part}") };
    let mut parts = cui.split('|').filter(|part| !part.is_empty());
    let names = name.split('|').filter(|part| !part.is_empty());
    let mut names: Vec<_> = names.map(|part| vocabulary::name_in(part, "en")).collect();
    let first = id(parts.next().unwrap_or(cui));
    if names.is_empty() {
        names.push(vocabulary::name(&first));
    }
    Node {
        id: first,
        categories: vec![category(kind).to_owned()],
        names,
        description: None,
        same_as: parts.map(id).collect(),
        attributes: BTreeMap::from([("semantic_type".to_owned(), json!(kind))]),
        source: source.to_owned(),
    }
}

/// The category of Biolink for a semantic type, by the groups that UMLS itself makes of them.
fn category(kind: &str) -> &'static str {
    match kind {
        "aapp" | "enzy" | "rcpt" => "protein",
        "gngm" => "gene",
        "antb" | "clnd" | "phsu" | "vita" => "drug",
        "bacs" | "bodm" | "chem" | "chvf" | "chvs" | "elii" | "hops" | "horm" | "imft" | "inch" | "irda" | "nnon"
        | "orch" | "strd" | "carb" | "lipd" | "eico" | "opco" | "nsba" => "chemical_entity",
        "acab" | "anab" | "cgab" | "comd" | "dsyn" | "emod" | "inpo" | "mobd" | "neop" | "patf" => "disease",
        "fndg" | "sosy" | "lbtr" => "phenotypic_feature",
        "anst" | "blor" | "bpoc" | "bsoj" | "bdsu" | "bdsy" | "emst" | "ffas" | "tisu" => "anatomical_entity",
        "cell" => "cell",
        "celc" => "cellular_component",
        "biof" | "celf" | "genf" | "moft" | "orgf" | "ortf" | "phsf" | "menp" => "biological_process",
        "topp" | "diap" | "lbpr" | "hlca" | "mbrt" => "procedure",
        "plnt" => "plant",
        "bact" | "virs" | "fngs" | "orgm" | "anim" | "mamm" | "euka" | "arch" | "amph" | "bird" | "fish" | "rept" => {
            "organism_taxon"
        }
        "aggp" | "grup" | "humn" | "popg" | "prog" | "podg" | "famg" => "population_of_individual_organisms",
        _ => "named_thing",
    }
}

/// Biolink's predicate where one means the same, with the direction as a qualifier.
fn mapped(words: &str) -> (String, BTreeMap<String, Value>) {
    let directed = |direction: &str| {
        let aspect = ("object_aspect_qualifier".to_owned(), json!("activity_or_abundance"));
        BTreeMap::from([aspect, ("object_direction_qualifier".to_owned(), json!(direction))])
    };
    let predicate = match words {
        "INHIBITS" => return ("affects".to_owned(), directed("decreased")),
        "STIMULATES" => return ("affects".to_owned(), directed("increased")),
        "ISA" => "subclass_of",
        "PREVENTS" => "preventative_for_condition",
        "PREDISPOSES" => "predisposes_to_condition",
        "COMPLICATES" => "exacerbates_condition",
        "PROCESS_OF" => "occurs_in",
        other => return (vocabulary::predicate(other), BTreeMap::new()),
    };
    (predicate.to_owned(), BTreeMap::new())
}
