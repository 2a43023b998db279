//! The facts that come with the program, as a user of a fresh data folder meets them.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use starter::{Files, parse};

use crate::house::{Access, House, HouseOptions, Process, materia};
use crate::ids;

use Level::{Avoid, Caution};

/// What a book of herbal medicine says against a herb, and on which page.
const AGAINST: [(&str, &str, Level, u32); 42] = [
    ("khing", "pregnancy_nausea_use", Avoid, 80),
    ("khing", "under_6_years", Avoid, 80),
    ("khing", "anticoagulant", Avoid, 80),
    ("khing", "bleeding_disorder", Caution, 80),
    ("khing", "gallstones", Caution, 80),
    ("chumhet_thet", "gi_obstruction", Avoid, 93),
    ("chumhet_thet", "diarrhea_or_abdominal_symptoms", Avoid, 93),
    ("chumhet_thet", "pregnancy", Caution, 93),
    ("chumhet_thet", "breastfeeding", Caution, 93),
    ("chumhet_thet", "under_12_years", Caution, 93),
    ("chumhet_thet", "inflammatory_bowel_disease", Caution, 93),
    ("chumhet_thet", "max_7_days", Caution, 85),
    ("khamin_chan", "biliary_obstruction", Avoid, 66),
    ("khamin_chan", "allergy_to_herb", Avoid, 66),
    ("khamin_chan", "pregnancy", Caution, 66),
    ("khamin_chan", "breastfeeding", Caution, 66),
    ("khamin_chan", "gallstones", Caution, 66),
    ("khun", "gi_obstruction", Avoid, 87),
    ("khun", "diarrhea_or_abdominal_symptoms", Avoid, 87),
    ("thao_wan_priang", "pregnancy", Avoid, 102),
    ("thao_wan_priang", "peptic_ulcer", Caution, 102),
    ("bua_bok", "allergy_to_apiaceae", Avoid, 114),
    ("bua_bok", "suspected_dengue", Avoid, 115),
    ("bua_bok", "liver_affecting", Caution, 115),
    ("bua_bok", "diuretic", Caution, 115),
    ("bua_bok", "drowsiness_causing", Caution, 115),
    ("phlai", "asthma", Caution, 142),
    ("fa_thalai_jone", "allergy_to_herb", Avoid, 147),
    ("fa_thalai_jone", "pregnancy", Avoid, 147),
    ("fa_thalai_jone", "breastfeeding", Avoid, 147),
    ("fa_thalai_jone", "strep_group_a_sore_throat", Avoid, 147),
    ("fa_thalai_jone", "post_strep_nephritis", Avoid, 147),
    ("fa_thalai_jone", "rheumatic_heart_disease", Avoid, 147),
    ("fa_thalai_jone", "severe_bacterial_throat_infection", Avoid, 147),
    ("fa_thalai_jone", "antidiabetic", Caution, 147),
    ("fa_thalai_jone", "antihypertensive", Caution, 147),
    ("fa_thalai_jone", "hypotension", Caution, 147),
    ("fa_thalai_jone", "diabetes", Caution, 147),
    ("fa_thalai_jone", "hypertension", Caution, 147),
    ("makham_pom", "uncontrolled_diabetes", Avoid, 157),
    ("makham_pom", "allergy_to_herb", Avoid, 157),
    ("makham_pom", "easy_diarrhea", Caution, 157),
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Level {
    /// Strength high.
    Avoid,
    /// Strength moderate at least.
    Caution,
}

/// The program as a user starts it.
fn as_shipped() -> Command {
    let mut command = materia();
    command.env_remove("MATERIA_STARTER_DATA");
    command
}

async fn ask(house: &House, operation: &str, input: Value) -> Value {
    let url = format!("{}/api/tools/{operation}", house.http());
    let answer = ids::http_client().post(url).json(&input).send().await.expect("an answer");
    answer.json().await.expect("JSON")
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_fresh_folder_the_house_answers_by_itself() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let house =
        House::start_by(as_shipped(), &HouseOptions { data: &data, access: Access::Anyone, database_url: None });
    the_graph_reaches_constituents_and_indications(&house).await;
    every_fact_of_the_book_is_there_with_its_page(&house).await;
    every_herb_is_found_by_its_names(&house).await;
    drugs_are_reached_through_their_classes(&house).await;
}

async fn the_graph_reaches_constituents_and_indications(house: &House) {
    let start = json!({"type": "herb", "id": "ฟ้าทะลายโจร"});
    let asked = json!({"start": start, "pattern": "herb -contains-> constituent"});
    let answer = ask(house, "query_kg", asked).await;
    let ends: Vec<&str> = ends(&answer);
    assert!(ends.contains(&"andrographolide"), "{answer}");
    let version = starter::data_version(&Files::embedded()).expect("a version").to_string();
    assert_eq!(answer["metadata"]["data_version"], json!(version));
    let answer = ask(house, "query_kg", json!({"start": start, "pattern": "herb -*-> indication"})).await;
    assert!(!self::ends(&answer).is_empty(), "{answer}");
}

fn ends(answer: &Value) -> Vec<&str> {
    let paths = answer["paths"].as_array().expect("paths");
    paths.iter().filter_map(|path| path.as_array()?.last()?["id"].as_str()).collect()
}

async fn every_fact_of_the_book_is_there_with_its_page(house: &House) {
    let mut missing = Vec::new();
    for (herb, object, level, page) in AGAINST {
        let answer = ask(house, "find_contraindications", json!({"herb_ids": [herb], "detail": "full"})).await;
        let results = answer["results"].as_array().unwrap_or_else(|| panic!("{herb}: {answer}"));
        let is_said = |result: &&Value| {
            let evidence = result["evidence"].as_str().unwrap_or_default();
            let is_strong = match level {
                Avoid => result["strength"] == "high",
                Caution => result["strength"] == "high" || result["strength"] == "moderate",
            };
            let is_cited = evidence.contains(&format!("p. {page})")) || evidence.contains(&format!("p. {page},"));
            result["contraindication_id"] == object && is_strong && is_cited && result["verified"] == true
        };
        if !results.iter().any(|result| is_said(&result)) {
            let found: Vec<&Value> = results.iter().filter(|it| it["contraindication_id"] == object).collect();
            missing.push(format!("{herb} {object} {level:?} p. {page}: found {found:?}"));
        }
    }
    assert!(missing.is_empty(), "{} of 42 are missing:\n{}", missing.len(), missing.join("\n"));
}

async fn every_herb_is_found_by_its_names(house: &House) {
    let set = parse(&Files::embedded()).0;
    let mut lost = Vec::new();
    for herb in &set.herbs {
        let row = &herb.row;
        for (lang, names) in [("th", &row.names.th), ("en", &row.names.en)] {
            let Some(name) = names.first() else { continue };
            let answer = ask(house, "hybrid_search", json!({"query": name, "top_k": 5, "lang": lang})).await;
            let hits: Vec<&str> =
                answer["hits"].as_array().expect("hits").iter().filter_map(|hit| hit["id"].as_str()).collect();
            // The one in the language of the question, and the other one next to it.
            let first = hits.first().copied().unwrap_or_default();
            if first != format!("monograph:{}:{lang}", row.id) {
                lost.push(format!("{} `{name}`: {hits:?}", row.id));
            }
            // Who asks more than the name must still meet what warns.
            let question = if lang == "th" {
                format!("{name}กับวาร์ฟาริน")
            } else {
                format!("{name} with warfarin")
            };
            let answer = ask(house, "hybrid_search", json!({"query": question, "top_k": 5})).await;
            let is_there = answer["hits"].to_string().contains(&format!("\"monograph:{}:{lang}\"", row.id));
            if !is_there {
                lost.push(format!("{} `{question}`", row.id));
            }
        }
    }
    for question in ["กินกัญชากับยานอนหลับได้ไหม", "คนท้องกินกัญชาได้ไหม", "กัญชาอันตรายไหม"]
    {
        let answer = ask(house, "hybrid_search", json!({"query": question, "top_k": 5})).await;
        assert!(answer["hits"].to_string().contains("\"monograph:kancha:th\""), "{question}: {answer}");
    }
    assert!(lost.is_empty(), "{} of {} names:\n{}", lost.len(), 4 * set.herbs.len(), lost.join("\n"));
    // What the seed expects of a search that is ready.
    let answer = ask(house, "hybrid_search", json!({"query": "ฟ้าทะลายโจร"})).await;
    let scores: Vec<f64> =
        answer["hits"].as_array().expect("hits").iter().filter_map(|hit| hit["score"].as_f64()).collect();
    assert!(scores.iter().filter(|score| **score >= 0.6).count() >= 5, "{scores:?}");
}

async fn drugs_are_reached_through_their_classes(house: &House) {
    let asked = json!({"start": {"type": "drug", "id": "warfarin"}, "pattern": "drug -member_of-> drug_class"});
    let answer = ask(house, "query_kg", asked).await;
    assert!(!ends(&answer).is_empty(), "{answer}");
}

fn call(command: &mut Command, data: &Path, operation: &str, input: &Value) -> (Option<i32>, Value) {
    let run = command.arg("call").arg(operation).arg(input.to_string()).arg("--data").arg(data);
    let output = run.output().expect("`materia` runs");
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_default())
}

