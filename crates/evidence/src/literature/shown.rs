//! A paper as Markdown for models, and as entries of a bibliography.

use contract::evidence::pubmed::BibliographyEntry;
use contract::evidence::record::{Author, Document, Source};
use contract::evidence::starter::is_own_source;
use serde_json::Value;

use crate::network::quoted::ticked;
use crate::rest;

/// Where a paper is from and on which terms, as shown beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credit {
    pub title: String,
    pub licence: String,
    pub notice: Option<String>,
}

impl From<Source> for Credit {
    fn from(source: Source) -> Credit {
        Credit { title: source.title, licence: source.licence, notice: source.notice }
    }
}

/// The first ones stand for the others.
const AUTHORS_SHOWN_MAX: usize = 5;
/// Corrections and terms that are named.
const NAMED_MAX: usize = 10;
/// An abstract in a list of results is cut after this.
const ABSTRACT_CHARS_MAX: usize = 2_000;

pub fn bibliography(documents: &[Document]) -> Vec<BibliographyEntry> {
    let entry = |document: &Document| BibliographyEntry {
        authors: document.authors.iter().map(short).collect(),
        year: document.year,
        title: document.title.clone(),
        journal: document.journal.clone().unwrap_or_default(),
        pmid: document.ids.get("pmid").cloned().unwrap_or_default(),
        id: (!document.ids.contains_key("pmid")).then(|| document.id.clone()),
        retraction: document.retraction.as_ref().map(|retraction| retraction.kind),
        retraction_source: document.doubt().and_then(|retraction| retraction.source),
        withdrawn: document.is_withdrawn(),
    };
    documents.iter().map(entry).collect()
}

/// The terms of the paper itself, where its record states them: they outweigh those of the collection.
pub fn own_terms(document: &Document) -> Option<&str> {
    ["licence", "copyright"].iter().find_map(|it| document.attributes.get(*it)?.as_str())
}

/// `Last I`; a group by its name.
fn short(author: &Author) -> String {
    let initials = author.initials.clone().or_else(|| {
        let fore = author.fore.as_deref()?;
        Some(fore.split([' ', '-']).filter_map(|word| word.chars().next()).collect())
    });
    match initials.filter(|initials| !initials.is_empty()) {
        Some(initials) => format!("{} {initials}", author.last),
        None => author.last.clone(),
    }
}

/// One result of a search.
pub fn article(document: &Document) -> String {
    let mut parts = vec![format!("## {}", one_line(&document.title)), head(document, AUTHORS_SHOWN_MAX)];
    if !document.text.is_empty() {
        let cut: String = document.text.chars().take(ABSTRACT_CHARS_MAX).collect();
        let is_cut = cut.len() < document.text.len();
        let cut = prose(&cut);
        parts.push(if is_cut { format!("{cut} …") } else { cut });
    }
    parts.join("\n\n")
}

/// That a library did not search for some terms of a query, and what it made of the query.
pub fn not_searched(terms: &[String], read_as: Option<&str>) -> String {
    let terms: Vec<String> = terms.iter().map(|term| ticked(term)).collect();
    let read_as = read_as.filter(|it| !it.trim().is_empty()).map(|it| format!("; it read the query as {}", ticked(it)));
    format!(
        "PubMed did not search for {}: what it found was found without that{}",
        rest::first(&terms, NAMED_MAX),
        read_as.unwrap_or_default()
    )
}

