//! Placeholders that stand in comments and code alone: no reader sees the document that one stands for.

use std::collections::BTreeSet;

use super::{Token, find, tokens};
use crate::catalogue::Catalogue;
use crate::markdown::Document;

/// The first placeholder that the text has in comments and fenced code only.
pub fn find_unshown<'a>(catalogue: &Catalogue, text: &'a str) -> Option<Token<'a>> {
    let found = find(catalogue, text);
    if found.is_empty() {
        return None;
    }
    let mut shown = BTreeSet::new();
    for line in Document::parse(text).lines().iter().filter(|line| !line.is_code) {
        shown.extend(tokens(catalogue, &line.seen()).into_iter().map(|token| token.text.to_owned()));
    }
    found.into_iter().find(|token| !shown.contains(token.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_that_no_reader_sees_is_named_with_its_line() {
        let catalogue = Catalogue::built_in().unwrap();
        let found = |text: &str| find_unshown(&catalogue, text).map(|token| (token.text.to_owned(), token.line));
        for text in ["HLS-AAA\n<!-- then HLS-BBB -->", "HLS-AAA\n~~~ HLS-BBB\n~~~", "HLS-AAA <!--\nHLS-BBB\n-->"] {
            assert_eq!(found(text), Some(("HLS-BBB".to_owned(), 2)), "{text}");
        }
        for text in ["<!-- HLS-AAA -->\n### HLS-AAA: x", "`HLS-AAA`", "```\nHLS-AAA\n```\nHLS-AAA_v1.md", "```\nx\n```"]
        {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
