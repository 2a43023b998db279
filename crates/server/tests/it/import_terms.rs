//! Terms of what is imported: those that its file, its caller or its importer states, and nobody else's.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::import::{ARTICLE, call, last_line, run};

const UNSTATED: &str = "not stated";

/// The licence under which each record of a kind is.
fn terms(data: &Path, kind: &str) -> Vec<(String, String)> {
    let read = |kind: &str| -> Vec<Value> {
        let found = call(data, "read_records", &json!({"kind": kind}), &[]).expect("records");
        found["records"].as_array().expect("records").clone()
    };
    let text = |record: &Value, member: &str| record[member].as_str().expect("a text").to_owned();
    let licences: HashMap<String, String> =
        read("source").iter().map(|it| (text(it, "id"), text(it, "licence"))).collect();
    read(kind).iter().map(|it| (text(it, "id"), licences[&text(it, "source")].clone())).collect()
}

fn listed(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(id, licence)| ((*id).to_owned(), (*licence).to_owned())).collect()
}

#[test]
fn a_file_whose_terms_nobody_stated_has_not_those_of_another_file() {
    let folder = testkit::temp_dir();
    let write = |name: &str, text: String| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).expect("a file");
        file.to_str().expect("a path").to_owned()
    };
    let graph = |id: &str| format!("id\tcategory\tname\nX:{id}\tbiolink:Gene\t{id}\n");
    let corpus = |id: &str| format!("{{\"_id\": \"{id}\", \"text\": \"words\"}}\n");
    for (format, kind, ids, files) in [
        ("kgx", "node", ["X:a", "X:b"], [graph("a"), graph("b")]),
        ("beir", "document", ["beir:a", "beir:b"], [corpus("a"), corpus("b")]),
    ] {
        let [stated, unstated] = files;
        let (stated, unstated) =
            (write(&format!("stated.{format}"), stated), write(&format!("unstated.{format}"), unstated));
        for order in [[true, false], [false, true]] {
            let data = testkit::temp_dir();
            for is_stated in order {
                let imported = match is_stated {
                    true => run(data.path(), &["import", format, &stated, "--licence", "CC0-1.0"]),
                    false => run(data.path(), &["import", format, &unstated]),
                };
                assert_eq!(last_line(&imported), "read 1, kept 1, repeated 0, rejected 0");
            }
            assert_eq!(terms(data.path(), kind), listed(&[(ids[0], "CC0-1.0"), (ids[1], UNSTATED)]), "{order:?}");
        }
    }
}

#[test]
fn a_file_that_was_imported_with_terms_is_repeated_without_them_and_keeps_them() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let (nodes, edges) = (folder.path().join("nodes.tsv"), folder.path().join("edges.tsv"));
    let text = "id\tcategory\tname\tprovided_by\nX:1\tbiolink:Gene\tone\t\nX:2\tbiolink:Gene\ttwo\ttheirs\n";
    std::fs::write(&nodes, format!("{text}X:2\tbiolink:Gene\ttwo\ttheirs\n")).expect("a file");
    std::fs::write(&edges, "subject\tpredicate\tobject\nX:1\tbiolink:affects\tX:2\n").expect("a file");
    let (nodes, edges) = (nodes.to_str().expect("a path"), edges.to_str().expect("a path"));
    let stated = run(&data, &["import", "kgx", nodes, edges, "--licence", "CC0-1.0"]);
    assert_eq!(last_line(&stated), "read 4, kept 3, repeated 1, rejected 0");
    for _ in 0..2 {
        let plain = run(&data, &["import", "kgx", nodes, edges]);
        assert_eq!(last_line(&plain), "read 4, kept 0, repeated 4, rejected 0", "{plain:?}");
    }
    assert_eq!(terms(&data, "node"), listed(&[("X:1", "CC0-1.0"), ("X:2", "CC0-1.0")]));
    assert_eq!(terms(&data, "edge").iter().map(|(_, licence)| licence.as_str()).collect::<Vec<_>>(), ["CC0-1.0"]);
    // Other terms are no repetition.
    let other = run(&data, &["import", "kgx", nodes, edges, "--licence", "MIT"]);
    assert_eq!(last_line(&other), "read 4, kept 0, repeated 0, rejected 4", "{other:?}");
    let other = run(&data, &["import", "kgx", nodes, edges, "--licence", "MIT", "--replace-other-sources"]);
    assert!(last_line(&other).starts_with("read 4, kept 3, repeated 1, rejected 0"), "{other:?}");
    assert_eq!(terms(&data, "node"), listed(&[("X:1", "MIT"), ("X:2", "MIT")]));
}

