//! From the words of the formats to those of the record.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use contract::evidence::record::Name;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::contraindications::{Word, word};

/// Integers beyond change in other languages, and the door refuses them.
const INTEGER_MAX: u64 = 1 << 53;
/// Deeper values are kept as their JSON text.
const DEPTH_MAX: usize = 8;

/// `biolink:ChemicalEntity` → `chemical_entity`; what is no CamelCase word of Biolink keeps its letters.
pub fn category(text: &str) -> String {
    snake(text.trim().strip_prefix("biolink:").unwrap_or(text.trim()))
}

/// `biolink:interacts_with` → `interacts_with`; ids of other vocabularies (`RO:0002434`) stay as they are.
pub fn predicate(text: &str) -> String {
    let text = text.trim();
    let bare = text.strip_prefix("biolink:").unwrap_or(text);
    if bare.contains(':') {
        return bare.to_owned();
    }
    match word(bare) {
        // A warning in other words than ours would be kept, and never be given.
        Word::Safety(known) => known.to_owned(),
        Word::Unclear | Word::Other => snake(bare),
    }
}

/// A statement that something is *not* so must not be found as if it were.
pub fn negated(predicate: &str) -> String {
    format!("not_{predicate}")
}

fn snake(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 4);
    let mut follows_lower = false;
    for character in text.chars() {
        if character.is_uppercase() {
            if follows_lower {
                out.push('_');
            }
            out.extend(character.to_lowercase());
        } else if character.is_whitespace() || character == '-' || character == '_' {
            if !out.ends_with('_') {
                out.push('_');
            }
        } else {
            out.push(character);
        }
        follows_lower = character.is_lowercase() || character.is_ascii_digit();
    }
    out.trim_matches('_').to_owned()
}

/// A name whose language the source does not state: only a script that one language uses tells it.
pub fn name(text: &str) -> Name {
    Name { text: text.to_owned(), lang: if is_thai(text) { "th" } else { "und" }.to_owned() }
}

pub fn name_in(text: &str, lang: &str) -> Name {
    Name { text: text.to_owned(), lang: lang.to_owned() }
}

/// Whether Thai letters are at least a fifth of all letters: Thai prose quotes Latin names.
pub fn is_thai(text: &str) -> bool {
    let (mut n_thai, mut n_letters) = (0_usize, 0_usize);
    for character in text.chars().take(2_000) {
        let is_thai = ('\u{e01}'..='\u{e5b}').contains(&character);
        n_thai += usize::from(is_thai);
        n_letters += usize::from(is_thai || character.is_alphabetic());
    }
    n_thai > 0 && n_thai * 5 >= n_letters
}

/// An id made of what an edge says.
pub fn edge_id(parts: &[&str], qualifiers: &str) -> String {
    // JSON of a list, not plain joining: `("ab", "c")` and `("a", "bc")` must not make one id.
    let text = serde_json::json!([parts, qualifiers]).to_string();
    let hash = hex::encode(Sha256::digest(text.as_bytes()));
    format!("edge:{}", hash.get(..32).unwrap_or(&hash))
}

/// The program's own mark of what was compared with its source, which no file may set.
const VERIFIED: &str = "verified";

/// Members as the record takes them: a file's own `verified` goes by another name.
pub fn tame_members(members: impl IntoIterator<Item = (String, Value)>) -> BTreeMap<String, Value> {
    tame_members_at(members, 0)
}

fn tame_members_at<C>(members: impl IntoIterator<Item = (String, Value)>, depth: usize) -> C
where
    C: FromIterator<(String, Value)>,
{
    let mut told = BTreeMap::new();
    let mut verified = Vec::new();
    for (key, value) in members {
        let key = key.replace('\0', "");
        let bare = key.trim();
        let value = tame_at(value, depth);
        if bare.strip_prefix("biolink:").unwrap_or(bare).eq_ignore_ascii_case(VERIFIED) {
            verified.push(value);
        } else {
            told.insert(key, value);
        }
    }
    for value in verified {
        let mut key = format!("{VERIFIED}_by_source");
        while told.contains_key(&key) {
            key.push_str("_too");
        }
        told.insert(key, value);
    }
    told.into_iter().collect()
}

