//! `load_starter_data` through the door, with made-up facts.

use std::path::Path;

use serde_json::{Value, json};
use starter::Files;

use crate::ledger::both;
use crate::script::{Stage, actor, sqlite};

pub fn made_up() -> Files {
    Files::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../starter/tests/data")).unwrap()
}

/// The same facts a month later: one gone, one changed.
pub fn later() -> Files {
    let mut files = made_up();
    let herb = files.get("herbs/test_root.json").unwrap();
    let mut herb: Value = serde_json::from_slice(herb).unwrap();
    herb["facts"].as_array_mut().unwrap().remove(0);
    herb["facts"][1]["note"]["en"] = json!("Never.");
    files.insert("herbs/test_root.json", herb.to_string().into_bytes());
    files.insert("VERSION", b"2026.02.01\n".to_vec());
    files
}

async fn call(stage: &Stage, operation: &str, input: Value) -> Value {
    let reply = stage.call("owner", operation, input).await;
    reply.result.unwrap_or_else(|error| panic!("{operation}: {}", error.message)).output
}

async fn load(stage: &Stage) -> Value {
    call(stage, "load_starter_data", json!({})).await
}

async fn is_due(stage: &Stage) -> bool {
    stage.platform.is_starter_data_due(&actor("owner").organisation_id).await.unwrap()
}

async fn record(stage: &Stage, kind: &str, id: &str) -> Value {
    let found = call(stage, "read_records", json!({"kind": kind, "ids": [id]})).await;
    found["records"][0].clone()
}

pub const AVOID: &str = "materia:test_root:contraindicated_in:made_up_state";

#[tokio::test]
async fn facts_are_loaded_once_and_answers_know_where_they_are_from() {
    for stage in both().await {
        let house = stage.again_with(made_up()).await;
        assert!(is_due(&house).await);
        let loaded = load(&house).await;
        let n = loaded["kept"].as_u64().unwrap();
        assert!(n > 30 && loaded["left_alone"] == 0 && loaded["changed"] == 0, "{loaded}");
        assert!(!is_due(&house).await);
        let again = load(&house).await;
        assert_eq!((&again["kept"], &again["repeated"], &again["version"]), (&json!(0), &json!(n), &loaded["version"]));

        let asked = json!({"start": {"type": "herb", "id": "รากทดสอบ"}, "pattern": "herb -*-> *"});
        let reply = house.call("viewer", "query_kg", asked).await.result.unwrap();
        let version = loaded["data_version"].as_str().unwrap();
        assert!(version.starts_with("2026.01.01+"), "{version}");
        assert_eq!(reply.metadata["data_version"], version);
        let vias: Vec<(&Value, &Value)> = reply.output["paths"]
            .as_array()
            .unwrap()
            .iter()
            .map(|path| (&path[1]["id"], &path[1]["via"]["verified"]))
            .collect();
        assert!(vias.contains(&(&json!("madeupol"), &json!(true))), "{vias:?}");
        assert!(vias.contains(&(&json!("made_up_ache"), &json!(false))), "{vias:?}");

        let asked = json!({"herb_ids": ["test root"]});
        let reply = house.call("viewer", "find_contraindications", asked).await.result.unwrap();
        assert_eq!(reply.metadata["data_version"], version);
        let told: Vec<(&str, &Value, &Value, &str)> = reply.output["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| {
                (
                    it["contraindication_id"].as_str().unwrap(),
                    &it["strength"],
                    &it["verified"],
                    it["evidence"].as_str().unwrap(),
                )
            })
            .collect();
        assert_eq!(
            told[0],
            ("made_up_state", &json!("high"), &json!(true), "Avoid. / ควรเลี่ยง (Book of made-up plants, p. 3)")
        );
        let (high, moderate) = (json!("high"), json!("moderate"));
        assert!(
            told[1..].iter().all(|it| it.1 != &high && it.2 == &json!(false) && it.3.starts_with("(not verified) ")),
            "{told:?}"
        );
        assert_eq!(told[1..].iter().filter(|it| it.1 == &moderate).count(), 2, "{told:?}");

        for (operation, input) in [
            ("hybrid_search", json!({"query": "test root"})),
            ("pubmed_search", json!({"terms": [{"term": "made-up"}]})),
            ("pubmed_get_details", json!({"pmid": "1"})),
            ("read_paper", json!({"pmid": "1"})),
            ("read_herb", json!({"id": "test_root"})),
            ("read_node", json!({"curie": "madeupine"})),
            ("kg_get_everything", json!({"curie": "test root"})),
        ] {
            let reply = house.call("viewer", operation, input).await.result.unwrap();
            assert_eq!(reply.metadata.get("data_version"), Some(&json!(version)), "{operation}");
        }
        let everything = call(&house, "kg_get_everything", json!({"curie": "test root"})).await;
        let text = everything["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("treats") && text.contains("(not verified)"), "{text}");
        let herb = call(&house, "read_herb", json!({"id": "test_root"})).await;
        assert_eq!(
            (&herb["indications"][0]["verified"], &herb["constituents"][0]["verified"]),
            (&json!(false), &json!(true))
        );
    }
}

