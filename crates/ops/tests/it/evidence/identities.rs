//! Nodes that somebody says are one thing: what is said of one is told of the other, with whose word it is, and nothing is
//! critical by a word that nobody verified.

use ops::operations::OPERATIONS;
use serde_json::{Value, json};

use super::herbs::{edge, herbal, node, put};
use super::starter_data::with_deadly_classes;
use crate::ledger::both;
use crate::script::{Stage, on_sqlite, sqlite};

/// A house with the made-up facts, in which `madeupine` must never be taken with `otherine`, and somebody's own list of drugs.
async fn house(stage: &Stage) -> Stage {
    let house = stage.again_with(with_deadly_classes()).await;
    house.call("owner", "load_starter_data", json!({})).await.result.unwrap();
    let source = json!({"record": "source", "id": "mydb", "title": "Somebody's list", "licence": "CC0-1.0"});
    put(&house, &[source, mine("MYDB:7", "pill seven", json!([]))]).await;
    house
}

fn mine(id: &str, name: &str, same_as: Value) -> Value {
    let mut drug = node(id, "drug", json!([{"text": name, "lang": "en"}]));
    drug["source"] = json!("mydb");
    drug["same_as"] = same_as;
    drug
}

fn said(subject: &str, predicate: &str, object: &str) -> Value {
    let mut edge = edge(&format!("mydb-{subject}-{predicate}-{object}"), subject, predicate, object);
    edge["source"] = json!("mydb");
    edge
}

async fn told(stage: &Stage, operation: &str, input: Value) -> (String, Value) {
    let success = stage.call("agent", operation, input).await.result.unwrap();
    let text = success.output["content"][0]["text"].as_str().unwrap().to_owned();
    let shown = success.artifacts.first().map_or(Value::Null, |it| serde_json::from_str(&it.content).unwrap());
    (text, shown)
}

const CAPPED: &str = "severity: major, no graver: nobody verified what leads here from pill seven (MYDB:7). Avoid.";

#[tokio::test]
async fn every_word_for_an_identity_unites_the_warnings_and_names_whose_word_it_is() {
    let ways: [(Vec<Value>, &str); 5] = [
        (vec![mine("MYDB:7", "pill seven", json!(["madeupine"]))], "same as"),
        (vec![mine("MYDB:7", "pill seven", json!(["DRUGBANK:DB00000"]))], "same as"),
        (vec![said("MYDB:7", "same_as", "madeupine")], "same as"),
        (vec![said("madeupine", "exact_match", "MYDB:7")], "exact match"),
        // By way of a third.
        (vec![mine("MYDB:8", "pill eight", json!(["MYDB:7"])), said("MYDB:8", "same_as", "madeupine")], "same as"),
    ];
    for (records, word) in ways {
        let stage = sqlite().await;
        let house = house(&stage).await;
        assert_eq!(put(&house, &records).await["rejected"], json!([]));
        for (operation, input) in [
            ("kg_network_neighborhood", json!({"curies": ["MYDB:7", "otherine"]})),
            ("kg_network_neighborhood", json!({"curies": ["otherine", "pill seven"]})),
            ("kg_get_everything", json!({"curie": "MYDB:7"})),
        ] {
            let (text, shown) = told(&house, operation, input).await;
            assert!(text.contains(CAPPED) && !text.contains("critical"), "{text}");
            let identity = text.lines().find(|line| line.contains(word)).unwrap_or_else(|| panic!("{text}"));
            assert!(identity.contains("mydb") && identity.ends_with("not verified)"), "{identity}");
            let links = shown["links"].as_array().unwrap();
            let link = links.iter().find(|it| it["source"] == "madeupine" && it["target"] == "otherine").unwrap();
            assert_eq!((&link["severity"], &link["cappedFor"]), (&json!("major"), &json!(["MYDB:7"])), "{link}");
        }
        let asked = json!({"start": {"type": "drug", "id": "MYDB:7"}, "pattern": "drug -interacts_with-> *"});
        let found = house.call("agent", "query_kg", asked).await.result.unwrap();
        let paths = found.output["paths"].as_array().unwrap();
        let path = paths.iter().find(|path| path[1]["id"] == "otherine").unwrap();
        let same = &path[0]["same_as"];
        assert_eq!((&path[0]["id"], &same["id"]), (&json!("madeupine"), &json!("MYDB:7")));
        assert_eq!(same["verified"], false);
        assert!(same["source"].as_str().unwrap().contains("mydb"), "{same}");
        assert_eq!((path[1]["via"].get("critical"), &path[1]["via"]["capped"]), (None, &json!(true)), "{path}");
        let note = found.metadata["note"].as_str().unwrap();
        assert!(
            note.contains("(made_up_class, madeupine is said to be the same by ") && note.contains("mydb"),
            "{note}"
        );
    }
}

