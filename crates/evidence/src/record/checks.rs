//! What a record must be beyond its schema: words that are what they look like, and nothing that cannot be shown or told.

use contract::character::is_invisible;
use contract::evidence::starter::OWN_SOURCE;
use serde_json::Value;
use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{UnicodeNormalization as _, is_nfc};

use super::{Unfit, papers};
use crate::graph::names::normalise;

/// Integers that every reader of JSON keeps whole.
const INTEGER_MAX: u64 = 1 << 53;
/// Room for the address of one.
const PREDICATE_CHARS_MAX: usize = 128;
/// Addresses that a browser would run, or open from the reader's own machine.
const SCHEMES_REFUSED: [&str; 7] = ["javascript", "vbscript", "data", "blob", "file", "about", "view-source"];

/// Names and titles are shown on one line, also to those who take each line for a statement.
pub fn check_line(field: &str, text: &str) -> Result<(), Unfit> {
    if text.chars().any(|it| it.is_control() || matches!(it, '\u{2028}' | '\u{2029}')) {
        return Err(Unfit(format!("`{field}`: expected text without line breaks and control characters")));
    }
    if text.contains(turns) {
        return Err(Unfit(format!("`{field}`: expected text without characters that turn the direction of writing")));
    }
    check_tags(field, text)
}

/// Tag letters say something to a model that no reader sees.
pub fn check_tags(field: &str, text: &str) -> Result<(), Unfit> {
    match text.chars().find(|it| is_tag(*it)) {
        Some(tag) => {
            let code = u32::from(tag);
            Err(Unfit(format!("`{field}`: expected text without tag letters, which nobody sees; it has U+{code:04X}")))
        }
        None => Ok(()),
    }
}

pub fn is_tag(character: char) -> bool {
    matches!(character, '\u{e0000}'..='\u{e007f}')
}

/// What a thing is called: it can be seen, and no letter in it passes for another.
pub fn check_name(field: &str, name: &str) -> Result<(), Unfit> {
    check_line(field, name)?;
    if !is_seen(name) {
        return Err(Unfit(format!("`{field}`: expected a name that can be seen")));
    }
    match disguised(name) {
        Some(character) => {
            let (what, code) = ("letters of another script that look like Latin ones", u32::from(character));
            Err(Unfit(format!("`{field}`: expected words without {what}; it has U+{code:04X}")))
        }
        None => Ok(()),
    }
}

/// Whether a text is more than blanks.
pub fn is_seen(text: &str) -> bool {
    text.chars().any(|character| !character.is_whitespace() && !is_unseen(character))
}

/// A letter that looks like a Latin one in a word that has Latin ones. A name may well have words of two scripts.
pub fn disguised(name: &str) -> Option<char> {
    if name.is_ascii() {
        return None;
    }
    let words = name.split(|it: char| !it.is_alphanumeric() && !is_combining_mark(it));
    let mixed = words.filter(|word| word.contains(|it: char| it.is_ascii_alphabetic()));
    mixed.flat_map(str::chars).find(|it| looks_latin(*it))
}

