//! What somebody with the database in hand may try, under a running server.

use contract::error::Kind;
use ops::operations::OPERATIONS;
use ops::{LogStanding, Notary, NotaryError};
use serde_json::{Value, json};
use store::Engine;
use store::log::StoredCheckpoint;

use crate::ledger::{both, place, run_sql, settle, take_ids, tamper, verify, wrong_now};
use crate::script::{Stage, actor, on_postgres, on_sqlite};

async fn look(stage: &Stage) -> Value {
    stage.call("owner", "audit_verify", json!({})).await.result.unwrap().output
}

async fn take_id(stage: &Stage) -> String {
    stage.call("owner", "get_next_available_id", json!({"artifact_type": "US"})).await.call_id.to_string()
}

fn later(stage: &Stage, seconds: i64) {
    stage.clock.set_us(stage.clock.now_us() + seconds * 1_000_000);
}

fn first<'f>(found: &'f Value, kind: &str) -> &'f Value {
    let problems = found["problems"].as_array().unwrap();
    problems.iter().find(|problem| problem["kind"] == kind).unwrap_or_else(|| panic!("no `{kind}` in {found}"))
}

#[tokio::test]
async fn events_that_have_their_places_cannot_be_taken_out_before_they_are_signed() {
    for stage in both().await {
        take_ids(&stage, 3).await;
        settle(&stage).await;
        run_sql(&stage, &["CREATE TABLE older_state AS SELECT * FROM log_state"]).await;
        take_ids(&stage, 2).await;
        place(&stage).await;
        assert_eq!(stage.platform.log_standing(), LogStanding::Fine);
        run_sql(
            &stage,
            &[
                "DELETE FROM events WHERE call_id IN (SELECT call_id FROM log_leaves WHERE leaf_index > 2)",
                "DELETE FROM log_leaves WHERE leaf_index > 2",
                "DELETE FROM log_state",
                "INSERT INTO log_state SELECT * FROM older_state",
            ],
        )
        .await;
        let found = Notary::new(stage.platform.clone()).work().await.unwrap_err().to_string();
        assert!(found.contains("the log had 5 events under this process and has 3 now"), "{found}");
        assert!(matches!(stage.platform.log_standing(), LogStanding::Contradicted { .. }));
    }
}

#[tokio::test]
async fn a_rollback_that_was_put_right_is_told_of_until_somebody_accepts_it() {
    for stage in both().await {
        take_ids(&stage, 3).await;
        settle(&stage).await;
        run_sql(&stage, &["CREATE TABLE older_state AS SELECT * FROM log_state"]).await;
        take_ids(&stage, 2).await;
        settle(&stage).await;
        run_sql(
            &stage,
            &[
                "CREATE TABLE newer_state AS SELECT * FROM log_state",
                "DELETE FROM log_state",
                "INSERT INTO log_state SELECT * FROM older_state",
            ],
        )
        .await;
        let notary = Notary::new(stage.platform.clone());
        notary.work().await.unwrap_err();
        assert_eq!(stage.platform.log_standing().word(), "contradicted");
        run_sql(&stage, &["DELETE FROM log_state", "INSERT INTO log_state SELECT * FROM newer_state"]).await;
        // A process that ends before it can say so leaves word beside the database.
        let next = stage.again().await;
        assert_eq!(next.platform.log_standing().word(), "doubted");
        for house in [&stage, &next] {
            Notary::new(house.platform.clone()).work().await.unwrap();
            assert_eq!(house.platform.log_standing().word(), "doubted");
            let found = verify(house).await;
            let message = first(&found, "doubt")["message"].as_str().unwrap().to_owned();
            assert!(message.starts_with("the last checkpoint that was signed here is over 5 events"), "{message}");
        }
        assert!(next.platform.has_doubts().await.unwrap());
        assert!(!stage.files.path().join("ledger.doubts").exists(), "the log tells of it");
    }
}

async fn accept(stage: &Stage) {
    let accepted = ops::acceptance::Acceptance {
        call_id: uuid::Uuid::now_v7().to_string(),
        accepted_at_us: stage.clock.now_us(),
        code: "DOUBTS".to_owned(),
        kept_size: None,
        found_size: None,
        checkpoint_sha256: None,
    };
    stage.platform.record_acceptance(&actor("owner"), &accepted).await.unwrap();
}

#[tokio::test]
async fn what_a_verification_found_is_told_once_of_each_kind_until_somebody_accepts_it() {
    for stage in both().await {
        take_ids(&stage, 4).await;
        settle(&stage).await;
        let change: &[&str] = &["UPDATE events SET outcome = 'no' WHERE call_id IN \
                                 (SELECT call_id FROM log_leaves WHERE leaf_index IN (1, 2))"];
        let put_back: &[&str] = &["UPDATE events SET outcome = 'ok' WHERE outcome = 'no'"];
        run_sql(&stage, change).await;
        // Who sees a part of the log says nothing for all.
        let elsewhere = stage.call("rival", "audit_verify", json!({})).await.result.unwrap().output;
        assert_eq!(elsewhere["ok"], false, "{elsewhere}");
        settle(&stage).await;
        assert!(!stage.platform.has_doubts().await.unwrap());
        for _ in 0..2 {
            assert_eq!(first(&verify(&stage).await, "column")["leaf_index"], 1);
        }
        run_sql(&stage, put_back).await;
        assert_eq!(stage.platform.log_standing().word(), "doubted");
        // Another process of the house finds no more than the log tells.
        let next = stage.again().await;
        next.platform.recall_doubt().await;
        assert_eq!(next.platform.log_standing().word(), "doubted");
        let found = verify(&next).await;
        let message = first(&found, "doubt")["message"].as_str().unwrap();
        assert!(message.starts_with("`audit verify` found 2 problems of the kind `column`, the first: leaf 1, call "));
        assert_eq!(found["n_problems"], 1, "{found}");
        let elsewhere = next.call("rival", "audit_verify", json!({})).await.result.unwrap().output;
        let message = first(&elsewhere, "doubt")["message"].as_str().unwrap();
        assert!(message.starts_with("`audit verify` found 2 problems of the kind `column` (found at "), "{message}");
        accept(&next).await;
        assert_eq!(verify(&next).await["problems"], json!([]));
        run_sql(&next, change).await;
        verify(&next).await;
        run_sql(&next, put_back).await;
        assert_eq!(verify(&next).await["n_problems"], 1, "what is found after the acceptance is news");
    }
}

#[tokio::test]
async fn only_the_leaves_that_are_missing_are_named() {
    for stage in both().await {
        take_ids(&stage, 8).await;
        settle(&stage).await;
        run_sql(&stage, &["DELETE FROM log_leaves WHERE leaf_index IN (2, 4, 5)"]).await;
        let found = look(&stage).await;
        let missing = found["problems"].as_array().unwrap().iter().filter(|problem| problem["kind"] == "order");
        let missing: Vec<&str> = missing.filter_map(|problem| problem["message"].as_str()).collect();
        assert_eq!(missing[..2], ["leaf 2 is missing", "leaves 4 to 5 are missing"], "{found}");
        let not_placed = "the event is not in the log, although later ones are";
        assert!(missing.len() == 5 && missing[2..].iter().all(|message| *message == not_placed), "{found}");
        assert_eq!((&found["n_events_checked"], &found["tree_size"]), (&json!(5), &json!(8)));
    }
}

