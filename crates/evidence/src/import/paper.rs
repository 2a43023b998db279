//! What the formats of literature have in common: how years, languages, ids and links of a paper are written.

use std::collections::BTreeMap;

use contract::evidence::record::{Author, Document};
use serde_json::Value;

/// The attribute for the words of a full text beside its abstract.
pub const BODY: &str = "body";

/// The words of a full text, where the record has them.
pub fn body(document: &Document) -> Option<&str> {
    document.attributes.get(BODY)?.as_str()
}

/// A paper of PubMed with what follows from its number.
pub fn pubmed_document(pmid: &str, source: &str) -> Document {
    let ids = BTreeMap::from([("pmid".to_owned(), pmid.to_owned())]);
    Document {
        id: format!("PMID:{pmid}"),
        kind: "paper".to_owned(),
        title: String::new(),
        text: String::new(),
        lang: "en".to_owned(),
        authors: Vec::new(),
        journal: None,
        year: None,
        ids,
        links: Vec::new(),
        retraction: None,
        attributes: BTreeMap::new(),
        source: source.to_owned(),
    }
}

/// Links that follow from the ids of a paper.
pub fn links(ids: &BTreeMap<String, String>) -> Vec<String> {
    let link = |key: &str, base: &str| ids.get(key).map(|id| format!("{base}{id}"));
    let pubmed = link("pmid", "https://pubmed.ncbi.nlm.nih.gov/").map(|link| format!("{link}/"));
    let pmc = link("pmc", "https://pmc.ncbi.nlm.nih.gov/articles/").map(|link| format!("{link}/"));
    [pubmed, link("doi", "https://doi.org/"), pmc].into_iter().flatten().collect()
}

/// A PubMed number: one to eight digits, never zero.
pub fn pmid(text: &str) -> Option<String> {
    let text = text.trim();
    let is_number = !text.is_empty() && text.len() <= 8 && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.trim_start_matches('0');
    (is_number && !number.is_empty()).then(|| number.to_owned())
}

/// The first year in `1998 Dec-1999 Jan`, `Winter 2001`, `2021/06/07`.
pub fn year(text: &str) -> Option<i32> {
    let numbers = text.split(|character: char| !character.is_ascii_digit());
    let year = numbers.filter(|number| number.len() == 4).find_map(|number| number.parse::<i32>().ok());
    year.filter(|year| (1000..=2999).contains(year))
}

/// `20200209` → `2020-02-09`; a month or day that is not stated is left out.
pub fn day(number: u32) -> String {
    match (number / 10_000, number / 100 % 100, number % 100) {
        (year, 0, _) => format!("{year:04}"),
        (year, month, 0) => format!("{year:04}-{month:02}"),
        (year, month, day) => format!("{year:04}-{month:02}-{day:02}"),
    }
}

/// Two letters for the three of a library, where there are two; the three else.
pub fn lang(code: &str) -> String {
    let code = code.trim().to_ascii_lowercase();
    let known = LANGUAGES.iter().find(|(three, _)| *three == code).map(|(_, two)| (*two).to_owned());
    match known {
        Some(two) => two,
        None if (2..=10).contains(&code.len()) => code,
        None => "und".to_owned(),
    }
}

