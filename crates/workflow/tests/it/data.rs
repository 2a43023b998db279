//! The files of `data/workflow` against their JSON Schemas, which are made from the types that read them.

use contract::workflow::checklists::Checklist;
use schemars::JsonSchema;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use workflow::catalogue::{GeneratorsFile, MarkersFile, TypesFile};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/workflow")
}

fn schema<T: JsonSchema>() -> Value {
    Value::Object(contract::schema::tool_schema::<T>())
}

fn schemas() -> Value {
    json!({
        "types.json": schema::<TypesFile>(),
        "generators.json": schema::<GeneratorsFile>(),
        "markers.json": schema::<MarkersFile>(),
        "checklists/*.json": schema::<Checklist>(),
    })
}

fn check(path: &Path, schema: &Value) {
    let value: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert_eq!(errors, Vec::<String>::new(), "{}", path.display());
}

#[test]
fn the_schemas_of_the_files_are_the_committed_ones() {
    testkit::check_golden(
        "../../data/workflow/schemas.json",
        &format!("{}\n", serde_json::to_string_pretty(&schemas()).unwrap()),
    );
}

#[test]
fn every_file_that_ships_fits_its_schema() {
    let schemas = schemas();
    for name in ["types.json", "generators.json", "markers.json"] {
        check(&folder().join(name), &schemas[name]);
    }
    let mut n_checklists = 0;
    for entry in fs::read_dir(folder().join("checklists")).unwrap() {
        check(&entry.unwrap().path(), &schemas["checklists/*.json"]);
        n_checklists += 1;
    }
    assert_eq!(n_checklists, 16);
}

#[test]
fn every_file_that_ships_is_compiled_in() {
    let catalogue = workflow::catalogue::Catalogue::built_in().unwrap();
    let stems = |folder_name: &str| -> Vec<String> {
        let entries = fs::read_dir(folder().join(folder_name)).unwrap();
        let mut stems: Vec<String> =
            entries.map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        stems.sort();
        stems
    };
    assert_eq!(catalogue.checklist_ids().collect::<Vec<_>>(), stems("checklists"));
    for name in stems("templates") {
        assert!(catalogue.find_template(&name).is_some(), "{name}");
    }
}
