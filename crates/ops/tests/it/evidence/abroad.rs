//! Papers that PubMed itself tells of, and statements of another server.

use std::sync::{Arc, Mutex};

use contract::error::{Kind, OpError};
use contract::evidence::record::{Document, Record};
use futures::FutureExt;
use futures::future::BoxFuture;
use ops::{Knowledge, KnowledgeFound, Literature, LiteratureFound, LiteratureSearch, PaperId};
use serde_json::{Value, json};

use super::herbs::{herbal, node, put, source};
use crate::ledger::both;
use crate::script::sqlite;

/// A library of one paper, which names a second one and knows of many.
#[derive(Debug, Default)]
struct Library {
    /// What it knows against the paper.
    retraction: Value,
    is_closed: bool,
    not_searched: Vec<String>,
}

fn paper() -> Document {
    let paper = json!({"id": "PMID:11", "kind": "paper", "title": "On ginger", "text": "Words.", "lang": "en",
        "ids": {"pmid": "11", "doi": "10.1/x"}, "source": "pubmed"});
    serde_json::from_value(paper).unwrap()
}

impl Literature for Library {
    fn search(&self, _: LiteratureSearch) -> BoxFuture<'_, Result<LiteratureFound, OpError>> {
        let found = LiteratureFound {
            documents: vec![paper()],
            n_matching: Some(5_000),
            not_sent: vec!["12".to_owned()],
            not_searched: self.not_searched.clone(),
            read_as: Some("ginger[All Fields]".to_owned()),
        };
        let closed = OpError::new(Kind::Upstream, "PubMed cannot be reached");
        let answer = if self.is_closed { Err(closed) } else { Ok(found) };
        async { answer }.boxed()
    }

    fn find<'a>(&'a self, id: &'a PaperId) -> BoxFuture<'a, Result<Option<Document>, OpError>> {
        let mut known = paper();
        known.retraction = serde_json::from_value(self.retraction.clone()).unwrap();
        known.attributes.insert("corrections".to_owned(), json!([{"kind": "ErratumIn", "pmid": "15"}]));
        let found = match self.is_closed {
            true => Err(OpError::new(Kind::Upstream, "PubMed cannot be reached")),
            false => Ok(Some(known).filter(|known| id.is_of(known))),
        };
        async move { found }.boxed()
    }
}

#[tokio::test]
async fn pubmed_is_asked_what_speaks_against_a_paper_that_is_recorded() {
    for stage in both().await {
        let mut recorded = serde_json::to_value(paper()).unwrap();
        recorded["record"] = json!("document");
        recorded["source"] = json!("herbal");
        put(&stage, &[source(), recorded]).await;
        let retracted = json!({"kind": "retracted", "notice": "PMID:14"});
        let ask = async |library: Library, id: &str| {
            let house = stage.again_asking(Some(Arc::new(library)), None).await;
            let found = house.call("agent", "pubmed_get_details", json!({"pmid": id})).await.result.unwrap();
            let note = found.metadata.get("note").and_then(Value::as_str).unwrap_or_default().to_owned();
            (found.output["content"][0]["text"].as_str().unwrap().to_owned(), note)
        };
        for id in ["11", "10.1/X"] {
            let (text, _) = ask(Library { retraction: retracted.clone(), ..Library::default() }, id).await;
            assert!(text.starts_with("# On ginger\n\n**RETRACTED** (`PMID:14`, by `pubmed`)\n"), "{text}");
            assert!(text.contains("PubMed was asked, and says: **RETRACTED**"), "{text}");
            assert!(text.contains("**CORRECTED** (`PMID:15`, by `pubmed`)"), "{text}");
            assert!(text.contains("Made-up herbal"), "the paper stays the record's: {text}");
        }
        let (text, note) = ask(Library { is_closed: true, ..Library::default() }, "11").await;
        assert!(!text.contains("RETRACTED") && text.contains("PubMed could not be asked"), "{text}");
        assert!(note.contains("PubMed could not be asked"), "{note}");
        // What the record knows is not outvoted, and both are told.
        let notice = json!({"record": "document", "id": "PMID:13", "kind": "paper", "title": "Retraction", "text": "",
            "lang": "en", "ids": {"pmid": "13"}, "source": "herbal",
            "attributes": {"corrections": [{"kind": "RetractionOf", "pmid": "11"}]}});
        put(&stage, &[notice]).await;
        let concern = json!({"kind": "expression_of_concern", "notice": "PMID:14"});
        let (text, _) = ask(Library { retraction: concern, ..Library::default() }, "11").await;
        assert!(text.contains("**RETRACTED** (`PMID:13`, by `herbal`)"), "{text}");
        assert!(text.contains("says: **EXPRESSION OF CONCERN** (`PMID:14`, by `pubmed`)"), "{text}");
    }
}

