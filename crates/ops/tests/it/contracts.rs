//! The contract files: committed, compared, and compared with the last release.

use contract::compatibility::{Direction, breaks};
use contract::event::Event;
use contract::schema::event_schema;
use ops::Table;
use ops::operations::OPERATIONS;
use serde_json::{Map, Value, json};

fn operations() -> Value {
    let table = Table::compile(OPERATIONS).unwrap();
    let operations: Map<String, Value> = table
        .all()
        .iter()
        .map(|tool| {
            let schemas = json!({ "input": *tool.input_schema, "output": *tool.output_schema });
            (tool.entry.name.to_owned(), schemas)
        })
        .collect();
    Value::Object(operations)
}

fn pretty(value: &Value) -> String {
    format!("{}\n", serde_json::to_string_pretty(value).unwrap())
}

#[test]
fn the_schemas_of_every_operation_are_the_committed_ones() {
    testkit::check_golden("contracts/operations.json", &pretty(&operations()));
}

#[test]
fn the_schema_of_an_event_is_the_committed_one() {
    testkit::check_golden("contracts/event.json", &pretty(&Value::Object(event_schema::<Event>())));
}

#[test]
fn nothing_breaks_those_who_were_built_against_the_last_release() {
    let released: Value = serde_json::from_str(include_str!("../../contracts/released.json")).unwrap();
    let current = operations();
    let mut broken = Vec::new();
    for (name, schemas) in released.as_object().unwrap() {
        let Some(now) = current.get(name) else {
            broken.push(format!("{name}: removed"));
            continue;
        };
        broken.extend(breaks(&schemas["input"], &now["input"], Direction::Input));
        broken.extend(breaks(&schemas["output"], &now["output"], Direction::Output));
    }
    assert_eq!(broken, Vec::<String>::new(), "take a new name and keep the old operation for one release");
}

#[test]
fn names_fit_every_client_and_schemas_are_closed_objects() {
    let table = Table::compile(OPERATIONS).unwrap();
    for tool in table.all() {
        let name = tool.entry.name;
        let is_plain = name.len() <= 40
            && name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        assert!(is_plain, "{name}");
        assert_eq!(tool.output_schema["type"], "object", "{name}");
        assert_eq!(tool.input_schema["additionalProperties"], false, "{name}");
    }
}
