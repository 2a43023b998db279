//! Messages that two readers could read in two ways, over HTTP and over standard input (cases 20, 21, 22).

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use contract::strict::Limits;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::answers::rpc_code;
use super::lines::Lines;
use super::record::{Recorded, count, read_events};
use super::target::{PROJECT, Target};
use crate::house::materia;

fn call(arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"get_next_available_id","arguments":{arguments}}}}}"#
    )
}

/// The same message over HTTP and over standard input; `status` is that of HTTP.
#[track_caller]
fn check(target: &Target, lines: &mut Lines, message: &[u8], status: u16, code: i64) {
    let shown = String::from_utf8_lossy(message).into_owned();
    let answer = target.send(&target.mcp(message));
    assert_eq!((answer.status, rpc_code(&answer.json())), (status, code), "{shown}: {answer:?}");
    let answer = lines.ask(message);
    assert_eq!(rpc_code(&answer), code, "{shown} on standard input: {answer}");
}

#[test]
fn a_key_that_stands_twice_is_refused_wherever_it_stands() {
    let target = Target::start();
    let mut lines = Lines::start(&target.data());
    for message in [
        call(r#"{"artifact_type":"US","artifact_type":"HLS"}"#),
        call(r#"{"artifact_type":"US","project_id":"a","project_\u0069d":"b"}"#),
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#.to_owned(),
    ] {
        check(&target, &mut lines, message.as_bytes(), 400, -32602);
    }
    let input = r#"{"artifact_type":"US","project_id":"attacked","artifact_type":"HLS"}"#;
    let answer = target.send(&target.rest("get_next_available_id", input));
    let error = &answer.json()["error"];
    assert_eq!((answer.status, &error["code"]), (400, &json!("INVALID_ARG")), "{answer:?}");
    assert_eq!(error["details"]["field"], "artifact_type", "{answer:?}");
    assert_eq!(target.check_alive(), "US-001");
    lines.check_alive();
}

#[test]
fn an_argument_nobody_asked_for_is_refused_and_recorded() {
    let target = Target::start();
    let mut lines = Lines::start(&target.data());
    let extras = [
        r#"{"artifact_type":"US","project_id":"attacked","extra":1}"#,
        r#"{"artifact_type":"US","project_id":"attacked","Project_Id":"other"}"#,
        r#"{"artifact_type":"US","project_id":"attacked","organisation_id":"other"}"#,
        r#"{"artifact_type":"US","project_id":"attacked","__proto__":{"is_admin":true}}"#,
        r#"{"artifact_type":["US"],"project_id":"attacked"}"#,
        r#"{"artifact_type":{"$ne":null},"project_id":"attacked"}"#,
        "{}",
    ];
    for arguments in extras {
        // The message is sound and its arguments are not: an error of the tool, which travels in a 200.
        check(&target, &mut lines, call(arguments).as_bytes(), 200, -32602);
        let answer = target.send(&target.rest("get_next_available_id", arguments));
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!("INVALID_ARG")), "{answer:?}");
    }
    assert_eq!(target.check_alive(), "US-001");
    lines.check_alive();
    drop(lines);
    assert_eq!(count(&target.stop(), "get_next_available_id", "invalid"), extras.len() * 3);
}

#[test]
fn what_is_not_one_request_is_invalid() {
    let target = Target::start();
    let mut lines = Lines::start(&target.data());
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for message in [
        "[]".to_owned(),
        format!("[{request}]"),
        format!("[{request},{request}]"),
        "7".to_owned(),
        "null".to_owned(),
        r#""ping""#.to_owned(),
        "{}".to_owned(),
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#.to_owned(),
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#.to_owned(),
        r#"{"id":1,"method":"ping"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"result":{},"method":"ping"}"#.to_owned(),
    ] {
        check(&target, &mut lines, message.as_bytes(), 400, -32600);
    }
    target.check_alive();
    lines.check_alive();
}

#[test]
fn an_answer_to_no_question_is_refused_over_http_and_passed_over_on_standard_input() {
    let target = Target::start();
    let mut lines = Lines::start(&target.data());
    for message in [
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x"}}"#,
    ] {
        let answer = target.send(&target.mcp(message));
        assert_eq!((answer.status, rpc_code(&answer.json())), (400, -32600), "{answer:?}");
        // JSON-RPC knows no answer to an answer: the next line must be that of the next request.
        lines.send(message);
        lines.check_alive();
    }
    target.check_alive();
}