/// A value as the record takes it: without NUL, without integers that are not exact everywhere, not too deep.
fn tame_at(value: Value, depth: usize) -> Value {
    match value {
        Value::Number(number) => {
            let is_exact = match (number.as_u64(), number.as_i64()) {
                (Some(value), _) => value <= INTEGER_MAX,
                (None, Some(value)) => value.unsigned_abs() <= INTEGER_MAX,
                (None, None) => true,
            };
            if is_exact { Value::Number(number) } else { Value::String(number.to_string()) }
        }
        Value::String(text) if text.contains('\0') => Value::String(text.replace('\0', "")),
        Value::Array(_) | Value::Object(_) if depth >= DEPTH_MAX => Value::String(value.to_string()),
        Value::Array(items) => items.into_iter().map(|item| tame_at(item, depth + 1)).collect(),
        Value::Object(members) => Value::Object(tame_members_at(members, depth + 1)),
        Value::Null | Value::Bool(_) | Value::String(_) => value,
    }
}

/// Things that were read lately, so that a table that repeats its subjects in every row does not repeat them as records.
/// Forgets all when full: the only price is a record that stands twice.
pub struct Lately {
    seen: HashSet<u64>,
    state: RandomState,
}

const LATELY_MAX: usize = 500_000;

impl Lately {
    pub fn new() -> Lately {
        Lately { seen: HashSet::new(), state: RandomState::new() }
    }

    /// Whether it is the first time.
    pub fn is_new(&mut self, id: &str) -> bool {
        if self.seen.len() >= LATELY_MAX {
            self.seen.clear();
        }
        self.seen.insert(self.state.hash_one(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_of_biolink_become_snake_case() {
        assert_eq!(category("biolink:ChemicalEntity"), "chemical_entity");
        assert_eq!(category("Biological Process"), "biological_process");
        assert_eq!(category("RNAProduct"), "rnaproduct");
        assert_eq!(category("herb"), "herb");
        assert_eq!(predicate("biolink:interacts_with"), "interacts_with");
        assert_eq!(predicate("biolink:contraindicated_for"), "contraindicated_in");
        assert_eq!(predicate("has contraindications"), "has_contraindication");
        assert_eq!(predicate("RO:0002434"), "RO:0002434");
        assert_eq!(predicate("NEG_TREATS"), "neg_treats");
    }

    #[test]
    fn thai_is_told_by_its_letters() {
        assert!(is_thai("ฟ้าทะลายโจร (Andrographis)"));
        assert!(!is_thai("Andrographis paniculata is called ฟ้า in Thailand and elsewhere by other names"));
        assert!(!is_thai("12"));
    }

    #[test]
    fn ids_of_edges_differ_where_the_parts_do() {
        assert_ne!(edge_id(&["ab", "c"], ""), edge_id(&["a", "bc"], ""));
        assert_eq!(edge_id(&["a"], ""), edge_id(&["a"], ""));
    }

    #[test]
    fn values_are_made_fit() {
        assert_eq!(
            tame_at(json!({"a": 9007199254740993_u64, "b": "x\u{0}y", "c": 1.5}), 0),
            json!({"a": "9007199254740993", "b": "xy", "c": 1.5})
        );
        let deep = (0..20).fold(json!(1), |value, _| json!([value]));
        assert!(tame_at(deep, 0).to_string().contains(r#""[["#));
    }

    #[test]
    fn no_file_sets_the_mark_of_the_program() {
        let check = |members: Value, expected: Value| {
            let told: BTreeMap<String, Value> = tame_members(members.as_object().unwrap().clone());
            assert_eq!(json!(told), expected);
        };
        check(json!({"verified": true}), json!({"verified_by_source": true}));
        check(json!({"ver\u{0}ified": true}), json!({"verified_by_source": true}));
        check(json!({"biolink:verified": true}), json!({"verified_by_source": true}));
        check(
            json!({"a": {"b": [{"verified": "by its reader"}]}, "c": 1}),
            json!({"a": {"b": [{"verified_by_source": "by its reader"}]}, "c": 1}),
        );
        check(
            json!({"verified": true, "verified_by_source": "by its reader"}),
            json!({"verified_by_source": "by its reader", "verified_by_source_too": true}),
        );
    }
}
