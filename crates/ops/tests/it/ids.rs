//! Ids and reservations through the door, on both engines.

use std::collections::BTreeSet;
use std::sync::Arc;

use ops::operations::OPERATIONS;
use serde_json::{Value, json};

use crate::ledger::verify;
use crate::script::{Stage, check, on_postgres, on_sqlite, shared, together};

#[tokio::test]
async fn each_type_project_and_organisation_counts_for_itself() {
    check(
        r#"
        author get_next_available_id {"artifact_type":"backlog_story","project_id":"demo","task_id":"abc-123"}
        author get_next_available_id {"artifact_type":"US","project_id":"demo"}
        author get_next_available_id {"artifact_type":"US"}
        author get_next_available_id {"artifact_type":"epic","project_id":"demo"}
        rival get_next_available_id {"artifact_type":"US","project_id":"demo"}
        "#,
        r#"
        {"artifact_type":"backlog_story","next_id":"US-001","success":true}
        {"artifact_type":"backlog_story","next_id":"US-002","success":true}
        {"artifact_type":"backlog_story","next_id":"US-001","success":true}
        {"artifact_type":"epic","next_id":"EPIC-001","success":true}
        {"artifact_type":"backlog_story","next_id":"US-001","success":true}
        event author get_next_available_id ok
        event author get_next_available_id ok
        event author get_next_available_id ok
        event author get_next_available_id ok
        event rival get_next_available_id ok
        "#,
    )
    .await;
}

#[tokio::test]
async fn a_reservation_is_contiguous_and_confirmed_once() {
    check(
        r#"
        author get_next_available_id {"artifact_type":"hls"}
        author reserve_id_range {"artifact_type":"hls","count":3}
        author get_next_available_id {"artifact_type":"hls"}
        author confirm_reservation {"reservation_id":"$reservation"}
        author confirm_reservation {"reservation_id":"$reservation"}
        author confirm_reservation {"reservation_id":"nobodys"}
        "#,
        r#"
        {"artifact_type":"hls","next_id":"HLS-001","success":true}
        {"artifact_type":"hls","expires_at":"2026-02-04T19:15:00.000Z","reservation_id":"<uuid>","reserved_ids":["HLS-002","HLS-003","HLS-004"],"success":true}
        {"artifact_type":"hls","next_id":"HLS-005","success":true}
        {"confirmed":true,"reservation_id":"<uuid>","success":true}
        CONFLICT: the reservation is already confirmed
        NOT_FOUND: the reservation is expired or unknown
        event author get_next_available_id ok
        event author reserve_id_range ok
        event author get_next_available_id ok
        event author confirm_reservation ok
        event author confirm_reservation conflict
        event author confirm_reservation not_found
        "#,
    )
    .await;
}

#[tokio::test]
async fn an_expired_reservation_leaves_a_gap_and_is_never_given_out_again() {
    check(
        r#"
        author reserve_id_range {"artifact_type":"prd","count":2}
        +15m
        author confirm_reservation {"reservation_id":"$reservation"}
        author delete_expired_reservations {}
        author delete_expired_reservations {}
        author get_next_available_id {"artifact_type":"prd"}
        "#,
        r#"
        {"artifact_type":"prd","expires_at":"2026-02-04T19:15:00.000Z","reservation_id":"<uuid>","reserved_ids":["PRD-001","PRD-002"],"success":true}
        NOT_FOUND: the reservation is expired or unknown
        {"deleted_count":1,"success":true}
        {"deleted_count":0,"success":true}
        {"artifact_type":"prd","next_id":"PRD-003","success":true}
        event author reserve_id_range ok
        event author confirm_reservation not_found
        event author delete_expired_reservations ok
        event author delete_expired_reservations ok
        event author get_next_available_id ok
        "#,
    )
    .await;
}

#[tokio::test]
async fn somebody_elses_reservation_looks_as_if_it_were_not_there() {
    check(
        r#"
        author reserve_id_range {"artifact_type":"adr","count":1}
        second confirm_reservation {"reservation_id":"$reservation"}
        rival confirm_reservation {"reservation_id":"$reservation"}
        author confirm_reservation {"reservation_id":"$reservation"}
        "#,
        r#"
        {"artifact_type":"adr","expires_at":"2026-02-04T19:15:00.000Z","reservation_id":"<uuid>","reserved_ids":["ADR-001"],"success":true}
        NOT_FOUND: the reservation is expired or unknown
        NOT_FOUND: the reservation is expired or unknown
        {"confirmed":true,"reservation_id":"<uuid>","success":true}
        event author reserve_id_range ok
        event second confirm_reservation not_found
        event rival confirm_reservation not_found
        event author confirm_reservation ok
        "#,
    )
    .await;
}

#[tokio::test]
async fn a_repeated_key_answers_as_the_first_time_and_another_input_is_a_conflict() {
    check(
        r#"
        author get_next_available_id key=k1 {"artifact_type":"US"}
        author get_next_available_id key=k1 {"artifact_type":"US"}
        author get_next_available_id key=k1 {"artifact_type":"EPIC"}
        owner get_next_available_id key=k1 {"artifact_type":"US"}
        "#,
        r#"
        {"artifact_type":"backlog_story","next_id":"US-001","success":true}
        {"artifact_type":"backlog_story","next_id":"US-001","success":true}
        CONFLICT: the idempotency key was used with another input
        {"artifact_type":"backlog_story","next_id":"US-002","success":true}
        event author get_next_available_id ok
        event author get_next_available_id ok
        event author get_next_available_id conflict
        event owner get_next_available_id ok
        "#,
    )
    .await;
}

