//! `kg_get_everything` and `kg_network_neighborhood` through the door.

use serde_json::{Value, json};

use super::herbs::{edge, herbal, node, put, source};
use super::starter_data::with_deadly_classes;
use crate::script::{Stage, sqlite};

/// The words of an answer, what it shows, and the facts about it.
async fn ask(stage: &Stage, operation: &str, input: Value) -> (String, Value, Value) {
    let success = stage.call("agent", operation, input).await.result.unwrap();
    assert_eq!(success.output["content"][0]["forModel"], true);
    let text = success.output["content"][0]["text"].as_str().unwrap().to_owned();
    let shown = success.artifacts.first().map_or(Value::Null, |artifact| {
        assert_eq!(artifact.kind, "application/vnd.knowledge-graph");
        serde_json::from_str(&artifact.content).unwrap()
    });
    (text, shown, Value::Object(success.metadata))
}

fn ids(shown: &Value) -> Vec<&str> {
    shown["nodes"].as_array().unwrap().iter().map(|node| node["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn everything_about_a_node_is_told_and_shown() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    let (text, shown, facts) = ask(&stage, "kg_get_everything", json!({"curie": "warfarin"})).await;
    let expected = "# Search Results for: วาร์ฟาริน (D1)\n\n\
        - ขิง (H1) interacts with วาร์ฟาริน (D1) [herbal] (imported, not verified); strength: high\n\
        - วาร์ฟาริน (D1) interacts with ขมิ้นชัน (H2) [herbal] (imported, not verified); strength: moderate";
    assert_eq!(text, expected);
    assert_eq!(ids(&shown), ["D1", "H1", "H2"]);
    let node = json!({"id": "D1", "name": "วาร์ฟาริน", "group": 7, "entityType": "Drug", "val": 2,
        "isStartingNode": true});
    assert_eq!(shown["nodes"][0], node);
    let link = json!({"source": "D1", "target": "H2", "value": 1, "label": "interacts_with",
        "evidence": ["PMID:11"], "knowledgeSource": "herbal", "verified": false});
    let links = shown["links"].as_array().unwrap();
    assert_eq!((links.len(), links.iter().find(|it| it["source"] == "D1")), (2, Some(&link)));
    assert_eq!((&facts["querySuccess"], &facts["nodeCount"]), (&json!(true), &json!(3)));
    assert_eq!(facts["licences"], json!([{"source": "herbal", "licence": "CC0-1.0"}]));
    let (text, shown, facts) = ask(&stage, "kg_get_everything", json!({"curie": "H3"})).await;
    assert!(text.ends_with("That does not mean that there is nothing.") && shown.is_null(), "{text}");
    assert_eq!(facts["message"], "no statement is recorded");
    let error = stage.call("agent", "kg_get_everything", json!({"curie": "X:1"})).await.result.unwrap_err();
    assert_eq!((error.code(), error.message.as_str()), ("NOT_FOUND", "no node has the id or name `X:1`"));
}

#[tokio::test]
async fn a_neighbourhood_is_what_several_have_in_common() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    let (_, shown, _) = ask(&stage, "kg_network_neighborhood", json!({"curies": ["H1", "H2"]})).await;
    // The drug and the mixture; not what only one of the herbs contains or treats.
    assert_eq!(ids(&shown), ["H1", "H2", "D1", "F1"]);
    let (_, shown, _) = ask(&stage, "kg_network_neighborhood", json!({"curies": ["C9", "I05", "H3"]})).await;
    // The ginger is connected with both, and one is said to treat the other.
    assert_eq!(ids(&shown), ["C9", "H3", "I05", "H1"]);
    assert_eq!(shown["links"].as_array().unwrap().len(), 3);
    let twice = stage.call("agent", "kg_network_neighborhood", json!({"curies": ["H1", "ขิง"]})).await;
    assert_eq!(twice.result.unwrap_err().message, "`curies`: expected at least two different things");
}

/// Two made-up drugs whose danger is written of their classes, and of a class with itself.
pub fn pharmacy() -> Vec<Value> {
    let thing = |id: &str, kind: &str| node(id, kind, json!([{"text": id, "lang": "en"}]));
    let mut records = vec![source()];
    records.extend(["calmol", "wakeine", "mixture"].map(|id| thing(id, "drug")));
    records.extend(["calmers", "wakers", "stimulants", "slowers"].map(|id| thing(id, "drug_class")));
    let ends = [
        ("calmol", "member_of", "calmers"),
        ("wakeine", "member_of", "wakers"),
        ("wakers", "subclass_of", "stimulants"),
        ("mixture", "has_ingredient", "calmol"),
        ("calmol", "member_of", "slowers"),
        ("wakeine", "member_of", "slowers"),
    ];
    let said = |subject: &str, predicate: &str, object: &str| {
        edge(&format!("{subject}-{predicate}-{object}"), subject, predicate, object)
    };
    records.extend(ends.map(|(subject, predicate, object)| said(subject, predicate, object)));
    let mut deadly = said("calmers", "interacts_with", "stimulants");
    deadly["qualifiers"] = json!({"severity": "critical", "action": {"en": "Never.", "th": "ห้าม"}});
    let mut with_itself = said("slowers", "interacts_with", "slowers");
    with_itself["qualifiers"] = json!({"severity": "major"});
    records.extend([deadly, with_itself]);
    records
}

#[tokio::test]
async fn what_is_said_of_classes_is_told_of_their_drugs() {
    let stage = sqlite().await;
    put(&stage, &pharmacy()).await;
    for curies in [["calmol", "wakeine"], ["wakeine", "calmol"], ["mixture", "wakeine"]] {
        let (text, shown, _) = ask(&stage, "kg_network_neighborhood", json!({ "curies": curies })).await;
        let deadly = "calmers (calmers) interacts with stimulants (stimulants) [herbal] (imported, not \
            verified); severity: critical, as its source alone grades it. Its source advises: \"Never.\"";
        assert!(text.contains(deadly), "{curies:?}: {text}");
        let major =
            "slowers (slowers) interacts with slowers (slowers) [herbal] (imported, not verified); severity: major";
        assert!(text.find(deadly) < text.find(major), "{text}");
        // The way there is told too.
        assert!(text.contains("wakers (wakers) subclass of stimulants"), "{text}");
        let links = shown["links"].as_array().unwrap();
        assert!(links.iter().any(|it| it["severity"] == "critical"), "{shown}");
    }
    // What is in the mixture is no second drug with the other class.
    let (text, _, _) = ask(&stage, "kg_network_neighborhood", json!({"curies": ["mixture", "calmol"]})).await;
    assert!(!text.contains("critical"), "{text}");
}

#[tokio::test]
async fn a_membership_that_nobody_verified_makes_nothing_critical() {
    let stage = sqlite().await;
    put(&stage, &pharmacy()).await;
    let mut doubted = edge("calmol-member_of-calmers", "calmol", "member_of", "calmers");
    doubted["qualifiers"] = json!({"verified": false});
    put(&stage, &[doubted]).await;
    let curies = json!({"curies": ["wakeine", "calmol"]});
    let capped = |of: &str| {
        format!(
            "severity: major, no graver: nobody verified what leads here from {of} ({of}). Its source advises: \"Never.\""
        )
    };
    for (operation, input, of) in [
        ("kg_network_neighborhood", curies.clone(), "calmol"),
        ("kg_network_neighborhood", json!({"curies": ["wakeine", "mixture"]}), "mixture"),
        ("kg_get_everything", json!({"curie": "calmol"}), "calmol"),
    ] {
        let (text, shown, _) = ask(&stage, operation, input).await;
        assert!(text.contains(&capped(of)) && !text.contains("critical"), "{text}");
        let links = shown["links"].as_array().unwrap();
        let link = links.iter().find(|it| it["source"] == "calmers" && it["target"] == "stimulants").unwrap();
        assert_eq!((&link["severity"], &link["cappedFor"]), (&json!("major"), &json!([of])), "{link}");
    }
    // It stays critical of the class itself, and of who is told of together with it.
    let (text, _, _) = ask(&stage, "kg_network_neighborhood", json!({"curies": ["calmers", "wakeine"]})).await;
    assert!(
        text.contains("severity: critical, as its source alone grades it. Its source advises: \"Never.\""),
        "{text}"
    );
    let all = json!({"curies": ["calmers", "wakeine", "calmol"]});
    let (text, shown, _) = ask(&stage, "kg_network_neighborhood", all).await;
    let both = "severity: critical, as its source alone grades it, but no graver than major, as nobody verified what \
        leads here from calmol (calmol). Its source advises: \"Never.\"";
    assert!(text.contains(both), "{text}");
    assert!(shown["links"].as_array().unwrap().iter().any(|it| it["severity"] == "critical"), "{shown}");
    // A longer way that nothing is said against counts.
    let soothers = node("soothers", "drug_class", json!([{"text": "soothers", "lang": "en"}]));
    let ways = [edge("w1", "calmol", "member_of", "soothers"), edge("w2", "soothers", "subclass_of", "calmers")];
    put(&stage, &[soothers]).await;
    put(&stage, &ways).await;
    let (text, _, _) = ask(&stage, "kg_network_neighborhood", curies).await;
    assert!(
        text.contains("severity: critical, as its source alone grades it. Its source advises: \"Never.\""),
        "{text}"
    );
}

#[tokio::test]
async fn the_warnings_of_a_class_are_told_of_each_of_its_members() {
    let stage = sqlite().await;
    put(&stage, &pharmacy()).await;
    for member in ["calmol", "wakeine", "mixture"] {
        let (text, _, _) = ask(&stage, "kg_get_everything", json!({ "curie": member })).await;
        let own =
            "slowers (slowers) interacts with slowers (slowers) [herbal] (imported, not verified); severity: major";
        assert!(text.contains(own), "{member}: {text}");
        assert!(text.contains("calmers (calmers) interacts with stimulants"), "{member}: {text}");
        assert!(text.contains("member of slowers"), "{member}: {text}");
    }
}

/// What an answer begins with where nothing is known of so many pairs.
fn unknown(n_pairs: usize) -> String {
    format!(
        "No statement is recorded of {n_pairs} of the pairs, neither of the two nor of what they belong to; they are listed below. \
         That does not mean that there is nothing, nor that they are safe together.\n\n"
    )
}

#[tokio::test]
async fn pairs_that_nothing_is_known_of_are_counted_first_and_listed_after_what_is_told() {
    let stage = sqlite().await;
    put(&stage, &pharmacy()).await;
    let thing = |id: &str| node(id, "drug", json!([{"text": id, "lang": "en"}]));
    let said = [edge("x1", "plainol", "affects", "liver"), edge("x2", "calmol", "affects", "liver")];
    put(&stage, &[thing("plainol"), thing("liver")]).await;
    put(&stage, &said).await;
    let (text, _, facts) = ask(&stage, "kg_network_neighborhood", json!({"curies": ["plainol", "calmol"]})).await;
    let expected = unknown(1)
        + "The pairs of which no statement is recorded:\n\
        - plainol (plainol) and calmol (calmol)\n\n\
        About others, which two or more of them are connected with:\n\
        - plainol (plainol) affects liver (liver) [herbal] (imported, not verified)\n\
        - calmol (calmol) affects liver (liver) [herbal] (imported, not verified)";
    assert_eq!(text, format!("# Search Results for: plainol, calmol\n\n{expected}"));
    assert_eq!(facts["message"], "2 statements in the record; of 1 of the pairs, none");
    let curies = json!({"curies": ["wakeine", "plainol", "calmol"]});
    let (text, _, facts) = ask(&stage, "kg_network_neighborhood", curies).await;
    let (_, rest) = text.split_once(&unknown(2)).unwrap();
    let (told, listed) = rest.split_once("\n\nThe pairs of which no statement is recorded:\n").unwrap();
    assert!(told.contains("severity: critical"), "{text}");
    let pairs = "- wakeine (wakeine) and plainol (plainol)\n- plainol (plainol) and calmol (calmol)\n\nAbout others";
    assert!(listed.starts_with(pairs), "{text}");
    assert_eq!(facts["message"].as_str().unwrap().rsplit("; ").next(), Some("of 2 of the pairs, none"));
    // Nothing at all is said of the pair, and nothing of others.
    let (text, shown, _) = ask(&stage, "kg_network_neighborhood", json!({"curies": ["plainol", "stimulants"]})).await;
    assert!(text.ends_with("recorded:\n- plainol (plainol) and stimulants (stimulants)") && shown.is_null());
}

#[tokio::test]
async fn the_one_grave_pair_of_twenty_drugs_stands_at_the_top() {
    let stage = sqlite().await;
    put(&stage, &pharmacy()).await;
    let ids: Vec<String> = (0..18).map(|n| format!("plain{n:02}")).collect();
    let drugs = ids.iter().map(|id| node(id, "drug", json!([{"text": id, "lang": "en"}])));
    put(&stage, &drugs.collect::<Vec<_>>()).await;
    let curies: Vec<&str> = ids.iter().map(String::as_str).chain(["wakeine", "calmol"]).collect();
    let (text, _, facts) = ask(&stage, "kg_network_neighborhood", json!({ "curies": curies })).await;
    let grave = text.lines().position(|line| line.contains("severity: critical")).unwrap();
    assert!(grave < 10, "{text}");
    assert!(text.contains(&unknown(189)) && text.ends_with("- and 89 more pairs not shown"), "{text}");
    assert!(facts["message"].as_str().unwrap().ends_with("of 189 of the pairs, none"));
}

#[tokio::test]
async fn the_gravest_comes_first() {
    let stage = sqlite().await;
    put(&stage, &pharmacy()).await;
    let grades = ["unknown", "minor", "major", "moderate", "critical"];
    let graded = grades.map(|severity| {
        let mut edge = edge(severity, "calmers", "interacts_with", "wakers");
        edge["qualifiers"] = json!({ "severity": severity });
        edge
    });
    put(&stage, &graded).await;
    for (operation, input) in [
        ("kg_network_neighborhood", json!({"curies": ["calmers", "wakers"]})),
        ("kg_get_everything", json!({"curie": "wakers"})),
        ("kg_get_everything", json!({"curie": "wakeine"})),
    ] {
        let (text, shown, _) = ask(&stage, operation, input).await;
        let between = text.lines().filter(|line| line.contains("calmers) interacts with wakers"));
        let told = between.filter_map(|line| line.rsplit("severity: ").next()?.split(',').next());
        let told: Vec<&str> = told.collect();
        assert_eq!(told, ["critical", "major", "moderate", "minor", "unknown"], "{text}");
        let links = shown["links"].as_array().unwrap().iter();
        let links: Vec<&Value> = links.filter(|it| it["target"] == "wakers").map(|it| &it["severity"]).collect();
        assert_eq!(links.iter().find(|it| it.is_string()).unwrap(), &&json!("critical"), "{shown}");
    }
}

#[tokio::test]
async fn nobody_else_grades_by_the_rules_of_the_starter_data() {
    let stage = sqlite().await;
    put(&stage, &pharmacy()).await;
    let mut borrowed = edge("borrowed", "calmers", "interacts_with", "wakers");
    borrowed["qualifiers"] = json!({"severity": "critical", "rule": "R-DDI-001"});
    for replace_starter in [false, true] {
        let input = json!({"records": [borrowed], "replace_starter": replace_starter});
        let put = stage.call("curator", "put_records", input).await.result.unwrap().output;
        let reason = "`qualifiers/rule`: expected to be absent, as only what comes with the program is graded by its rules; \
            call it otherwise, such as `rule_of_source`";
        assert_eq!((&put["kept"], &put["rejected"][0]["reason"]), (&json!(0), &json!(reason)));
    }
}

#[tokio::test]
async fn whatever_word_says_that_a_thing_is_in_a_class_or_has_something_in_it_the_warnings_reach_it() {
    let stage = sqlite().await;
    put(&stage, &pharmacy()).await;
    let predicates = ["is_a", "has_part", "has_active_ingredient", "has_component", "subclass_of", "contains"];
    let along = predicates.map(|it| (it, format!("pill-{it}"), false));
    let against = ["part_of", "ingredient_of", "component_of"].map(|it| (it, format!("pill-{it}"), true));
    for (predicate, id, is_against) in along.into_iter().chain(against) {
        let (subject, object) = if is_against { ("calmers", id.as_str()) } else { (id.as_str(), "calmers") };
        let said = edge(&format!("{id}-edge"), subject, predicate, object);
        put(&stage, &[node(&id, "drug", json!([{"text": id, "lang": "en"}])), said]).await;
        for (operation, input) in [
            ("kg_network_neighborhood", json!({"curies": [id, "wakeine"]})),
            ("kg_get_everything", json!({"curie": id})),
        ] {
            let (text, _, _) = ask(&stage, operation, input).await;
            assert!(
                text.contains("severity: critical, as its source alone grades it. Its source advises: \"Never.\""),
                "{id}: {text}"
            );
        }
        let asked = json!({"start": {"type": "drug", "id": id}, "pattern": "drug -interacts_with-> *"});
        let found = stage.call("agent", "query_kg", asked).await.result.unwrap();
        let note = found.metadata["note"].as_str().unwrap();
        let way = if is_against { format!("<-{predicate}-") } else { format!("-{predicate}->") };
        let pattern = format!("drug {way} drug_class -interacts_with-> *");
        assert!(note.contains("calmers (calmers, critical)") && note.contains(&pattern), "{note}");
        let asked = json!({"start": {"type": "drug", "id": id}, "pattern": pattern});
        let found = stage.call("agent", "query_kg", asked).await.result.unwrap();
        assert_eq!(found.output["paths"][0][2]["id"], "stimulants", "{id}");
    }
}

#[tokio::test]
async fn a_critical_link_says_whose_grade_it_is() {
    let stage = sqlite().await;
    put(&stage, &pharmacy()).await;
    let (_, shown, _) = ask(&stage, "kg_network_neighborhood", json!({"curies": ["calmol", "wakeine"]})).await;
    let links = shown["links"].as_array().unwrap();
    let link = links.iter().find(|it| it["severity"] == "critical").unwrap();
    assert_eq!((&link["severityBy"], link.get("rule")), (&json!("herbal"), None), "{link}");
    let membership = links.iter().find(|it| it["label"] == "member_of").unwrap();
    assert_eq!(membership.get("severityBy"), None);
    // By a rule it is nobody's word alone, and what is told as less is not its source's grade.
    let house = stage.again_with(with_deadly_classes()).await;
    house.call("owner", "load_starter_data", json!({})).await.result.unwrap();
    for (other, severity, rule) in [("surine", "critical", json!("R-DDI-001")), ("doubtine", "major", Value::Null)] {
        let (_, shown, _) = ask(&house, "kg_network_neighborhood", json!({"curies": ["madeupine", other]})).await;
        let links = shown["links"].as_array().unwrap();
        let link = links.iter().find(|it| it["target"] == "wider_class" && it["severity"].is_string()).unwrap();
        assert_eq!((&link["severity"], &link["rule"]), (&json!(severity), &rule), "{link}");
        assert_eq!(link.get("severityBy"), None, "{link}");
    }
}
