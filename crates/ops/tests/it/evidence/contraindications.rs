//! `find_contraindications` through the door.

use serde_json::{Value, json};

use super::herbs::{edge, herbal, node, put, source};
use super::networks::pharmacy;
use super::starter_data::made_up;
use crate::script::{Stage, sqlite};

async fn find(stage: &Stage, input: Value) -> Result<Value, String> {
    let reply = stage.call("clinician", "find_contraindications", input).await;
    reply.result.map(|success| success.output).map_err(|error| format!("{}: {}", error.code(), error.message))
}

fn told(output: &Value) -> Vec<String> {
    let text = |it: &Value, member: &str| it[member].as_str().unwrap_or("-").to_owned();
    let line = |it: &Value| {
        let members = ["entity_id", "contraindication_id", "strength", "evidence", "inherited_from"];
        members.map(|member| text(it, member)).join(" | ")
    };
    output["results"].as_array().unwrap().iter().map(line).collect()
}

#[tokio::test]
async fn a_herb_is_found_by_any_name_and_a_formulation_inherits_from_its_herbs() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    let of_ginger = ["H1 | D1 | high | bleeding was seen | -", "H1 | P1 | - | stated by herbal | -"];
    for name in ["H1", "ขิง", "Ginger", "zingiber OFFICINALE"] {
        assert_eq!(told(&find(&stage, json!({"herb_ids": [name]})).await.unwrap()), of_ginger);
    }
    let found = find(&stage, json!({"formulation_ids": ["mixture"]})).await.unwrap();
    let expected = [
        "F1 | D1 | high | bleeding was seen | H1",
        "F1 | D1 | moderate | levels rose | H2",
        "F1 | P1 | - | stated by herbal | H1",
    ];
    assert_eq!(told(&found), expected);
    let first = &found["results"][0];
    assert_eq!((&first["type"], &first["licence"]), (&json!("formulation"), &json!("CC0-1.0")));
    assert_eq!((&first["contraindication"], &first["references"]), (&json!("วาร์ฟาริน"), &json!(["PMID:11"])));
    assert_eq!(found["audit"]["status"], "ok");
    assert_eq!(found.get("not_covered"), None, "{found}");

    let mut tea = node("F2", "formulation", json!([{"text": "tea", "lang": "en"}]));
    tea["attributes"] = json!({"other_ingredients": ["an unknown bark"]});
    put(&stage, &[tea, edge("E9", "F2", "has_part", "H3")]).await;
    let found = find(&stage, json!({"formulation_ids": ["tea"]})).await.unwrap();
    let unknown = |ingredient: &str| json!({"entity_id": "F2", "ingredient": ingredient});
    assert_eq!(found["not_covered"], json!([unknown("H3"), unknown("an unknown bark")]), "{found}");
}

#[tokio::test]
async fn what_several_state_of_one_pair_is_told_once_with_all_of_them() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    let mut fact = edge("A9", "H1", "contraindicated_with", "D1");
    fact["source"] = json!("book");
    put(&stage, &[fact, edge("A8", "H1", "interacts_with", "H1")]).await;
    let found = find(&stage, json!({"herb_ids": ["H1"]})).await.unwrap();
    let pairs: Vec<&str> = told_of(&found, "contraindication_id");
    assert_eq!(pairs, ["D1", "P1"], "a herb is not told with itself: {found}");
    let first = &found["results"][0];
    assert_eq!((&first["edge_id"], &first["source"]), (&json!("A2"), &json!("herbal")));
    let expected = json!([{"predicate": "contraindicated_with", "evidence": "stated by book", "references": [],
        "verified": false, "edge_id": "A9", "source": "book", "licence": "CC-BY-4.0"}]);
    assert_eq!(first["also"], expected);
}

#[tokio::test]
async fn what_is_inherited_by_an_ingredient_that_nobody_verified_says_so() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    let mut doubted = edge("E5", "F1", "has_part", "H1");
    doubted["qualifiers"] = json!({"verified": false});
    put(&stage, &[doubted]).await;
    let found = find(&stage, json!({"formulation_ids": ["mixture"]})).await.unwrap();
    let expected = [
        "F1 | D1 | high | (ingredient not verified) bleeding was seen | H1",
        "F1 | D1 | moderate | levels rose | H2",
        "F1 | P1 | - | (ingredient not verified) stated by herbal | H1",
    ];
    assert_eq!(told(&found), expected);
}

fn told_of<'f>(found: &'f Value, member: &str) -> Vec<&'f str> {
    found["results"].as_array().unwrap().iter().map(|it| it[member].as_str().unwrap()).collect()
}

