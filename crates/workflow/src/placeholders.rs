//! Ids that are still to be given: `HLS-AAA`, `HLS-BBB`, … in a document that is not yet approved.

mod defined;
mod hidden;
mod title;
mod twice;
mod unfit;
mod unnumbered;
mod unshown;

use std::collections::{BTreeMap, BTreeSet};

use crate::catalogue::Catalogue;
use crate::ids::parse_number;

pub use defined::{Defined, find_defined, find_odd};
pub use hidden::find_hidden;
pub use twice::{Twice, find_twice};
pub use unfit::{find_foreign, find_second};
pub use unnumbered::find_unnumbered;
pub use unshown::find_unshown;

/// How a placeholder is written, for who wrote one otherwise.
pub const HOW_WRITTEN: &str = "write the placeholder alone, in capitals and with no mark inside";

/// What is wrong with a word that [`find_unnumbered`] finds.
pub const NO_ID: &str = "is neither an id nor a placeholder; write an id, or one capital three times as in HLS-AAA";

/// What is wrong with a placeholder that [`find_unshown`] finds.
pub const UNSHOWN: &str = "stands in a comment or in code alone; write it into the text, or take it out";

/// An id-like word in a text: a known prefix, a hyphen, and letters or digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    pub text: &'a str,
    pub prefix: &'a str,
    pub rest: &'a str,
    /// Where it begins, in bytes.
    pub start: usize,
    pub line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `PRD-006`.
    Final,
    /// `HLS-AAA` to `HLS-ZZZ`, then `HLS-AAAA` and on.
    Placeholder,
    /// Neither: `HLS-ABC`, `PRD-06`, `PRD-0006`.
    Malformed,
}

impl Token<'_> {
    pub fn kind(&self) -> Kind {
        let bytes = self.rest.as_bytes();
        let is_one_letter = bytes.first().is_some_and(|first| {
            first.is_ascii_uppercase() && bytes.iter().all(|byte| byte == first) && (3..=4).contains(&bytes.len())
        });
        if is_one_letter {
            return Kind::Placeholder;
        }
        if parse_number(self.rest).is_some() { Kind::Final } else { Kind::Malformed }
    }
}

/// Every id-like word of a known type, in order. A longer word (`HLS-AAAB`, `XHLS-AAA`, `HLS-AAA-1`) is another word; a
/// file name (`HLS-AAA_v1.md`) and a range (`HLS-AAA-HLS-CCC`) hold the placeholders that they are made of.
pub fn tokens<'a>(catalogue: &Catalogue, text: &'a str) -> Vec<Token<'a>> {
    let mut found = Vec::new();
    for word in words(text) {
        match split(catalogue, word.text) {
            Some((prefix, rest)) => found.push(Token { text: word.text, prefix, rest, ..word }),
            None => found.extend(parts(catalogue, &word)),
        }
    }
    found
}

/// Words without the hyphens around them, each as a token of no type.
///
/// Letters that have no capitals (Thai, Chinese) are written without spaces around a foreign word, so they end one, as
/// quotes, dashes and arrows do.
fn words(text: &str) -> impl Iterator<Item = Token<'_>> {
    let is_word = |c: char| {
        c.is_ascii_alphanumeric() || c == '_' || c == '-' || (!c.is_ascii() && (c.is_lowercase() || c.is_uppercase()))
    };
    text.split('\n')
        .enumerate()
        .scan(0, move |line_start, (index, line)| {
            let start = *line_start;
            *line_start += line.len() + 1;
            Some((index + 1, start, line))
        })
        .flat_map(move |(number, line_start, line)| {
            line.split(move |c| !is_word(c)).filter(|word| !word.is_empty()).map(move |word| {
                let text = word.trim_matches('-');
                Token { text, prefix: "", rest: "", start: line_start + offset(line, text), line: number }
            })
        })
}

/// Where a slice of a text begins in it.
fn offset(text: &str, slice: &str) -> usize {
    slice.as_ptr().addr() - text.as_ptr().addr()
}