#[test]
fn a_first_start_that_is_killed_is_made_up_for_by_the_next() {
    let folder = testkit::temp_dir();
    let herb = json!({"herb_ids": ["khing"]});
    let (code, whole) = call(&mut as_shipped(), &folder.path().join("whole"), "find_contraindications", &herb);
    assert_eq!(code, Some(0), "{whole}");
    let data = folder.path().join("killed");
    for wait_ms in [400, 900, 1_600] {
        let mut command = as_shipped();
        command.args(["serve", "--json", "--no-auth", "--data"]).arg(&data);
        for listener in ["--listen", "--tasks-listen", "--ids-listen", "--grpc-listen"] {
            command.args([listener, "127.0.0.1:0"]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = Process(command.spawn().expect("`materia` starts"));
        std::thread::sleep(Duration::from_millis(wait_ms));
        process.kill();
    }
    let (code, after) = call(&mut as_shipped(), &data, "find_contraindications", &herb);
    assert_eq!((code, &after["results"]), (Some(0), &whole["results"]), "{after}");
    let (_, verified) = call(&mut as_shipped(), &data, "audit_verify", &json!({}));
    assert_eq!(verified["problems"].as_array().map(Vec::len).unwrap_or_default(), 0, "{verified}");
}

#[test]
fn a_house_may_be_without_them() {
    let folder = testkit::temp_dir();
    let herb = json!({"herb_ids": ["khing"]});
    let mut command = as_shipped();
    command.arg("--no-starter-data");
    assert_eq!(call(&mut command, folder.path(), "find_contraindications", &herb).0, Some(1));
    assert_eq!(call(&mut materia(), folder.path(), "find_contraindications", &herb).0, Some(1));
}

#[test]
fn a_folder_that_is_to_be_without_them_stays_so_until_they_are_asked_for() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let herb = json!({"herb_ids": ["khing"]});
    let answers = |flags: &[&str]| call(as_shipped().args(flags), &data, "find_contraindications", &herb).0 == Some(0);
    let says = |command: &str| {
        let output = as_shipped().arg(command).arg("--data").arg(&data).output().expect("`materia` runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(!answers(&["--no-starter-data"]));
    assert!(!answers(&[]), "the folder forgot that it is to be without them");
    assert!(says("config").contains("--no-starter-data, which was given for this folder"), "{}", says("config"));
    assert!(says("doctor").contains("are left out"), "{}", says("doctor"));
    assert!(answers(&["--starter-data"]));
    assert!(answers(&[]));
    assert!(!says("doctor").contains("are left out"));
}

#[test]
fn the_data_are_checked_from_the_command_line() {
    let whole = as_shipped().args(["data", "check"]).output().expect("`materia` runs");
    let text = String::from_utf8_lossy(&whole.stdout);
    assert!(whole.status.success() && text.ends_with("no problems\n") && text.contains("herbs "), "{text}");

    let folder = testkit::temp_dir();
    std::fs::write(folder.path().join("VERSION"), "2026.01.01\n").expect("a file");
    std::fs::write(
        folder.path().join("classes.jsonl"),
        "{\"id\": \"a\", \"names\": {\"en\": [\"a\"]}, \"broader\": [\"b\"]}\n",
    )
    .expect("a file");
    let run = |json: &[&str]| {
        as_shipped().args(["data", "check", "--dir"]).arg(folder.path()).args(json).output().expect("`materia` runs")
    };
    let broken = run(&[]);
    let text = String::from_utf8_lossy(&broken.stdout);
    let problem = "classes.jsonl:1: a broader: found `b`, which is not there, expected one of: class";
    assert!(broken.status.code() == Some(1) && text.ends_with(&format!("{problem}\n1 problem\n")), "{text}");
    let broken: Value = serde_json::from_slice(&run(&["--json"]).stdout).expect("JSON");
    assert_eq!((&broken["problems"][0]["at"], &broken["data_version"].is_string()), (&json!("a broader"), &true));
}

/// PMID 24790635 is a paper of the starter data.
const OTHER_WORDS: &str = "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>24790635</PMID><Article>\
    <Journal><Title>J</Title><JournalIssue><PubDate><Year>2014</Year></PubDate></JournalIssue></Journal>\
    <ArticleTitle>Other words</ArticleTitle></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>";

#[test]
fn papers_that_come_with_the_program_are_replaced_by_the_library_and_not_by_others() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let file = folder.path().join("papers.xml");
    std::fs::write(&file, OTHER_WORDS).expect("a file");
    let import = |more: &[&str]| {
        let mut command = as_shipped();
        command
            .arg("--data")
            .arg(&data)
            .args(["import", "pubmed", file.to_str().expect("a path"), "--json"])
            .args(more);
        let output = command.output().expect("`materia` runs");
        String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned()
    };
    let other = ["--source", "mine", "--licence", "CC0-1.0"];
    assert_eq!(import(&other), r#"{"read":1,"kept":0,"repeated":0,"rejected":1}"#);
    assert_eq!(import(&[]), r#"{"read":1,"kept":1,"repeated":0,"rejected":0,"replaced":1}"#);
}