#[tokio::test]
async fn what_is_unknown_is_an_error_and_what_has_no_record_is_said_to_have_none() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    let unknown = find(&stage, json!({"herb_ids": ["H1", "mandrake"]})).await.unwrap_err();
    assert_eq!(unknown, "NOT_FOUND: no herb has the id or name `mandrake`");
    let drug = find(&stage, json!({"herb_ids": ["warfarin"]})).await.unwrap_err();
    let elsewhere = "`kg_get_everything` tells what is recorded of it, and `kg_network_neighborhood` what holds between \
        it and others";
    assert_eq!(drug, format!("NOT_FOUND: `warfarin` is a drug, not a herb; {elsewhere}"));
    let mixture = find(&stage, json!({"herb_ids": ["mixture"]})).await.unwrap_err();
    assert_eq!(mixture, "NOT_FOUND: `mixture` is a formulation, not a herb; give it in `formulation_ids`");
    let herb = find(&stage, json!({"formulation_ids": ["ginger"]})).await.unwrap_err();
    assert_eq!(herb, "NOT_FOUND: `ginger` is a herb, not a formulation; give it in `herb_ids`");
    let misspelt = find(&stage, json!({"herb_ids": ["ขมินชัน"]})).await.unwrap_err();
    assert_eq!(misspelt, "NOT_FOUND: no herb has the id or name `ขมินชัน`; did you mean `ขมิ้นชัน` (`H2`)?");
    let nothing = find(&stage, json!({})).await.unwrap_err();
    assert_eq!(nothing, "INVALID_ARG: `herb_ids`: expected at least one herb or formulation");
    let found = find(&stage, json!({"herb_ids": ["lemongrass"]})).await.unwrap();
    assert_eq!((&found["results"], &found["no_record"]), (&json!([]), &json!(["H3"])));
}

#[tokio::test]
async fn what_was_imported_says_that_nobody_verified_it() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    let ask = async |operation: &str, input: Value| stage.call("agent", operation, input).await.result.unwrap();
    let found = ask("find_contraindications", json!({"herb_ids": ["H1"]})).await.output;
    assert_eq!(found["results"][0]["verified"], false, "{found}");
    let node = ask("read_node", json!({"curie": "D1"})).await.output;
    assert_eq!(node["relations"][0]["verified"], false, "{node}");
    let paths = json!({"start": {"type": "herb", "id": "H1"}, "pattern": "herb -contains-> *"});
    let found = ask("query_kg", paths).await.output;
    assert_eq!(found["paths"][0][1]["via"]["verified"], false, "{found}");
}

async fn answered(stage: &Stage, input: Value) -> (Value, String) {
    let success = stage.call("clinician", "find_contraindications", input).await.result.unwrap();
    let note = success.metadata.get("note").and_then(Value::as_str).unwrap_or_default().to_owned();
    (success.output, note)
}

#[tokio::test]
async fn however_much_others_bring_what_was_verified_is_told_and_what_is_cut_is_counted() {
    let stage = sqlite().await;
    let stage = stage.again_with(made_up()).await;
    stage.call("owner", "load_starter_data", json!({})).await.result.unwrap();
    let herb = json!({"herb_ids": ["test_root"], "detail": "full"});
    let (before, _) = answered(&stage, herb.clone()).await;
    let verified = |found: &Value| {
        let all = found["results"].as_array().unwrap().iter();
        all.filter(|it| it["verified"] == true).map(|it| it["edge_id"].clone()).collect::<Vec<_>>()
    };
    assert!(!verified(&before).is_empty(), "{before}");
    put(&stage, &[source()]).await;
    let many: Vec<Value> = (0..1_000)
        .flat_map(|n| {
            let id = format!("aaa{n:04}");
            let condition = node(&id, "condition", json!([{"text": id, "lang": "en"}]));
            let mut edge = edge(&format!("00{n:04}"), "test_root", "contraindicated_in", &id);
            edge["strength"] = json!("high");
            [condition, edge]
        })
        .collect();
    for records in many.chunks(400) {
        assert_eq!(put(&stage, records).await["rejected"], json!([]));
    }
    let (found, note) = answered(&stage, herb).await;
    assert_eq!(found["results"].as_array().unwrap().len(), 1_000);
    let [mut had, mut has] = [verified(&before), verified(&found)];
    had.sort_by_key(Value::to_string);
    has.sort_by_key(Value::to_string);
    assert_eq!(had, has);
    assert_eq!(found["truncated"], true);
    assert!(note.contains("statements are not shown, of `test_root` ("), "{note}");
}

#[tokio::test]
async fn the_strongest_of_all_entities_come_first() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    let found = find(&stage, json!({"herb_ids": ["H2", "H1"]})).await.unwrap();
    assert_eq!(
        told(&found),
        [
            "H1 | D1 | high | bleeding was seen | -",
            "H2 | D1 | moderate | levels rose | -",
            "H1 | P1 | - | stated by herbal | -"
        ]
    );
}

