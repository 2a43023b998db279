//! Search through the door: both languages, filters, snippets, changes, two processes.

use contract::evidence::record::Record;
use evidence::sealing::{Sealing, Subject};
use evidence::search::embeddings::{self, Embedded};
use evidence::search::entry::{ContentHash, Entry};
use evidence::search::index::WHAT;
use evidence::search::keeping::Keep;
use evidence::search::vectors::Packed;
use ops::operations::OPERATIONS;
use serde_json::{Value, json};

use super::herbs::{node, put, source};
use crate::ledger::both;
use crate::script::{Stage, on_sqlite, sqlite};

fn paper(id: &str, title: &str, text: &str, lang: &str, year: i32) -> Value {
    json!({"record": "document", "id": id, "kind": "paper", "title": title, "text": text, "lang": lang, "year": year,
        "source": "herbal"})
}

/// A made-up shelf: three herbs with their names, and papers in both languages.
fn shelf() -> Vec<Value> {
    vec![
        source(),
        node(
            "H1",
            "herb",
            json!([{"text": "ฟ้าทะลายโจร", "lang": "th"}, {"text": "Andrographis paniculata", "lang": "la"},
            {"text": "green chiretta", "lang": "en"}]),
        ),
        node("H2", "herb", json!([{"text": "ขิง", "lang": "th"}, {"text": "ginger", "lang": "en"}])),
        node("H3", "herb", json!([{"text": "ขมิ้นชัน", "lang": "th"}, {"text": "turmeric", "lang": "en"}])),
        paper(
            "P1",
            "Andrographis paniculata for sore throat",
            "A trial of Andrographis paniculata in adults with sore throat and \
            fever.",
            "en",
            2019,
        ),
        paper(
            "P2",
            "Ginger and nausea",
            "Ginger eased nausea after surgery. Some adults bled longer while taking warfarin.",
            "en",
            2021,
        ),
        paper("P3", "ผลของขมิ้นชันต่ออาการท้องอืด", "ผู้ป่วยที่ได้รับขมิ้นชันมีอาการท้องอืดลดลง", "th", 2020),
        paper("P4", "Compression after surgery", "Stockings prevent swelling of the legs after surgery.", "en", 2015),
    ]
}

async fn search(stage: &Stage, input: Value) -> Value {
    stage.call("viewer", "hybrid_search", input).await.result.unwrap().output
}

