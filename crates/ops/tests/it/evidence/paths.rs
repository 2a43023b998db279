//! `query_kg` through the door.

use std::sync::atomic::Ordering;

use contract::canonical;
use evidence::graph::live::Graphs;
use evidence::sealing::Sealing;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::herbs::{edge, herbal, node, put, source};
use super::networks::pharmacy;
use super::starter_data::with_deadly_classes;
use crate::ledger::both;
use crate::script::{Stage, on_postgres, on_sqlite, sqlite};

async fn ask(stage: &Stage, input: Value) -> Result<Value, String> {
    let reply = stage.call("agent", "query_kg", input).await;
    reply.result.map(|success| success.output).map_err(|error| format!("{}: {}", error.code(), error.message))
}

fn ids(output: &Value) -> Vec<String> {
    let path = |path: &Value| {
        let ids: Vec<&str> = path.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
        ids.join(" ")
    };
    output["paths"].as_array().unwrap().iter().map(path).collect()
}

#[tokio::test]
async fn the_path_of_the_seed_is_found_with_the_reason_for_every_hop() {
    for stage in both().await {
        put(&stage, &herbal()).await;
        let input = json!({"start": {"type": "herb", "id": "H1"},
            "pattern": "herb -contains-> constituent -treats-> indication"});
        let reply = stage.call("agent", "tool.query_kg", input).await;
        let success = reply.result.unwrap();
        let via = |edge: &str, predicate: &str| json!({"predicate": predicate, "edge_id": edge, "source": "herbal", "verified": false});
        let expected = json!([[
            {"id": "H1", "type": "herb", "label": "ขิง"},
            {"id": "C9", "type": "constituent", "label": "จินเจอรอล", "via": via("E1", "contains")},
            {"id": "I05", "type": "indication", "label": "คลื่นไส้", "via": via("E2", "treats")},
        ]]);
        assert_eq!(success.output["paths"], expected);
        assert_eq!(success.metadata["version"], 1);
        assert_eq!(success.metadata["licences"], json!([{"source": "herbal", "licence": "CC0-1.0"}]));
        // The audit block is part of the output, and the hash is of the rest.
        let audit = &success.output["audit"];
        assert_eq!(audit["status"], "ok");
        assert_eq!(audit["out_hash"], canonical::hash_without(&success.output, "audit"));
        assert_eq!(audit["out_hash"], reply.audit.out_hash);
        let text: Value = serde_json::from_str(&success.text.unwrap()).unwrap();
        assert_eq!(text, success.output);
    }
}

#[tokio::test]
async fn names_filters_directions_and_limits() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    let check = async |input: Value, expected: &[&str]| {
        assert_eq!(ids(&ask(&stage, input.clone()).await.unwrap()), expected, "{input}");
    };
    let herb = json!({"type": "herb", "id": "ZINGIBER officinale"});
    check(json!({"start": herb, "max_depth": 1}), &["H1 C9", "H1 P1", "H1 D1", "H1 I05"]).await;
    check(json!({"start": herb, "pattern": "herb <-has_part- formulation"}), &["H1 F1"]).await;
    check(json!({"start": herb, "filters": {"strength": "high"}}), &["H1 D1"]).await;
    let any = json!({"type": "*", "id": "ขิง"});
    check(json!({"start": any, "filters": {"strength": "high"}}), &["H1 D1"]).await;
    let filters = json!({"predicate": ["contains", "treats"], "type": ["constituent", "indication"]});
    check(json!({"start": herb, "filters": filters}), &["H1 C9", "H1 I05", "H1 C9 I05"]).await;
    check(json!({"start": herb, "filters": {"source": "book"}}), &[]).await;
    let limited = ask(&stage, json!({"start": herb, "limit": 1, "max_depth": 1})).await.unwrap();
    assert_eq!((ids(&limited), &limited["truncated"]), (vec!["H1 C9".to_owned()], &json!("limit")));
    let counted = ask(&stage, json!({"start": herb, "max_depth": 1, "count": true})).await.unwrap();
    assert_eq!((&counted["count"], &counted["paths"]), (&json!(4), &json!([])));
    let dry = json!({"start": {"type": "herb", "id": "ping"}, "max_depth": 0, "dry": true});
    check(dry, &[]).await;
}

