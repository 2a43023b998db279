//! A data set that is not whole: each problem is found and named.

use serde_json::{Value, json};
use starter::{Files, check};

use crate::made_up_files;

/// The made-up files with one changed.
fn changed(path: &str, change: impl FnOnce(&mut Value)) -> Files {
    let mut files = made_up_files();
    let text = String::from_utf8(files.get(path).unwrap().to_vec()).unwrap();
    let text = if path.ends_with(".jsonl") {
        let mut rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        change(&mut rows[0]);
        rows.iter().map(|row| format!("{row}\n")).collect()
    } else {
        let mut value = serde_json::from_str(&text).unwrap();
        change(&mut value);
        format!("{value:#}\n")
    };
    files.insert(path, text.into_bytes());
    files
}

/// Exactly one problem, told like this.
#[track_caller]
fn check(path: &str, change: impl FnOnce(&mut Value), expected: &str) {
    let told: Vec<String> = check::check(&changed(path, change)).problems.iter().map(ToString::to_string).collect();
    assert_eq!(told, [expected]);
}

#[track_caller]
fn check_some(path: &str, change: impl FnOnce(&mut Value), expected: &str) {
    let told: Vec<String> = check::check(&changed(path, change)).problems.iter().map(ToString::to_string).collect();
    assert!(told.iter().any(|it| it.contains(expected)), "{told:?}");
}

const HERB: &str = "herbs/test_root.json";
const FORMULATION: &str = "formulations/test_mixture.json";
const DRUGS: &str = "drugs/test.jsonl";
const INTERACTIONS: &str = "interactions/test.jsonl";
const INSTRUMENT: &str = "instruments/test_scale.json";
const QUESTIONS: &str = "evaluation/smoke.jsonl";

#[test]
fn a_row_of_any_kind_without_a_source_is_named() {
    let empty = |row: &mut Value| row["sources"] = json!([]);
    check(HERB, empty, "herbs/test_root.json: test_root sources: found none, expected at least one source");
    check(
        FORMULATION,
        empty,
        "formulations/test_mixture.json: test_mixture sources: found none, expected at least one source",
    );
    check(DRUGS, empty, "drugs/test.jsonl:1: madeupine sources: found none, expected at least one source");
    check(
        INTERACTIONS,
        empty,
        "interactions/test.jsonl:1: madeupine__otherine sources: found none, expected at least one source",
    );
    check(
        INSTRUMENT,
        empty,
        "instruments/test_scale.json: test_scale sources: found none, expected at least one source",
    );
    check(
        HERB,
        |row| row["facts"][2]["sources"] = json!([]),
        "herbs/test_root.json: test_root facts/2 contraindicated_in made_up_state sources: found none, expected at least one \
         source",
    );
    check(
        HERB,
        |row| row["monograph"]["sources"] = json!([]),
        "herbs/test_root.json: test_root monograph sources: found none, expected at least one source",
    );
    let gone = |row: &mut Value| drop(row.as_object_mut().unwrap().remove("sources"));
    for (path, id) in
        [(HERB, "test_root"), (FORMULATION, "test_mixture"), (DRUGS, "madeupine"), (INSTRUMENT, "test_scale")]
    {
        check_some(path, gone, &format!(" {id}: found `missing field `sources``, expected a row as its schema says"));
    }
    check_some(INTERACTIONS, gone, "interactions/test.jsonl:1: madeupine__otherine: found `missing field `sources``");
}

