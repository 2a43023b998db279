//! Papers that do not stand: marked for good, under every id they have, and told with every fact that rests on them.

use serde_json::{Value, json};

use super::herbs::{edge, herbal, put, source};
use crate::ledger::{both, run_sql, verify, wrong_now};
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
async fn a_mark_stays_when_a_silent_record_of_the_paper_comes_and_when_its_source_withdraws_it() {
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
        let mut deletion = json!({"record": "deletion", "kind": "document", "id": "PMID:11", "source": "herbal"});
        put(&stage, &[deletion.clone(), paper()]).await;
        assert_eq!(mark(&stage, "PMID:11").await, retracted(), "also where it comes again at once");
        assert_eq!(verify(&stage).await["problems"], json!([]));
        // Who put a false word there takes it back: in nobody's name, and saying so.
        deletion.as_object_mut().unwrap().remove("source");
        let input = json!({"records": [deletion, paper()], "replace_other_sources": true});
        stage.call("curator", "put_records", input).await.result.unwrap();
        assert_eq!(mark(&stage, "PMID:11").await, Value::Null);
        assert_eq!(verify(&stage).await["problems"], json!([]));
    }
}

#[tokio::test]
async fn what_is_known_against_a_paper_outlives_its_record() {
    for stage in both().await {
        put(&stage, &herbal()).await;
        let mut marked = paper();
        marked["retraction"] = json!({"kind": "retracted"});
        put(&stage, &[marked]).await;
        let deletion = |id: &str| json!({"record": "deletion", "kind": "document", "id": id, "source": "herbal"});
        let gone = put(&stage, &[deletion("PMID:11")]).await;
        assert_eq!((&gone["deleted"], &gone["kept"]), (&json!(1), &json!(0)), "{gone}");
        let found = stage.call("viewer", "read_records", json!({"kind": "document", "ids": ["PMID:11"]})).await;
        let left = found.result.unwrap().output["records"][0].clone();
        assert_eq!((&left["text"], &left["attributes"]), (&json!(""), &json!({"withdrawn": true})), "{left}");
        let ask = async || {
            let found = stage.call("agent", "find_contraindications", json!({"herb_ids": ["H1"]})).await;
            found.result.unwrap().output["results"][0]["retracted"].clone()
        };
        let doubt = json!([{"reference": "PMID:11", "status": "retracted", "source": "herbal"}]);
        assert_eq!(ask().await, doubt);
        let again = put(&stage, &[deletion("PMID:11")]).await;
        assert_eq!((&again["repeated"], &again["deleted"]), (&json!(1), &json!(0)), "{again}");
        assert_eq!(ask().await, doubt);
        assert_eq!(put(&stage, &[paper()]).await["changed"], 1);
        assert_eq!(mark(&stage, "PMID:11").await, json!({"kind": "retracted"}));
        // A notice says on what it said, of a paper that was never here.
        let mut notice = notice("RetractionOf");
        notice["attributes"]["corrections"][0]["pmid"] = json!("77");
        put(&stage, &[notice, deletion("PMID:12")]).await;
        put(&stage, &[document("PMID:77", json!({"pmid": "77"}))]).await;
        assert_eq!(mark(&stage, "PMID:77").await, retracted());
        // One that nothing is known against goes.
        put(&stage, &[document("PMID:78", json!({"pmid": "78"})), deletion("PMID:78")]).await;
        let found = stage.call("viewer", "read_records", json!({"kind": "document", "ids": ["PMID:78"]})).await;
        assert_eq!(found.result.unwrap().output["records"], json!([]));
        let found = verify(&stage).await;
        assert_eq!((&found["problems"], found.get("notes")), (&json!([]), None), "{found}");
    }
}

#[tokio::test]
async fn a_title_that_says_it_marks_the_paper_and_a_notice_says_more() {
    for stage in both().await {
        let mut titled = paper();
        titled["title"] = json!("RETRACTED: On ginger");
        put(&stage, &[source(), titled.clone()]).await;
        assert_eq!(mark(&stage, "PMID:11").await, json!({"kind": "retracted", "notice": "its title says so"}));
        assert_eq!(put(&stage, &[titled]).await["repeated"], 1);
        put(&stage, &[notice("RetractionOf")]).await;
        assert_eq!(mark(&stage, "PMID:11").await, retracted());
        assert_eq!(verify(&stage).await["problems"], json!([]));
    }
}

