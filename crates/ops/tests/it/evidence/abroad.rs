//! Papers that PubMed itself tells of.

use std::sync::Arc;

use contract::error::OpError;
use contract::evidence::record::Document;
use futures::FutureExt;
use futures::future::BoxFuture;
use ops::{Literature, LiteratureFound, LiteratureSearch};
use serde_json::{Value, json};

use super::herbs::{put, source};
use crate::ledger::both;

/// A library of one paper, which names a second one and knows of many.
#[derive(Debug)]
struct Library;

fn paper() -> Document {
    let paper = json!({"id": "PMID:11", "kind": "paper", "title": "On ginger", "text": "Words.", "lang": "en",
        "ids": {"pmid": "11", "doi": "10.1/x"}, "source": "pubmed"});
    serde_json::from_value(paper).unwrap()
}

impl Literature for Library {
    fn search(&self, _: LiteratureSearch) -> BoxFuture<'_, Result<LiteratureFound, OpError>> {
        let found =
            LiteratureFound { documents: vec![paper()], n_matching: Some(5_000), not_sent: vec!["12".to_owned()] };
        async { Ok(found) }.boxed()
    }

    fn find<'a>(&'a self, pmid: &'a str) -> BoxFuture<'a, Result<Option<Document>, OpError>> {
        async move { Ok((pmid == "11").then(paper)) }.boxed()
    }
}

#[tokio::test]
async fn what_is_known_here_against_a_paper_is_told_whoever_tells_of_the_paper() {
    for stage in both().await {
        // The notice is here, and the paper is not; it is found by another one of its ids.
        let notice = json!({"record": "document", "id": "PMID:13", "kind": "paper", "title": "Retraction", "text": "",
            "lang": "en", "ids": {"pmid": "13"}, "source": "herbal",
            "attributes": {"corrections": [{"kind": "RetractionOf", "doi": "10.1/X"}]}});
        put(&stage, &[source(), notice]).await;
        let house = stage.again_asking(Some(Arc::new(Library)), None).await;
        let found = house.call("agent", "pubmed_search", json!({"terms": [{"term": "ginger"}]})).await.result.unwrap();
        let mark = "**RETRACTED** (`PMID:13`, by `herbal`)";
        let text = found.output["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(mark), "{text}");
        let entries: Value = serde_json::from_str(&found.artifacts[0].content).unwrap();
        assert_eq!(
            (&entries[0]["retraction"], &entries[0]["retraction_source"]),
            (&json!("retracted"), &json!("herbal"))
        );
        let sources: Vec<&Value> =
            found.metadata["licences"].as_array().unwrap().iter().map(|it| &it["source"]).collect();
        assert_eq!(sources, [&json!("pubmed"), &json!("herbal")]);
        let details = house.call("agent", "pubmed_get_details", json!({"pmid": "11"})).await.result.unwrap().output;
        assert!(details["content"][0]["text"].as_str().unwrap().contains(mark), "{details}");
    }
}

#[tokio::test]
async fn a_part_of_what_pubmed_has_does_not_pass_for_all() {
    for stage in both().await {
        let house = stage.again_asking(Some(Arc::new(Library)), None).await;
        let found = house.call("agent", "pubmed_search", json!({"terms": [{"term": "ginger"}]})).await.result.unwrap();
        let message = "1 of 5000 papers found at PubMed are shown; PubMed did not send 12";
        assert_eq!(found.metadata["message"], message);
        assert!(found.output["content"][0]["text"].as_str().unwrap().ends_with(&format!("\n\n({message})")));
    }
}
