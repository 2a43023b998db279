//! Things of one name that other sources have under another type: their warnings are told or named, never passed over.

use serde_json::{Value, json};

use super::herbs::{edge, herbal, node, put};
use crate::script::{Stage, sqlite};

/// A plant by the English name of the herb `H1`, with two warnings and one statement that warns of nothing.
fn plant() -> Vec<Value> {
    vec![
        node("UMLS:1", "plant", json!([{"text": "Ginger", "lang": "en"}])),
        edge("S1", "UMLS:1", "interacts_with", "D1"),
        edge("S2", "UMLS:1", "predisposes", "P1"),
        edge("S3", "UMLS:1", "treats", "I05"),
    ]
}

async fn ask(stage: &Stage, operation: &str, input: Value) -> Value {
    stage.call("clinician", operation, input).await.result.unwrap().output
}

async fn find(stage: &Stage, herb: &str) -> Value {
    ask(stage, "find_contraindications", json!({"herb_ids": [herb]})).await
}

fn ends(found: &Value) -> Vec<&str> {
    let results = found["results"].as_array().unwrap().iter();
    results.map(|it| it["contraindication_id"].as_str().unwrap()).collect()
}

fn text(found: &Value) -> &str {
    found["content"][0]["text"].as_str().unwrap()
}

const NAMED: &str = "also one of Ginger (UMLS:1, plant from herbal, 2 warnings). They may be different things, and what is recorded \
    of that one is not told here: `kg_get_everything` tells it by its id.";

#[tokio::test]
async fn warnings_of_a_plant_with_a_name_of_the_herb_are_named_by_whichever_word_it_was_asked() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    put(&stage, &plant()).await;
    for word in ["H1", "ginger", "ขิง", "Zingiber officinale"] {
        let found = find(&stage, word).await;
        assert_eq!(ends(&found), ["D1", "P1"], "{word}");
        let note = found["note"].as_str().unwrap_or_default();
        assert!(note.contains(NAMED), "{word}: {found}");
    }
    for word in ["H1", "ขิง"] {
        let everything = ask(&stage, "kg_get_everything", json!({"curie": word})).await;
        assert!(text(&everything).contains(NAMED), "{}", text(&everything));
        let between = ask(&stage, "kg_network_neighborhood", json!({"curies": [word, "H3"]})).await;
        assert!(text(&between).contains(NAMED), "{}", text(&between));
    }
    // Whoever is asked for is told, and needs no note.
    let between = ask(&stage, "kg_network_neighborhood", json!({"curies": ["H1", "UMLS:1"]})).await;
    assert!(!text(&between).contains("not told here"), "{}", text(&between));
    // And so is what somebody says is the same.
    put(&stage, &[edge("S4", "UMLS:1", "same_as", "H1")]).await;
    let found = find(&stage, "H1").await;
    assert_eq!(found.get("note"), None, "{found}");
}

#[tokio::test]
async fn what_shares_a_name_and_warns_of_nothing_is_not_named() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    let name = json!([{"text": "Ginger", "lang": "en"}]);
    put(&stage, &[node("FOOD:1", "food", name), edge("S3", "FOOD:1", "treats", "I05")]).await;
    assert_eq!(find(&stage, "H1").await.get("note"), None);
}

#[tokio::test]
async fn a_plant_is_a_herb_where_no_herb_has_its_name() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    for (at, kind) in ["plant", "organism_taxon", "cellular_organism", "organismal_entity"].into_iter().enumerate() {
        let (id, name) = (format!("Q:{at}"), format!("bush{at}"));
        let warned = edge(&format!("Q{at}"), &id, "contraindicated_in", "P1");
        put(&stage, &[node(&id, kind, json!([{"text": name, "lang": "en"}])), warned]).await;
        for word in [&id, &name] {
            let found = find(&stage, word).await;
            assert_eq!((ends(&found), &found["results"][0]["entity_id"]), (vec!["P1"], &json!(id)), "{kind}");
        }
        let herb = ask(&stage, "read_herb", json!({"id": name})).await;
        assert_eq!(herb["id"], json!(id));
    }
}

