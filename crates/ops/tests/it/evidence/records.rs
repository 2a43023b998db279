//! The record: kept, repeated, changed, withdrawn, rejected, and compared with the log.

use serde_json::{Value, json};

use super::herbs::{edge, node, put, source};
use crate::ledger::{both, tamper, verify};
use crate::script::Stage;

async fn read(stage: &Stage, input: Value) -> Value {
    stage.call("viewer", "read_records", input).await.result.unwrap().output
}

fn ginger() -> Value {
    node("H1", "herb", json!([{"text": "ขิง", "lang": "th"}, {"text": "ginger", "lang": "en"}]))
}

fn gingerol() -> Value {
    node("C1", "constituent", json!([{"text": "gingerol", "lang": "en"}]))
}

#[tokio::test]
async fn a_second_import_keeps_nothing_and_repeats_everything() {
    for stage in both().await {
        let records = [source(), ginger(), gingerol(), edge("E1", "H1", "contains", "C1")];
        let expected = json!({"kept": 4, "repeated": 0, "changed": 0, "deleted": 0, "rejected": [], "version": 1});
        assert_eq!(put(&stage, &records).await, expected);
        let expected = json!({"kept": 0, "repeated": 4, "changed": 0, "deleted": 0, "rejected": [], "version": 1});
        assert_eq!(put(&stage, &records).await, expected);
        let mut named = gingerol();
        named["names"][0]["text"] = json!("[6]-gingerol");
        let expected = json!({"kept": 1, "repeated": 0, "changed": 1, "deleted": 0, "rejected": [], "version": 2});
        assert_eq!(put(&stage, &[named.clone()]).await, expected);
        assert_eq!(read(&stage, json!({"kind": "node", "ids": ["C1", "C9"]})).await["records"], json!([named]));
    }
}

#[tokio::test]
async fn what_stands_on_nothing_is_rejected_and_the_rest_is_kept() {
    for stage in both().await {
        let mut orphan = ginger();
        orphan["source"] = json!("hearsay");
        let records = [
            ginger(),
            source(),
            ginger(),
            edge("E1", "H1", "contains", "C1"),
            gingerol(),
            edge("E1", "H1", "contains", "C1"),
            orphan,
            json!({"record": "node", "id": "H2"}),
            json!({"record": "edge", "id": "E2", "subject": "H1", "predicate": "treats", "object": "C1",
                "source": "herbal", "evidence": [{}]}),
            json!({"record": "node", "id": " H3", "categories": ["herb"], "names": [{"text": "x", "lang": "en"}],
                "source": "herbal"}),
            json!({"record": "node", "id": "H4", "categories": ["herb"], "names": [{"text": "x", "lang": "en"}],
                "source": "herbal", "attributes": {"n": 9_007_199_254_740_993_u64}}),
            json!({"record": "deletion", "kind": "source", "id": "herbal"}),
        ];
        let found = put(&stage, &records).await;
        assert_eq!((&found["kept"], &found["version"]), (&json!(4), &json!(1)), "{found}");
        let rejected: Vec<String> = found["rejected"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| format!("{} {} {}", it["position"], it["id"], it["reason"].as_str().unwrap()))
            .collect();
        let expected = [
            "0 \"H1\" `source`: no source `herbal` is known",
            "3 \"E1\" `object`: no node `C1` is known",
            "6 \"H1\" `source`: no source `hearsay` is known",
            "7 \"H2\" `categories`: expected the field to be there",
            "8 \"E2\" `evidence/0`: expected a `reference` or a `text`",
            "9 \" H3\" `id`: expected text without control characters and outer spaces",
            "10 \"H4\" expected integers up to 2^53; write longer ones as text",
            "11 \"herbal\" a source stays: its licence belongs to what was taken from it",
        ];
        assert_eq!(rejected, expected);
    }
}

#[tokio::test]
async fn what_is_withdrawn_is_gone_and_may_come_back() {
    for stage in both().await {
        put(&stage, &[source(), ginger()]).await;
        let gone = json!({"record": "deletion", "kind": "node", "id": "H1", "source": "herbal"});
        let found = put(&stage, &[gone.clone(), gone.clone()]).await;
        assert_eq!((&found["deleted"], &found["repeated"]), (&json!(1), &json!(1)), "{found}");
        assert_eq!(read(&stage, json!({"kind": "node"})).await["records"], json!([]));
        assert_eq!(put(&stage, &[gone, ginger()]).await["kept"], 1);
        assert_eq!(verify(&stage).await["problems"], json!([]));
    }
}

