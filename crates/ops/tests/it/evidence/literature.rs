//! Papers by terms and by number, and records in the formats of others.

use serde_json::{Value, json};

use super::herbs::{edge, node, put, source};
use crate::ledger::both;
use crate::script::{Stage, sqlite};

fn paper(pmid: &str, title: &str, text: &str, year: i32, last: &str) -> Value {
    json!({"record": "document", "id": format!("PMID:{pmid}"), "kind": "paper", "title": title, "text": text,
        "lang": "en", "authors": [{"last": last, "fore": "Ann B", "initials": "AB"}, {"last": "The Invented Group"}],
        "journal": "J Invent Herbs", "year": year, "ids": {"pmid": pmid}, "source": "herbal"})
}

async fn library(stage: &Stage) {
    let mut withdrawn = paper("13", "Ginger cures everything", "Ginger, ginger, ginger.", 2015, "Gamma");
    withdrawn["retraction"] = json!({"kind": "retracted", "notice": "PMID:14"});
    let mut chapter = paper("99", "Ginger without a number", "Ginger.", 2020, "Delta");
    chapter["ids"] = json!({});
    chapter["id"] = json!("DOI:x");
    let papers = [
        paper("11", "Ginger and warfarin", "No bleeding was seen.", 2001, "Beta"),
        paper("12", "Tea", "Ginger tea was served. CYP2C9 was not measured.", 2010, "Alpha"),
        withdrawn,
        chapter,
    ];
    put(stage, &[vec![source()], papers.to_vec()].concat()).await;
}

