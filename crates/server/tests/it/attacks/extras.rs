//! What MCP clients count on: progress, artifacts, aliases, pages, resources, prompts, completions, in both eras.

use std::collections::BTreeSet;

use ops::Entry;
use serde_json::{Value, json};

use super::answers::rpc_code;
use super::lab::Lab;
use super::target::Target;
use super::trials::{Show, TRIALS};

/// The messages of an answer that came as a stream of events.
fn stream_messages(body: &str) -> Vec<Value> {
    let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter_map(|data| serde_json::from_str(data).ok()).collect()
}

#[track_caller]
fn check_progress(messages: &[Value], n_steps: u32) {
    let (answer, reports) = messages.split_last().expect("an answer");
    assert_eq!(answer["result"]["structuredContent"]["text"], "xxx", "{answer}");
    assert_eq!(u32::try_from(reports.len()), Ok(n_steps), "{reports:?}");
    for (report, step) in reports.iter().zip(1..) {
        let expected = json!({
            "progressToken": "mine", "progress": f64::from(step), "total": f64::from(n_steps), "message": format!("step {step}"),
        });
        assert_eq!((&report["method"], &report["params"]), (&json!("notifications/progress"), &expected));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_arrives_before_the_answer_over_http_and_standard_input() {
    let lab = Lab::open(TRIALS).await;
    let params = |meta: Value| json!({"name": "count", "arguments": {"n_steps": 5, "size_bytes": 3}, "_meta": meta});
    let answer = lab.mcp("tools/call", params(json!({"progressToken": "mine"}))).await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"), "{answer:?}");
    check_progress(&stream_messages(&answer.body), 5);
    // Nobody asked for progress: one answer, no stream.
    let answer = lab.mcp("tools/call", params(json!({}))).await;
    assert_eq!(answer.header("content-type"), Some("application/json"), "{answer:?}");

    let mut lines = lab.lines().await;
    let request =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params(json!({"progressToken": "mine"}))});
    lines.send(&request).await;
    let mut messages = Vec::new();
    for _ in 0..6 {
        messages.push(lines.next().await);
    }
    check_progress(&messages, 5);
    lab.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn artifacts_and_metadata_stand_at_the_top_level_of_a_result() {
    let lab = Lab::open(TRIALS).await;
    let params = json!({"name": "show", "arguments": {"text": "hi"}});
    let over_http = lab.mcp("tools/call", params).await.json();
    let over_lines = lab.lines().await.call("show", json!({"text": "hi"})).await;
    for message in [over_http, over_lines] {
        let result = &message["result"];
        let artifact = json!([{"type": "text/markdown", "title": "Shown", "content": "hi"}]);
        assert_eq!((&result["artifacts"], &result["metadata"]), (&artifact, &json!({"nodeCount": 3})), "{message}");
        assert_eq!(result["structuredContent"], json!({"text": "hi"}), "{message}");
        assert_eq!(result["content"][0]["text"], r#"{"text":"hi"}"#, "{message}");
        assert!(result["_meta"]["audit"]["out_hash"].is_string(), "{message}");
        assert!(result["_meta"].get("materia/lifted").is_none(), "{message}");
    }
    let body = lab.rest("show", &json!({"text": "hi"})).await.json();
    assert_eq!(
        (&body["metadata"]["nodeCount"], &body["artifacts"][0]["title"]),
        (&json!(3), &json!("Shown")),
        "{body}"
    );
    lab.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dotted_alias_is_understood_and_never_listed() {
    let lab = Lab::open(TRIALS).await;
    let mut lines = lab.lines().await;
    let over_http = lab.mcp("tools/call", json!({"name": "tool.show", "arguments": {"text": "hi"}})).await.json();
    for message in [over_http, lines.call("tool.show", json!({"text": "hi"})).await] {
        assert_eq!(message["result"]["structuredContent"]["text"], "hi", "{message}");
    }
    assert_eq!(lab.rest("tool.show", &json!({"text": "hi"})).await.status, 200);
    let listed = lab.mcp("tools/list", json!({})).await;
    assert!(listed.body.contains("\"show\"") && !listed.body.contains("tool.show"), "{listed:?}");
    let events = lab.close().await;
    assert!(events.iter().all(|event| event.operation == "show"), "an alias has a record of its own: {events:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parameter_in_a_header_must_be_the_one_in_the_body() {
    let lab = Lab::open(TRIALS).await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": "travel", "arguments": {"city": "Zürich"}, "_meta": meta});
    let request = lab.mcp_request(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}));
    let request = request.header("MCP-Protocol-Version", "2026-07-28").header("Mcp-Method", "tools/call");
    let request = request.header("Mcp-Name", "travel");
    for wrong in
        ["", "Bern", "Z?rich", "=?base64?%%%?=", "=?base64?QmVybg==?=", "=?base64?WsO8cmljaA==", "=?base64?WvxyaWNo?="]
    {
        let answer = lab.send(request.clone().header("Mcp-Param-City", wrong)).await;
        assert_eq!((answer.status, rpc_code(&answer.json())), (400, -32020), "`{wrong}`: {answer:?}");
    }
    let answer = lab.send(request.header("Mcp-Param-City", "=?base64?WsO8cmljaA==?=")).await;
    assert_eq!(answer.json()["result"]["structuredContent"]["text"], "Zürich", "{answer:?}");
    let events = lab.close().await;
    let n_carried_out = events.iter().filter(|event| event.operation == "travel").count();
    assert_eq!(n_carried_out, 1, "a refused call was carried out: {events:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_list_comes_in_pages() {
    // As many tools as make three pages; they differ by name alone.
    let entries: Vec<Entry> = (0..120)
        .map(|n| {
            let mut entry = Entry::read::<Show>();
            (entry.name, entry.aliases) = (format!("show_{n:03}").leak(), &[]);
            entry
        })
        .collect();
    let lab = Lab::open(entries.leak()).await;
    let mut lines = lab.lines().await;
    for (method, member, key) in [("tools/list", "tools", "name"), ("resources/list", "resources", "uri")] {
        let (mut seen, mut params, mut n_pages) = (BTreeSet::new(), json!({}), 0);
        loop {
            let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            lines.send(&message).await;
            let (over_http, over_lines) = (lab.send(lab.mcp_request(&message)).await.json(), lines.next().await);
            assert_eq!(over_http["result"][member], over_lines["result"][member]);
            let page = over_http["result"][member].as_array().expect("a page").clone();
            seen.extend(page.iter().map(|item| item[key].to_string()));
            n_pages += 1;
            match over_http["result"]["nextCursor"].as_str() {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => break,
            }
        }
        // Checklists and templates are resources too.
        let n_ours = seen.iter().filter(|item| item.contains("show_")).count();
        assert!(n_ours == 120 && n_pages == seen.len().div_ceil(50), "{method}: {n_ours} on {n_pages} pages");
        for cursor in ["-1", "1200", "x", "99999999999999999999999", "' OR 1=1--"] {
            let answer = lab.mcp(method, json!({"cursor": cursor})).await;
            assert_eq!(rpc_code(&answer.json()), -32602, "{cursor}: {answer:?}");
        }
    }
    lab.close().await;
}

#[test]
fn both_eras_list_and_call_over_one_endpoint() {
    let target = Target::start();
    let call = json!({"name": "get_next_available_id", "arguments": {"artifact_type": "backlog_story"}});
    let discovered = target.send(&target.modern("server/discover", json!({})));
    assert!(discovered.json()["result"]["supportedVersions"].to_string().contains("2026-07-28"), "{discovered:?}");
    let tools = target.send(&target.modern("tools/list", json!({})));
    assert!(tools.json()["result"]["resultType"].is_string(), "{tools:?}");
    let taken = target.send(&target.modern("tools/call", call.clone()));
    assert_eq!(taken.json()["result"]["structuredContent"]["next_id"], "US-001", "{taken:?}");

    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let legacy = |method: &str, params: &Value| {
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
            target.send(&target.mcp(body).header("MCP-Protocol-Version", version)).json()
        };
        let hello =
            json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}});
        assert_eq!(legacy("initialize", &hello)["result"]["protocolVersion"], version);
        let listed = legacy("tools/list", &json!({}));
        assert_eq!(listed["result"]["tools"], tools.json()["result"]["tools"], "{version}");
        assert!(legacy("tools/call", &call)["result"]["structuredContent"]["next_id"].is_string(), "{version}");
        assert_eq!(legacy("ping", &json!({}))["result"], json!({}), "{version}");
    }
    let family = target.request(super::wire::Request::post("/mcp/workflow"));
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).to_string();
    let family = target.send(&family.header("Accept", "application/json, text/event-stream").json(body));
    assert!(family.json()["result"]["tools"].as_array().is_some_and(|tools| !tools.is_empty()), "{family:?}");
}

