//! The members of one JSON object. What stands twice is kept twice, so that no later word hides an earlier one.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

pub fn read(text: &[u8]) -> Result<Map<String, Value>, String> {
    if let Ok(Members(members)) = serde_json::from_slice(text) {
        return Ok(members);
    }
    match serde_json::from_slice::<Value>(text) {
        Ok(_) => Err("expected a JSON object".to_owned()),
        // The library's message names the place inside the record, and nothing of the content.
        Err(error) => Err(format!("not valid JSON: {error}")),
    }
}

/// Adds a member; a name that stands twice becomes a list.
pub fn join(members: &mut Map<String, Value>, key: String, value: Value) {
    match members.get_mut(&key) {
        None => {
            members.insert(key, value);
        }
        Some(Value::Array(items)) => match value {
            Value::Array(more) => items.extend(more),
            other => items.push(other),
        },
        Some(held) => {
            let first = held.take();
            *held = Value::Array(vec![first, value]);
        }
    }
}

struct Members(Map<String, Value>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members, D::Error> {
        deserializer.deserialize_map(Collect)
    }
}

struct Collect;

impl<'de> Visitor<'de> for Collect {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
        let mut members = Map::new();
        while let Some((key, value)) = map.next_entry()? {
            join(&mut members, key, value);
        }
        Ok(Members(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_stands_twice_is_kept_twice() {
        let members = read(br#"{"negated": true, "a": 1, "negated": false}"#).unwrap();
        assert_eq!(Value::Object(members), json!({"negated": [true, false], "a": 1}));
    }

    #[test]
    fn what_is_no_object_says_so() {
        assert_eq!(read(b"[1]").unwrap_err(), "expected a JSON object");
        assert!(read(b"{\"a\": ").unwrap_err().starts_with("not valid JSON: "));
    }
}