#[test]
fn what_is_referred_to_must_be_there_and_of_the_right_kind() {
    let at = "herbs/test_root.json: test_root facts/0 contains";
    check(
        HERB,
        |row| row["facts"][0]["object"] = json!("nothing"),
        &format!("{at} nothing object: found `nothing`, which is not there, expected one of: constituent"),
    );
    check(
        HERB,
        |row| row["facts"][0]["object"] = json!("madeupine"),
        &format!("{at} madeupine object: found `madeupine`, a drug, expected one of: constituent"),
    );
    check(
        HERB,
        |row| row["sources"][0]["id"] = json!("lost_book"),
        "herbs/test_root.json: test_root sources/0/id: found `lost_book`, which is not there, expected a row of sources.json",
    );
    check(
        HERB,
        |row| row["sources"][0]["id"] = json!("PMID:9"),
        "herbs/test_root.json: test_root sources/0/id: found `PMID:9`, which is not there, expected a row of papers.jsonl",
    );
    check(
        HERB,
        |row| drop(row["sources"][0].as_object_mut().unwrap().remove("at")),
        "herbs/test_root.json: test_root sources/0/at: found none, expected the page, section or row",
    );
    check(
        DRUGS,
        |row| {
            row["classes"] = json!(["no_class"]);
            row["memberships"] = json!([]);
        },
        "drugs/test.jsonl:1: madeupine classes: found `no_class`, which is not there, expected one of: class",
    );
    check(
        FORMULATION,
        |row| row["herbs"][0]["id"] = json!("madeupol"),
        "formulations/test_mixture.json: test_mixture herbs: found `madeupol`, a constituent, expected one of: herb",
    );
    check(
        QUESTIONS,
        |row| row["passages"][0]["section"] = json!("price"),
        "evaluation/smoke.jsonl:1: smo_001 passages/0: found `monograph:test_root:en price`, which is not there, expected a section of a monograph, or a paper",
    );
}

#[test]
fn ids_and_names_mean_one_thing() {
    check_some("classes.jsonl", |row| row["id"] = json!("madeupol"), "madeupol: found the id again, after");
    check(
        "constituents.jsonl",
        |row| row["names"]["en"] = json!(["Test  ROOT"]),
        "herbs/test_root.json: test_root names: found `test root`, which means madeupol, test_root, expected one meaning, or a row of ambiguous.json",
    );
    let mut files = changed("constituents.jsonl", |row| row["names"]["en"] = json!(["Test ROOT"]));
    files.insert("ambiguous.json", br#"[{"name": "test root", "ids": ["madeupol", "test_root"]}]"#.to_vec());
    assert_eq!(check::check(&files).problems, []);
    files.insert(
        "ambiguous.json",
        br#"[{"name": "test root", "ids": ["madeupol", "test_root", "madeupine"]}]"#.to_vec(),
    );
    assert_eq!(check::check(&files).problems.len(), 1);
    check(
        DRUGS,
        |row| row["misspellings"] = json!(["otherine"]),
        "drugs/test.jsonl:2: otherine names: found `otherine`, which means madeupine, otherine, expected one meaning, or a row of ambiguous.json",
    );
    check(
        HERB,
        |row| row["names"]["la"] = json!([]),
        "herbs/test_root.json: test_root names/la: found none, expected a name",
    );
    check_some(HERB, |row| row["id"] = json!("Test-root"), "another form of id, expected snake_case");
}

#[test]
fn a_class_is_not_broader_than_itself() {
    let files = changed("classes.jsonl", |row| row["broader"] = json!(["made_up_class"]));
    let told = check::check(&files).problems.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        told,
        ["classes.jsonl:1: made_up_class broader: found a cycle back to itself, expected classes that are broader"]
    );
}

#[test]
fn critical_and_high_need_more_than_a_word() {
    check(
        INTERACTIONS,
        |row| row["rule"] = json!(null),
        "interactions/test.jsonl:1: madeupine__otherine rule: found `critical` under None, expected `R-DDI-001`",
    );
    check(
        INTERACTIONS,
        |row| row["verified"] = json!(false),
        "interactions/test.jsonl:1: madeupine__otherine severity: found `critical` of a fact that is not verified, expected `major` or less",
    );
    check(
        INTERACTIONS,
        |row| row["severity"] = json!("major"),
        "interactions/test.jsonl:1: madeupine__otherine rule: found `R-DDI-001`, expected null: it is not critical",
    );
    check(
        HERB,
        |row| row["facts"][2]["verified"] = json!(false),
        "herbs/test_root.json: test_root facts/2 contraindicated_in made_up_state strength: found `high` of a fact that is not verified, expected `moderate` or less",
    );
    check_some(
        INTERACTIONS,
        |row| row["a"] = json!("test_root"),
        "found `madeupine__otherine`, expected `otherine__test_root`",
    );
    check_some(INTERACTIONS, |row| row["a"] = json!("test_root"), "the pair again, after");
}