/// What a record of a paper says against it, in its source's name; `None` where it says nothing.
pub fn spoken_against(document: &Document) -> Option<String> {
    let doubt = doubt(document);
    let corrected = corrected(document);
    let told: Vec<String> = doubt.into_iter().chain(corrected).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

fn doubt(document: &Document) -> Option<String> {
    let retraction = document.doubt()?;
    let what = retraction.words().to_uppercase();
    let by = retraction.source.map(|source| format!("by {}", ticked(&source)));
    let why: Vec<String> = retraction.notice.iter().map(|notice| ticked(notice)).chain(by).collect();
    Some(format!("**{what}** ({})", why.join(", ")))
}

/// That its errors were corrected elsewhere, in the words of PubMed.
fn corrected(document: &Document) -> Option<String> {
    let corrections = document.attributes.get("corrections").and_then(Value::as_array).into_iter().flatten();
    let is_of_it = |it: &&Value| {
        let kind = it.get("kind").and_then(Value::as_str).unwrap_or_default();
        kind.eq_ignore_ascii_case("ErratumIn")
    };
    let told = corrections.filter(is_of_it).map(|it| {
        let pmid = it.get("pmid").and_then(Value::as_str).map(|pmid| ticked(&format!("PMID:{pmid}")));
        let citation = || it.get("citation").and_then(Value::as_str).map(ticked);
        pmid.or_else(citation).unwrap_or_else(|| "no notice is named".to_owned())
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty())
        .then(|| format!("**CORRECTED** ({}, by {})", rest::first(&told, NAMED_MAX), ticked(&document.source)))
}

/// One paper with everything. `remarks` are ours and stand below its head.
pub fn details(document: &Document, credit: Option<&Credit>, remarks: &[String]) -> String {
    let mut parts = vec![format!("# {}", one_line(&document.title)), head(document, usize::MAX)];
    parts.extend(corrected(document));
    parts.extend(remarks.iter().cloned());
    parts.push("## Abstract".to_owned());
    parts.push(if document.text.is_empty() { "The record has no abstract.".to_owned() } else { prose(&document.text) });
    if !document.links.is_empty() {
        parts.push(document.links.iter().map(|link| format!("- {link}")).collect::<Vec<_>>().join("\n"));
    }
    if let Some(Credit { title, licence, notice }) = credit {
        let notice = notice.as_ref().map(|notice| format!(" {notice}")).unwrap_or_default();
        // Our terms are for our words; the paper keeps its own.
        let terms = if is_own_source(&document.source) {
            format!("licence of this summary: {licence}; the paper itself is under its own terms")
        } else {
            format!("licence: {licence}")
        };
        let own = own_terms(document).map(|own| format!(" The paper itself: {}.", ticked(own))).unwrap_or_default();
        parts.push(format!("Source: {title} ({terms}).{notice}{own}"));
    }
    parts.join("\n\n")
}

fn head(document: &Document, n_authors_max: usize) -> String {
    let mut lines = Vec::new();
    lines.extend(doubt(document));
    if document.is_withdrawn() {
        lines.push(format!("**WITHDRAWN** (by {}; only this is left of its record)", ticked(&document.source)));
    }
    let mut authors: Vec<String> = document.authors.iter().take(n_authors_max).map(short).collect();
    if document.authors.len() > authors.len() {
        authors.push("et al.".to_owned());
    }
    let mut add = |label: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            lines.push(format!("**{label}:** {}", one_line(&value)));
        }
    };
    add("Authors", Some(authors.join(", ")));
    add("Journal", document.journal.clone());
    add("Year", document.year.map(|year| year.to_string()));
    add("PMID", document.ids.get("pmid").cloned());
    add("DOI", document.ids.get("doi").cloned());
    let is_named = ["pmid", "doi"].iter().any(|kind| document.ids.contains_key(*kind));
    add("ID", (!is_named).then(|| document.id.clone()));
    lines.join("\n")
}

/// The words of a paper: none of its lines passes for a heading or a line about another paper.
fn prose(text: &str) -> String {
    let line = |line: &str| {
        let is_ours = ["#", "**"].iter().any(|mark| line.trim_start().starts_with(mark));
        if is_ours { format!("\\{}", line.trim_start()) } else { line.to_owned() }
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_an_abstract_passes_for_another_paper() {
        let text = "Ginger.\n## Another paper\n **PMID:** 7\nIt is #1.";
        assert_eq!(prose(text), "Ginger.\n\\## Another paper\n\\**PMID:** 7\nIt is #1.");
    }
}
