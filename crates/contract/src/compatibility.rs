//! Does a changed schema break those who were built against the released one?
//!
//! An input may only accept more, an output may only promise more. What breaks takes a new name instead.

use std::collections::BTreeSet;

use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Callers write it: it must go on accepting what it accepted.
    Input,
    /// Callers read it: it must go on holding what it held.
    Output,
}

const LOWER_BOUNDS: [&str; 4] = ["minimum", "minLength", "minItems", "exclusiveMinimum"];
const UPPER_BOUNDS: [&str; 4] = ["maximum", "maxLength", "maxItems", "exclusiveMaximum"];

/// Sentences that say what broke between two versions of a schema; empty when nothing did.
pub fn breaks(released: &Value, current: &Value, direction: Direction) -> Vec<String> {
    let mut found = Vec::new();
    compare(released, current, direction, "", &mut found);
    found
}

fn compare(released: &Value, current: &Value, direction: Direction, path: &str, found: &mut Vec<String>) {
    let here = if path.is_empty() { "the root" } else { path };
    compare_sets(released, current, "type", direction, here, found);
    compare_sets(released, current, "enum", direction, here, found);
    compare_bounds(released, current, direction, here, found);
    if released.get("pattern") != current.get("pattern")
        && current.get("pattern").is_some()
        && direction == Direction::Input
    {
        found.push(format!("{here}: `pattern` was added or changed"));
    }
    compare_members(released, current, direction, path, found);
    if let (Some(released), Some(current)) = (released.get("items"), current.get("items")) {
        compare(released, current, direction, &format!("{path}/*"), found);
    }
}

fn compare_members(released: &Value, current: &Value, direction: Direction, path: &str, found: &mut Vec<String>) {
    let no_members = serde_json::Map::new();
    let members = |schema: &Value| schema.get("properties").and_then(Value::as_object).cloned();
    let (before, after) = (members(released).unwrap_or(no_members.clone()), members(current).unwrap_or(no_members));
    for (name, schema) in &before {
        match after.get(name) {
            Some(now) => compare(schema, now, direction, &format!("{path}/{name}"), found),
            None => found.push(format!("{path}/{name}: removed")),
        }
    }
    let (needed, needed_now) = (texts(released, "required"), texts(current, "required"));
    match direction {
        Direction::Input => {
            for name in needed_now.difference(&needed) {
                found.push(format!("{path}/{name}: became required"));
            }
        }
        Direction::Output => {
            for name in needed.difference(&needed_now) {
                found.push(format!("{path}/{name}: is no longer always there"));
            }
        }
    }
}

fn compare_sets(
    released: &Value,
    current: &Value,
    key: &str,
    direction: Direction,
    here: &str,
    found: &mut Vec<String>,
) {
    let (before, after) = (texts(released, key), texts(current, key));
    if before == after {
        return;
    }
    // No set at all means that anything goes.
    let narrowed = !after.is_empty() && (before.is_empty() || !before.is_subset(&after));
    let widened = !before.is_empty() && (after.is_empty() || !after.is_subset(&before));
    match direction {
        Direction::Input if narrowed => found.push(format!("{here}: `{key}` accepts less than it did")),
        Direction::Output if widened => found.push(format!("{here}: `{key}` holds values readers do not know")),
        Direction::Input | Direction::Output => {}
    }
}

fn compare_bounds(released: &Value, current: &Value, direction: Direction, here: &str, found: &mut Vec<String>) {
    let bound = |schema: &Value, key: &str, none: f64| schema.get(key).and_then(Value::as_f64).unwrap_or(none);
    for key in LOWER_BOUNDS {
        let (before, after) = (bound(released, key, f64::NEG_INFINITY), bound(current, key, f64::NEG_INFINITY));
        if (direction == Direction::Input && after > before) || (direction == Direction::Output && after < before) {
            found.push(format!("{here}: `{key}` went from {before} to {after}"));
        }
    }
    for key in UPPER_BOUNDS {
        let (before, after) = (bound(released, key, f64::INFINITY), bound(current, key, f64::INFINITY));
        if (direction == Direction::Input && after < before) || (direction == Direction::Output && after > before) {
            found.push(format!("{here}: `{key}` went from {before} to {after}"));
        }
    }
}

fn texts(schema: &Value, key: &str) -> BTreeSet<String> {
    match schema.get(key) {
        Some(Value::Array(items)) => items.iter().map(Value::to_string).collect(),
        Some(one) => BTreeSet::from([one.to_string()]),
        None => BTreeSet::new(),
    }
    .into_iter()
    .map(|text| text.trim_matches('"').to_owned())
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(released: Value, current: Value, direction: Direction, expected: &[&str]) {
        assert_eq!(breaks(&released, &current, direction), expected);
    }

    fn object(properties: Value, required: Value) -> Value {
        json!({"type": "object", "properties": properties, "required": required})
    }

    #[test]
    fn an_optional_member_may_be_added() {
        let before = object(json!({"a": {"type": "string"}}), json!(["a"]));
        let after = object(json!({"a": {"type": "string"}, "b": {"type": "string"}}), json!(["a"]));
        check(before.clone(), after.clone(), Direction::Input, &[]);
        check(before, after, Direction::Output, &[]);
    }

    #[test]
    fn removing_requiring_and_narrowing_break_an_input() {
        let before =
            object(json!({"a": {"type": ["string", "null"]}, "n": {"type": "integer", "maximum": 100}}), json!([]));
        let after = object(json!({"n": {"type": "integer", "maximum": 50}}), json!(["n"]));
        check(
            before,
            after,
            Direction::Input,
            &["/a: removed", "/n: `maximum` went from 100 to 50", "/n: became required"],
        );
        let before = json!({"enum": ["a", "b"]});
        check(before, json!({"enum": ["a"]}), Direction::Input, &["the root: `enum` accepts less than it did"]);
    }

    #[test]
    fn promising_less_breaks_an_output() {
        let before = object(json!({"a": {"type": "string"}}), json!(["a"]));
        let after = object(json!({"a": {"type": ["string", "null"]}}), json!([]));
        check(
            before,
            after,
            Direction::Output,
            &["/a: `type` holds values readers do not know", "/a: is no longer always there"],
        );
        let items = |kind: &str| json!({"type": "array", "items": {"type": kind}});
        check(items("string"), items("integer"), Direction::Output, &["/*: `type` holds values readers do not know"]);
    }
}
