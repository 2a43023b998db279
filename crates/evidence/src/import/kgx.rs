//! KGX: nodes and edges as tables with tabs, as one JSON document, or as lines of JSON. Which one it is, the content tells.

use std::collections::{BTreeMap, VecDeque};

use contract::evidence::record::{Edge, Evidence, Node, Record, Strength};
use serde_json::{Map, Value};

use super::input::{self, Input};
use super::json::{Cutter, Path};
use super::lines::Lines;
use super::negation::settle_negation;
use super::{Format, ImportError, Item, Options, Parser, Progress, members, vocabulary};
use crate::contraindications::{NOT_INTERACTS, is_no_interaction};

/// As many as a record holds.
const EVIDENCE_MAX: usize = 1_000;
const NAMES_MAX: usize = 500;
const NAME_CHARS_MAX: usize = 500;
/// How strong a statement is, in our own exports.
pub(crate) const STRENGTH: &str = "evidence_strength";
/// References of a statement that do not stand, in our own exports, and what that is called where it is another house's word.
pub(crate) const DOUBTED: &str = "doubted_publications";
const DOUBTED_BY_SOURCE: &str = "doubted_publications_by_source";
const COLUMNS_MAX: usize = 1_000;
const PATHS: &[Path] = &[&["nodes"], &["edges"]];
/// Columns whose text may hold the separator of lists.
const SINGLE: [&str; 9] =
    ["id", "name", "description", "iri", "subject", "predicate", "object", "full_name", "supporting_text"];
/// Columns that are lists even where they hold one value.
const LISTS: [&str; 8] =
    ["category", "synonym", "same_as", "equivalent_identifiers", "xref", "publications", "categories", "aliases"];

pub fn open(input: Input, options: Options) -> Result<Box<dyn Parser>, ImportError> {
    let (start, input) = input::sniff(input)?;
    let source = options.source.id;
    if start.trim_ascii_start().first() != Some(&b'{') {
        return Ok(Box::new(Table { lines: Lines::new(input), source, columns: None }));
    }
    if is_lines(&start) {
        return Ok(Box::new(JsonLines { lines: Lines::new(input), source }));
    }
    Ok(Box::new(Whole { cutter: Cutter::new(input, PATHS), source, n_cut: 0 }))
}

/// Whether the first line is a record by itself; of one that is longer than what was looked at, its first name tells.
fn is_lines(start: &[u8]) -> bool {
    let start = start.trim_ascii_start();
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    match serde_json::from_slice::<Map<String, Value>>(line) {
        Ok(members) => members.contains_key("id") || members.contains_key("subject"),
        Err(_) => {
            let text = String::from_utf8_lossy(line.get(..200).unwrap_or(line)).replace([' ', '\t'], "");
            text.starts_with("{\"id\":") || text.starts_with("{\"subject\":")
        }
    }
}

/// Nodes or edges, as the first line says.
struct Table {
    lines: Lines<Input>,
    source: String,
    columns: Option<Vec<String>>,
}

impl Parser for Table {
    fn advance(&mut self, out: &mut VecDeque<Item>) -> Result<Progress, ImportError> {
        let line = match self.lines.read()? {
            None => return Ok(Progress::Ended),
            Some(Ok(line)) => line,
            Some(Err(rejection)) if self.columns.is_some() => {
                out.push_back(Item::Rejected(rejection));
                return Ok(Progress::More);
            }
            Some(Err(_)) => return Err(unlike()),
        };
        if line.text.trim().is_empty() {
            return Ok(Progress::More);
        }
        match &self.columns {
            None => self.columns = Some(columns(&line.text)?),
            Some(columns) => {
                let read = row(columns, &line.text).and_then(|members| record(members, &self.source));
                out.push_back(item(read, || format!("line {}", line.number)));
            }
        }
        Ok(Progress::More)
    }
}

fn unlike() -> ImportError {
    let expected = "a first line with the columns `id` and `category`, or `subject`, `predicate` and `object`; or JSON";
    ImportError::Unlike { format: Format::Kgx, expected: expected.to_owned() }
}

fn columns(line: &str) -> Result<Vec<String>, ImportError> {
    let columns: Vec<String> = line.split('\t').map(|name| name.trim().to_owned()).collect();
    let has = |name: &str| columns.iter().any(|column| column == name);
    let is_known = (has("subject") && has("object")) || has("id");
    if is_known && columns.len() <= COLUMNS_MAX { Ok(columns) } else { Err(unlike()) }
}