#[tokio::test]
async fn warnings_in_other_words_are_told_and_what_is_not_read_is_named() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    let (found, note) = answered(&stage, json!({"herb_ids": ["H3"]})).await;
    assert_eq!((&found["no_record"], note.as_str()), (&json!(["H3"]), ""));
    put(&stage, &[edge("W0", "H3", "has_odd_word", "P1")]).await;
    let (found, note) = answered(&stage, json!({"herb_ids": ["H3"]})).await;
    assert_eq!(found["no_record"], json!(["H3"]));
    assert!(note.contains("of `H3` (has_odd_word), which are not read here; `kg_get_everything`"), "{note}");
    let warnings = [edge("W1", "H3", "exacerbates", "I05"), edge("W2", "P1", "contraindicated_in", "H3")];
    assert_eq!(put(&stage, &warnings).await["rejected"], json!([]));
    let (found, _) = answered(&stage, json!({"herb_ids": ["H3"]})).await;
    assert_eq!(told_of(&found, "predicate"), ["contraindicated_in", "exacerbates"], "{found}");
    assert_eq!(found["no_record"], json!([]));

    let names = json!([{"text": "tonic", "lang": "en"}]);
    put(&stage, &[node("F3", "formulation", names)]).await;
    let (_, note) = answered(&stage, json!({"formulation_ids": ["F3"]})).await;
    assert_eq!(note, "No ingredient of `F3` is recorded, so it inherits nothing.");
    put(&stage, &[edge("W3", "F3", "composed_of", "H1")]).await;
    let (found, note) = answered(&stage, json!({"formulation_ids": ["F3"]})).await;
    assert_eq!((told_of(&found, "inherited_from"), note.as_str()), (vec!["H1", "H1"], ""));
}

#[tokio::test]
async fn a_warning_that_begins_with_not_is_no_denial() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    // That something is not so says nothing against it.
    let denials = [edge("N0", "H3", "not_contraindicated_in", "P1"), edge("N1", "H3", "not_interacts_with", "D1")];
    assert_eq!(put(&stage, &denials).await["rejected"], json!([]));
    let (found, note) = answered(&stage, json!({"herb_ids": ["H3"]})).await;
    assert_eq!((&found["no_record"], note.as_str()), (&json!(["H3"]), ""));
    put(&stage, &[edge("N2", "H3", "not_oddly_worded_in", "P1")]).await;
    let (found, note) = answered(&stage, json!({"herb_ids": ["H3"]})).await;
    assert_eq!(found["no_record"], json!(["H3"]));
    assert!(note.contains("of `H3` (not_oddly_worded_in), which are not read here"), "{note}");
    let words = ["not_advised_in", "not_recommended_in", "not_safe_in", "not_to_be_used_in"];
    for word in words {
        assert_eq!(put(&stage, &[edge(word, "H3", word, "I05")]).await["rejected"], json!([]));
    }
    let (found, _) = answered(&stage, json!({"herb_ids": ["H3"]})).await;
    let also = found["results"][0]["also"].as_array().unwrap().iter().map(|it| it["predicate"].as_str().unwrap());
    let mut told: Vec<&str> = told_of(&found, "predicate").into_iter().chain(also).collect();
    told.sort_unstable();
    assert_eq!((told.as_slice(), &found["no_record"]), (words.as_slice(), &json!([])), "{found}");
    let path = json!({"start": {"type": "herb", "id": "H3"}, "pattern": "herb -*-> indication"});
    let found = stage.call("clinician", "query_kg", path).await.result.unwrap().output;
    assert_eq!(found["paths"][0][1]["id"], "I05", "a walk leads along it too: {found}");
}

#[tokio::test]
async fn a_warning_by_a_composition_that_nobody_verified_is_not_verified_and_tells_whose_it_is() {
    let stage = sqlite().await;
    let stage = stage.again_with(made_up()).await;
    stage.call("owner", "load_starter_data", json!({})).await.result.unwrap();
    let someone = json!({"record": "source", "id": "someone", "title": "Somebody's list", "licence": "CC-BY-4.0"});
    let names = json!([{"text": "their tonic", "lang": "en"}]);
    let mut records = vec![someone, node("F7", "formulation", names), edge("S1", "F7", "contains", "test_root")];
    for record in &mut records[1..] {
        record["source"] = json!("someone");
    }
    assert_eq!(put(&stage, &records).await["rejected"], json!([]));
    let ask = async |input: Value| stage.call("clinician", "find_contraindications", input).await.result.unwrap();
    let avoid = |found: &Value| {
        let all = found["results"].as_array().unwrap().iter();
        all.clone().find(|it| it["contraindication_id"] == "made_up_state").unwrap().clone()
    };
    let theirs = ask(json!({"formulation_ids": ["F7"]})).await;
    let result = avoid(&theirs.output);
    assert_eq!((&result["verified"], &result["inherited_from"]), (&json!(false), &json!("test_root")), "{result}");
    assert!(result["evidence"].as_str().unwrap().starts_with("(ingredient not verified) Avoid."), "{result}");
    let licences = theirs.metadata["licences"].to_string();
    assert!(licences.contains("someone") && licences.contains("CC-BY-4.0"), "{licences}");
    let ours = avoid(&ask(json!({"formulation_ids": ["test_mixture"]})).await.output);
    assert_eq!(ours["verified"], true, "{ours}");
    assert!(ours["evidence"].as_str().unwrap().starts_with("Avoid."), "{ours}");
}

