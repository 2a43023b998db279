//! Strangers: pages that lead a browser to the services, and whoever tries one wrong token after the other.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Instant;

use serde_json::{Value, json};

use super::record::{Recorded, read_events};
use super::target::{PROJECT, Target, TargetOptions};
use super::wire::{Answer, Request, exchange};

/// Limits as they ship.
const DEFAULT_FAILURES: [(&str, &str); 2] =
    [("MATERIA_AUTH_FAILURES_PER_SECOND", ""), ("MATERIA_AUTH_FAILURES_BURST", "")];

/// What changes something at a mere `GET`.
fn taking(target: &Target) -> [(SocketAddr, Request); 2] {
    let get = |path: String, address: SocketAddr| (address, Request::get(path).header("Host", address.to_string()));
    [
        get(format!("/ids/next?type=US&project={PROJECT}"), target.ids),
        get(format!("/tasks/next?project={PROJECT}&claim=true"), target.tasks),
    ]
}

fn send(address: SocketAddr, request: &Request) -> Answer {
    exchange(address, &request.bytes()).only()
}

fn from_page(request: &Request, site: &str, mode: &str, dest: &str) -> Request {
    let request = request.clone().header("Sec-Fetch-Site", site).header("Sec-Fetch-Mode", mode);
    request.header("Sec-Fetch-Dest", dest)
}

#[test]
fn no_page_of_another_site_or_port_takes_an_id_or_a_task() {
    let env = [("MATERIA_AUTH", "none")];
    let target = Target::with(&TargetOptions { env: &env, ..TargetOptions::default() });
    for (address, request) in taking(&target) {
        for site in ["cross-site", "same-site"] {
            for (mode, dest) in
                [("navigate", "document"), ("navigate", "iframe"), ("no-cors", "image"), ("cors", "empty")]
            {
                let answer = send(address, &from_page(&request, site, mode, dest));
                assert_eq!(answer.status, 403, "{site} {mode} {dest}: {answer:?}");
            }
        }
        assert_eq!(send(address, &request).status, 200);
    }
    assert_eq!(target.check_alive(), "US-002", "only the one request without a page took an id");

    let page = Request::get("/api").header("Host", target.http.to_string());
    let list = Request::get("/api/tools").header("Host", target.http.to_string());
    assert_eq!(target.send(&from_page(&page, "cross-site", "navigate", "document")).status, 200);
    assert_eq!(target.send(&from_page(&page, "cross-site", "navigate", "iframe")).status, 403);
    assert_eq!(target.send(&from_page(&list, "cross-site", "navigate", "document")).status, 403);
    assert_eq!(target.send(&from_page(&list, "same-site", "no-cors", "image")).status, 403);
    assert_eq!(target.send(&from_page(&list, "same-origin", "cors", "empty")).status, 200);
}

#[test]
fn the_cookie_of_a_session_opens_no_service() {
    let target = Target::start();
    let opened = target.send(&target.request(Request::post("/session")));
    let cookie = opened.header("set-cookie").and_then(|cookie| cookie.split(';').next()).expect("a cookie").to_owned();
    let list = Request::get("/api/tools").header("Host", target.http.to_string()).header("Cookie", cookie.clone());
    assert_eq!(target.send(&list).status, 200, "the session is open");
    for (address, request) in taking(&target) {
        assert_eq!(send(address, &request.clone().header("Cookie", cookie.clone())).status, 401);
        let bearer =
            request.header("Cookie", cookie.clone()).header("Authorization", format!("Bearer {}", target.token));
        assert_eq!(send(address, &bearer).status, 200);
    }
    assert_eq!(target.check_alive(), "US-002");
}

/// The refusals for one reason, by the key that they name, with their counts.
fn refusals(events: &[Recorded], code: &str) -> Vec<(Value, u64, String)> {
    let found = events.iter().filter(|event| event.operation == "authenticate" && event.body["code"] == code);
    let told = |event: &Recorded| {
        let count = event.body["count"].as_u64().expect("refusals are counted");
        (event.body["actor"]["key_id"].clone(), count, event.body["in_hash"].to_string())
    };
    found.map(told).collect()
}

/// The warnings about refused strangers.
fn warnings(log: &str) -> Vec<Value> {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line.to_string().contains("Refused ")).collect()
}