#[test]
fn what_is_not_json_is_a_parse_error() {
    let target = Target::start();
    let mut lines = Lines::start(&target.data());
    let mut texts: Vec<Vec<u8>> = [
        "{",
        "nope",
        "{\"jsonrpc\":\"2.0\",}",
        "{'jsonrpc':'2.0'}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} {}",
        "{\"jsonrpc\":\"2.0\",\"id\":NaN,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":01,\"method\":\"ping\"}",
        "// a comment",
        "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect();
    texts.push(call(r#"{"artifact_type":"\ud800"}"#).into_bytes());
    texts.push(call(r#"{"artifact_type":"\udc00\ud800"}"#).into_bytes());
    texts.push([b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}".as_slice()].concat());
    texts.push([b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc0\xaf\"}".as_slice()].concat());
    texts.push(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\0b\"}".to_vec());
    for text in &texts {
        check(&target, &mut lines, text, 400, -32700);
    }
    // An empty body is not JSON; an empty line is no message.
    assert_eq!(rpc_code(&target.send(&target.mcp("")).json()), -32700);
    target.check_alive();
    lines.check_alive();
}

#[test]
fn a_nul_in_a_field_is_an_invalid_parameter() {
    let target = Target::start();
    let mut lines = Lines::start(&target.data());
    let nul = r#"{"artifact_type":"US\u0000","project_id":"attacked"}"#;
    check(&target, &mut lines, call(nul).as_bytes(), 400, -32602);
    check(&target, &mut lines, call(r#"{"artifact_type":"US","\u0000":"attacked"}"#).as_bytes(), 400, -32602);
    let answer: Value = target.send(&target.rest("get_next_available_id", nul)).json();
    assert_eq!(answer["error"]["details"]["field"], "artifact_type", "{answer}");
    let input = json!({"artifact_type": "US", "project_id": PROJECT, "task_id": "\u{feff}"}).to_string();
    assert_eq!(target.send(&target.rest("get_next_available_id", input)).status, 400);
    assert_eq!(target.check_alive(), "US-001");
    lines.check_alive();
}

/// Lines that no reader should take for a message, one of each kind.
fn refused_lines() -> Vec<Vec<u8>> {
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
    vec![
        call(r#"{"artifact_type":"US","artifact_type":"HLS"}"#).into_bytes(),
        call(r#"{"artifact_type":"US","count":9007199254740993}"#).into_bytes(),
        call(r#"{"artifact_type":"US\u0000"}"#).into_bytes(),
        call(&deep).into_bytes(),
        b"{\"jsonrpc\":".to_vec(),
        b"\xff\xfe".to_vec(),
        b"[]".to_vec(),
        vec![b' '; Limits::DEFAULT.bytes_max / 2],
        [vec![b'['], vec![b'7'; Limits::DEFAULT.bytes_max]].concat(),
    ]
}

/// Refusals are folded: those of the owner for one reason, added up.
fn n_admitted_not(events: &[Recorded], reason: &str) -> u64 {
    let refusals = events.iter().filter(|event| event.operation == "admit" && event.outcome == "denied");
    let of_owner = refusals.filter(|event| event.body["actor"]["id"] == "owner" && event.body["code"] == reason);
    of_owner.filter_map(|event| event.body["count"].as_u64()).sum()
}

#[test]
fn a_line_that_is_no_message_is_recorded_though_the_client_leaves_at_once() {
    // An empty line is none, and one of them is too long: both are not among the messages.
    let expected = (refused_lines().len() as u64 - 2, 1);
    let noted = |events: &[Recorded]| (n_admitted_not(events, "MESSAGE"), n_admitted_not(events, "BODY"));

    let folder = testkit::temp_dir();
    let mut owner = Lines::start(folder.path());
    refused_lines().iter().for_each(|line| owner.send(line));
    owner.close();
    assert_eq!(noted(&read_events(folder.path())), expected, "by the owner of the folder");

    let target = Target::start();
    let mut guest = Lines::start(&target.data());
    refused_lines().iter().for_each(|line| guest.send(line));
    // What the protocol does not know is told to the client and is no refusal, as over HTTP.
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    guest.send(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"_meta": meta}}).to_string());
    guest.close();
    assert_eq!(noted(&target.stop()), expected, "by a guest");
}

#[test]
fn a_line_that_is_no_message_is_recorded_of_a_client_that_never_began_nor_listens() {
    let folder = testkit::temp_dir();
    let mut command = materia();
    command.args(["mcp", "--data"]).arg(folder.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("`materia` starts");
    drop(child.stdout.take());
    let mut input = child.stdin.take().expect("standard input is a pipe");
    input.write_all(b"nope\n").expect("the server reads");
    drop(input);
    assert!(child.wait().expect("the server ends with its input").success());
    assert_eq!(n_admitted_not(&read_events(folder.path()), "MESSAGE"), 1);
}

#[test]
fn a_line_that_is_no_message_is_recorded_though_a_signal_ends_the_program() {
    let folder = testkit::temp_dir();
    let mut command = materia();
    command.args(["mcp", "--data"]).arg(folder.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("`materia` starts");
    let mut input = child.stdin.take().expect("standard input is a pipe");
    input.write_all(b"nope\n").expect("the server reads");
    let mut answer = String::new();
    let output = child.stdout.as_mut().expect("standard output is a pipe");
    BufReader::new(output).read_line(&mut answer).expect("an answer");
    assert!(answer.contains("-32700"), "{answer}");
    kill_process(Pid::from_child(&child), Signal::TERM).expect("the server can be told to stop");
    // The client is still there, and its end of the pipe open.
    assert!(child.wait().expect("the server ends").success());
    assert_eq!(n_admitted_not(&read_events(folder.path()), "MESSAGE"), 1);
}
