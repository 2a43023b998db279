//! What a log line may say of an input: field names, short values, and only the length of anything longer.

use serde_json::{Map, Value};

use crate::limits::LOG_STRING_CHARS_MAX;

/// One line of JSON. Fields that carry a document are always shown by length alone.
pub fn of_input(input: &Value) -> String {
    let Value::Object(members) = input else { return kind(input) };
    let summary: Map<String, Value> = members.iter().map(|(name, value)| (name.clone(), field(name, value))).collect();
    Value::Object(summary).to_string()
}

fn field(name: &str, value: &Value) -> Value {
    match value {
        Value::String(text) if name.ends_with("content") => Value::String(length(text)),
        Value::String(text) if text.chars().count() > LOG_STRING_CHARS_MAX => {
            let start: String = text.chars().take(LOG_STRING_CHARS_MAX).collect();
            Value::String(format!("{start}…"))
        }
        Value::String(_) | Value::Bool(_) | Value::Number(_) | Value::Null => value.clone(),
        Value::Array(_) | Value::Object(_) => Value::String(kind(value)),
    }
}

fn length(text: &str) -> String {
    format!("<{} characters>", text.chars().count())
}

fn kind(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("<array of {}>", items.len()),
        Value::Object(members) => format!("<object of {}>", members.len()),
        Value::String(text) => length(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => "<value>".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn content_is_a_length_and_long_strings_are_cut() {
        let long = "x".repeat(150);
        let input = json!({"artifact_content": "# secret", "task_id": "abc", "note": long, "tasks": [1, 2]});
        let expected = json!({
            "artifact_content": "<8 characters>",
            "note": format!("{}…", "x".repeat(100)),
            "task_id": "abc",
            "tasks": "<array of 2>"
        });
        assert_eq!(of_input(&input), expected.to_string());
    }
}
