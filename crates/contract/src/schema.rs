//! JSON Schemas from types: 2020-12 for tools, draft-07 for events.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

pub type SchemaObject = Map<String, Value>;

/// Schema of a tool's input or output. Self-contained: some clients do not follow `$ref`.
pub fn tool_schema<T: JsonSchema>() -> SchemaObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    object(settings.into_generator().into_root_schema_for::<T>().to_value())
}

pub fn event_schema<T: JsonSchema>() -> SchemaObject {
    object(SchemaSettings::draft07().into_generator().into_root_schema_for::<T>().to_value())
}

/// Words that an older draft does not know or reads in another way: a schema with one of them names its dialect.
const OF_2020_12: [&str; 6] = ["$anchor", "$defs", "$dynamicRef", "$ref", "dependentRequired", "prefixItems"];
/// How Rust keeps a number. JSON Schema has no such formats, and limits say what callers need.
const NUMBER_FORMATS: [&str; 12] =
    ["double", "float", "int", "int16", "int32", "int64", "int8", "uint", "uint16", "uint32", "uint64", "uint8"];

/// The schema as a list of tools shows it. A model reads such lists before every conversation, so what it would assume
/// anyway or cannot use is left out: the dialect where it is the default and all read it alike, the name of the type, the
/// width of numbers.
pub fn terse(schema: &SchemaObject) -> SchemaObject {
    let mut schema = schema.clone();
    if !needs_dialect(&schema) {
        schema.remove("$schema");
    }
    if schema.get("title").is_some_and(Value::is_string) {
        schema.remove("title");
    }
    drop_number_formats(&mut schema);
    schema
}

fn needs_dialect(schema: &SchemaObject) -> bool {
    schema
        .iter()
        .any(|(word, value)| OF_2020_12.contains(&word.as_str()) || inner(value).iter().any(|it| needs_dialect(it)))
}

/// The objects that a value is or holds as a list.
fn inner(value: &Value) -> Vec<&SchemaObject> {
    match value {
        Value::Object(members) => vec![members],
        Value::Array(items) => items.iter().filter_map(Value::as_object).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

fn drop_number_formats(schema: &mut SchemaObject) {
    if schema.get("format").and_then(Value::as_str).is_some_and(|format| NUMBER_FORMATS.contains(&format)) {
        schema.remove("format");
    }
    for (word, value) in schema.iter_mut() {
        // These hold values, not schemas.
        if ["const", "default", "enum", "examples"].contains(&word.as_str()) {
            continue;
        }
        match value {
            Value::Object(members) => drop_number_formats(members),
            Value::Array(items) => items.iter_mut().filter_map(Value::as_object_mut).for_each(drop_number_formats),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

fn object(schema: Value) -> SchemaObject {
    match schema {
        Value::Object(mut members) => {
            // An empty struct has no members to list, and some clients insist on the key.
            if members.get("type").is_some_and(|kind| kind == "object") {
                members.entry("properties").or_insert_with(|| Value::Object(Map::new()));
            }
            members
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;
    use crate::workflow::{GetNextAvailableId, ListArtifactTypes};
    use serde_json::json;

    #[test]
    fn a_tool_schema_is_closed_and_names_its_dialect() {
        let schema = tool_schema::<GetNextAvailableId>();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["required"], json!(["artifact_type"]));
        assert!(!schema.contains_key("$defs"));
    }

    #[test]
    fn an_empty_input_is_still_a_closed_object() {
        let schema = tool_schema::<ListArtifactTypes>();
        assert_eq!(schema["properties"], json!({}));
        assert_eq!(schema["additionalProperties"], false);
    }

    #[test]
    fn a_list_of_tools_leaves_out_what_its_readers_assume_and_no_limit() {
        let check = |schema: Value, expected: Value| {
            let Value::Object(schema) = schema else { panic!("a schema is an object") };
            assert_eq!(Value::Object(terse(&schema)), expected);
        };
        let dialect = "https://json-schema.org/draft/2020-12/schema";
        let count = json!({ "type": "integer", "format": "uint64", "minimum": 0 });
        let day = json!({ "type": "string", "format": "date" });
        check(
            json!({ "$schema": dialect, "title": "Counted", "type": "object",
                    "properties": { "title": count, "format": day, "n": { "anyOf": [count, { "type": "null" }] } } }),
            json!({ "type": "object", "properties": {
                "title": { "type": "integer", "minimum": 0 }, "format": day,
                "n": { "anyOf": [{ "type": "integer", "minimum": 0 }, { "type": "null" }] } } }),
        );
        let pair = json!({ "$schema": dialect, "properties": { "pair": { "prefixItems": [{ "type": "string" }] } } });
        check(pair.clone(), pair);
        let given = json!({ "default": { "format": "uint64" } });
        check(given.clone(), given);
    }

    #[test]
    fn an_event_schema_is_draft_07() {
        assert_eq!(event_schema::<Event>()["$schema"], "http://json-schema.org/draft-07/schema#");
    }
}
