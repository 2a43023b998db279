//! A record on its way in: checked beyond its schema, and written as the table keeps it.

use std::collections::BTreeMap;

use contract::canonical;
use contract::evidence::record::{Document, Edge, Evidence, Node, Record, RecordKind, Source};
use contract::evidence::starter::is_own_source;
use serde::Serialize;
use serde_json::{Map, Value};

use super::Sha256;
use super::checks::{
    check_integers, check_line, check_name, check_nul, check_predicate, check_reference, check_tags, check_text,
    check_texts, passes_for_own_source,
};
use super::papers::{Paper, marked_by_title};
use crate::contraindications::{self, Word};
use crate::graph::predicates::holds_both_ways;
use crate::import::{body, settle_negation};

/// Longer than any word for how grave something is.
const SEVERITY_CHARS_MAX: usize = 40;

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
    /// The source it names; a deletion may name none.
    pub(super) source: Option<String>,
    /// The nodes that an edge connects.
    pub(super) ends: Option<[String; 2]>,
    /// It says of itself that somebody compared it with its source.
    pub(super) claims_verified: bool,
    /// Of a document.
    pub(super) paper: Option<Box<Paper>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Content {
    /// Canonical JSON.
    pub body: String,
    pub sha256: Sha256,
}

impl Content {
    pub(super) fn of(body: String) -> Content {
        let sha256 = canonical::digest(body.as_bytes());
        Content { body, sha256 }
    }

    /// Whether it is a document that was retracted or is doubted.
    pub(super) fn is_marked(&self) -> bool {
        self.body.contains("\"retraction\":{")
    }
}

