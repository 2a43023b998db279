//! The request of each era, as bytes, and the output that it is answered with.

use std::net::SocketAddr;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::load;

const TOOL: &str = "list_artifact_types";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// Every request names its version and its client.
    Stateless,
    /// After a handshake, only a header names the version.
    Handshake,
}

impl Era {
    pub const ALL: [Era; 2] = [Era::Stateless, Era::Handshake];

    pub fn version(self) -> &'static str {
        match self {
            Era::Stateless => "2026-07-28",
            Era::Handshake => "2025-11-25",
        }
    }

    fn body(self) -> Value {
        let mut body = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": TOOL, "arguments": {} }
        });
        if self == Era::Stateless {
            body["params"]["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.version(),
                "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        body
    }

    /// The whole request: head and body.
    pub fn request(self, address: SocketAddr) -> Vec<u8> {
        let routing = match self {
            Era::Stateless => format!("Mcp-Method: tools/call\r\nMcp-Name: {TOOL}\r\n"),
            Era::Handshake => String::new(),
        };
        let body = self.body().to_string();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {}\r\n{routing}\
             Content-Length: {}\r\n\r\n",
            self.version(),
            body.len()
        );
        [head, body].concat().into_bytes()
    }
}

/// Asks once: the structured output, which must also stand in the answer as text.
pub async fn find_output(address: SocketAddr, era: Era) -> anyhow::Result<Value> {
    let body = load::ask_once(address, &era.request(address)).await?;
    let mut answer: Value = serde_json::from_slice(&body).context("the answer is not JSON")?;
    let text = answer.pointer("/result/content/0/text").and_then(Value::as_str).unwrap_or_default();
    let as_text: Option<Value> = serde_json::from_str(text).ok();
    let output = answer.pointer("/result/structuredContent").cloned();
    ensure!(output.is_some() && output == as_text, "no output in the answer {answer}");
    Ok(answer.pointer_mut("/result/structuredContent").map(Value::take).unwrap_or_default())
}
