//! Words that are written as an id and are none, `HLS-ABC` or `HLS-TBD`: the reader sees a document that nobody will make.

use super::hidden::is_in_address;
use super::twice::{cells, is_mark, is_number};
use super::{Kind, Token, words};
use crate::catalogue::{Catalogue, DocumentType};
use crate::markdown::{Document, Line, as_shown, item};

/// A shorter word after the prefix is a word of running text.
const REST_BYTES_MIN: usize = 3;

/// The first word that has the prefix of what a document of this type is cut into, and is neither an id nor a
/// placeholder, with its line.
pub fn find_unnumbered(catalogue: &Catalogue, kind: &DocumentType, text: &str) -> Option<(String, usize)> {
    let children = kind.decomposes_into.iter().filter_map(|child| catalogue.find_type(&child.artifact_type));
    let prefixes: Vec<&str> = children.filter_map(|child| child.prefix.as_deref()).collect();
    let document = Document::parse(text);
    let mut lines = document.lines().iter().filter(|line| !line.is_code);
    lines.find_map(|line| {
        let word = find_titled(&prefixes, line).or_else(|| find_mentioned(&prefixes, line))?;
        Some((word, line.number))
    })
}

/// Prefix and rest of a word in the form of an id, where it is none.
fn split_wrong<'a>(prefixes: &[&str], word: &'a str) -> Option<(&'a str, &'a str)> {
    let (prefix, rest) = word.split_once('-')?;
    let is_id_like = !rest.is_empty() && rest.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit());
    let token = Token { text: word, prefix, rest, start: 0, line: 0 };
    (prefixes.contains(&prefix) && is_id_like && token.kind() == Kind::Malformed).then_some((prefix, rest))
}

/// `### HLS-ABC: Title`, also as an item, as a row of a table or as a line of its own.
fn find_titled(prefixes: &[&str], line: &Line<'_>) -> Option<String> {
    let said = match (line.heading, item(line.text)) {
        (Some(heading), _) => heading.title,
        (None, Some(said)) => said,
        (None, None) if line.text.contains('|') => cells(line.text).into_iter().find(|cell| !is_number(cell))?,
        (None, None) => line.text.trim_start(),
    };
    let shown = as_shown(said);
    let said = shown.as_deref().unwrap_or(said).trim_start_matches(is_mark);
    let word = words(said).next().filter(|word| word.start == 0)?;
    split_wrong(prefixes, word.text)?;
    let after = said.get(word.text.len()..)?.trim_start_matches(is_mark).trim_start();
    (after.is_empty() || after.starts_with([':', '-', '–', '—'])).then(|| word.text.to_owned())
}

/// One that running text speaks of. A prefix of two letters may be a country there: `US-FDA`.
fn find_mentioned(prefixes: &[&str], line: &Line<'_>) -> Option<String> {
    let find = |text: &str| {
        let mut found = words(text).filter(|word| {
            let is_wrong = split_wrong(prefixes, word.text).is_some_and(|(prefix, rest)| {
                prefix.len() > 2 && rest.len() >= REST_BYTES_MIN && rest.bytes().any(|it| it.is_ascii_uppercase())
            });
            is_wrong && !is_in_address(text, word)
        });
        found.next().map(|word| word.text.to_owned())
    };
    let text = line.without_code();
    find(&text).or_else(|| find(&as_shown(&text)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unnumbered(artifact_type: &str, text: &str) -> Option<(String, usize)> {
        let catalogue = Catalogue::built_in().unwrap();
        find_unnumbered(&catalogue, catalogue.find_type(artifact_type).unwrap(), text)
    }

    #[test]
    fn a_story_without_id_or_placeholder_is_named_with_its_line() {
        for rest in ["ABC", "TBD", "NEW", "AAB", "A01", "AA", "1", "0001", "AAAAA", "ABCDEFGHIJKL"] {
            let word = format!("HLS-{rest}");
            for text in
                ["# T\n### W: Log in", "x\n- **W:** Log in", "x\n| 1 | W | Log in |", "x\n**W** – Log in", "x\n### W"]
            {
                let text = text.replace('W', &word);
                assert_eq!(unnumbered("prd", &text), Some((word.clone(), 2)), "{text}");
            }
        }
        assert_eq!(unnumbered("prd", "after HLS-ABC, HLS-AAA"), Some(("HLS-ABC".to_owned(), 1)));
        assert_eq!(unnumbered("hls", "### US-NEW: Log in"), Some(("US-NEW".to_owned(), 1)));
    }

    #[test]
    fn ids_placeholders_and_words_of_running_text_are_left_alone() {
        for text in [
            "### HLS-AAA: Log in\n### HLS-012: Log out\n- HLS-BBBB: x",
            "### US-FDA: clearance\n### PRD-ABC: x",
            "`HLS-ABC` and https://x.org/HLS-ABC and HLS-ABC.md and HLS-v2",
            "```\n### HLS-ABC: Log in\n```",
            "protocols such as HLS-A and HLS-26",
        ] {
            assert_eq!(unnumbered("prd", text), None, "{text}");
        }
        for text in ["as US-FDA and US-GAAP ask", "- US-FDA clearance", "### US-EU data"] {
            assert_eq!(unnumbered("hls", text), None, "{text}");
        }
    }
}