#[tokio::test]
async fn an_identity_that_somebody_else_states_takes_nothing_from_what_is_verified() {
    let stage = sqlite().await;
    let house = house(&stage).await;
    // The starter data themselves say what the number of the drug is, and somebody read that.
    put(&house, &[mine("DRUGBANK:DB00000", "bank drug", json!([]))]).await;
    // Somebody else calls theirs by its name and says that it is the same.
    put(&house, &[mine("A:1", "madeupine", json!(["madeupine", "otherine"]))]).await;
    for one in ["DRUGBANK:DB00000", "madeupine", "Madeupine", "เมดอัพพีน"] {
        let (text, _) = told(&house, "kg_network_neighborhood", json!({"curies": [one, "otherine"]})).await;
        assert!(text.contains("severity: critical by R-DDI-001. Avoid."), "{one}: {text}");
    }
    let bank = "- เมดอัพพีน (madeupine) same as DRUGBANK:DB00000 (\"bank drug\" by mydb) [materia:label_madeupine]\n";
    let (text, _) = told(&house, "kg_get_everything", json!({"curie": "DRUGBANK:DB00000"})).await;
    assert!(text.contains(bank) && text.contains("severity: critical by R-DDI-001"), "{text}");
    let (text, _) = told(&house, "kg_network_neighborhood", json!({"curies": ["MYDB:7", "A:1"]})).await;
    assert!(text.contains("No statement is recorded of 1 of the pairs"), "{text}");
    // Two that are said to be one are told so.
    let (text, _) = told(&house, "kg_network_neighborhood", json!({"curies": ["A:1", "otherine"]})).await;
    assert!(text.contains("- madeupine (A:1) same as อาเธอร์รีน (otherine) [mydb] (imported, not verified)"), "{text}");
}

#[tokio::test]
async fn a_name_that_two_things_share_makes_them_no_one_thing() {
    let stage = sqlite().await;
    let house = house(&stage).await;
    put(&house, &[mine("B:1", "otherine", json!([]))]).await;
    let asked = json!({"start": {"type": "drug", "id": "B:1"}, "pattern": "drug -interacts_with-> *"});
    let found = house.call("agent", "query_kg", asked).await.result.unwrap();
    assert_eq!(found.output["paths"], json!([]));
}

#[tokio::test]
async fn what_somebody_brought_under_a_name_of_ours_is_not_taken_for_ours() {
    let stage = sqlite().await;
    let house = house(&stage).await;
    let ours = house.call("agent", "read_herb", json!({"id": "test_root"})).await.result.unwrap().output;
    let name = ours["names"]["en"].as_str().unwrap();
    let mut herb = mine("MYDB:1", name, json!([]));
    herb["categories"] = json!(["herb"]);
    put(&house, &[herb]).await;
    let asked = json!({"herb_ids": ["MYDB:1"]});
    let found = house.call("agent", "find_contraindications", asked).await.result.unwrap();
    let note = found.output["note"].as_str().unwrap();
    assert!(note.starts_with("`MYDB:1` has a name that is also one of ") && note.contains("(test_root,"), "{note}");
    assert_eq!(found.output["note"], found.metadata["note"]);
    let asked = json!({"herb_ids": ["test_root"]});
    let found = house.call("agent", "find_contraindications", asked).await.result.unwrap();
    assert_eq!(found.output.get("note"), None, "{}", found.output);
    let found = house.call("agent", "hybrid_search", json!({"query": name})).await.result.unwrap().output;
    let hits = found["hits"].as_array().unwrap().iter().filter(|hit| hit["record"] == "node" && hit["type"] == "herb");
    let hits: Vec<(&str, bool)> =
        hits.map(|hit| (hit["id"].as_str().unwrap(), hit["verified"].as_bool().unwrap())).collect();
    assert_eq!(hits[..2], [("test_root", true), ("MYDB:1", false)], "{found}");
}

