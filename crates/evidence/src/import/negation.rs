//! Whether an edge says that something is *not* so. What cannot be told rejects the edge: a negation must never become a
//! positive statement.

use serde_json::{Map, Value};

const NAME: &str = "negated";
/// Lists of a name and a value, or objects, that may hold it beside the edge's own members.
const LISTS: [&str; 2] = ["attributes", "qualifiers"];
/// What tells the name of an entry of a list.
const ENTRY_NAMES: [&str; 3] = ["attribute_type_id", "original_attribute_name", "qualifier_type_id"];
const ENTRY_VALUES: [&str; 2] = ["value", "qualifier_value"];
const YES: [&str; 6] = ["true", "1", "t", "yes", "y", "not"];
const NO: [&str; 6] = ["false", "0", "f", "no", "n", ""];

/// Whether the edge is negated. What is said about it, wherever it stands, becomes the one member `negated`.
pub fn settle_negation(members: &mut Map<String, Value>) -> Result<bool, String> {
    let mut stated = Vec::new();
    let own: Vec<String> = members.keys().filter(|key| is_name(key)).cloned().collect();
    for key in own {
        stated.extend(members.remove(&key));
    }
    for list in LISTS {
        members.get_mut(list).into_iter().for_each(unfold);
        match members.get_mut(list) {
            Some(Value::Array(entries)) => {
                entries.iter_mut().for_each(unfold);
                stated.extend(taken_entries(entries));
            }
            Some(Value::Object(entries)) => {
                let names: Vec<String> = entries.keys().filter(|key| is_name(key)).cloned().collect();
                stated.extend(names.iter().filter_map(|name| entries.remove(name)));
            }
            Some(_) | None => {}
        }
    }
    let is_negated = agreed(&stated)?;
    if let Some(is_negated) = is_negated {
        members.insert(NAME.to_owned(), Value::Bool(is_negated));
    }
    Ok(is_negated.unwrap_or(false))
}

fn is_name(key: &str) -> bool {
    let key = key.trim();
    key.strip_prefix("biolink:").unwrap_or(key).eq_ignore_ascii_case(NAME)
}

/// Tables hold lists as the text of their JSON; it is read where it may be about negation.
fn unfold(value: &mut Value) {
    if let Value::String(text) = value
        && text.to_ascii_lowercase().contains(NAME)
        && let Ok(read @ (Value::Array(_) | Value::Object(_))) = serde_json::from_str(text)
    {
        *value = read;
    }
}

/// The values of the entries that are about negation, which leave the list.
fn taken_entries(entries: &mut Vec<Value>) -> Vec<Value> {
    let is_about = |entry: &Value| {
        ENTRY_NAMES.iter().filter_map(|key| entry.get(key)).filter_map(Value::as_str).any(is_name)
            || entry.as_object().is_some_and(|entry| entry.keys().any(|key| is_name(key)))
    };
    let value = |entry: &Value| {
        let members = entry.as_object()?;
        let own = members.iter().find(|(key, _)| is_name(key)).map(|(_, value)| value);
        own.or_else(|| ENTRY_VALUES.iter().find_map(|key| members.get(*key))).cloned()
    };
    let taken = entries.iter().filter(|entry| is_about(entry)).map(|entry| value(entry).unwrap_or_default()).collect();
    entries.retain(|entry| !is_about(entry));
    taken
}

/// What all values say together; `None` where nothing was said.
fn agreed(values: &[Value]) -> Result<Option<bool>, String> {
    let mut told = None;
    for value in values.iter().filter(|value| !value.is_null()) {
        let is_negated = read(value)?;
        if told.is_some_and(|told| told != is_negated) {
            return Err("`negated` is stated twice with different values, expected one".to_owned());
        }
        told = Some(is_negated);
    }
    Ok(told)
}

fn read(value: &Value) -> Result<bool, String> {
    let word = match value {
        Value::Null => return Ok(false),
        Value::Bool(value) => return Ok(*value),
        Value::Number(number) if number.as_f64() == Some(1.0) => return Ok(true),
        Value::Number(number) if number.as_f64() == Some(0.0) => return Ok(false),
        Value::String(word) => word.trim().to_lowercase(),
        // Tables write single values as lists.
        Value::Array(items) if !items.is_empty() => return Ok(agreed(items)?.unwrap_or(false)),
        Value::Number(_) | Value::Array(_) | Value::Object(_) => return Err(unclear(value)),
    };
    match (YES.contains(&word.as_str()), NO.contains(&word.as_str())) {
        (true, _) => Ok(true),
        (false, true) => Ok(false),
        (false, false) => Err(unclear(value)),
    }
}

