//! Classes that are asked for: what is recorded of their members is told, with the way to each.

use serde_json::{Value, json};

use super::herbs::{edge, herbal, node, put, source};
use crate::script::{Stage, sqlite};

/// The words of an answer and the links that it shows.
async fn ask(stage: &Stage, operation: &str, input: Value) -> (String, Vec<Value>) {
    let success = stage.call("agent", operation, input).await.result.unwrap();
    let text = success.output["content"][0]["text"].as_str().unwrap().to_owned();
    let shown = success.artifacts.first().map(|it| serde_json::from_str::<Value>(&it.content).unwrap());
    let links = shown.map(|shown| shown["links"].as_array().unwrap().clone()).unwrap_or_default();
    (text, links)
}

async fn together(stage: &Stage, curies: &[&str]) -> (String, Vec<Value>) {
    ask(stage, "kg_network_neighborhood", json!({ "curies": curies })).await
}

fn thing(id: &str, kind: &str) -> Value {
    node(id, kind, json!([{"text": id, "lang": "en"}]))
}

fn graded(id: &str, subject: &str, object: &str, severity: &str) -> Value {
    let mut edge = edge(id, subject, "interacts_with", object);
    edge["qualifiers"] = json!({ "severity": severity });
    edge
}

/// Two classes of which nothing is said, with drugs in them of which something is.
fn cabinet() -> Vec<Value> {
    let mut records = vec![source()];
    records.extend(["reds", "blues", "dark_blues"].map(|id| thing(id, "drug_class")));
    records.extend(["redol", "rosol", "bluol", "navol", "violol"].map(|id| thing(id, "drug")));
    records.extend([
        edge("m1", "redol", "member_of", "reds"),
        edge("m2", "rosol", "member_of", "reds"),
        edge("m3", "blues", "has_member", "bluol"),
        edge("m4", "dark_blues", "subclass_of", "blues"),
        edge("m5", "navol", "member_of", "dark_blues"),
        edge("m6", "violol", "member_of", "reds"),
        edge("m7", "violol", "member_of", "blues"),
    ]);
    records
}

#[tokio::test]
async fn who_asks_for_a_class_is_told_of_its_members() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    let class = node("K1", "drug_class", json!([{"text": "thinners", "lang": "en"}]));
    put(&stage, &[class, edge("M1", "D1", "member_of", "K1")]).await;
    for curies in [["K1", "H1"], ["H1", "K1"]] {
        let (text, links) = together(&stage, &curies).await;
        let told = "Of members of what was asked for, with the way to each:\n\
            - ขิง (H1) interacts with วาร์ฟาริน (D1) [herbal] (imported, not verified); strength: high (the way there: \
            วาร์ฟาริน (D1) member of thinners (K1) [herbal] (imported, not verified))";
        assert!(text.contains(told), "{text}");
        let note = "thinners (K1) is a class; members known here: 1. The warnings recorded of them are told apart, with the way \
            to each.";
        assert!(text.contains(note), "{text}");
        // Of the class itself nothing is known all the same.
        let pair = text.lines().find(|line| line.ends_with(", themselves; of their members see above"));
        assert!(pair.is_some_and(|line| line.contains("thinners (K1)")), "{text}");
        let ends: Vec<&Value> = links.iter().map(|link| &link["label"]).collect();
        assert_eq!(ends, ["interacts_with", "member_of"], "{links:?}");
    }
    let (text, _) = ask(&stage, "kg_get_everything", json!({"curie": "thinners"})).await;
    let told =
        "วาร์ฟาริน (D1) interacts with ขมิ้นชัน (H2) [herbal] (imported, not verified); strength: moderate (the way there:";
    assert!(text.contains("thinners (K1) is a class") && text.contains(told), "{text}");
}