/// The placeholders of a word that is put together of nothing but ids, or that goes on after `_`.
fn parts<'a>(catalogue: &Catalogue, word: &Token<'a>) -> Vec<Token<'a>> {
    let mut found = Vec::new();
    for part in word.text.split('_').map(|part| part.trim_matches('-')) {
        let pieces: Vec<&str> = part.split('-').collect();
        let ids: Vec<&str> = pieces
            .chunks(2)
            .map_while(|pair| {
                let (first, last) = (pair.first()?, pair.get(1)?);
                part.get(offset(part, first)..offset(part, last) + last.len())
            })
            .collect();
        let is_whole = ids.len() * 2 == pieces.len() && ids.iter().all(|id| split(catalogue, id).is_some());
        for id in ids.into_iter().filter(|_| is_whole) {
            let Some((prefix, rest)) = split(catalogue, id) else { continue };
            let start = word.start + offset(word.text, id);
            found.push(Token { text: id, prefix, rest, start, line: word.line });
        }
    }
    // A finished document's file name is a name of its own; only what still gets its number is looked for in it.
    found.retain(|token| token.kind() == Kind::Placeholder);
    found
}

fn split<'a>(catalogue: &Catalogue, word: &'a str) -> Option<(&'a str, &'a str)> {
    let (prefix, rest) = word.split_once('-')?;
    let is_id_like = (2..=9).contains(&rest.len())
        && (rest.bytes().all(|byte| byte.is_ascii_digit()) || rest.bytes().all(|byte| byte.is_ascii_uppercase()));
    let is_known = catalogue.types().iter().any(|kind| kind.prefix.as_deref() == Some(prefix));
    (is_id_like && is_known).then_some((prefix, rest))
}

/// The placeholders of a text, each once, in the order of their first appearance, with the line of it.
///
/// `XXX` is the twenty-fourth placeholder and also what templates write for "some number": it counts as a placeholder
/// only where `WWW` of the same type is there too.
pub fn find<'a>(catalogue: &Catalogue, text: &'a str) -> Vec<Token<'a>> {
    let mut seen = BTreeSet::new();
    let all = tokens(catalogue, text).into_iter().filter(|token| token.kind() == Kind::Placeholder);
    let found: Vec<Token<'a>> = all.filter(|token| seen.insert(token.text)).collect();
    let is_reached = |token: &Token<'_>| {
        token.rest != "XXX" || found.iter().any(|other| other.prefix == token.prefix && other.rest == "WWW")
    };
    found.iter().filter(|token| is_reached(token)).copied().collect()
}

/// Template tokens such as `US-XXX`, with their lines: see [`find`].
pub fn find_template_tokens<'a>(catalogue: &Catalogue, text: &'a str) -> Vec<Token<'a>> {
    let placeholders: BTreeSet<&str> = find(catalogue, text).iter().map(|token| token.text).collect();
    let all = tokens(catalogue, text).into_iter();
    all.filter(|token| token.rest == "XXX" && !placeholders.contains(token.text)).collect()
}

/// Puts the final id in the place of each placeholder, and touches no longer word. Links to a heading of this document
/// (`#hls-aaa-title`) follow the heading.
pub fn replace(catalogue: &Catalogue, text: &str, mapping: &BTreeMap<String, String>) -> String {
    let ids = tokens(catalogue, text).into_iter();
    let ids = ids.filter_map(|token| Some((token.start, token.text.len(), mapping.get(token.text)?.clone())));
    let mut changes: Vec<(usize, usize, String)> = ids.chain(anchor_changes(text, mapping)).collect();
    changes.sort_unstable();
    let mut replaced = String::with_capacity(text.len());
    let mut from = 0;
    for (start, length, id) in changes {
        replaced.push_str(text.get(from..start).unwrap_or_default());
        replaced.push_str(&id);
        from = start + length;
    }
    replaced.push_str(text.get(from..).unwrap_or_default());
    replaced
}

