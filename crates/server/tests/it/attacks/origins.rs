//! Web pages from elsewhere: other hosts, other origins, forms, tokens in addresses (cases 1, 2, 3, 5, 45).

use serde_json::json;

use super::record::Recorded;
use super::target::{PROJECT, Target, TargetOptions};
use super::wire::{Answer, Request, exchange};

const TAKE: &str = r#"{"artifact_type":"backlog_story","project_id":"attacked"}"#;

/// The same call on every surface that takes one.
fn surfaces(target: &Target) -> Vec<(std::net::SocketAddr, Request)> {
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "get_next_available_id", "arguments": {"artifact_type": "backlog_story", "project_id": PROJECT}},
    });
    let by_body = json!({"tool": "get_next_available_id", "input": {"artifact_type": "US", "project_id": PROJECT}});
    let reserve = json!({"type": "US", "count": 1, "project_id": PROJECT});
    vec![
        (target.http, target.rest("get_next_available_id", TAKE)),
        (target.http, target.request(Request::post("/tools")).json(by_body.to_string())),
        (target.http, target.mcp(call.to_string())),
        (target.ids, target.request(Request::post("/ids/reserve")).json(reserve.to_string())),
    ]
}

/// Refusals are folded: their counts for one reason, added up.
fn n_refused(events: &[Recorded], reason: &str) -> u64 {
    let refusals = events.iter().filter(|event| event.operation == "authenticate" && event.outcome == "denied");
    refusals.filter(|event| event.body["code"] == reason).filter_map(|event| event.body["count"].as_u64()).sum()
}

#[track_caller]
fn check_refused(answer: &Answer, status: u16, code: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    // The services of seed 001 have `error` as a word, the others as an object.
    let body = answer.json();
    assert!(body["error"]["code"] == code || body["error"] == code, "{body}");
}

#[test]
fn another_host_or_origin_is_refused_on_every_surface_and_recorded() {
    let target = Target::start();
    let own = format!("http://{}", target.http);
    let port = target.http.port();
    let hosts = ["evil.example".to_owned(), format!("evil.example:{port}"), format!("localhost.evil.example:{port}")];
    let origins = [
        "https://evil.example",
        "null",
        "http://localhost:9999",
        "http://127.0.0.1.evil.example",
        &own.replace("http:", "https:"),
    ];
    let mut n_attacks = 0;
    for (address, request) in surfaces(&target) {
        for host in &hosts {
            let answer = exchange(address, &request.clone().header("Host", host).bytes()).only();
            check_refused(&answer, 403, "DENIED");
        }
        for origin in origins {
            let answer = exchange(address, &request.clone().header("Origin", origin).bytes()).only();
            check_refused(&answer, 403, "DENIED");
        }
        n_attacks += 1;
    }
    let pages = [Request::get("/"), Request::get("/api"), Request::get("/api/openapi.json"), Request::get("/metrics")];
    for page in pages {
        assert_eq!(target.send(&page.header("Host", "evil.example")).status, 403);
    }
    assert_eq!(target.send(&target.rest("get_next_available_id", TAKE).header("Origin", own)).status, 200);
    assert_eq!(target.check_alive(), "US-002", "a refused call took an id");

    let events = target.stop();
    assert_eq!(n_refused(&events, "FOREIGN_HOST"), n_attacks * 3 + 4);
    assert_eq!(n_refused(&events, "FOREIGN_ORIGIN"), n_attacks * 5);
}

#[test]
fn the_host_of_a_whole_address_counts_as_much_as_the_header() {
    let target = Target::start();
    let mut request = target.rest("get_next_available_id", TAKE);
    request.path = format!("http://evil.example{}", request.path);
    check_refused(&target.send(&request), 403, "DENIED");
}

#[test]
fn a_token_in_the_address_or_the_body_is_no_token() {
    let target = Target::start();
    let token = target.token.clone();
    for (address, mut request) in surfaces(&target) {
        for query in
            [format!("?token={token}"), format!("?access_token={token}"), format!("?authorization=Bearer%20{token}")]
        {
            let path = request.path.clone();
            request.path.push_str(&query);
            let answer = exchange(address, &request.clone().header("Authorization", "").bytes()).only();
            check_refused(&answer, 401, "UNAUTHENTICATED");
            assert!(answer.header("www-authenticate").is_some_and(|value| value.starts_with("Bearer")), "{answer:?}");
            request.path = path;
        }
    }
    assert_eq!(target.check_alive(), "US-001");
    assert!(!target.log().contains(&token), "the token is in the log");
    let events = target.stop();
    assert_eq!(n_refused(&events, "NO_TOKEN"), 12);
    assert!(events.iter().all(|event| !event.body.to_string().contains(&token)));
}

#[test]
fn a_form_of_another_site_changes_nothing() {
    let target = Target::start();
    let forms =
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonp"];
    for (address, request) in surfaces(&target) {
        for form in forms {
            let answer = exchange(address, &request.clone().header("Content-Type", form).bytes()).only();
            assert_eq!(answer.status, 415, "{form}: {answer:?}");
        }
        let answer = exchange(address, &request.header("Content-Type", "").bytes()).only();
        assert_eq!(answer.status, 415, "no media type: {answer:?}");
    }
    assert_eq!(target.check_alive(), "US-001");
}