#[tokio::test]
async fn a_wrong_question_is_told_what_is_wrong_and_where() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    put(&stage, &[node("H9", "herb", json!([{"text": "ginger", "lang": "en"}]))]).await;
    let start = json!({"type": "herb", "id": "H1"});
    for (input, expected) in [
        (
            json!({"start": start, "pattern": "herb -contains- x"}),
            "INVALID_ARG: `pattern`: position 15: expected `->` after the predicate",
        ),
        (
            json!({"start": start, "pattern": "drug -x-> y"}),
            "INVALID_ARG: `pattern`: the pattern begins with `drug`, but `start` is a `herb`",
        ),
        (
            json!({"start": start, "pattern": "* -*-> * -*-> *", "max_depth": 1}),
            "INVALID_ARG: `max_depth`: the pattern has 2 hops, but `max_depth` is 1",
        ),
        (
            json!({"start": start, "max_depth": 0}),
            "INVALID_ARG: `max_depth`: the depth is 0, which only a dry run may have",
        ),
        (json!({"start": start, "max_depth": 7}), "INVALID_ARG: `max_depth`: expected at most 6"),
        (json!({"start": {"type": "herb", "id": "H77"}}), "NOT_FOUND: no herb has the id or name `H77`"),
        (json!({"start": {"type": "herb", "id": "D1"}}), "NOT_FOUND: `D1` is a drug, not a herb"),
        (
            json!({"start": {"type": "herb", "id": "Ginger"}}),
            "INVALID_ARG: `Ginger` is the name of several: H1, H9; use one of these ids",
        ),
        (
            json!({"start": start, "pattern": "herb -contain-> constituent"}),
            "INVALID_ARG: `pattern`: the record has no predicate `contain`; it has contains, contraindicated_in, \
             has_part, interacts_with, part_of, treats",
        ),
        (
            json!({"start": start, "filters": {"type": "plant"}}),
            "INVALID_ARG: `filters/type`: the record has no type of node `plant`; it has condition, constituent, drug, \
             formulation, herb, indication",
        ),
        (
            json!({"start": start, "filters": {"source": ["herbal", "hearsay"]}}),
            "INVALID_ARG: `filters/source`: the record has no source `hearsay`; it has herbal, book",
        ),
        (json!({"start": start, "min_version": 99}), "BUSY: the graph does not know of change 99 yet"),
    ] {
        assert_eq!(ask(&stage, input.clone()).await.unwrap_err(), expected, "{input}");
    }
    let rival = stage.call("rival", "query_kg", json!({"start": start})).await.result.unwrap_err();
    assert_eq!(rival.code(), "NOT_FOUND", "somebody else's graph");
}

