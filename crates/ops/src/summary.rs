//! What a log line may say of a call: of its input, the values of known fields that are choices, numbers or the caller's
//! own correlation ids, as their schema wants them, and only the length of everything else. What a caller writes freely
//! may be a patient's name or a password, so an error says in the log what was wrong, and not with which value.

use std::collections::HashMap;

use contract::error::{Kind, OpError};
use contract::id::CorrelationId;
use contract::schema::SchemaObject;
use jsonschema::Validator;
use serde_json::{Map, Value};

use crate::limits::LOG_STRING_CHARS_MAX;

/// Fields that a log line names; the rest are counted.
const FIELDS_MAX: usize = 32;
/// A UUID has 36; what is longer may be a key.
pub(crate) const ID_BYTES_MAX: usize = 40;
/// A received text that is shorter says nothing, and stands in every sentence.
const RECEIVED_CHARS_MIN: usize = 3;
const MASK: &str = "…";

/// The fields of an operation's input, and those of them whose values a log may hold if they are as they should be.
pub(crate) struct Fields(HashMap<String, Field>);

struct Field {
    /// Absent where a value may be anything.
    told: Option<Validator>,
    is_correlation_id: bool,
    /// It names something of the record. Until that was found, it may be any word.
    names_record: bool,
}

impl Fields {
    pub fn compile(schema: &SchemaObject) -> Result<Fields, Box<dyn std::error::Error + Send + Sync>> {
        let Some(Value::Object(properties)) = schema.get("properties") else { return Ok(Fields(HashMap::new())) };
        let field = |(name, schema): (&String, &Value)| {
            let told = schema.as_object().filter(|schema| is_limited(schema));
            let told = told.map(crate::table::validator).transpose()?;
            let is_correlation_id = schema.get("pattern").and_then(Value::as_str) == Some(CorrelationId::PATTERN);
            let names_record = schema.get("pattern").is_some() && !is_correlation_id;
            Ok((name.clone(), Field { told, is_correlation_id, names_record }))
        };
        properties.iter().map(field).collect::<Result<_, _>>().map(Fields)
    }

    /// As [`Fields::fits`], and no name that nobody has looked up yet.
    fn may_tell(&self, name: &str, value: &Value) -> bool {
        self.fits(name, value) && self.0.get(name).is_some_and(|field| !field.names_record)
    }

    /// Is this value of this field as its schema wants it, and no free text?
    pub fn fits(&self, name: &str, value: &Value) -> bool {
        self.0.get(name).and_then(|field| field.told.as_ref()).is_some_and(|validator| validator.is_valid(value))
    }

    /// Does the field hold the caller's own word for the work? Else it names something of the record.
    pub fn is_correlation_id(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|field| field.is_correlation_id)
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

/// Numbers, choices and ids; not free text, and nothing that holds more of itself.
fn is_limited(schema: &SchemaObject) -> bool {
    let is_plain = |kind: &Value| matches!(kind.as_str(), Some("boolean" | "integer" | "number" | "null"));
    let is_plain = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().all(is_plain),
        Some(kind) => is_plain(kind),
        None => false,
    };
    is_plain || ["pattern", "enum", "const"].iter().any(|word| schema.contains_key(*word))
}

/// One line of JSON.
pub(crate) fn of_input(input: &Value, fields: &Fields) -> String {
    let Value::Object(members) = input else { return kind(input) };
    let known = members.iter().filter(|(name, _)| fields.has(name));
    let shown = known.map(|(name, value)| (name.clone(), field(value, fields.may_tell(name, value))));
    let mut summary: Map<String, Value> = shown.take(FIELDS_MAX).collect();
    if members.len() > summary.len() {
        let n_others = members.len() - summary.len();
        summary.insert("…".to_owned(), Value::from(format!("<other fields: {n_others}>")));
    }
    Value::Object(summary).to_string()
}

/// The message of an error without what was received: neither the name of a field that there is not, nor a value, whether
/// as it came or as the operation read it. `names` are words of ours.
pub(crate) fn of_error(error: &OpError, fields: &Fields, input: &Value, names: &[&str]) -> String {
    let received = received(input);
    let is_known = |word: &str| fields.has(word) || names.contains(&word);
    let is_invalid = error.kind == Kind::Invalid;
    let is_kept =
        |word: &str| is_known(word) || (is_invalid && !received.iter().any(|text| text.contains(&lower(word))));
    let (Kind::Invalid, Some(field)) = (error.kind, &error.details.field) else {
        return cut(&masked(error.without_advice(), &received, is_kept));
    };
    let first = field.split('/').next().unwrap_or_default();
    if first == field && fields.has(first) {
        return cut(&masked(error.without_advice(), &received, is_kept));
    }
    let shown = if fields.has(first) { first } else { "<unknown field>" };
    let expected = error.details.expected.as_deref().unwrap_or("another value");
    cut(&format!("`{shown}`: expected {}", masked(expected, &received, is_kept)))
}

/// The chain below an error without what was received.
pub(crate) fn of_chain(chain: &str, input: &Value) -> String {
    cut(&masked(chain, &received(input), |_| true))
}