async fn both() -> [Arc<Stage>; 2] {
    [shared(on_sqlite(OPERATIONS).await), shared(on_postgres(OPERATIONS).await)]
}

async fn next_id(stage: &Stage) -> String {
    let reply = stage.call("author", "get_next_available_id", json!({"artifact_type": "US"})).await;
    reply.result.unwrap().output["next_id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn many_callers_at_once_get_every_number_once() {
    for stage in both().await {
        let given = together(64, |_| {
            let stage = Arc::clone(&stage);
            async move {
                let mut given = Vec::new();
                for _ in 0..5 {
                    // Those whom one commit serves asked at different times.
                    stage.clock.set_us(stage.clock.now_us() + 1);
                    given.push(next_id(&stage).await);
                }
                given
            }
        })
        .await;
        let found: BTreeSet<String> = given.into_iter().flatten().collect();
        let expected: BTreeSet<String> = (1..=320).map(|number| format!("US-{number:03}")).collect();
        assert_eq!(found, expected);
        assert_eq!(stage.events().await.len(), 320);
        let verified = verify(&stage).await;
        assert_eq!(verified["problems"], json!([]), "{verified}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_and_ranges_wanted_at_once_stay_apart_and_the_log_vouches_for_the_counter() {
    for stage in both().await {
        let given = together(60, |at| {
            let stage = Arc::clone(&stage);
            async move {
                if at % 6 > 0 {
                    return vec![next_id(&stage).await];
                }
                let input = json!({"artifact_type": "US", "count": 3});
                let reply = stage.call("admin", "reserve_id_range", input).await.result;
                let reply = reply.unwrap_or_else(|error| panic!("{}", error.message));
                serde_json::from_value(reply.output["reserved_ids"].clone()).unwrap()
            }
        })
        .await;
        let found: Vec<String> = given.into_iter().flatten().collect();
        let apart: BTreeSet<String> = found.iter().cloned().collect();
        let expected: BTreeSet<String> = (1..=80).map(|number| format!("US-{number:03}")).collect();
        assert_eq!((found.len(), apart), (80, expected));
        let verified = verify(&stage).await;
        assert_eq!(verified["problems"], json!([]), "{verified}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_key_sent_a_hundred_times_at_once_takes_one_id() {
    for stage in both().await {
        let given: BTreeSet<String> = together(100, |_| {
            let stage = Arc::clone(&stage);
            async move {
                let input = json!({"artifact_type": "US"});
                let reply = stage.call_with_key("author", "get_next_available_id", input, "the-key").await;
                reply.result.unwrap().output["next_id"].as_str().unwrap().to_owned()
            }
        })
        .await
        .into_iter()
        .collect();
        assert_eq!(given, BTreeSet::from(["US-001".to_owned()]));
        assert_eq!(next_id(&stage).await, "US-002");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_twenty_confirmations_at_once_one_wins() {
    for stage in both().await {
        let reply = stage.call("author", "reserve_id_range", json!({"artifact_type": "US", "count": 2})).await;
        let handle: Value = reply.result.unwrap().output["reservation_id"].clone();
        let mut told = together(20, |_| {
            let (stage, handle) = (Arc::clone(&stage), handle.clone());
            async move {
                let reply = stage.call("author", "confirm_reservation", json!({"reservation_id": handle})).await;
                reply.result.map(|_| "ok").unwrap_or_else(|error| error.code())
            }
        })
        .await;
        told.sort_unstable();
        let expected: Vec<&str> = std::iter::repeat_n("CONFLICT", 19).chain(["ok"]).collect();
        assert_eq!(told, expected);
    }
}

#[tokio::test]
async fn the_eleventh_reservation_of_a_minute_must_wait() {
    for stage in both().await {
        let reserve = || stage.call("author", "reserve_id_range", json!({"artifact_type": "US", "count": 1}));
        for _ in 0..10 {
            assert!(reserve().await.result.is_ok());
        }
        let error = reserve().await.result.unwrap_err();
        assert_eq!(error.message, "the project has reserved 10 ranges in the last minute");
        assert_eq!(error.details.retry_after_ms, Some(60_000));
        let elsewhere = json!({"artifact_type": "US", "count": 1, "project_id": "other"});
        assert!(stage.call("author", "reserve_id_range", elsewhere).await.result.is_ok());
        stage.clock.set_us(stage.clock.now_us() + 60_000_000);
        assert!(reserve().await.result.is_ok());
    }
}

#[tokio::test]
async fn reservations_of_a_server_whose_clock_is_ahead_count_too() {
    for stage in both().await {
        let other = stage.again().await;
        other.clock.set_us(other.clock.now_us() + 2_000_000);
        let input = json!({"artifact_type": "US", "count": 1, "project_id": "shared"});
        for _ in 0..10 {
            other.call("author", "reserve_id_range", input.clone()).await.result.unwrap();
        }
        let refused = stage.call("author", "reserve_id_range", input).await.result.unwrap_err();
        assert_eq!(refused.code(), "BUSY", "{refused}");
    }
}
