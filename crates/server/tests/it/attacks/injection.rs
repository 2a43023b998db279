//! SQL and shell in every field that takes text (cases 30, 31).

use std::fs;

use serde_json::{Value, json};

use super::lines::Lines;
use super::record::{block_on, open};
use super::target::{PROJECT, Target};
use super::wire::{Answer, Request, exchange};

const SQL: [&str; 12] = [
    "' OR 1=1--",
    "\"; DROP TABLE id_registry; --",
    "'; DROP TABLE events; --",
    "%' UNION SELECT body FROM events --",
    "1); DELETE FROM id_reservations; --",
    "NEAR(",
    "*",
    "\"unbalanced",
    "'unbalanced",
    "\\'; SELECT 1",
    "$1",
    "x' AND 1=(SELECT COUNT(*) FROM events)--",
];

const SHELL: [&str; 9] = [
    ";$(id)",
    "`touch pwned`",
    "$(touch pwned)",
    "| touch pwned",
    "&& touch pwned",
    "a\ntouch pwned",
    "--upload-pack=touch pwned",
    "-oProxyCommand=touch pwned",
    "${IFS}touch${IFS}pwned",
];

/// Every text field of every operation.
fn inputs(evil: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("get_next_available_id", json!({"artifact_type": evil})),
        ("get_next_available_id", json!({"artifact_type": "US", "project_id": evil})),
        ("get_next_available_id", json!({"artifact_type": "US", "project_id": PROJECT, "task_id": evil})),
        ("reserve_id_range", json!({"artifact_type": evil, "count": 1})),
        ("reserve_id_range", json!({"artifact_type": "US", "count": 1, "project_id": evil})),
        ("reserve_id_range", json!({"artifact_type": "US", "count": evil, "project_id": PROJECT})),
        ("confirm_reservation", json!({"reservation_id": evil})),
        ("confirm_reservation", json!({"reservation_id": evil, "task_id": evil})),
        ("delete_expired_reservations", json!({"task_id": evil})),
        ("validate_artifact", json!({"artifact_content": evil, "artifact_id": evil})),
        ("store_artifact", json!({"artifact_content": evil, "file_name": evil})),
        ("approve_artifact", json!({"artifact_id": evil})),
        ("approve_artifact", json!({"artifact_id": "PRD-001", "content_sha256": evil})),
        ("read_artifact", json!({"artifact_id": evil})),
        ("list_artifacts", json!({"status": evil, "parent_id": evil})),
        ("describe_operation", json!({"name": evil})),
        (Box::leak(evil.to_owned().into_boxed_str()), json!({})),
    ]
}

#[track_caller]
fn check_answer(answer: &Answer, what: &str) {
    assert!(matches!(answer.status, 200 | 400 | 404), "{what}: {answer:?}");
}

/// Sends the text through every field of every surface.
fn attack(target: &Target, lines: &mut Lines, evil: &str) {
    for (operation, input) in inputs(evil) {
        let what = format!("{operation} {input}");
        if operation != evil {
            check_answer(&target.send(&target.rest(operation, input.to_string())), &what);
        }
        let by_body = json!({"tool": operation, "input": input, "run_id": evil});
        check_answer(&target.send(&target.request(Request::post("/tools")).json(by_body.to_string())), &what);
        let params = json!({"name": operation, "arguments": input});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        for message in [target.send(&target.mcp(call.to_string())).json(), lines.call(operation, &input)] {
            let code = message["error"]["code"].as_i64();
            // Refused, not found, or data like any other; never our fault.
            assert!(matches!(code, Some(-32602 | -32001) | None), "{what}: {message}");
            let is_refused = message["result"]["isError"] == true || code.is_some();
            assert!(is_refused, "{what} was carried out: {message}");
        }
    }
    let encode = |byte: u8| {
        if byte.is_ascii_alphanumeric() || byte == b'_' { char::from(byte).to_string() } else { format!("%{byte:02x}") }
    };
    let encoded: String = evil.bytes().map(encode).collect();
    let queries = [format!("type={encoded}"), format!("type=US&project={encoded}"), format!("type=US&{encoded}=1")];
    for query in queries {
        let request = target.request(Request::get(format!("/ids/next?{query}")));
        check_answer(&exchange(target.ids, &request.bytes()).only(), &query);
    }
    let uri = format!("contract://operations/{evil}");
    for (method, params) in [
        ("resources/read", json!({"uri": uri})),
        ("prompts/get", json!({"name": evil})),
        ("prompts/get", json!({"name": "number_documents", "arguments": {"artifact_type": evil, "count": evil}})),
        ("tools/list", json!({"cursor": evil})),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": evil}, "argument": {"name": evil, "value": evil}}),
        ),
    ] {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        for message in [target.send(&target.mcp(&body)).json(), lines.ask(&body)] {
            let code = message["error"]["code"].as_i64();
            assert!(matches!(code, Some(-32602 | -32002 | -32001)), "{method} {params}: {message}");
        }
    }
}

/// How many rows each table of the workflow has.
fn n_rows(target: &Target) -> Vec<i64> {
    block_on(async {
        let store = open(&target.data()).await;
        let mut reader = store.read().await.expect("the database can be read");
        let mut counts = Vec::new();
        for sql in ["SELECT COUNT(*) FROM id_registry", "SELECT COUNT(*) FROM id_reservations"] {
            let row = reader.fetch_optional(sql, &[]).await.expect("the table is there").expect("a count");
            counts.push(row.int(0).expect("a number"));
        }
        drop(reader);
        store.close().await;
        counts
    })
}

#[test]
fn sql_in_any_field_is_data() {
    let target = Target::start();
    let mut lines = Lines::start(&target.data());
    target.check_alive();
    let reserve = json!({"artifact_type": "hls", "count": 2, "project_id": PROJECT}).to_string();
    assert_eq!(target.send(&target.rest("reserve_id_range", reserve)).status, 200);
    let before = n_rows(&target);
    for evil in SQL {
        attack(&target, &mut lines, evil);
    }
    assert_eq!(n_rows(&target), before, "rows came or went");
    assert_eq!(target.check_alive(), "US-002");
    lines.check_alive();
}

#[test]
fn shell_in_any_field_is_data_and_starts_no_process() {
    let target = Target::start();
    let mut lines = Lines::start(&target.data());
    for evil in SHELL {
        attack(&target, &mut lines, evil);
        for pid in [target.pid(), lines.pid()] {
            assert_eq!(children(pid), "", "{evil:?} started a process");
        }
    }
    let files = fs::read_dir(target.data()).expect("the folder can be read").flatten();
    let names: Vec<String> = files.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let ours = ["materia.", "owner.", "ledger.", "token", "keys.known", "no-starter-data"];
    let is_ours = |name: &String| ours.iter().any(|ours| name.starts_with(ours));
    assert!(names.iter().all(is_ours), "unexpected files: {names:?}");
    assert!(!std::path::Path::new("pwned").exists());
    assert_eq!(target.check_alive(), "US-001");
    lines.check_alive();
}

/// The processes that any thread of this one has started and not yet waited for.
fn children(pid: u32) -> String {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).expect("the process lives").flatten();
    let children = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    children.collect::<String>().trim().to_owned()
}