#[tokio::test]
async fn who_misspells_a_name_of_ours_is_led_to_ours_first_whoever_else_has_it() {
    let stage = on_sqlite(OPERATIONS).await;
    let house = house(&stage).await;
    let ours = house.call("agent", "read_herb", json!({"id": "test_root"})).await.result.unwrap().output;
    let name = ours["names"]["en"].as_str().unwrap();
    let mut herb = mine("MYDB:1", name, json!([]));
    herb["categories"] = json!(["herb"]);
    put(&house, &[herb]).await;
    let asked = json!({"herb_ids": [format!("{name}s")]});
    let error = house.call("agent", "find_contraindications", asked).await.result.unwrap_err();
    let near = error.message.split_once("did you mean").map_or("", |(_, near)| near);
    let place = |id: &str| near.find(id).unwrap_or_else(|| panic!("{id}: {}", error.message));
    assert!(place("(`test_root`)") < place("(`MYDB:1`)"), "{near}");
}

#[tokio::test]
async fn an_id_that_was_withdrawn_is_never_answered_by_another_in_silence() {
    for stage in both().await {
        put(&stage, &herbal()).await;
        let source = json!({"record": "source", "id": "mydb", "title": "Somebody's list", "licence": "CC0-1.0"});
        let mut other = mine("W2", "other", json!(["H1"]));
        other["categories"] = json!(["herb"]);
        put(&stage, &[source, other]).await;
        let gone = json!({"record": "deletion", "kind": "node", "id": "H1", "source": "herbal"});
        assert_eq!(put(&stage, &[gone]).await["rejected"], json!([]));
        let told = "The entry `H1` was withdrawn by its source, and statements about it are still recorded that are not told \
            here. This is about other (W2, from mydb)";
        let path = json!({"start": {"type": "herb", "id": "H1"}, "pattern": "herb -*-> *"});
        for (operation, input) in [
            ("find_contraindications", json!({"herb_ids": ["H1"]})),
            ("query_kg", path),
            ("read_node", json!({"curie": "H1"})),
        ] {
            let found = stage.call("clinician", operation, input).await.result.unwrap();
            let note = found.metadata["note"].as_str().unwrap();
            assert!(note.starts_with(told), "{operation}: {note}");
        }
        // In whatever writing, and whether the graph followed the withdrawal or was read after it.
        for stage in [&stage, &stage.again_elsewhere().await] {
            for id in ["h1", " H1", "Ｈ1"] {
                let asked = json!({"herb_ids": [id]});
                let found = stage.call("clinician", "find_contraindications", asked).await.result.unwrap();
                let note = found.metadata["note"].as_str().unwrap_or_default();
                assert!(note.contains("was withdrawn by its source"), "{id:?}: {}", found.output);
            }
        }
    }
}