#[test]
fn who_shows_a_wrong_or_revoked_key_is_told_apart_in_the_record_and_the_log() {
    let mut target = Target::start();
    let create = json!({"actor_id": "robot", "roles": ["agent"]});
    let created = target.send(&target.rest("create_key", create.to_string())).json();
    let (key, key_id) = (created["key"].as_str().expect("a key"), created["key_id"].as_str().expect("an id"));
    let revoke = target.rest("revoke_key", json!({"key_id": key_id}).to_string());
    assert_eq!(target.send(&revoke).status, 200);
    let list =
        |token: &str| target.request(Request::get("/api/tools")).header("Authorization", format!("Bearer {token}"));
    assert_eq!(target.send(&list(key)).status, 401);
    let guessed = format!("mk_{key_id}_{}", "0".repeat(64));
    assert_eq!(target.send(&list(&guessed)).status, 401);
    assert_eq!(target.send(&list("hunter2-a-password")).status, 401);
    // Another source.
    assert_eq!(status_from_elsewhere(&target, "hunter2-a-password"), 401);

    target.terminate();
    let (events, log) = (read_events(&target.data()), target.log());
    let revoked = refusals(&events, "KEY_REVOKED");
    assert_eq!(revoked.len(), 1);
    assert_eq!((&revoked[0].0, revoked[0].1), (&json!(key_id), 1));
    let unknown = refusals(&events, "UNKNOWN_TOKEN");
    assert_eq!(unknown.len(), 2, "one event for each source: {unknown:?}");
    assert!(unknown.iter().all(|(named, ..)| named.is_null()), "an id that anybody may write is no finding");
    assert_ne!(unknown[0].2, unknown[1].2, "the hash tells the sources apart");

    let lines = warnings(&log);
    assert_eq!(lines.len(), 3, "{log}");
    let all = format!("{lines:?}");
    assert!(all.contains("127.0.0.1") && all.contains("127.0.0.2") && all.contains(key_id), "{all}");
    let secret = key.rsplit('_').next().expect("a secret");
    assert!(!log.contains(secret) && !log.contains("hunter2"), "{log}");
}

/// How somebody with this token is answered who comes from another address of this machine.
fn status_from_elsewhere(target: &Target, token: &str) -> u16 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let http = reqwest::Client::builder().no_proxy().local_address(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2))).build();
    let request = http.expect("a client without TLS always builds").get(format!("http://{}/api/tools", target.http));
    runtime.block_on(request.bearer_auth(token).send()).expect("an answer").status().as_u16()
}

#[test]
fn wrong_tokens_from_one_address_meet_a_limit_and_another_address_does_not() {
    let target = Target::with(&TargetOptions { env: &DEFAULT_FAILURES, ..TargetOptions::default() });
    let wrong = target.request(Request::get("/api/tools")).header("Authorization", "Bearer wrong").bytes();
    let begun = Instant::now();
    let answers: Vec<Answer> = (0..300).map(|_| exchange(target.http, &wrong).only()).collect();
    let n_answered = answers.iter().filter(|answer| answer.status == 401).count();
    let limited: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 429).collect();
    assert_eq!(n_answered + limited.len(), answers.len());
    let n_allowed_max = 60.0 + 20.0 * (begun.elapsed().as_secs_f64() + 1.0);
    assert!((n_answered as f64) < n_allowed_max, "{n_answered} of {n_allowed_max}");
    if let Some(answer) = limited.last() {
        assert_eq!(answer.header("retry-after"), Some("1"), "{answer:?}");
    }
    assert_eq!(status_from_elsewhere(&target, &target.token), 200);
    let n_limited = limited.len() as u64;
    assert!(n_limited > 0 || begun.elapsed().as_secs() > 10, "nobody was stopped");
    let noted: u64 = refusals(&target.stop(), "TOO_MANY_FAILURES").iter().map(|(_, count, _)| count).sum();
    assert_eq!(noted, n_limited);
}

#[test]
fn a_token_that_counts_is_let_in_whatever_others_at_the_address_show() {
    let target = Target::with(&TargetOptions { env: &DEFAULT_FAILURES, ..TargetOptions::default() });
    let create = json!({"actor_id": "robot", "roles": ["agent"]});
    let created = target.send(&target.rest("create_key", create.to_string())).json();
    let key = created["key"].as_str().expect("a key").to_owned();
    let list = |token: &str| {
        let request = Request::get("/api/tools").header("Host", target.http.to_string());
        request.header("Authorization", format!("Bearer {token}")).bytes()
    };
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let flood = |wrong: &[u8]| {
        while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
            let status = exchange(target.http, wrong).only().status;
            assert!(status == 401 || status == 429, "a wrong token was answered {status}");
        }
    };
    std::thread::scope(|scope| {
        let made_up = format!("mk_{}_{}", "ab".repeat(8), "0".repeat(64));
        for wrong in ["wrong", made_up.as_str(), "e30.e30.e30"] {
            let wrong = list(wrong);
            scope.spawn(move || flood(&wrong));
        }
        let wrong = list("wrong");
        while exchange(target.http, &wrong).only().status != 429 {}
        let statuses: Vec<u16> = [key.as_str(), target.token.as_str()]
            .repeat(20)
            .into_iter()
            .map(|token| exchange(target.http, &list(token)).only().status)
            .collect();
        // Where others keep the machine busy, the floods may be slow for a moment.
        let is_held_up = (0..1_000).any(|_| exchange(target.http, &wrong).only().status == 429);
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(statuses, vec![200; 40]);
        assert!(is_held_up, "the wrong ones are told to wait all the while");
    });
}

