//! The door holds: whatever comes in, the order of its steps, and whatever an operation does.

use std::time::Duration;

use contract::canonical;
use serde_json::{Value, json};

use crate::script::{actor, check, on_postgres, on_sqlite, shared, together};
use crate::trials::TRIALS;

#[tokio::test]
async fn a_viewer_may_not_write_and_the_refusal_is_recorded() {
    check(
        r#"
        viewer get_next_available_id {"artifact_type":"US"}
        viewer list_artifact_types {}
        agent tidy_house {}
        "#,
        r#"
        DENIED: `viewer` may not call `get_next_available_id`
        {"artifact_types":[{"about":"A story small enough to be built and tested in one piece.","folder":"backlog_stories","name":"backlog_story","prefix":"US"},{"about":"How a story is to be built: interfaces, data, risks.","folder":"tech_specs","name":"tech_spec","prefix":"SPEC"},{"about":"One piece of implementation work.","folder":"tasks","name":"task","prefix":"TASK"},{"about":"A body of work with one business aim, cut into requirements.","folder":"epics","name":"epic","prefix":"EPIC"},{"about":"Product requirements: what is to be built, for whom and why.","folder":"prds","name":"prd","prefix":"PRD"},{"about":"A high-level story: one user-visible capability of a requirement.","folder":"hls","name":"hls","prefix":"HLS"},{"about":"Where a product is going and for whom.","folder":"product_visions","name":"product_vision","prefix":"VIS"},{"about":"A funded effort that carries a part of the vision.","folder":"initiatives","name":"initiative","prefix":"INIT"},{"about":"A time-boxed investigation that answers one question.","folder":"spikes","name":"spike","prefix":"SPIKE"},{"about":"An architecture decision, its context and its consequences.","folder":"adrs","name":"adr","prefix":"ADR"},{"about":"What a capability does in each case, before it is designed.","folder":"funcspecs","name":"funcspec","prefix":"FS"},{"about":"What the published evidence says about one clinical question.","folder":"evidence_reviews","name":"evidence_review","prefix":"REV"},{"about":"How a person is to be cared for, and on which evidence.","folder":"care_plans","name":"care_plan","prefix":"CARE"},{"about":"What is known of the market, the users and the alternatives.","folder":"research","name":"business_research","prefix":""},{"about":"What is known of the technology a product may be built with.","folder":"research","name":"implementation_research","prefix":""},{"about":"The rules that code of a product follows.","folder":"standards","name":"coding_standards","prefix":""}]}
        DENIED: `agent` may not call `tidy_house`
        event viewer get_next_available_id denied
        event viewer list_artifact_types ok
        event agent tidy_house denied
        "#,
    )
    .await;
}

#[tokio::test]
async fn wrong_input_is_refused_with_the_field_and_recorded() {
    check(
        r#"
        owner get_next_available_id {}
        owner get_next_available_id {"artifact_type":"US","colour":"red"}
        owner get_next_available_id {"artifact_type":7}
        owner get_next_available_id {"artifact_type":"poem"}
        owner get_next_available_id {"artifact_type":"US","project_id":"../etc"}
        owner get_next_available_id {"artifact_type":"US","project_id":"a..b"}
        owner reserve_id_range {"artifact_type":"US","count":0}
        owner reserve_id_range {"artifact_type":"US","count":101}
        owner reserve_id_range {"artifact_type":"US","count":1.5}
        owner no_such_operation {}
        owner reserve_id_rang {}
        owner get_next_available_id {"artifact_type":"US"}
        "#,
        r#"
        INVALID_ARG: `artifact_type`: expected the field to be there
        INVALID_ARG: `colour`: expected no field of this name
        INVALID_ARG: `artifact_type`: expected a value of type string
        INVALID_ARG: `artifact_type`: expected one of US, SPEC, TASK, EPIC, PRD, HLS, VIS, INIT, SPIKE, ADR, FS, REV, CARE, or the name of such a type
        INVALID_ARG: `project_id`: expected text that matches `^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`
        INVALID_ARG: `project_id`: expected 1 to 100 letters, digits, `.`, `_` or `-`, the first a letter or digit, and no `..`
        INVALID_ARG: `count`: expected at least 1
        INVALID_ARG: `count`: expected at most 100
        INVALID_ARG: `count`: expected a value of type integer
        NOT_FOUND: no operation of this name; `materia tools` and `/api` list them
        NOT_FOUND: no operation of this name; did you mean `reserve_id_range`? `materia tools` and `/api` list them
        {"artifact_type":"backlog_story","next_id":"US-001","success":true}
        event owner get_next_available_id invalid
        event owner get_next_available_id invalid
        event owner get_next_available_id invalid
        event owner get_next_available_id invalid
        event owner get_next_available_id invalid
        event owner get_next_available_id invalid
        event owner reserve_id_range invalid
        event owner reserve_id_range invalid
        event owner reserve_id_range invalid
        event owner unknown not_found
        event owner unknown not_found
        event owner get_next_available_id ok
        "#,
    )
    .await;
}

