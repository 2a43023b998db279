//! CSL-JSON.

use contract::evidence::record::{Author, Document};
use serde_json::{Map, Value, json};

use super::{attribute, warning};

pub fn csl(document: &Document, licence: &str) -> Value {
    let id = |key: &str| document.ids.get(key).cloned();
    let authors: Vec<Value> = document.authors.iter().map(author).collect();
    let members = [
        ("id", json!(document.id)),
        ("type", json!(if document.journal.is_some() { "article-journal" } else { "document" })),
        ("title", json!(document.title)),
        ("author", if authors.is_empty() { Value::Null } else { json!(authors) }),
        ("issued", document.year.map_or(Value::Null, |year| json!({ "date-parts": [[year]] }))),
        ("container-title", json!(document.journal)),
        ("volume", json!(attribute(document, "volume"))),
        ("issue", json!(attribute(document, "issue"))),
        ("page", json!(attribute(document, "pages"))),
        ("DOI", json!(id("doi"))),
        ("PMID", json!(id("pmid"))),
        ("PMCID", json!(id("pmc"))),
        ("URL", json!(document.links.first())),
        ("abstract", json!(Some(&document.text).filter(|text| !text.is_empty()))),
        ("language", json!(document.lang)),
        ("note", json!(warning(document))),
        ("license", json!(licence)),
    ];
    let told = members.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(told.map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>())
}

fn author(author: &Author) -> Value {
    match author.fore.as_ref().or(author.initials.as_ref()) {
        Some(given) => json!({ "family": author.last, "given": given }),
        None => json!({ "literal": author.last }),
    }
}
