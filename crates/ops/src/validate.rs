//! From a schema's verdict to an error that names the field, what came and what was expected.

use contract::error::{Kind, OpError, cut};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

/// A received value longer than this is not repeated in the error.
const RECEIVED_CHARS_MAX: usize = 80;

/// Checks an input. The error tells of the first problem in document order.
pub fn check_input(validator: &Validator, input: &Value) -> Result<(), OpError> {
    let Some(error) = validator.iter_errors(input).next() else { return Ok(()) };
    // Names in the path are the caller's, where an object takes any.
    let at: String = error.instance_path().to_string().split('/').map(cut).collect::<Vec<_>>().join("/");
    let field = |name: &str| {
        let path = format!("{at}/{name}");
        path.trim_start_matches('/').to_owned()
    };
    let mut refusal = match error.kind() {
        ValidationErrorKind::Required { property } => {
            OpError::invalid(field(property.as_str().unwrap_or_default()), "the field to be there")
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let name = unexpected.first().map(String::as_str).unwrap_or_default();
            OpError::invalid(field(&cut(name)), "no field of this name")
        }
        _ => {
            let name = at.trim_start_matches('/');
            let name = if name.is_empty() { "input" } else { name };
            OpError::invalid(name, expectation(&error)).received(shortened(error.instance()))
        }
    };
    refusal.kind = Kind::Invalid;
    Err(refusal)
}

fn expectation(error: &ValidationError<'_>) -> String {
    match error.kind() {
        ValidationErrorKind::Type { kind } => match kind {
            jsonschema::error::TypeKind::Single(kind) => format!("a value of type {kind}"),
            jsonschema::error::TypeKind::Multiple(kinds) => {
                let names: Vec<String> = kinds.iter().map(|kind| kind.to_string()).collect();
                format!("a value of type {}", names.join(" or "))
            }
        },
        ValidationErrorKind::Minimum { limit } => format!("at least {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("at most {limit}"),
        ValidationErrorKind::MinLength { limit } => format!("at least {limit} characters"),
        ValidationErrorKind::MaxLength { limit } => format!("at most {limit} characters"),
        ValidationErrorKind::MinItems { limit } => format!("at least {limit} items"),
        ValidationErrorKind::MaxItems { limit } => format!("at most {limit} items"),
        ValidationErrorKind::Pattern { pattern } => format!("text that matches `{pattern}`"),
        ValidationErrorKind::Enum { options } => format!("one of {}", offered(options)),
        ValidationErrorKind::Constant { expected_value } => format!("{expected_value}"),
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            alternatives(context)
        }
        _ => FITTING.to_owned(),
    }
}

/// What may be said. Where nothing may be said, it can be left out as well.
fn offered(options: &Value) -> Value {
    let said = |options: &Vec<Value>| options.iter().filter(|option| !option.is_null()).cloned().collect();
    options.as_array().map_or_else(|| options.clone(), said)
}

const FITTING: &str = "a value that fits the schema";

/// What one of several forms would have been, where each of them can be told in few words.
fn alternatives(forms: &[Vec<ValidationError<'_>>]) -> String {
    let mut words: Vec<String> = Vec::new();
    for form in forms {
        match form.first().map(expectation) {
            // Where nothing may be said, it can be left out as well.
            Some(expected) if expected == "a value of type null" => {}
            Some(expected) if expected != FITTING => words.push(expected),
            Some(_) | None => return FITTING.to_owned(),
        }
    }
    if words.is_empty() { FITTING.to_owned() } else { words.join(" or ") }
}

/// The value itself if it is short, else what kind of value it is.
pub(crate) fn shortened(value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(text) if text.chars().count() <= RECEIVED_CHARS_MAX => value.clone(),
        Value::String(text) => Value::String(format!("<string of {} characters>", text.chars().count())),
        Value::Array(items) => Value::String(format!("<array of {}>", items.len())),
        Value::Object(members) => Value::String(format!("<object of {}>", members.len())),
    }
}

/// Where a value does not fit its type, and what is expected there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// Names and indexes from the outside in, with a slash between; empty for the whole.
    pub path: String,
    pub expected: String,
}

/// Why a value cannot be read as a type, without any value of it; `None` where it can.
pub fn find_misfit<T: DeserializeOwned>(value: &Value) -> Option<Misfit> {
    let error = serde_path_to_error::deserialize::<_, T>(value).err()?;
    let text = error.inner().to_string();
    let path = path(error.path());
    if let Some(name) = text.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
        return Some(Misfit { path, expected: "the field to be there".to_owned() });
    }
    // What stands before may repeat the value.
    let expected = match text.rsplit_once(", expected ").map(|(_, expected)| expected) {
        Some(expected) if expected == "a map" || expected.starts_with("struct ") => "an object",
        Some(expected) => expected,
        None => "a value that fits the method",
    };
    Some(Misfit { path, expected: expected.to_owned() })
}

/// Names and indexes with a slash between.
pub(crate) fn path(path: &serde_path_to_error::Path) -> String {
    let steps = path.iter().filter_map(|segment| match segment {
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Map { key } => Some(cut(key)),
        Segment::Enum { .. } | Segment::Unknown => None,
    });
    steps.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_field_with_several_forms_names_them() {
        let forms = json!({"oneOf": [{"enum": ["ok", "failed"]}, {"const": "denied"}]});
        let schema = json!({"properties": {
            "outcome": {"anyOf": [forms, {"type": "null"}]},
            "other": {"anyOf": [{"type": "string"}, {"not": {}}]},
        }});
        let validator = jsonschema::validator_for(&schema).unwrap();
        let told = |input: Value| check_input(&validator, &input).unwrap_err().details.expected;
        assert_eq!(told(json!({"outcome": "x"})).as_deref(), Some("one of [\"ok\",\"failed\"] or \"denied\""));
        assert_eq!(told(json!({"other": 5})).as_deref(), Some(FITTING));
    }
}
