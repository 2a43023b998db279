//! Records in the formats of others: citations for documents, KGX for the graph. Terms of use go along in each, except
//! where they are those of our summary and not of the paper. No control character reaches a citation.

mod bibtex;
mod csl;
mod kgx;
mod ris;

pub use bibtex::bibtex;
pub use csl::csl;
pub use kgx::{kgx_edge, kgx_node};
pub use ris::ris;

use contract::evidence::record::Document;
use contract::evidence::starter::is_own_source;
use serde_json::Value;

use crate::import;

/// An attribute that is a text.
fn attribute(document: &Document, key: &str) -> Option<String> {
    document.attributes.get(key).and_then(Value::as_str).map(plain)
}

fn journal(document: &Document) -> Option<String> {
    document.journal.as_deref().map(plain)
}

/// Text in one line: breaks and tabs become blanks, other control characters go.
fn plain(text: &str) -> String {
    let one_line = |character: char| match character {
        '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => Some(' '),
        other => (!other.is_control()).then_some(other),
    };
    text.chars().filter_map(one_line).collect()
}

/// The language that the paper is written in, which need not be that of its abstract. A title in brackets is a translation: of
/// what, only the record could say.
fn language(document: &Document) -> Option<String> {
    let stated = document.attributes.get("languages").and_then(Value::as_array);
    let stated = stated.and_then(|all| all.first()?.as_str());
    let title = document.title.trim().trim_end_matches('.');
    let is_translated = title.starts_with('[') && title.ends_with(']');
    let code = stated.or_else(|| (!is_translated).then_some(document.lang.as_str()))?;
    Some(import::lang(&plain(code))).filter(|code| code != "und")
}

/// An id of the paper as others write it.
fn id(document: &Document, key: &str) -> Option<String> {
    document.ids.get(key).map(|id| plain(id))
}

/// The DOI, unless it holds what no DOI may: blanks, braces, control characters.
fn doi(document: &Document) -> Option<String> {
    let is_foreign = |character: char| character.is_whitespace() || character.is_control() || "{}".contains(character);
    document.ids.get("doi").filter(|doi| !doi.is_empty() && !doi.contains(is_foreign)).cloned()
}

/// The first link that a browser opens as a page.
fn link(document: &Document) -> Option<String> {
    let is_page = |link: &&String| {
        let scheme = link.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        let is_web = matches!(scheme.as_deref(), Some("http" | "https"));
        is_web && !link.contains(|character: char| character.is_whitespace() || character.is_control())
    };
    document.links.iter().find(is_page).cloned()
}

/// The terms of the paper. Those of the starter data are for the summary that it holds, not for the paper itself.
fn terms(document: &Document, licence: &str) -> Option<String> {
    (document.kind != "paper" || !is_own_source(&document.source)).then(|| plain(licence))
}