#[test]
fn a_family_has_its_own_resources_and_prompts_beside_those_of_the_house() {
    let target = Target::start();
    let ask = |family: &str, method: &str, params: Value| {
        let request = target.request(super::wire::Request::post(format!("/mcp/{family}")));
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        target.send(&request.header("Accept", "*/*").json(body)).json()
    };
    let templates = |family: &str| ask(family, "resources/templates/list", json!({})).to_string();
    let [workflow, evidence] = ["workflow", "evidence"].map(templates);
    assert!(workflow.contains("mcp://resources/") && !workflow.contains("kg://"), "{workflow}");
    assert!(evidence.contains("kg://") && !evidence.contains("mcp://resources/"), "{evidence}");
    for listed in [&workflow, &evidence] {
        assert!(listed.contains("contract://operations/{name}"), "{listed}");
    }
    let template = json!({"uri": "mcp://resources/templates/prd"});
    assert!(ask("workflow", "resources/read", template.clone())["result"].is_object());
    assert_eq!(rpc_code(&ask("evidence", "resources/read", template)), -32002);
    assert!(ask("evidence", "prompts/list", json!({}))["result"]["prompts"].as_array().is_some_and(Vec::is_empty));
    let prompt = json!({"name": "prd-generator", "arguments": {}});
    assert_eq!(rpc_code(&ask("evidence", "prompts/get", prompt)), -32602);
}

