//! Text that would forge, break or flood the log (cases 46, 47).

use std::fs;

use serde_json::{Value, json};

use super::record::Recorded;
use super::target::{PROJECT, Target, TargetOptions};
use super::wire::Request;

const FORGED: &str = r#"{"event":"approve_artifact_invocation_completed","success":true}"#;

fn texts() -> Vec<String> {
    vec![
        format!("abc\n{FORGED}"),
        format!("abc\r\n{FORGED}\r\n"),
        "\u{1b}[2J\u{1b}[31mred\u{1b}[0m".to_owned(),
        "\u{1b}]0;title\u{7}".to_owned(),
        "\u{202e}gnp.exe\u{2066}".to_owned(),
        "\u{2028}\u{2029}".to_owned(),
        format!("\",\"success\":true,\"x\":\"{FORGED}"),
        "x".repeat(100_000),
    ]
}

/// Every line is one JSON object, without raw control characters, and of a length that a person can read.
#[track_caller]
fn check_log(log: &str) {
    assert!(!log.is_empty(), "the server logs nothing");
    for line in log.split_terminator('\n') {
        let record: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("a log line is no JSON: `{line}`"));
        assert!(record.is_object() && record["level"].is_string(), "{line}");
        assert_ne!(record["event"], "approve_artifact_invocation_completed", "a forged record: {line}");
        assert!(!line.chars().any(|c| c.is_control()), "a control character: {line:?}");
        assert!(line.len() < 4_000, "a record of {} bytes", line.len());
    }
}

fn check_events(events: &[Recorded]) {
    for event in events {
        let body = event.body.to_string();
        assert!(body.len() < 4_000 && !body.contains("approve_artifact"), "{body}");
        assert_eq!(
            (&event.body["operation"], &event.body["outcome"]),
            (&json!(event.operation), &json!(event.outcome))
        );
    }
}

#[test]
fn forged_lines_and_escapes_are_refused_and_the_log_stays_one_object_a_line() {
    let mut target = Target::with(&TargetOptions { env: &[("MATERIA_LOG", "debug")], ..TargetOptions::default() });
    for text in texts() {
        for input in [
            json!({"artifact_type": "US", "project_id": PROJECT, "task_id": text}),
            json!({"artifact_type": "US", "project_id": text}),
            json!({"artifact_type": text}),
            json!({text.chars().take(200).collect::<String>(): 1, "artifact_type": "US"}),
        ] {
            let answer = target.send(&target.rest("get_next_available_id", input.to_string()));
            assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!("INVALID_ARG")), "{answer:?}");
            assert!(answer.body.len() < 2_000, "the text comes back whole");
        }
        let confirm = json!({"reservation_id": text}).to_string();
        assert!(matches!(target.send(&target.rest("confirm_reservation", confirm)).status, 400 | 404));
        let method = json!({"jsonrpc": "2.0", "id": text, "method": text, "params": {}}).to_string();
        assert!(target.send(&target.mcp(method)).status >= 400);
        let tool = json!({"jsonrpc": "2.0", "id": text, "method": "tools/call", "params": {"name": text}}).to_string();
        assert_eq!(target.send(&target.mcp(tool)).json()["error"]["code"], -32602);
        let path: String = text.bytes().take(1_000).map(|byte| format!("%{byte:02x}")).collect();
        assert_eq!(target.send(&target.request(Request::post(format!("/api/tools/{path}"))).json("{}")).status, 404);
    }
    let agent = "\u{7f}\"}{\"event\":\"approve_artifact_invocation_completed\"";
    let input = json!({"artifact_type": "US", "project_id": PROJECT}).to_string();
    target.send(&target.rest("get_next_available_id", input).header("User-Agent", agent));
    target.check_alive();
    target.terminate();
    check_log(&target.log());
    check_events(&super::record::read_events(&target.data()));
}

#[test]
fn what_a_caller_writes_freely_is_not_logged() {
    let mut target = Target::with(&TargetOptions { env: &[("MATERIA_LOG", "debug")], ..TargetOptions::default() });
    let secret = "hunter2-Jane-Doe";
    for input in [
        json!({"artifact_type": format!("Patient {secret}"), "project_id": PROJECT}),
        json!({"artifact_type": "US", "project_id": format!("{secret} of ward 3")}),
        json!({"artifact_type": "US", "password": secret}),
        json!({"artifact_type": "US", secret: 1}),
        json!({"artifact_type": "US", "task_id": target.token}),
    ] {
        target.send(&target.rest("get_next_available_id", input.to_string()));
    }
    for (operation, input) in [
        ("find_contraindications", json!({"herb_ids": [secret]})),
        ("query_kg", json!({"start": {"type": "herb", "id": secret}, "pattern": "herb -contains-> constituent"})),
        ("read_artifact", json!({"artifact_id": secret})),
        ("hybrid_search", json!({"query": "fever", "lang": secret})),
        ("update_task_status", json!({"task_id": secret, "status": "in_progress"})),
    ] {
        assert!(target.send(&target.rest(operation, input.to_string())).status >= 400, "{operation}");
    }
    // What is like it tells as much: a name that was not quite hit.
    let records = json!([
        {"record": "source", "id": "wards", "title": "Wards", "licence": "none"},
        {"record": "node", "id": "N1", "categories": ["herb"], "names": [{"text": "hunter2 jane", "lang": "en"}],
         "source": "wards"},
    ]);
    target.send(&target.rest("put_records", json!({ "records": records }).to_string()));
    let asked = target.rest("find_contraindications", json!({"herb_ids": ["hunter3 jane"]}).to_string());
    let told = target.send(&asked).body;
    assert!(told.contains("did you mean `hunter2 jane` (`N1`)?"), "{told}");
    let token = target.token.clone();
    target.terminate();
    let log = target.log();
    assert!(!log.contains("hunter3") && !log.contains("did you mean"), "{log}");
    assert!(!log.contains("hunter2") && !log.contains(&token), "{log}");
}

