//! Papers that PubMed itself tells of, and statements of another server.

use std::sync::Arc;

use contract::error::{Kind, OpError};
use contract::evidence::record::{Document, Record};
use futures::FutureExt;
use futures::future::BoxFuture;
use ops::{Knowledge, Literature, LiteratureFound, LiteratureSearch};
use serde_json::{Value, json};

use super::herbs::{herbal, put, source};
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

/// A server that says something of ginger and of what nobody here knows.
#[derive(Debug)]
struct Server {
    is_there: bool,
}

impl Knowledge for Server {
    fn about<'a>(&'a self, _: &'a [String]) -> BoxFuture<'a, Result<Vec<Record>, OpError>> {
        let node = |id: &str, name: &str| json!({"record": "node", "id": id, "categories": ["drug"], "names": [{"text": name, "lang": "en"}], "source": "trapi"});
        let edge = |id: &str, predicate: &str, object: &str, by: &str| {
            json!({"record": "edge", "id": id, "subject": "H1", "predicate": predicate, "object": object, "source": "trapi",
                "qualifiers": {"primary_knowledge_source": by}})
        };
        let records = [
            node("H1", "somebody's ginger"),
            node("X:1", "fictol"),
            edge("t1", "interacts_with", "X:1", "infores:made-up"),
            // Once each way, one that claims to be ours, and one that is here.
            edge("t1", "interacts_with", "X:1", "infores:made-up"),
            edge("t2", "affects", "X:1", "materia"),
            edge("E1", "contains", "C9", "infores:made-up"),
        ];
        let records = records.into_iter().map(|it| serde_json::from_value(it).unwrap()).collect();
        let answer = if self.is_there { Ok(records) } else { Err(OpError::new(Kind::Upstream, "nobody is there")) };
        async { answer }.boxed()
    }
}

#[tokio::test]
async fn what_a_server_says_is_told_together_with_what_is_recorded() {
    for stage in both().await {
        put(&stage, &herbal()).await;
        let house = stage.again_asking(None, Some(Arc::new(Server { is_there: true }))).await;
        let ask = async |operation: &str, input: Value| house.call("agent", operation, input).await.result.unwrap();
        let found = ask("kg_get_everything", json!({"curie": "ginger"})).await;
        let text = found.output["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("# Search Results for: ขิง (H1)\n"), "{text}");
        let (fictol, doubt) = ("fictol (X:1)", "(imported, not verified)");
        for (line, n) in [
            (format!("- ขิง (H1) interacts with {fictol} [infores:made-up] {doubt}"), 1),
            (format!("- ขิง (H1) affects {fictol} [trapi:materia] {doubt}"), 1),
            ("- ขิง (H1) contains จินเจอรอล (C9) [herbal]".to_owned(), 1),
            ("- ขิง (H1) contains".to_owned(), 1),
            ("somebody's ginger".to_owned(), 0),
        ] {
            assert_eq!(text.matches(&line).count(), n, "{line}: {text}");
        }
        let message = found.metadata["message"].as_str().unwrap();
        assert!(message.ends_with("statements in the record and at the TRAPI endpoint"), "{message}");
        let shown: Value = serde_json::from_str(&found.artifacts[0].content).unwrap();
        let links = shown["links"].as_array().unwrap();
        assert!(links.iter().any(|it| it["knowledgeSource"] == "infores:made-up" && it["target"] == "X:1"), "{shown}");
        assert!(links.iter().any(|it| it["knowledgeSource"] == "herbal"), "{shown}");
        let both = ask("kg_network_neighborhood", json!({"curies": ["H1", "X:1", "D1"]})).await.output;
        let text = both["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("[infores:made-up]") && text.contains("interacts with วาร์ฟาริน (D1) [herbal]"), "{text}");
        let unknown = house.call("agent", "kg_get_everything", json!({"curie": "X:9"})).await.result.unwrap_err();
        assert_eq!(unknown.code(), "NOT_FOUND");
    }
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_told() {
    for stage in both().await {
        put(&stage, &herbal()).await;
        let house = stage.again_asking(None, Some(Arc::new(Server { is_there: false }))).await;
        let note = "The TRAPI endpoint could not be asked: this is what is recorded here alone.";
        for (operation, known, unknown) in [
            ("kg_get_everything", json!({"curie": "H1"}), json!({"curie": "X:1"})),
            ("kg_network_neighborhood", json!({"curies": ["H1", "D1"]}), json!({"curies": ["H1", "X:1"]})),
        ] {
            let found = house.call("agent", operation, known).await.result.unwrap();
            assert_eq!(found.metadata["note"], note);
            assert!(found.output["content"][0]["text"].as_str().unwrap().contains(note));
            let error = house.call("agent", operation, unknown).await.result.unwrap_err();
            let expected = "no node has the id or name `X:1`, and the TRAPI endpoint could not be asked";
            assert_eq!((error.code(), error.message.as_str()), ("UPSTREAM", expected));
        }
    }
}