#[test]
fn a_membership_is_of_a_class_of_its_row_and_has_a_source() {
    let at = "drugs/test.jsonl:1: madeupine memberships";
    check(
        DRUGS,
        |row| row["memberships"][0]["class"] = json!("wider_class"),
        &format!("{at}/wider_class: found another class, expected one of those that the row names"),
    );
    check(
        DRUGS,
        |row| row["memberships"][0]["sources"] = json!([]),
        &format!("{at}/made_up_class sources: found none, expected at least one source"),
    );
    check(
        DRUGS,
        |row| {
            let again = row["memberships"][0].clone();
            row["memberships"].as_array_mut().unwrap().push(again);
        },
        &format!("{at}/made_up_class: found the class again, expected each once, with all of its sources"),
    );
    let broader = json!([{"class": "wider_class", "sources": [{"id": "lost_book", "at": "p. 1"}], "verified": true,
        "reviewed": "2026-01-01"}]);
    check(
        "classes.jsonl",
        |row| row["memberships"] = broader,
        "classes.jsonl:1: made_up_class memberships/wider_class sources/0/id: found `lost_book`, which is not there, expected \
         a row of sources.json",
    );
}

#[test]
fn a_question_is_not_in_the_words_of_its_passage() {
    check(
        QUESTIONS,
        |row| row["question"] = json!("Is test root a plant that does not exist in a made-up state leaves it alone?"),
        "evaluation/smoke.jsonl:1: smo_001 passages/0: found `in a made up state` in question and passage, expected a question in other words",
    );
    check(
        QUESTIONS,
        |row| row["passages"] = json!([{"document": "PMID:1"}]),
        "evaluation/smoke.jsonl:1: smo_001 passages: found 1 passages of 1 sources, expected 3 of 2",
    );
}

#[test]
fn what_cannot_be_read_is_named_with_its_line() {
    check_some(HERB, |row| row["colour"] = json!("red"), "unknown field `colour`");
    let mut files = made_up_files();
    files.insert("herbs/note.txt", b"hello".to_vec());
    files.insert("papers.jsonl", b"{\n".to_vec());
    files.insert("VERSION", b"soon".to_vec());
    files.insert("ambiguous.json", "[{\"name\": \"e\u{301}\", \"ids\": []}]".as_bytes().to_vec());
    let told: Vec<String> = check::check(&files).problems.iter().map(ToString::to_string).collect();
    for expected in [
        "VERSION: found no version, expected a date such as `2026.11.16`",
        "herbs/note.txt: found a file, expected none of this name; `data/README.md` lists them",
        "ambiguous.json:1: found another normal form, expected text in NFC",
        "papers.jsonl:1: found `EOF while parsing an object`, expected a row as its schema says",
    ] {
        assert!(told.iter().any(|it| it == expected), "{expected}\n{told:#?}");
    }
}

#[test]
fn instruments_and_patients_are_whole_and_nobody_real() {
    check(
        INSTRUMENT,
        |row| row["bands"][1]["min"] = json!(4),
        "instruments/test_scale.json: test_scale bands/much: found 4 to 6, expected from 3 on",
    );
    check(
        INSTRUMENT,
        |row| row["red_flags"][0]["item"] = json!(3),
        "instruments/test_scale.json: test_scale: found item 3, expected 1 to 2",
    );
    check(
        "patients/nobody.json",
        |row| drop(row.as_object_mut().unwrap().remove("meta")),
        "patients/nobody.json: entry/0 meta: found no mark, expected the security label HTEST: nobody may be taken for real",
    );
}
