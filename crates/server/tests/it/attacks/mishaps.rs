//! Operations that panic, hang or are given up: the server goes on, and each is an event.

use std::time::Duration;

use serde_json::{Value, json};

use super::answers::rpc_code;
use super::lab::{DEADLINE, Lab};
use super::record::{Recorded, count};
use super::trials::TRIALS;

/// Clients that ask for much and read nothing.
const N_READERS: u64 = 4;

fn call(tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

#[track_caller]
fn check_counts(events: &[Recorded], operation: &str, outcome: &str, n: usize) {
    assert_eq!(count(events, operation, outcome), n, "{operation} {outcome}: {events:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_is_an_answer_and_an_event_and_says_nothing_of_its_cause() {
    let lab = Lab::open(TRIALS).await;
    let mut lines = lab.lines().await;
    for operation in ["panic_in_read", "panic_in_plan", "panic_in_apply"] {
        let answer = lab.rest(operation, &json!({})).await;
        let error = &answer.json()["error"];
        assert_eq!((answer.status, &error["code"]), (500, &json!("INTERNAL")), "{operation}: {answer:?}");
        assert!(!answer.body.contains("secret"), "{answer:?}");
        let over_http = lab.send(lab.mcp_request(&call(operation, json!({})))).await.json();
        for message in [over_http, lines.call(operation, json!({})).await] {
            assert!(!message.to_string().contains("secret"), "{message}");
            if operation == "panic_in_apply" {
                assert_eq!(rpc_code(&message), -32603, "{message}");
            } else {
                assert_eq!(message["result"]["isError"], true, "{message}");
            }
        }
        lab.check_alive().await;
    }
    let events = lab.close().await;
    for operation in ["panic_in_read", "panic_in_plan", "panic_in_apply"] {
        check_counts(&events, operation, "panicked", 3);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_internal_error_shows_its_id_and_not_its_cause() {
    let lab = Lab::open(TRIALS).await;
    let answer = lab.rest("breach", &json!({})).await;
    assert_eq!(answer.status, 500, "{answer:?}");
    let events = lab.close().await;
    let event = events.iter().find(|event| event.operation == "breach").expect("a failure is an event");
    assert_eq!(event.outcome, "failed");
    let call_id = event.body["call_id"].as_str().expect("an event has an id");
    assert!(answer.body.contains(call_id), "the answer does not name {call_id}: {answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hanging_call_ends_at_its_deadline() {
    let lab = Lab::open(TRIALS).await;
    let begun = tokio::time::Instant::now();
    let (none, mcp) = (json!({}), call("hang_in_plan", json!({})));
    let (read, plan, rpc, ()) = tokio::join!(
        lab.rest("hang_in_read", &none),
        lab.rest("hang_in_plan", &none),
        lab.send(lab.mcp_request(&mcp)),
        lab.check_alive(),
    );
    for answer in [read, plan] {
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (504, &json!("TIMEOUT")), "{answer:?}");
    }
    assert_eq!(rpc_code(&rpc.json()), -32000, "{rpc:?}");
    assert!(begun.elapsed() < DEADLINE * 2, "the calls took {:?}", begun.elapsed());
    lab.check_alive().await;
    let events = lab.close().await;
    check_counts(&events, "hang_in_read", "timeout", 1);
    check_counts(&events, "hang_in_plan", "timeout", 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hangs_up_cancels_its_read() {
    let lab = Lab::open(TRIALS).await;
    let n_before = lab.n_calls("hang_in_read", "cancelled").await;
    let rest = lab.begin(&lab.rest_request("hang_in_read", &json!({}))).await;
    let mcp = lab.begin(&lab.mcp_request(&call("hang_in_read", json!({})))).await;
    let params = json!({"name": "hang_in_read", "arguments": {}, "_meta": {"progressToken": 1}});
    let with_progress = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params});
    let stream = lab.begin(&lab.mcp_request(&with_progress)).await;
    // Answers that come later show that the three are at work.
    lab.check_alive().await;
    drop((rest, mcp, stream));
    lab.wait_for("hang_in_read", "cancelled", n_before + 3).await;
    lab.check_alive().await;
    check_counts(&lab.close().await, "hang_in_read", "cancelled", 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_send_and_leave_at_once_are_recorded_each() {
    let lab = Lab::open(TRIALS).await;
    let input = json!({"n_steps": 0, "size_bytes": 9});
    let (rest, mcp) = (lab.rest_request("count", &input), lab.mcp_request(&call("count", input.clone())));
    for request in [&rest, &mcp].into_iter().cycle().take(40) {
        drop(lab.begin(request).await);
    }
    // As long as a request may linger, and more than it takes to reach the door.
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    lab.check_alive().await;
    let events = lab.close().await;
    assert_eq!(count(&events, "count", "ok") + count(&events, "count", "cancelled"), 40, "{events:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_request_on_standard_input_is_recorded_and_the_next_is_served() {
    let lab = Lab::open(TRIALS).await;
    let n_before = lab.n_calls("hang_in_read", "cancelled").await;
    let mut lines = lab.lines().await;
    lines.send(&call("hang_in_read", json!({}))).await;
    let cancel = json!({"requestId": 9, "reason": "enough"});
    lines.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel})).await;
    lab.wait_for("hang_in_read", "cancelled", n_before + 1).await;
    let answer = lines.call("show", json!({"text": "next"})).await;
    assert_eq!(
        (&answer["id"], &answer["result"]["structuredContent"]["text"]),
        (&json!(7), &json!("next")),
        "{answer}"
    );
    check_counts(&lab.close().await, "hang_in_read", "cancelled", 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_that_do_not_read_delay_nobody_and_their_calls_are_recorded() {
    let lab = Lab::open(TRIALS).await;
    let n_before = lab.n_calls("count", "ok").await;
    let params = json!({
        "name": "count",
        "arguments": {"n_steps": 1_000, "size_bytes": 4 * 1024 * 1024},
        "_meta": {"progressToken": "slow"},
    });
    let message = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params});
    let mut readers = Vec::new();
    for _ in 0..N_READERS {
        readers.push(lab.begin(&lab.mcp_request(&message)).await);
    }
    lab.wait_for("count", "ok", n_before + N_READERS).await;
    let mut times = Vec::new();
    for _ in 0..20 {
        let begun = tokio::time::Instant::now();
        lab.check_alive().await;
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    assert!(times[10] < Duration::from_millis(500), "ordinary calls took {times:?}");
    drop(readers);
    lab.check_alive().await;
    let events = lab.close().await;
    check_counts(&events, "count", "ok", usize::try_from(N_READERS).expect("a small number"));
}