#[tokio::test]
async fn whoever_takes_a_name_of_the_starter_data_neither_hides_its_warnings_nor_is_hidden() {
    let stage = sqlite().await;
    let house = house(&stage).await;
    // One is called so, another says that it has that for an id, and a third differs in case alone.
    let records = [
        mine("B:1", "Madeupine", json!([])),
        mine("B:2", "pill", json!(["เมดอัพพีน"])),
        mine("MADEUPINE", "tablet", json!([])),
        said("B:1", "interacts_with", "MYDB:7"),
    ];
    assert_eq!(put(&house, &records).await["rejected"], json!([]));
    let note = "`Madeupine` means เมดอัพพีน (madeupine, from materia:label_madeupine) and is also an id or a name of \
        Madeupine (B:1, from mydb), tablet (MADEUPINE, from mydb). They may be different things.";
    let ask = async |operation: &str, input: Value| house.call("agent", operation, input).await.result.unwrap();
    let both = ask("kg_network_neighborhood", json!({"curies": ["Madeupine", "otherine"]})).await;
    let text = both.output["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("severity: critical by R-DDI-001. Avoid.") && text.contains(note), "{text}");
    assert_eq!(both.metadata["note"], note);
    let (text, _) = told(&house, "kg_get_everything", json!({"curie": "Madeupine"})).await;
    assert!(text.contains("severity: critical by R-DDI-001") && text.contains(note), "{text}");
    assert!(text.contains("Madeupine (B:1) interacts with pill seven (MYDB:7)"), "{text}");
    let asked = json!({"start": {"type": "drug", "id": "Madeupine"}, "pattern": "drug -interacts_with-> drug"});
    let found = ask("query_kg", asked).await;
    let starts: Vec<&str> =
        found.output["paths"].as_array().unwrap().iter().map(|path| path[0]["id"].as_str().unwrap()).collect();
    assert_eq!(starts, ["madeupine", "B:1"], "{}", found.output);
    assert!(found.metadata["note"].as_str().unwrap().starts_with(note), "{:?}", found.metadata);
    // By what somebody calls its other id, too.
    let (text, _) = told(&house, "kg_network_neighborhood", json!({"curies": ["เมดอัพพีน", "otherine"]})).await;
    assert!(
        text.contains("severity: critical by R-DDI-001. Avoid.") && text.contains("pill (B:2, from mydb)"),
        "{text}"
    );
    // By its own id each is told apart from those whose ids differ in case alone, and never in silence.
    for (id, other) in
        [("madeupine", "tablet (MADEUPINE, from mydb)"), ("MADEUPINE", "(madeupine, from materia:label_madeupine)")]
    {
        let node = ask("read_node", json!({"curie": id})).await;
        assert_eq!(node.output["id"], id);
        assert!(node.metadata["note"].as_str().unwrap().contains(other), "{id}: {:?}", node.metadata);
    }
    // Two that were both asked for are two.
    let (text, _) = told(&house, "kg_network_neighborhood", json!({"curies": ["Madeupine", "B:1"]})).await;
    assert!(text.contains("No statement is recorded of 1 of the pairs"), "{text}");
    // Names of others alone mean nothing that anybody vouches for.
    put(&house, &[mine("B:4", "shared", json!([])), mine("B:5", "shared", json!([]))]).await;
    let error = house.call("agent", "kg_get_everything", json!({"curie": "shared"})).await.result.unwrap_err();
    assert_eq!(error.message, "`shared` is the name of several: B:4, B:5; use one of these ids");
}

#[tokio::test]
async fn a_node_is_read_with_what_is_said_of_it_under_every_id() {
    let stage = sqlite().await;
    let house = house(&stage).await;
    let ask = async |operation: &str, input: Value| house.call("agent", operation, input).await.result.unwrap();
    let ours = ask("read_node", json!({"curie": "madeupine"})).await.output;
    put(&house, &[mine("MYDB:7", "pill seven", json!(["madeupine"])), said("MYDB:7", "treats", "otherine")]).await;
    let node = ask("read_node", json!({"curie": "MYDB:7"})).await;
    let n_ours = ours["n_relations"].as_u64().unwrap();
    assert_eq!((&node.output["id"], &node.output["n_relations"]), (&json!("MYDB:7"), &json!(n_ours + 1)));
    let relations = node.output["relations"].as_array().unwrap();
    assert_eq!((relations.len(), relations[0].get("same_as")), (ours["relations"].as_array().unwrap().len() + 1, None));
    let deadly = relations.iter().find(|it| it["id"] == "otherine" && it["predicate"] == "interacts_with").unwrap();
    // Nobody verified that the two are one, so nothing is critical by it.
    let same = json!({"id": "madeupine", "source": "mydb", "verified": false});
    assert_eq!((&deadly["same_as"], deadly.get("critical")), (&same, None), "{deadly}");
    assert!(ours["relations"].as_array().unwrap().iter().any(|it| it["critical"] == true), "{ours}");
    let note = node.metadata["note"].as_str().unwrap();
    assert!(note.contains("said to be the same: เมดอัพพีน (madeupine) (by mydb, not verified)."), "{note}");
    // From the other side as well, where it is ours that is critical.
    let ours = ask("read_node", json!({"curie": "madeupine"})).await.output;
    assert_eq!(ours["n_relations"], n_ours + 1);
    assert!(ours["relations"].as_array().unwrap().iter().any(|it| it["critical"] == true), "{ours}");
}

#[tokio::test]
async fn a_herb_is_read_with_what_is_said_of_it_under_every_id() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    let source = json!({"record": "source", "id": "mydb", "title": "Somebody's list", "licence": "CC0-1.0"});
    let mut herb = mine("MYDB:1", "ging", json!(["H1"]));
    herb["categories"] = json!(["herb"]);
    put(&stage, &[source, herb]).await;
    let read = stage.call("agent", "read_herb", json!({"id": "MYDB:1"})).await.result.unwrap().output;
    assert_eq!((&read["id"], &read["names"]), (&json!("MYDB:1"), &json!({"en": "ging"})));
    assert_eq!((&read["constituents"][0]["id"], &read["indications"][0]["icdCode"]), (&json!("C9"), &json!("R11")));
    assert_eq!(read["sources"], json!(["herbal", "mydb"]), "{read}");
    assert!(read["note"].as_str().unwrap().contains("ขิง (H1) (by mydb, not verified)"), "{read}");
}