/// Every text of an input, the longest first: one may be a part of another.
fn received(input: &Value) -> Vec<String> {
    fn collect(value: &Value, texts: &mut Vec<String>) {
        match value {
            Value::String(text) => texts.push(lower(text)),
            Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
            Value::Object(members) => members.values().for_each(|value| collect(value, texts)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut texts = Vec::new();
    collect(input, &mut texts);
    texts.retain(|text| text.chars().nth(RECEIVED_CHARS_MIN - 1).is_some());
    texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
    texts
}

/// As long as the text itself, so that places in one are places in the other.
fn lower(text: &str) -> String {
    text.to_ascii_lowercase()
}

fn masked(text: &str, received: &[String], is_kept: impl Fn(&str) -> bool) -> String {
    // A value that brings back-quotes of its own leaves no telling which parts are values.
    let torn: Vec<String> = received.iter().filter(|text| text.contains('`')).cloned().collect();
    let text = without(text, &torn);
    let parts: Vec<&str> = text.split('`').collect();
    let is_torn = parts.len().is_multiple_of(2) || !torn.is_empty();
    let quoted = match (parts.as_slice(), is_torn) {
        ([first, .., last], true) => format!("{first}`{MASK}`{last}"),
        (_, _) => {
            let each = parts.iter().enumerate();
            let each = each.map(|(index, part)| if index.is_multiple_of(2) || is_kept(part) { part } else { &MASK });
            each.copied().collect::<Vec<_>>().join("`")
        }
    };
    // What is kept between back-quotes is ours, also where the caller wrote the same word.
    let parts = quoted.split('`').enumerate();
    let parts =
        parts.map(|(index, part)| if index.is_multiple_of(2) { without(part, received) } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("`")
}

fn without(text: &str, received: &[String]) -> String {
    let mut text = text.to_owned();
    for needle in received {
        while let Some(at) = lower(&text).find(needle) {
            text.replace_range(at..at + needle.len(), MASK);
        }
    }
    text
}

fn field(value: &Value, may_tell: bool) -> Value {
    match value {
        Value::String(text) if may_tell && is_id(text) => value.clone(),
        Value::Bool(_) | Value::Number(_) if may_tell => value.clone(),
        Value::Null => Value::Null,
        _ => Value::String(kind(value)),
    }
}

fn is_id(text: &str) -> bool {
    text.len() <= ID_BYTES_MAX && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
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

    fn fields() -> Fields {
        let schema = json!({"properties": {
            "artifact_content": {"type": "string"}, "task_id": {"type": ["string", "null"], "pattern": CorrelationId::PATTERN},
            "project_id": {"type": "string", "pattern": "^[A-Za-z]+$"},
            "note": {"type": "string"}, "tasks": {"type": "array"}, "count": {"type": "integer", "maximum": 100},
            "lang": {"type": "string", "enum": ["th", "en"]}
        }});
        Fields::compile(schema.as_object().unwrap()).unwrap()
    }

    fn told(error: &OpError, input: &Value) -> String {
        of_error(error, &fields(), input, &["read_herb", "agent"])
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
        assert_eq!(of_input(&input, &fields()), expected.to_string());
        let token = json!({"task_id": "0".repeat(64)});
        assert_eq!(of_input(&token, &fields()), json!({"task_id": "<64 characters>"}).to_string());
    }

    #[test]
    fn a_value_that_its_schema_refuses_is_not_told() {
        let input = json!({"lang": "SECRETPATIENT", "task_id": "Somchai Rak", "project_id": "Somchai", "count": 1_100_501_234_567_i64});
        let expected = json!({"count": "<value>", "lang": "<13 characters>", "project_id": "<7 characters>", "task_id": "<11 characters>"});
        assert_eq!(of_input(&input, &fields()), expected.to_string());
        assert_eq!(of_input(&json!({"lang": "th"}), &fields()), json!({"lang": "th"}).to_string());
    }

    #[test]
    fn an_error_does_not_repeat_the_name_of_a_field_that_there_is_not() {
        let input = json!({});
        let unknown = OpError::invalid("Jane Doe", "no field of this name");
        assert_eq!(told(&unknown, &input), "`<unknown field>`: expected no field of this name");
        let within = OpError::invalid("tasks/0/Jane Doe", "no field of this name");
        assert_eq!(told(&within, &input), "`tasks`: expected no field of this name");
        let known = OpError::invalid("count", "at least 1");
        assert_eq!(told(&known, &input), "`count`: expected at least 1");
    }

    #[test]
    fn an_error_does_not_repeat_what_was_received() {
        let check = |error: OpError, received: &str, expected: &str| {
            assert_eq!(told(&error, &json!({"note": received, "tasks": [{"id": received}]})), expected);
        };
        let not_found = |text: &str| OpError::not_found(text);
        let secret = "Somchai HIV positive";
        check(not_found(&format!("no herb has the id or name `{secret}`")), secret, "no herb has the id or name `…`");
        // As the operation read it, not as it came.
        check(not_found("no herb has the id `somchai-hiv`"), secret, "no herb has the id `…`");
        check(not_found(&format!("Artifact {secret} not found")), secret, "Artifact … not found");
        check(not_found(secret), secret, "…");
        check(not_found("`a`Jane`b`"), "`a`Jane`b`", "…");
        check(not_found("no node `x`Jane"), "x`Jane", "no node `…`…");
        check(OpError::refused("`agent` may not call `read_herb`"), "agent", "`agent` may not call `read_herb`");
        let near = not_found("no herb has the id or name `Somchay`").advising("; did you mean Somchai (H7)?");
        check(near, "Somchay", "no herb has the id or name `…`");
        let invalid = OpError::new(Kind::Invalid, "`note`: expected `->` after `Somchai`, such as `herb -treats-> *`");
        check(invalid, secret, "`note`: expected `->` after `…`, such as `herb -treats-> *`");
    }
}