/// Where an anchor holds a placeholder in small letters: start, length and what it becomes.
fn anchor_changes(text: &str, mapping: &BTreeMap<String, String>) -> Vec<(usize, usize, String)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let mut changes = Vec::new();
    for (at, _) in text.match_indices('#') {
        let rest = text.get(at + 1..).unwrap_or_default();
        let anchor = rest.split(|c| !is_part(c)).next().unwrap_or_default();
        for (placeholder, id) in mapping {
            let placeholder = placeholder.to_ascii_lowercase();
            for (start, _) in anchor.match_indices(&placeholder) {
                let before = anchor.get(..start).and_then(|before| before.chars().next_back());
                let after = anchor.get(start + placeholder.len()..).and_then(|after| after.chars().next());
                if ![before, after].into_iter().flatten().any(char::is_alphanumeric) {
                    changes.push((at + 1 + start, placeholder.len(), id.to_ascii_lowercase()));
                }
            }
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_found(text: &str, expected: &[&str]) {
        let catalogue = Catalogue::built_in().unwrap();
        let found: Vec<&str> = find(&catalogue, text).iter().map(|token| token.text).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn placeholders_come_in_the_order_of_their_first_appearance() {
        check_found("HLS-CCC then HLS-AAA, HLS-BBB and HLS-AAA again", &["HLS-CCC", "HLS-AAA", "HLS-BBB"]);
        check_found("**HLS-AAA:** [HLS-BBB](#x) `HLS-CCC`.", &["HLS-AAA", "HLS-BBB", "HLS-CCC"]);
        check_found("HLS-AAAA after HLS-ZZZ", &["HLS-AAAA", "HLS-ZZZ"]);
    }

    #[test]
    fn what_only_looks_like_one_is_none() {
        check_found("HLS-AAB HLS-AAAAA XHLS-AAA HLS-AAA-1 hls-aaa HLS-AAÄ POEM-AAA HLS_AAA HLS-AA HLS-012", &[]);
    }

    #[test]
    fn placeholders_are_seen_whatever_stands_around_them() {
        for text in
            ["“HLS-AAA”", "x→HLS-AAA…", "HLS-AAA’s", "เรื่องHLS-AAAก่อน", "HLS-AAA\u{a0}x", "_HLS-AAA_", "-HLS-AAA"]
        {
            check_found(text, &["HLS-AAA"]);
        }
        check_found("HLS-AAA–HLS-CCC", &["HLS-AAA", "HLS-CCC"]);
        check_found("HLS-AAA-HLS-BBB", &["HLS-AAA", "HLS-BBB"]);
        check_found("mcp://resources/artifacts/hls/HLS-AAA_login_v1.md", &["HLS-AAA"]);
    }

    #[test]
    fn links_to_a_heading_follow_it() {
        let catalogue = Catalogue::built_in().unwrap();
        let mapping = BTreeMap::from([("HLS-AAA".to_owned(), "HLS-051".to_owned())]);
        let text = "[“HLS-AAA”](#hls-aaa-title) [x](#story-hls-aaa) #hls-aaab HLS-AAA_v1\n### HLS-AAA: Title";
        let expected = "[“HLS-051”](#hls-051-title) [x](#story-hls-051) #hls-aaab HLS-051_v1\n### HLS-051: Title";
        assert_eq!(replace(&catalogue, text, &mapping), expected);
    }

    #[test]
    fn xxx_is_a_placeholder_only_where_the_sequence_has_reached_it() {
        check_found("US-XXX", &[]);
        check_found("US-WWW US-XXX HLS-XXX", &["US-WWW", "US-XXX"]);
        let catalogue = Catalogue::built_in().unwrap();
        let tokens = find_template_tokens(&catalogue, "a\nUS-XXX");
        assert_eq!(tokens.iter().map(|token| (token.text, token.line)).collect::<Vec<_>>(), [("US-XXX", 2)]);
    }

    #[test]
    fn a_replacement_touches_no_longer_word() {
        let catalogue = Catalogue::built_in().unwrap();
        let mapping = BTreeMap::from([("HLS-AAA".to_owned(), "HLS-012".to_owned())]);
        let text = "HLS-AAA, (HLS-AAA) HLS-AAAA HLS-AAA-x xHLS-AAA hls-aaa HLS-AAA";
        let expected = "HLS-012, (HLS-012) HLS-AAAA HLS-AAA-x xHLS-AAA hls-aaa HLS-012";
        assert_eq!(replace(&catalogue, text, &mapping), expected);
    }

    proptest::proptest! {
        #[test]
        fn replacing_nothing_changes_nothing(text in "(?s)[HLSPRDA\\-0-9 \nö]{0,80}") {
            let catalogue = Catalogue::built_in().unwrap();
            proptest::prop_assert_eq!(replace(&catalogue, &text, &BTreeMap::new()), text.clone());
            for token in tokens(&catalogue, &text) {
                proptest::prop_assert_eq!(text.get(token.start..token.start + token.text.len()), Some(token.text));
            }
        }
    }
}
