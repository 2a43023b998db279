//! What is searched: documents and nodes of the record in one form.

use std::collections::BTreeMap;

use contract::evidence::record::{Document, Name, Node, Retraction};
use contract::evidence::search::RetractionStatus;
use contract::evidence::starter::is_own_source;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::words::script_language;
use crate::import::body;
use crate::record::passes_for_own_source;

/// How vectors are made from an entry. Whoever changes that changes this word: it is part of every content hash, so that
/// vectors that were made in another way are never taken for those of today.
const VECTOR_RULE: &str = "text 0.7, title 0.3";
/// Names of a node beyond this many are not searched for in texts; nobody's thing has more.
const NAMES_SHOWN_MAX: usize = 500;

/// One thing that a search can find.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// `document` or `node`, so that both may use the same ids.
    pub record: EntryRecord,
    pub id: String,
    /// `paper`, `chunk`, `herb` …
    pub kind: String,
    pub title: String,
    pub text: String,
    /// As the letters of the text say.
    pub lang: String,
    pub source: String,
    /// Whether somebody compared it with its source. Only what came with the program can say so.
    #[serde(default)]
    pub is_verified: bool,
    pub year: Option<i32>,
    pub categories: Vec<String>,
    /// Of a node, so that each reader is shown the name in their language.
    pub names: Vec<Name>,
    pub retraction: Option<Retraction>,
    /// Whose words the text is, where it is not the authors' abstract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abstract_by: Option<String>,
    /// The node that a document is about as a whole, such as the herb of a monograph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

/// Whether a paper stands, as far as the record knows, and whose word it is where it does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    pub status: RetractionStatus,
    pub source: Option<String>,
}

impl Default for Standing {
    fn default() -> Standing {
        Standing { status: RetractionStatus::NoneKnown, source: None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryRecord {
    Document,
    Node,
}

impl EntryRecord {
    pub fn name(self) -> &'static str {
        match self {
            EntryRecord::Document => "document",
            EntryRecord::Node => "node",
        }
    }
}

impl Entry {
    pub fn of_document(document: &Document) -> Entry {
        let parts = [Some(document.text.as_str()).filter(|text| !text.is_empty()), body(document)];
        let text = parts.into_iter().flatten().collect::<Vec<_>>().join("\n");
        let lang = script_language(&format!("{} {text}", document.title)).to_owned();
        let attribute = |name: &str| document.attributes.get(name).and_then(|value| value.as_str()).map(str::to_owned);
        Entry {
            record: EntryRecord::Document,
            id: document.id.clone(),
            kind: document.kind.clone(),
            title: document.title.clone(),
            text,
            lang,
            source: document.source.clone(),
            is_verified: is_verified(&document.source, &document.attributes),
            year: document.year,
            categories: vec![document.kind.clone()],
            names: Vec::new(),
            retraction: document.retraction.clone(),
            // Records of old may say of somebody else's words that they are ours.
            abstract_by: attribute("abstract_by")
                .filter(|by| is_own_source(&document.source) || !passes_for_own_source(by)),
            about: attribute("about"),
        }
    }

    pub fn of_node(node: &Node) -> Entry {
        let title = node.names.first().map(|name| name.text.clone()).unwrap_or_default();
        let mut text: Vec<&str> =
            node.names.iter().skip(1).take(NAMES_SHOWN_MAX).map(|name| name.text.as_str()).collect();
        text.extend(node.description.as_deref());
        let text = text.join("\n");
        Entry {
            record: EntryRecord::Node,
            id: node.id.clone(),
            kind: node.categories.first().cloned().unwrap_or_default(),
            lang: script_language(&format!("{title} {text}")).to_owned(),
            title,
            text,
            source: node.source.clone(),
            is_verified: is_verified(&node.source, &node.attributes),
            year: None,
            categories: node.categories.clone(),
            names: node.names.clone(),
            retraction: None,
            abstract_by: None,
            about: None,
        }
    }

    /// Whether the paper stands.
    pub fn standing(&self) -> Standing {
        let Some(retraction) = &self.retraction else { return Standing::default() };
        let source = retraction.source.as_ref().unwrap_or(&self.source);
        Standing { status: Some(retraction.kind).into(), source: Some(source.clone()) }
    }

    /// Unique in an index.
    pub fn key(&self) -> String {
        key(self.record, &self.id)
    }

    /// Title and text as one.
    pub fn passage(&self) -> String {
        match (self.title.is_empty(), self.text.is_empty()) {
            (true, _) => self.text.clone(),
            (_, true) => self.title.clone(),
            _ => format!("{} {}", self.title, self.text),
        }
    }

    /// A title moves the vectors of its text, so both count, and where one ends and the other begins.
    pub fn content_hash(&self) -> ContentHash {
        ContentHash::of(&format!("{VECTOR_RULE}\n{}\n{}\n{}", self.title.len(), self.title, self.text))
    }
}

fn is_verified(source: &str, attributes: &BTreeMap<String, Value>) -> bool {
    is_own_source(source) && attributes.get("verified") == Some(&Value::Bool(true))
}

pub fn key(record: EntryRecord, id: &str) -> String {
    format!("{}:{id}", record.name())
}

/// Of what vectors are made from: equal texts share them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(pub [u8; 32]);

impl ContentHash {
    pub fn of(text: &str) -> ContentHash {
        ContentHash(Sha256::digest(text).into())
    }

    /// The first eight bytes, as the index keeps it beside every entry.
    pub fn short(self) -> u64 {
        self.0.first_chunk::<8>().map(|bytes| u64::from_be_bytes(*bytes)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_a_title_is_part_of_the_hash() {
        let entry = |title: &str, text: &str| {
            let document: Document =
                serde_json::from_value(serde_json::json!({"id": "P1", "kind": "paper", "title": title, "text": text,
                    "lang": "en", "source": "s"}))
                .unwrap();
            Entry::of_document(&document)
        };
        let hash = |title: &str, text: &str| entry(title, text).content_hash();
        assert_eq!(entry("Ginger and", "nausea").passage(), entry("Ginger", "and nausea").passage());
        assert_ne!(hash("Ginger and", "nausea"), hash("Ginger", "and nausea"));
        assert_ne!(hash("Ginger", "nausea"), ContentHash::of(&entry("Ginger", "nausea").passage()));
    }
}
