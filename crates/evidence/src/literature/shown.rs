//! A paper as Markdown for models, and as entries of a bibliography.

use contract::evidence::pubmed::BibliographyEntry;
use contract::evidence::record::{Author, Document, Source};
use contract::evidence::starter::is_own_source;

use crate::network::quoted::ticked;

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

/// One paper with everything.
pub fn details(document: &Document, credit: Option<&Credit>) -> String {
    let mut parts = vec![format!("# {}", one_line(&document.title)), head(document, usize::MAX)];
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
    if let Some(retraction) = document.doubt() {
        let what = retraction.words().to_uppercase();
        let by = retraction.source.map(|source| format!("by {}", ticked(&source)));
        let why: Vec<String> = retraction.notice.iter().map(|notice| ticked(notice)).chain(by).collect();
        lines.push(format!("**{what}** ({})", why.join(", ")));
    }
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