#[tokio::test]
async fn a_formulation_inherits_what_is_said_of_the_classes_of_its_ingredients_each_statement_once() {
    let stage = sqlite().await;
    put(&stage, &pharmacy()).await;
    let thing = |id: &str, kind: &str| node(id, kind, json!([{"text": id, "lang": "en"}]));
    let mut doubted = edge("calmol-member_of-calmers", "calmol", "member_of", "calmers");
    doubted["qualifiers"] = json!({"verified": false});
    let someone = json!({"record": "source", "id": "someone", "title": "Somebody's list", "licence": "CC-BY-4.0"});
    let mut member = edge("B1", "slowers", "subclass_of", "dimmers");
    member["source"] = json!("someone");
    let records = [
        someone,
        thing("pill", "formulation"),
        thing("dimmers", "drug_class"),
        edge("B0", "pill", "contains", "calmol"),
        member,
        thing("H9", "herb"),
        edge("B2", "H9", "interacts_with", "dimmers"),
        // Both of its ends are met.
        edge("B3", "calmol", "interacts_with", "dimmers"),
        doubted,
    ];
    assert_eq!(put(&stage, &records).await["rejected"], json!([]));
    let success = stage.call("clinician", "find_contraindications", json!({"formulation_ids": ["pill"]})).await;
    let success = success.result.unwrap();
    let mut lines = told(&success.output);
    lines.sort_unstable();
    let expected = [
        "pill | H9 | - | stated by herbal | dimmers",
        "pill | dimmers | - | stated by herbal | calmol",
        "pill | slowers | - | stated by herbal | slowers",
        "pill | stimulants | - | (ingredient or class not verified) stated by herbal | calmers",
    ];
    assert_eq!(lines, expected, "{}", success.output);
    assert_eq!((&success.output["no_record"], success.output.get("not_covered")), (&json!([]), None));
    let licences = success.metadata["licences"].to_string();
    assert!(licences.contains("someone") && licences.contains("CC-BY-4.0"), "{licences}");
    // What is in the other class has nothing of its own, and is covered by what is said of its classes.
    put(&stage, &[thing("tablet", "formulation"), edge("B4", "tablet", "contains", "wakeine")]).await;
    let found = find(&stage, json!({"formulation_ids": ["tablet"]})).await.unwrap();
    assert_eq!((found.get("not_covered"), &found["no_record"]), (None, &json!([])), "{found}");
    assert!(told_of(&found, "inherited_from").contains(&"stimulants"), "{found}");
}

#[tokio::test]
async fn an_ingredient_that_was_withdrawn_is_not_covered() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    let gone = json!({"record": "deletion", "kind": "node", "id": "H2", "source": "herbal"});
    assert_eq!(put(&stage, &[gone]).await["rejected"], json!([]));
    let found = find(&stage, json!({"formulation_ids": ["F1"]})).await.unwrap();
    assert_eq!(told_of(&found, "inherited_from"), ["H1", "H1"], "{found}");
    assert_eq!(found["not_covered"], json!([{"entity_id": "F1", "ingredient": "H2"}]), "{found}");
    let gone = json!({"record": "deletion", "kind": "node", "id": "H1", "source": "herbal"});
    put(&stage, &[gone]).await;
    let (found, note) = answered(&stage, json!({"formulation_ids": ["F1"]})).await;
    assert_eq!((&found["results"], note.as_str()), (&json!([]), ""), "{found}");
    assert_eq!(found["not_covered"].as_array().unwrap().len(), 2, "{found}");
}

#[tokio::test]
async fn who_asks_for_many_unknown_names_is_still_told_of_known_ones() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    for number in 0..=100 {
        assert!(find(&stage, json!({"herb_ids": [format!("nosuch{number}")]})).await.is_err());
    }
    assert!(find(&stage, json!({"herb_ids": ["H1"]})).await.is_ok());
}
