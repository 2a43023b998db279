//! What one house exports, another one can take in.

use std::io::Cursor;

use contract::evidence::record::Source;
use evidence::import::{self, Format, Item, Options};
use serde_json::{Value, json};

use super::herbs::{edge, herbal, put};
use super::starter_data::with_deadly_classes;
use crate::ledger::both;
use crate::script::{Stage, sqlite};

async fn exported(stage: &Stage, format: &str) -> String {
    let asked = json!({"format": format, "limit": 1_000});
    let output = stage.call("owner", "export_records", asked).await.result.unwrap().output;
    assert_eq!(output.get("next_cursor").filter(|it| !it.is_null()), None);
    output["content"].as_str().unwrap().to_owned()
}

/// Records as an importer brings them, and how many lost their rule.
fn read(text: String) -> (Vec<Value>, u64) {
    let source = Source { id: "neighbour".to_owned(), ..Format::Kgx.source() };
    let mut items = import::open(Format::Kgx, Options { source, lang: None }, Cursor::new(text)).unwrap();
    let records = items.by_ref().map(|item| match item.unwrap() {
        Item::Record(record) => serde_json::to_value(record).unwrap(),
        Item::Rejected(rejection) => panic!("{}: {}", rejection.at, rejection.reason),
    });
    let records: Vec<Value> = records.collect();
    (records, items.n_without_rule())
}

#[tokio::test]
async fn a_critical_interaction_is_told_in_the_next_house_as_its_sources_word() {
    let (stage, other) = (sqlite().await, sqlite().await);
    let house = stage.again_with(with_deadly_classes()).await;
    house.call("owner", "load_starter_data", json!({})).await.result.unwrap();
    let (nodes, _) = read(exported(&house, "kgx_nodes").await);
    let (edges, n_without_rule) = read(exported(&house, "kgx_edges").await);
    assert!(n_without_rule > 0);
    let source = json!({"record": "source", "id": "neighbour", "title": "Another house", "licence": "CC0-1.0"});
    for records in [vec![source], nodes, edges] {
        assert_eq!(put(&other, &records).await["rejected"], json!([]));
    }
    let asked = json!({"curies": ["madeupine", "surine"]});
    let answer = other.call("agent", "kg_network_neighborhood", asked).await.result.unwrap().output;
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("[neighbour] (imported, not verified)"), "{text}");
    assert!(text.contains("severity: ") && !text.contains("R-DDI-001"), "{text}");
}

#[tokio::test]
async fn how_strong_a_statement_is_goes_along() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    let (edges, _) = read(exported(&stage, "kgx_edges").await);
    let strength = |id: &str| edges.iter().find(|edge| edge["id"] == id).unwrap().get("strength").cloned();
    assert_eq!(strength("A2"), Some(json!("high")));
    assert_eq!(strength("E1"), None);
    assert!(edges.iter().all(|edge| edge["qualifiers"].get("evidence_strength").is_none()), "{edges:?}");
    let other =
        "{\"id\":\"e\",\"subject\":\"X:1\",\"predicate\":\"treats\",\"object\":\"X:2\",\"evidence_strength\":\"IIb\"}";
    let (edges, _) = read(other.to_owned());
    assert_eq!((edges[0].get("strength"), &edges[0]["qualifiers"]["evidence_strength"]), (None, &json!("IIb")));
}

#[tokio::test]
async fn a_statement_that_rests_on_a_retracted_paper_says_so_and_the_next_house_takes_it_for_that_ones_word() {
    for (stage, other) in both().await.into_iter().zip(both().await) {
        let retracted = json!({"record": "document", "id": "PMID:9", "kind": "paper", "title": "T", "text": "", "lang": "en",
            "ids": {"pmid": "9"}, "source": "herbal", "retraction": {"kind": "retracted", "notice": "PMID:10"}});
        let mut stated = edge("E9", "H1", "treats", "D1");
        stated["evidence"] = json!([{"reference": "PMID:9"}]);
        put(&stage, &[herbal(), vec![retracted, stated]].concat()).await;
        let edges = exported(&stage, "kgx_edges").await;
        let lines = edges.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let doubted: Vec<Value> = lines.filter(|line| line.get("doubted_publications").is_some()).collect();
        assert_eq!(doubted.len(), 1, "{doubted:?}");
        let words = json!(["retracted: `PMID:9` (notice `PMID:10`, by `herbal`)"]);
        assert_eq!((&doubted[0]["id"], &doubted[0]["doubted_publications"]), (&json!("E9"), &words));
        // In the next house nobody knows the paper.
        let (nodes, _) = read(exported(&stage, "kgx_nodes").await);
        let (edges, _) = read(edges);
        let source = json!({"record": "source", "id": "neighbour", "title": "Another house", "licence": "CC0-1.0"});
        for records in [vec![source], nodes, edges] {
            assert_eq!(put(&other, &records).await["rejected"], json!([]));
        }
        let again = exported(&other, "kgx_edges").await;
        let again = again.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).find(|it| it["id"] == "E9");
        let again = again.unwrap();
        assert_eq!(again.get("doubted_publications"), None);
        assert_eq!(again["doubted_publications_by_source"], words);
        let told = other.call("agent", "kg_get_everything", json!({"curie": "H1"})).await.result.unwrap().output;
        assert!(!told["content"][0]["text"].as_str().unwrap().contains("retracted"), "{told}");
    }
}
