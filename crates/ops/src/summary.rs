//! What a log line may say of a call: of its input, the values of known fields that are ids, choices or numbers, and only
//! the length of everything else. What a caller writes freely may be a patient's name or a password.

use contract::error::{Kind, OpError};
use contract::schema::SchemaObject;
use serde_json::{Map, Value};

use crate::limits::LOG_STRING_CHARS_MAX;

/// Fields that a log line names; the rest are counted.
const FIELDS_MAX: usize = 32;
/// A UUID has 36; what is longer may be a key.
pub(crate) const ID_BYTES_MAX: usize = 40;

/// One line of JSON.
pub fn of_input(input: &Value, schema: &SchemaObject) -> String {
    let Value::Object(members) = input else { return kind(input) };
    let shown = members.iter().filter_map(|(name, value)| Some((name.clone(), field(value, known(schema, name)?))));
    let mut summary: Map<String, Value> = shown.take(FIELDS_MAX).collect();
    if members.len() > summary.len() {
        let n_others = members.len() - summary.len();
        summary.insert("…".to_owned(), Value::from(format!("<other fields: {n_others}>")));
    }
    Value::Object(summary).to_string()
}

/// The message of an error, without the name of a field that there is not: only the caller knows what that says.
pub fn of_error(error: &OpError, schema: &SchemaObject) -> String {
    let (Kind::Invalid, Some(field)) = (error.kind, &error.details.field) else { return cut(&error.message) };
    let first = field.split('/').next().unwrap_or_default();
    if first == field && known(schema, first).is_some() {
        return cut(&error.message);
    }
    let shown = if known(schema, first).is_some() { first } else { "<unknown field>" };
    cut(&format!("`{shown}`: expected {}", error.details.expected.as_deref().unwrap_or("another value")))
}

fn known<'a>(schema: &'a SchemaObject, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

fn field(value: &Value, schema: &Value) -> Value {
    match value {
        Value::String(text) if is_told(text, schema) => value.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Null => value.clone(),
        Value::String(_) | Value::Array(_) | Value::Object(_) => Value::String(kind(value)),
    }
}

/// An id or a choice, by its schema and by its form.
fn is_told(text: &str, schema: &Value) -> bool {
    let is_limited = ["pattern", "enum", "const"].iter().any(|word| schema.get(word).is_some());
    let is_id = text.len() <= ID_BYTES_MAX && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    is_limited && is_id
}

/// The beginning of a text without characters that a terminal would obey.
pub fn cut(text: &str) -> String {
    let mut shown: String =
        text.chars().take(LOG_STRING_CHARS_MAX).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(LOG_STRING_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}

fn kind(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("<array of {}>", items.len()),
        Value::Object(members) => format!("<object of {}>", members.len()),
        Value::String(text) => format!("<{} characters>", text.chars().count()),
        Value::Null | Value::Bool(_) | Value::Number(_) => "<value>".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> SchemaObject {
        let schema = json!({"properties": {
            "artifact_content": {"type": "string"}, "task_id": {"type": "string", "pattern": "^x$"},
            "note": {"type": "string"}, "tasks": {"type": "array"}, "count": {"type": "integer"}
        }});
        schema.as_object().cloned().unwrap()
    }

    #[test]
    fn ids_and_numbers_are_told_and_of_the_rest_only_how_long_it_is() {
        let input = json!({
            "artifact_content": "# secret", "task_id": "abc", "note": "hunter2", "tasks": [1, 2], "count": 3, "Jane Doe": 1
        });
        let expected = json!({
            "artifact_content": "<8 characters>", "count": 3, "note": "<7 characters>", "task_id": "abc",
            "tasks": "<array of 2>", "…": "<other fields: 1>"
        });
        assert_eq!(of_input(&input, &schema()), expected.to_string());
        let token = json!({"task_id": "0".repeat(64)});
        assert_eq!(of_input(&token, &schema()), json!({"task_id": "<64 characters>"}).to_string());
    }

    #[test]
    fn an_error_does_not_repeat_the_name_of_a_field_that_there_is_not() {
        let unknown = OpError::invalid("Jane Doe", "no field of this name");
        assert_eq!(of_error(&unknown, &schema()), "`<unknown field>`: expected no field of this name");
        let within = OpError::invalid("tasks/0/Jane Doe", "no field of this name");
        assert_eq!(of_error(&within, &schema()), "`tasks`: expected no field of this name");
        let known = OpError::invalid("count", "at least 1");
        assert_eq!(of_error(&known, &schema()), "`count`: expected at least 1");
    }
}