#[tokio::test]
async fn what_is_told_is_not_said_to_be_left_out() {
    let stage = sqlite().await;
    let stage = stage.again_with(super::starter_data::made_up()).await;
    stage.call("owner", "load_starter_data", json!({})).await.result.unwrap();
    put(&stage, &herbal()).await;
    let ours = ask(&stage, "read_herb", json!({"id": "test_root"})).await;
    let [en, th] = ["en", "th"].map(|lang| ours["names"][lang].as_str().unwrap());
    let names = json!([{"text": en, "lang": "en"}, {"text": th, "lang": "th"}]);
    put(&stage, &[node(en, "herb", names)]).await;
    let found = find(&stage, en).await;
    let told = found["results"].as_array().unwrap().iter().any(|it| it["entity_id"] == "test_root");
    let note = found["note"].as_str().unwrap();
    assert!(told && note.contains("They may be different things") && !note.contains("not told here"), "{found}");
}

/// A herb whose constituent has warnings, and a formulation of it.
fn with_constituent() -> Vec<Value> {
    let name = |text: &str| json!([{"text": text, "lang": "en"}]);
    vec![
        node("F9", "formulation", name("tea")),
        node("C7", "chemical_entity", name("citral")),
        node("C6", "chemical_entity", name("harmless")),
        edge("T1", "H3", "contains", "C7"),
        edge("T2", "F9", "contains", "H3"),
        edge("T3", "C7", "interacts_with", "D1"),
        edge("T4", "P1", "contraindicated_in", "C7"),
        edge("T5", "H3", "contains", "C6"),
    ]
}

#[tokio::test]
async fn a_herb_inherits_from_its_constituents_and_a_formulation_from_those_of_its_herbs() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    put(&stage, &with_constituent()).await;
    let formulation = ask(&stage, "find_contraindications", json!({"formulation_ids": ["F9"]})).await;
    for found in [find(&stage, "H3").await, formulation.clone()] {
        assert_eq!(ends(&found), ["D1", "P1"], "{found}");
        assert!(found["results"].as_array().unwrap().iter().all(|it| it["inherited_from"] == "C7"), "{found}");
        assert_eq!(found["no_record"], json!([]));
    }
    // What a herb is made of is no ingredient that somebody might have looked at.
    assert_eq!(formulation["not_covered"], json!([{"entity_id": "F9", "ingredient": "H3"}]), "{formulation}");
    let mut doubted = edge("T1", "H3", "contains", "C7");
    doubted["qualifiers"] = json!({"verified": false});
    put(&stage, &[doubted]).await;
    let found = find(&stage, "H3").await;
    assert_eq!(found["results"][0]["evidence"], "(constituent not verified) stated by herbal", "{found}");
}

#[tokio::test]
async fn what_is_not_read_is_named_beside_what_is() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    let odd = [edge("W0", "H1", "has_odd_word", "P1"), edge("W1", "H1", "causes_adverse_event", "I05")];
    put(&stage, &odd).await;
    let found = find(&stage, "H1").await;
    assert_eq!(ends(&found), ["D1", "P1", "I05"], "{found}");
    let note = "Other statements are recorded of `H1` (has_odd_word), which are not read here; `kg_get_everything` tells them.";
    assert_eq!(found["note"], note);
}

#[tokio::test]
async fn an_answer_without_paths_names_what_has_the_name_under_another_type() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    put(&stage, &[node("F9", "formulation", json!([{"text": "ginger", "lang": "en"}]))]).await;
    let asked = json!({"start": {"type": "formulation", "id": "ginger"}, "max_depth": 1});
    let note = ask(&stage, "query_kg", asked.clone()).await["note"].clone();
    let named = "`ginger` has a name that is also one of ขิง (H1, herb from herbal), of which nothing is told here: ask for it by \
        its type and id.";
    assert!(note.as_str().is_some_and(|note| note.contains(named)), "{note}");
    put(&stage, &[edge("F9-I05", "F9", "treats", "I05")]).await;
    assert!(ask(&stage, "query_kg", asked).await.get("note").is_none());
}