#[tokio::test]
async fn of_two_records_of_a_paper_the_one_revised_later_stays_whichever_comes_first() {
    let revised = |text: &str, day: &str| {
        let mut record = paper();
        (record["text"], record["attributes"]) = (json!(text), json!({"revised": day}));
        record
    };
    for stage in both().await {
        let (old, new) = (revised("Old words.", "2020-01-31"), revised("New words.", "2023-02"));
        put(&stage, &[source(), new.clone()]).await;
        let mut marked = old.clone();
        marked["retraction"] = retracted();
        let kept = put(&stage, std::slice::from_ref(&old)).await;
        let reason = "`attributes/revised`: a record of it that was revised in 2023-02 is kept, and this one was revised on \
            2020-01-31; the later one counts";
        assert_eq!((&kept["kept"], &kept["rejected"][0]["reason"]), (&json!(0), &json!(reason)), "{kept}");
        let read = async || {
            let found = stage.call("viewer", "read_records", json!({"kind": "document", "ids": ["PMID:11"]})).await;
            found.result.unwrap().output["records"][0].clone()
        };
        assert_eq!(read().await["text"], "New words.");
        // What an older record says against the paper holds, as if it had come first.
        let kept = put(&stage, &[marked]).await;
        assert_eq!((&kept["marked"], kept["rejected"].as_array().map(Vec::len)), (&json!(1), Some(1)), "{kept}");
        let found = read().await;
        assert_eq!((&found["text"], &found["retraction"]), (&json!("New words."), &retracted()));
        assert_eq!(put(&stage, std::slice::from_ref(&new)).await["repeated"], 1);
        assert_eq!(put(&stage, &[revised("Newest words.", "2023-02-01")]).await["changed"], 1);
        // Of one day, the later version stays; without a day, the last one that comes.
        let mut second = revised("Second words.", "2023-02-01");
        second["attributes"]["version"] = json!(2);
        assert_eq!(put(&stage, &[second]).await["changed"], 1);
        assert_eq!(put(&stage, &[revised("Newest words.", "2023-02-01")]).await["kept"], 0);
        assert_eq!(put(&stage, &[paper()]).await["changed"], 1);
        let found = verify(&stage).await;
        assert_eq!(found["problems"], json!([]), "{found}");
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
        let doubt = json!([{"reference": "PMID:11", "status": "retracted", "notice": "PMID:12", "source": "herbal"}]);
        assert_eq!(found["results"][0]["retracted"], doubt, "{found}");
        assert_eq!(
            found["results"][0]["evidence"],
            "[retracted: `PMID:11` (notice `PMID:12`, by `herbal`)] bleeding was seen"
        );
        assert_eq!(found["results"][1].get("retracted"), None);
        let everything = ask("kg_get_everything", json!({"curie": "D1"})).await;
        let text = everything.output["content"][0]["text"].as_str().unwrap();
        assert!(
            text.contains(
                "[herbal] (imported, not verified); strength: high; retracted: `PMID:11` (notice `PMID:12`, by `herbal`)"
            ),
            "{text}"
        );
        let shown: Value = serde_json::from_str(&everything.artifacts[0].content).unwrap();
        assert_eq!(shown["links"][0]["retracted"], doubt);
        let node = ask("read_node", json!({"curie": "D1"})).await.output;
        assert_eq!(node["relations"][0]["retracted"], doubt, "{node}");
        let paths = json!({"start": {"type": "herb", "id": "H1"}, "pattern": "herb -interacts_with-> drug"});
        let mut edge = doubt[0].clone();
        edge["edge_id"] = json!("A2");
        assert_eq!(ask("query_kg", paths).await.metadata["retracted"], json!([edge]));
        let paths = json!({"start": {"type": "herb", "id": "H1"}, "pattern": "herb -contains-> *"});
        assert_eq!(ask("query_kg", paths).await.metadata.get("retracted"), None);
    }
}