fn pmids(success: &ops::Success) -> Vec<String> {
    let Some(artifact) = success.artifacts.first() else { return Vec::new() };
    let entries: Vec<Value> = serde_json::from_str(&artifact.content).unwrap();
    // A paper without a number is named by its id.
    entries.iter().map(|entry| entry["id"].as_str().or(entry["pmid"].as_str()).unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_search_answers_in_the_shape_of_seed_003() {
    let stage = sqlite().await;
    library(&stage).await;
    let input = json!({"terms": [{"term": "ginger"}, {"term": "no bleeding", "operator": "AND"}]});
    let success = stage.call("agent", "pubmed_search", input).await.result.unwrap();
    let item = &success.output["content"][0];
    assert_eq!((&item["type"], &item["forModel"]), (&json!("text"), &json!(true)));
    let text = item["text"].as_str().unwrap();
    assert!(
        text.starts_with("# Search Results for: ginger AND \"no bleeding\"\n\n## Ginger and warfarin\n\n"),
        "{text}"
    );
    let artifact = &success.artifacts[0];
    assert_eq!((artifact.kind.as_str(), artifact.title.as_str()), ("application/vnd.bibliography", "Bibliography"));
    let entries: Value = serde_json::from_str(&artifact.content).unwrap();
    let expected = json!([{"authors": ["Beta AB", "The Invented Group"], "year": 2001,
        "title": "Ginger and warfarin", "journal": "J Invent Herbs", "pmid": "11"}]);
    assert_eq!(entries, expected);
    let retracted = json!({"terms": [{"term": "ginger"}, {"term": "everything", "operator": "AND"}]});
    let retracted = stage.call("agent", "pubmed_search", retracted).await.result.unwrap();
    let entries: Value = serde_json::from_str(&retracted.artifacts[0].content).unwrap();
    assert_eq!(entries[0]["retraction"], "retracted", "{entries}");
    let metadata = Value::Object(success.metadata);
    assert_eq!(metadata["querySuccess"], true);
    assert_eq!(metadata["nodeCount"], 1);
    assert_eq!(metadata["message"], "1 paper found in the record");
    let few = json!({"terms": [{"term": "ginger"}], "max_results": 1});
    let few = stage.call("agent", "pubmed_search", few).await.result.unwrap();
    let message = few.metadata["message"].as_str().unwrap();
    assert!(message.starts_with("1 of ") && message.ends_with(" papers found in the record are shown"), "{message}");
    assert_eq!(metadata["licences"][0]["licence"], "CC0-1.0");
}

#[tokio::test]
async fn terms_join_and_orders_hold() {
    let stage = sqlite().await;
    library(&stage).await;
    let search = async |input: Value| pmids(&stage.call("viewer", "pubmed_search", input).await.result.unwrap());
    let ginger = json!([{"term": "ginger"}]);
    assert_eq!(search(json!({"terms": ginger})).await, ["13", "DOI:x", "11", "12"]);
    assert_eq!(search(json!({"terms": ginger, "sort_by": "pub_date"})).await, ["DOI:x", "13", "12", "11"]);
    assert_eq!(search(json!({"terms": ginger, "sort_by": "first_author"})).await, ["12", "11", "DOI:x", "13"]);
    assert_eq!(search(json!({"terms": ginger, "sort_by": "title", "max_results": 2})).await, ["11", "13"]);
    let without = json!([{"term": "ginger"}, {"term": "tea", "operator": "NOT"}]);
    assert_eq!(search(json!({"terms": without, "sort_by": "pub_date"})).await, ["DOI:x", "13", "11"]);
    let fields = json!([{"term": "ginger[ti]"}, {"term": "2000:2010[dp]"}]);
    assert_eq!(search(json!({"terms": fields})).await, ["11"]);
    assert_eq!(search(json!({"terms": [{"term": "ging*"}]})).await, search(json!({"terms": ginger})).await);
    assert!(search(json!({"terms": [{"term": "senna"}]})).await.is_empty());
}

#[tokio::test]
async fn a_search_that_says_nothing_is_refused_and_other_houses_see_nothing() {
    let stage = sqlite().await;
    library(&stage).await;
    let refused = |input: Value| {
        let stage = &stage;
        async move { stage.call("viewer", "pubmed_search", input).await.result.unwrap_err().message }
    };
    assert_eq!(refused(json!({"terms": []})).await, "`terms`: expected at least 1 items");
    assert_eq!(
        refused(json!({"terms": [{"term": "x"}, {"term": "?!"}]})).await,
        "`terms/1/term`: expected letters or digits"
    );
    assert_eq!(
        refused(json!({"terms": [{"term": "(ginger"}, {"term": "garlic)", "operator": "OR"}]})).await,
        "`terms/0/term`: expected parentheses that are closed inside the term, as terms join from left to right; `(` \
         stands at character 1"
    );
    assert_eq!(
        refused(json!({"terms": [{"term": "x", "operator": "NOT"}]})).await,
        "`terms/0/operator`: expected AND or OR"
    );
    assert_eq!(
        refused(json!({"terms": [{"term": "x"}], "max_results": 101})).await,
        "`max_results`: expected at most 100"
    );
    let elsewhere = stage.call("rival", "pubmed_search", json!({"terms": [{"term": "ginger"}]})).await;
    let elsewhere = elsewhere.result.unwrap();
    assert!(elsewhere.artifacts.is_empty());
    assert_eq!(elsewhere.metadata["message"], "no paper found in the record");
}

#[tokio::test]
async fn details_are_content_only_and_say_that_a_paper_was_retracted() {
    for stage in both().await {
        library(&stage).await;
        let details = stage.call("agent", "pubmed_get_details", json!({"pmid": "PMID:0013"})).await.result.unwrap();
        assert!(details.artifacts.is_empty() && details.metadata.is_empty());
        let item = details.output["content"][0].as_object().unwrap();
        assert!(!item.contains_key("forModel"));
        let text = item["text"].as_str().unwrap();
        for part in [
            "# Ginger cures everything",
            "**RETRACTED** (`PMID:14`, by `herbal`)",
            "Ginger, ginger",
            "Made-up herbal (licence: CC0-1.0)",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let unknown = stage.call("agent", "pubmed_get_details", json!({"pmid": "77"})).await.result.unwrap_err();
        assert_eq!(unknown.message, "no paper with the PubMed number `77` is known");
        let wrong = stage.call("agent", "pubmed_get_details", json!({"pmid": "PMX1"})).await.result.unwrap_err();
        assert!(wrong.message.starts_with("`pmid`: expected"), "{}", wrong.message);
    }
}

#[tokio::test]
async fn a_paper_with_a_full_text_is_found_and_cited_once() {
    for stage in both().await {
        let mut full_text = paper("31", "Ginger and warfarin", "Ginger in all of it. Ginger.", 2022, "Omega");
        full_text["id"] = json!("PMCID:PMC77");
        full_text["ids"] = json!({"pmid": "31", "pmc": "PMC77"});
        full_text["attributes"] = json!({"body": "A warm decoction of it was served.", "licence": "https://creativecommons.org/licenses/by-nc/4.0/"});
        put(&stage, &[source(), full_text]).await;
        let search = async || {
            let terms = json!({"terms": [{"term": "ginger"}]});
            stage.call("agent", "pubmed_search", terms).await.result.unwrap()
        };
        // The article's own terms are told beside those of the collection.
        let own = json!({"document": "PMCID:PMC77", "licence": "https://creativecommons.org/licenses/by-nc/4.0/"});
        assert_eq!(search().await.metadata["licences"][1], own);
        let hits = stage.call("agent", "hybrid_search", json!({"query": "ginger"})).await.result.unwrap();
        assert_eq!(hits.metadata["licences"][1], own, "{:?}", hits.metadata);
        // The body is searched, and is not the abstract.
        let hits =
            stage.call("agent", "hybrid_search", json!({"query": "warm decoction"})).await.result.unwrap().output;
        assert_eq!(hits["hits"][0]["id"], "PMCID:PMC77", "{hits}");
        assert!(hits["hits"][0]["snippet"].as_str().unwrap().contains("warm decoction"), "{hits}");
        let read = stage.call("agent", "read_paper", json!({"pmid": "31"})).await.result.unwrap().output;
        assert_eq!(read["abstract"], "Ginger in all of it. Ginger.");
        let details = stage.call("agent", "pubmed_get_details", json!({"pmid": "31"})).await.result.unwrap().output;
        let text = details["content"][0]["text"].as_str().unwrap();
        assert!(text.ends_with("The paper itself: `https://creativecommons.org/licenses/by-nc/4.0/`."), "{text}");
        put(&stage, &[paper("31", "Ginger and warfarin", "The abstract.", 2022, "Omega")]).await;
        let found = search().await;
        assert_eq!(
            (pmids(&found), &found.metadata["message"]),
            (vec!["31".to_owned()], &json!("1 paper found in the record"))
        );
        let text = found.output["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("The abstract.") && text.matches("## ").count() == 1, "{text}");
    }
}

#[tokio::test]
async fn a_paper_that_its_source_took_back_is_told_so() {
    for stage in both().await {
        library(&stage).await;
        put(&stage, &[json!({"record": "deletion", "kind": "document", "id": "PMID:13", "source": "herbal"})]).await;
        let ask = async |operation: &str, input: Value| stage.call("agent", operation, input).await.result.unwrap();
        let found = ask("pubmed_search", json!({"terms": [{"term": "cures everything"}]})).await;
        let mark = "**WITHDRAWN** (by `herbal`; only this is left of its record)";
        assert!(found.output["content"][0]["text"].as_str().unwrap().contains(mark), "{}", found.output);
        let entries: Value = serde_json::from_str(&found.artifacts[0].content).unwrap();
        assert_eq!(entries[0]["withdrawn"], true, "{entries}");
        let details = ask("pubmed_get_details", json!({"pmid": "13"})).await.output;
        assert!(details["content"][0]["text"].as_str().unwrap().contains(mark), "{details}");
        assert_eq!(ask("read_paper", json!({"pmid": "13"})).await.output["withdrawn"], true);
        let hits = ask("hybrid_search", json!({"query": "ginger cures everything"})).await;
        assert_eq!(hits.output["note"], "Withdrawn by its source: `PMID:13`.", "{}", hits.output);
    }
}

#[tokio::test]
async fn exports_come_in_pages_with_their_terms() {
    for stage in both().await {
        library(&stage).await;
        let export = async |input: Value| stage.call("viewer", "export_records", input).await.result.unwrap().output;
        let first = export(json!({"format": "ris", "limit": 3})).await;
        assert_eq!(first["n_records"], 3);
        let second = export(json!({"format": "ris", "limit": 3, "cursor": first["next_cursor"]})).await;
        assert_eq!((&second["n_records"], second.get("next_cursor")), (&json!(1), None));
        let cited = export(json!({"format": "csl_json", "ids": ["PMID:13"]})).await;
        let items: Value = serde_json::from_str(cited["content"].as_str().unwrap()).unwrap();
        assert_eq!((&items[0]["PMID"], &items[0]["note"]), (&json!("13"), &json!("Retracted (by herbal): PMID:14")));
        assert_eq!(items[0]["license"], "CC0-1.0");
        let lacking = json!({"format": "csl_json", "ids": ["PMID:13", "PMID:0"]});
        let refused = stage.call("viewer", "export_records", lacking).await.result.unwrap_err();
        assert_eq!((refused.code(), refused.message.as_str()), ("NOT_FOUND", "no document has the id `PMID:0`"));
        let bib = export(json!({"format": "bibtex", "ids": ["PMID:11"]})).await;
        assert!(bib["content"].as_str().unwrap().contains("author = {Beta, Ann B and {The Invented Group}},"));
    }
}

#[tokio::test]
async fn the_graph_is_exported_as_kgx() {
    for stage in both().await {
        let names = json!([{"text": "ขิง", "lang": "th"}, {"text": "ginger", "lang": "en"}]);
        let nodes = [node("H1", "herb", names.clone()), node("C1", "chemical_entity", names)];
        put(&stage, &[vec![source()], nodes.to_vec(), vec![edge("E1", "H1", "contains", "C1")]].concat()).await;
        let export = async |format: &str| {
            let output = stage.call("viewer", "export_records", json!({"format": format})).await.result.unwrap().output;
            let lines = output["content"].as_str().unwrap().lines().map(|line| serde_json::from_str(line).unwrap());
            lines.collect::<Vec<Value>>()
        };
        let nodes = export("kgx_nodes").await;
        let expected = json!({"id": "C1", "category": ["biolink:ChemicalEntity"], "name": "ขิง", "synonym": ["ginger"],
            "provided_by": ["herbal"], "license": "CC0-1.0"});
        assert_eq!(nodes[0], expected);
        let edges = export("kgx_edges").await;
        assert_eq!((&edges[0]["predicate"], &edges[0]["license"]), (&json!("biolink:contains"), &json!("CC0-1.0")));
    }
}

#[tokio::test]
async fn a_node_is_exported_with_its_edges_and_what_they_lead_to() {
    for stage in both().await {
        put(&stage, &super::herbs::herbal()).await;
        let export = async |input: Value| stage.call("viewer", "export_records", input).await.result;
        let ids = |output: &Value| -> Vec<String> {
            let lines =
                output["content"].as_str().unwrap().lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            lines.map(|line| line["id"].as_str().unwrap().to_owned()).collect()
        };
        let nodes = export(json!({"format": "kgx_nodes", "around": ["D1"]})).await.unwrap().output;
        assert_eq!(ids(&nodes), ["D1", "H1", "H2"]);
        let first = export(json!({"format": "kgx_edges", "around": ["D1"], "limit": 1})).await.unwrap().output;
        assert_eq!((ids(&first), &first["next_cursor"]), (vec!["A2".to_owned()], &json!("A2")));
        let second = json!({"format": "kgx_edges", "around": ["D1"], "limit": 1, "cursor": "A2"});
        let second = export(second).await.unwrap().output;
        assert_eq!((ids(&second), second.get("next_cursor")), (vec!["A3".to_owned()], None));
        let unknown = export(json!({"format": "kgx_nodes", "around": ["D1", "D9"]})).await.unwrap_err();
        assert_eq!((unknown.code(), unknown.message.as_str()), ("NOT_FOUND", "no node has the id `D9`"));
        let wrong = export(json!({"format": "ris", "around": ["D1"]})).await.unwrap_err();
        assert_eq!(wrong.message, "`around`: expected a format of KGX, and no `ids`");
    }
}

#[tokio::test]
async fn a_paper_is_found_by_any_of_its_ids() {
    for stage in both().await {
        let mut full_text = paper("31", "A full text", "All of it.", 2022, "Omega");
        full_text["id"] = json!("DOI:10.1234/Whole.Text");
        full_text["ids"] = json!({"pmid": "31", "pmc": "PMC77", "doi": "10.1234/Whole.Text"});
        put(&stage, &[source(), full_text]).await;
        for id in ["31", "PMID:31", "0031", "PMC77", "PMCID:PMC77", "10.1234/whole.text", "DOI:10.1234/Whole.Text"] {
            let found = stage.call("agent", "pubmed_get_details", json!({ "pmid": id })).await.result.unwrap().output;
            assert!(found["content"][0]["text"].as_str().unwrap().starts_with("# A full text"), "{id}: {found}");
        }
        let read = stage.call("agent", "read_paper", json!({"pmid": "31"})).await.result.unwrap().output;
        assert_eq!((&read["pmid"], &read["title"]), (&json!("31"), &json!("A full text")));
        // The record that is named by the number comes first.
        put(&stage, &[paper("31", "A full text", "The abstract.", 2022, "Omega")]).await;
        let read = stage.call("agent", "read_paper", json!({"pmid": "31"})).await.result.unwrap().output;
        assert_eq!(read["abstract"], "The abstract.");
        for (id, code) in [("PMC78", "NOT_FOUND"), ("10.1234/other", "NOT_FOUND"), ("31; drop", "INVALID_ARG")] {
            let error = stage.call("agent", "pubmed_get_details", json!({ "pmid": id })).await.result.unwrap_err();
            assert_eq!(error.code(), code, "{id}");
        }
    }
}