#[tokio::test]
async fn who_changes_the_record_sees_it_at_once_and_others_within_two_seconds() {
    for stage in both().await {
        put(&stage, &herbal()).await;
        let input = json!({"start": {"type": "herb", "id": "H3"}});
        assert_eq!(ids(&ask(&stage, input.clone()).await.unwrap()), Vec::<String>::new());
        for n in 0..20 {
            let id = format!("N{n}");
            let names = json!([{"text": id, "lang": "en"}]);
            put(&stage, &[node(&id, "constituent", names), edge(&id, "H3", "contains", &id)]).await;
            assert_eq!(ids(&ask(&stage, input.clone()).await.unwrap()).len(), n + 1);
        }
        put(&stage, &[json!({"record": "deletion", "kind": "edge", "id": "N7", "source": "herbal"})]).await;
        put(&stage, &[json!({"record": "deletion", "kind": "node", "id": "N8", "source": "herbal"})]).await;
        assert_eq!(ids(&ask(&stage, input).await.unwrap()).len(), 18);
    }
    let here = on_postgres(ops::operations::OPERATIONS).await;
    let there = here.again().await;
    put(&here, &herbal()).await;
    let input = json!({"start": {"type": "herb", "id": "H3"}});
    assert_eq!(ids(&ask(&there, input.clone()).await.unwrap()), Vec::<String>::new());
    let changed = put(&here, &[edge("X1", "H3", "contains", "C9")]).await;
    let asked = json!({"start": {"type": "herb", "id": "H3"}, "min_version": changed["version"]});
    assert_eq!(ids(&ask(&there, asked).await.unwrap()), ["H3 C9", "H3 C9 I05"]);
    put(&here, &[edge("X2", "H3", "treats", "I05")]).await;
    let changed = tokio::time::Instant::now();
    while ids(&ask(&there, input.clone()).await.unwrap()).len() < 3 {
        assert!(changed.elapsed() < std::time::Duration::from_secs(2), "the other process does not hear of it");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn two_processes_answer_the_same_question_with_the_same_hash() {
    let here = on_postgres(ops::operations::OPERATIONS).await;
    // One has everything in its overlay, the other reads it all at once.
    let started = json!({"start": {"type": "herb", "id": "H1"}});
    put(&here, &herbal()[..11]).await;
    ask(&here, started.clone()).await.unwrap();
    for record in &herbal()[11..] {
        put(&here, std::slice::from_ref(record)).await;
        ask(&here, started.clone()).await.unwrap();
    }
    let there = here.again().await;
    for input in [
        started.clone(),
        json!({"start": {"type": "herb", "id": "H1"}, "pattern": "* <-*- * -*-> * -*-> *", "limit": 3}),
        json!({"start": {"type": "formulation", "id": "F1"}, "count": true}),
    ] {
        let one = here.call("agent", "query_kg", input.clone()).await;
        let other = there.call("agent", "query_kg", input.clone()).await;
        assert_eq!(one.audit.out_hash, other.audit.out_hash, "{input}");
        assert_eq!(one.audit.in_hash, other.audit.in_hash);
        assert_eq!(one.result.unwrap().metadata, other.result.unwrap().metadata);
    }
}

#[tokio::test]
async fn an_interaction_is_found_from_both_ends_and_within_a_class() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    let drug = json!({"type": "drug", "id": "D1"});
    for asked in [
        json!({"start": drug, "pattern": "drug -*-> herb"}),
        json!({"start": drug, "max_depth": 1}),
        json!({"start": drug, "max_depth": 1, "filters": {"predicate": "interacts_with"}}),
    ] {
        let found = ask(&stage, asked.clone()).await.unwrap();
        assert_eq!(ids(&found), ["D1 H1", "D1 H2"], "{asked}");
        // The first edge is the herb's, the second the drug's.
        let reverse = |at: usize| &found["paths"][at][1]["via"]["reverse"];
        assert_eq!((reverse(0), reverse(1)), (&json!(true), &Value::Null));
    }
    let names = |text: &str| json!([{"text": text, "lang": "en"}]);
    let class = [
        node("qt", "drug_class", names("QT-prolonging drugs")),
        node("D8", "drug", names("one of them")),
        node("D9", "drug", names("another")),
        edge("M8", "D8", "member_of", "qt"),
        edge("M9", "D9", "member_of", "qt"),
        edge("QT", "qt", "interacts_with", "qt"),
    ];
    put(&stage, &class).await;
    let pattern = "drug -member_of-> drug_class -interacts_with-> drug_class <-member_of- drug";
    let asked = json!({"start": {"type": "drug", "id": "D8"}, "pattern": pattern});
    assert_eq!(ids(&ask(&stage, asked).await.unwrap()), ["D8 qt qt D9"]);
}

#[tokio::test]
async fn long_work_is_told_when_nobody_waits_for_it() {
    let stage = on_sqlite(ops::operations::OPERATIONS).await;
    let folder = testkit::temp_dir();
    let graphs = Graphs::new(stage.store.clone(), folder.path().to_owned(), Sealing::new(&[[7; 32]]));
    let ((begin, begun), (end, ended)) = (oneshot::channel(), oneshot::channel());
    let call = tokio::spawn(async move {
        let work = graphs.work(move |nobody_waits| {
            begin.send(()).unwrap();
            while !nobody_waits.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            end.send(()).unwrap();
        });
        work.await.unwrap();
    });
    begun.await.unwrap();
    call.abort();
    ended.await.unwrap();
}

#[tokio::test]
async fn an_answer_without_paths_does_not_look_like_safe() {
    let stage = sqlite().await;
    put(&stage, &pharmacy()).await;
    let note = async |input: Value| {
        let success = stage.call("agent", "query_kg", input).await.result.unwrap();
        let note = success.metadata.get("note").and_then(Value::as_str).map(str::to_owned);
        // Not every protocol shows the metadata.
        assert_eq!(success.output.get("note").and_then(Value::as_str), note.as_deref());
        (ids(&success.output).len(), note.unwrap_or_default())
    };
    let nothing = "Nothing is recorded along this pattern. That does not mean that there is nothing.";
    let calmol = json!({"type": "drug", "id": "calmol"});
    let asked = json!({"start": calmol, "pattern": "drug -interacts_with-> drug"});
    let of_classes = "Not among these paths: `interacts_with` statements about the start or what it belongs to or \
        contains: calmers (calmers, critical), slowers (slowers). Ask `drug -member_of-> drug_class -interacts_with-> *`.";
    assert_eq!(note(asked.clone()).await, (0, format!("{nothing} {of_classes}")));
    // The way that the note names finds them, and needs no note.
    let asked_so = json!({"start": calmol, "pattern": "drug -member_of-> drug_class -interacts_with-> *"});
    assert_eq!(note(asked_so).await, (2, String::new()));
    // Some paths are not all.
    put(&stage, &[edge("own", "wakeine", "interacts_with", "calmol")]).await;
    assert_eq!(note(asked).await, (1, of_classes.to_owned()));
    // Of the thing itself, with another type of thing than was asked for.
    let wakers =
        json!({"start": {"type": "drug_class", "id": "slowers"}, "pattern": "drug_class -interacts_with-> drug"});
    let itself = "Not among these paths: `interacts_with` statements about the start or what it belongs to or contains: \
        itself. Ask `drug_class -interacts_with-> *`.";
    assert_eq!(note(wakers).await, (0, format!("{nothing} {itself}")));
    let alone = node("alone", "drug", json!([{"text": "alone", "lang": "en"}]));
    put(&stage, &[alone]).await;
    let alone = json!({"type": "drug", "id": "alone"});
    let led_nowhere =
        "Nothing is recorded along statements that lead from the start. That does not mean that there is nothing.";
    assert_eq!(note(json!({"start": alone})).await, (0, led_nowhere.to_owned()));
    // What is said of it stands at the other end of statements, and the note tells how to ask.
    put(&stage, &[edge("to", "calmol", "treats", "alone")]).await;
    let not_followed = "Statements that point to the start were not followed. Ask `drug <-treats- *`.";
    let told = format!("{led_nowhere} {not_followed}");
    let found = note(json!({"start": alone})).await;
    assert_eq!((found.0, found.1.starts_with(&told)), (0, true), "{found:?}");
    assert_eq!(note(json!({"start": alone, "pattern": "drug <-treats- *"})).await, (1, String::new()));
    let other = json!({"start": alone, "filters": {"predicate": "member_of"}});
    assert!(!note(other).await.1.contains(not_followed));
    assert_eq!(note(json!({"start": alone, "dry": true})).await, (0, String::new()));
    // A count of nothing says the same as no paths, and one of something what was not followed.
    assert_eq!(note(json!({"start": alone, "count": true})).await, found);
    let slowers = json!({"type": "drug_class", "id": "slowers"});
    let none = json!({"start": slowers, "pattern": "drug_class -interacts_with-> drug", "count": true});
    assert_eq!(note(none).await, (0, format!("{nothing} {itself}")));
    let some = json!({"start": calmol, "pattern": "drug -interacts_with-> drug", "count": true});
    assert_eq!(note(some).await, (0, String::new()));
}

#[tokio::test]
async fn a_path_goes_along_what_is_not_so_only_where_that_is_asked_for() {
    let stage = sqlite().await;
    put(&stage, &pharmacy()).await;
    let found = async |input: Value| ids(&stage.call("agent", "query_kg", input).await.result.unwrap().output);
    let walked = |pattern: Option<&str>| json!({"start": {"type": "drug", "id": "alone"}, "pattern": pattern});
    let alone = node("alone", "drug", json!([{"text": "alone", "lang": "en"}]));
    put(&stage, &[alone, edge("no", "alone", "not_interacts_with", "calmol")]).await;
    assert_eq!(found(walked(None)).await, Vec::<String>::new());
    assert_eq!(found(walked(Some("drug -*-> *"))).await, Vec::<String>::new());
    let denied = "Statements that deny something were left out. Ask `drug -not_interacts_with-> *`.";
    let is_told =
        async |pattern: Option<&str>| ask(&stage, walked(pattern)).await.unwrap().to_string().contains(denied);
    assert!(is_told(None).await && is_told(Some("drug -*-> *")).await);
    assert!(!is_told(Some("drug <-*- *")).await && !is_told(Some("drug -not_interacts_with-> *")).await);
    assert_eq!(found(walked(Some("drug -not_interacts_with-> *"))).await, ["alone calmol"]);
    put(&stage, &[edge("yes", "alone", "treats", "calmol")]).await;
    assert_eq!(found(walked(Some("drug -*-> *"))).await, ["alone calmol"]);
    let named = json!({"start": {"type": "drug", "id": "alone"}, "filters": {"predicate": "not_interacts_with"}, "max_depth": 1});
    assert_eq!(found(named).await, ["alone calmol"]);
}

#[tokio::test]
async fn what_somebody_imports_takes_no_place_from_what_was_verified() {
    let stage = sqlite().await;
    let house = stage.again_with(with_deadly_classes()).await;
    house.call("owner", "load_starter_data", json!({})).await.result.unwrap();
    let asked = |limit: u32, pattern: Option<&str>| json!({"start": {"type": "herb", "id": "test_root"}, "pattern": pattern, "limit": limit, "max_depth": 2, "detail": "full"});
    let verified = |output: &Value| -> Vec<String> {
        let is_verified =
            |path: &&Value| path.as_array().unwrap().iter().skip(1).all(|it| it["via"]["verified"] == true);
        let paths = output["paths"].as_array().unwrap().iter().filter(is_verified);
        paths.map(|path| ids(&json!({"paths": [path]})).remove(0)).collect()
    };
    let pattern = Some("herb -contains-> constituent");
    let before = verified(&ask(&house, asked(1_000, pattern)).await.unwrap());
    let before_anywhere = verified(&ask(&house, asked(1_000, None)).await.unwrap());
    assert!(!before.is_empty() && before_anywhere.len() > before.len(), "{before_anywhere:?}");
    // Their ids come first, and one of them says the same as the starter data.
    let mut records = vec![source()];
    records.extend((0..300).flat_map(|n| {
        let id = format!("0{n:03}");
        let names = json!([{"text": id, "lang": "en"}]);
        [node(&id, "constituent", names), edge(&id, "test_root", "contains", &id)]
    }));
    let mut same = edge("0same", "test_root", "contains", "madeupol");
    same["strength"] = json!("high");
    records.push(same);
    assert_eq!(put(&house, &records).await["rejected"], json!([]));
    for limit in [1, 2, 10, 100] {
        let output = ask(&house, asked(limit, pattern)).await.unwrap();
        let told = ids(&output);
        let n_verified = before.len().min(limit as usize);
        assert_eq!((told.len(), &output["truncated"]), (limit as usize, &json!("limit")), "{output}");
        assert_eq!(told[..n_verified], before[..n_verified], "{output}");
        let mut each = told.clone();
        each.sort();
        each.dedup();
        assert_eq!(each.len(), told.len(), "{told:?}");
        assert!(told[n_verified..].is_sorted(), "{told:?}");
        assert_eq!(output["paths"], ask(&house, asked(limit, pattern)).await.unwrap()["paths"]);
    }
    // Wherever edges lead, the others keep half of the places.
    let output = ask(&house, asked(100, None)).await.unwrap();
    let told = ids(&output);
    let n_verified = before_anywhere.len().min(50);
    assert_eq!((told.len(), &told[..n_verified]), (100, &before_anywhere[..n_verified]), "{output}");
    let whole = ask(&house, asked(1_000, pattern)).await.unwrap();
    assert!(ids(&whole).is_sorted() && whole.get("truncated").is_none(), "what is not cut stays in its order");
}
