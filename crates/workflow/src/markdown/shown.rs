//! A line as its reader sees it.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use unicode_normalization::UnicodeNormalization;
use unicode_security::skeleton;

use crate::metadata::is_invisible;

/// What a browser shows nothing of, or a space, or a dash; and characters by their number.
#[expect(clippy::expect_used, reason = "the expression is a constant, and the tests use it")]
static MARKUP: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?P<space><br\b[^<>]*>|&(?:nbsp|ensp|emsp|thinsp|Tab|NewLine);)|(?P<dash>&(?:hyphen|dash|ndash|mdash|minus);)",
        r"|</?[A-Za-z][^<>]*>|&(?:shy|zwj|zwnj);",
        r"|&#(?:[xX](?P<hex>[0-9A-Fa-f]{1,6})|(?P<dec>[0-9]{1,7}));"
    ))
    .expect("a regex")
});

/// In one pass: an expression would look for the end of a comment that has none at each of its beginnings.
fn without_comments(line: &str) -> String {
    let (mut shown, mut rest) = (String::with_capacity(line.len()), line);
    while let Some((before, comment)) = rest.split_once("<!--")
        && let Some((_, after)) = comment.split_once("-->")
    {
        shown.push_str(before);
        rest = after;
    }
    shown.push_str(rest);
    shown
}

/// A line as its reader sees it, if that is not how it is written: without emphasis, tags and escapes, and [`as_read`].
pub fn as_shown(line: &str) -> Option<String> {
    let is_dressed = |c: char| !c.is_ascii() || ['*', '_', '`', '~', '\\', '<', '&'].contains(&c);
    if !line.contains(is_dressed) {
        return None;
    }
    let line = without_comments(line);
    let bare = MARKUP.replace_all(&line, |found: &Captures<'_>| {
        if found.name("space").is_some() {
            return " ".to_owned();
        }
        if found.name("dash").is_some() {
            return "-".to_owned();
        }
        let hex = found.name("hex").and_then(|digits| u32::from_str_radix(digits.as_str(), 16).ok());
        let code = hex.or_else(|| found.name("dec").and_then(|digits| digits.as_str().parse().ok()));
        code.and_then(char::from_u32).map(String::from).unwrap_or_default()
    });
    let bare: String = bare.chars().filter(|c| !['*', '_', '`', '~', '\\'].contains(c)).collect();
    Some(as_read(&bare))
}

/// A text in the letters that its reader takes it for: those in other shapes, wide or bold ones of mathematics, and those
/// of other scripts that look Latin, are the letters; what nobody sees is nothing, and every dash a hyphen.
pub fn as_read(text: &str) -> String {
    let mut read = String::with_capacity(text.len());
    for c in text.nfkc().filter(|c| !is_invisible(*c)) {
        match c {
            '\u{2014}' | '\u{2015}' => read.push('-'),
            c if c.is_ascii() || is_thai(c) => read.push(c),
            c => push_alike(&mut read, c),
        }
    }
    read
}

/// Thai is what most lines here have, and a zero of it is no `o`.
fn is_thai(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{e7f}')
}

/// Adds what a character is taken for, where that is ASCII; else the character itself. The skeletons of Unicode do not
/// tell `I` from `l` and write `m` as `rn`.
fn push_alike(read: &mut String, c: char) {
    let start = read.len();
    read.extend(skeleton(c.encode_utf8(&mut [0; 4])));
    let alike = match read.get(start..).unwrap_or_default() {
        "l" if !c.is_lowercase() => "I".to_owned(),
        "rn" => "m".to_owned(),
        alike if alike.is_ascii() => return,
        _ => c.to_string(),
    };
    read.truncate(start);
    read.push_str(&alike);
}
