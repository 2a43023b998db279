//! Names as they are compared: whatever the script, the case, or the way in which marks were typed.

use contract::canonical;
use contract::character::is_invisible;
use unicode_normalization::UnicodeNormalization as _;

/// A hash of a name that is compared. Thirty-two bits would meet by chance among a million names; sixty-four do not.
pub type NameHash = u64;

/// What typists and typesetters write for the apostrophe.
pub const APOSTROPHES: [char; 3] = ['\u{2018}', '\u{2019}', '\u{2bc}'];

/// Compatible forms are one (full-width letters, ligatures, the two ways to write ำ), case is folded, invisible
/// characters are dropped (Thai text is full of zero-width spaces), every white space is one space, every apostrophe is
/// the plain one, and a full stop that ends a word (`St. John's wort`) is none. Letters that look alike stay apart.
pub fn normalise(name: &str) -> String {
    let folded = name.nfkc().flat_map(char::to_lowercase).filter(|c| !is_invisible(*c));
    let mut text = String::with_capacity(name.len());
    for c in folded {
        match c {
            // Final sigma and sharp s have no lower-case form that would make them equal to their upper case.
            'ς' => text.push('σ'),
            'ß' => text.push_str("ss"),
            c if APOSTROPHES.contains(&c) => text.push('\''),
            // Two เ look like แ and are often typed for it.
            'เ' if text.ends_with('เ') => {
                text.pop();
                text.push('แ');
            }
            c if c.is_whitespace() => {
                drop_full_stop(&mut text);
                if !text.is_empty() && !text.ends_with(' ') {
                    text.push(' ');
                }
            }
            // A tone mark belongs before the decomposed sara am; some keyboards put it between or after.
            c if is_thai_tone(c) && text.ends_with("\u{e4d}\u{e32}") => {
                text.truncate(text.len() - "\u{e4d}\u{e32}".len());
                text.push(c);
                text.push_str("\u{e4d}\u{e32}");
            }
            c if is_thai_tone(c) && text.ends_with('\u{e4d}') => {
                text.pop();
                text.push(c);
                text.push('\u{e4d}');
            }
            c => text.push(c),
        }
    }
    text.truncate(text.trim_end().len());
    drop_full_stop(&mut text);
    text
}

fn drop_full_stop(text: &mut String) {
    if text.len() > 1 && text.ends_with('.') {
        text.pop();
    }
}

pub fn hash(name: &str) -> NameHash {
    shortened(canonical::digest(normalise(name).as_bytes()).as_slice())
}

/// A hash of an id as it is written.
pub fn hash_exactly(id: &str) -> NameHash {
    shortened(canonical::digest(id.as_bytes()).as_slice())
}

fn shortened(digest: &[u8]) -> NameHash {
    digest.iter().take(8).fold(0, |hash, byte| (hash << 8) | u64::from(*byte))
}

pub fn is_thai_tone(c: char) -> bool {
    matches!(c, '\u{e48}'..='\u{e4b}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(a: &str, b: &str) {
        assert_eq!(normalise(a), normalise(b), "{a} {b}");
    }

    #[test]
    fn names_that_look_alike_are_one() {
        check("Ginger", "gINGER");
        check("  Zingiber\u{a0}officinale ", "zingiber officinale");
        check("ＧＡＢＡ", "gaba");
        check("Straße", "STRASSE");
        check("น้ำ", "น\u{e49}\u{e4d}\u{e32}");
        check("น้ำ", "น\u{e4d}\u{e49}\u{e32}");
        check("แก้", "เเก้");
        check("ฟ้า\u{200b}ทะลาย\u{200b}โจร", "ฟ้าทะลายโจร");
        check("gin\u{fe0f}g\u{34f}er\u{e0041}", "ginger");
        check("e\u{301}", "É");
        check("St. John’s wort", "st john's wort");
        check("Zingiber officinale Roscoe.", "zingiber officinale roscoe");
    }

    #[test]
    fn names_that_differ_stay_apart() {
        for (a, b) in
            [("ขา", "ข่า"), ("ขิง", "ข่า"), ("vitamin b1", "vitamin b12"), ("", "x"), ("ทอง", "ฑอง"), ("gіnger", "ginger")]
        {
            assert_ne!(normalise(a), normalise(b));
            assert_ne!(hash(a), hash(b));
        }
    }
}