/// What makes a text look otherwise than it is, from its place on.
pub fn turns(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A predicate stands in lines that a model reads, between names.
pub fn check_predicate(predicate: &str) -> Result<(), Unfit> {
    let is_letter = |it: char| it.is_alphanumeric() || is_combining_mark(it) || "_-:./#".contains(it);
    if predicate.chars().count() > PREDICATE_CHARS_MAX || !predicate.chars().all(is_letter) {
        return Err(Unfit(format!(
            "`predicate`: expected a word such as `interacts_with`, of letters, digits and `_-:./#`, and at most \
             {PREDICATE_CHARS_MAX} of them"
        )));
    }
    Ok(())
}

/// Ids, types and predicates are written in addresses and patterns, and compared byte by byte: what looks alike must be
/// alike.
pub fn check_text(field: &str, text: &str) -> Result<(), Unfit> {
    if text.is_empty() || text.trim() != text || text.chars().any(char::is_control) {
        return Err(Unfit(format!("`{field}`: expected text without control characters and outer spaces")));
    }
    if text.is_ascii() {
        return Ok(());
    }
    let refuse = |what: &str, character: char| {
        let code = u32::from(character);
        Err(Unfit(format!("`{field}`: expected text without {what}; it has U+{code:04X}")))
    };
    if let Some(character) = text.chars().find(|it| is_unseen(*it)) {
        return refuse("characters that cannot be seen", character);
    }
    if let Some(character) = text.chars().find(|it| is_styled(*it)) {
        return refuse("letters in another style or width", character);
    }
    if text.contains(|it: char| it.is_ascii_alphabetic())
        && let Some(character) = text.chars().find(|it| looks_latin(*it) || *it == 'ı')
    {
        return refuse("letters of another script that look like Latin ones", character);
    }
    if !is_nfc(text) {
        return Err(Unfit(format!("`{field}`: expected letters and their marks in one character each (NFC)")));
    }
    Ok(())
}

pub fn check_texts(field: &str, texts: &[String]) -> Result<(), Unfit> {
    texts.iter().try_for_each(|text| check_text(field, text))
}

fn is_unseen(character: char) -> bool {
    is_invisible(character) || matches!(character, '\u{2028}' | '\u{2029}' | '\u{2800}')
}

/// Full-width letters, and those of formulas.
fn is_styled(character: char) -> bool {
    matches!(character, '\u{ff01}'..='\u{ff5e}' | '\u{1d400}'..='\u{1d7ff}')
}

/// Cyrillic, Armenian and Cherokee, and the Greek letters that look Latin. The Greek letters of chemists (α, β, κ, μ) do
/// not pass for others.
fn looks_latin(character: char) -> bool {
    matches!(character, '\u{400}'..='\u{58f}' | '\u{13a0}'..='\u{13ff}' | '\u{ab70}'..='\u{abbf}')
        || "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧονιυ".contains(character)
}

/// A document or an address, as whoever shows it makes a link of it.
pub fn check_reference(field: &str, text: &str) -> Result<(), Unfit> {
    check_line(field, text)?;
    // Browsers skip blanks and what cannot be seen.
    let told: String = text.chars().filter(|it| !it.is_whitespace() && !is_unseen(*it)).collect();
    let scheme = told.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase()).unwrap_or_default();
    if let Some(refused) = SCHEMES_REFUSED.into_iter().find(|refused| *refused == scheme) {
        return Err(Unfit(format!("`{field}`: expected a document or an address, not `{refused}:`")));
    }
    // Of several in one text none would be found, and none of them known to be retracted.
    let pieces = text.split(|it: char| it.is_whitespace() || ";,|".contains(it));
    match pieces.filter(|piece| papers::key(piece).is_some()).count() {
        0 | 1 => Ok(()),
        n_papers => {
            Err(Unfit(format!("`{field}`: expected one document, there are {n_papers}; give each a place of its own")))
        }
    }
}

/// Whether a reader might take the id of a source for one of the starter data: in another case or spelling, with letters
/// that look alike, or with something behind it.
pub fn passes_for_own_source(id: &str) -> bool {
    let letter = |character: char| match character {
        'а' | 'α' | '4' | '@' => 'a',
        'е' | 'ε' | '3' => 'e',
        'і' | 'ι' | 'ı' | 'l' | '1' | '|' | '!' => 'i',
        'м' => 'm',
        'г' => 'r',
        'т' | 'τ' | '7' => 't',
        other => other,
    };
    let bare = |it: &char| !is_combining_mark(*it) && !is_unseen(*it);
    let told = normalise(id).nfd().filter(bare).map(letter).collect::<String>().replace("rn", "m");
    match told.trim_start_matches(|it: char| !it.is_alphanumeric()).strip_prefix(OWN_SOURCE) {
        Some(rest) => !rest.starts_with(char::is_alphabetic),
        None => false,
    }
}