#[tokio::test]
async fn the_event_and_the_audit_block_carry_the_hashes_of_what_was_said() {
    let stage = on_sqlite(ops::operations::OPERATIONS).await;
    let reply =
        stage.call("owner", "get_next_available_id", json!({"artifact_type": "US", "task_id": "abc-123"})).await;
    let output = reply.result.unwrap().output;
    // Defaults are part of what is hashed.
    let input = json!({"artifact_type": "US", "project_id": "default", "task_id": "abc-123"});
    assert_eq!(reply.audit.in_hash, canonical::hash(&input).unwrap());
    assert_eq!(reply.audit.out_hash, canonical::hash(&output).unwrap());
    let bodies = stage.bodies().await;
    let event = bodies.last().unwrap();
    assert_eq!(event["call_id"], reply.call_id.to_string());
    assert_eq!(event["in_hash"], reply.audit.in_hash);
    assert_eq!(event["out_hash"], reply.audit.out_hash);
    assert_eq!(event["correlation"], json!({"task_id": "abc-123"}));
    assert_eq!(event["objects"][0], json!({"type": "id", "id": "US-001"}));
    assert_eq!((&event["objects"][1]["type"], &event["objects"][1]["id"]), (&json!("counter"), &json!("US/default")));
}

#[tokio::test]
async fn an_event_is_stored_as_canonical_json_without_what_was_said() {
    let stage = on_sqlite(ops::operations::OPERATIONS).await;
    let input = json!({"artifact_type": "US", "project_id": "demo"});
    stage.call("owner", "get_next_available_id", input).await.result.unwrap();
    let mut reader = stage.store.read().await.unwrap();
    let rows = reader.fetch_all("SELECT body FROM events", &[]).await.unwrap();
    let body = rows.first().unwrap().text(0).unwrap();
    let parsed: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body, canonical::text(&parsed).unwrap());
    assert!(!body.contains("artifact_type") && !body.contains("backlog_story"), "{body}");
}

#[tokio::test]
async fn the_same_read_has_the_same_hashes() {
    let stage = on_sqlite(ops::operations::OPERATIONS).await;
    let first = stage.call("owner", "list_artifact_types", json!({})).await.audit;
    let second = stage.call("owner", "list_artifact_types", json!({})).await.audit;
    assert_eq!((first.in_hash, first.out_hash, first.seed), (second.in_hash, second.out_hash, second.seed));
}

#[tokio::test]
async fn a_panic_a_hang_and_a_wrong_output_are_errors_and_events_and_the_house_goes_on() {
    for stage in [on_sqlite(TRIALS).await, on_postgres(TRIALS).await] {
        let told = |reply: ops::Reply| reply.result.map(|success| success.output).map_err(|error| error.code());
        assert_eq!(told(stage.call("owner", "misbehave", json!({"how": "panic"})).await), Err("INTERNAL"));
        assert_eq!(told(stage.call("owner", "panic_in_apply", json!({})).await), Err("INTERNAL"));
        assert_eq!(told(stage.call("owner", "misbehave", json!({"how": "hang"})).await), Err("TIMEOUT"));
        assert_eq!(told(stage.call("owner", "lie_about_output", json!({})).await), Err("INTERNAL"));
        assert!(told(stage.call("owner", "get_next_available_id", json!({"artifact_type": "US"})).await).is_ok());
        assert_eq!(
            stage.events().await,
            [
                "event owner misbehave panicked",
                "event owner panic_in_apply panicked",
                "event owner misbehave timeout",
                "event owner lie_about_output failed",
                "event owner get_next_available_id ok",
            ]
        );
    }
}

