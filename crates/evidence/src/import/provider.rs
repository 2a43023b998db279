//! Whose a record of a graph is, as the file says it line by line.

use contract::evidence::record::Record;
use serde_json::Value;

/// Who provided a record, and under which terms. It is the file's word, and nobody here vouches for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Provider {
    pub id: String,
    pub licence: Option<String>,
}

/// In the order in which they count: the terms of a line are those of whoever provided it.
const NAMES: [&str; 3] = ["provided_by", "primary_knowledge_source", "knowledge_source"];
const TERMS: [&str; 2] = ["license", "licence"];

impl Provider {
    /// Of a node or an edge that names exactly one.
    pub fn of(record: &Record) -> Option<Provider> {
        let members = match record {
            Record::Node(node) => &node.attributes,
            Record::Edge(edge) => &edge.qualifiers,
            Record::Source(_) | Record::Document(_) | Record::Deletion(_) => return None,
        };
        let one = |name: &&str| members.get(*name).and_then(only);
        let id = NAMES.iter().find_map(one)?;
        Some(Provider { id, licence: TERMS.iter().find_map(one) })
    }
}

fn only(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim(),
        Value::Array(items) => match items.as_slice() {
            [Value::String(text)] => text.trim(),
            _ => "",
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => "",
    };
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_record_is_of_the_one_provider_that_it_names() {
        let check = |qualifiers: Value, expected: Option<(&str, Option<&str>)>| {
            let edge = json!({"record": "edge", "id": "e", "subject": "X:1", "predicate": "treats", "object": "X:2",
                "qualifiers": qualifiers, "source": "kgx"});
            let found = Provider::of(&serde_json::from_value(edge).unwrap());
            let expected =
                expected.map(|(id, licence)| Provider { id: id.into(), licence: licence.map(str::to_owned) });
            assert_eq!(found, expected);
        };
        check(json!({"provided_by": ["mine"], "license": "CC0-1.0"}), Some(("mine", Some("CC0-1.0"))));
        check(json!({"provided_by": " mine ", "primary_knowledge_source": "infores:a"}), Some(("mine", None)));
        check(json!({"provided_by": ["a", "b"], "primary_knowledge_source": "infores:a"}), Some(("infores:a", None)));
        check(json!({"provided_by": ["a", "b"]}), None);
        check(json!({"provided_by": "", "license": "CC0-1.0"}), None);
    }
}