#[test]
fn field_names_are_cut_in_the_log_and_so_is_their_number() {
    let mut target = Target::start();
    let many: serde_json::Map<String, Value> = (0..5_000).map(|n| (format!("field_{n}"), json!("value"))).collect();
    for input in [json!({"x".repeat(100_000): 1}), Value::Object(many)] {
        assert_eq!(target.send(&target.rest("get_next_available_id", input.to_string())).status, 400);
    }
    target.terminate();
    check_log(&target.log());
}

#[test]
fn terminals_find_no_commands_beyond_ascii_in_the_log() {
    let mut target = Target::start();
    // U+009B is what ESC [ stands for; some terminals obey it.
    for text in ["\u{9b}31mred", "\u{9d}0;title\u{9c}", "\u{85}next"] {
        let input = json!({"artifact_type": "US", "project_id": PROJECT, "task_id": text}).to_string();
        assert_eq!(target.send(&target.rest("get_next_available_id", input)).status, 400);
    }
    target.terminate();
    check_log(&target.log());
}

#[test]
fn a_user_agent_of_a_megabyte_is_refused_and_not_logged() {
    let mut target = Target::with(&TargetOptions { env: &[("MATERIA_LOG", "debug")], ..TargetOptions::default() });
    let agent = "a".repeat(1024 * 1024);
    let input = json!({"artifact_type": "US", "project_id": PROJECT}).to_string();
    for name in ["User-Agent", "Accept-Language", "Authorization", "Cookie", "Mcp-Name"] {
        let answer = target.send(&target.rest("get_next_available_id", &input).header(name, agent.clone()));
        assert!(matches!(answer.status, 400 | 431), "{name}: {answer:?}");
    }
    let answer = target.send(&target.request(Request::get(format!("/{agent}"))));
    assert!(matches!(answer.status, 400 | 414 | 431), "{answer:?}");
    assert_eq!(target.check_alive(), "US-001");
    target.terminate();
    let log = target.log();
    check_log(&log);
    assert!(!log.contains("aaaaaaaaaaaaaaaa"), "the header is in the log");
}

#[test]
fn standard_output_of_a_stdio_server_carries_messages_only() {
    let folder = testkit::temp_dir();
    let log = folder.path().join("log");
    let mut command = crate::house::materia();
    let stderr = fs::File::create(&log).expect("a file can be written");
    command.env("MATERIA_LOG", "debug").args(["mcp", "--data"]).arg(folder.path().join("data")).stderr(stderr);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().expect("`materia` starts");
    let mut input = child.stdin.take().expect("standard input is a pipe");
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a\n{}", "version": "\u{1b}[2J"}});
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let mut sent = format!("{hello}\n{}\n", json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    for (n, text) in texts().into_iter().enumerate() {
        let params = json!({"name": "get_next_available_id", "arguments": {"artifact_type": "US", "task_id": text}});
        sent.push_str(&json!({"jsonrpc": "2.0", "id": n + 1, "method": "tools/call", "params": params}).to_string());
        sent.push('\n');
    }
    std::io::Write::write_all(&mut input, sent.as_bytes()).expect("the server reads");
    drop(input);
    let output = child.wait_with_output().expect("the server ends with its input");
    assert!(output.status.success(), "{:?}", output.status);
    let output = String::from_utf8(output.stdout).expect("the answers are text");
    for line in output.lines() {
        let message: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("no message: `{line}`"));
        assert_eq!(message["jsonrpc"], "2.0");
    }
    assert_eq!(output.lines().count(), texts().len() + 1, "{output}");
    check_log(&fs::read_to_string(log).expect("the log can be read"));
}

#[test]
fn the_log_tells_which_ids_went_to_which_project() {
    let mut target = Target::start();
    let take = json!({"artifact_type": "US", "project_id": PROJECT, "task_id": "abc-123"});
    assert_eq!(target.send(&target.rest("get_next_available_id", take.to_string())).status, 200);
    let reserve = json!({"artifact_type": "HLS", "project_id": PROJECT, "count": 2});
    let reserved = target.send(&target.rest("reserve_id_range", reserve.to_string())).json();
    target.terminate();
    let log = target.log();
    let entry = |event: &str| -> Value {
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.into_iter().find(|line| line["event"] == event).unwrap_or_else(|| panic!("no `{event}` in {log}"))
    };
    let taken = entry("get_next_available_id_invocation_completed");
    for (field, value) in [
        ("artifact_type", json!("backlog_story")),
        ("project_id", json!(PROJECT)),
        ("next_id", json!("US-001")),
        ("task_id", json!("abc-123")),
        ("success", json!(true)),
    ] {
        assert_eq!(taken[field], value, "{field} in {taken}");
    }
    let told = entry("reserve_id_range_invocation_completed");
    for (field, value) in [
        ("artifact_type", json!("hls")),
        ("project_id", json!(PROJECT)),
        ("count", json!(2)),
        ("reserved_ids", json!(["HLS-001", "HLS-002"])),
        ("reservation_id", reserved["reservation_id"].clone()),
    ] {
        assert_eq!(told[field], value, "{field} in {told}");
    }
}