#[tokio::test]
async fn members_of_two_classes_are_told_the_gravest_first_and_none_with_itself() {
    let stage = sqlite().await;
    put(&stage, &cabinet()).await;
    let (text, _) = together(&stage, &["reds", "blues"]).await;
    assert!(!text.contains("Of members") && !text.contains("see above"), "{text}");
    let said = [
        graded("a", "redol", "bluol", "moderate"),
        graded("b", "navol", "rosol", "critical"),
        graded("c", "redol", "rosol", "critical"),
        graded("d", "redol", "navol", "major"),
        edge("e", "redol", "affects", "navol"),
    ];
    put(&stage, &said).await;
    let (text, links) = together(&stage, &["reds", "blues"]).await;
    let (_, told) = text.split_once("with the way to each:\n").unwrap();
    let told: Vec<&str> = told.lines().take_while(|line| line.starts_with("- ")).collect();
    assert!(told[0].starts_with("- navol (navol) interacts with rosol (rosol)"), "{text}");
    let way = "(the way there: rosol (rosol) member of reds (reds) [herbal] (imported, not verified); \
        dark_blues (dark_blues) subclass of blues (blues) [herbal] (imported, not verified); \
        navol (navol) member of dark_blues (dark_blues) [herbal] (imported, not verified))";
    let parts = way.trim_start_matches("(the way there: ").trim_end_matches(')').split("; ");
    assert!(parts.clone().all(|part| told[0].contains(part)), "{text}");
    assert!(told[1].contains("severity: major") && told[2].contains("severity: moderate"), "{text}");
    assert_eq!(told.len(), 3, "two of one class are no pair, and `affects` warns of nothing: {text}");
    assert_eq!(links[0]["severity"], "critical", "{links:?}");
    // Nobody takes a drug together with itself: `violol` is in both classes.
    let with_itself = graded("f", "reds", "reds", "critical");
    put(&stage, &[with_itself]).await;
    let (text, _) = together(&stage, &["violol", "blues"]).await;
    assert!(
        !text.contains("violol (violol) member of reds (reds) [herbal] (imported, not verified); violol"),
        "{text}"
    );
}

#[tokio::test]
async fn what_a_member_inherits_from_another_class_is_told_of_its_class() {
    let stage = sqlite().await;
    put(&stage, &cabinet()).await;
    let more = [thing("sleepers", "drug_class"), edge("m8", "rosol", "member_of", "sleepers")];
    put(&stage, &[more.to_vec(), vec![graded("x", "sleepers", "bluol", "critical")]].concat()).await;
    for curies in [["reds", "blues"], ["reds", "bluol"]] {
        let (text, _) = together(&stage, &curies).await;
        let told =
            "- sleepers (sleepers) interacts with bluol (bluol) [herbal] (imported, not verified); severity: critical";
        assert!(text.contains(told) && text.contains("rosol (rosol) member of reds (reds)"), "{text}");
    }
}

#[tokio::test]
async fn a_member_that_nobody_verified_makes_nothing_critical() {
    let stage = sqlite().await;
    put(&stage, &cabinet()).await;
    let mut doubted = edge("m1", "redol", "member_of", "reds");
    doubted["qualifiers"] = json!({"verified": false});
    put(&stage, &[doubted, graded("a", "redol", "bluol", "critical")]).await;
    let capped = "severity: major, no graver: nobody verified what leads here from reds (reds)";
    for (operation, input) in [
        ("kg_network_neighborhood", json!({"curies": ["reds", "blues"]})),
        ("kg_network_neighborhood", json!({"curies": ["bluol", "reds"]})),
        ("kg_get_everything", json!({"curie": "reds"})),
    ] {
        let (text, links) = ask(&stage, operation, input).await;
        assert!(text.contains(capped) && !text.contains("critical"), "{text}");
        let link = links.iter().find(|link| link["label"] == "interacts_with").unwrap();
        assert_eq!((&link["severity"], &link["cappedFor"]), (&json!("major"), &json!(["reds"])), "{link}");
    }
    // Who asks for the drug itself is told what its source says.
    let (text, _) = together(&stage, &["redol", "bluol"]).await;
    assert!(text.contains("severity: critical, as its source alone grades it"), "{text}");
}

#[tokio::test]
async fn of_many_members_and_statements_the_gravest_are_told_and_the_rest_is_counted() {
    let stage = sqlite().await;
    put(&stage, &[source(), thing("crowd", "drug_class"), thing("other", "drug")]).await;
    let ids: Vec<String> = (0..230).map(|n| format!("drug{n:03}")).collect();
    let members = ids.iter().flat_map(|id| [thing(id, "drug"), edge(&format!("m-{id}"), id, "member_of", "crowd")]);
    let members: Vec<Value> = members.collect();
    let said = ids.iter().map(|id| {
        let is_last = id == "drug229";
        graded(&format!("i-{id}"), id, "other", if is_last { "critical" } else { "minor" })
    });
    let said: Vec<Value> = said.collect();
    for records in members.chunks(100).chain(said.chunks(100)) {
        assert_eq!(put(&stage, records).await["rejected"], json!([]));
    }
    let looked_at = "crowd (crowd) is a class; members known here: 230. The warnings recorded of 200 of them are told apart, with \
        the way to each; the others were not looked at, ask for them by name.";
    for (operation, input) in [
        ("kg_network_neighborhood", json!({"curies": ["crowd", "other"]})),
        ("kg_get_everything", json!({"curie": "crowd"})),
    ] {
        let (text, _) = ask(&stage, operation, input).await;
        assert!(text.contains(looked_at), "{text}");
        let (_, told) = text.split_once("with the way to each:\n").unwrap();
        assert!(told.starts_with("- drug229 (drug229) interacts with other (other)"), "{text}");
        assert!(text.contains("- and 100 more statements of members not shown"), "{text}");
    }
}