fn ids(output: &Value) -> Vec<&str> {
    output["hits"].as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_thai_name_finds_english_papers_and_back() {
    let stage = sqlite().await;
    put(&stage, &shelf()).await;
    let found = search(&stage, json!({"query": "ฟ้าทะลายโจร"})).await;
    assert_eq!(ids(&found), ["H1", "P1"], "{found}");
    let found = search(&stage, json!({"query": "turmeric", "lang": "en"})).await;
    assert_eq!(ids(&found), ["H3", "P3"], "{found}");
    assert_eq!(found["hits"][0]["title"], "turmeric");
    let found = search(&stage, json!({"query": "ขิง กับ warfarin"})).await;
    // The herb that was named, then the one paper about both.
    assert_eq!(ids(&found)[..2], ["H2", "P2"], "{found}");
}

#[tokio::test]
async fn an_entry_is_found_first_by_its_own_id_and_a_paper_by_every_id_of_it() {
    let stage = sqlite().await;
    put(&stage, &shelf()).await;
    let mut named = paper("PMID:24", "Pepper", "Pepper and sneezing.", "en", 2001);
    named["ids"] = json!({"doi": "10.1/a.b", "pmc": "PMC5"});
    let mut nausea = node("I05", "indication", json!([{"text": "nausea", "lang": "en"}]));
    nausea["same_as"] = json!(["ICD10:R11"]);
    let code = node("ICD10TM:U51.10", "indication", json!([{"text": "ลมปลายปัตคาต", "lang": "th"}]));
    put(&stage, &[nausea, code]).await;
    put(&stage, &[named, paper("PMID:25", "Another", "About PMID:24 and 10.1/a.b, PMID:24.", "en", 2002)]).await;
    for (query, expected) in [
        ("PMID:24", "PMID:24"),
        (" pmid: 24", "PMID:24"),
        ("https://doi.org/10.1/A.b", "PMID:24"),
        ("PMC5", "PMID:24"),
        ("24", "PMID:24"),
        ("PMID 24", "PMID:24"),
        ("R11", "I05"),
        ("U51.10", "ICD10TM:U51.10"),
        ("u5110", "ICD10TM:U51.10"),
        ("H2", "H2"),
        ("P4", "P4"),
    ] {
        let success = stage.call("viewer", "hybrid_search", json!({"query": query})).await.result.unwrap();
        let hits = success.output["hits"].as_array().unwrap();
        assert_eq!((&hits[0]["id"], &hits[0]["score"]), (&json!(expected), &json!(1.0)), "{query}: {hits:?}");
        assert!(hits.iter().skip(1).all(|hit| hit["score"].as_f64().unwrap() <= 0.5), "{query}: {hits:?}");
        assert_eq!(success.metadata["reasons"][0]["by_id"], true);
        assert!(success.output.get("note").is_none(), "{query}");
    }
    let filtered = search(&stage, json!({"query": "PMID:24", "filters": {"type": "herb"}})).await;
    assert!(ids(&filtered).iter().all(|id| *id != "PMID:24"), "{filtered}");
}

/// Both records are at change number 1, and only one of them is the index's.
#[tokio::test]
async fn an_entry_is_found_by_its_id_in_whatever_case() {
    let stage = on_sqlite(OPERATIONS).await;
    let name = json!([{"text": "ไพล", "lang": "th"}]);
    put(&stage, &[source(), node("Zing_Cass", "herb", name)]).await;
    for query in ["Zing_Cass", "zing_cass", "ZING_CASS"] {
        assert_eq!(ids(&search(&stage, json!({"query": query})).await), ["Zing_Cass"], "{query}");
    }
}

#[tokio::test]
async fn one_word_in_two_spellings_of_its_letters_is_one_word() {
    let stage = on_sqlite(OPERATIONS).await;
    let apart = paper("P1", "หนึ่ง", "ล\u{e4d}\u{e32}ไส้อักเสบ ดื่มน\u{e49}\u{e4d}\u{e32}มาก", "th", 2020);
    let whole = paper("P2", "สอง", "ลำไส้อักเสบ ดื่มน้ำ", "th", 2021);
    put(&stage, &[source(), apart, whole]).await;
    for query in ["ลำไส้", "ล\u{e4d}\u{e32}ไส้", "น้ำ", "น\u{e49}\u{e4d}\u{e32}", "น\u{e4d}\u{e49}\u{e32}"]
    {
        let found = search(&stage, json!({"query": query})).await;
        let mut both = ids(&found);
        both.sort_unstable();
        assert_eq!(both, ["P1", "P2"], "{query}");
        // What is shown is what was written, and the marks are in its places.
        let hit = found["hits"].as_array().unwrap().iter().find(|hit| hit["id"] == "P1").unwrap();
        let snippet: Vec<char> = hit["snippet"].as_str().unwrap().chars().collect();
        let marked = &hit["matches"][0];
        let place = |name: &str| usize::try_from(marked[name].as_u64().unwrap()).unwrap();
        let shown: String = snippet[place("start")..place("end")].iter().collect();
        assert!(["ล\u{e4d}\u{e32}ไส้", "น\u{e49}\u{e4d}\u{e32}"].contains(&shown.as_str()), "{hit}");
    }
}

#[tokio::test]
async fn an_index_of_another_database_is_not_believed() {
    let [ours, theirs] = [on_sqlite(OPERATIONS).await, on_sqlite(OPERATIONS).await];
    put(&ours, &shelf()).await;
    put(&theirs, &shelf()[..2]).await;
    let folder = testkit::temp_dir();
    let seal = Sealing::new(&[[7; 32]]).of(WHAT, &Subject::default());
    let n_entries = async |stage: &Stage| {
        let mut reader = stage.store.read().await.unwrap();
        let keep = Keep::open(folder.path(), &seal).unwrap().follow(&mut reader, "here").await.unwrap();
        (keep.version(), keep.snapshot().unwrap().n_entries())
    };
    assert_eq!(n_entries(&ours).await, (1, 7));
    assert_eq!(n_entries(&theirs).await, (1, 1));
    assert_eq!(n_entries(&ours).await, (1, 7));
}

#[tokio::test]
async fn the_answer_has_the_shape_of_the_seed_and_tells_why() {
    let stage = sqlite().await;
    put(&stage, &shelf()).await;
    let reply =
        stage.call("viewer", "hybrid_search", json!({"query": "ginger nausea", "lang": "en", "top_k": 1})).await;
    let success = reply.result.unwrap();
    let hit = &success.output["hits"][0];
    assert_eq!(
        hit,
        &json!({"id": "P2", "record": "document", "type": "paper", "title": "Ginger and nausea", "score": 1.0, "source": "herbal", "year": 2021,
            "snippet": "Ginger eased nausea after surgery. Some adults bled longer while taking warfarin.",
            "matches": [{"start": 0, "end": 6}, {"start": 13, "end": 19}], "retraction": "none_known", "verified": false})
    );
    assert_eq!(success.output["audit"]["status"], "ok");
    let metadata = Value::Object(success.metadata);
    assert_eq!(metadata["reasons"], json!([{"id": "P2", "bm25": 1.0, "vector": null, "entity": ["H2"]}]));
    assert_eq!((&metadata["version"], &metadata["model"]), (&json!(1), &Value::Null));
    let licence = &source()["licence"];
    assert_eq!(metadata["licences"], json!([{"source": "herbal", "licence": licence, "notice": null}]));
    assert!(metadata["message"].as_str().unwrap().starts_with("No embedding model is in use"));
}

#[tokio::test]
async fn a_hit_is_worth_no_more_than_what_is_known_of_the_question() {
    let stage = sqlite().await;
    put(&stage, &shelf()).await;
    for (query, best) in [("surgery", 1.0), ("surgery zzyzx", 0.5), ("surgery zzyzx qwfpg plmkn", 0.25)] {
        let found = search(&stage, json!({"query": query, "lang": "en"})).await;
        assert_eq!(found["hits"][0]["score"], best, "{query}: {found}");
    }
}

#[tokio::test]
async fn filters_narrow_and_nonsense_is_refused() {
    let stage = sqlite().await;
    put(&stage, &shelf()).await;
    let check = async |filters: Value, expected: &[&str]| {
        let found = search(&stage, json!({"query": "surgery ginger turmeric", "filters": filters.clone()})).await;
        let mut found = ids(&found);
        found.sort_unstable();
        assert_eq!(found, expected, "{filters}");
    };
    check(json!({"type": ["herb"]}), &["H2", "H3"]).await;
    check(json!({"type": ["paper"], "year_from": 2016}), &["P2", "P3"]).await;
    check(json!({"year_to": 2015}), &["P4"]).await;
    check(json!({"lang": ["th"], "type": ["paper"]}), &["P3"]).await;
    for (input, field) in [
        (json!({"query": " "}), "query"),
        (json!({"query": "()[]{}^~*?:\\/"}), "query"),
        (json!({"query": "\u{200b}😀"}), "query"),
        (json!({"query": "x", "top_k": 0}), "top_k"),
        (json!({"query": "x", "top_k": 101}), "top_k"),
        (json!({"query": "x", "lang": "de"}), "lang"),
        (json!({"query": "x", "filters": {"colour": "red"}}), "filters"),
        (json!({"query": "x", "filters": {"year_from": 2020, "year_to": 2010}}), "year_to"),
    ] {
        let error = stage.call("viewer", "hybrid_search", input.clone()).await.result.unwrap_err();
        assert!(error.code() == "INVALID_ARG" && error.message.contains(field), "{input}: {}", error.message);
    }
}

#[tokio::test]
async fn single_letters_are_no_words_that_the_record_knows() {
    let stage = sqlite().await;
    put(&stage, &[source(), paper("P9", "หมวด ก", "หมวด ก และ ข ของบัญชียา", "th", 2020)]).await;
    let scores = async |query: &str| -> Vec<f64> {
        let found = search(&stage, json!({"query": query})).await;
        found["hits"].as_array().unwrap().iter().map(|hit| hit["score"].as_f64().unwrap()).collect()
    };
    assert_eq!(scores("บัญชียา").await, [1.0]);
    let nonsense = scores("กกกกกก").await;
    assert!(nonsense.iter().all(|score| *score < 0.5), "{nonsense:?}");
}

#[tokio::test]
async fn a_filter_of_a_word_that_nothing_has_is_refused_with_those_that_it_has() {
    let stage = sqlite().await;
    put(&stage, &shelf()).await;
    put(&stage, &[json!({"record": "source", "id": "silent", "title": "Silent", "licence": "CC0-1.0"})]).await;
    let check = async |filters: Value, field: &str, message: &str| {
        let input = json!({"query": "ginger", "filters": filters});
        let error = stage.call("viewer", "hybrid_search", input).await.result.unwrap_err();
        assert_eq!((error.code(), error.message.as_str()), ("INVALID_ARG", message));
        assert_eq!(error.details.field.as_deref(), Some(field));
    };
    let types = json!({"type": ["paper", "herbs"]});
    check(types, "filters/type", "`filters/type`: the record has no type `herbs`; it has herb, paper").await;
    let sources = json!({"source": ["elsewhere"]});
    check(sources, "filters/source", "`filters/source`: the record has no source `elsewhere`; it has herbal").await;
    let input = json!({"query": "ginger", "filters": {"source": ["silent"]}});
    let reply = stage.call("viewer", "hybrid_search", input).await.result.unwrap();
    assert_eq!((&reply.output["hits"], &reply.metadata["licences"]), (&json!([]), &json!([])));
    assert_eq!(reply.metadata["message"], "Nothing that can be searched is from the source `silent`.");
    // A word goes with the last record that has it.
    put(
        &stage,
        &[
            json!({"record": "deletion", "kind": "document", "id": "P1", "source": "herbal"}),
            json!({"record": "deletion", "kind": "document", "id": "P2", "source": "herbal"}),
            json!({"record": "deletion", "kind": "document", "id": "P3", "source": "herbal"}),
            json!({"record": "deletion", "kind": "document", "id": "P4", "source": "herbal"}),
        ],
    )
    .await;
    let types = json!({"type": ["paper"]});
    check(types, "filters/type", "`filters/type`: the record has no type `paper`; it has herb").await;
}

/// Also where the snippet begins after the mark that stands before the summary.
#[tokio::test]
async fn a_summary_is_called_one() {
    let stage = on_sqlite(OPERATIONS).await;
    let text = format!("[Summary in our own words] {}Ginger eased nausea.", "Nothing else was found. ".repeat(20));
    let mut summary = paper("P9", "On ginger", &text, "en", 2021);
    summary["attributes"] = json!({"abstract_by": "a librarian"});
    put(&stage, &[source(), summary, paper("P2", "Ginger", "Nausea was eased.", "en", 2020)]).await;
    let found = search(&stage, json!({"query": "nausea"})).await;
    let hits = found["hits"].as_array().unwrap();
    let by = |id: &str| hits.iter().find(|hit| hit["id"] == id).unwrap();
    assert_eq!(by("P9")["abstract_by"], "a librarian");
    assert!(!by("P9")["snippet"].as_str().unwrap().contains("Summary"), "{found}");
    assert!(by("P2").get("abstract_by").is_none(), "{found}");
}

#[tokio::test]
async fn a_node_that_stands_for_a_paper_is_as_its_document_is() {
    for stage in both().await {
        let mut withdrawn = paper("PMID:1", "Ginger and nausea", "Ginger eased nausea.", "en", 2021);
        withdrawn["retraction"] = json!({"kind": "retracted", "notice": "PMID:9"});
        let article = |id: &str| node(id, "article", json!([{"text": format!("nausea article {id}"), "lang": "en"}]));
        put(&stage, &[source(), withdrawn, article("PMID:1"), article("PMID:2")]).await;
        put(&stage, &[node("H2", "herb", json!([{"text": "nausea root", "lang": "en"}]))]).await;
        let found = search(&stage, json!({"query": "nausea", "lang": "en"})).await;
        let told: std::collections::BTreeMap<String, [Value; 2]> = found["hits"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hit| {
                (
                    format!("{} {}", hit["record"].as_str().unwrap(), hit["id"].as_str().unwrap()),
                    [hit["retraction"].clone(), hit["retraction_source"].clone()],
                )
            })
            .collect();
        let expected = [
            ("document PMID:1", [json!("retracted"), json!("herbal")]),
            ("node H2", [Value::Null, Value::Null]),
            ("node PMID:1", [json!("retracted"), json!("herbal")]),
            ("node PMID:2", [json!("none_known"), Value::Null]),
        ];
        assert_eq!(told, expected.map(|(id, status)| (id.to_owned(), status)).into());
        let filters = json!({"without_retracted": true});
        let mut kept = search(&stage, json!({"query": "nausea", "filters": filters})).await;
        let mut kept: Vec<Value> =
            kept["hits"].as_array_mut().unwrap().drain(..).map(|hit| hit["id"].clone()).collect();
        kept.sort_by_key(ToString::to_string);
        assert_eq!(kept, ["H2", "PMID:2"]);
    }
}

#[tokio::test]
async fn vectors_of_what_is_no_longer_there_are_forgotten_where_that_is_asked() {
    for stage in both().await {
        put(&stage, &shelf()).await;
        let Ok(Record::Document(kept)) = serde_json::from_value(shelf().remove(5)) else { panic!("a document") };
        let hashes = [Entry::of_document(&kept).content_hash(), ContentHash::of("Ginger and nausea")];
        let apply: store::Apply<()> = Box::new(move |tx| {
            Box::pin(async move {
                let embedded = hashes.map(|content| Embedded { content, windows: vec![Packed::of(&[1.0])] });
                embeddings::insert(tx, "here", "model", &embedded).await?;
                Ok(store::Applied { value: (), event: None, keep: store::Keep::Changes })
            })
        });
        let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
        stage.store.write(None, deadline, apply).await.unwrap();
        let count = async || {
            let mut reader = stage.store.read().await.unwrap();
            embeddings::count(&mut reader, "here", "model").await.unwrap()
        };
        let embed = async |input: Value| stage.call("curator", "embed_records", input).await.result.unwrap().output;
        assert_eq!(embed(json!({})).await.get("forgotten"), None);
        assert_eq!(count().await, 2);
        assert_eq!(embed(json!({"forget": true})).await["forgotten"], 1);
        assert_eq!(count().await, 1);
        assert_eq!(embed(json!({"forget": true})).await.get("forgotten"), None);
    }
}

#[tokio::test]
async fn an_index_and_a_graph_are_made_anew_beside_those_that_answer() {
    for stage in both().await {
        put(&stage, &shelf()).await;
        let before = search(&stage, json!({"query": "stockings"})).await;
        let path = json!({"start": {"type": "herb", "id": "H1"}, "pattern": "herb -*-> *"});
        let walk = async || stage.call("viewer", "query_kg", path.clone()).await.audit.out_hash;
        let walked = walk().await;
        let rebuild = || stage.call("curator", "rebuild_evidence", json!({}));
        let again = json!({"query": "stockings"});
        // Two at once, and somebody who searches meanwhile.
        let (one, other, meanwhile) = tokio::join!(rebuild(), rebuild(), search(&stage, again));
        assert!(one.result.is_ok() && other.result.is_ok());
        assert_eq!(ids(&before), ["P4"]);
        let after = search(&stage, json!({"query": "stockings"})).await;
        let hash = |output: &Value| output["audit"]["out_hash"].clone();
        assert_eq!((hash(&meanwhile), hash(&after)), (hash(&before), hash(&before)));
        assert_eq!(walk().await, walked);
        let device = node("D1", "device", json!([{"text": "stockings", "lang": "en"}]));
        let version = put(&stage, &[device]).await["version"].clone();
        let found = search(&stage, json!({"query": "stockings", "min_version": version})).await;
        assert!(ids(&found).contains(&"D1"), "{found}");
        let refused = stage.call("viewer", "rebuild_evidence", json!({})).await.result.unwrap_err();
        assert_eq!(refused.code(), "DENIED");
    }
}

#[tokio::test]
async fn changes_are_followed_and_names_count_for_older_papers_too() {
    for stage in both().await {
        put(&stage, &shelf()).await;
        assert_eq!(ids(&search(&stage, json!({"query": "stockings"})).await), ["P4"]);
        // A node that comes later is found in papers that were there before.
        let stockings =
            node("D1", "device", json!([{"text": "ถุงน่องรัด", "lang": "th"}, {"text": "stockings", "lang": "en"}]));
        let version = put(&stage, &[stockings]).await["version"].clone();
        assert_eq!(ids(&search(&stage, json!({"query": "ถุงน่องรัด", "min_version": version})).await), ["D1", "P4"]);
        put(&stage, &[json!({"record": "deletion", "kind": "document", "id": "P4", "source": "herbal"})]).await;
        assert_eq!(ids(&search(&stage, json!({"query": "ถุงน่องรัด"})).await), ["D1"]);
        let error =
            stage.call("viewer", "hybrid_search", json!({"query": "x", "min_version": 99})).await.result.unwrap_err();
        assert_eq!(error.code(), "BUSY");
    }
}

#[tokio::test]
async fn an_index_that_grew_and_one_that_was_made_at_once_answer_alike() {
    for stage in both().await {
        for record in shelf() {
            put(&stage, &[record]).await;
            search(&stage, json!({"query": "ginger"})).await;
        }
        let other = stage.again().await;
        for query in ["ginger after surgery", "ขิง", "อาการท้องอืด", "andrographis fever adults"]
        {
            let input = json!({"query": query, "lang": "auto"});
            let (one, two) = (search(&stage, input.clone()).await, search(&other, input).await);
            assert_eq!(one["audit"]["out_hash"], two["audit"]["out_hash"], "{query}: {one} {two}");
            assert!(!ids(&one).is_empty(), "{query}");
        }
    }
}

#[tokio::test]
async fn what_was_replaced_and_withdrawn_leaves_no_trace_in_the_scores() {
    let stage = sqlite().await;
    put(&stage, &shelf()).await;
    let named = |n_times: usize| "Ginger, turmeric and green chiretta. ".repeat(n_times);
    let put_one = async |n: usize, record: Value| {
        put(&stage, &[record]).await;
        search(&stage, json!({"query": format!("word{n}")})).await;
    };
    for n in 0..12 {
        let name = |word: &str| json!([{"text": format!("{word}{n}"), "lang": "en"}]);
        put_one(n, node(&format!("K{n}"), "herb", name("addword"))).await;
        put_one(n, paper(&format!("Q{n}"), "Teas", &named(n), "en", 2020)).await;
        if n % 2 == 0 {
            put_one(n, node(&format!("K{n}"), "herb", name("newword"))).await;
            put_one(n, paper(&format!("Q{n}"), "Teas", &named(1), "en", 2020)).await;
        }
    }
    let gone = |n: usize| json!({"record": "deletion", "kind": "document", "id": format!("Q{n}"), "source": "herbal"});
    put_one(0, gone(11)).await;
    let other = stage.again().await;
    for query in ["ginger after surgery", "ขิง", "turmeric", "warfarin with turmeric"] {
        let input = json!({"query": query, "lang": "auto"});
        let (one, two) = (search(&stage, input.clone()).await, search(&other, input).await);
        assert_eq!(one["audit"]["out_hash"], two["audit"]["out_hash"], "{query}: {one} {two}");
    }
}

#[tokio::test]
async fn retracted_papers_say_so_and_can_be_left_out() {
    let stage = sqlite().await;
    put(&stage, &shelf()).await;
    let mut paper = shelf().remove(5);
    paper["retraction"] = json!({"kind": "retracted", "notice": "PMID:1"});
    put(&stage, &[paper]).await;
    let found = search(&stage, json!({"query": "nausea", "lang": "en"})).await;
    assert_eq!(found["hits"][0]["retraction"], "retracted", "{found}");
    let filters = json!({"without_retracted": true});
    assert_eq!(ids(&search(&stage, json!({"query": "nausea", "filters": filters})).await), Vec::<&str>::new());
}

#[tokio::test]
async fn another_house_finds_nothing_of_ours() {
    for stage in both().await {
        put(&stage, &shelf()).await;
        let found = stage.call("rival", "hybrid_search", json!({"query": "ginger"})).await.result.unwrap().output;
        assert_eq!(found["hits"], json!([]));
    }
}

#[tokio::test]
async fn without_a_model_the_index_is_still_brought_up_to_date() {
    let stage = sqlite().await;
    put(&stage, &shelf()).await;
    let done = stage.call("curator", "embed_records", json!({})).await.result.unwrap().output;
    assert_eq!(done, json!({"embedded": 0, "missing": 0, "version": 1}));
}

#[tokio::test]
async fn words_that_say_nothing_are_not_marked() {
    let stage = on_sqlite(OPERATIONS).await;
    put(&stage, &shelf()).await;
    let marked = async |query: &str| -> Vec<String> {
        let found = search(&stage, json!({"query": query})).await;
        let hit = found["hits"].as_array().unwrap().iter().find(|hit| hit["id"] == "P2").expect("the paper on ginger");
        let letters: Vec<char> = hit["snippet"].as_str().unwrap().chars().collect();
        let cut = |span: &Value| {
            let (start, end) = (span["start"].as_u64().unwrap() as usize, span["end"].as_u64().unwrap() as usize);
            letters[start..end].iter().collect::<String>().to_lowercase()
        };
        hit["matches"].as_array().unwrap().iter().map(cut).collect()
    };
    let found = marked("can some ginger help adults").await;
    assert!(found.contains(&"ginger".to_owned()) && found.contains(&"adults".to_owned()), "{found:?}");
    assert!(!found.contains(&"some".to_owned()), "{found:?}");
    assert_eq!(marked("some").await, ["some"], "alone it is what was asked for");
}