#[tokio::test]
async fn records_are_read_page_by_page_in_the_same_order_on_both_engines() {
    for stage in both().await {
        let names = json!([{"text": "x", "lang": "en"}]);
        let ids = ["a-2", "B1", "a1", "ก", "Z:9", "a_1"];
        let nodes: Vec<Value> = ids.iter().map(|id| node(id, "herb", names.clone())).collect();
        put(&stage, &[vec![source()], nodes].concat()).await;
        let mut seen = Vec::new();
        let mut cursor = Value::Null;
        loop {
            let mut input = json!({"kind": "node", "limit": 4});
            if !cursor.is_null() {
                input["cursor"] = cursor;
            }
            let page = read(&stage, input).await;
            seen.extend(page["records"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned()));
            cursor = page["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(seen, ["B1", "Z:9", "a-2", "a1", "a_1", "ก"]);
        let elsewhere = stage.call("rival", "read_records", json!({"kind": "node"})).await.result.unwrap().output;
        assert_eq!(elsewhere, json!({"records": [], "version": 0}));
    }
}

#[tokio::test]
async fn a_record_changed_by_hand_is_named() {
    let cases = [
        (
            "UPDATE evidence_records SET body = REPLACE(body, 'ginger', 'poison') WHERE id = 'H1'",
            "node `H1` was changed",
        ),
        ("UPDATE evidence_records SET kind = 'document' WHERE id = 'E1'", "no event tells of document `E1`"),
        ("DELETE FROM evidence_records WHERE id = 'E1'", "edge `E1` was deleted"),
        (
            "INSERT INTO evidence_records SELECT organisation_id, kind, 'H9', sha256, body FROM evidence_records WHERE id = 'H1'",
            "no event tells of node `H9`",
        ),
        ("UPDATE evidence_batches SET manifest = '[]' WHERE batch_number = 2", "evidence_batch `2` was changed"),
        ("DELETE FROM evidence_batches WHERE batch_number = 2", "evidence_batch `2` was deleted"),
    ];
    for (sql, message) in cases {
        for stage in both().await {
            put(&stage, &[source(), ginger(), gingerol()]).await;
            put(&stage, &[edge("E1", "H1", "contains", "C1")]).await;
            let whole = verify(&stage).await;
            assert_eq!((&whole["problems"], &whole["n_objects_checked"]), (&json!([]), &json!(6)), "{whole}");
            tamper(&stage, sql).await;
            let found = verify(&stage).await;
            let told: Vec<&str> =
                found["problems"].as_array().unwrap().iter().filter_map(|it| it["message"].as_str()).collect();
            assert!(told.iter().any(|it| it.starts_with(message)), "{sql}: {told:?}");
        }
    }
}

#[tokio::test]
async fn one_event_vouches_for_a_whole_batch() {
    for stage in both().await {
        put(&stage, &[source(), ginger(), gingerol()]).await;
        put(&stage, &[ginger()]).await;
        let bodies = stage.bodies().await;
        assert_eq!(bodies[0]["objects"].as_array().unwrap().len(), 1);
        assert_eq!(
            (&bodies[0]["objects"][0]["type"], &bodies[0]["objects"][0]["id"]),
            (&json!("evidence_batch"), &json!("1"))
        );
        assert_eq!(bodies[1].get("objects"), None, "a batch that changed nothing leaves nothing");
    }
}

#[tokio::test]
async fn an_edge_of_one_source_is_not_replaced_by_another_source_under_its_id() {
    for stage in both().await {
        let warning = edge("E1", "H1", "contraindicated_in", "C1");
        let book = json!({"record": "source", "id": "book", "title": "Made-up book", "licence": "CC-BY-4.0"});
        put(&stage, &[source(), book.clone(), ginger(), gingerol(), warning.clone()]).await;
        let mut other = edge("E1", "H1", "contains", "C1");
        other["source"] = json!("book");
        let found = put(&stage, &[book, other.clone()]).await;
        assert_eq!((&found["kept"], &found["repeated"]), (&json!(0), &json!(1)), "{found}");
        let reason = "`id`: the edge `E1` is a statement of the source `herbal` and stays as it is; use an id of your own, \
            or say `replace_other_sources`";
        assert_eq!(found["rejected"], json!([{"position": 1, "id": "E1", "reason": reason}]));
        let edges = json!({"kind": "edge", "ids": ["E1"]});
        assert_eq!(read(&stage, edges.clone()).await["records"], json!([warning]));

        // Its own source may repeat it, change it, and withdraw it.
        assert_eq!(put(&stage, std::slice::from_ref(&warning)).await["repeated"], 1);
        let mut stronger = warning.clone();
        stronger["strength"] = json!("high");
        assert_eq!(put(&stage, &[stronger.clone()]).await["changed"], 1);
        // Within one batch it is the same.
        let fresh = edge("E2", "H1", "contains", "C1");
        let mut second = fresh.clone();
        second["source"] = json!("book");
        let found = put(&stage, &[fresh, second.clone()]).await;
        assert_eq!((&found["kept"], found["rejected"].as_array().unwrap().len()), (&json!(1), 1), "{found}");
        let withdrawn = json!({"record": "deletion", "kind": "edge", "id": "E2", "source": "herbal"});
        let found = put(&stage, &[withdrawn, second]).await;
        assert_eq!((&found["kept"], &found["rejected"]), (&json!(1), &json!([])), "what is withdrawn is nobody's");

        let input = json!({"records": [other], "replace_other_sources": true});
        let found = stage.call("curator", "put_records", input).await.result.unwrap().output;
        assert_eq!((&found["changed"], &found["rejected"]), (&json!(1), &json!([])), "{found}");
        assert_eq!(read(&stage, edges).await["records"], json!([other]));
    }
}

#[tokio::test]
async fn nodes_and_documents_of_one_source_are_not_replaced_by_another_source_under_their_id() {
    for stage in both().await {
        let book = json!({"record": "source", "id": "book", "title": "Made-up book", "licence": "CC-BY-4.0"});
        let paper = json!({"record": "document", "id": "PMID:11", "kind": "paper", "title": "On ginger", "text": "Words.",
            "lang": "en", "source": "herbal"});
        put(&stage, &[source(), book, ginger(), paper.clone()]).await;
        for (kind, field, own) in [("node", "description", ginger()), ("document", "text", paper)] {
            let id = own["id"].as_str().unwrap();
            let mut other = own.clone();
            other[field] = json!("It is safe.");
            other["source"] = json!("book");
            let found = put(&stage, std::slice::from_ref(&other)).await;
            let reason = format!(
                "`id`: the {kind} `{id}` is of the source `herbal` and stays as it is; use an id of your own, or say \
                 `replace_other_sources`"
            );
            assert_eq!(found["rejected"], json!([{"position": 0, "id": id, "reason": reason}]));
            let asked = json!({"kind": kind, "ids": [id]});
            assert_eq!(read(&stage, asked.clone()).await["records"], json!([own]));
            // Its own source may repeat and change it.
            assert_eq!(put(&stage, std::slice::from_ref(&own)).await["repeated"], 1);
            let mut changed = own.clone();
            changed[field] = json!("Other words.");
            assert_eq!(put(&stage, &[changed]).await["changed"], 1);
            let input = json!({"records": [other], "replace_other_sources": true});
            let found = stage.call("curator", "put_records", input).await.result.unwrap().output;
            assert_eq!((&found["changed"], &found["rejected"]), (&json!(1), &json!([])), "{found}");
            assert_eq!(read(&stage, asked).await["records"], json!([other]));
        }
    }
}

#[tokio::test]
async fn what_one_source_brought_is_withdrawn_by_that_source_alone() {
    for stage in both().await {
        let book = json!({"record": "source", "id": "book", "title": "Made-up book", "licence": "CC-BY-4.0"});
        let paper = json!({"record": "document", "id": "PMID:11", "kind": "paper", "title": "On ginger", "text": "Words.",
            "lang": "en", "source": "herbal"});
        let warning = edge("E1", "H1", "contraindicated_in", "C1");
        put(&stage, &[source(), book, ginger(), gingerol(), paper.clone(), warning.clone()]).await;
        for (own, what) in [(warning, "is a statement of"), (paper, "is of"), (ginger(), "is of")] {
            let (kind, id) = (own["record"].as_str().unwrap(), own["id"].as_str().unwrap());
            let gone = json!({"record": "deletion", "kind": kind, "id": id});
            let mut gone_by_other = gone.clone();
            gone_by_other["source"] = json!("book");
            let mut other = own.clone();
            other["source"] = json!("book");
            // What goes and comes in one call is not replaced in a roundabout way.
            for hostile in [vec![gone.clone()], vec![gone_by_other.clone()], vec![gone.clone(), other.clone()]] {
                let found = put(&stage, &hostile).await;
                assert_eq!((&found["deleted"], &found["kept"]), (&json!(0), &json!(0)), "{found}");
                let reason = format!(
                    "`source`: the {kind} `{id}` {what} the source `herbal` and stays as it is; who withdraws it names that \
                     source as their own, or says `replace_other_sources`"
                );
                assert_eq!(found["rejected"][0], json!({"position": 0, "id": id, "reason": reason}));
                assert_eq!(found["rejected"].as_array().unwrap().len(), hostile.len(), "{found}");
            }
            let asked = json!({"kind": kind, "ids": [id]});
            assert_eq!(read(&stage, asked.clone()).await["records"], json!([own]));
            // Its own source may, and so may whoever says that they mean it.
            let mut gone_by_own = gone.clone();
            gone_by_own["source"] = json!("herbal");
            assert_eq!(put(&stage, &[gone_by_own]).await["deleted"], 1);
            put(&stage, std::slice::from_ref(&own)).await;
            let input = json!({"records": [gone, other], "replace_other_sources": true});
            let found = stage.call("curator", "put_records", input).await.result.unwrap().output;
            assert_eq!((&found["deleted"], &found["kept"], &found["rejected"]), (&json!(1), &json!(1), &json!([])));
            assert_eq!(read(&stage, asked).await["records"], json!([other]));
        }
        let unknown = json!({"record": "deletion", "kind": "node", "id": "C1", "source": "hearsay"});
        let found = put(&stage, &[unknown]).await;
        assert_eq!(found["rejected"][0]["reason"], "`source`: no source `hearsay` is known");
        assert_eq!(verify(&stage).await["problems"], json!([]));
    }
}

#[tokio::test]
async fn the_terms_of_a_source_change_only_where_somebody_says_so() {
    for stage in both().await {
        put(&stage, &[source(), ginger()]).await;
        assert_eq!(put(&stage, &[source()]).await["repeated"], 1);
        let asked = json!({"kind": "source", "ids": ["herbal"]});
        for (field, value) in [("licence", "public domain"), ("title", "Best herbal"), ("uri", "https://example.org")] {
            let mut other = source();
            other[field] = json!(value);
            let found = put(&stage, &[other.clone(), ginger()]).await;
            let reason = "`id`: the source `herbal` is known with another licence, title or address and stays as it is; use an \
                id of your own, or say `replace_other_sources`";
            assert_eq!(found["rejected"], json!([{"position": 0, "id": "herbal", "reason": reason}]));
            assert_eq!((&found["repeated"], &found["changed"]), (&json!(1), &json!(0)), "{found}");
            assert_eq!(read(&stage, asked.clone()).await["records"], json!([source()]));
        }
        let mut other = source();
        other["licence"] = json!("CC-BY-4.0");
        let input = json!({"records": [other], "replace_other_sources": true});
        let found = stage.call("curator", "put_records", input).await.result.unwrap().output;
        assert_eq!((&found["changed"], &found["rejected"]), (&json!(1), &json!([])), "{found}");
        assert_eq!(read(&stage, asked).await["records"], json!([other]));
        // Of two in one call the first one counts.
        let named = |title: &str| json!({"record": "source", "id": "new", "title": title, "licence": "CC0-1.0"});
        let found = put(&stage, &[named("One"), named("Two")]).await;
        assert_eq!((&found["kept"], found["rejected"].as_array().unwrap().len()), (&json!(1), 1), "{found}");
    }
}