#[test]
fn the_cookie_of_a_session_serves_its_own_page_only() {
    let target = Target::start();
    let opened = target.send(&target.request(Request::post("/session")));
    assert_eq!(opened.status, 200, "{opened:?}");
    let cookie = opened.header("set-cookie").expect("a session is a cookie").to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let cookie = cookie.split(';').next().expect("a cookie has a value").to_owned();

    let own = format!("http://{}", target.http);
    for (address, request) in surfaces(&target) {
        let request = request.header("Authorization", "").header("Cookie", cookie.clone());
        for origin in ["https://evil.example", "null"] {
            let crossed = request.clone().header("Origin", origin);
            check_refused(&exchange(address, &crossed.bytes()).only(), 403, "DENIED");
            let form = crossed.header("Content-Type", "text/plain");
            check_refused(&exchange(address, &form.bytes()).only(), 403, "DENIED");
        }
        // A page without an Origin header, such as a navigation, still cannot send JSON; what only programs call takes no
        // cookie at all.
        let form = request.clone().header("Content-Type", "text/plain");
        let expected = if request.path.starts_with("/api/") { 415 } else { 401 };
        assert_eq!(exchange(address, &form.bytes()).only().status, expected);
    }
    assert_eq!(target.check_alive(), "US-001");
    let own_page =
        target.rest("get_next_available_id", TAKE).header("Authorization", "").header("Cookie", cookie.clone());
    let own_page = own_page.header("Origin", own.clone());
    assert_eq!(target.send(&own_page).status, 200);

    let sign_out = target.request(Request::delete("/session"));
    let sign_out = sign_out.header("Authorization", "").header("Cookie", cookie).header("Origin", own);
    let signed_out = target.send(&sign_out);
    assert_eq!(signed_out.status, 204, "{signed_out:?}");
    assert!(signed_out.header("set-cookie").is_some_and(|cookie| cookie.contains("Max-Age=0")), "{signed_out:?}");
    assert_eq!(target.send(&own_page).status, 401);
}

#[test]
fn what_never_became_a_call_is_in_the_record_of_who_sent_it() {
    let env: [(&str, &str); 3] =
        [("MATERIA_RATE_PER_SECOND", "1"), ("MATERIA_RATE_BURST", "20"), ("MATERIA_CALLS_PER_PRINCIPAL_MAX", "")];
    let target = Target::with(&TargetOptions { env: &env, ..TargetOptions::default() });
    let broken = [
        target.rest("get_next_available_id", r#"{"a":1,"a":2}"#),
        target.rest("get_next_available_id", "{"),
        target
            .request(Request::post("/api/tools/get_next_available_id"))
            .header("Content-Type", "text/plain")
            .body("{}"),
        target.mcp(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":1,"a":2}}"#),
        target.rest("get_next_available_id", TAKE).header("Idempotency-Key", "two words"),
    ];
    for request in &broken {
        assert!(target.send(request).status >= 400);
    }
    let of_service = |request: Request| {
        let request = target.request(request).header("Host", target.ids.to_string());
        exchange(target.ids, &request.bytes()).only().status
    };
    assert_eq!(of_service(Request::get("/ids/next?type=US&type=HLS&project=attacked")), 400);
    assert_eq!(of_service(Request::post("/ids/reserve").json("[]")), 400);
    let both = r#"{"type":"HLS","artifact_type":"US","count":1,"project_id":"attacked"}"#;
    assert_eq!(of_service(Request::post("/ids/reserve").json(both)), 400);
    let expired = Request::delete("/ids/reservations/expired?x=1");
    assert_eq!(of_service(expired), 400, "an unknown parameter is not passed over");
    let once = String::from_utf8(target.rest("get_next_available_id", TAKE).bytes()).expect("plain text");
    let twice = once.replacen("\r\n", "\r\nAuthorization: Bearer other\r\n", 1);
    assert_eq!(target.send_bytes(twice.as_bytes()).status, 400);
    let n_flooded = (0..60).filter(|_| target.send(&target.rest("list_artifact_types", "{}")).status == 429).count();
    assert!(n_flooded > 0);
    let events = target.stop();
    let noted = |operation: &str, code: &str| -> u64 {
        let found = events.iter().filter(|event| event.operation == operation && event.body["code"] == code);
        found.filter_map(|event| event.body["count"].as_u64()).sum()
    };
    assert_eq!(noted("admit", "BODY"), 2);
    assert_eq!(noted("admit", "MEDIA_TYPE"), 1);
    assert_eq!(noted("admit", "MESSAGE"), 1);
    assert_eq!(noted("admit", "REQUEST"), 4);
    assert_eq!(noted("authenticate", "HEADER_TWICE"), 1);
    assert_eq!(noted("admit", "RATE_LIMITED"), n_flooded as u64);
    let admitted = events.iter().find(|event| event.operation == "admit").expect("an event");
    assert_eq!(admitted.body["actor"]["id"], "owner");
}