fn row(columns: &[String], line: &str) -> Result<Map<String, Value>, String> {
    let n_cells = line.split('\t').count();
    if n_cells > columns.len() {
        return Err(format!("{n_cells} cells, expected at most {}", columns.len()));
    }
    let mut members = Map::new();
    for (column, cell) in columns.iter().zip(line.split('\t')).filter(|(_, cell)| !cell.trim().is_empty()) {
        members::join(&mut members, column.clone(), value(column, cell.trim()));
    }
    Ok(members)
}

fn value(column: &str, cell: &str) -> Value {
    let is_list = LISTS.contains(&column) || (cell.contains('|') && !SINGLE.contains(&column));
    if !is_list {
        return Value::String(cell.to_owned());
    }
    cell.split('|').map(str::trim).filter(|item| !item.is_empty()).map(|item| Value::String(item.to_owned())).collect()
}

struct JsonLines {
    lines: Lines<Input>,
    source: String,
}

impl Parser for JsonLines {
    fn advance(&mut self, out: &mut VecDeque<Item>) -> Result<Progress, ImportError> {
        match self.lines.read()? {
            None => return Ok(Progress::Ended),
            Some(Err(rejection)) => out.push_back(Item::Rejected(rejection)),
            Some(Ok(line)) if line.text.trim().is_empty() => {}
            Some(Ok(line)) => {
                let read = object(line.text.as_bytes(), &self.source);
                out.push_back(item(read, || format!("line {}", line.number)));
            }
        }
        Ok(Progress::More)
    }
}

/// One document with `nodes` and `edges`.
struct Whole {
    cutter: Cutter<Input>,
    source: String,
    n_cut: u64,
}

impl Parser for Whole {
    fn advance(&mut self, out: &mut VecDeque<Item>) -> Result<Progress, ImportError> {
        let Some(cut) = self.cutter.next_cut()? else { return Ok(Progress::Ended) };
        self.n_cut += 1;
        let read = cut.value.and_then(|text| object(&text, &self.source));
        out.push_back(item(read, || format!("record {}", self.n_cut)));
        Ok(Progress::More)
    }
}

fn item(read: Result<Record, String>, at: impl FnOnce() -> String) -> Item {
    read.map_or_else(|reason| Item::rejected(at(), reason), Item::of)
}

fn object(text: &[u8], source: &str) -> Result<Record, String> {
    record(members::read(text)?, source)
}

fn record(members: Map<String, Value>, source: &str) -> Result<Record, String> {
    if members.contains_key("subject") || members.contains_key("object") {
        edge(members, source, OwnIds::Kept).map(Record::Edge)
    } else {
        node(members, source).map(Record::Node)
    }
}

/// A node from its members; those that the record has no place for become attributes.
pub fn node(mut members: Map<String, Value>, source: &str) -> Result<Node, String> {
    let id = take_text(&mut members, "id").ok_or("it has no `id`")?;
    let mut categories = take_texts(&mut members, "category");
    categories.extend(take_texts(&mut members, "categories"));
    let mut categories: Vec<String> = categories.iter().map(|text| vocabulary::category(text)).collect();
    categories.retain(|category| !category.is_empty());
    if categories.is_empty() {
        categories.push("named_thing".to_owned());
    }
    let mut words: Vec<String> = take_text(&mut members, "name").into_iter().collect();
    words.extend(take_texts(&mut members, "synonym"));
    words.extend(take_texts(&mut members, "synonyms"));
    if words.is_empty() {
        words.push(id.clone());
    }
    let mut names = Vec::new();
    let mut rest = Vec::new();
    for word in words {
        let is_known = names.iter().any(|name: &contract::evidence::record::Name| name.text == word);
        if names.len() < NAMES_MAX && word.chars().count() <= NAME_CHARS_MAX && !is_known {
            names.push(vocabulary::name(&word));
        } else if !is_known {
            rest.push(Value::String(word));
        }
    }
    if !rest.is_empty() {
        members.insert("more_names".to_owned(), Value::Array(rest));
    }
    let mut same_as = take_texts(&mut members, "same_as");
    same_as.extend(take_texts(&mut members, "equivalent_identifiers"));
    same_as.retain(|other| *other != id);
    let description = take_text(&mut members, "description");
    Ok(Node { id, categories, names, description, same_as, attributes: rest_of(members), source: source.to_owned() })
}

