//! An answer as text, for a model that reads the text alone: what was found, with ids and sources, in fewer words than the JSON
//! and without the audit block. An operation may have a text of its own ([`crate::Operation::TEXT`]).

use contract::detail::tokens;
use serde_json::{Map, Value};

/// An answer that is no longer is shown as it is: JSON is as short, and programs can read it.
const JSON_BYTES_MAX: usize = 1_000;
/// An audit block takes about as many.
const AUDIT_BYTES: usize = 400;
/// The text of an answer, whatever its size.
pub(crate) const TOKENS_MAX: usize = 1_500;
/// A text within a row.
const CHARS_MAX: usize = 300;
/// These tell nothing to whoever reads.
const LEFT_OUT: [&str; 1] = ["audit"];
/// What a row is about stands first.
const NAMES: [&str; 6] = ["label", "title", "name", "entity_label", "id", "uri"];

/// The text of an output, by the words of its operation where it has any. `n_bytes` is how long its JSON is.
pub fn text(output: &Value, n_bytes: usize, of_operation: Option<fn(&Value) -> String>) -> String {
    if let Some(words) = of_operation {
        return words(output);
    }
    if n_bytes <= JSON_BYTES_MAX + AUDIT_BYTES {
        let json = without_audit(output).to_string();
        if json.len() <= JSON_BYTES_MAX {
            return json;
        }
    }
    generic(output)
}

fn without_audit(output: &Value) -> Value {
    match output {
        Value::Object(members) => {
            let shown = members.iter().filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()));
            Value::Object(shown.map(|(name, value)| (name.clone(), value.clone())).collect())
        }
        other => other.clone(),
    }
}

/// Single values first, then each list with a line for each row, as many as fit.
fn generic(output: &Value) -> String {
    let Value::Object(members) = output else { return row(output) };
    let mut lines = Lines::default();
    let shown = members.iter().filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()));
    let (lists, single): (Vec<_>, Vec<_>) = shown.partition(|(_, value)| is_list(value));
    for (name, value) in single {
        lines.push(format!("{name}: {}", row(value)));
    }
    for (name, value) in lists {
        let rows = value.as_array().map(Vec::as_slice).unwrap_or_default();
        lines.list(&format!("{name} ({}):", rows.len()), rows.iter().map(|value| format!("- {}", row(value))));
    }
    lines.finish()
}

fn is_list(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.iter().any(|item| item.is_object() || item.is_array()))
}

/// Lines of a text, until there is no more room.
#[derive(Default)]
pub(crate) struct Lines {
    lines: Vec<String>,
    n_tokens: usize,
}

impl Lines {
    /// A line that stands in any case.
    pub fn push(&mut self, line: String) {
        self.n_tokens += tokens(&line) + 1;
        self.lines.push(line);
    }

    /// As many rows as fit under their heading, and how many more there are.
    pub fn list(&mut self, heading: &str, rows: impl ExactSizeIterator<Item = String>) {
        self.push(heading.to_owned());
        let n = rows.len();
        for (n_shown, row) in rows.enumerate() {
            if self.n_tokens + tokens(&row) > TOKENS_MAX {
                self.push(format!("… and {} more in structuredContent", n - n_shown));
                return;
            }
            self.push(row);
        }
    }

    pub fn finish(self) -> String {
        self.lines.join("\n")
    }
}

/// A value on one line.
fn row(value: &Value) -> String {
    match value {
        Value::Object(members) => object(members),
        Value::Array(items) => format!("[{}]", items.iter().map(row).collect::<Vec<_>>().join("; ")),
        Value::String(text) => cut(text),
        Value::Null => "-".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

fn object(members: &Map<String, Value>) -> String {
    let name = NAMES.iter().find_map(|name| Some((*name, members.get(*name)?.as_str()?)));
    let id = members.get("id").and_then(Value::as_str).filter(|_| name.is_none_or(|(name, _)| name != "id"));
    let first = match (name, id) {
        (Some((_, name)), Some(id)) => Some(format!("{} ({id})", cut(name))),
        (Some((_, name)), None) => Some(cut(name)),
        (None, _) => None,
    };
    let is_first = |member: &str| member == "id" || name.is_some_and(|(name, _)| name == member);
    let empty = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    let rest = members.iter().filter(|(member, value)| !is_first(member) && !empty(value));
    let rest = rest.map(|(member, value)| format!("{member} {}", row(value)));
    first.into_iter().chain(rest).collect::<Vec<_>>().join(", ")
}

fn cut(text: &str) -> String {
    let line = text.replace('\n', " ");
    if line.chars().nth(CHARS_MAX).is_none() {
        return line;
    }
    let start: String = line.chars().take(CHARS_MAX).collect();
    format!("{start}…")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(output: &Value, words: Option<fn(&Value) -> String>) -> String {
        text(output, output.to_string().len(), words)
    }

    #[test]
    fn a_short_answer_is_its_json_without_the_audit_block() {
        assert_eq!(shown(&json!({"next_id": "US-001", "audit": {"seed": 1}}), None), r#"{"next_id":"US-001"}"#);
    }

    #[test]
    fn a_long_one_is_a_line_a_row_as_many_as_fit() {
        let hit = |n: usize| json!({"id": format!("H{n}"), "title": "ขิง", "score": 0.5, "tags": [], "why": ["a", "b"]});
        let hits: Vec<Value> = (0..500).map(hit).collect();
        let shown = shown(&json!({"hits": hits, "note": "n", "audit": {"seed": 1}, "empty": []}), None);
        assert!(shown.starts_with("empty: []\nnote: n\nhits (500):\n- ขิง (H0), score 0.5, why [a; b]\n"), "{shown}");
        assert!(shown.ends_with(" more in structuredContent") && tokens(&shown) < TOKENS_MAX + 50, "{shown}");
    }

    #[test]
    fn an_operation_may_say_it_in_words_of_its_own() {
        let output = json!({"hits": ["x".repeat(2_000)]});
        assert_eq!(shown(&output, Some(|_| "one hit".to_owned())), "one hit");
    }
}
