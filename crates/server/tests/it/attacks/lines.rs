//! `materia mcp` met with raw lines.

use std::io::Write as _;
use std::path::Path;
use std::process::{ChildStdin, Stdio};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use serde_json::{Value, json};

use super::answers::{ANSWER_WITHIN, check_discreet, wait_until};
use crate::house::{Process, materia};

pub struct Lines {
    process: Process,
    input: ChildStdin,
    lines: Receiver<String>,
    last_sent: String,
}

impl Lines {
    /// Starts on a data folder and shakes hands.
    pub fn start(data: &Path) -> Lines {
        let mut command = materia();
        command.args(["mcp", "--data"]).arg(data).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = Process(command.spawn().expect("`materia` starts"));
        let input = process.0.stdin.take().expect("standard input is a pipe");
        let lines = process.lines();
        let mut client = Lines { process, input, lines, last_sent: String::new() };
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "attacker", "version": "1"},
        });
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        client.send(hello.to_string());
        let line = client.lines.recv_timeout(Duration::from_secs(30)).expect("`initialize` is answered");
        let answer: Value = serde_json::from_str(&line).expect("the answer is JSON");
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        client.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        client
    }

    pub fn pid(&self) -> u32 {
        self.process.0.id()
    }

    /// Closes its input, whatever it still has to read, and waits for its end.
    #[track_caller]
    pub fn close(self) {
        let Lines { mut process, input, .. } = self;
        drop(input);
        wait_until("`materia mcp` ends", Duration::from_secs(20), || {
            process.0.try_wait().expect("a child can be asked").is_some()
        });
    }

    pub fn send(&mut self, line: impl AsRef<[u8]>) {
        self.input.write_all(line.as_ref()).expect("the server reads");
        self.input.write_all(b"\n").expect("the server reads");
        self.last_sent = String::from_utf8_lossy(line.as_ref()).into_owned();
    }

    /// The next line that comes.
    #[track_caller]
    pub fn next(&mut self) -> Value {
        let line = self.lines.recv_timeout(ANSWER_WITHIN).expect("an answer within five seconds");
        check_discreet(&line, &self.last_sent);
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("expected JSON, found `{line}`"))
    }

    #[track_caller]
    pub fn ask(&mut self, line: impl AsRef<[u8]>) -> Value {
        self.send(line);
        self.next()
    }

    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        self.ask(json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}).to_string())
    }

    #[track_caller]
    pub fn check_alive(&mut self) {
        let answer = self.call("get_next_available_id", &json!({"artifact_type": "backlog_story"}));
        assert_eq!(
            (&answer["id"], &answer["result"]["structuredContent"]["success"]),
            (&json!(7), &json!(true)),
            "{answer}"
        );
    }
}