/// The same facts with a class that is deadly with another one, and two members of that: one by a source, one not.
pub fn with_deadly_classes() -> Files {
    let mut files = made_up();
    let row = |path: &str| -> Value {
        let text = String::from_utf8(files.get(path).unwrap().to_vec()).unwrap();
        serde_json::from_str(text.lines().next().unwrap()).unwrap()
    };
    let (drug, interaction) = (row("drugs/test.jsonl"), row("interactions/test.jsonl"));
    let named = |id: &str, memberships: Value| {
        let mut drug = drug.clone();
        drug["id"] = json!(id);
        drug["names"] = json!({"en": [id]});
        drug["brands"] = json!([]);
        drug["misspellings"] = json!([]);
        drug["drugbank"] = json!(null);
        drug["classes"] = json!(["wider_class"]);
        drug["memberships"] = memberships;
        drug
    };
    let mut membership = drug["memberships"][0].clone();
    membership["class"] = json!("wider_class");
    let drugs = [named("surine", json!([membership])), named("doubtine", json!([]))];
    let mut deadly = interaction;
    deadly["id"] = json!("made_up_class__wider_class");
    deadly["a"] = json!("made_up_class");
    deadly["b"] = json!("wider_class");
    files.insert("drugs/more.jsonl", drugs.map(|it| format!("{it}\n")).concat().into_bytes());
    files.insert("interactions/more.jsonl", format!("{deadly}\n").into_bytes());
    files
}

