//! The schemas are committed files, and the rows that ship fit them.

use serde_json::Value;

#[test]
fn the_schemas_of_the_rows_are_the_committed_ones() {
    for (name, schema) in starter::schemas::all() {
        let text = serde_json::to_string_pretty(&schema).unwrap();
        testkit::check_golden(format!("../../data/schemas/{name}.json"), &format!("{text}\n"));
    }
}

#[test]
fn a_whole_row_fits_its_schema_and_one_with_a_member_too_many_does_not() {
    let files = crate::made_up_files();
    let schemas: std::collections::BTreeMap<_, _> = starter::schemas::all().into_iter().collect();
    for (kind, path) in
        [("herb", "herbs/test_root.json"), ("instrument", "instruments/test_scale.json"), ("rules", "rules.json")]
    {
        let validator = jsonschema::validator_for(&Value::Object(schemas[kind].clone())).unwrap();
        let mut row: Value = serde_json::from_slice(files.get(path).unwrap()).unwrap();
        assert!(validator.is_valid(&row), "{path}");
        row["surprise"] = Value::Bool(true);
        assert!(!validator.is_valid(&row), "{path}");
    }
}