#[tokio::test]
async fn events_that_changed_places_are_named() {
    for stage in both().await {
        take_ids(&stage, 5).await;
        settle(&stage).await;
        run_sql(
            &stage,
            match stage.store.engine() {
                Engine::Sqlite => &[
                    "UPDATE events SET event_seq = -7 WHERE event_seq = 2",
                    "UPDATE events SET event_seq = 2 WHERE event_seq = 3",
                    "UPDATE events SET event_seq = 3 WHERE event_seq = -7",
                ],
                Engine::Postgres => &["UPDATE events SET commit_key = commit_key + 1000000 WHERE call_id = \
                                   (SELECT call_id FROM log_leaves WHERE leaf_index = 1)"],
            },
        )
        .await;
        let found = look(&stage).await;
        let told = first(&found, "order");
        let message = "this event or the one before it has another place in `events` than in the log";
        assert_eq!((&told["leaf_index"], &told["message"]), (&json!(2), &json!(message)), "{found}");
    }
}

#[tokio::test]
async fn a_tree_that_its_own_leaves_do_not_make_is_never_signed() {
    for stage in both().await {
        take_ids(&stage, 3).await;
        settle(&stage).await;
        let mut reader = stage.store.read().await.unwrap();
        let mut frontier = store::log::read_state(&mut reader).await.unwrap().frontier.to_bytes();
        drop(reader);
        frontier[20] ^= 1;
        let apply: store::Apply<()> = Box::new(move |tx| {
            let frontier = frontier.clone();
            Box::pin(async move {
                tx.execute("UPDATE log_state SET frontier = $1", &[store::Param::Bytes(&frontier)]).await?;
                Ok(store::Applied { value: (), event: None, keep: store::Keep::Changes })
            })
        });
        let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(30);
        stage.store.write(None, deadline, apply).await.unwrap();
        let other = stage.again().await;
        take_ids(&other, 1).await;
        let notary = Notary::new(other.platform.clone());
        let found = notary.finish().await.unwrap_err().to_string();
        assert!(found.contains("`log_state` holds another tree than the events of the log make"), "{found}");
    }
}

#[tokio::test]
async fn a_log_that_was_rolled_back_under_the_server_is_not_signed_again() {
    for stage in both().await {
        take_ids(&stage, 3).await;
        settle(&stage).await;
        run_sql(
            &stage,
            &[
                "CREATE TABLE older_state AS SELECT * FROM log_state",
                "CREATE TABLE older_ids AS SELECT * FROM id_registry",
            ],
        )
        .await;
        take_ids(&stage, 2).await;
        settle(&stage).await;
        assert_eq!(stage.platform.log_standing(), LogStanding::Fine);
        run_sql(
            &stage,
            &[
                "DELETE FROM events WHERE call_id IN (SELECT call_id FROM log_leaves WHERE leaf_index > 2)",
                "DELETE FROM log_leaves WHERE leaf_index > 2",
                "DELETE FROM log_checkpoints WHERE tree_size > 3",
                "DELETE FROM log_state",
                "INSERT INTO log_state SELECT * FROM older_state",
                "DELETE FROM id_registry",
                "INSERT INTO id_registry SELECT * FROM older_ids",
            ],
        )
        .await;
        let notary = Notary::new(stage.platform.clone());
        let shorter = notary.work().await.unwrap_err().to_string();
        assert!(shorter.ends_with("is over 5 events, but the log has 3"), "{shorter}");
        let refused = stage.call("owner", "get_next_available_id", json!({"artifact_type": "US"})).await;
        assert!(refused.result.unwrap_err().message.starts_with("nothing is written: "), "a lost id would come again");
        // Another process has not looked yet, and gives its events places: this one writes nothing over a lost history.
        let other = stage.again().await;
        take_ids(&other, 4).await;
        let forked = loop {
            Notary::new(other.platform.clone()).catch_up().await.unwrap();
            match notary.finish().await {
                Err(NotaryError::Contradicted(reason)) if reason.contains("not the first 5") => break reason,
                Err(NotaryError::Contradicted(_)) => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
                other => panic!("a second history was signed: {other:?}"),
            }
        };
        assert_eq!(stage.platform.log_standing(), LogStanding::Contradicted { reason: forked.clone() });
        let found = look(&stage).await;
        assert_eq!((&found["ok"], &first(&found, "checkpoint")["message"]), (&json!(false), &json!(forked)), "{found}");
        let refused = stage.call("owner", "audit_checkpoint", json!({})).await.result.unwrap_err();
        // Nothing is signed; where not even the event of a refusal is taken, nothing is written.
        assert!(refused.message.starts_with("nothing is "), "{}", refused.message);
    }
}

