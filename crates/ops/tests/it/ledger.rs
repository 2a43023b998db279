//! The log: events get their place, proofs hold, and what is changed by other hands shows.

use ledger::policy::Policy;
use ledger::proof_file::ProofFile;
use ops::operations::OPERATIONS;
use ops::{Notary, NotaryError};
use serde_json::{Value, json};
use store::{Applied, Apply, Keep};

use crate::script::{Stage, keyring, on_postgres, on_sqlite};

pub async fn both() -> [Stage; 2] {
    [on_sqlite(OPERATIONS).await, on_postgres(OPERATIONS).await]
}

pub async fn take_ids(stage: &Stage, n: usize) {
    for _ in 0..n {
        stage.call("owner", "get_next_available_id", json!({"artifact_type": "US"})).await.result.unwrap();
    }
}

/// Gives all events their places and signs them.
pub async fn settle(stage: &Stage) {
    place_all(stage, async |notary| notary.finish().await.map(drop)).await;
}

/// Gives all events their places, and signs only what is due.
pub async fn place(stage: &Stage) {
    place_all(stage, async |notary| notary.work().await.map(drop)).await;
}

/// On PostgreSQL an event is settled when no older transaction of the whole server is running, and other tests run some.
async fn place_all(stage: &Stage, work: impl AsyncFn(&Notary) -> Result<(), NotaryError>) {
    // Events of reads are written a moment after the answer.
    stage.platform.flush().await;
    let notary = Notary::new(stage.platform.clone());
    for _ in 0..200 {
        work(&notary).await.unwrap();
        let mut reader = stage.store.read().await.unwrap();
        if store::log::count_waiting(&mut reader).await.unwrap() == 0 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("events wait for more than ten seconds");
}

pub async fn verify(stage: &Stage) -> Value {
    settle(stage).await;
    stage.call("owner", "audit_verify", json!({})).await.result.unwrap().output
}

/// What is wrong with the record as it is, beside what was found once and nobody has accepted.
pub fn wrong_now(found: &Value) -> Vec<&Value> {
    found["problems"].as_array().unwrap().iter().filter(|problem| problem["kind"] != "doubt").collect()
}

/// As `tamper`, however many rows it changes.
pub async fn run_sql(stage: &Stage, statements: &'static [&'static str]) {
    let apply: Apply<()> = Box::new(move |tx| {
        Box::pin(async move {
            for sql in statements {
                tx.execute(sql, &[]).await?;
            }
            Ok(Applied { value: (), event: None, keep: Keep::Changes })
        })
    });
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    stage.store.write(None, deadline, apply).await.unwrap();
}

/// What somebody with the database in hand would do.
pub async fn tamper(stage: &Stage, sql: &'static str) {
    let apply: Apply<()> = Box::new(move |tx| {
        Box::pin(async move {
            assert_eq!(tx.execute(sql, &[]).await?, 1, "{sql}");
            Ok(Applied { value: (), event: None, keep: Keep::Changes })
        })
    });
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    stage.store.write(None, deadline, apply).await.unwrap();
}

#[tokio::test]
async fn every_event_gets_a_place_and_the_log_is_whole() {
    for stage in both().await {
        take_ids(&stage, 5).await;
        let reserved = stage.call("owner", "reserve_id_range", json!({"artifact_type": "HLS", "count": 3})).await;
        let reservation_id = reserved.result.unwrap().output["reservation_id"].clone();
        stage.call("owner", "confirm_reservation", json!({"reservation_id": reservation_id})).await.result.unwrap();
        let found = verify(&stage).await;
        assert_eq!(found["problems"], json!([]), "{found}");
        assert_eq!((&found["ok"], &found["n_objects_checked"]), (&json!(true), &json!(3)));
        assert_eq!(found["tree_size"], 7, "{found}");
    }
}