#[tokio::test]
async fn contraindications_are_told_under_every_id_with_whose_word_it_is() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    let source = json!({"record": "source", "id": "mydb", "title": "Somebody's list", "licence": "CC0-1.0"});
    let herb = |id: &str, kind: &str, same_as: Value| {
        let mut it = mine(id, id, same_as);
        it["categories"] = json!([kind]);
        it
    };
    let records = [
        source,
        herb("MYDB:1", "herb", json!(["H1"])),
        herb("MYDB:2", "formulation", json!([])),
        herb("MYDB:3", "formulation", json!(["F1"])),
        said("MYDB:2", "contains", "MYDB:1"),
    ];
    assert_eq!(put(&stage, &records).await["rejected"], json!([]));
    let same = json!({"id": "H1", "source": "mydb", "verified": false});
    let find = async |input: Value| stage.call("agent", "find_contraindications", input).await.result.unwrap();
    let herb = find(json!({"herb_ids": ["MYDB:1"]})).await;
    let result = &herb.output["results"][0];
    assert_eq!((&result["entity_id"], &result["same_as"]), (&json!("MYDB:1"), &same), "{result}");
    assert_eq!(result["evidence"], "(H1 is the same by mydb, not verified) bleeding was seen");
    assert_eq!((herb.output["results"].as_array().unwrap().len(), &herb.output["no_record"]), (2, &json!([])));
    assert!(herb.metadata["licences"].to_string().contains("mydb"));
    let mixed = find(json!({"formulation_ids": ["MYDB:2"]})).await.output;
    let result = &mixed["results"][0];
    assert_eq!((&result["inherited_from"], &result["same_as"]), (&json!("MYDB:1"), &same), "{result}");
    assert_eq!(mixed.get("not_covered"), None, "{mixed}");
    // What is in another formulation that is said to be this one.
    let other = find(json!({"formulation_ids": ["MYDB:3"]})).await.output;
    let result = &other["results"][0];
    assert_eq!((&result["inherited_from"], &result["entity_id"]), (&json!("H1"), &json!("MYDB:3")), "{result}");
    assert!(result["evidence"].as_str().unwrap().starts_with("(ingredient not verified)"), "{result}");
}