#[tokio::test]
async fn a_paper_that_is_not_recorded_is_asked_for_by_any_of_its_ids() {
    let stage = sqlite().await;
    let house = stage.again_asking(Some(Arc::new(Library::default())), None).await;
    for id in ["11", "PMID:11", "10.1/x", "DOI:10.1/X"] {
        let found = house.call("agent", "pubmed_get_details", json!({"pmid": id})).await.result.unwrap().output;
        assert!(found["content"][0]["text"].as_str().unwrap().starts_with("# On ginger"), "{found}");
    }
    for id in ["12", "PMC7", "10.1/y"] {
        let unknown = house.call("agent", "pubmed_get_details", json!({"pmid": id})).await.result.unwrap_err();
        assert_eq!(unknown.code(), "NOT_FOUND", "{id}");
    }
}

#[tokio::test]
async fn terms_that_pubmed_dropped_are_named_and_the_search_did_not_succeed() {
    let stage = sqlite().await;
    let dropped = vec!["zzzherb".to_owned(), "x`\n## Another paper".to_owned()];
    let house = stage.again_asking(Some(Arc::new(Library { not_searched: dropped, ..Library::default() })), None).await;
    let terms = json!({"terms": [{"term": "ginger"}, {"term": "zzzherb"}]});
    let found = house.call("agent", "pubmed_search", terms).await.result.unwrap();
    let caution = "PubMed did not search for `zzzherb`, `x' ## Another paper`: what it found was found without that; it \
        read the query as `ginger[All Fields]`";
    let text = found.output["content"][0]["text"].as_str().unwrap();
    let begin = format!("# Search Results for: ginger AND zzzherb\n\n({caution})\n\n## On ginger");
    assert!(text.starts_with(&begin), "{text}");
    let message = found.metadata["message"].as_str().unwrap();
    assert!(message.contains(caution), "{message}");
    assert_eq!(found.metadata["querySuccess"], false);
}

