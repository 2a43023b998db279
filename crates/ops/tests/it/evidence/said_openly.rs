//! What an answer must say in itself, so that who reads nothing else is not misled: what it rests on that does not stand, what
//! speaks against it, and that nothing found is no proof of nothing.

use serde_json::{Value, json};

use super::herbs::{edge, herbal, put};
use crate::script::{Stage, sqlite};

async fn ask(stage: &Stage, operation: &str, input: Value) -> Value {
    stage.call("agent", operation, input).await.result.unwrap().output
}

fn resting_on(mut edge: Value, paper: &str) -> Value {
    edge["evidence"] = json!([{"reference": paper}]);
    edge
}

/// A record that speaks against a paper which is not here itself.
fn notice() -> Value {
    json!({"record": "document", "id": "PMID:12", "kind": "paper", "title": "Notice", "text": "Words.", "lang": "en",
        "ids": {"pmid": "12"}, "attributes": {"corrections": [{"kind": "RetractionOf", "pmid": "11"}]},
        "source": "herbal"})
}

#[tokio::test]
async fn paths_and_herbs_say_which_papers_behind_them_do_not_stand() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    let treats = resting_on(edge("E4", "H1", "treats", "I05"), "PMID:11");
    put(&stage, &[treats, resting_on(edge("E1", "H1", "contains", "C9"), "PMID:11"), notice()]).await;
    let doubt = json!([{"reference": "PMID:11", "status": "retracted", "notice": "PMID:12", "source": "herbal"}]);
    let asked = json!({"start": {"type": "herb", "id": "H1"}, "pattern": "herb -treats-> *"});
    let found = ask(&stage, "query_kg", asked).await;
    assert_eq!(found["paths"][0][1]["via"]["retracted"], doubt, "{found}");
    let herb = ask(&stage, "read_herb", json!({"id": "H1"})).await;
    assert_eq!(herb["indications"][0]["retracted"], doubt, "{herb}");
    assert_eq!(herb["constituents"][0]["retracted"], doubt, "{herb}");
    let asked = json!({"start": {"type": "herb", "id": "H2"}, "pattern": "herb -contains-> *"});
    let found = ask(&stage, "query_kg", asked).await;
    assert_eq!(found["paths"][0][1]["via"].get("retracted"), None, "{found}");
}

#[tokio::test]
async fn a_herb_says_that_an_indication_is_also_recorded_against_it() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    assert_eq!(ask(&stage, "read_herb", json!({"id": "H1"})).await.get("note"), None);
    put(&stage, &[edge("A9", "H1", "contraindicated_in", "I05")]).await;
    let herb = ask(&stage, "read_herb", json!({"id": "H1"})).await;
    let note = "Also recorded against taking it: คลื่นไส้ (I05). `find_contraindications` tells what.";
    assert_eq!(herb["note"], note, "{herb}");
}

#[tokio::test]
async fn several_edges_of_a_pair_are_told_by_their_one_path() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    let mut other = edge("A9", "D1", "interacts_with", "H1");
    other["source"] = json!("book");
    put(&stage, &[other, edge("A8", "H1", "interacts_with", "D1")]).await;
    let mut asked = json!({"start": {"type": "herb", "id": "ขิง"}, "pattern": "herb -interacts_with-> *"});
    let found = ask(&stage, "query_kg", asked.clone()).await;
    assert_eq!((found["paths"].as_array().map(Vec::len), found.get("note")), (Some(1), None), "{found}");
    // What the filter leaves out is on no path.
    asked["filters"] = json!({"source": "book"});
    let found = ask(&stage, "query_kg", asked).await;
    assert!(found["note"].as_str().unwrap().starts_with("Not among these paths"), "{found}");
}

#[tokio::test]
async fn nothing_found_is_said_to_prove_nothing() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    let found = ask(&stage, "pubmed_search", json!({"terms": [{"term": "nosuchword"}]})).await;
    let text = "# Search Results for: nosuchword\n\nNo paper was found in the local record. That does not mean that there is \
        none.";
    assert_eq!(found["content"][0]["text"], text);
    let found = ask(&stage, "hybrid_search", json!({"query": "nosuchword"})).await;
    let note = "Nothing was found in the local record. That does not mean that there is nothing.";
    assert_eq!((&found["hits"], &found["note"]), (&json!([]), &json!(note)));
}

#[tokio::test]
async fn a_filter_of_the_search_is_one_word_or_a_list() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    for (filter, list) in [
        (json!({"type": "herb", "source": "herbal"}), json!({"type": ["herb"], "source": ["herbal"]})),
        (json!({"category": "drug", "lang": "th"}), json!({"category": ["drug"], "lang": ["th"]})),
    ] {
        let search = async |filters: Value| {
            let found = ask(&stage, "hybrid_search", json!({"query": "ขิง วาร์ฟาริน", "filters": filters})).await;
            found["hits"].as_array().unwrap().iter().map(|hit| hit["id"].clone()).collect::<Vec<Value>>()
        };
        let hits = search(filter).await;
        assert!(!hits.is_empty());
        assert_eq!(hits, search(list).await);
    }
}