/// Canonical JSON rounds longer integers, and what was rounded is not what the source said.
pub fn check_integers(value: &Value) -> Result<(), Unfit> {
    match value {
        Value::Number(number) => {
            let is_long = number.as_i64().map(i64::unsigned_abs).or(number.as_u64()).is_some_and(|it| it > INTEGER_MAX);
            if is_long {
                Err(Unfit("expected integers up to 2^53; write longer ones as text".to_owned()))
            } else {
                Ok(())
            }
        }
        Value::Array(items) => items.iter().try_for_each(check_integers),
        Value::Object(members) => members.values().try_for_each(check_integers),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

/// NUL ends a text for some readers, so that two of them would read different things.
pub fn check_nul(path: &str, value: &Value) -> Result<(), Unfit> {
    let inside = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
    match value {
        Value::String(text) if text.contains('\0') => Err(Unfit(format!("`{path}`: expected text without NUL"))),
        Value::Array(items) => {
            items.iter().enumerate().try_for_each(|(at, item)| check_nul(&inside(&at.to_string()), item))
        }
        Value::Object(members) => members.iter().try_for_each(|(name, member)| {
            if name.contains('\0') {
                let told = inside(&name.replace('\0', "␀"));
                return Err(Unfit(format!("`{told}`: expected a name without NUL")));
            }
            check_nul(&inside(name), member)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(checked: Result<(), Unfit>) -> String {
        checked.map_or_else(|unfit| unfit.to_string(), |()| "fit".to_owned())
    }

    #[test]
    fn ids_are_what_they_look_like() {
        for id in ["H1", "TH:ขิง", "น้ำ", "TNF-α", "β-carotene", "ginger (dried)", "имбирь", "X:é"]
        {
            assert_eq!(told(check_text("id", id)), "fit", "{id}");
        }
        for (id, expected) in [
            ("H\u{200b}1", "`id`: expected text without characters that cannot be seen; it has U+200B"),
            (
                "wаrfarin",
                "`id`: expected text without letters of another script that look like Latin ones; it has U+0430",
            ),
            ("DΟI:1", "`id`: expected text without letters of another script that look like Latin ones; it has U+039F"),
            ("Ｈ1", "`id`: expected text without letters in another style or width; it has U+FF28"),
            ("X:e\u{301}", "`id`: expected letters and their marks in one character each (NFC)"),
            (
                "gınger",
                "`id`: expected text without letters of another script that look like Latin ones; it has U+0131",
            ),
            ("H\u{2800}1", "`id`: expected text without characters that cannot be seen; it has U+2800"),
            ("H\u{e0041}1", "`id`: expected text without characters that cannot be seen; it has U+E0041"),
            (" H1", "`id`: expected text without control characters and outer spaces"),
        ] {
            assert_eq!(told(check_text("id", id)), expected, "{id}");
        }
    }

    #[test]
    fn names_are_what_they_look_like() {
        for name in ["ginger", "ขิง", "имбирь", "ginger имбирь", "TNF-α", "ısırgan", "ฟ้า\u{200b}ทะลาย", "ㄱㄴ"]
        {
            assert_eq!(told(check_name("names", name)), "fit", "{name}");
        }
        let latin = "`names`: expected words without letters of another script that look like Latin ones; it has";
        let unseen = "`names`: expected a name that can be seen";
        for (name, expected) in [
            ("gіnger", format!("{latin} U+0456")),
            ("dried wаrfarin", format!("{latin} U+0430")),
            ("\u{3164}", unseen.to_owned()),
            ("\u{115f} \u{2800}", unseen.to_owned()),
            ("\u{200b}", unseen.to_owned()),
            (
                "ginger\u{e0068}\u{e0069}",
                "`names`: expected text without tag letters, which nobody sees; it has U+E0068".to_owned(),
            ),
        ] {
            assert_eq!(told(check_name("names", name)), expected, "{name}");
        }
    }

    #[test]
    fn what_looks_like_our_own_source_is_taken_for_it() {
        for id in [
            "materia",
            "materia:x",
            "MATERIA",
            "Materia ",
            "mаteria",
            "ｍateria",
            "mater1a",
            "rnateria",
            "matéria",
            "materia-2",
            "m\u{200b}ateria",
        ] {
            assert!(passes_for_own_source(id), "{id}");
        }
        for id in ["pubmed", "materials", "chinese-materia-medica", "materialise", "ตำรา", "hetionet"] {
            assert!(!passes_for_own_source(id), "{id}");
        }
    }

    #[test]
    fn references_are_documents_and_addresses_and_no_programs() {
        for reference in ["PMID:1", "https://example.org/a?b=javascript:c", "DOI:10.1/x", "a book: page 7"] {
            assert_eq!(told(check_reference("links/0", reference)), "fit", "{reference}");
        }
        for reference in
            ["javascript:alert(1)", " JavaScript :x", "data:text/html,x", "java\u{200b}script:x", "file:///x"]
        {
            let told = told(check_reference("links/0", reference));
            assert!(told.starts_with("`links/0`: expected a document or an address, not `"), "{reference}: {told}");
        }
        for reference in ["PMID:1; PMID:2", "PMID:1,PMID:2", "PMID:1|DOI:10.1/x", "https://doi.org/10.1/x PMC5"] {
            let told = told(check_reference("links/0", reference));
            assert_eq!(
                told, "`links/0`: expected one document, there are 2; give each a place of its own",
                "{reference}"
            );
        }
        let broken = told(check_reference("links/0", "java\nscript:x"));
        assert_eq!(broken, "`links/0`: expected text without line breaks and control characters");
    }

    #[test]
    fn nul_is_refused_with_its_place() {
        let value = json!({"attributes": {"a": [1, "b\u{0}"]}});
        assert_eq!(told(check_nul("", &value)), "`attributes/a/1`: expected text without NUL");
        assert_eq!(told(check_nul("", &json!({"a\u{0}": 1}))), "`a␀`: expected a name without NUL");
        assert_eq!(told(check_nul("", &json!({"a": "\\u0000"}))), "fit");
    }
}
