//! Canonical JSON (RFC 8785) and SHA-256 over it.

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

#[derive(Debug, thiserror::Error)]
#[error("the value has no canonical JSON form")]
pub struct CanonicalError(#[source] serde_json::Error);

/// The RFC 8785 text of a value. Fails only on numbers JSON cannot carry (NaN, infinity).
pub fn text<T: Serialize>(value: &T) -> Result<String, CanonicalError> {
    serde_json_canonicalizer::to_string(value).map_err(CanonicalError)
}

/// Lower-case hex SHA-256 of the canonical text.
pub fn hash<T: Serialize>(value: &T) -> Result<String, CanonicalError> {
    Ok(hex::encode(digest(text(value)?.as_bytes())))
}

/// Hash of a JSON object without one of its members. `out_hash` covers the output without `audit`.
pub fn hash_without(value: &Value, member: &str) -> Result<String, CanonicalError> {
    match value {
        Value::Object(members) if members.contains_key(member) => {
            let rest: serde_json::Map<String, Value> = members
                .iter()
                .filter(|(name, _)| name.as_str() != member)
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            hash(&rest)
        }
        Value::Object(_) | Value::Array(_) | Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {
            hash(value)
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
        assert_eq!(hash_without(&with, "audit").unwrap(), hash(&json!({"a": 1})).unwrap());
    }

    proptest! {
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
