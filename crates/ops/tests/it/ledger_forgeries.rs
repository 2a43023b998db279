//! Rows that other hands put where nobody might look.

use ops::operations::OPERATIONS;
use serde_json::{Value, json};

use crate::ledger::{both, run_sql, settle, take_ids, tamper, verify};
use crate::script::{Stage, on_sqlite};

fn messages(found: &Value) -> Vec<String> {
    let problems = found["problems"].as_array().unwrap().iter();
    problems.map(|problem| problem["message"].as_str().unwrap().to_owned()).collect()
}

async fn look(stage: &Stage) -> Vec<String> {
    messages(&stage.call("owner", "audit_verify", json!({})).await.result.unwrap().output)
}

#[tokio::test]
async fn an_event_before_the_first_place_is_named() {
    let stage = on_sqlite(OPERATIONS).await;
    take_ids(&stage, 2).await;
    assert_eq!(verify(&stage).await["problems"], json!([]));
    tamper(
        &stage,
        "INSERT INTO events (event_seq, commit_key, call_id, organisation_id, recorded_at_us, actor_id, operation, \
         outcome, body) SELECT -5, commit_key, '01a1e70f-5f60-72f9-b5c9-369912e56d2f', organisation_id, recorded_at_us, \
         'nobody', operation, outcome, body FROM events WHERE operation = 'get_next_available_id' LIMIT 1",
    )
    .await;
    assert_eq!(look(&stage).await, ["the event is not in the log, although later ones are"]);
}

#[tokio::test]
async fn a_row_that_is_nothing_any_more_is_named_and_the_rest_is_checked() {
    for (sql, named) in [
        ("UPDATE artifacts SET n_revisions = -1", "artifact `default/EPIC-006/1` was changed by other hands"),
        ("UPDATE artifacts SET version = -1", "no event tells of artifact `default/EPIC-006/-1`"),
        ("UPDATE tasks SET task_id = 'T 3'", "no event tells of task `T 3`"),
    ] {
        for stage in both().await {
            let epic = testkit::documents::EPIC_006;
            stage.call("owner", "store_artifact", json!({"artifact_content": epic})).await.result.unwrap();
            let review = json!({"artifact_id": "REV-001", "generator": "evidence-review-generator", "inputs": []});
            let queued = json!({"project_id": "default", "tasks": [review]});
            stage.call("owner", "queue_tasks", queued).await.result.unwrap();
            let key = json!({"actor_id": "reader", "roles": ["viewer"]});
            stage.call("owner", "create_key", key).await.result.unwrap();
            assert_eq!(verify(&stage).await["problems"], json!([]));
            tamper(&stage, sql).await;
            tamper(&stage, "UPDATE api_keys SET actor_id = 'writer'").await;
            let found = look(&stage).await;
            assert!(found.iter().any(|message| message == named), "{sql}: {found:?}");
            assert!(found.iter().any(|message| message.starts_with("key `")), "the rest is checked: {found:?}");
        }
    }
}

#[tokio::test]
async fn a_history_that_was_changed_is_named() {
    for sql in [
        "UPDATE artifact_revisions SET status = 'Approved' WHERE revision = 1",
        "UPDATE artifact_revisions SET revision = -1 WHERE revision = 1",
    ] {
        for stage in both().await {
            let epic = testkit::documents::EPIC_006;
            stage.call("owner", "store_artifact", json!({"artifact_content": epic})).await.result.unwrap();
            stage.call("owner", "approve_artifact", json!({"artifact_id": "EPIC-006"})).await.result.unwrap();
            assert_eq!(verify(&stage).await["problems"], json!([]));
            tamper(&stage, sql).await;
            let found = look(&stage).await;
            assert!(
                found.iter().any(|message| message.contains("of default/EPIC-006/1 was changed")),
                "{sql}: {found:?}"
            );
        }
    }
}

#[tokio::test]
async fn nothing_is_done_whose_event_the_database_swallows() {
    let stage = on_sqlite(OPERATIONS).await;
    tamper(
        &stage,
        "CREATE TRIGGER swallow BEFORE INSERT ON events WHEN new.actor_id <> 'nobody' \
         BEGIN SELECT RAISE(IGNORE); END",
    )
    .await;
    let refused = stage.call("owner", "get_next_available_id", json!({"artifact_type": "US"})).await;
    assert!(refused.result.is_err(), "an id was given out that no event tells of");
    run_sql(&stage, &["DROP TRIGGER swallow"]).await;
    let given = stage.call("owner", "get_next_available_id", json!({"artifact_type": "US"})).await.result.unwrap();
    assert_eq!(given.output["next_id"], "US-001");
}

#[tokio::test]
async fn a_sequencer_that_was_moved_on_stops_and_says_so() {
    for stage in both().await {
        take_ids(&stage, 2).await;
        settle(&stage).await;
        tamper(&stage, "UPDATE log_state SET last_event_seq = last_event_seq + 1000").await;
        let stopped = ops::Notary::new(stage.platform.clone()).work().await.unwrap_err();
        let cause = std::error::Error::source(&stopped).unwrap().to_string();
        assert!(cause.contains("it stands at an event that is not there"), "{cause}");
    }
}