#[tokio::test]
async fn a_class_makes_a_drug_critical_only_by_a_membership_that_was_verified() {
    let stage = sqlite().await;
    let files = with_deadly_classes();
    assert_eq!(starter::check::check(&files).problems, []);
    let house = stage.again_with(files).await;
    load(&house).await;
    let told = async |operation: &str, input: Value| {
        call(&house, operation, input).await["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let together = "kg_network_neighborhood";
    let sure = told(together, json!({"curies": ["madeupine", "surine"]})).await;
    assert!(sure.contains("severity: critical by R-DDI-001. Avoid."), "{sure}");
    let doubted = told(together, json!({"curies": ["madeupine", "doubtine"]})).await;
    let capped = "severity: major, no graver: nobody verified what leads here from doubtine (doubtine). Avoid.";
    assert!(doubted.contains(capped) && !doubted.contains("critical"), "{doubted}");
    let member = "- doubtine (doubtine) member of กลุ่มกว้าง (wider_class) [materia] (not verified)";
    assert!(doubted.contains(member), "{doubted}");
    let all = told(together, json!({"curies": ["madeupine", "doubtine", "surine"]})).await;
    let partly = "critical by R-DDI-001, but no graver than major, as nobody verified what leads here from doubtine";
    assert!(all.contains(partly), "{all}");
    for (drug, expected) in [("surine", "severity: critical by R-DDI-001"), ("doubtine", capped)] {
        let everything = told("kg_get_everything", json!({ "curie": drug })).await;
        assert!(everything.contains(expected), "{everything}");
    }
}

#[tokio::test]
async fn a_path_over_a_membership_that_nobody_verified_marks_nothing_as_critical() {
    let stage = sqlite().await;
    let house = stage.again_with(with_deadly_classes()).await;
    load(&house).await;
    let marks = async |drug: &str, pattern: &str| {
        let asked = json!({"start": {"type": "drug", "id": drug}, "pattern": pattern});
        let output = call(&house, "query_kg", asked).await;
        let paths = output["paths"].as_array().unwrap().clone();
        let vias = paths.iter().map(|path| {
            let via = &path[2]["via"];
            let end = path.as_array().unwrap().last().unwrap()["id"].as_str().unwrap().to_owned();
            (end, via["critical"] == json!(true), via["capped"] == json!(true))
        });
        vias.collect::<Vec<(String, bool, bool)>>()
    };
    let up = "drug -member_of-> drug_class -interacts_with-> drug_class";
    assert_eq!(marks("surine", up).await, [("made_up_class".to_owned(), true, false)]);
    assert_eq!(marks("doubtine", up).await, [("made_up_class".to_owned(), false, true)]);
    // Nor where the membership comes after the statement.
    let down = format!("{up} <-member_of- drug");
    let ends = marks("madeupine", &down).await;
    assert!(ends.contains(&("surine".to_owned(), true, false)), "{ends:?}");
    assert!(ends.contains(&("doubtine".to_owned(), false, true)), "{ends:?}");
    for (drug, expected) in [
        ("surine", "(wider_class, critical)"),
        ("doubtine", "(wider_class, at most major: nobody verified that it belongs there)"),
    ] {
        let asked = json!({"start": {"type": "drug", "id": drug}, "pattern": "drug -interacts_with-> *"});
        let reply = house.call("viewer", "query_kg", asked).await.result.unwrap();
        let note = reply.metadata["note"].as_str().unwrap();
        assert!(note.contains(expected), "{note}");
    }
}

#[tokio::test]
async fn what_somebody_else_brought_changed_or_withdrew_is_left_alone() {
    for stage in both().await {
        let mine = json!({"record": "source", "id": "mine", "title": "Mine", "licence": "CC0-1.0"});
        let paper = json!({"record": "document", "id": "PMID:2", "kind": "paper", "title": "The real one", "text": "Abstract.",
            "lang": "en", "source": "mine"});
        call(&stage, "put_records", json!({"records": [mine, paper]})).await;
        let first = stage.again_with(made_up()).await;
        assert_eq!(load(&first).await["left_alone"], 1);
        assert_eq!(record(&stage, "document", "PMID:2").await["title"], "The real one");

        let mut drug = record(&stage, "node", "otherine").await;
        drug["source"] = json!("mine");
        drug["description"] = json!("known better");
        let gone = json!({"record": "deletion", "kind": "edge", "id": "materia:madeupine__test_root"});
        let mut put = json!({"records": [drug, gone]});
        let refused = call(&stage, "put_records", put.clone()).await;
        assert_eq!((&refused["changed"], &refused["deleted"]), (&json!(0), &json!(0)), "{refused}");
        let reason = "`id`: `otherine` came with the program and stays as it is; use an id of your own, or say \
            `replace_starter`";
        assert_eq!(refused["rejected"][0]["reason"], reason, "{refused}");
        put["replace_starter"] = json!(true);
        let put = call(&stage, "put_records", put).await;
        assert_eq!((&put["changed"], &put["deleted"]), (&json!(1), &json!(1)), "{put}");

        let second = stage.again_with(later()).await;
        assert!(is_due(&second).await);
        let loaded = load(&second).await;
        assert_eq!((&loaded["left_alone"], &loaded["deleted"]), (&json!(3), &json!(1)), "{loaded}");
        assert_eq!(record(&stage, "node", "otherine").await["description"], "known better");
        assert_eq!(record(&stage, "edge", "materia:madeupine__test_root").await, Value::Null);
        assert_eq!(record(&stage, "edge", "materia:test_root:contains:madeupol").await, Value::Null);
        let text = record(&stage, "edge", AVOID).await["evidence"][0]["text"].clone();
        assert!(text.as_str().unwrap().starts_with("Never. / "), "{text}");

        // The older program comes back and finds newer data.
        assert!(!is_due(&first).await);
        let older = load(&first).await;
        assert_eq!(
            (&older["kept"], &older["deleted"], &older["data_version"]),
            (&json!(0), &json!(0), &loaded["data_version"])
        );
        assert_eq!(record(&stage, "edge", AVOID).await["evidence"][0]["text"], text);

        assert_eq!(load(&second).await["left_alone"], 3);
        assert_eq!(record(&stage, "edge", "materia:madeupine__test_root").await, Value::Null);
    }
}

#[tokio::test]
async fn nobody_else_speaks_as_the_starter_data_and_a_house_without_them_says_so() {
    for stage in both().await {
        let own = json!({"record": "source", "id": "materia", "title": "Fake", "licence": "none"});
        let cited = json!({"record": "source", "id": "materia:book", "title": "Fake", "licence": "none"});
        let node = json!({"record": "node", "id": "H", "categories": ["herb"], "names": [{"text": "h", "lang": "en"}],
            "source": "materia:book"});
        let put = call(&stage, "put_records", json!({"records": [own, cited, node]})).await;
        let reasons: Vec<&str> =
            put["rejected"].as_array().unwrap().iter().map(|it| it["reason"].as_str().unwrap()).collect();
        assert_eq!(
            reasons,
            [
                "`id`: `materia` is of the starter data, or looks as if it were; expected a source of your own",
                "`id`: `materia:book` is of the starter data, or looks as if it were; expected a source of your own",
                "`source`: `materia:book` is of the starter data, or looks as if it were; expected a source of your own",
            ]
        );
        let reply = stage.call("owner", "load_starter_data", json!({})).await.result.unwrap_err();
        assert_eq!(reply.message, "this house has no starter data (`starter_data`)");
        assert!(!is_due(&stage).await);
        assert!(stage.call("viewer", "load_starter_data", json!({})).await.result.is_err());
        let reply = stage.call("viewer", "hybrid_search", json!({"query": "x"})).await.result.unwrap();
        assert!(!reply.metadata.contains_key("data_version"));
    }
}

#[tokio::test]
async fn papers_of_the_starter_data_are_not_replaced_withdrawn_or_retracted_by_others() {
    for stage in both().await {
        let house = stage.again_with(made_up()).await;
        load(&house).await;
        let ours = record(&stage, "document", "PMID:2").await;
        let mine = json!({"record": "source", "id": "mine", "title": "Mine", "licence": "CC0-1.0"});
        call(&stage, "put_records", json!({"records": [mine]})).await;
        let retraction = json!({"kind": "retracted", "notice": "PMID:77"});
        let mut own = ours.clone();
        own["source"] = json!("mine");
        // It is no summary of ours.
        own["attributes"] = json!({});
        let mut other = own.clone();
        other["title"] = json!(format!("{} (other)", ours["title"].as_str().unwrap()));
        let mut retracted = other.clone();
        retracted["retraction"] = retraction.clone();
        // The same paper by another id, and a notice.
        let mut twin = retracted.clone();
        twin["id"] = json!("X:2");
        twin["ids"] = json!({"pmid": "2"});
        let notice = json!({"record": "document", "id": "PMID:77", "kind": "paper", "title": "Retraction of something",
            "text": "", "lang": "en", "source": "mine",
            "attributes": {"corrections": [{"kind": "RetractionOf", "pmid": "2"}]}});
        let gone = json!({"record": "deletion", "kind": "document", "id": "PMID:2"});
        for hostile in [&other, &retracted, &gone, &twin, &notice] {
            let put = call(&stage, "put_records", json!({"records": [hostile]})).await;
            let reason = put["rejected"][0]["reason"].as_str().unwrap_or_else(|| panic!("{hostile} is kept: {put}"));
            assert!(
                reason.contains("`PMID:2` came with the program") && reason.contains("`replace_starter`"),
                "{reason}"
            );
        }
        assert_eq!(record(&stage, "document", "PMID:2").await, ours);

        // Nor by way of a document that has ids of both, whichever of the two comes first.
        let alias = |id: &str, pmc: &str| {
            let mut alias = own.clone();
            alias["id"] = json!(id);
            alias["ids"] = json!({"pmid": "2", "pmc": pmc});
            alias
        };
        let against = |pmc: &str| {
            let mut against = twin.clone();
            against["id"] = json!(format!("X:{pmc}"));
            against["ids"] = json!({ "pmc": pmc });
            against
        };
        for records in [[alias("X:3", "PMC1"), against("PMC1")], [against("PMC2"), alias("X:4", "PMC2")]] {
            let put = call(&stage, "put_records", json!({ "records": records })).await;
            assert_eq!((&put["kept"], put["rejected"].as_array().unwrap().len()), (&json!(1), 1), "{put}");
        }
        for (record, n_kept) in [(against("PMC3"), 1), (alias("X:5", "PMC3"), 0)] {
            let put = call(&stage, "put_records", json!({"records": [record]})).await;
            assert_eq!(put["kept"], n_kept, "{put}");
        }
        assert_eq!(record(&stage, "document", "PMID:2").await, ours);

        // Whoever imports PubMed asks for it.
        let put = call(&stage, "put_records", json!({"records": [other], "replace_starter": true})).await;
        assert_eq!((&put["kept"], &put["changed"]), (&json!(1), &json!(1)), "{put}");
        assert_eq!(record(&stage, "document", "PMID:2").await["source"], "mine");
        // It is theirs then, and a notice marks it and what has its ids.
        let put = call(&stage, "put_records", json!({"records": [notice]})).await;
        assert_eq!(put["marked"], 3, "{put}");
    }
}

#[tokio::test]
async fn who_asks_for_it_marks_a_paper_of_the_starter_data_and_it_stays_ours() {
    for stage in both().await {
        let house = stage.again_with(made_up()).await;
        load(&house).await;
        let mine = json!({"record": "source", "id": "mine", "title": "Mine", "licence": "CC0-1.0"});
        let notice = json!({"record": "document", "id": "PMID:77", "kind": "paper", "title": "Retraction of something",
            "text": "", "lang": "en", "source": "mine",
            "attributes": {"corrections": [{"kind": "RetractionOf", "pmid": "2"}]}});
        let put = call(&stage, "put_records", json!({"records": [mine, notice], "replace_starter": true})).await;
        assert_eq!(put["marked"], 1, "{put}");
        let gone = json!({"record": "deletion", "kind": "document", "id": "PMID:2"});
        let put = call(&stage, "put_records", json!({"records": [gone]})).await;
        assert_eq!((&put["deleted"], put["rejected"].as_array().unwrap().len()), (&json!(0), 1), "{put}");
    }
}
