//! `materia mcp` as an editor runs it: JSON-RPC lines over its standard input and output.

use std::{
    io::Write as _,
    path::Path,
    process::{ChildStdin, Stdio},
    sync::mpsc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

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
        let mut command = materia();
        let log = append(&data.with_extension("stdio.log"));
        command.args(["mcp", "--data"]).arg(data).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut process = Process(command.spawn().expect("`materia` starts"));
        let input = process.0.stdin.take().expect("standard input is a pipe");
        let lines = process.lines();
        let mut client = StdioClient { process, input, lines, n_requests: 0 };
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "materia-tests", "version": "1.0.0"},
        });
        let answer = client.request("initialize", &hello, Duration::from_secs(30)).expect("`initialize` is answered");
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).expect("the server listens");
        client
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
