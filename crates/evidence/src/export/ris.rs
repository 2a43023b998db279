//! RIS.

use contract::evidence::record::Document;

use super::{attribute, doi, id, language, link, plain, terms, warning};

pub fn ris(document: &Document, licence: &str) -> String {
    let kind = if document.journal.is_some() { "JOUR" } else { "GEN" };
    let mut lines = vec![("TY", kind.to_owned()), ("TI", document.title.clone())];
    lines.extend(document.authors.iter().map(|author| {
        let given = author.fore.as_deref().or(author.initials.as_deref());
        ("AU", given.map_or_else(|| author.last.clone(), |given| format!("{}, {given}", author.last)))
    }));
    let pages = attribute(document, "pages");
    let (first, last) = match pages.as_deref().map(|pages| pages.split_once('-').unwrap_or((pages, ""))) {
        Some((first, last)) => (Some(first.to_owned()), Some(last.to_owned()).filter(|last| !last.is_empty())),
        None => (None, None),
    };
    let optional = [
        ("PY", document.year.map(|year| year.to_string())),
        ("JO", document.journal.clone()),
        ("VL", attribute(document, "volume")),
        ("IS", attribute(document, "issue")),
        ("SP", first),
        ("EP", last),
        ("DO", doi(document)),
        ("AN", id(document, "pmid")),
        ("UR", link(document)),
        ("LA", language(document)),
        ("AB", Some(document.text.clone()).filter(|text| !text.is_empty())),
        ("N1", warning(document)),
        ("C1", terms(document, licence)),
    ];
    lines.extend(optional.into_iter().filter_map(|(tag, value)| Some((tag, value?))));
    lines.push(("ER", String::new()));
    // A value is one line; a reader takes what follows a break for another field.
    lines.iter().map(|(tag, value)| format!("{tag}  - {}\n", plain(value))).collect()
}
