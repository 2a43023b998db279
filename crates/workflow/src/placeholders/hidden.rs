//! Placeholders in a writing that no id can be put in the place of. Who reads the document sees a placeholder, and would
//! still see one after its approval.

use std::collections::BTreeMap;

use super::{Kind, Token, parts, split, tokens, words};
use crate::catalogue::Catalogue;
use crate::markdown::{Document, Line, as_shown};

/// The first word that hides a placeholder, with its line: `HLS-AAA-1`, `HLS-AAAs`, `**HLS**-AAA`, `hls-aaa`, or one with
/// a character in it that cannot be seen.
pub fn find_hidden(catalogue: &Catalogue, text: &str) -> Option<(String, usize)> {
    for word in words(text).filter(|word| split(catalogue, word.text).is_none()) {
        if parts(catalogue, &word).is_empty() && holds_placeholder(catalogue, word.text) {
            return Some((word.text.to_owned(), word.line));
        }
    }
    let document = Document::parse(text);
    let mut found = document.lines().iter().filter_map(|line| {
        let hidden = find_dressed(catalogue, line.text).or_else(|| find_uncapitalised(catalogue, line))?;
        Some((hidden, line.number))
    });
    found.next()
}

/// Whether a word goes on after a placeholder with a hyphen or a small letter.
fn holds_placeholder(catalogue: &Catalogue, word: &str) -> bool {
    let starts = word.char_indices().filter(|(at, _)| {
        let before = word.get(..*at).and_then(|before| before.chars().next_back());
        before.is_none_or(|before| !before.is_alphanumeric())
    });
    starts.into_iter().any(|(at, _)| {
        let Some((prefix, rest)) = word.get(at..).and_then(|rest| rest.split_once('-')) else { return false };
        let letters = rest.bytes().take_while(u8::is_ascii_uppercase).count();
        let (id, after) = rest.split_at_checked(letters).unwrap_or_default();
        let token = Token { text: id, prefix, rest: id, start: 0, line: 0 };
        let goes_on = after.starts_with(|c: char| c == '-' || c.is_lowercase());
        let is_known = catalogue.types().iter().any(|kind| kind.prefix.as_deref() == Some(prefix));
        goes_on && is_known && token.kind() == Kind::Placeholder
    })
}

/// A placeholder that a line shows more often than it has it.
fn find_dressed(catalogue: &Catalogue, line: &str) -> Option<String> {
    let count = |text: &str| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for token in tokens(catalogue, text).into_iter().filter(|token| token.kind() == Kind::Placeholder) {
            *counts.entry(token.text.to_owned()).or_default() += 1;
        }
        counts
    };
    let plain = as_shown(line)?;
    let had = count(line);
    count(&plain).into_iter().find(|(text, n)| *n > had.get(text).copied().unwrap_or(0)).map(|(text, _)| text)
}

/// A whole word that is a placeholder but for its capitals. Code, addresses and file names are written small for reasons of
/// their own, and an anchor (`#hls-aaa`) follows its heading.
fn find_uncapitalised(catalogue: &Catalogue, line: &Line<'_>) -> Option<String> {
    if line.is_code {
        return None;
    }
    let find = |text: &str| {
        let mut found = words(text).filter(|word| {
            let upper = word.text.to_ascii_uppercase();
            let Some((prefix, rest)) = split(catalogue, &upper) else { return false };
            let token = Token { text: &upper, prefix, rest, ..*word };
            upper != word.text && token.kind() == Kind::Placeholder && !is_in_address(text, word)
        });
        found.next().map(|word| word.text.to_owned())
    };
    let text = line.without_code();
    find(&text).or_else(|| find(&as_shown(&text)?))
}

pub(super) fn is_in_address(line: &str, word: &Token<'_>) -> bool {
    let before = line.get(..word.start).unwrap_or_default();
    let after = line.get(word.start + word.text.len()..).unwrap_or_default();
    let begun = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let is_file = after.strip_prefix('.').is_some_and(|end| end.starts_with(|c: char| c.is_ascii_alphanumeric()));
    is_file || begun.contains("://") || begun.ends_with(['#', '/', '.', '@', '=', '?', '&'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(text: &str) -> Option<(String, usize)> {
        find_hidden(&Catalogue::built_in().unwrap(), text)
    }

    #[test]
    fn a_placeholder_that_no_id_can_take_the_place_of_is_named_with_its_line() {
        assert_eq!(hidden("a\nsee HLS-AAA-1"), Some(("HLS-AAA-1".to_owned(), 2)));
        assert_eq!(hidden("all HLS-AAAs"), Some(("HLS-AAAs".to_owned(), 1)));
        for text in ["“HLS-AAA” HLS-AAA_v1 HLS-AAA-HLS-BBB", "XHLS-AAA HLS-AAAB HLS-012-x HLS_AAA", "ก\u{200b}HLS-AAA"]
        {
            assert_eq!(hidden(text), None, "{text}");
        }
    }

    #[test]
    fn a_placeholder_is_seen_through_what_it_is_dressed_in() {
        for text in [
            "HLS-A\u{200b}AA",
            "HLS-\u{410}\u{410}\u{410}",
            "\u{397}LS-AAA",
            "HLS\u{2011}AAA",
            "HL\u{ad}S-AAA",
            "**HLS**-AAA",
            "HLS-**AAA**",
            "HLS-AAA and _HLS_-AAA",
            "`HLS`-AAA",
            "HLS\\-AAA",
            "HLS–AAA",
            "HLS&#45;AAA",
            "HLS&#x2d;AAA",
            "HLS&ndash;AAA",
            "<b>HLS</b>-AAA",
            "HLS<!-- x -->-AAA",
            "ＨＬＳ－ＡＡＡ",
            "HLS-𝐀𝐀𝐀",
            "𝖧𝖫𝖲-Ⓐ𝔸𝒜",
        ] {
            assert_eq!(hidden(&format!("a\n{text}")), Some(("HLS-AAA".to_owned(), 2)), "{text}");
        }
        for text in [
            "**HLS-AAA**, _HLS-AAA_ and `HLS-AAA`: <b>HLS-AAA</b>",
            "HLS-AAA–HLS-CCC, HLS-AAA — then",
            "HLS-AAA*HLS-BBB",
            "**HLS**: AAA",
        ] {
            assert_eq!(hidden(text), None, "{text}");
        }
    }

    #[test]
    fn a_placeholder_in_small_letters_is_named_and_what_is_rightly_small_is_not() {
        for (text, word) in [
            ("see hls-ccc.", "hls-ccc"),
            ("Hls-Aaa first", "Hls-Aaa"),
            ("**hls-aaa**", "hls-aaa"),
            ("hls-aaa/hls-bbb", "hls-aaa"),
            ("HLS-aaa", "HLS-aaa"),
            ("a ` that nobody closed, and hls-aaa", "hls-aaa"),
        ] {
            assert_eq!(hidden(text), Some((word.to_owned(), 1)), "{text}");
        }
        for text in [
            "us-east, us-west-2, hls-stream, spec-aab, hls-aa, hls-aaaaa",
            "[x](#hls-aaa) [y](#hls-aaa-title) hls-aaa-title",
            "https://x.org/a?b=hls-aaa and hls/hls-aaa.md and hls-bbb.md",
            "`git switch hls-aaa`",
            "```\ngit switch hls-aaa\n```",
        ] {
            assert_eq!(hidden(text), None, "{text}");
        }
    }
}
