//! `materia mcp` as an editor runs it: JSON-RPC lines over its standard input and output.

use std::{
    fs::File,
    io::Write as _,
    path::Path,
    process::{ChildStdin, Stdio},
    sync::mpsc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use testkit::documents::EPIC_006;

use crate::house::{Process, append, materia};

pub struct StdioClient {
    process: Process,
    input: ChildStdin,
    lines: mpsc::Receiver<String>,
    n_requests: u64,
}

impl StdioClient {
    /// Starts `materia mcp` on the data folder and shakes hands.
    pub fn start(data: &Path) -> StdioClient {
        StdioClient::start_with(data, &[], append(&data.with_extension("stdio.log")))
    }

    fn start_with(data: &Path, arguments: &[&str], log: File) -> StdioClient {
        let mut client = StdioClient::open(data, arguments, log);
        client.shake_hands();
        client
    }

    fn open(data: &Path, arguments: &[&str], log: File) -> StdioClient {
        let mut command = materia();
        command.args(["mcp", "--data"]).arg(data).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut process = Process(command.spawn().expect("`materia` starts"));
        let input = process.0.stdin.take().expect("standard input is a pipe");
        let lines = process.lines();
        StdioClient { process, input, lines, n_requests: 0 }
    }

    fn shake_hands(&mut self) {
        self.shake_hands_with(&json!({}));
    }

    fn shake_hands_with(&mut self, capabilities: &Value) {
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": {"name": "materia-tests", "version": "1.0.0"},
        });
        let answer = self.request("initialize", &hello, Duration::from_secs(30)).expect("`initialize` is answered");
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).expect("the server listens");
    }

    /// The `structuredContent` of a tool's answer, or what went wrong instead.
    pub fn call(&mut self, tool: &str, arguments: &Value, timeout: Duration) -> Result<Value, String> {
        let answer = self.request("tools/call", &json!({"name": tool, "arguments": arguments}), timeout)?;
        let result = &answer["result"];
        if result["structuredContent"].is_object() && result["isError"] != true {
            return Ok(result["structuredContent"].clone());
        }
        Err(answer.to_string())
    }

    /// SIGKILL, and gone when this returns.
    pub fn kill(mut self) {
        self.process.kill();
    }

    fn request(&mut self, method: &str, params: &Value, timeout: Duration) -> Result<Value, String> {
        self.n_requests += 1;
        let id = self.n_requests;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let deadline = Instant::now() + timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left).map_err(|error| format!("no answer to `{method}`: {error}"))?;
            let message: Value = serde_json::from_str(&line).map_err(|_| format!("not JSON-RPC: `{line}`"))?;
            // Notifications come in between.
            if message["id"] == id {
                return Ok(message);
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        writeln!(self.input, "{message}").map_err(|error| format!("could not write to `materia mcp`: {error}"))
    }
}

const WITHIN: Duration = Duration::from_secs(30);

#[test]
fn an_agent_on_standard_input_writes_documents_and_does_not_approve_them() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let log = append(&folder.path().join("log"));
    let mut agent = StdioClient::start_with(&data, &["--agent", "scribe"], log);
    agent.call("store_artifact", &json!({"artifact_content": EPIC_006}), WITHIN).expect("an agent stores");
    let refusal = agent.call("approve_artifact", &json!({"artifact_id": "EPIC-006"}), WITHIN).expect_err("a refusal");
    assert!(refusal.contains("`scribe` may not call `approve_artifact`"), "{refusal}");
}

#[test]
fn what_comes_before_the_handshake_neither_ends_the_session_nor_reaches_the_log() {
    let folder = testkit::temp_dir();
    let log = folder.path().join("log");
    let mut client = StdioClient::open(&folder.path().join("data"), &[], append(&log));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/x", "params": {"a": "CANARY"}})).expect("a reader");
    client.send(&json!({"jsonrpc": "2.0", "id": 7, "result": {"a": "CANARY"}})).expect("a reader");
    client.shake_hands();
    client.call("list_artifact_types", &json!({}), WITHIN).expect("an answer");
    client.kill();
    let mut client = StdioClient::open(&folder.path().join("data"), &[], append(&log));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/x", "params": {"a": "CANARY"}})).expect("a reader");
    drop(client.input);
    assert!(client.process.0.wait().expect("an end").success());
    let log = std::fs::read_to_string(log).expect("a log");
    assert!(log.contains("The session ended before it began") && !log.contains("CANARY"), "{log}");
}