#[tokio::test]
async fn what_is_known_here_against_a_paper_is_told_whoever_tells_of_the_paper() {
    for stage in both().await {
        // The notice is here, and the paper is not; it is found by another one of its ids.
        let notice = json!({"record": "document", "id": "PMID:13", "kind": "paper", "title": "Retraction", "text": "",
            "lang": "en", "ids": {"pmid": "13"}, "source": "herbal",
            "attributes": {"corrections": [{"kind": "RetractionOf", "doi": "10.1/X"}]}});
        put(&stage, &[source(), notice]).await;
        let house = stage.again_asking(Some(Arc::new(Library::default())), None).await;
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
    let stage = sqlite().await;
    let house = stage.again_asking(Some(Arc::new(Library::default())), None).await;
    let found = house.call("agent", "pubmed_search", json!({"terms": [{"term": "ginger"}]})).await.result.unwrap();
    assert_eq!(found.metadata["querySuccess"], false, "a paper that was named did not come");
    let message = "1 of 5000 papers found at PubMed are shown; PubMed did not send 12";
    assert_eq!(found.metadata["message"], message);
    assert!(found.output["content"][0]["text"].as_str().unwrap().ends_with(&format!("\n\n({message})")));
}

#[tokio::test]
async fn a_search_that_pubmed_did_not_answer_did_not_succeed() {
    let stage = sqlite().await;
    let library = Library { is_closed: true, ..Library::default() };
    let house = stage.again_asking(Some(Arc::new(library)), None).await;
    let found = house.call("agent", "pubmed_search", json!({"terms": [{"term": "ginger"}]})).await.result.unwrap();
    assert_eq!(found.metadata["querySuccess"], false);
    let message = "no paper found in the record; PubMed itself could not be asked";
    assert_eq!(found.metadata["message"], message);
    assert!(found.output["content"][0]["text"].as_str().unwrap().ends_with(&format!("({message})")));
}

/// A server that says something of ginger, which is `TAXON:1` there, and of what nobody here knows.
#[derive(Debug)]
struct Server {
    is_there: bool,
    is_whole: bool,
    /// The ids of each question.
    asked: Mutex<Vec<Vec<String>>>,
}

fn server(is_there: bool) -> Arc<Server> {
    Arc::new(Server { is_there, is_whole: true, asked: Mutex::default() })
}

/// The herbal, with what others call its ginger and its warfarin.
fn known_abroad() -> Vec<Value> {
    let mut ginger = node("H1", "herb", json!([{"text": "ขิง", "lang": "th"}, {"text": "ginger", "lang": "en"}]));
    ginger["same_as"] = json!(["ginger of the market", "https://example.org/ginger", "TAXON:1", "OTHER:1"]);
    let mut warfarin = node("D1", "drug", json!([{"text": "วาร์ฟาริน", "lang": "th"}]));
    warfarin["same_as"] = json!(["BANK:1"]);
    [herbal(), vec![ginger, warfarin]].concat()
}

impl Knowledge for Server {
    fn about<'a>(&'a self, curies: &'a [String]) -> BoxFuture<'a, Result<KnowledgeFound, OpError>> {
        self.asked.lock().unwrap().push(curies.to_vec());
        let node = |id: &str, name: &str| json!({"record": "node", "id": id, "categories": ["drug"], "names": [{"text": name, "lang": "en"}], "source": "trapi"});
        let edge = |id: &str, predicate: &str, object: &str, by: &str| {
            json!({"record": "edge", "id": id, "subject": "H1", "predicate": predicate, "object": object, "source": "trapi",
                "qualifiers": {"primary_knowledge_source": by}})
        };
        let mut abroad = edge("t3", "affects", "X:1", "infores:abroad");
        abroad["subject"] = json!("TAXON:1");
        let records = [
            abroad,
            node("TAXON:1", "Zingiber"),
            node("H1", "somebody's ginger"),
            node("X:1", "fictol"),
            edge("t1", "interacts_with", "X:1", "infores:made-up"),
            // Once each way, one that claims to be ours, and one that is here.
            edge("t1", "interacts_with", "X:1", "infores:made-up"),
            edge("t2", "affects", "X:1", "materia"),
            edge("E1", "contains", "C9", "infores:made-up"),
        ];
        let records: Vec<Record> = records.into_iter().map(|it| serde_json::from_value(it).unwrap()).collect();
        let answer = match self.is_there {
            true => Ok(KnowledgeFound { records, is_whole: self.is_whole }),
            false => Err(OpError::new(Kind::Upstream, "nobody is there")),
        };
        async { answer }.boxed()
    }
}

#[tokio::test]
async fn what_a_server_says_is_told_together_with_what_is_recorded() {
    let stage = sqlite().await;
    put(&stage, &known_abroad()).await;
    let server = server(true);
    let house = stage.again_asking(None, Some(Arc::clone(&server) as Arc<dyn Knowledge>)).await;
    let ask = async |operation: &str, input: Value| house.call("agent", operation, input).await.result.unwrap();
    let found = ask("kg_get_everything", json!({"curie": "ginger"})).await;
    let text = found.output["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("# Search Results for: ขิง (H1)\n"), "{text}");
    let (fictol, doubt) = ("fictol (X:1)", "(imported, not verified)");
    for (line, n) in [
        (format!("- ขิง (H1) interacts with {fictol} [infores:made-up] {doubt}"), 1),
        (format!("- ขิง (H1) affects {fictol} [trapi:materia] {doubt}"), 1),
        (format!("- Zingiber (TAXON:1) affects {fictol} [infores:abroad] {doubt}"), 1),
        ("- ขิง (H1) same as Zingiber (TAXON:1) [herbal]".to_owned(), 1),
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
    let asked: Vec<Vec<String>> = std::mem::take(&mut *server.asked.lock().unwrap());
    let expected = [vec!["TAXON:1", "OTHER:1"], vec!["TAXON:1", "OTHER:1", "X:1", "BANK:1"], vec!["X:9"]];
    assert_eq!(asked, expected, "never by an id that is only known here");
    ask("kg_get_everything", json!({"curie": "OTHER:1"})).await;
    assert_eq!(*server.asked.lock().unwrap(), [["OTHER:1", "TAXON:1"]], "the caller's own first");
}

#[tokio::test]
async fn what_others_have_no_id_for_is_not_said_to_be_asked_about() {
    let stage = sqlite().await;
    put(&stage, &known_abroad()).await;
    let server = server(true);
    let house = stage.again_asking(None, Some(Arc::clone(&server) as Arc<dyn Knowledge>)).await;
    let ask = async |operation: &str, input: Value| {
        let found = house.call("agent", operation, input).await.result.unwrap();
        let text = |name: &str| found.metadata.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        (text("note"), text("message"))
    };
    let (note, message) = ask("kg_get_everything", json!({"curie": "turmeric"})).await;
    let not_asked = |of: &str| {
        format!("The TRAPI endpoint was not asked about `{of}`: no id by which others know it is recorded here.")
    };
    assert!(note.contains(&not_asked("turmeric")), "{note}");
    assert!(message.ends_with("statements in the record"), "{message}");
    assert!(server.asked.lock().unwrap().is_empty());
    let (note, _) = ask("kg_network_neighborhood", json!({"curies": ["H1", "H2"]})).await;
    assert!(note.contains(&not_asked("H2")) && !note.contains("`H1`"), "{note}");
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_told() {
    let stage = sqlite().await;
    put(&stage, &known_abroad()).await;
    let house = stage.again_asking(None, Some(server(false))).await;
    let note = "The TRAPI endpoint could not be asked: this is what is recorded here alone.";
    for (operation, known, unknown) in [
        ("kg_get_everything", json!({"curie": "H1"}), json!({"curie": "X:1"})),
        ("kg_network_neighborhood", json!({"curies": ["H1", "D1"]}), json!({"curies": ["H1", "X:1"]})),
    ] {
        let found = house.call("agent", operation, known).await.result.unwrap();
        assert_eq!((&found.metadata["note"], &found.metadata["querySuccess"]), (&json!(note), &json!(false)));
        let message = found.metadata["message"].as_str().unwrap();
        assert!(message.ends_with("in the record; the TRAPI endpoint could not be asked"), "{message}");
        assert!(found.output["content"][0]["text"].as_str().unwrap().contains(note));
        let error = house.call("agent", operation, unknown).await.result.unwrap_err();
        let expected = "no node has the id or name `X:1`, and the TRAPI endpoint could not be asked";
        assert_eq!((error.code(), error.message.as_str()), ("UPSTREAM", expected));
    }
}

#[tokio::test]
async fn a_server_that_told_only_a_part_is_told() {
    let stage = sqlite().await;
    put(&stage, &known_abroad()).await;
    let server = Server { is_there: true, is_whole: false, asked: Mutex::default() };
    let house = stage.again_asking(None, Some(Arc::new(server))).await;
    let found = house.call("agent", "kg_get_everything", json!({"curie": "H1"})).await.result.unwrap();
    let note = "The TRAPI endpoint told of errors, or sent more than is read: it may know of more than this.";
    assert!(found.output["content"][0]["text"].as_str().unwrap().contains(note), "{:?}", found.output);
    let message = found.metadata["message"].as_str().unwrap();
    assert!(message.ends_with("in the record; the TRAPI endpoint may have more"), "{message}");
}