/// A reader of a citation must see that the paper does not stand.
fn warning(document: &Document) -> Option<String> {
    let retraction = document.doubt()?;
    let (first, rest) = retraction.words().split_at(1);
    let what = first.to_uppercase() + rest;
    let by = retraction.source.map(|source| format!(" (by {})", plain(&source))).unwrap_or_default();
    let notice = retraction.notice.map(|notice| format!(": {}", plain(&notice))).unwrap_or_default();
    Some(format!("{what}{by}{notice}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document(more: Value) -> Document {
        let mut members =
            json!({"id": "PMID:1", "kind": "paper", "title": "T", "text": "", "lang": "en", "source": "s"});
        members.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(members).unwrap()
    }

    /// BibTeX, RIS and CSL-JSON, one after the other.
    fn citations(more: Value) -> [String; 3] {
        let document = document(more);
        [bibtex(&document, "CC0-1.0"), ris(&document, "CC0-1.0"), csl(&document, "CC0-1.0").to_string()]
    }

    #[test]
    fn ids_and_links_cannot_leave_their_field() {
        let [bibtex, ..] = citations(json!({
            "ids": {"doi": "10.1/a_b%c", "pmid": "1}, x = {y", "pmc": "PMC1#"},
            "links": ["https://example.org/a_b?c={d}"],
        }));
        assert!(bibtex.contains("  doi = {10.1/a\\_b\\%c},\n"), "{bibtex}");
        assert!(bibtex.contains("  pmid = {1\\}, x = \\{y},\n"), "{bibtex}");
        assert!(bibtex.contains("  pmcid = {PMC1\\#},\n"), "{bibtex}");
        assert!(bibtex.contains("  url = {https://example.org/a\\_b?c=\\{d\\}},\n"), "{bibtex}");
    }

    #[test]
    fn a_citation_names_the_language_of_the_paper_and_guesses_none() {
        let told = |more: Value| {
            let [_, ris, csl] = citations(more);
            let ris = ris.lines().find_map(|line| line.strip_prefix("LA  - ")).map(str::to_owned);
            let csl: Value = serde_json::from_str(&csl).unwrap();
            assert_eq!(csl.get("language").and_then(Value::as_str), ris.as_deref(), "{csl}");
            ris
        };
        let in_german = json!({ "lang": "en", "title": "[On ginger].", "attributes": {"languages": ["de", "en"]} });
        assert_eq!(told(in_german).as_deref(), Some("de"));
        assert_eq!(told(json!({ "lang": "en", "attributes": {"languages": ["hrv"]} })).as_deref(), Some("hr"));
        assert_eq!(told(json!({ "lang": "en", "title": "[On ginger]." })), None);
        assert_eq!(told(json!({ "lang": "en", "title": "On ginger" })).as_deref(), Some("en"));
        assert_eq!(told(json!({ "lang": "und" })), None);
    }

    #[test]
    fn one_author_stays_one_in_bibtex() {
        let [bibtex, ..] = citations(json!({ "authors": [
            {"last": "Rock and Roll", "fore": "Al"}, {"last": "Doe, Jr", "fore": "B\tAND C"}, {"last": "Anderson", "fore": "D"},
        ] }));
        let expected = "  author = {{Rock and Roll}, Al and {Doe, Jr}, {B AND C} and Anderson, D},\n";
        assert!(bibtex.contains(expected), "{bibtex}");
    }

    #[test]
    fn what_cannot_be_a_doi_is_left_out() {
        for doi in ["10.1/a b", "10.1/a}", "{10.1/a", "10.1/a\u{0}", "10.1/a\nER  - ", ""] {
            for citation in citations(json!({ "ids": { "doi": doi } })) {
                assert!(!citation.to_lowercase().contains("doi") && !citation.contains("DO  -"), "{citation}");
            }
        }
    }

    #[test]
    fn only_links_of_the_web_are_exported() {
        let links = ["javascript:alert(1)", "file:///etc/passwd", "https://a b", "HTTPS://example.org/1"];
        for citation in citations(json!({ "links": links })) {
            assert!(citation.contains("HTTPS://example.org/1"), "{citation}");
            assert!(!citation.contains("javascript") && !citation.contains("file:"), "{citation}");
        }
    }

    #[test]
    fn no_control_character_reaches_a_citation() {
        let dirty = "a\u{0}\u{1}b\r\nTY  - \u{85}\u{2028}c\u{9f}";
        let found = citations(json!({
            "id": dirty, "title": dirty, "text": dirty, "journal": dirty, "lang": "en\u{0}",
            "authors": [{"last": dirty, "fore": dirty}, {"last": dirty}],
            "ids": {"pmid": dirty, "pmc": dirty},
            "attributes": {"volume": dirty, "issue": dirty, "pages": dirty},
            "retraction": {"kind": "retracted", "notice": dirty},
        }));
        for citation in found {
            let is_dirty = |character: char| (character.is_control() && character != '\n') || character == '\u{2028}';
            assert!(!citation.contains(is_dirty) && !citation.contains("\\u0") && !citation.contains("\\n"));
            assert!(!citation.lines().skip(1).any(|line| line.starts_with("TY")), "{citation}");
        }
    }

    #[test]
    fn the_terms_of_our_summary_are_not_those_of_the_paper() {
        let is_told = |more: Value| citations(more).map(|citation| citation.contains("CC0-1.0"));
        assert_eq!(is_told(json!({ "source": "materia" })), [false; 3]);
        assert_eq!(is_told(json!({ "source": "materia:PMID:1" })), [false; 3]);
        assert_eq!(is_told(json!({ "source": "pubmed" })), [true; 3]);
        assert_eq!(is_told(json!({ "source": "materia", "kind": "monograph" })), [true; 3]);
    }
}
