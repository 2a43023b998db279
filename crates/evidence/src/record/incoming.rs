//! A record on its way in: checked beyond its schema, and written as the table keeps it.

use contract::canonical;
use contract::evidence::record::{Edge, Evidence, Record, RecordKind};
use serde::Serialize;
use serde_json::Value;

use super::Sha256;
use crate::contraindications;
use crate::graph::names::normalise;

/// Why a record is not kept. The text is for whoever brought it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unfit(pub String);

/// What a record is and what it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incoming {
    /// Place in the batch, for whoever is told that it was rejected.
    pub position: u64,
    pub(super) kind: RecordKind,
    pub(super) id: String,
    /// Absent where the record is to be withdrawn.
    pub(super) content: Option<Content>,
    /// The source it names.
    pub(super) source: Option<String>,
    /// The nodes that an edge connects.
    pub(super) ends: Option<[String; 2]>,
    /// It says of itself that somebody compared it with its source.
    pub(super) claims_verified: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Content {
    /// Canonical JSON.
    pub body: String,
    pub sha256: Sha256,
}

/// Integers that every reader of JSON keeps whole.
const INTEGER_MAX: u64 = 1 << 53;

impl Incoming {
    pub fn new(position: u64, record: &Record) -> Result<Incoming, Unfit> {
        let incoming = match record {
            Record::Source(source) => Incoming::of(position, RecordKind::Source, &source.id, source, None),
            Record::Node(node) => {
                check_texts("categories", &node.categories)?;
                node.names.iter().try_for_each(|name| check_line("names", &name.text))?;
                node.attributes.values().try_for_each(check_integers)?;
                Incoming::of(position, RecordKind::Node, &node.id, node, Some(&node.source))
            }
            Record::Edge(edge) => {
                check_edge(edge)?;
                let incoming = Incoming::of(position, RecordKind::Edge, &edge.id, edge, Some(&edge.source));
                let ends = Some([edge.subject.clone(), edge.object.clone()]);
                let claims_verified = edge.qualifiers.get("verified").is_some_and(|claim| *claim != Value::Bool(false));
                incoming.map(|it| Incoming { ends, claims_verified, ..it })
            }
            Record::Document(document) => {
                document.attributes.values().try_for_each(check_integers)?;
                check_line("title", &document.title)?;
                Incoming::of(position, RecordKind::Document, &document.id, document, Some(&document.source))
            }
            Record::Deletion(deletion) => {
                let (kind, id) = (deletion.kind, deletion.id.clone());
                Ok(Incoming { position, kind, id, content: None, source: None, ends: None, claims_verified: false })
            }
        }?;
        check_text("id", &incoming.id)?;
        Ok(incoming)
    }

    fn of<T: Serialize>(
        position: u64,
        kind: RecordKind,
        id: &str,
        record: &T,
        source: Option<&String>,
    ) -> Result<Incoming, Unfit> {
        let body = canonical::text(record).map_err(|error| Unfit(error.to_string()))?;
        let sha256 = canonical::digest(body.as_bytes());
        let content = Some(Content { body, sha256 });
        let (id, source) = (id.to_owned(), source.cloned());
        Ok(Incoming { position, kind, id, content, source, ends: None, claims_verified: false })
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn is_paper(&self) -> bool {
        self.kind == RecordKind::Document && (self.id.starts_with("PMID:") || self.id.starts_with("DOI:"))
    }
}

fn check_edge(edge: &Edge) -> Result<(), Unfit> {
    check_text("predicate", &edge.predicate)?;
    check_safety_word(&edge.predicate)?;
    edge.qualifiers.values().try_for_each(check_integers)?;
    let is_empty = |evidence: &Evidence| evidence.reference.is_none() && evidence.text.is_none();
    match edge.evidence.iter().position(is_empty) {
        Some(at) => Err(Unfit(format!("`evidence/{at}`: expected a `reference` or a `text`"))),
        None => Ok(()),
    }
}

/// A warning that is almost written as warnings are would be kept, and never be given.
fn check_safety_word(predicate: &str) -> Result<(), Unfit> {
    let folded = normalise(predicate.strip_prefix("biolink:").unwrap_or(predicate)).replace([' ', '-'], "_");
    match contraindications::predicates().find(|known| *known == folded && *known != predicate) {
        Some(known) => Err(Unfit(format!("`predicate`: expected `{known}`, which is how it is written here"))),
        None => Ok(()),
    }
}

/// Names and titles are shown on one line, also to those who take each line for a statement.
fn check_line(field: &str, text: &str) -> Result<(), Unfit> {
    if text.chars().any(char::is_control) {
        return Err(Unfit(format!("`{field}`: expected text without line breaks and control characters")));
    }
    Ok(())
}

fn check_texts(field: &str, texts: &[String]) -> Result<(), Unfit> {
    texts.iter().try_for_each(|text| check_text(field, text))
}

/// Ids, types and predicates are written in addresses and patterns, and compared byte by byte.
fn check_text(field: &str, text: &str) -> Result<(), Unfit> {
    let is_fit = !text.is_empty() && text.trim() == text && !text.chars().any(char::is_control);
    if is_fit {
        Ok(())
    } else {
        Err(Unfit(format!("`{field}`: expected text without control characters and outer spaces")))
    }
}

/// Canonical JSON rounds longer integers, and what was rounded is not what the source said.
fn check_integers(value: &Value) -> Result<(), Unfit> {
    match value {
        Value::Number(number) => {
            let is_long = number.as_i64().map(i64::unsigned_abs).or(number.as_u64()).is_some_and(|it| it > INTEGER_MAX);
            if is_long {
                Err(Unfit("expected integers up to 2^53; write longer ones as text".to_owned()))
            } else {
                Ok(())
            }
        }
        Value::Array(items) => items.iter().try_for_each(check_integers),
        Value::Object(members) => members.values().try_for_each(check_integers),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}