/// Whether an edge's own id names the same edge in every file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OwnIds {
    Kept,
    Ignored,
}

/// An edge from its members; those that the record has no place for become qualifiers.
pub fn edge(mut members: Map<String, Value>, source: &str, own_ids: OwnIds) -> Result<Edge, String> {
    let own_id = take_text(&mut members, "id").filter(|_| own_ids == OwnIds::Kept);
    let strength = if own_ids == OwnIds::Kept { take_strength(&mut members) } else { None };
    // Which papers stand is known here, from records of papers alone.
    if let Some(doubted) = members.remove(DOUBTED) {
        members.entry(DOUBTED_BY_SOURCE).or_insert(doubted);
    }
    let subject = take_text(&mut members, "subject").ok_or("it has no `subject`")?;
    let object = take_text(&mut members, "object").ok_or("it has no `object`")?;
    let stated = take_text(&mut members, "predicate").or_else(|| take_text(&mut members, "edge_label"));
    let stated = stated.ok_or("it has no `predicate`")?;
    let mut predicate = vocabulary::predicate(&stated);
    if settle_negation(&mut members)? {
        predicate = vocabulary::negated(&predicate);
    }
    let references = take_texts(&mut members, "publications");
    let texts = ["supporting_text", "sentences"].into_iter().flat_map(|key| take_texts(&mut members, key));
    let texts: Vec<String> = texts.collect();
    if references.len() > EVIDENCE_MAX {
        members.insert("n_publications".to_owned(), Value::from(references.len()));
    }
    let reference = |reference| Evidence { reference: Some(reference), text: None };
    let text = |text: String| Evidence { reference: None, text: Some(text) };
    let evidence = references.into_iter().map(reference).chain(texts.into_iter().map(text)).take(EVIDENCE_MAX);
    let evidence: Vec<Evidence> = evidence.collect();
    let made_id = || {
        let narrowings = match own_ids {
            OwnIds::Kept => narrowings(&members),
            // Nothing else tells edges of a message apart.
            OwnIds::Ignored => everything(&members, &evidence),
        };
        vocabulary::edge_id(&[source, &subject, &predicate, &object], &narrowings)
    };
    let id = own_id.unwrap_or_else(made_id);
    let mut edge = Edge {
        id,
        subject,
        predicate,
        object,
        strength,
        evidence,
        qualifiers: rest_of(members),
        source: source.to_owned(),
    };
    // Some grade the interactions that there are not.
    if is_no_interaction(&edge) {
        NOT_INTERACTS.clone_into(&mut edge.predicate);
    }
    Ok(edge)
}

/// The strength as our own exports write it. Whatever else is called so stays a qualifier.
fn take_strength(members: &mut Map<String, Value>) -> Option<Strength> {
    let strength = serde_json::from_value(members.get(STRENGTH)?.clone()).ok()?;
    members.remove(STRENGTH);
    Some(strength)
}

/// All that is said beside the statement itself.
fn everything(members: &Map<String, Value>, evidence: &[Evidence]) -> String {
    let told: BTreeMap<&String, &Value> = members.iter().filter(|(_, value)| !value.is_null()).collect();
    serde_json::json!([told, evidence]).to_string()
}

/// What makes a statement another one: qualifiers, and who stated it first.
fn narrowings(members: &Map<String, Value>) -> String {
    let is_one = |key: &str| {
        key.ends_with("_qualifier")
            || ["qualified_predicate", "qualifiers", "primary_knowledge_source", "knowledge_source", "provided_by"]
                .contains(&key)
    };
    let narrowing: BTreeMap<&String, &Value> = members.iter().filter(|(key, _)| is_one(key)).collect();
    serde_json::json!(narrowing).to_string()
}

fn take_text(members: &mut Map<String, Value>, key: &str) -> Option<String> {
    take_texts(members, key).into_iter().next()
}

/// A text or a list of texts; numbers count as their digits, since ids may be written so.
fn take_texts(members: &mut Map<String, Value>, key: &str) -> Vec<String> {
    let text = |value: Value| match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    match members.remove(key) {
        Some(Value::Array(items)) => items.into_iter().filter_map(text).collect(),
        Some(value) => text(value).into_iter().collect(),
        None => Vec::new(),
    }
}

fn rest_of(members: Map<String, Value>) -> BTreeMap<String, Value> {
    vocabulary::tame_members(members.into_iter().filter(|(_, value)| !value.is_null()))
}