#[tokio::test]
async fn verify_compares_with_the_checkpoint_beside_the_database() {
    for stage in both().await {
        take_ids(&stage, 2).await;
        settle(&stage).await;
        let longer = on_sqlite(OPERATIONS).await;
        take_ids(&longer, 9).await;
        settle(&longer).await;
        let signed = Notary::new(longer.platform.clone()).latest().await.unwrap().unwrap();
        std::fs::write(stage.files.path().join("ledger.checkpoint"), signed.note).unwrap();
        let found = look(&stage).await;
        let message = first(&found, "checkpoint")["message"].as_str().unwrap().to_owned();
        assert!(message.starts_with("the checkpoint kept beside the database is over "), "{message}");
        take_ids(&stage, 1).await;
        // The event has its place once no older transaction runs; there is something to sign only then.
        let notary = Notary::new(stage.platform.clone());
        loop {
            match notary.finish().await {
                Ok(None) => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
                Err(NotaryError::Contradicted(_)) => break,
                other => panic!("a second history was signed: {other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn an_event_that_the_sequencer_was_led_past_is_named() {
    for stage in both().await {
        take_ids(&stage, 3).await;
        settle(&stage).await;
        match stage.store.engine() {
            Engine::Sqlite => tamper(&stage, "UPDATE log_state SET last_event_seq = last_event_seq + 1").await,
            Engine::Postgres => {
                tamper(&stage, "UPDATE log_state SET last_commit_key = last_commit_key + 1000000").await
            }
        }
        let call_id = take_id(&stage).await;
        take_ids(&stage, 1).await;
        let notary = Notary::new(stage.platform.clone());
        notary.finish().await.unwrap_err();
        let found = look(&stage).await;
        let problem = first(&found, "order");
        assert_eq!(problem["call_id"], call_id.as_str(), "{found}");
        assert_eq!(problem["message"], "the event is not in the log, although later ones are");
        // The owner sees it too, without anybody asking.
        later(&stage, 70);
        notary.look_for_waiting().await.unwrap();
        later(&stage, 6);
        notary.look_for_waiting().await.unwrap();
        let standing = stage.platform.log_standing();
        let reason = format!("the event of call {call_id} has waited 76 s for its place");
        assert_eq!(standing, LogStanding::Stalled { reason });
    }
}

#[tokio::test]
async fn a_sequencer_that_was_set_ahead_shows_before_any_event_comes() {
    let cases = [
        "UPDATE log_state SET last_event_seq = last_event_seq + 1000000",
        "UPDATE log_state SET last_commit_key = last_commit_key + 1000000",
        "UPDATE log_state SET last_event_seq = last_event_seq - 1",
    ];
    for sql in cases {
        for stage in both().await {
            take_ids(&stage, 3).await;
            settle(&stage).await;
            assert_eq!(look(&stage).await["problems"], json!([]));
            settle(&stage).await;
            tamper(&stage, sql).await;
            let found = look(&stage).await;
            let message = first(&found, "table")["message"].as_str().unwrap();
            assert!(message.starts_with("`log_state` names another event as the last one"), "{sql}: {found}");
        }
    }
}

#[tokio::test]
async fn a_sequencer_that_was_frozen_shows() {
    for stage in both().await {
        take_ids(&stage, 3).await;
        settle(&stage).await;
        let is_sqlite = stage.store.engine() == Engine::Sqlite;
        if is_sqlite {
            run_sql(&stage, &["UPDATE events SET event_seq = event_seq + 100000"]).await;
        } else {
            run_sql(&stage, &["UPDATE events SET commit_key = commit_key + 1000000"]).await;
        }
        let call_id = take_id(&stage).await;
        let notary = Notary::new(stage.platform.clone());
        let worked = notary.work().await;
        let found = look(&stage).await;
        assert!(
            first(&found, "order")["message"].as_str().unwrap().starts_with("3 events of the log stand"),
            "{found}"
        );
        if is_sqlite {
            assert!(worked.is_err());
            later(&stage, 90);
            assert!(matches!(stage.platform.log_standing(), LogStanding::Stalled { .. }));
            let found = look(&stage).await;
            let problems = found["problems"].as_array().unwrap();
            let late = problems.iter().find(|problem| problem["call_id"] == call_id.as_str()).unwrap();
            // How long the call itself took is not counted.
            let message = late["message"].as_str().unwrap();
            assert!(message.starts_with("the event is not in the log, ") && message.ends_with(" s after its call"));
        }
    }
}

#[tokio::test]
async fn a_row_changed_by_hand_still_shows_after_the_next_write() {
    for stage in both().await {
        take_ids(&stage, 3).await;
        let queued = json!({"project_id": "default", "tasks": [{"artifact_id": "REV-001", "generator": "evidence-review-generator", "inputs": []}]});
        stage.call("owner", "queue_tasks", queued).await.result.unwrap();
        let key = stage.call("owner", "create_key", json!({"actor_id": "reader", "roles": ["viewer"]})).await;
        let key_id = key.result.unwrap().output["key_id"].as_str().unwrap().to_owned();
        let reserved = stage.call("owner", "reserve_id_range", json!({"artifact_type": "HLS", "count": 3})).await;
        let reservation_id = reserved.result.unwrap().output["reservation_id"].clone();
        assert_eq!(verify(&stage).await["problems"], json!([]));
        run_sql(
            &stage,
            &[
                "UPDATE id_registry SET last_assigned_id = 99 WHERE artifact_type = 'US'",
                "UPDATE tasks SET description = 'other'",
                "UPDATE api_keys SET roles = REPLACE(roles, 'viewer', 'admin')",
                "UPDATE id_reservations SET reserved_ids = REPLACE(reserved_ids, 'HLS-001', 'HLS-777')",
            ],
        )
        .await;
        let calls = [
            ("get_next_available_id", json!({"artifact_type": "US"}), "counter `US/default`".to_owned()),
            ("get_next_task", json!({"project_id": "default", "claim": true}), "task `TASK-001`".to_owned()),
            ("revoke_key", json!({"key_id": key_id}), format!("key `{key_id}`")),
            ("confirm_reservation", json!({"reservation_id": reservation_id}), format!("reservation {reservation_id}")),
        ];
        let mut expected = Vec::new();
        for (operation, input, what) in calls {
            let reply = stage.call("owner", operation, input).await;
            reply.result.unwrap();
            let what = what.replace('"', "`");
            let message = format!("{what}: the call found it changed by other hands");
            expected.push((reply.call_id.to_string(), message));
        }
        let found = verify(&stage).await;
        let told = found["problems"].as_array().unwrap().iter().map(|problem| {
            (problem["call_id"].as_str().unwrap().to_owned(), problem["message"].as_str().unwrap().to_owned())
        });
        assert_eq!(told.collect::<Vec<_>>(), expected, "{found}");
    }
}

#[tokio::test]
async fn a_counter_that_was_deleted_and_began_anew_shows() {
    for stage in both().await {
        take_ids(&stage, 3).await;
        tamper(&stage, "DELETE FROM id_registry").await;
        take_ids(&stage, 2).await;
        let found = verify(&stage).await;
        let message = "counter `US/default`: the call made it anew: it was deleted by other hands";
        assert_eq!((&found["n_problems"], &found["problems"][0]["message"]), (&json!(1), &json!(message)), "{found}");
    }
}

#[tokio::test]
async fn ids_of_another_organisation_are_for_the_house_alone() {
    for stage in both().await {
        take_ids(&stage, 1).await;
        stage.call("rival", "get_next_available_id", json!({"artifact_type": "HLS"})).await.result.unwrap();
        settle(&stage).await;
        run_sql(&stage, &["UPDATE id_registry SET last_assigned_id = 99", "UPDATE events SET actor_id = 'nobody'"])
            .await;
        let rival = stage.call("rival", "audit_verify", json!({})).await.result.unwrap().output;
        assert_eq!(
            (&rival["ok"], &rival["n_problems"], &rival["n_problems_elsewhere"]),
            (&json!(false), &json!(4), &json!(2))
        );
        let shown = rival["problems"].to_string();
        assert!(
            shown.contains("HLS/default") && !shown.contains("US/default") && !shown.contains("\"here\""),
            "{shown}"
        );
        let house = look(&stage).await;
        assert_eq!(house.get("n_problems_elsewhere"), None);
        let shown = house["problems"].to_string();
        assert!(
            shown.contains("counter `HLS/default` was changed by other hands (organisation `elsewhere`)"),
            "{shown}"
        );
        assert!(shown.contains("counter `US/default` was changed by other hands\""), "{shown}");
    }
}

#[tokio::test]
async fn a_list_of_problems_that_is_cut_says_how_many_there_are() {
    for stage in both().await {
        take_ids(&stage, 103).await;
        settle(&stage).await;
        run_sql(&stage, &["UPDATE events SET actor_id = 'nobody'"]).await;
        let found = look(&stage).await;
        assert_eq!((found["problems"].as_array().unwrap().len(), &found["n_problems"]), (100, &json!(103)));
    }
}

#[tokio::test]
async fn a_witness_that_knows_of_another_history_is_named() {
    let stage = on_sqlite(OPERATIONS).await;
    take_ids(&stage, 1).await;
    stage.platform.watch().note_witness("w1", Some("cosigned another history".to_owned()));
    let found = verify(&stage).await;
    assert_eq!(
        (&found["ok"], &first(&found, "witness")["message"]),
        (&json!(false), &json!("the witness `w1` cosigned another history"))
    );
    // A number that is given out over a lost history may have been given out before.
    let take = async || stage.call("owner", "get_next_available_id", json!({"artifact_type": "hls"})).await.result;
    let refused = take().await.unwrap_err();
    assert!(refused.kind == Kind::Conflict && refused.to_string().contains("materia recover"), "{refused}");
    stage.platform.watch().accept_loss(true);
    assert!(take().await.is_ok(), "whoever keeps the house has said that the loss is meant");
    stage.platform.watch().accept_loss(false);
    stage.platform.watch().note_witness("w1", None);
    assert!(take().await.is_ok());
    assert_eq!(verify(&stage).await["ok"], true);
}

#[tokio::test]
async fn damaged_tables_of_the_log_are_named() {
    for stage in both().await {
        take_ids(&stage, 257).await;
        assert_eq!(verify(&stage).await["problems"], json!([]));
        run_sql(&stage, &["DELETE FROM log_nodes"]).await;
        let found = look(&stage).await;
        let message = "the hash of subtree 0 of level 8 in `log_nodes` is gone or changed";
        assert_eq!(found["problems"][0]["message"], message, "{found}");
        run_sql(&stage, &["UPDATE log_state SET frontier = ''"]).await;
        let found = look(&stage).await;
        let problem = first(&found, "table");
        assert!(
            problem["message"].as_str().unwrap().starts_with("the table `log_state` of the log is damaged"),
            "{found}"
        );
    }
}

#[tokio::test]
async fn the_inputs_that_are_searched_are_compared_with_the_tasks() {
    let kinds = [
        "UPDATE task_inputs SET artifact_id = 'PRD-999'",
        "UPDATE task_inputs SET classification = 'recommended'",
        "DELETE FROM task_inputs",
        "UPDATE tasks SET has_mandatory_input = NOT has_mandatory_input",
        "INSERT INTO task_inputs VALUES ('here', 'TASK-999', 0, 'PRD-006', 'conditional')",
    ];
    for sql in kinds {
        for stage in both().await {
            let prd = json!({"name": "prd", "artifact_id": "PRD-006", "classification": "mandatory",
                "status": "Approved", "resource_uri": "mcp://resources/artifacts/prds/PRD-006_v3.md"});
            let story = json!({"artifact_id": "HLS-001", "generator": "hls-generator", "inputs": [prd]});
            let queued = json!({"project_id": "default", "tasks": [story]});
            stage.call("owner", "queue_tasks", queued).await.result.unwrap();
            assert_eq!(verify(&stage).await["problems"], json!([]));
            tamper(&stage, sql).await;
            let found = look(&stage).await;
            assert!(found.to_string().contains("the searched inputs of TASK-"), "{sql}: {found}");
        }
    }
}

#[tokio::test]
async fn values_that_say_the_same_in_another_form_are_named() {
    for stage in both().await {
        let prd = json!({"name": "prd", "artifact_id": "PRD-006", "classification": "mandatory", "status": "Approved",
            "resource_uri": "mcp://resources/artifacts/prds/PRD-006_v3.md"});
        let story = json!({"artifact_id": "HLS-001", "generator": "hls-generator", "inputs": [prd]});
        stage.call("owner", "queue_tasks", json!({"project_id": "default", "tasks": [story]})).await.result.unwrap();
        let range = json!({"artifact_type": "US", "count": 2});
        let reserved = stage.call("owner", "reserve_id_range", range).await.result.unwrap().output;
        let reservation = json!({"reservation_id": reserved["reservation_id"]});
        stage.call("owner", "confirm_reservation", reservation).await.result.unwrap();
        let key = json!({"actor_id": "reader", "roles": ["viewer"]});
        stage.call("owner", "create_key", key).await.result.unwrap();
        assert_eq!(verify(&stage).await["problems"], json!([]));
        let on_both = [
            ("UPDATE task_inputs SET position = position + 1", "UPDATE task_inputs SET position = position - 1"),
            ("UPDATE api_keys SET roles = roles || ' '", "UPDATE api_keys SET roles = TRIM(roles)"),
        ];
        let on_sqlite = [
            ("UPDATE tasks SET inputs_json = inputs_json || ' '", "UPDATE tasks SET inputs_json = TRIM(inputs_json)"),
            ("UPDATE id_reservations SET confirmed = 2", "UPDATE id_reservations SET confirmed = 1"),
        ];
        let is_sqlite = stage.store.engine() == Engine::Sqlite;
        for (change, back) in on_both.into_iter().chain(on_sqlite.into_iter().filter(|_| is_sqlite)) {
            tamper(&stage, change).await;
            let found = look(&stage).await;
            assert_eq!(wrong_now(&found).len(), 1, "{change}: {found}");
            tamper(&stage, back).await;
            assert!(wrong_now(&look(&stage).await).is_empty(), "{back}");
        }
    }
}

#[tokio::test]
async fn the_tables_of_the_log_that_have_one_row_have_no_other() {
    for stage in both().await {
        take_ids(&stage, 2).await;
        assert_eq!(verify(&stage).await["problems"], json!([]));
        for (change, table, back) in [
            (
                "INSERT INTO log_state SELECT id + 1, size, frontier, last_commit_key, last_event_seq FROM log_state",
                "log_state",
                "DELETE FROM log_state WHERE id = 2",
            ),
            (
                "INSERT INTO log_identity (id, origin, verifier_key) VALUES (2, 'elsewhere', 'x')",
                "log_identity",
                "DELETE FROM log_identity WHERE id = 2",
            ),
        ] {
            tamper(&stage, change).await;
            let found = look(&stage).await;
            let message = format!("`{table}` has rows that are not of this program: other hands added them");
            assert_eq!(first(&found, "table")["message"], json!(message), "{found}");
            tamper(&stage, back).await;
        }
    }
}

#[tokio::test]
async fn the_task_counter_is_compared_with_the_tasks() {
    let message = "the task counter was changed by other hands";
    for stage in both().await {
        take_ids(&stage, 1).await;
        assert_eq!(verify(&stage).await["problems"], json!([]));
        tamper(&stage, "INSERT INTO task_counters (organisation_id, last_task_number) VALUES ('here', 500)").await;
        let found = look(&stage).await;
        assert_eq!((&found["n_problems"], &found["problems"][0]["message"]), (&json!(1), &json!(message)), "{found}");
        tamper(&stage, "DELETE FROM task_counters").await;
        let review = json!({"artifact_id": "REV-001", "generator": "evidence-review-generator", "inputs": []});
        let queued = json!({"project_id": "default", "tasks": [review]});
        stage.call("owner", "queue_tasks", queued).await.result.unwrap();
        assert!(wrong_now(&verify(&stage).await).is_empty());
        for sql in ["UPDATE task_counters SET last_task_number = 7", "DELETE FROM task_counters"] {
            tamper(&stage, sql).await;
            let found = look(&stage).await;
            let wrong = wrong_now(&found);
            assert_eq!((wrong.len(), &wrong[0]["message"]), (1, &json!(message)), "{found}");
        }
    }
}

#[tokio::test]
async fn bytes_and_revisions_of_a_document_changed_by_hand_are_named_and_the_bytes_not_shown() {
    for stage in both().await {
        let epic = testkit::documents::EPIC_006;
        stage.call("owner", "store_artifact", json!({"artifact_content": epic})).await.result.unwrap();
        stage.call("owner", "approve_artifact", json!({"artifact_id": "EPIC-006"})).await.result.unwrap();
        assert_eq!(verify(&stage).await["problems"], json!([]));
        tamper(&stage, "UPDATE artifact_revisions SET changed_by = 'nobody' WHERE revision = 1").await;
        let found = look(&stage).await;
        let message = "revision 1 of default/EPIC-006/1 was changed by other hands";
        assert_eq!((&found["n_problems"], &found["problems"][0]["message"]), (&json!(1), &json!(message)), "{found}");
        tamper(&stage, "DELETE FROM artifact_revisions WHERE revision = 1").await;
        let found = look(&stage).await;
        let message = "revisions of default/EPIC-006/1 were deleted or added by other hands";
        let wrong = wrong_now(&found);
        assert_eq!((wrong.len(), &wrong[0]["message"]), (1, &json!(message)), "{found}");
        run_sql(&stage, &["UPDATE artifact_contents SET content = REPLACE(content, 'EPIC', 'EPOC')"]).await;
        let found = look(&stage).await;
        assert_eq!(wrong_now(&found).len(), 3, "{found}");
        let message = found["problems"][0]["message"].as_str().unwrap();
        assert!(message.starts_with("the document with the hash ") && message.ends_with("was changed by other hands"));
        let shown = stage.call("owner", "read_artifact", json!({"artifact_id": "EPIC-006"})).await;
        assert_eq!(shown.result.unwrap_err().kind, contract::error::Kind::Internal, "forged bytes are not shown");
    }
}

#[tokio::test]
async fn an_answer_that_was_changed_in_the_database_is_not_given_again() {
    for stage in both().await {
        let input = json!({"artifact_type": "US"});
        let answered = stage.call_with_key("owner", "get_next_available_id", input.clone(), "k1").await.audit.out_hash;
        settle(&stage).await;
        assert_eq!(look(&stage).await["problems"], json!([]));
        run_sql(&stage, &["UPDATE idempotency_keys SET output = replace(output, 'US-001', 'US-666')"]).await;
        let again =
            stage.call_with_key("owner", "get_next_available_id", input.clone(), "k1").await.result.unwrap_err();
        assert_eq!(again.code(), "CONFLICT");
        assert!(again.message.contains("is not the one that the log tells of"), "{again}");
        let message = "a kept answer of `get_next_available_id` to `owner` was changed by other hands";
        assert_eq!(first(&look(&stage).await, "object")["message"], message);

        // With a hash that fits it, the forged answer still fits no event.
        let forged = contract::canonical::hash_of(
            &json!({"artifact_type": "backlog_story", "next_id": "US-666", "success": true}),
        );
        let sql: &'static str =
            format!("UPDATE idempotency_keys SET output = replace(output, '{answered}', '{forged}')").leak();
        run_sql(&stage, vec![sql].leak()).await;
        let again = stage.call_with_key("owner", "get_next_available_id", input, "k1").await.result.unwrap_err();
        assert_eq!(again.code(), "CONFLICT");
        assert_eq!(first(&look(&stage).await, "object")["message"], message);
    }
}

#[tokio::test]
async fn columns_that_no_hash_covers_are_compared_with_what_the_log_tells() {
    for stage in both().await {
        let epic = testkit::documents::EPIC_006;
        stage.call("owner", "store_artifact", json!({"artifact_content": epic})).await.result.unwrap();
        later(&stage, 1);
        let batch = crate::tasks::batch("default", 12, 1);
        stage.call("owner", "queue_tasks", batch).await.result.unwrap();
        later(&stage, 1);
        let range = json!({"artifact_type": "US", "count": 2});
        stage.call("owner", "reserve_id_range", range).await.result.unwrap();
        assert_eq!(verify(&stage).await["problems"], json!([]));
        for [change, undo] in [
            ["artifact_revisions SET meaning = 'approved'", "artifact_revisions SET meaning = NULL"],
            ["artifacts SET updated_at_us = updated_at_us + 1", "artifacts SET updated_at_us = updated_at_us - 1"],
            ["artifacts SET approved_by = 'owner'", "artifacts SET approved_by = NULL"],
            ["artifacts SET approved_at_us = 7", "artifacts SET approved_at_us = NULL"],
            ["artifacts SET approval_meaning = 'yes'", "artifacts SET approval_meaning = NULL"],
            ["artifacts SET has_id = FALSE", "artifacts SET has_id = TRUE"],
            [
                "artifact_contents SET size_bytes = 7",
                "artifact_contents SET size_bytes = (SELECT size_bytes FROM artifacts)",
            ],
            ["id_reservations SET artifact_type = 'HLS'", "id_reservations SET artifact_type = 'US'"],
            ["id_reservations SET project_id = 'other'", "id_reservations SET project_id = 'default'"],
            ["id_reservations SET is_exempt = TRUE", "id_reservations SET is_exempt = FALSE"],
            ["id_gaps SET last_number = last_number - 1", "id_gaps SET last_number = last_number + 1"],
            [
                "id_reservations SET reserved_at_us = reserved_at_us + 1",
                "id_reservations SET reserved_at_us = reserved_at_us - 1",
            ],
            ["tasks SET created_by = 'nobody'", "tasks SET created_by = 'owner'"],
            ["tasks SET created_at_us = created_at_us + 1", "tasks SET created_at_us = created_at_us - 1"],
            ["tasks SET updated_at_us = updated_at_us + 1", "tasks SET updated_at_us = updated_at_us - 1"],
            ["id_registry SET updated_at_us = updated_at_us + 1", "id_registry SET updated_at_us = updated_at_us - 1"],
        ] {
            let sql = |what: &str| -> &'static [&'static str] { vec![&*format!("UPDATE {what}").leak()].leak() };
            run_sql(&stage, sql(change)).await;
            let found = look(&stage).await;
            assert!(
                first(&found, "object")["message"].as_str().unwrap().ends_with("changed by other hands"),
                "{change}"
            );
            run_sql(&stage, sql(undo)).await;
            assert!(wrong_now(&look(&stage).await).is_empty(), "{undo}");
        }
        run_sql(&stage, &["DELETE FROM id_gaps WHERE artifact_type = 'HLS'"]).await;
        assert_eq!(
            first(&look(&stage).await, "object")["message"],
            "id_gap `HLS/default/1` was deleted by other hands"
        );
    }
}

#[tokio::test]
async fn a_gap_that_is_used_bit_by_bit_agrees_with_the_log() {
    for stage in both().await {
        for number in [12, 6, 1, 11, 7, 3] {
            stage.call("owner", "queue_tasks", crate::tasks::batch("default", number, 1)).await.result.unwrap();
            later(&stage, 1);
        }
        assert_eq!(verify(&stage).await["problems"], json!([]));
        run_sql(&stage, &["UPDATE id_gaps SET first_number = 1 WHERE first_number = 2"]).await;
        let found = look(&stage).await;
        assert_eq!(found["problems"].as_array().unwrap().len(), 2, "one gap is gone and one is new: {found}");
    }
}

#[tokio::test]
async fn a_cell_of_another_type_is_named_with_its_row_and_hides_nothing_else() {
    let changes: [(&str, &str, &str); 11] = [
        ("UPDATE events SET recorded_at_us = 'abc' WHERE event_seq = 2", "row 2 of `events`", "recorded_at_us"),
        ("UPDATE events SET body = x'ff00' WHERE event_seq = 2", "row 2 of `events`", "body"),
        ("UPDATE events SET body = CAST(x'ff' AS TEXT) WHERE event_seq = 2", "row 2 of `events`", "body"),
        ("UPDATE events SET actor_id = x'ff' WHERE event_seq = 2", "row 2 of `events`", "actor_id"),
        (
            "UPDATE id_registry SET last_assigned_id = 'abc' WHERE artifact_type = 'US'",
            "`id_registry`",
            "last_assigned_id",
        ),
        ("UPDATE id_reservations SET reserved_ids = x'ff'", "`id_reservations`", "reserved_ids"),
        ("UPDATE id_reservations SET organisation_id = x'ff'", "`id_reservations`", "organisation_id"),
        ("UPDATE id_reservations SET expires_at_us = 'x'", "`id_reservations`", "expires_at_us"),
        ("UPDATE idempotency_keys SET in_hash = x'00'", "`idempotency_keys`", "in_hash"),
        ("UPDATE idempotency_keys SET output = x'ff'", "`idempotency_keys`", "output"),
        ("UPDATE log_checkpoints SET note = x'ff'", "`log_checkpoints`", "note"),
    ];
    for (sql, row, column) in changes {
        let stage = on_sqlite(OPERATIONS).await;
        take_ids(&stage, 3).await;
        stage.call("owner", "reserve_id_range", json!({"artifact_type": "HLS", "count": 3})).await.result.unwrap();
        stage
            .call_with_key("owner", "get_next_available_id", json!({"artifact_type": "US"}), "k1")
            .await
            .result
            .unwrap();
        let key = stage.call("owner", "create_key", json!({"actor_id": "reader", "roles": ["viewer"]})).await;
        key.result.unwrap();
        assert_eq!(verify(&stage).await["problems"], json!([]));
        tamper(&stage, sql).await;
        tamper(&stage, "UPDATE api_keys SET actor_id = 'writer'").await;
        let found = look(&stage).await;
        let message = first(&found, "row")["message"].as_str().unwrap();
        assert!(message.contains(row) && message.ends_with(&format!("`{column}` is not of its type")), "{message}");
        assert!(found["problems"].to_string().contains("key `"), "the rest is checked as well: {found}");
        // The connection that looked away is not used again.
        assert_eq!(wrong_now(&look(&stage).await), wrong_now(&found));
    }
}

#[tokio::test]
async fn a_place_of_the_sequencer_that_is_no_number_is_named() {
    let stage = on_sqlite(OPERATIONS).await;
    take_ids(&stage, 1).await;
    settle(&stage).await;
    tamper(&stage, "UPDATE log_state SET last_commit_key = 'abc'").await;
    let found = look(&stage).await;
    let message = first(&found, "table")["message"].as_str().unwrap();
    assert!(message.starts_with("the table `log_state` of the log is damaged"), "{message}");
}

#[tokio::test]
async fn a_kept_answer_under_another_key_or_gone_before_its_time_is_named() {
    for stage in both().await {
        let input = json!({"artifact_type": "US"});
        let first_call = stage.call_with_key("owner", "get_next_available_id", input.clone(), "A1").await;
        first_call.result.unwrap();
        stage.call_with_key("owner", "get_next_available_id", input.clone(), "A1").await.result.unwrap();
        assert_eq!(verify(&stage).await["problems"], json!([]));
        tamper(&stage, "UPDATE idempotency_keys SET idempotency_key = 'B1'").await;
        let refused = stage.call_with_key("owner", "get_next_available_id", input, "B1").await.result.unwrap_err();
        assert!(refused.message.contains("is not the one that the log tells of"), "{refused}");
        let messages = |found: &Value| -> Vec<String> {
            let problems = wrong_now(found).into_iter();
            problems.map(|problem| problem["message"].as_str().unwrap().to_owned()).collect()
        };
        let changed = "a kept answer of `get_next_available_id` to `owner` was changed by other hands";
        let gone = "the kept answer of `get_next_available_id` to `owner` is gone before its time";
        assert_eq!(messages(&verify(&stage).await), [changed, gone]);
        tamper(&stage, "DELETE FROM idempotency_keys").await;
        let found = verify(&stage).await;
        assert_eq!(messages(&found), [gone]);
        assert_eq!(found["problems"][0]["call_id"], first_call.call_id.to_string());
        later(&stage, 24 * 60 * 60);
        assert!(wrong_now(&verify(&stage).await).is_empty(), "an expired answer may be gone");
    }
}

#[tokio::test]
async fn checkpoints_and_the_identity_that_are_gone_are_named() {
    for stage in both().await {
        let notary = Notary::new(stage.platform.clone());
        notary.claim().await.unwrap();
        take_ids(&stage, 2).await;
        assert_eq!(verify(&stage).await["problems"], json!([]));
        settle(&stage).await;
        let signed = notary.latest().await.unwrap().unwrap();
        std::fs::write(stage.files.path().join("ledger.checkpoint"), &signed.note).unwrap();
        run_sql(&stage, &["DELETE FROM log_checkpoints", "DELETE FROM log_identity"]).await;
        let found = look(&stage).await;
        let message =
            format!("the checkpoint over {} events, which was signed, is not in `log_checkpoints`", signed.tree_size);
        assert_eq!(first(&found, "checkpoint")["message"], json!(message), "{found}");
        assert_eq!(first(&found, "identity")["message"], "whose log this is, is missing from `log_identity`");

        // Another process signs anew, and still tells what it found.
        let again = stage.again().await;
        Notary::new(again.platform.clone()).remember(&signed.note).await.unwrap();
        settle(&again).await;
        let found = look(&again).await;
        let missing = "was missing from `log_checkpoints`";
        let is_told = |problem: &Value| problem["message"].as_str().is_some_and(|message| message.contains(missing));
        assert!(found["problems"].as_array().unwrap().iter().any(is_told), "{found}");
    }
}

#[tokio::test]
async fn a_long_stretch_without_a_checkpoint_is_named_and_one_stop_of_the_house_is_none() {
    let stage = on_sqlite(OPERATIONS).await;
    take_ids(&stage, 600).await;
    later(&stage, 24 * 60 * 60);
    take_ids(&stage, 500).await;
    assert_eq!(verify(&stage).await["problems"], json!([]), "killed, and begun again a day later");
    for _ in 0..6 {
        later(&stage, 100);
        take_ids(&stage, 200).await;
        settle(&stage).await;
    }
    assert_eq!(verify(&stage).await["problems"], json!([]));
    run_sql(&stage, &["DELETE FROM log_checkpoints WHERE tree_size BETWEEN 1102 AND 2300"]).await;
    let found = look(&stage).await;
    assert!(first(&found, "checkpoint")["message"].as_str().unwrap().contains("where several were due"), "{found}");
}

/// Rows of `log_checkpoints`, the oldest first.
async fn checkpoints(stage: &Stage) -> Vec<StoredCheckpoint> {
    let mut reader = stage.store.read().await.unwrap();
    store::log::checkpoints_after(&mut reader, 0, 1_000).await.unwrap()
}

async fn run_text(stage: &Stage, sql: String) {
    run_sql(stage, vec![&*sql.leak()].leak()).await;
}

fn insert(row: &StoredCheckpoint) -> String {
    let StoredCheckpoint { tree_size, note, created_at_us } = row;
    format!("INSERT INTO log_checkpoints VALUES ({tree_size}, '{note}', {created_at_us})")
}

fn delete(row: &StoredCheckpoint) -> String {
    format!("DELETE FROM log_checkpoints WHERE tree_size = {}", row.tree_size)
}

/// What is wrong with checkpoints.
async fn wrong_checkpoints(stage: &Stage) -> Vec<String> {
    let found = look(stage).await;
    let problems = found["problems"].as_array().unwrap().iter().filter(|problem| problem["kind"] == "checkpoint");
    problems.map(|problem| problem["message"].as_str().unwrap().to_owned()).collect()
}

/// The log as it is, signed as for anybody who asks and not for the table.
async fn ask_checkpoint(stage: &Stage) -> StoredCheckpoint {
    let found = stage.call("owner", "audit_checkpoint", json!({})).await.result.unwrap().output;
    let tree_size = found["tree_size"].as_u64().unwrap();
    StoredCheckpoint { tree_size, note: found["checkpoint"].as_str().unwrap().to_owned(), created_at_us: 7 }
}

/// Gives events their places without signing them.
async fn place_events(stage: &Stage) {
    stage.platform.flush().await;
    let notary = Notary::new(stage.platform.clone());
    loop {
        notary.catch_up().await.unwrap();
        let mut reader = stage.store.read().await.unwrap();
        if store::log::count_waiting(&mut reader).await.unwrap() == 0 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn any_checkpoint_that_is_deleted_shows() {
    for stage in both().await {
        for _ in 0..5 {
            take_ids(&stage, 1).await;
            settle(&stage).await;
        }
        assert_eq!(wrong_checkpoints(&stage).await, Vec::<String>::new());
        let rows = checkpoints(&stage).await;
        let (newest, older) = rows.split_last().unwrap();
        for (row, after) in older.iter().zip(rows.iter().skip(1)) {
            run_text(&stage, delete(row)).await;
            let wrong = wrong_checkpoints(&stage).await;
            let place = format!("the checkpoint over {} leaves has the number ", after.tree_size);
            assert!(wrong.len() == 1 && wrong[0].starts_with(&place) && wrong[0].contains("lacks rows"), "{wrong:?}");
            run_text(&stage, insert(row)).await;
        }
        run_text(&stage, delete(newest)).await;
        assert_eq!(wrong_checkpoints(&stage).await.len(), 1, "it is remembered");
        // The hole stays, also for a process that comes later.
        take_ids(&stage, 1).await;
        settle(&stage).await;
        let again = stage.again().await;
        let wrong = wrong_checkpoints(&again).await;
        assert!(wrong.len() == 1 && wrong[0].contains("lacks rows"), "{wrong:?}");
        run_text(&again, insert(newest)).await;
        assert_eq!(wrong_checkpoints(&again).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_checkpoint_that_another_process_signed_leaves_its_hole_as_well() {
    let stage = on_postgres(OPERATIONS).await;
    let second = stage.again().await;
    take_ids(&stage, 1).await;
    settle(&stage).await;
    take_ids(&stage, 1).await;
    settle(&stage).await;
    // It finds nothing to sign, and learns what is signed.
    settle(&second).await;
    let rows = checkpoints(&stage).await;
    run_text(&stage, delete(rows.last().unwrap())).await;
    take_ids(&second, 1).await;
    settle(&second).await;
    let wrong = wrong_checkpoints(&stage.again().await).await;
    assert!(wrong.len() == 1 && wrong[0].contains("lacks rows"), "{wrong:?}");
}

#[tokio::test]
async fn a_checkpoint_that_is_added_or_moved_shows() {
    for stage in both().await {
        take_ids(&stage, 1).await;
        settle(&stage).await;
        take_ids(&stage, 1).await;
        place_events(&stage).await;
        let asked = ask_checkpoint(&stage).await;
        take_ids(&stage, 1).await;
        settle(&stage).await;
        assert_eq!(wrong_checkpoints(&stage).await, Vec::<String>::new());
        run_text(&stage, insert(&asked)).await;
        let wrong = wrong_checkpoints(&stage).await;
        assert!(wrong[0].contains("has no number, but those before it have"), "{wrong:?}");
        run_text(&stage, delete(&asked)).await;
        let rows = checkpoints(&stage).await;
        let empty = StoredCheckpoint { tree_size: 0, ..rows[0].clone() };
        run_text(&stage, insert(&empty)).await;
        assert_eq!(
            wrong_checkpoints(&stage).await,
            ["1 rows of `log_checkpoints` are over no events: other hands added them"]
        );
        run_text(&stage, delete(&empty)).await;
        assert_eq!(wrong_checkpoints(&stage).await, Vec::<String>::new());
        let moved = StoredCheckpoint { tree_size: asked.tree_size, ..rows[0].clone() };
        run_text(&stage, delete(&rows[0])).await;
        run_text(&stage, insert(&moved)).await;
        let wrong = wrong_checkpoints(&stage).await;
        assert!(wrong.iter().any(|wrong| wrong.ends_with("commits to other events")), "{wrong:?}");
    }
}

#[tokio::test]
async fn checkpoints_of_older_programs_stay_valid_and_are_counted() {
    for stage in both().await {
        let mut older = Vec::new();
        for _ in 0..3 {
            take_ids(&stage, 1).await;
            place_events(&stage).await;
            let row = ask_checkpoint(&stage).await;
            run_text(&stage, insert(&row)).await;
            older.push(row);
        }
        assert_eq!(wrong_checkpoints(&stage).await, Vec::<String>::new(), "none has a number");
        take_ids(&stage, 1).await;
        settle(&stage).await;
        // Where an event has to wait for another transaction of the server, more than one is signed.
        let first = &checkpoints(&stage).await[older.len()].note;
        assert!(first.contains("\ncheckpoint 4\n"), "{first}");
        assert_eq!(wrong_checkpoints(&stage).await, Vec::<String>::new());
        run_text(&stage, delete(&older[1])).await;
        let wrong = wrong_checkpoints(&stage).await;
        assert!(wrong.len() == 1 && wrong[0].contains("has the number 4, but number 3 comes next"), "{wrong:?}");
    }
}

#[tokio::test]
async fn two_processes_that_sign_at_once_number_without_holes() {
    let stage = on_postgres(OPERATIONS).await;
    let second = stage.again().await;
    let (one, two) = (Notary::new(stage.platform.clone()), Notary::new(second.platform.clone()));
    for _ in 0..10 {
        take_ids(&stage, 1).await;
        let (first, other) = tokio::join!(one.finish(), two.finish());
        first.unwrap();
        other.unwrap();
    }
    settle(&stage).await;
    assert_eq!(wrong_checkpoints(&stage).await, Vec::<String>::new());
    assert!(checkpoints(&stage).await.len() > 1);
}

/// A row ahead of the tree, the table it is in, and what takes it away.
fn planted(engine: Engine) -> [(&'static [&'static str], &'static str, &'static [&'static str]); 2] {
    let plant: [&'static [&'static str]; 2] = match engine {
        Engine::Sqlite => [
            &["INSERT INTO log_leaves SELECT MAX(leaf_index) + 1, 'evil', zeroblob(32) FROM log_leaves"],
            &["INSERT INTO log_nodes VALUES (8, 0, zeroblob(32))", "INSERT INTO log_nodes VALUES (8, 1, zeroblob(32))"],
        ],
        Engine::Postgres => [
            &[
                "INSERT INTO log_leaves SELECT MAX(leaf_index) + 1, 'evil', decode(repeat('00', 32), 'hex') FROM log_leaves",
            ],
            &[
                "INSERT INTO log_nodes VALUES (8, 0, decode(repeat('00', 32), 'hex'))",
                "INSERT INTO log_nodes VALUES (8, 1, decode(repeat('00', 32), 'hex'))",
            ],
        ],
    };
    let [leaf, nodes] = plant;
    [
        (leaf, "1 rows of `log_leaves`", &["DELETE FROM log_leaves WHERE call_id = 'evil'"]),
        (nodes, "2 rows of `log_nodes`", &["DELETE FROM log_nodes"]),
    ]
}

#[tokio::test]
async fn a_row_planted_ahead_of_the_tree_is_named_and_stops_writes_until_it_is_gone() {
    for case in 0..2 {
        for stage in both().await {
            let (plant, named, remove) = planted(stage.store.engine())[case];
            take_ids(&stage, 250).await;
            settle(&stage).await;
            run_sql(&stage, plant).await;
            let found = look(&stage).await;
            let message = first(&found, "table")["message"].as_str().unwrap().to_owned();
            assert!(message.starts_with(named) && message.contains("until they are deleted"), "{message}");
            take_ids(&stage, 10).await;
            let notary = Notary::new(stage.platform.clone());
            // On PostgreSQL other tests' transactions hold events back for a while, and so does a lock that is not free yet.
            let fail = async || {
                while notary.work().await.is_ok() {
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                }
            };
            fail().await;
            assert_eq!(stage.platform.log_standing().word(), "doubted", "once is not for good");
            later(&stage, 5);
            fail().await;
            let standing = stage.platform.log_standing();
            assert!(matches!(&standing, LogStanding::Stopped { reason } if reason.contains("unique")), "{standing:?}");
            let refused = stage.call("owner", "get_next_available_id", json!({"artifact_type": "US"})).await;
            let refused = refused.result.unwrap_err();
            assert!(refused.kind == Kind::Conflict && refused.message.contains("materia audit verify"), "{refused}");
            run_sql(&stage, remove).await;
            settle(&stage).await;
            assert_eq!(stage.platform.log_standing().word(), "doubted", "what was found is not forgotten");
            take_ids(&stage, 1).await;
            assert!(wrong_now(&verify(&stage).await).is_empty());
        }
    }
}

#[tokio::test]
async fn a_log_is_not_whole_while_the_sequencer_leaves_events_behind() {
    for stage in both().await {
        take_ids(&stage, 1).await;
        settle(&stage).await;
        let call_id = take_id(&stage).await;
        stage.platform.flush().await;
        assert_eq!(look(&stage).await["ok"], true, "it may wait for a moment");
        later(&stage, 12);
        // On PostgreSQL transactions of other tests may hold events back, which is not the sequencer's fault.
        let found = loop {
            let found = look(&stage).await;
            if found["ok"] == false {
                break found;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        };
        assert_eq!(first(&found, "order")["call_id"], call_id.as_str(), "{found}");
        assert!(found["problems"].to_string().contains("see what `materia doctor`"), "{found}");
        assert_eq!(verify(&stage).await["problems"], json!([]));
    }
}

#[tokio::test]
async fn a_trigger_a_rule_and_a_view_in_the_place_of_a_table_are_named() {
    for stage in both().await {
        take_ids(&stage, 1).await;
        assert_eq!(verify(&stage).await["problems"], json!([]));
        let (make, expected): (&'static [&'static str], &[&str]) = match stage.store.engine() {
            Engine::Sqlite => (
                &[
                    "CREATE TRIGGER swallow BEFORE INSERT ON events WHEN new.actor_id = 'ghost' \
                   BEGIN SELECT RAISE(IGNORE); END",
                    "ALTER TABLE api_keys RENAME TO keys_apart",
                    "CREATE VIEW api_keys AS SELECT * FROM keys_apart",
                ],
                &[
                    "other hands gave `api_keys` the view `api_keys`: the schema has none; drop it",
                    "other hands gave `events` the trigger `swallow`: the schema has none; drop it",
                ],
            ),
            Engine::Postgres => (
                &[
                    "CREATE RULE hush AS ON INSERT TO events WHERE new.actor_id = 'ghost' DO ALSO NOTHING",
                    "CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END'",
                    "CREATE TRIGGER swallow BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION swallow()",
                    "ALTER TABLE api_keys RENAME TO keys_apart",
                    "CREATE VIEW api_keys AS SELECT * FROM keys_apart",
                    "ALTER TABLE tasks ENABLE ROW LEVEL SECURITY",
                ],
                &[
                    "other hands gave `tasks` the row security `tasks`: the schema has none; drop it",
                    "other hands gave `events` the rule `hush`: the schema has none; drop it",
                    "other hands gave `events` the trigger `swallow`: the schema has none; drop it",
                    "other hands gave `api_keys` the view `api_keys`: the schema has none; drop it",
                ],
            ),
        };
        run_sql(&stage, make).await;
        let found = look(&stage).await;
        let problems = found["problems"].as_array().unwrap().iter().filter(|problem| problem["kind"] == "trigger");
        let told: Vec<&str> = problems.map(|problem| problem["message"].as_str().unwrap()).collect();
        assert_eq!(told, expected, "{found}");
    }
}

#[tokio::test]
async fn a_log_without_its_checkpoints_is_worth_a_note() {
    for stage in both().await {
        take_ids(&stage, 2).await;
        settle(&stage).await;
        let notes = async |seconds: i64, has_kept_one: bool| {
            let again = stage.again().await;
            later(&again, seconds);
            Notary::new(again.platform.clone()).note_lacking(has_kept_one).await.unwrap();
            let found = look(&again).await;
            let notes = found["notes"].as_array().cloned().unwrap_or_default();
            notes.iter().map(|note| note.as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(notes(90, true).await, Vec::<String>::new());
        let told = notes(90, false).await;
        assert!(told.len() == 1 && told[0].contains("no `ledger.checkpoint` lay beside"), "{told:?}");
        run_sql(&stage, &["DELETE FROM log_checkpoints"]).await;
        assert_eq!(notes(0, false).await, Vec::<String>::new(), "a log of this minute has none yet");
        let told = notes(90, false).await;
        assert!(told.len() == 2 && told[0].contains("no row in `log_checkpoints`"), "{told:?}");
    }
}

#[tokio::test]
async fn an_index_that_hides_rows_is_named() {
    let stage = on_sqlite(OPERATIONS).await;
    take_ids(&stage, 3).await;
    assert_eq!(verify(&stage).await["ok"], true);
    // The index over actors becomes one of an empty table.
    run_sql(
        &stage,
        &[
            "CREATE TABLE empty (organisation_id TEXT, actor_id TEXT, recorded_at_us BIGINT)",
            "CREATE INDEX empty_index ON empty (organisation_id, actor_id, recorded_at_us)",
            "PRAGMA writable_schema = ON",
            "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'empty_index') \
             WHERE name = 'events_by_actor'",
            "PRAGMA writable_schema = RESET",
        ],
    )
    .await;
    let found = look(&stage.again().await).await;
    let is_told = |problem: &Value| {
        problem["kind"] == "damage"
            && problem["message"].as_str().unwrap().contains("missing from index events_by_actor")
    };
    assert!(found["problems"].as_array().unwrap().iter().any(is_told), "{found}");
    assert!(stage.again().await.platform.find_damage().await.unwrap().is_some(), "and `doctor` sees it");
}

#[tokio::test]
async fn an_index_that_is_no_longer_kept_is_named() {
    let stage = on_postgres(OPERATIONS).await;
    take_ids(&stage, 3).await;
    assert_eq!(verify(&stage).await["ok"], true);
    tamper(
        &stage,
        "UPDATE pg_index SET indisready = false, indisvalid = false \
         WHERE indexrelid = (current_schema() || '.events_by_actor')::regclass",
    )
    .await;
    let found = look(&stage).await;
    let message = first(&found, "damage")["message"].as_str().unwrap();
    assert!(message.contains("index events_by_actor of events is marked as not kept"), "{found}");
}
