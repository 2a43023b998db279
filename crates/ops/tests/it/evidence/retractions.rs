//! Papers that do not stand: marked for good, under every id they have, and told with every fact that rests on them.

use serde_json::{Value, json};

use super::herbs::{herbal, put, source};
use crate::ledger::{both, verify};
use crate::script::Stage;

fn document(id: &str, ids: Value) -> Value {
    json!({"record": "document", "id": id, "kind": "paper", "title": "On ginger", "text": "Words.", "lang": "en",
        "ids": ids, "source": "herbal"})
}

fn paper() -> Value {
    document("PMID:11", json!({"pmid": "11", "doi": "10.1/x"}))
}

/// Says something against the paper with the number 11.
fn notice(kind: &str) -> Value {
    let mut notice = document("PMID:12", json!({"pmid": "12"}));
    notice["title"] = json!("Notice");
    notice["attributes"] = json!({"corrections": [{"kind": kind, "pmid": "11"}]});
    notice
}

async fn mark(stage: &Stage, id: &str) -> Value {
    let found = stage.call("viewer", "read_records", json!({"kind": "document", "ids": [id]})).await;
    found.result.unwrap().output["records"][0]["retraction"].clone()
}

fn retracted() -> Value {
    json!({"kind": "retracted", "notice": "PMID:12"})
}

#[tokio::test]
async fn a_mark_stays_when_a_silent_record_of_the_paper_comes_and_goes_when_it_is_withdrawn() {
    for stage in both().await {
        let mut marked = paper();
        marked["retraction"] = retracted();
        put(&stage, &[source(), marked]).await;
        let silent = put(&stage, &[paper()]).await;
        assert_eq!((&silent["repeated"], &silent["kept"]), (&json!(1), &json!(0)), "{silent}");
        assert_eq!(mark(&stage, "PMID:11").await, retracted());
        let mut other = paper();
        other["text"] = json!("Other words.");
        other["retraction"] = json!({"kind": "expression_of_concern"});
        assert_eq!(put(&stage, &[other.clone()]).await["changed"], 1);
        assert_eq!(mark(&stage, "PMID:11").await, retracted(), "a concern is less than what is known");
        assert_eq!(put(&stage, &[other]).await["repeated"], 1);
        put(&stage, &[json!({"record": "deletion", "kind": "document", "id": "PMID:11"}), paper()]).await;
        assert_eq!(mark(&stage, "PMID:11").await, Value::Null);
        assert_eq!(verify(&stage).await["problems"], json!([]));
    }
}

#[tokio::test]
async fn a_notice_marks_its_paper_whichever_of_them_comes_first() {
    for stage in both().await {
        put(&stage, &[source(), paper()]).await;
        let kept = put(&stage, &[notice("RetractionOf")]).await;
        assert_eq!((&kept["kept"], &kept["marked"]), (&json!(1), &json!(1)), "{kept}");
        assert_eq!(mark(&stage, "PMID:11").await, retracted());
        let again = put(&stage, &[paper(), notice("RetractionOf")]).await;
        assert_eq!((&again["repeated"], again.get("marked")), (&json!(2), None), "{again}");
        assert_eq!(verify(&stage).await["problems"], json!([]));
    }
    for stage in both().await {
        put(&stage, &[source(), notice("ExpressionOfConcernFor")]).await;
        put(&stage, &[paper()]).await;
        assert_eq!(mark(&stage, "PMID:11").await, json!({"kind": "expression_of_concern", "notice": "PMID:12"}));
        put(&stage, &[notice("PartialRetractionOf")]).await;
        let expected = json!({"kind": "retracted", "extent": "partial", "notice": "PMID:12"});
        assert_eq!(mark(&stage, "PMID:11").await, expected);
    }
    for stage in both().await {
        let both_at_once = put(&stage, &[source(), paper(), notice("RetractionOf")]).await;
        assert_eq!((&both_at_once["kept"], both_at_once.get("marked")), (&json!(3), None), "{both_at_once}");
        assert_eq!(mark(&stage, "PMID:11").await, retracted());
    }
}

#[tokio::test]
async fn a_full_text_is_marked_with_its_paper_under_every_id() {
    let by_number = document("PMCID:PMC5", json!({"pmc": "PMC5", "pmid": "11"}));
    // Connected with the notice only by way of the paper.
    let by_doi = document("DOI:10.1/X", json!({"doi": "10.1/X"}));
    let orders = [
        vec![by_number.clone(), by_doi.clone(), paper(), notice("RetractionOf")],
        vec![notice("RetractionOf"), paper(), by_doi.clone(), by_number.clone()],
        vec![paper(), notice("RetractionOf"), by_number, by_doi],
    ];
    for order in orders {
        for stage in both().await {
            put(&stage, &[source()]).await;
            for record in &order {
                put(&stage, std::slice::from_ref(record)).await;
            }
            for id in ["PMID:11", "PMCID:PMC5", "DOI:10.1/X"] {
                assert_eq!(mark(&stage, id).await, retracted(), "{id}");
            }
            assert_eq!(mark(&stage, "PMID:12").await, Value::Null);
            assert_eq!(verify(&stage).await["problems"], json!([]));
        }
    }
}

#[tokio::test]
async fn a_fact_that_rests_on_a_retracted_paper_says_so() {
    for stage in both().await {
        put(&stage, &herbal()).await;
        // The paper itself is not here, only its notice.
        put(&stage, &[notice("RetractionOf")]).await;
        let ask = async |operation: &str, input: Value| stage.call("agent", operation, input).await.result.unwrap();
        let found = ask("find_contraindications", json!({"herb_ids": ["H1"]})).await.output;
        let doubt = json!([{"reference": "PMID:11", "status": "retracted", "notice": "PMID:12"}]);
        assert_eq!(found["results"][0]["retracted"], doubt, "{found}");
        assert_eq!(found["results"][0]["evidence"], "[retracted: PMID:11 (notice PMID:12)] bleeding was seen");
        assert_eq!(found["results"][1].get("retracted"), None);
        let everything = ask("kg_get_everything", json!({"curie": "D1"})).await;
        let text = everything.output["content"][0]["text"].as_str().unwrap();
        assert!(
            text.contains("[herbal] (imported, not verified); strength: high; retracted: PMID:11 (notice PMID:12)"),
            "{text}"
        );
        let shown: Value = serde_json::from_str(&everything.artifacts[0].content).unwrap();
        assert_eq!(shown["links"][0]["retracted"], doubt);
        let node = ask("read_node", json!({"curie": "D1"})).await.output;
        assert_eq!(node["relations"][0]["retracted"], doubt, "{node}");
    }
}