impl Incoming {
    pub fn new(position: u64, record: &Record) -> Result<Incoming, Unfit> {
        let incoming = match record {
            Record::Source(source) => {
                check_source(source)?;
                Incoming::of(position, RecordKind::Source, &source.id, source, None)
            }
            Record::Node(node) => {
                check_node(node)?;
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
                let marked = marked_by_title(document);
                let document = marked.as_ref().unwrap_or(document);
                check_document(document)?;
                let paper = Some(Box::new(Paper::of(document)));
                let incoming =
                    Incoming::of(position, RecordKind::Document, &document.id, document, Some(&document.source));
                incoming.map(|it| Incoming { paper, ..it })
            }
            Record::Deletion(deletion) => {
                let source = deletion.source.clone();
                Ok(Incoming { source, ..Incoming::bare(position, deletion.kind, &deletion.id) })
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
        let content = Content::of(canonical::text(record).map_err(|error| Unfit(error.to_string()))?);
        // A text may hold these letters by themselves, so only the value tells.
        if content.body.contains("\\u0000") {
            let value = serde_json::to_value(record).map_err(|error| Unfit(error.to_string()))?;
            check_nul("", &value)?;
        }
        Ok(Incoming { content: Some(content), source: source.cloned(), ..Incoming::bare(position, kind, id) })
    }

    fn bare(position: u64, kind: RecordKind, id: &str) -> Incoming {
        Incoming {
            position,
            kind,
            id: id.to_owned(),
            content: None,
            source: None,
            ends: None,
            claims_verified: false,
            paper: None,
        }
    }

    pub fn id(&self) -> &str {
        &self.id
    }
}

fn check_source(source: &Source) -> Result<(), Unfit> {
    check_line("licence", &source.licence)?;
    source.uri.iter().try_for_each(|uri| check_reference("uri", uri))
}

fn check_node(node: &Node) -> Result<(), Unfit> {
    check_texts("categories", &node.categories)?;
    node.names.iter().try_for_each(|name| check_name("names", &name.text))?;
    node.description.iter().try_for_each(|description| check_tags("description", description))?;
    node.attributes.values().try_for_each(check_integers)
}

fn check_document(document: &Document) -> Result<(), Unfit> {
    document.attributes.values().try_for_each(check_integers)?;
    check_line("title", &document.title)?;
    check_tags("text", &document.text)?;
    body(document).map_or(Ok(()), |body| check_tags("attributes/body", body))?;
    let mut links = document.links.iter().enumerate();
    links.try_for_each(|(at, link)| check_reference(&format!("links/{at}"), link))?;
    check_whose_word(document)?;
    check_whose_summary(document)?;
    match Paper::named_otherwise(document) {
        Some((kind, named)) => Err(Unfit(format!("`ids/{kind}`: expected `{named}`, which the id says"))),
        None => Ok(()),
    }
}

/// A document speaks for its own source. Whose other words it carries is noted here, and not by whoever brings it.
fn check_whose_word(document: &Document) -> Result<(), Unfit> {
    if document.retraction.as_ref().is_some_and(|retraction| retraction.source.is_some()) {
        let reason = "`retraction/source`: expected to be absent, as a document speaks for its own source; leave out the \
            `retraction` that another one told of, and it stays";
        return Err(Unfit(reason.to_owned()));
    }
    Ok(())
}

/// Who reads that a summary is ours takes it for one that somebody here wrote and checked.
fn check_whose_summary(document: &Document) -> Result<(), Unfit> {
    let by = document.attributes.get("abstract_by").and_then(Value::as_str).unwrap_or_default();
    if passes_for_own_source(by) && !is_own_source(&document.source) {
        let reason = format!(
            "`attributes/abstract_by`: expected whose words they are, as only what comes with the program is `{by}`'s own summary"
        );
        return Err(Unfit(reason));
    }
    Ok(())
}

fn check_edge(edge: &Edge) -> Result<(), Unfit> {
    check_safety_word(&edge.predicate)?;
    check_text("predicate", &edge.predicate)?;
    check_predicate(&edge.predicate)?;
    check_ends(edge)?;
    edge.qualifiers.values().try_for_each(check_integers)?;
    check_negation(edge)?;
    check_rule(edge)?;
    check_severity(edge)?;
    for (at, evidence) in edge.evidence.iter().enumerate() {
        check_evidence(at, evidence)?;
    }
    Ok(())
}

/// Only a class can have something to do with itself: two of its members.
fn check_ends(edge: &Edge) -> Result<(), Unfit> {
    if edge.subject == edge.object && !holds_both_ways(&edge.predicate) {
        return Err(Unfit(format!("`object`: expected another node than `{}`, which is the subject", edge.subject)));
    }
    Ok(())
}

fn check_evidence(at: usize, evidence: &Evidence) -> Result<(), Unfit> {
    match (&evidence.reference, &evidence.text) {
        (Some(reference), _) => check_reference(&format!("evidence/{at}/reference"), reference),
        (None, Some(_)) => Ok(()),
        (None, None) => Err(Unfit(format!("`evidence/{at}`: expected a `reference` or a `text`"))),
    }
}

/// A warning that is almost written as warnings are would be kept, and never be given.
fn check_safety_word(predicate: &str) -> Result<(), Unfit> {
    match contraindications::word(predicate) {
        Word::Other => Ok(()),
        Word::Safety(known) if known == predicate => Ok(()),
        Word::Safety(known) => Err(Unfit(format!("`predicate`: expected `{known}`, which is how it is written here"))),
        Word::Unclear => {
            let known: Vec<&str> = contraindications::warnings().collect();
            Err(Unfit(format!("`predicate`: expected one of {}, or no word about contraindications", known.join(", "))))
        }
    }
}

/// The word is told as it is, and must not pass for a line of somebody else's.
fn check_severity(edge: &Edge) -> Result<(), Unfit> {
    let Some(severity) = edge.qualifiers.get("severity") else { return Ok(()) };
    let Some(word) = severity.as_str() else {
        return Err(Unfit("`qualifiers/severity`: expected a word such as `major`".to_owned()));
    };
    let is_word =
        word.chars().count() <= SEVERITY_CHARS_MAX && word.chars().all(|it| it.is_alphanumeric() || " -_".contains(it));
    if !is_word {
        return Err(Unfit(format!(
            "`qualifiers/severity`: expected a word such as `major`, of letters and at most {SEVERITY_CHARS_MAX} of them"
        )));
    }
    check_text("qualifiers/severity", word)
}

/// Rules are those of the starter data, and who reads one takes the statement for theirs.
fn check_rule(edge: &Edge) -> Result<(), Unfit> {
    if edge.qualifiers.contains_key("rule") && !is_own_source(&edge.source) {
        let reason = "`qualifiers/rule`: expected to be absent, as only what comes with the program is graded by its rules; call it \
            otherwise, such as `rule_of_source`";
        return Err(Unfit(reason.to_owned()));
    }
    Ok(())
}

/// What says that something is *not* so must say it in its predicate, or it would be told as its opposite.
fn check_negation(edge: &Edge) -> Result<(), Unfit> {
    if edge.predicate.starts_with("not_") {
        return Ok(());
    }
    let expected = |why: &str| {
        let predicate = &edge.predicate;
        Err(Unfit(format!("`predicate`: expected `not_{predicate}`, as {why}")))
    };
    if is_negated(&edge.qualifiers)? {
        return expected("the edge says `negated`");
    }
    if contraindications::is_no_interaction(edge) {
        return expected("a `severity` of `none` says that there is no interaction");
    }
    Ok(())
}

fn is_negated(qualifiers: &BTreeMap<String, Value>) -> Result<bool, Unfit> {
    let may_say = |name: &String| {
        let name = name.to_ascii_lowercase();
        name.contains("negated") || name == "attributes" || name == "qualifiers"
    };
    if !qualifiers.keys().any(may_say) {
        return Ok(false);
    }
    let mut members: Map<String, Value> = qualifiers.clone().into_iter().collect();
    settle_negation(&mut members).map_err(|reason| Unfit(format!("`qualifiers`: {reason}")))
}
