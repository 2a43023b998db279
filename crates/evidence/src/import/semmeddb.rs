//! SemMedDB: the table of predications. One row is one statement of one sentence of one citation.

use std::collections::{BTreeMap, VecDeque};

use contract::evidence::record::{Edge, Evidence, Node, Record};
use csv::ByteRecord;
use serde_json::{Value, json};

use super::fence::Fence;
use super::input::Input;
use super::vocabulary::{self, Lately};
use super::{ImportError, Item, Options, Parser, Progress};

const ROW_BYTES_MAX: usize = 1024 * 1024;
const COLUMNS_MIN: usize = 12;

pub struct Semmeddb {
    rows: csv::Reader<Fence<Input>>,
    row: ByteRecord,
    source: String,
    lately: Lately,
}

impl Semmeddb {
    pub fn new(input: Input, options: Options) -> Semmeddb {
        let fence = Fence::new(input, ROW_BYTES_MAX, "a row");
        let rows = csv::ReaderBuilder::new().has_headers(false).flexible(true).escape(Some(b'\\')).from_reader(fence);
        Semmeddb { rows, row: ByteRecord::new(), source: options.source.id, lately: Lately::new() }
    }
}

impl Parser for Semmeddb {
    fn advance(&mut self, out: &mut VecDeque<Item>) -> Result<Progress, ImportError> {
        self.rows.get_mut().renew();
        let line = self.rows.position().line();
        match self.rows.read_byte_record(&mut self.row) {
            Ok(true) => {}
            Ok(false) => return Ok(Progress::Ended),
            Err(source) => return Err(ImportError::Table { line, source }),
        }
        let cells: Vec<String> = self.row.iter().map(decoded).collect();
        if line == 1 && cells.first().is_some_and(|cell| cell.trim_start_matches('\u{feff}') == "PREDICATION_ID") {
            return Ok(Progress::More);
        }
        match statement(&cells, &self.source) {
            Ok((nodes, edge)) => {
                let new = nodes.into_iter().filter(|node| self.lately.is_new(&node.id));
                out.extend(new.map(|node| Item::of(Record::Node(node))).collect::<Vec<_>>());
                out.push_back(Item::of(Record::Edge(edge)));
            }
            Err(reason) => out.push_back(Item::rejected(format!("line {line}"), reason)),
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
    let [id, sentence, pmid, predicate, subject_cui, subject, subject_type, _, object_cui, object, object_type, ..] =
        cells
    else {
        return Err(format!("{} cells, expected at least {COLUMNS_MIN}", cells.len()));
    };
    if cells.len() < COLUMNS_MIN {
        return Err(format!("{} cells, expected at least {COLUMNS_MIN}", cells.len()));
    }
    for (name, cell) in
        [("PREDICATION_ID", id), ("PREDICATE", predicate), ("SUBJECT_CUI", subject_cui), ("OBJECT_CUI", object_cui)]
    {
        if cell.is_empty() || cell == "\\N" {
            return Err(format!("`{name}` is empty"));
        }
    }
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

/// A concept of UMLS; where there is none, a gene. Further numbers after `|` name the same thing.
fn node(cui: &str, name: &str, kind: &str, source: &str) -> Node {
    let id = |part: &str| {
        let is_concept =
            part.starts_with('C') && part.get(1..).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
        if is_concept { format!("UMLS:{part}") } else { format!("NCBIGene:{part}") }
    };
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
