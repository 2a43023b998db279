//! Requests whose length, headers or lines can be read in two ways (case 26), and headers that come back (case 46).

use serde_json::json;

use super::target::{Target, TargetOptions};
use super::wire::{Request, exchange};

const SMUGGLED: &str = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// A call that would take an id, up to its framing.
fn heads(target: &Target) -> [String; 2] {
    let mcp = target.mcp("").header("Connection", "keep-alive");
    let rest = target.rest("get_next_available_id", "").header("Connection", "keep-alive");
    [mcp.head(), rest.head()]
}

#[test]
fn a_request_with_two_lengths_is_refused_and_nothing_after_it_is_read() {
    let target = Target::start();
    for head in heads(&target) {
        for (framing, body) in [
            ("Content-Length: 4\r\nContent-Length: 40\r\n", "{}  "),
            ("Content-Length: 2\r\nContent-Length: 2\r\n", "{}"),
            ("Content-Length: 2\r\nX-Between: 1\r\ncontent-length: 2\r\n", "{}"),
            ("Content-Length: 4, 40\r\n", "{}  "),
            ("Content-Length: 2, 2\r\n", "{}"),
            ("Content-Length: +2\r\n", "{}"),
            ("Content-Length: 0x2\r\n", "{}"),
            ("Content-Length: -1\r\n", "{}"),
            ("Content-Length: 99999999999999999999999\r\n", "{}"),
            ("Transfer-Encoding: identity\r\n", "{}"),
            ("Transfer-Encoding: chunked, identity\r\n", "2\r\n{}\r\n0\r\n\r\n"),
            ("Transfer-Encoding: xchunked\r\n", "2\r\n{}\r\n0\r\n\r\n"),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "2\r\n{}\r\n0\r\n\r\n"),
            ("Transfer-Encoding: \x0bchunked\r\nContent-Length: 2\r\n", "{}"),
            ("Transfer-Encoding : chunked\r\nContent-Length: 2\r\n", "{}"),
            ("Content-Length : 2\r\n", "{}"),
            ("Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n0\r\n\r\n"),
            ("Transfer-Encoding: chunked\r\n", "ffffffffffffffffff\r\n{}\r\n0\r\n\r\n"),
            ("Transfer-Encoding: chunked\r\n", "2;a\nb\r\n{}\r\n0\r\n\r\n"),
            ("Transfer-Encoding: chunked\r\n", "-2\r\n{}\r\n0\r\n\r\n"),
        ] {
            let answer = target.send_bytes(format!("{head}{framing}\r\n{body}{SMUGGLED}").as_bytes());
            assert_eq!(answer.status, 400, "{framing:?} {body:?}: {answer:?}");
        }
    }
    assert_eq!(target.check_alive(), "US-001", "a refused request took an id");
}