#[test]
fn an_idempotency_key_counts_over_mcp_as_header_and_in_meta() {
    let target = Target::start();
    let call = |key: Option<&str>| {
        let arguments = json!({"artifact_type": "US", "project_id": PROJECT});
        let mut params = json!({"name": "get_next_available_id", "arguments": arguments});
        if let Some(key) = key {
            params["_meta"] = json!({"materia/idempotency_key": key});
        }
        target.mcp(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string())
    };
    let taken = |request: &Request| target.send(request).json()["result"]["structuredContent"]["next_id"].clone();
    assert_eq!(taken(&call(None).header("Idempotency-Key", "k-1")), "US-001");
    assert_eq!(taken(&call(None).header("Idempotency-Key", "k-1")), "US-001");
    assert_eq!(taken(&call(Some("k-1"))), "US-001");
    assert_eq!(taken(&call(Some("k-1")).header("Idempotency-Key", "k-1")), "US-001");
    assert_eq!(taken(&call(None).header("Idempotency-Key", "k-2")), "US-002");
    for (in_meta, in_header) in [(Some("k-1"), "k-2"), (None, "two words")] {
        let answer = target.send(&call(in_meta).header("Idempotency-Key", in_header));
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32602)), "{answer:?}");
        assert_eq!(answer.json()["id"], 1);
    }
    assert_eq!(target.check_alive(), "US-003");
}

#[test]
fn the_services_name_the_call_of_every_answer() {
    let target = Target::start();
    let bearer = format!("Bearer {}", target.token);
    for (address, request) in taking(&target) {
        let answer = send(address, &request.header("Authorization", bearer.clone()));
        assert!(answer.status == 200 && answer.header("x-call-id").is_some(), "{answer:?}");
    }
    let asks = [
        (target.ids, Request::get("/ids/next?type=poem"), 400),
        (target.ids, Request::post("/ids/reserve").json(r#"{"type":"US","count":2}"#), 200),
        (target.ids, Request::post("/ids/confirm").json(r#"{"reservation_id":"no"}"#), 404),
        (target.tasks, Request::get("/tasks?project=p"), 200),
    ];
    for (address, request, status) in asks {
        let request = request.header("Host", address.to_string()).header("Authorization", bearer.clone());
        let answer = send(address, &request);
        assert!(answer.status == status && answer.header("x-call-id").is_some(), "{answer:?}");
    }
}

#[test]
fn both_names_of_the_work_are_found_again() {
    let target = Target::start();
    let input = json!({"artifact_type": "US", "project_id": PROJECT, "task_id": "of-the-body"});
    let request = target.rest("get_next_available_id", input.to_string()).header("X-Correlation-Id", "of-the-header");
    let call_id = target.send(&request).header("x-call-id").expect("an id").to_owned();
    for correlation_id in ["of-the-body", "of-the-header"] {
        let search = target.rest("audit_search", json!({"correlation_id": correlation_id}).to_string());
        let found = target.send(&search);
        assert!(found.status == 200 && found.body.contains(&call_id), "{correlation_id}: {found:?}");
    }
}

#[test]
fn a_request_of_the_era_without_a_handshake_says_so_in_meta_too() {
    let target = Target::start();
    let list = target.mcp(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#);
    let list = list.header("MCP-Protocol-Version", "2026-07-28").header("Mcp-Method", "tools/list");
    let answer = target.send(&list);
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32602)), "{answer:?}");
    assert_eq!(answer.json()["id"], 7);
}

#[test]
fn a_number_beyond_every_double_is_refused_by_its_path() {
    let target = Target::start();
    for number in ["1e400".to_owned(), "9".repeat(401)] {
        let input = format!(r#"{{"artifact_type":"US","count":{number}}}"#);
        let answer = target.send(&target.rest("reserve_id_range", &input));
        assert_eq!((answer.status, &answer.json()["error"]["details"]["field"]), (400, &json!("count")), "{answer:?}");
        let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"reserve_id_range","arguments":"#;
        let answer = target.send(&target.mcp(format!("{call}{input}}}}}")));
        let error = &answer.json()["error"];
        assert_eq!((&error["code"], &error["data"]["path"]), (&json!(-32602), &json!("/params/arguments/count")));
        assert_eq!(answer.json()["id"], 7);
    }
}
