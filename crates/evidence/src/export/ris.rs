//! RIS.

use contract::evidence::record::Document;

use super::{attribute, warning};

pub fn ris(document: &Document, licence: &str) -> String {
    let kind = if document.journal.is_some() { "JOUR" } else { "GEN" };
    let mut lines = vec![("TY", kind.to_owned()), ("TI", document.title.clone())];
    lines.extend(document.authors.iter().map(|author| {
        let given = author.fore.as_deref().or(author.initials.as_deref());
        ("AU", given.map_or_else(|| author.last.clone(), |given| format!("{}, {given}", author.last)))
    }));
    let (first, last) = match attribute(document, "pages").map(|pages| pages.split_once('-').unwrap_or((pages, ""))) {
        Some((first, last)) => (Some(first.to_owned()), Some(last.to_owned()).filter(|last| !last.is_empty())),
        None => (None, None),
    };
    let text = |value: Option<&str>| value.map(str::to_owned);
    let optional = [
        ("PY", document.year.map(|year| year.to_string())),
        ("JO", document.journal.clone()),
        ("VL", text(attribute(document, "volume"))),
        ("IS", text(attribute(document, "issue"))),
        ("SP", first),
        ("EP", last),
        ("DO", document.ids.get("doi").cloned()),
        ("AN", document.ids.get("pmid").cloned()),
        ("UR", document.links.first().cloned()),
        ("LA", Some(document.lang.clone())),
        ("AB", Some(document.text.clone()).filter(|text| !text.is_empty())),
        ("N1", warning(document)),
        ("C1", Some(licence.to_owned())),
    ];
    lines.extend(optional.into_iter().filter_map(|(tag, value)| Some((tag, value?))));
    lines.push(("ER", String::new()));
    // A value is one line; a reader takes what follows a break for another field.
    lines.iter().map(|(tag, value)| format!("{tag}  - {}\n", value.replace(['\r', '\n'], " "))).collect()
}
