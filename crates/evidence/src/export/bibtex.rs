//! BibTeX.

use contract::evidence::record::{Author, Document};

use super::{attribute, doi, id, link, plain, terms, warning};

pub fn bibtex(document: &Document, licence: &str) -> String {
    let key: String = document.id.chars().filter(char::is_ascii_alphanumeric).collect();
    let authors: Vec<String> = document.authors.iter().map(author).collect();
    let year = document.year.map(|year| year.to_string());
    let text = |value: Option<String>| value.map(|value| escaped(&value));
    let fields = [
        // Braces keep capitals as they are.
        ("title", Some(format!("{{{}}}", escaped(&document.title)))),
        ("author", (!authors.is_empty()).then(|| authors.join(" and "))),
        ("journal", text(document.journal.clone())),
        ("year", year),
        ("volume", text(attribute(document, "volume"))),
        ("number", text(attribute(document, "issue"))),
        ("pages", attribute(document, "pages").map(|pages| escaped(&pages).replace('-', "--"))),
        ("doi", text(doi(document))),
        ("pmid", text(id(document, "pmid"))),
        ("pmcid", text(id(document, "pmc"))),
        ("url", text(link(document))),
        ("note", text(warning(document))),
        ("copyright", text(terms(document, licence))),
    ];
    let kind = if document.journal.is_some() { "article" } else { "misc" };
    let lines: String =
        fields.into_iter().filter_map(|(name, value)| Some(format!("  {name} = {{{}}},\n", value?))).collect();
    format!("@{kind}{{{key},\n{lines}}}\n")
}

fn author(author: &Author) -> String {
    let given = author.fore.as_deref().or(author.initials.as_deref());
    match given {
        Some(given) => format!("{}, {}", part(&author.last), part(given)),
        // Braces keep the name of a group in one piece.
        None => format!("{{{}}}", escaped(&author.last)),
    }
}

/// A part of a person's name, in braces where BibTeX would take it for several parts or several people.
fn part(name: &str) -> String {
    let is_several = name.contains(',') || name.split_whitespace().any(|word| word.eq_ignore_ascii_case("and"));
    if is_several { format!("{{{}}}", escaped(name)) } else { escaped(name) }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in plain(text).chars() {
        match character {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', character]),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '\\' => out.push_str("\\textbackslash{}"),
            other => out.push(other),
        }
    }
    out
}