#[test]
fn a_log_that_cannot_be_written_stops_nobody() {
    let folder = testkit::temp_dir();
    let full = File::options().write(true).open("/dev/full").expect("a file that is always full");
    let mut client = StdioClient::start_with(&folder.path().join("data"), &[], full);
    for _ in 0..3 {
        client.call("list_artifact_types", &json!({}), WITHIN).expect("an answer");
        client
            .call("reserve_id_range", &json!({"artifact_type": "nonsense", "count": 1}), WITHIN)
            .expect_err("a refusal");
    }
}

#[test]
fn a_reader_of_completions_may_stop_early() {
    let mut command = materia();
    command.args(["completions", "bash"]).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().expect("the program");
    drop(child.stdout.take());
    let ended = child.wait_with_output().expect("an end");
    assert!(ended.status.success() && ended.stderr.is_empty(), "{}", String::from_utf8_lossy(&ended.stderr));
}

#[test]
fn subscriptions_have_a_limit_and_end_with_the_input() {
    let folder = testkit::temp_dir();
    let mut client = StdioClient::open(&folder.path().join("data"), &[], append(&folder.path().join("log")));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let params = json!({"notifications": {}, "_meta": meta});
    for id in 0..=256 {
        client
            .send(&json!({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params}))
            .expect("a reader");
    }
    let heard = (0..=256).map(|_| client.lines.recv_timeout(WITHIN).expect("a line for every subscription"));
    let heard: Vec<Value> = heard.map(|line| serde_json::from_str(&line).expect("lines are JSON")).collect();
    let (refused, begun): (Vec<Value>, Vec<Value>) = heard.into_iter().partition(|line| line["error"].is_object());
    assert_eq!(begun.len(), 256);
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert_eq!((refused[0]["id"].as_i64(), refused[0]["error"]["code"].as_i64()), (Some(256), Some(-32000)));

    let left = Instant::now();
    drop(client.input);
    assert!(client.process.0.wait().expect("an end").success());
    // Whoever waits for a call that never ends gives up after five.
    assert!(left.elapsed() < Duration::from_secs(4), "{:?}", left.elapsed());
}

#[test]
fn a_call_that_was_cancelled_while_it_asked_does_nothing_more() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).expect("a folder can be made");
    std::fs::write(data.join("materia.toml"), "confirm_approval = true").expect("a file can be written");
    let mut client = StdioClient::open(&data, &[], append(&folder.path().join("log")));
    client.shake_hands_with(&json!({"elicitation": {}}));
    let document = json!({"artifact_content": EPIC_006});
    let stored = client.call("store_artifact", &document, WITHIN).expect("a document");

    let call = json!({"name": "approve_artifact", "arguments": {"artifact_id": "EPIC-006"}});
    client.send(&json!({"jsonrpc": "2.0", "id": 100, "method": "tools/call", "params": call})).expect("a reader");
    let hear = |method: &str| {
        let line = client.lines.recv_timeout(WITHIN).unwrap_or_else(|_| panic!("no `{method}`"));
        let message: Value = serde_json::from_str(&line).expect("lines are JSON");
        assert_eq!(message["method"], method, "{message}");
        message
    };
    let question = hear("elicitation/create")["id"].clone();
    let cancelled = json!({"requestId": 100});
    writeln!(client.input, "{}", json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}))
        .expect("a reader");
    assert_eq!(hear("notifications/cancelled")["params"]["requestId"], question);
    let accepted = json!({"action": "accept", "content": {"approve": true}});
    client.send(&json!({"jsonrpc": "2.0", "id": question, "result": accepted})).expect("a reader");
    let params = json!({"uri": stored["resource_uri"]});
    let read = client.request("resources/read", &params, WITHIN).expect("the document");
    let text = read["result"]["contents"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("**Status:** Draft") && !text.contains("Approved"), "{read}");
}
