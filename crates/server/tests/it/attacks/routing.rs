//! Headers, versions and methods of MCP that do not say what the body says (cases 17, 18, 19).

use serde_json::{Value, json};

use super::answers::rpc_code;
use super::lines::Lines;
use super::target::{PROJECT, Target};
use super::wire::{Answer, Request};

fn take() -> Value {
    json!({"name": "get_next_available_id", "arguments": {"artifact_type": "backlog_story", "project_id": PROJECT}})
}

#[track_caller]
fn check(answer: &Answer, status: u16, code: i64) {
    assert_eq!((answer.status, rpc_code(&answer.json())), (status, code), "{answer:?}");
}

/// A legacy request by its method alone.
fn plain(target: &Target, method: &str) -> Request {
    target.mcp(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}).to_string())
}

#[test]
fn headers_that_differ_from_the_body_are_refused() {
    let target = Target::start();
    let call = target.modern("tools/call", take());
    let wrong = [
        ("Mcp-Method", "tools/list"),
        ("Mcp-Method", "Tools/Call"),
        ("Mcp-Method", ""),
        ("Mcp-Name", "reserve_id_range"),
        ("Mcp-Name", "Get_next_available_id"),
        ("Mcp-Name", ""),
        ("Mcp-Name", "=?base64?%%%?="),
        ("Mcp-Name", "=?base64?cmVzZXJ2ZV9pZF9yYW5nZQ==?="),
        ("Mcp-Name", "=?base64?/w==?="),
        ("MCP-Protocol-Version", "2025-11-25"),
        ("MCP-Protocol-Version", ""),
    ];
    for (name, value) in wrong {
        let answer = target.send(&call.clone().header(name, value));
        assert_eq!((answer.status, rpc_code(&answer.json())), (400, -32020), "{name}: `{value}` {answer:?}");
    }
    // Two values of one header: a middle box may read the other one.
    let twice = call.bytes();
    let twice = String::from_utf8(twice).expect("a text").replacen("Mcp-Name:", "Mcp-Name: ping\r\nMcp-Name:", 1);
    check(&target.send_bytes(twice.as_bytes()), 400, -32020);

    assert_eq!(target.check_alive(), "US-001", "a refused call took an id");
    let encoded = call.header("Mcp-Name", "=?base64?Z2V0X25leHRfYXZhaWxhYmxlX2lk?=");
    let answer = target.send(&encoded);
    assert_eq!(answer.json()["result"]["structuredContent"]["next_id"], "US-002", "{answer:?}");
}

#[test]
fn headers_that_differ_are_refused_whatever_version_is_named() {
    let target = Target::start();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": take()}).to_string();
    for version in ["", "2025-03-26", "2025-11-25"] {
        for (name, value) in [("Mcp-Method", "tools/list"), ("Mcp-Name", "list_artifact_types")] {
            let request = target.mcp(&body).header("MCP-Protocol-Version", version).header(name, value);
            let answer = target.send(&request);
            assert_eq!(answer.status, 400, "{name} under `{version}`: {answer:?}");
            assert_eq!(rpc_code(&answer.json()), -32020, "{answer:?}");
        }
    }
    assert_eq!(target.check_alive(), "US-001", "a refused call took an id");
}

#[test]
fn headers_named_like_arguments_must_say_what_these_say() {
    let target = Target::start();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": take()}).to_string();
    let plain = || target.mcp(&body);
    for request in [target.modern("tools/call", take()), plain(), plain().header("MCP-Protocol-Version", "2025-11-25")]
    {
        for (name, value) in [
            ("Mcp-Param-Project_Id", "another"),
            ("mcp-param-artifact_type", "=?base64?cHJk?="),
            ("Mcp-Param-Project_Id", "=?base64?%%%?="),
            ("Mcp-Param-Anything", "=?base64?SGVsbG8?="),
        ] {
            check(&target.send(&request.clone().header(name, value)), 400, -32020);
        }
    }
    assert_eq!(target.check_alive(), "US-001", "a refused call took an id");
    let request = plain().header("Mcp-Param-Project_Id", PROJECT).header("Mcp-Param-Anything", "else");
    let answer = target.send(&request.header("Mcp-Param-Artifact_Type", "=?base64?YmFja2xvZ19zdG9yeQ==?="));
    assert_eq!(answer.json()["result"]["structuredContent"]["next_id"], "US-002", "{answer:?}");
}

