//! What a log line may say of an input: field names, short values, and only the length of anything longer.

use serde_json::{Map, Value};

use crate::limits::LOG_STRING_CHARS_MAX;

/// Fields that a log line names; the rest are counted.
const FIELDS_MAX: usize = 32;

/// One line of JSON. Fields that carry a document are always shown by length alone.
pub fn of_input(input: &Value) -> String {
    let Value::Object(members) = input else { return kind(input) };
    let shown = members.iter().take(FIELDS_MAX).map(|(name, value)| (cut(name), field(name, value)));
    let mut summary: Map<String, Value> = shown.collect();
    if members.len() > FIELDS_MAX {
        summary.insert("…".to_owned(), Value::from(format!("<{} more fields>", members.len() - FIELDS_MAX)));
    }
    Value::Object(summary).to_string()
}

fn field(name: &str, value: &Value) -> Value {
    match value {
        Value::String(text) if name.ends_with("content") => Value::String(length(text)),
        Value::String(text) => Value::String(cut(text)),
        Value::Bool(_) | Value::Number(_) | Value::Null => value.clone(),
        Value::Array(_) | Value::Object(_) => Value::String(kind(value)),
    }
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
