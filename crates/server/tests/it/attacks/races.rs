//! Races for ids and reservations, against each other and against the clock (case 49).

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use contract::id::IdempotencyKey;
use ops::operations::OPERATIONS;
use ops::{Call, Clock, Reply};
use serde_json::{Value, json};
use server::auth::owner;
use server::owner::{House, HouseOptions, StarterData};
use server::settings::Settings;
use tokio::task::JoinSet;

use super::lines::Lines;
use super::record::count;
use super::target::{PROJECT, Target};

fn take() -> Value {
    json!({"artifact_type": "backlog_story", "project_id": PROJECT})
}

/// `n` equal requests at the same time: status and body of each.
async fn all_at_once(
    target: &Target,
    path: &str,
    body: &Value,
    headers: &[(&'static str, &str)],
    n: usize,
) -> Vec<(u16, Value)> {
    let http = reqwest::Client::builder().no_proxy().build().expect("a client without TLS always builds");
    let mut running = JoinSet::new();
    for _ in 0..n {
        let mut request = http.post(format!("http://{}{path}", target.http)).bearer_auth(&target.token).json(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        running.spawn(async move {
            let response = request.send().await.expect("the server answers");
            (response.status().as_u16(), response.json().await.expect("an answer is JSON"))
        });
    }
    running.join_all().await
}

#[tokio::test(flavor = "multi_thread")]
async fn one_idempotency_key_a_hundred_times_is_one_id() {
    let target = Target::start();
    let headers = [("Idempotency-Key", "same-key")];
    let answers = all_at_once(&target, "/api/tools/get_next_available_id", &take(), &headers, 100).await;
    assert!(answers.iter().all(|(status, body)| *status == 200 && body["next_id"] == "US-001"), "{answers:?}");

    // The key belongs to its input and its operation.
    let other = json!({"artifact_type": "backlog_story", "project_id": "another"});
    let answers = all_at_once(&target, "/api/tools/get_next_available_id", &other, &headers, 5).await;
    assert!(answers.iter().all(|(status, _)| *status == 409), "{answers:?}");

    // Over MCP, too.
    let params =
        json!({"name": "get_next_available_id", "arguments": take(), "_meta": {"materia/idempotency_key": "mcp-key"}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let accept = [("Accept", "application/json, text/event-stream")];
    let answers = all_at_once(&target, "/mcp", &body, &accept, 100).await;
    let id = |body: &Value| body["result"]["structuredContent"]["next_id"] == "US-002";
    assert!(answers.iter().all(|(status, body)| *status == 200 && id(body)), "{answers:?}");
    tokio::task::block_in_place(|| {
        let mut lines = Lines::start(&target.data());
        let answer = lines.ask(body.to_string());
        assert!(id(&answer), "{answer}");
        drop(lines);
        assert_eq!(target.check_alive(), "US-003");
        let events = target.stop();
        assert_eq!(count(&events, "get_next_available_id", "ok"), 202);
        assert_eq!(count(&events, "get_next_available_id", "conflict"), 5);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn of_twenty_who_confirm_one_wins() {
    let target = Target::start();
    for _ in 0..5 {
        let reserve = json!({"artifact_type": "hls", "count": 3, "project_id": PROJECT});
        let reserved = all_at_once(&target, "/api/tools/reserve_id_range", &reserve, &[], 1).await;
        let confirm = json!({"reservation_id": reserved[0].1["reservation_id"]});
        let answers = all_at_once(&target, "/api/tools/confirm_reservation", &confirm, &[], 20).await;
        let n_status = |wanted: u16| answers.iter().filter(|(status, _)| *status == wanted).count();
        assert_eq!((n_status(200), n_status(409)), (1, 19), "{answers:?}");
    }
    let events = tokio::task::block_in_place(|| target.stop());
    assert_eq!(count(&events, "confirm_reservation", "ok"), 5);
    assert_eq!(count(&events, "confirm_reservation", "conflict"), 95);
}

/// A house with a clock that is set by hand.
async fn house(folder: &Path, clock: &Clock) -> Arc<House> {
    let settings = Settings { starter_data: false, ..Settings::default() };
    let options = HouseOptions {
        folder: folder.to_path_buf(),
        organisation_id: settings.organisation_id.clone(),
        starter_data: StarterData::Load,
        database_url: None,
        entries: OPERATIONS,
        settings: settings.for_operations(),
        services: server::assemble::services(folder, &settings).expect("the types that ship can be read"),
        clock: clock.clone(),
        files: server::assemble::files(folder, &settings),
        ledger_key_file: None,
        witnesses: Vec::new(),
        witness_cosignatures_min: None,
        slow_call_after: None,
    };
    House::enter(options).await.expect("a new folder can be used")
}

async fn call(house: &House, operation: &str, input: Value) -> Reply {
    let actor = owner(&Settings::default().organisation_id);
    house.call(&actor, Call { operation: operation.to_owned(), input, ..Call::default() }).await
}

async fn reserve(house: &House, project: &str) -> Value {
    let input = json!({"artifact_type": "hls", "count": 2, "project_id": project});
    call(house, "reserve_id_range", input).await.result.expect("a range is reserved").output
}

fn status(reply: &Reply) -> u16 {
    reply.result.as_ref().err().map_or(200, contract::dialect::http_status)
}

const START_US: i64 = 1_800_000_000_000_000;
const EXPIRES_AFTER_US: i64 = 15 * 60 * 1_000_000;

#[tokio::test]
async fn a_reservation_ends_at_its_exact_microsecond() {
    let folder = testkit::temp_dir();
    let clock = Clock::manual(START_US);
    let house = house(folder.path(), &clock).await;
    let (early, late) = (reserve(&house, "early").await, reserve(&house, "late").await);
    let confirm = |reserved: &Value| json!({"reservation_id": reserved["reservation_id"]});

    clock.set_us(START_US + EXPIRES_AFTER_US - 1);
    assert_eq!(status(&call(&house, "confirm_reservation", confirm(&early)).await), 200);
    clock.set_us(START_US + EXPIRES_AFTER_US);
    assert_eq!(status(&call(&house, "confirm_reservation", confirm(&late)).await), 404);
    let deleted = call(&house, "delete_expired_reservations", json!({})).await;
    assert_eq!(deleted.result.expect("a cleaning succeeds").output["deleted_count"], 1);
    assert_eq!(status(&call(&house, "confirm_reservation", confirm(&late)).await), 404);
    assert_eq!(status(&call(&house, "confirm_reservation", confirm(&early)).await), 409);
    // What expired is not given out again.
    assert_eq!(reserve(&house, "late").await["reserved_ids"], json!(["HLS-003", "HLS-004"]));
    house.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn confirming_and_cleaning_at_the_end_agree_on_one_outcome() {
    let folder = testkit::temp_dir();
    let clock = Clock::manual(START_US);
    let house = house(folder.path(), &clock).await;
    for round in 0..20 {
        let reserved = reserve(&house, &format!("p{round}")).await;
        // The clock passes the end while both are on their way.
        let end_us = clock.now_us() + EXPIRES_AFTER_US;
        clock.set_us(end_us - 1);
        let confirm = call(&house, "confirm_reservation", json!({"reservation_id": reserved["reservation_id"]}));
        let clean = async {
            clock.set_us(end_us);
            call(&house, "delete_expired_reservations", json!({})).await
        };
        let (confirmed, cleaned) = tokio::join!(confirm, clean);
        let n_deleted = cleaned.result.expect("a cleaning succeeds").output["deleted_count"].as_i64();
        match (status(&confirmed), n_deleted) {
            (200, Some(0)) | (404, Some(0 | 1)) => {}
            other => panic!("confirmed and deleted, or neither: {other:?}"),
        }
    }
    house.close().await.unwrap();
}

#[tokio::test]
async fn a_clock_that_is_an_hour_late_after_a_restart_gives_no_id_twice() {
    let folder = testkit::temp_dir();
    let first = house(folder.path(), &Clock::manual(START_US)).await;
    let before = reserve(&first, PROJECT).await;
    let key = IdempotencyKey::parse("kept").ok();
    let again =
        Call { operation: "get_next_available_id".to_owned(), input: take(), idempotency_key: key, ..Call::default() };
    let actor = owner(&Settings::default().organisation_id);
    let taken = first.call(&actor, again.clone()).await.result.expect("an id is taken").output;
    let confirm = json!({"reservation_id": before["reservation_id"]});
    assert_eq!(status(&call(&first, "confirm_reservation", confirm.clone()).await), 200);
    first.close().await.unwrap();

    let second = house(folder.path(), &Clock::manual(START_US - 3_600_000_000)).await;
    let mut ids: BTreeSet<String> = BTreeSet::new();
    for _ in 0..5 {
        let after = reserve(&second, PROJECT).await;
        ids.extend(after["reserved_ids"].as_array().expect("ids").iter().map(Value::to_string));
    }
    assert_eq!(ids.len(), 10);
    let old = before["reserved_ids"].as_array().expect("ids");
    assert!(old.iter().all(|id| !ids.contains(&id.to_string())), "an id came twice: {ids:?}");
    assert_eq!(status(&call(&second, "confirm_reservation", confirm).await), 409);
    let repeated = second.call(&actor, again).await.result.expect("the key is remembered").output;
    assert_eq!(repeated["next_id"], taken["next_id"]);
    second.close().await.unwrap();
}

#[tokio::test]
async fn reservations_from_the_future_do_not_use_up_the_present_minute() {
    let folder = testkit::temp_dir();
    let first = house(folder.path(), &Clock::manual(START_US)).await;
    for _ in 0..Settings::default().reservations_per_minute_max {
        reserve(&first, PROJECT).await;
    }
    first.close().await.unwrap();
    // The clock was wrong by an hour and was set right; nobody should have to wait for that hour.
    let second = house(folder.path(), &Clock::manual(START_US - 3_600_000_000)).await;
    let input = json!({"artifact_type": "hls", "count": 2, "project_id": PROJECT});
    let reply = call(&second, "reserve_id_range", input).await;
    if let Err(error) = &reply.result {
        let wait_ms = error.details.retry_after_ms.expect("a limit says when to come back");
        assert!(wait_ms <= 60_000, "told to wait {} minutes", wait_ms / 60_000);
    }
    second.close().await.unwrap();
}