#[tokio::test]
async fn a_proof_convinces_somebody_who_has_only_the_key() {
    for stage in both().await {
        take_ids(&stage, 40).await;
        let reply = stage.call("owner", "get_next_available_id", json!({"artifact_type": "US"})).await;
        take_ids(&stage, 3).await;
        settle(&stage).await;
        let proof = stage.call("owner", "audit_prove", json!({"call_id": reply.call_id})).await.result.unwrap().output;
        let text = |name: &str| proof[name].as_str().unwrap().to_owned();
        let policy = Policy::new(keyring().verifiers(), Vec::new(), 0).unwrap();
        let file = ProofFile::parse(text("proof").as_bytes()).unwrap();
        assert!(file.verify(text("event_json").as_bytes(), &policy).is_ok());
        assert!(file.verify(text("event_json").replace("ok", "no").as_bytes(), &policy).is_err());
        assert_eq!(proof["leaf_index"], 40);
    }
}

#[tokio::test]
async fn a_row_changed_by_hand_is_named() {
    for stage in both().await {
        take_ids(&stage, 3).await;
        assert_eq!(verify(&stage).await["ok"], true);
        tamper(&stage, "UPDATE id_registry SET last_assigned_id = 99 WHERE artifact_type = 'US'").await;
        let found = verify(&stage).await;
        assert_eq!(found["problems"][0]["message"], "counter `US/default` was changed by other hands", "{found}");
        tamper(&stage, "DELETE FROM id_registry WHERE artifact_type = 'US'").await;
        let found = verify(&stage).await;
        assert_eq!(found["problems"][0]["message"], "counter `US/default` was deleted by other hands", "{found}");
    }
}

#[tokio::test]
async fn a_repeated_call_says_nothing_of_the_rows_and_hides_no_change() {
    for stage in both().await {
        let input = json!({"artifact_type": "US"});
        stage.call_with_key("owner", "get_next_available_id", input.clone(), "again").await.result.unwrap();
        take_ids(&stage, 3).await;
        stage.call_with_key("owner", "get_next_available_id", input.clone(), "again").await.result.unwrap();
        assert_eq!(verify(&stage).await["problems"], json!([]));
        // The counter as the first call left it, and that call once more.
        tamper(&stage, "UPDATE id_registry SET last_assigned_id = 1 WHERE artifact_type = 'US'").await;
        stage.call_with_key("owner", "get_next_available_id", input, "again").await.result.unwrap();
        let found = verify(&stage).await;
        assert_eq!(found["problems"][0]["message"], "counter `US/default` was changed by other hands", "{found}");
    }
}

#[tokio::test]
async fn an_api_key_changed_by_hand_is_named() {
    for stage in both().await {
        let input = json!({"actor_id": "reader", "roles": ["viewer"]});
        let made = stage.call("owner", "create_key", input).await.result.unwrap().output;
        let key_id = made["key_id"].as_str().unwrap();
        stage.call("owner", "revoke_key", json!({"key_id": key_id})).await.result.unwrap();
        assert_eq!(verify(&stage).await["ok"], true);
        for sql in [
            "UPDATE api_keys SET revoked_at_us = NULL",
            "UPDATE api_keys SET revoked_at_us = 1, roles = REPLACE(roles, 'viewer', 'admin')",
        ] {
            tamper(&stage, sql).await;
            let found = verify(&stage).await;
            let message = format!("key `{key_id}` was changed by other hands");
            assert_eq!(found["problems"][0]["message"], message, "{found}");
        }
    }
}

