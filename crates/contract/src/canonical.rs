//! Canonical JSON (RFC 8785) and SHA-256 over it.

mod serialize;
mod write;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

#[derive(Debug, thiserror::Error)]
#[error("the value has no canonical JSON form")]
pub struct CanonicalError(#[source] serde_json::Error);

/// The RFC 8785 text of a value. Fails only on what JSON cannot carry, such as members whose names are not text.
pub fn text<T: Serialize>(value: &T) -> Result<String, CanonicalError> {
    let mut text = String::new();
    value.serialize(serialize::Writer(&mut text)).map_err(CanonicalError)?;
    Ok(text)
}

/// The RFC 8785 text of what is JSON already.
pub fn text_of(value: &Value) -> String {
    let mut text = String::new();
    write::value(&mut text, value);
    text
}

/// Lower-case hex SHA-256 of the canonical text.
pub fn hash<T: Serialize>(value: &T) -> Result<String, CanonicalError> {
    Ok(hash_text(&text(value)?))
}

pub fn hash_of(value: &Value) -> String {
    hash_text(&text_of(value))
}

pub fn hash_text(canonical: &str) -> String {
    hex::encode(digest(canonical.as_bytes()))
}

/// Hash of a JSON object without one of its members. `out_hash` covers the output without `audit`.
pub fn hash_without(value: &Value, member: &str) -> String {
    match value {
        Value::Object(members) if members.contains_key(member) => {
            let mut text = String::new();
            write::object(&mut text, members.iter().filter(|(name, _)| name.as_str() != member));
            hash_text(&text)
        }
        Value::Object(_) | Value::Array(_) | Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {
            hash_of(value)
        }
    }
}

pub fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn check(value: Value, expected: &str) {
        assert_eq!(text(&value).unwrap(), expected);
    }

    #[test]
    fn members_are_sorted_and_white_space_is_gone() {
        check(json!({"b": 1, "a": [true, null, "x"]}), r#"{"a":[true,null,"x"],"b":1}"#);
    }

    #[test]
    fn numbers_follow_the_ecmascript_rules() {
        check(
            json!([1.0, 1e21, 0.000001, 1e-7, -0.0, 333_333_333.333_333_3]),
            "[1,1e+21,0.000001,1e-7,0,333333333.3333333]",
        );
    }

    #[test]
    fn members_sort_by_utf16_units() {
        // RFC 8785 § 3.2.3: U+FB33 sorts after the surrogate pair of U+1F600.
        check(json!({"\u{fb33}": 1, "\u{1f600}": 2}), "{\"\u{1f600}\":2,\"\u{fb33}\":1}");
    }

    #[test]
    fn the_hash_leaves_out_one_member_only() {
        let with = json!({"a": 1, "audit": {"x": 1}});
        assert_eq!(hash_without(&with, "audit"), hash(&json!({"a": 1})).unwrap());
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            prop_oneof![prop::num::f64::NORMAL, prop::num::f64::SUBNORMAL, prop::num::f64::ZERO].prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..8).prop_map(|members| members.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_text_is_the_one_that_another_writer_makes(value in any_value()) {
            prop_assert_eq!(text_of(&value), serde_json_canonicalizer::to_string(&value).unwrap());
        }

        #[test]
        fn canonical_text_parses_back_to_the_same_canonical_text(
            members in prop::collection::btree_map(".{0,8}", prop::num::f64::NORMAL, 0..8)
        ) {
            let once = text(&members).unwrap();
            let parsed: Value = serde_json::from_str(&once).unwrap();
            prop_assert_eq!(text(&parsed).unwrap(), once);
        }
    }
}