#[test]
fn after_a_request_with_a_length_and_chunks_nothing_is_read() {
    let target = Target::start();
    for head in heads(&target) {
        for (framing, body) in [
            ("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
            ("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "0\r\n\r\n"),
            ("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"),
            ("content-length: 0\r\ntransfer-encoding: chunked\r\n", "0\r\n\r\n"),
            ("Content-Length: 5\r\nTransfer-Encoding: CHUNKED\r\n", "0\r\n\r\n"),
        ] {
            let answer = target.send_bytes(format!("{head}{framing}\r\n{body}{SMUGGLED}").as_bytes());
            assert_eq!(answer.status, 400, "{framing:?}: {answer:?}");
        }
    }
    assert_eq!(target.check_alive(), "US-001", "a refused request took an id");
}

#[test]
fn a_sound_call_with_a_length_and_chunks_is_refused() {
    let target = Target::start();
    let input = r#"{"artifact_type":"backlog_story","project_id":"attacked"}"#;
    let head = target.rest("get_next_available_id", "").head();
    let (length, chunks) = (format!("Content-Length: {}\r\n", input.len()), "Transfer-Encoding: chunked\r\n");
    for framing in [format!("{length}{chunks}"), format!("{chunks}{length}")] {
        let n_bytes = input.len();
        let both = format!("{head}{framing}\r\n{n_bytes:x}\r\n{input}\r\n0\r\n\r\n{SMUGGLED}");
        assert_eq!(target.send_bytes(both.as_bytes()).status, 400);
    }
    assert_eq!(target.check_alive(), "US-001", "a refused request took an id");
}

#[test]
fn a_sound_call_that_says_its_length_twice_is_refused() {
    let target = Target::start();
    let input = r#"{"artifact_type":"backlog_story","project_id":"attacked"}"#;
    let rest = target.rest("get_next_available_id", "").head();
    let length = format!("Content-Length: {}\r\n", input.len());
    let exchanged = exchange(target.http, format!("{rest}{length}{length}\r\n{input}{SMUGGLED}").as_bytes());
    assert_eq!(exchanged.only().status, 400);
    let service = Request::post("/ids/reserve").header("Host", target.ids.to_string());
    let service = service.header("Authorization", format!("Bearer {}", target.token)).json("").head();
    let input = r#"{"type":"US","count":1,"project_id":"attacked"}"#;
    let length = format!("Content-Length: {}\r\n", input.len());
    let exchanged = exchange(target.ids, format!("{service}{length}{length}\r\n{input}{SMUGGLED}").as_bytes());
    assert_eq!(exchanged.only().status, 400);
    assert_eq!(target.check_alive(), "US-001", "a refused request took an id");
}

#[test]
fn line_ends_and_control_characters_in_headers_are_refused() {
    let target = Target::start();
    for head in heads(&target) {
        for evil in [
            "X-Note: a\rContent-Length: 0\r\n",
            "X-Note: a\nContent-Length: 0\r\nContent-Length: 2\r\n",
            "X-Note: a\0b\r\n",
            "X-Note: a\r\n folded: b\r\n",
            "Mcp-Name: get_next_available_id\rMcp-Method: x\r\n",
            "Mcp-Param-City: x\r\n\ty\r\n",
            "X Note: a\r\n",
            "X-Note\0: a\r\n",
            ": a\r\n",
            "no colon\r\n",
        ] {
            let answer = target.send_bytes(format!("{head}{evil}Content-Length: 2\r\n\r\n{{}}{SMUGGLED}").as_bytes());
            assert_eq!(answer.status, 400, "{evil:?}: {answer:?}");
        }
    }
    for line in
        ["POST /mcp", "POST /mcp HTTP/1.1 x", "PO ST /mcp HTTP/1.1", "POST /m\0cp HTTP/1.1", "POST /mcp HTTP/9.9"]
    {
        let exchanged = exchange(target.http, format!("{line}\r\nHost: localhost\r\n\r\n{SMUGGLED}").as_bytes());
        assert!(exchanged.is_closed && exchanged.answers.len() <= 1, "{line:?}: {exchanged:?}");
        assert!(exchanged.answers.iter().all(|answer| answer.status == 400), "{line:?}: {exchanged:?}");
    }
    assert_eq!(target.check_alive(), "US-001");
}

#[test]
fn two_hosts_or_none_are_refused() {
    let target = Target::start();
    let input = r#"{"artifact_type":"backlog_story","project_id":"attacked"}"#;
    let request = target.rest("get_next_available_id", input);
    assert_eq!(target.send(&request.clone().header("Host", "")).status, 400);
    let twice = String::from_utf8(request.bytes()).expect("a text").replacen("Host:", "Host: evil.example\r\nHost:", 1);
    assert_eq!(target.send_bytes(twice.as_bytes()).status, 400);
    assert_eq!(target.check_alive(), "US-001");
}

#[test]
fn a_header_that_decides_something_stands_once() {
    let target = Target::start();
    let input = r#"{"artifact_type":"backlog_story","project_id":"attacked"}"#;
    let once = String::from_utf8(target.rest("get_next_available_id", input).bytes()).expect("a text");
    for name in
        ["Authorization", "Content-Type", "Idempotency-Key", "X-Correlation-Id", "X-Materia-For", "X-Materia-Actor"]
    {
        let two = format!("\r\n{name}: one\r\n{name}: two\r\n");
        let answer = target.send_bytes(once.replacen("\r\n", &two, 1).as_bytes());
        assert_eq!(answer.status, 400, "{name}: {answer:?}");
    }
    assert_eq!(target.check_alive(), "US-001");
}

#[test]
fn what_is_left_of_a_refused_body_is_not_the_next_request() {
    let target = Target::start();
    let smuggled = SMUGGLED.repeat(10);
    let n_bytes = smuggled.len();
    let refused = [
        ("no token", target.rest("get_next_available_id", "").header("Authorization", "")),
        ("another host", target.rest("get_next_available_id", "").header("Host", "evil.example")),
        ("packed", target.rest("get_next_available_id", "").header("Content-Encoding", "gzip")),
        ("another media type", target.rest("get_next_available_id", "").header("Content-Type", "text/plain")),
        (
            "another charset",
            target.rest("get_next_available_id", "").header("Content-Type", "application/json; charset=utf-16"),
        ),
        ("not found", target.request(Request::post("/no/such"))),
    ];
    for (name, request) in refused {
        let bytes = format!("{}Content-Length: {n_bytes}\r\n\r\n{smuggled}", request.head());
        let exchanged = exchange(target.http, bytes.as_bytes());
        assert_eq!(exchanged.answers.len(), 1, "{name}: {exchanged:?}");
        assert!(exchanged.answers.iter().all(|answer| answer.status >= 400), "{name}: {exchanged:?}");
    }
    target.check_alive();
}

#[test]
fn a_body_that_was_refused_for_its_senders_rate_ends_the_connection() {
    let env: [(&str, &str); 2] = [("MATERIA_RATE_PER_SECOND", "1"), ("MATERIA_RATE_BURST", "3")];
    let target = Target::with(&TargetOptions { env: &env, ..TargetOptions::default() });
    let head = target.rest("list_artifact_types", "").head();
    let one = format!("{head}Content-Length: 2\r\n\r\n{{}}");
    let exchanged = exchange(target.http, one.repeat(12).as_bytes());
    let (last, before) = exchanged.answers.split_last().expect("an answer");
    assert_eq!((last.status, last.header("connection")), (429, Some("close")), "{exchanged:?}");
    assert!(before.len() < 11 && before.iter().all(|answer| answer.status == 200), "{exchanged:?}");
}

#[test]
fn headers_and_paths_do_not_come_back_as_headers() {
    let target = Target::start();
    let input = r#"{"artifact_type":"backlog_story","project_id":"attacked"}"#;
    let evil = "\"><script>alert(1)</script>; Set-Cookie=a";
    for name in ["User-Agent", "Accept-Language", "Referer", "X-Forwarded-For", "X-Request-Id", "Cookie"] {
        let answer = target.send(&target.rest("get_next_available_id", input).header(name, evil));
        assert_eq!(answer.status, 200, "{name}: {answer:?}");
        assert!(!format!("{answer:?}").contains("script"), "{name} comes back: {answer:?}");
    }
    for name in ["X-Correlation-Id", "Idempotency-Key"] {
        let answer = target.send(&target.rest("get_next_available_id", input).header(name, evil));
        assert_eq!(answer.status, 400, "{name}: {answer:?}");
        assert!(!format!("{answer:?}").contains("script"), "{name} comes back: {answer:?}");
    }
    for path in
        ["/api/tools/x%0d%0aSet-Cookie:%20a=b", "/%0d%0aLocation:%20https://evil.example", "/api/tools/%3Cscript%3E"]
    {
        let answer = target.send(&target.request(Request::post(path)).json("{}"));
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
        assert_eq!((answer.header("set-cookie"), answer.header("location")), (None, None), "{answer:?}");
        assert!(!answer.body.contains("<script>"), "{answer:?}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
    target.check_alive();
}

#[test]
fn a_body_in_another_coding_than_chunked_is_refused() {
    let target = Target::start();
    for coding in ["gzip, chunked", "gzip", "identity", "chunked, chunked"] {
        let head = target.rest("get_next_available_id", "").header("Transfer-Encoding", coding).head();
        let exchanged = exchange(target.http, format!("{head}\r\n0\r\n\r\n").as_bytes());
        assert_eq!(exchanged.answers.len(), 1, "{coding}: {exchanged:?}");
        assert!(exchanged.answers.iter().all(|answer| [400, 501].contains(&answer.status)), "{coding}: {exchanged:?}");
    }
    target.check_alive();
}

#[test]
fn a_path_that_is_no_text_is_refused_in_the_words_of_its_port() {
    let target = Target::start();
    let answer = target.send(&target.rest("%ff", "{}"));
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!("INVALID_ARG")), "{answer:?}");
    let request = target.request(Request::post("/tasks/%ff/status")).json("{}");
    let answer = exchange(target.tasks, &request.bytes()).only();
    assert_eq!((answer.status, &answer.json()["success"]), (400, &json!(false)), "{answer:?}");
}