#[test]
fn the_sources_of_importers_have_the_terms_that_these_state() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    for id in ["pubmed", "jats", "kgx", "trapi", "semmeddb", "hetionet", "icd10", "beir"] {
        for may_replace in [false, true] {
            let source = json!({"record": "source", "id": id, "title": "x", "licence": "CC0"});
            let input = json!({"records": [source], "replace_other_sources": may_replace});
            let told = call(&data, "put_records", &input, &[]).expect("an answer");
            let reason = told["rejected"][0]["reason"].as_str().expect("a reason");
            assert!(reason.contains("is the source of what `materia import` brings"), "{told}");
        }
    }
    // Nor does a file speak for them.
    let graph = folder.path().join("graph.jsonl");
    let line =
        json!({"id": "X:1", "category": ["biolink:Gene"], "name": "one", "provided_by": ["pubmed"], "license": "CC0"});
    std::fs::write(&graph, format!("{line}\n")).expect("a file");
    let told = run(&data, &["import", "kgx", graph.to_str().expect("a path")]);
    assert!(String::from_utf8_lossy(&told.stderr).contains("kept apart as `kgx:pubmed`"), "{told:?}");
    let paper = folder.path().join("paper.xml");
    std::fs::write(&paper, ARTICLE).expect("a file");
    let named =
        run(&data, &["import", "pubmed", paper.to_str().expect("a path"), "--source", "pubmed", "--licence", "CC0"]);
    assert!(!named.status.success(), "{named:?}");
    run(&data, &["import", "pubmed", paper.to_str().expect("a path")]);
    let ris = run(&data, &["export", "ris", "PMID:99000001"]);
    let ris = String::from_utf8_lossy(&ris.stdout).into_owned();
    assert!(ris.contains("C1  - NLM data terms; abstracts may be under copyright"), "{ris}");
}

#[test]
fn terms_that_the_caller_says_are_those_of_the_sources_that_lines_name_without_terms() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let import = |name: &str, licence: &str, lines: &[Value]| {
        let file = folder.path().join(name);
        std::fs::write(&file, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).expect("a file");
        let output = run(&data, &["import", "kgx", file.to_str().expect("a path"), "--licence", licence]);
        assert!(output.status.success(), "{output:?}");
        last_line(&output)
    };
    let node = |id: &str| json!({"id": id, "category": ["biolink:Gene"], "name": id});
    let by = |id: &str, more: Value| {
        let mut line = node(id);
        line.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        line
    };
    let open = json!({"provided_by": ["open"], "license": "CC-BY-4.0"});
    let lines = [by("X:1", json!({"provided_by": ["theirs"]})), by("X:2", open), node("X:3")];
    assert_eq!(import("a.jsonl", "CC0-1.0", &lines), "read 3, kept 3, repeated 0, rejected 0");
    assert_eq!(import("a.jsonl", "CC0-1.0", &lines), "read 3, kept 0, repeated 3, rejected 0");
    // A later one under other terms.
    let lines = [by("X:4", json!({"provided_by": ["others"]})), node("X:5")];
    assert_eq!(import("b.jsonl", "MIT", &lines), "read 2, kept 2, repeated 0, rejected 0");
    let expected = [("X:1", "CC0-1.0"), ("X:2", "CC-BY-4.0"), ("X:3", "CC0-1.0"), ("X:4", "MIT"), ("X:5", "MIT")];
    assert_eq!(terms(&data, "node"), listed(&expected));
}