#[tokio::test]
async fn a_fact_that_rests_on_a_document_of_any_other_id_says_that_it_does_not_stand() {
    for stage in both().await {
        put(&stage, &herbal()).await;
        let mut fact = edge("X1", "H2", "affects", "D1");
        fact["evidence"] = json!([{"reference": "LIST:7"}]);
        // One that PubMed does not have, and one that is called otherwise than PubMed calls it.
        for ids in [json!({}), json!({"pmid": "77"})] {
            let mut told = document("LIST:7", ids);
            told["retraction"] = json!({"kind": "retracted"});
            put(&stage, &[fact.clone(), told]).await;
            let ask = async |operation: &str, input: Value| stage.call("agent", operation, input).await.result.unwrap();
            let node = ask("read_node", json!({"curie": "H2"})).await.output;
            let relations = node["relations"].as_array().unwrap();
            let relation = relations.iter().find(|it| it["edge_id"] == "X1").unwrap();
            let doubt = json!([{"reference": "LIST:7", "status": "retracted", "source": "herbal"}]);
            assert_eq!(relation["retracted"], doubt, "{node}");
            let paths = json!({"start": {"type": "herb", "id": "H2"}, "pattern": "herb -affects-> drug"});
            assert!(ask("query_kg", paths).await.metadata["retracted"].is_array());
            assert_eq!(verify(&stage).await["problems"], json!([]));
        }
    }
}

#[tokio::test]
async fn a_retraction_names_the_source_whose_word_it_is() {
    for stage in both().await {
        let mydb = json!({"record": "source", "id": "mydb", "title": "Somebody's list", "licence": "CC0-1.0"});
        put(&stage, &herbal()).await;
        // Somebody says so in a record of their own, and the paper itself comes from another source.
        let mut accuser = document("MYDB:1", json!({"pmid": "11"}));
        accuser["source"] = json!("mydb");
        accuser["retraction"] = json!({"kind": "retracted"});
        put(&stage, &[mydb, accuser.clone(), paper()]).await;
        assert_eq!(mark(&stage, "PMID:11").await, json!({"kind": "retracted", "source": "mydb"}));
        assert_eq!(mark(&stage, "MYDB:1").await, json!({"kind": "retracted"}));
        let again = put(&stage, &[accuser, paper()]).await;
        assert_eq!((&again["repeated"], &again["kept"]), (&json!(2), &json!(0)), "{again}");
        let ask = async |operation: &str, input: Value| stage.call("agent", operation, input).await.result.unwrap();
        let read = ask("read_paper", json!({"pmid": "11"})).await.output;
        assert_eq!((&read["source"], &read["retraction"]["source"]), (&json!("herbal"), &json!("mydb")));
        let details = ask("pubmed_get_details", json!({"pmid": "11"})).await.output;
        assert!(details["content"][0]["text"].as_str().unwrap().contains("**RETRACTED** (by `mydb`)"), "{details}");
        let found = ask("find_contraindications", json!({"herb_ids": ["H1"]})).await.output;
        assert_eq!(found["results"][0]["evidence"], "[retracted: `PMID:11` (by `mydb`)] bleeding was seen");
        let found = ask("pubmed_search", json!({"terms": [{"term": "ginger"}]})).await;
        let entries: Value = serde_json::from_str(&found.artifacts[0].content).unwrap();
        let entry =
            entries.as_array().unwrap().iter().find(|it| it["pmid"] == "11").unwrap_or_else(|| panic!("{entries}"));
        assert_eq!((&entry["retraction"], &entry["retraction_source"]), (&json!("retracted"), &json!("mydb")));
        assert!(found.metadata["licences"].to_string().contains("mydb"), "{:?}", found.metadata);
        let found = ask("hybrid_search", json!({"query": "ginger"})).await;
        let hit = found.output["hits"].as_array().unwrap().iter().find(|it| it["id"] == "PMID:11").unwrap();
        assert_eq!((&hit["source"], &hit["retraction_source"]), (&json!("herbal"), &json!("mydb")), "{hit}");
        assert!(found.metadata["licences"].to_string().contains("mydb"), "{:?}", found.metadata);
        let cited = ask("export_records", json!({"format": "ris", "ids": ["PMID:11"]})).await.output;
        assert!(cited["content"].as_str().unwrap().contains("N1  - Retracted (by mydb)\n"), "{cited}");
        assert_eq!(verify(&stage).await["problems"], json!([]));
        // Nobody speaks in another one's name.
        let mut forged = document("MYDB:2", json!({"pmid": "77"}));
        forged["retraction"] = json!({"kind": "retracted", "source": "pubmed"});
        let kept = put(&stage, &[forged]).await;
        let reason = kept["rejected"][0]["reason"].as_str().unwrap();
        assert!(reason.starts_with("`retraction/source`: expected to be absent"), "{reason}");
        // The word of a notice counts for more than one without.
        put(&stage, &[notice("RetractionOf")]).await;
        assert_eq!(mark(&stage, "PMID:11").await, retracted());
        assert_eq!(verify(&stage).await["problems"], json!([]));
    }
}