#[tokio::test]
async fn an_event_changed_by_hand_is_named_by_its_leaf() {
    let cases: [(&str, &str); 5] = [
        (
            "UPDATE events SET body = REPLACE(body, '\"ok\"', '\"no\"') WHERE call_id = (SELECT call_id FROM log_leaves WHERE leaf_index = 1)",
            "leaf",
        ),
        (
            "UPDATE events SET actor_id = 'somebody' WHERE call_id = (SELECT call_id FROM log_leaves WHERE leaf_index = 1)",
            "column",
        ),
        ("DELETE FROM events WHERE call_id = (SELECT call_id FROM log_leaves WHERE leaf_index = 1)", "leaf"),
        ("DELETE FROM log_leaves WHERE leaf_index = 1", "order"),
        (
            "UPDATE log_checkpoints SET note = REPLACE(note, 'materia', 'mareria') WHERE tree_size = (SELECT MAX(tree_size) FROM log_checkpoints)",
            "checkpoint",
        ),
    ];
    for (sql, kind) in cases {
        for stage in both().await {
            take_ids(&stage, 3).await;
            assert_eq!(verify(&stage).await["ok"], true);
            tamper(&stage, sql).await;
            let found = stage.call("owner", "audit_verify", json!({})).await.result.unwrap().output;
            let kinds: Vec<&str> =
                found["problems"].as_array().unwrap().iter().filter_map(|p| p["kind"].as_str()).collect();
            assert!(kinds.contains(&kind), "{sql}: {found}");
        }
    }
}

#[tokio::test]
async fn a_search_finds_by_any_correlation_id_and_pages() {
    for stage in both().await {
        for task in ["job-1", "job-2", "job-1"] {
            let input = json!({"artifact_type": "US", "task_id": task});
            stage.call("owner", "get_next_available_id", input).await.result.unwrap();
        }
        let search = async |input: Value| stage.call("owner", "audit_search", input).await.result.unwrap().output;
        let found = search(json!({"correlation_id": "job-1"})).await;
        assert_eq!(found["events"].as_array().unwrap().len(), 2, "{found}");
        assert_eq!(search(json!({"actor_id": "nobody"})).await["events"], json!([]));
        let page = search(json!({"operation": "get_next_available_id", "limit": 2})).await;
        assert_eq!(page["events"].as_array().unwrap().len(), 2);
        let next = json!({"operation": "get_next_available_id", "limit": 2, "cursor": page["next_cursor"]});
        assert_eq!(search(next).await["events"].as_array().unwrap().len(), 1);
        let rival = stage.call("rival", "audit_search", json!({})).await.result.unwrap().output;
        assert_eq!(rival["events"], json!([]), "another organisation's events");
    }
}

#[tokio::test]
async fn an_export_can_be_verified_and_hides_what_is_not_ours() {
    let stage = on_sqlite(OPERATIONS).await;
    take_ids(&stage, 2).await;
    stage.call("rival", "get_next_available_id", json!({"artifact_type": "US"})).await.result.unwrap();
    settle(&stage).await;
    let exported = stage.call("owner", "audit_export", json!({"format": "ndjson"})).await.result.unwrap().output;
    let lines: Vec<Value> = exported["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| serde_json::from_str(line.as_str().unwrap()).unwrap())
        .collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0]["event"].is_string() && lines[2].get("event").is_none() && lines[2]["leaf_hash"].is_string());
    let fhir = stage.call("owner", "audit_export", json!({"format": "fhir"})).await.result.unwrap().output;
    let first: Value = serde_json::from_str(fhir["lines"][0].as_str().unwrap()).unwrap();
    assert_eq!((&first["resourceType"], &first["outcome"]), (&json!("AuditEvent"), &json!("0")));
    assert_eq!(fhir["lines"].as_array().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_sequencers_on_one_database_give_every_event_one_place() {
    let first = on_postgres(OPERATIONS).await;
    let second = first.again().await;
    let (one, two) = (Notary::new(first.platform.clone()), Notary::new(second.platform.clone()));
    let calls = async {
        for _ in 0..30 {
            take_ids(&first, 1).await;
            take_ids(&second, 1).await;
        }
    };
    let sequencing = async |notary: &Notary| {
        for _ in 0..60 {
            notary.work().await.unwrap();
        }
    };
    tokio::join!(calls, sequencing(&one), sequencing(&two));
    let found = verify(&first).await;
    assert_eq!((&found["problems"], &found["tree_size"]), (&json!([]), &json!(60)), "{found}");
}