const LANGUAGES: &[(&str, &str)] = &[
    ("afr", "af"),
    ("alb", "sq"),
    ("amh", "am"),
    ("ara", "ar"),
    ("arm", "hy"),
    ("aze", "az"),
    ("baq", "eu"),
    ("bel", "be"),
    ("ben", "bn"),
    ("bos", "bs"),
    ("bul", "bg"),
    ("bur", "my"),
    ("cat", "ca"),
    ("chi", "zh"),
    ("cze", "cs"),
    ("dan", "da"),
    ("deu", "de"),
    ("dut", "nl"),
    ("eng", "en"),
    ("epo", "eo"),
    ("est", "et"),
    ("fin", "fi"),
    ("fra", "fr"),
    ("fre", "fr"),
    ("geo", "ka"),
    ("ger", "de"),
    ("gle", "ga"),
    ("glg", "gl"),
    ("gre", "el"),
    ("guj", "gu"),
    ("heb", "he"),
    ("hin", "hi"),
    ("hrv", "hr"),
    ("hun", "hu"),
    ("ice", "is"),
    ("ind", "id"),
    ("ita", "it"),
    ("jpn", "ja"),
    ("kan", "kn"),
    ("kaz", "kk"),
    ("khm", "km"),
    ("kin", "rw"),
    ("kir", "ky"),
    ("kor", "ko"),
    ("lao", "lo"),
    ("lat", "la"),
    ("lav", "lv"),
    ("lit", "lt"),
    ("mac", "mk"),
    ("mal", "ml"),
    ("mao", "mi"),
    ("mar", "mr"),
    ("may", "ms"),
    ("mon", "mn"),
    ("nep", "ne"),
    ("nor", "no"),
    ("per", "fa"),
    ("pol", "pl"),
    ("por", "pt"),
    ("pus", "ps"),
    ("rum", "ro"),
    ("rus", "ru"),
    ("san", "sa"),
    ("scc", "sr"),
    ("scr", "hr"),
    ("sin", "si"),
    ("slo", "sk"),
    ("slv", "sl"),
    ("spa", "es"),
    ("srp", "sr"),
    ("swa", "sw"),
    ("swe", "sv"),
    ("tam", "ta"),
    ("tel", "te"),
    ("tgl", "tl"),
    ("tha", "th"),
    ("tib", "bo"),
    ("tur", "tr"),
    ("ukr", "uk"),
    ("urd", "ur"),
    ("uzb", "uz"),
    ("vie", "vi"),
    ("wel", "cy"),
    ("zho", "zh"),
];

/// A person; a suffix such as `Jr` goes with the given names, as libraries write it.
pub fn person(last: String, fore: Option<String>, initials: Option<String>, suffix: Option<String>) -> Author {
    let with = |name: Option<String>| match (name, &suffix) {
        (Some(name), Some(suffix)) => Some(format!("{name} {suffix}")),
        (name, _) => name,
    };
    Author { last, fore: with(fore), initials: with(initials) }
}

/// A group that signs together.
pub fn group(name: String) -> Author {
    Author { last: name, fore: None, initials: None }
}

/// Whether a correction, in the words of PubMed, tells anything about whether a paper stands.
pub fn is_told_correction(kind: &str) -> bool {
    let kind = kind.to_ascii_lowercase();
    ["erratum", "retract", "expressionofconcern"].iter().any(|word| kind.contains(word))
}

/// Adds an attribute unless there is nothing to say.
pub fn note(attributes: &mut BTreeMap<String, Value>, key: &str, value: Value) {
    let is_nothing = match &value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    };
    if !is_nothing {
        attributes.insert(key.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_are_found_in_free_text() {
        for (text, expected) in [
            ("1998 Dec-1999 Jan", Some(1998)),
            ("Winter 2001", Some(2001)),
            ("2021/06/07", Some(2021)),
            ("12345", None),
            ("in press", None),
        ] {
            assert_eq!(year(text), expected, "{text}");
        }
    }

    #[test]
    fn days_are_written_as_far_as_they_are_known() {
        let told = [20_200_209, 20_200_200, 20_200_000].map(day);
        assert_eq!(told, ["2020-02-09", "2020-02", "2020"]);
    }

    #[test]
    fn pubmed_numbers_are_one_to_eight_digits() {
        for (text, expected) in [
            ("24790635", Some("24790635")),
            (" 007 ", Some("7")),
            ("0", None),
            ("123456789", None),
            ("1a", None),
            ("", None),
        ] {
            assert_eq!(pmid(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn languages_become_two_letters_where_there_are_two() {
        assert_eq!(
            (lang("tha"), lang("ENG"), lang("mul"), lang("")),
            ("th".into(), "en".into(), "mul".into(), "und".into())
        );
    }
}