#[test]
fn an_unknown_version_is_refused_and_a_missing_one_is_the_oldest_with_this_transport() {
    let target = Target::start();
    for version in ["1999-01-01", "2026-07-29", "latest", "2.0"] {
        let answer = target.send(&plain(&target, "tools/list").header("MCP-Protocol-Version", version));
        check(&answer, 400, -32022);
        assert!(answer.json()["error"]["data"]["supported"].as_array().is_some_and(|known| !known.is_empty()));
        let answer = target.send(&restated(&target, version));
        check(&answer, 400, -32022);
    }
    let answer = target.send(&plain(&target, "tools/list"));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.json()["result"]["tools"].as_array().is_some_and(|tools| !tools.is_empty()), "{answer:?}");

    let hello =
        json!({"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello});
    let answer = target.send(&target.mcp(body.to_string()));
    let offered = answer.json()["result"]["protocolVersion"].clone();
    assert!(offered.as_str().is_some_and(|version| version != "1999-01-01"), "{answer:?}");
    target.check_alive();
}

/// A stateless request that names this version in header and body alike.
fn restated(target: &Target, version: &str) -> Request {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
    let request = target.mcp(body.to_string()).header("MCP-Protocol-Version", version);
    request.header("Mcp-Method", "tools/list")
}

#[test]
fn an_unknown_method_is_not_found_and_the_case_of_letters_counts() {
    let target = Target::start();
    for method in ["no/such", "Tools/Call", "TOOLS/LIST", "tools/../call", "__proto__"] {
        check(&target.send(&plain(&target, method)), 404, -32601);
        check(&target.send(&target.modern(method, json!({}))), 404, -32601);
        // With a handshake, errors of the protocol travel in a 200.
        let legacy = plain(&target, method).header("MCP-Protocol-Version", "2025-11-25");
        check(&target.send(&legacy), 200, -32601);
    }
    for wrong in [
        r#"{"jsonrpc":"2.0","id":1,"Method":"tools/call","params":{"name":"get_next_available_id","arguments":{"artifact_type":"US"}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","PARAMS":{"name":"get_next_available_id","arguments":{"artifact_type":"US"}}}"#,
        r#"{"JSONRPC":"2.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","ID":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
    ] {
        check(&target.send(&target.mcp(wrong)), 400, -32600);
    }
    let tool = target.send(&target.modern("tools/call", json!({"name": "Get_Next_Available_Id", "arguments": {}})));
    assert_eq!(rpc_code(&tool.json()), -32602, "{tool:?}");
    assert_eq!(target.check_alive(), "US-001");

    let mut lines = Lines::start(&target.data());
    let answer = lines.ask(r#"{"jsonrpc":"2.0","id":1,"method":"Tools/Call","params":{}}"#);
    assert_eq!(rpc_code(&answer), -32601, "{answer}");
    let answer = lines.ask(r#"{"jsonrpc":"2.0","id":1,"Method":"tools/list"}"#);
    assert_eq!(rpc_code(&answer), -32600, "{answer}");
    lines.check_alive();
}

#[test]
fn only_post_reaches_mcp() {
    let target = Target::start();
    for method in ["GET", "DELETE", "PUT", "PATCH"] {
        let mut request = target.request(Request::post("/mcp")).header("Accept", "text/event-stream");
        request.method = method;
        let answer = target.send(&request);
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{method}: {answer:?}");
    }
    let no_stream = target.mcp(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).header("Accept", "text/html");
    assert_eq!(target.send(&no_stream).status, 406);
    target.check_alive();
}