fn unclear(value: &Value) -> String {
    let shown: String = value.to_string().chars().take(40).collect();
    format!("`negated` is `{shown}`, expected true or false (or 1, t, yes, y, not; 0, f, no, n)")
}

#[cfg(test)]
mod tests {
    use super::super::kgx::{OwnIds, edge};
    use super::super::{Format, Item, Options, open};
    use super::*;
    use serde_json::json;

    /// The predicate that an edge gets with more members, or why it is rejected.
    fn predicate(more: Value) -> Result<String, String> {
        let mut members = json!({"subject": "X:1", "predicate": "biolink:treats", "object": "X:2"});
        members.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        edge(members.as_object().unwrap().clone(), "kgx", OwnIds::Kept).map(|edge| edge.predicate)
    }

    #[test]
    fn a_negation_counts_in_every_spelling_and_place() {
        let yes = [
            json!(true),
            json!("True"),
            json!(1),
            json!(1.0),
            json!("1"),
            json!("t"),
            json!("YES"),
            json!("y"),
            json!("NOT"),
            json!([true]),
            json!(["true"]),
        ];
        for value in yes {
            let entry = |key: &str, name: &str| json!({ "attributes": [{ key: name, "value": value }] });
            for more in [
                json!({ "negated": value }),
                json!({ "biolink:negated": value }),
                json!({ "Negated": value }),
                json!({ "attributes": { "negated": value } }),
                json!({ "attributes": [{ "negated": value }] }),
                json!({ "attributes": json!([{ "attribute_type_id": "negated", "value": value }]).to_string() }),
                entry("attribute_type_id", "biolink:negated"),
                entry("original_attribute_name", "negated"),
                json!({ "qualifiers": [{ "qualifier_type_id": "biolink:negated", "qualifier_value": value }] }),
            ] {
                assert_eq!(predicate(more.clone()).as_deref(), Ok("not_treats"), "{more}");
            }
        }
    }

    #[test]
    fn what_denies_a_negation_leaves_the_statement_as_it_is() {
        for value in [
            json!(false),
            json!("False"),
            json!(0),
            json!("0"),
            json!("F"),
            json!("no"),
            json!("n"),
            json!(""),
            json!(null),
            json!([false]),
        ] {
            assert_eq!(predicate(json!({ "negated": value })).as_deref(), Ok("treats"), "{value}");
        }
        assert_eq!(predicate(json!({})).as_deref(), Ok("treats"));
    }

    #[test]
    fn what_cannot_be_told_rejects_the_edge() {
        for value in [json!("maybe"), json!(2), json!([]), json!({"value": true}), json!([true, false]), json!("-")] {
            let reason = predicate(json!({ "negated": value })).unwrap_err();
            assert!(reason.contains("expected"), "{value}: {reason}");
        }
        let both =
            json!({ "negated": false, "attributes": [{ "attribute_type_id": "biolink:negated", "value": true }] });
        assert!(predicate(both).unwrap_err().contains("twice"));
    }

    #[test]
    fn what_a_file_says_twice_hides_no_negation() {
        for (format, text) in [
            (Format::Kgx, "subject\tpredicate\tobject\tnegated\tnegated\nX:1\ttreats\tX:2\ttrue\tfalse\n"),
            (
                Format::Kgx,
                r#"{"subject": "X:1", "predicate": "treats", "object": "X:2", "negated": true, "negated": false}"#,
            ),
            (
                Format::Trapi,
                r#"{"knowledge_graph": {"edges": {"e": {"subject": "X:1", "predicate": "treats", "object": "X:2",
                    "attributes": [{"attribute_type_id": "biolink:negated", "value": true},
                                   {"attribute_type_id": "biolink:negated", "value": false}]}}}}"#,
            ),
        ] {
            let options = Options { source: format.source(), lang: None };
            let items: Vec<Item> = open(format, options, text.as_bytes()).unwrap().map(Result::unwrap).collect();
            let [Item::Rejected(rejection)] = items.as_slice() else { panic!("{items:?}") };
            assert!(rejection.reason.contains("`negated`"), "{rejection:?}");
        }
    }

    #[test]
    fn what_was_said_becomes_one_member() {
        let members = json!({"biolink:negated": "t", "attributes": [{"attribute_type_id": "negated", "value": 1}, 2]});
        let mut members = members.as_object().unwrap().clone();
        assert_eq!(settle_negation(&mut members), Ok(true));
        assert_eq!(Value::Object(members), json!({"negated": true, "attributes": [2]}));
    }
}