#[test]
fn resources_prompts_and_completions_answer_in_both_eras() {
    let target = Target::start();
    let ask = |method: &str, params: Value| {
        let modern = target.send(&target.modern(method, params.clone())).json();
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let legacy = target.send(&target.mcp(body)).json();
        [modern, legacy]
    };
    let uri = "contract://operations/reserve_id_range";
    for message in ask("resources/list", json!({})) {
        let listed = message["result"]["resources"].as_array().expect("a list").clone();
        assert!(listed.iter().any(|resource| resource["uri"] == uri), "{message}");
    }
    for message in ask("resources/templates/list", json!({})) {
        assert_eq!(
            message["result"]["resourceTemplates"][0]["uriTemplate"], "contract://operations/{name}",
            "{message}"
        );
    }
    for message in ask("resources/read", json!({"uri": uri})) {
        let text = message["result"]["contents"][0]["text"].as_str().expect("a text").to_owned();
        let contract: Value = serde_json::from_str(&text).expect("a contract is JSON");
        assert_eq!(contract["name"], "reserve_id_range", "{message}");
    }
    for unknown in ["contract://operations/nothing", "file:///etc/passwd", "contract://operations/../token", "mcp://x"]
    {
        // Revisions with a handshake have a code of their own for this.
        let [modern, legacy] = ask("resources/read", json!({"uri": unknown}));
        assert_eq!((rpc_code(&modern), rpc_code(&legacy)), (-32602, -32002), "{unknown}: {modern} {legacy}");
    }
    for message in ask("prompts/list", json!({})) {
        assert_eq!(message["result"]["prompts"][0]["name"], "number_documents", "{message}");
    }
    let prompt = json!({"name": "number_documents", "arguments": {"artifact_type": "backlog_story", "count": "3"}});
    for message in ask("prompts/get", prompt) {
        let text = message["result"]["messages"][0]["content"]["text"].as_str().expect("a text");
        assert!(text.contains("reserve_id_range") && text.contains("count 3"), "{message}");
    }
    for message in ask("prompts/get", json!({"name": "nothing"})) {
        assert_eq!(rpc_code(&message), -32602, "{message}");
    }
    let argument = json!({"name": "artifact_type", "value": "back"});
    let reference = json!({"type": "ref/prompt", "name": "number_documents"});
    for message in ask("completion/complete", json!({"ref": reference, "argument": argument})) {
        assert_eq!(message["result"]["completion"]["values"], json!(["backlog_story"]), "{message}");
    }
    let argument = json!({"name": "name", "value": "res"});
    let reference = json!({"type": "ref/resource", "uri": "contract://operations/{name}"});
    for message in ask("completion/complete", json!({"ref": reference, "argument": argument})) {
        assert_eq!(message["result"]["completion"]["values"], json!(["reserve_id_range"]), "{message}");
    }
}
