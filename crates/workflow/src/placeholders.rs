//! Ids that are still to be given: `HLS-AAA`, `HLS-BBB`, … in a document that is not yet approved.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalogue::Catalogue;
use crate::ids::parse_number;

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

/// Every id-like word of a known type, in order. A longer word (`HLS-AAAB`, `XHLS-AAA`, `HLS-AAA-1`) is another word.
pub fn tokens<'a>(catalogue: &Catalogue, text: &'a str) -> Vec<Token<'a>> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' || byte >= 0x80;
    let bytes = text.as_bytes();
    let (mut found, mut line, mut at) = (Vec::new(), 1, 0);
    while let Some(byte) = bytes.get(at) {
        if !is_word(*byte) {
            line += usize::from(*byte == b'\n');
            at += 1;
            continue;
        }
        let length = bytes.iter().skip(at).take_while(|byte| is_word(**byte)).count();
        // The word `-` or `HLS-012-` of a list or a dash keeps its core.
        let word = text.get(at..at + length).unwrap_or_default().trim_end_matches('-');
        if let Some((prefix, rest)) = split(catalogue, word) {
            found.push(Token { text: word, prefix, rest, start: at, line });
        }
        at += length;
    }
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

/// Puts the final id in the place of each placeholder, and touches no longer word.
pub fn replace(catalogue: &Catalogue, text: &str, mapping: &BTreeMap<String, String>) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut from = 0;
    for token in tokens(catalogue, text) {
        let Some(id) = mapping.get(token.text) else { continue };
        replaced.push_str(text.get(from..token.start).unwrap_or_default());
        replaced.push_str(id);
        from = token.start + token.text.len();
    }
    replaced.push_str(text.get(from..).unwrap_or_default());
    replaced
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
        let text = "HLS-AAA, (HLS-AAA) HLS-AAAA HLS-AAA-x xHLS-AAA #hls-aaa HLS-AAA";
        let expected = "HLS-012, (HLS-012) HLS-AAAA HLS-AAA-x xHLS-AAA #hls-aaa HLS-012";
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