#[tokio::test]
async fn an_internal_error_leaves_with_nothing_but_the_id_of_its_call() {
    let stage = on_sqlite(TRIALS).await;
    let reply = stage.call("owner", "lie_about_output", json!({})).await;
    let expected = format!("something went wrong on our side; the log has more under call {}", reply.call_id);
    assert_eq!(reply.result.unwrap_err().message, expected);
}

#[tokio::test]
async fn a_caller_that_goes_away_stops_a_read_and_is_recorded() {
    let stage = shared(on_sqlite(TRIALS).await);
    let call = stage.call("owner", "misbehave", json!({"how": "hang"}));
    assert!(tokio::time::timeout(Duration::from_millis(50), call).await.is_err());
    assert_eq!(stage.events_when(1).await, ["event owner misbehave cancelled"]);
}

#[tokio::test]
async fn a_caller_that_goes_away_does_not_stop_a_write() {
    let stage = shared(on_sqlite(TRIALS).await);
    let gone = together(16, |_| {
        let stage = std::sync::Arc::clone(&stage);
        async move {
            let call = stage.call("owner", "get_next_available_id", json!({"artifact_type": "US"}));
            tokio::time::timeout(Duration::from_micros(50), call).await.is_err()
        }
    })
    .await;
    let n_events = stage.events_when(16).await.len();
    let next = stage.call("owner", "get_next_available_id", json!({"artifact_type": "US"})).await;
    // Whatever was recorded as done was done, and nothing else.
    assert_eq!(next.result.unwrap().output["next_id"], format!("US-{:03}", n_events + 1), "{gone:?}");
}

#[tokio::test]
async fn progress_reaches_the_caller() {
    let stage = on_sqlite(TRIALS).await;
    let (sender, mut reports) = tokio::sync::mpsc::channel(4);
    let call = ops::Call {
        operation: "misbehave".to_owned(),
        input: json!({"how": "well"}),
        progress: ops::Progress::to(sender),
        ..ops::Call::default()
    };
    assert!(stage.platform.call(&actor("owner"), call).await.result.is_ok());
    assert_eq!(reports.recv().await.map(|report| report.message), Some("done".to_owned()));
}

#[tokio::test]
async fn artifacts_travel_beside_the_output_and_outside_its_hash() {
    let stage = on_sqlite(TRIALS).await;
    let reply = stage.call("owner", "show_artifacts", json!({})).await;
    let success = reply.result.unwrap();
    assert_eq!(success.artifacts.first().map(|artifact| artifact.title.as_str()), Some("Note"));
    assert_eq!(reply.audit.out_hash, canonical::hash(&success.output).unwrap());
}

async fn run_sql(stage: &crate::script::Stage, sql: &'static str) {
    let apply: store::Apply<()> = Box::new(move |tx| {
        Box::pin(async move {
            tx.fetch_all(sql, &[]).await?;
            Ok(store::Applied { value: (), event: None, keep: store::Keep::Changes })
        })
    });
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    stage.store.write(None, deadline, apply).await.unwrap();
}

#[tokio::test]
async fn calls_that_could_not_be_recorded_are_counted_in_an_event_when_there_is_room_again() {
    let stage = on_sqlite(ops::operations::OPERATIONS).await;
    run_sql(&stage, "PRAGMA max_page_count = 1").await;
    let mut n_refused = 0;
    for _ in 0..200 {
        let reply = stage.call("author", "get_next_available_id", json!({"artifact_type": "US"})).await;
        if let Err(error) = reply.result {
            assert_eq!(error.code(), "BUSY");
            assert!(error.message.starts_with("the disk of the database is full"), "{error}");
            n_refused += 1;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(n_refused > 2, "the disk is never full");
    run_sql(&stage, "PRAGMA max_page_count = 1000000").await;
    stage.platform.flush().await;
    stage.call("author", "get_next_available_id", json!({"artifact_type": "US"})).await.result.unwrap();
    let told: u64 = stage
        .bodies()
        .await
        .iter()
        .filter(|body| body["outcome"] == "busy")
        .map(|body| body["count"].as_u64().unwrap_or(1))
        .sum();
    assert_eq!(told, n_refused);
}

#[tokio::test]
async fn a_read_survives_connections_that_the_database_closed() {
    let stage = on_postgres(ops::operations::OPERATIONS).await;
    for _ in 0..3 {
        stage.call("author", "list_tasks", json!({})).await.result.unwrap();
        run_sql(
            &stage,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
             WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'materia'",
        )
        .await;
        stage.call("author", "list_tasks", json!({})).await.result.unwrap();
    }
}