#[tokio::test]
async fn what_is_said_against_papers_is_compared_with_the_records() {
    let cases: [(&'static [&'static str], &str); 4] = [
        (
            &["DELETE FROM evidence_retractions WHERE document_id = 'PMID:12'"],
            "what document `PMID:12` says against `pmid:11` was deleted from `evidence_retractions` by other hands",
        ),
        (
            &["UPDATE evidence_retractions SET retraction = '{\"kind\":\"expression_of_concern\"}'"],
            "what document `PMID:12` says against `pmid:11` was changed in `evidence_retractions` by other hands",
        ),
        (
            &["INSERT INTO evidence_retractions SELECT organisation_id, 'pmid:77', document_id, retraction \
               FROM evidence_retractions WHERE document_id = 'PMID:12'"],
            "speaks against `pmid:77` for document `PMID:12`, which does not say so",
        ),
        (
            &["INSERT INTO evidence_retractions SELECT organisation_id, 'pmid:77', 'PMID:99', retraction \
               FROM evidence_retractions WHERE document_id = 'PMID:12'"],
            "speaks against `pmid:77` for document `PMID:99`, which is not there",
        ),
    ];
    for (sql, expected) in cases {
        for stage in both().await {
            put(&stage, &[source(), notice("RetractionOf")]).await;
            assert_eq!(verify(&stage).await["problems"], json!([]));
            run_sql(&stage, sql).await;
            let found = verify(&stage).await;
            assert_eq!(found["n_problems"], 1, "{found}");
            assert!(found["problems"][0]["message"].as_str().unwrap().contains(expected), "{found}");
            // What is missing or changed is mended by the document itself.
            if expected.starts_with("what document") {
                put(&stage, &[notice("RetractionOf")]).await;
                assert!(wrong_now(&verify(&stage).await).is_empty());
            }
        }
    }
}

#[tokio::test]
async fn a_document_that_comes_twice_says_only_what_it_came_with_last_and_in_the_record_what_it_ever_said() {
    for stage in both().await {
        let mut silent = notice("RetractionOf");
        silent["attributes"] = json!({});
        put(&stage, &[source(), notice("RetractionOf"), silent.clone()]).await;
        assert_eq!(verify(&stage).await["problems"], json!([]));
        put(&stage, &[paper()]).await;
        assert_eq!(mark(&stage, "PMID:11").await, Value::Null, "the notice was never in the record");
        put(&stage, &[notice("RetractionOf")]).await;
        assert_eq!(mark(&stage, "PMID:11").await, retracted());
        // Said once, it stays, and that is worth a note.
        put(&stage, &[silent.clone()]).await;
        let found = verify(&stage).await;
        assert_eq!((&found["problems"], found["notes"].as_array().map(Vec::len)), (&json!([]), Some(1)), "{found}");
        let deletion = |id: &str| json!({"record": "deletion", "kind": "document", "id": id, "source": "herbal"});
        put(&stage, &[deletion("PMID:12"), silent, deletion("PMID:11"), paper()]).await;
        put(&stage, &[paper()]).await;
        assert_eq!(mark(&stage, "PMID:11").await, retracted(), "a withdrawal is no word for the paper");
        assert_eq!(verify(&stage).await["problems"], json!([]));
    }
}
