//! CSL-JSON.

use contract::evidence::record::{Author, Document};
use serde_json::{Map, Value, json};

use super::{attribute, doi, id, journal, language, link, plain, terms, warning};

pub fn csl(document: &Document, licence: &str) -> Value {
    let authors: Vec<Value> = document.authors.iter().map(author).collect();
    let members = [
        ("id", json!(plain(&document.id))),
        ("type", json!(if document.journal.is_some() { "article-journal" } else { "document" })),
        ("title", json!(plain(&document.title))),
        ("author", if authors.is_empty() { Value::Null } else { json!(authors) }),
        ("issued", document.year.map_or(Value::Null, |year| json!({ "date-parts": [[year]] }))),
        ("container-title", json!(journal(document))),
        ("volume", json!(attribute(document, "volume"))),
        ("issue", json!(attribute(document, "issue"))),
        ("page", json!(attribute(document, "pages"))),
        ("DOI", json!(doi(document))),
        ("PMID", json!(id(document, "pmid"))),
        ("PMCID", json!(id(document, "pmc"))),
        ("URL", json!(link(document))),
        ("abstract", json!(Some(plain(&document.text)).filter(|text| !text.is_empty()))),
        ("language", json!(language(document))),
        ("note", json!(warning(document))),
        ("license", json!(terms(document, licence))),
    ];
    let told = members.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(told.map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>())
}

fn author(author: &Author) -> Value {
    match author.fore.as_ref().or(author.initials.as_ref()) {
        Some(given) => json!({ "family": plain(&author.last), "given": plain(given) }),
        None => json!({ "literal": plain(&author.last) }),
    }
}
