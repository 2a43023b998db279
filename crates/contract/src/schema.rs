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

    #[test]
    fn a_tool_schema_is_closed_and_names_its_dialect() {
        let schema = tool_schema::<GetNextAvailableId>();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["required"], serde_json::json!(["artifact_type"]));
        assert!(!schema.contains_key("$defs"));
    }

    #[test]
    fn an_empty_input_is_still_a_closed_object() {
        let schema = tool_schema::<ListArtifactTypes>();
        assert_eq!(schema["properties"], serde_json::json!({}));
        assert_eq!(schema["additionalProperties"], false);
    }

    #[test]
    fn an_event_schema_is_draft_07() {
        assert_eq!(event_schema::<Event>()["$schema"], "http://json-schema.org/draft-07/schema#");
    }
}
