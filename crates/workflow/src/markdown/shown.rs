//! A line as its reader sees it.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use unicode_normalization::UnicodeNormalization;

use crate::metadata::is_invisible;

/// What a browser shows nothing of, or a space, or a dash; and characters by their number.
#[expect(clippy::expect_used, reason = "the expression is a constant, and the tests use it")]
static MARKUP: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?P<space><br\b[^<>]*>|&(?:nbsp|ensp|emsp|thinsp|Tab|NewLine);)|(?P<dash>&(?:hyphen|dash|ndash|mdash|minus);)",
        r"|<!--.*?-->|</?[A-Za-z][^<>]*>|&(?:shy|zwj|zwnj);",
        r"|&#(?:[xX](?P<hex>[0-9A-Fa-f]{1,6})|(?P<dec>[0-9]{1,7}));"
    ))
    .expect("a regex")
});

/// A line as its reader sees it, if that is not how it is written: without emphasis, tags, escapes and what takes no room,
/// every dash a hyphen.
pub fn as_shown(line: &str) -> Option<String> {
    let is_dressed = |c: char| !c.is_ascii() || ['*', '_', '`', '~', '\\', '<', '&'].contains(&c);
    if !line.contains(is_dressed) {
        return None;
    }
    let bare = MARKUP.replace_all(line, |found: &Captures<'_>| {
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
    // Letters in other shapes, wide or bold ones of mathematics, are read as the letters.
    let shown = bare.nfkc().filter(|c| !is_invisible(*c) && !['\u{ad}', '*', '_', '`', '~', '\\'].contains(c));
    let shown = shown.map(|c| match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' => '-',
        _ => latin(c),
    });
    Some(shown.collect())
}

/// The Latin capital that a Cyrillic or Greek one looks like.
fn latin(c: char) -> char {
    const ALIKE: [(&str, char); 16] = [
        ("АΑ", 'A'),
        ("ВΒ", 'B'),
        ("С", 'C'),
        ("ЕΕ", 'E'),
        ("НΗ", 'H'),
        ("ІΙ", 'I'),
        ("Ј", 'J'),
        ("КΚ", 'K'),
        ("МΜ", 'M'),
        ("Ν", 'N'),
        ("ОΟ", 'O'),
        ("РΡ", 'P'),
        ("Ѕ", 'S'),
        ("ТΤ", 'T'),
        ("ХΧ", 'X'),
        ("УΥ", 'Y'),
    ];
    ALIKE.iter().find(|(alike, _)| alike.contains(c)).map_or(c, |(_, latin)| *latin)
}
