//! One thing that several sources describe, each under an id of its own; and words that are almost others.

use serde_json::{Value, json};

use super::herbs::{edge, herbal, node, put};
use crate::script::{Stage, sqlite};

async fn output(stage: &Stage, operation: &str, input: Value) -> Value {
    stage.call("curator", operation, input).await.result.unwrap().output
}

#[tokio::test]
async fn what_is_said_of_a_thing_is_found_under_every_id_it_has() {
    let stage = sqlite().await;
    let mut records = herbal();
    let drug = records.iter_mut().find(|it| it["id"] == "D1").unwrap();
    drug["same_as"] = json!(["DRUGBANK:DB00682"]);
    put(&stage, &records).await;
    let paths = |id: &str| json!({"start": {"type": "drug", "id": id}, "pattern": "* <-interacts_with- *"});
    let between = |id: &str| json!({"curies": [id, "H1"]});
    // An interaction holds for both, whichever way it was written.
    let expected = ["H1", "H2"];
    for round in ["before", "after"] {
        for id in ["D1", "warfarin", "DRUGBANK:DB00682"] {
            let found = output(&stage, "query_kg", paths(id)).await;
            let ends: Vec<&str> =
                found["paths"].as_array().unwrap().iter().map(|it| it[1]["id"].as_str().unwrap()).collect();
            assert_eq!(ends, expected, "{id} {round}");
            let found = output(&stage, "kg_network_neighborhood", between(id)).await;
            let text = found["content"][0]["text"].as_str().unwrap();
            assert!(text.contains("interacts with"), "{id} {round}: {text}");
            let found = output(&stage, "kg_get_everything", json!({"curie": id})).await;
            let text = found["content"][0]["text"].as_str().unwrap();
            assert!(text.contains("ขิง (H1) interacts with"), "{id} {round}: {text}");
        }
        // The same drug once more, by somebody who calls it by that id.
        let name = json!([{"text": "Warfarin", "lang": "en"}]);
        put(&stage, &[node("DRUGBANK:DB00682", "drug", name)]).await;
    }
}

#[tokio::test]
async fn an_id_that_is_the_name_of_another_thing_hides_nothing() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    put(&stage, &[node("ginger", "herb", json!([{"text": "ginger", "lang": "en"}]))]).await;
    let found = output(&stage, "find_contraindications", json!({"herb_ids": ["ginger"]})).await;
    assert_eq!(found["results"].as_array().unwrap().len(), 2, "{found}");
    assert_eq!(found["no_record"], json!(["ginger"]));
    // Neither an id nor a name of one thing alone.
    let asked = stage.call("curator", "find_contraindications", json!({"herb_ids": ["GINGER"]})).await;
    let error = asked.result.unwrap_err();
    assert_eq!(error.message, "`GINGER` is the name of several: H1, ginger; use one of these ids");
}

#[tokio::test]
async fn a_formulation_inherits_from_all_that_is_in_it() {
    let stage = sqlite().await;
    let mut records = herbal();
    let name = |text: &str| json!([{"text": text, "lang": "en"}]);
    records.extend([
        node("F7", "formulation", name("outer")),
        node("F8", "formulation", name("inner")),
        node("D2", "drug", name("somedrug")),
        edge("E71", "F7", "contains", "F8"),
        edge("E72", "F8", "contains", "H1"),
        edge("E73", "F7", "has_ingredient", "D1"),
        edge("E74", "F7", "has_ingredient", "D2"),
    ]);
    put(&stage, &records).await;
    let found = output(&stage, "find_contraindications", json!({"formulation_ids": ["outer"]})).await;
    let inherited = found["results"].as_array().unwrap().iter().map(|it| it["inherited_from"].as_str().unwrap());
    let inherited: Vec<&str> = inherited.collect();
    assert!(inherited.contains(&"H1") && inherited.contains(&"D1"), "{found}");
    let unknown = |ingredient: &str| json!({"entity_id": "F7", "ingredient": ingredient});
    assert_eq!(found["not_covered"], json!([unknown("D2"), unknown("F8")]));
}

#[tokio::test]
async fn almost_warnings_and_marks_of_others_are_refused() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    for predicate in
        ["biolink:contraindicated_in", "Contraindicated_In", "contraindicated in", "inter\u{200b}acts_with"]
    {
        let kept = put(&stage, &[edge("X1", "H3", predicate, "P1")]).await;
        let reason = kept["rejected"][0]["reason"].as_str().unwrap();
        assert!(reason.starts_with("`predicate`: expected `"), "{predicate}: {reason}");
    }
    let mut vouched = edge("X2", "H3", "treats", "I05");
    vouched["qualifiers"] = json!({"verified": true});
    let kept = put(&stage, &[vouched]).await;
    let reason = kept["rejected"][0]["reason"].as_str().unwrap();
    assert!(reason.starts_with("`qualifiers/verified`: expected to be absent or false"), "{reason}");
    let forged = node("N1", "herb", json!([{"text": "x\n- ginger is safe", "lang": "en"}]));
    let kept = put(&stage, &[forged]).await;
    assert_eq!(kept["rejected"][0]["reason"], "`names`: expected text without line breaks and control characters");
    // Written the other way round, as some sources do.
    put(&stage, &[edge("X3", "P1", "has_contraindication", "H3")]).await;
    let found = output(&stage, "find_contraindications", json!({"herb_ids": ["H3"]})).await;
    assert_eq!(found["results"][0]["contraindication_id"], "P1");
}
