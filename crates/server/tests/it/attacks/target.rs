//! A server under attack: the real binary with the settings of the case.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::answers::wait_until;
use super::record::{Recorded, read_events};
use super::wire::{Answer, Request, exchange};
use crate::house::{Process, materia};

const READY_WITHIN: Duration = Duration::from_secs(30);
pub const PROJECT: &str = "attacked";

/// Limits as they ship; other tests lift them.
pub const DEFAULT_LIMITS: [(&str, &str); 3] =
    [("MATERIA_RATE_PER_SECOND", ""), ("MATERIA_RATE_BURST", ""), ("MATERIA_CALLS_PER_PRINCIPAL_MAX", "")];

pub struct Target {
    process: Process,
    folder: tempfile::TempDir,
    pub http: SocketAddr,
    pub ids: SocketAddr,
    pub tasks: SocketAddr,
    pub grpc: SocketAddr,
    pub token: String,
}

#[derive(Default)]
pub struct TargetOptions<'a> {
    /// An empty value unsets.
    pub env: &'a [(&'a str, &'a str)],
    /// The content of `materia.toml`.
    pub config: &'a str,
    pub database_url: Option<&'a str>,
    /// Runs the server: a program and its first arguments, such as `prlimit --nofile=64`.
    pub under: &'a [&'a str],
}

impl Target {
    pub fn start() -> Target {
        Target::with(&TargetOptions::default())
    }

    pub fn with(options: &TargetOptions<'_>) -> Target {
        let folder = testkit::temp_dir();
        let data = folder.path().join("data");
        fs::create_dir(&data).expect("a folder can be made");
        fs::write(data.join("materia.toml"), options.config).expect("a file can be written");
        Target::launch(folder, options)
    }

    /// Another server on the folder of one that has ended.
    pub fn again(self, options: &TargetOptions<'_>) -> Target {
        let Target { folder, process, .. } = self;
        drop(process);
        Target::launch(folder, options)
    }

    fn launch(folder: tempfile::TempDir, options: &TargetOptions<'_>) -> Target {
        let data = folder.path().join("data");
        let server = serve_command(&data, options);
        let log = File::create(folder.path().join("log")).expect("a file can be written");
        let mut command = match options.under {
            [] => server,
            [program, arguments @ ..] => wrapped(program, arguments, &server),
        };
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).spawn();
        let mut process = Process(child.expect("the server starts"));
        let ready = process.lines().recv_timeout(READY_WITHIN);
        let log = || fs::read_to_string(folder.path().join("log")).unwrap_or_default();
        let ready = ready.unwrap_or_else(|_| panic!("no ready line; the log:\n{}", log()));
        let ready: Value = serde_json::from_str(&ready).expect("the ready line is JSON");
        let address = |name: &str| ready[name].as_str().and_then(|text| text.parse().ok()).expect("an address");
        let [http, ids, tasks, grpc] = ["http", "ids", "tasks", "grpc"].map(address);
        let mut target = Target { process, http, ids, tasks, grpc, token: String::new(), folder };
        let token = fs::read_to_string(target.data_seen().join("token")).expect("the data folder holds a token");
        target.token = token.trim().to_owned();
        target
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The data folder as the server sees it, which may have file systems of its own.
    pub fn data_seen(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root{}", self.pid(), self.data().display()))
    }

    pub fn pid(&self) -> u32 {
        self.process.0.id()
    }

    /// A request as its own user would send it.
    pub fn request(&self, request: Request) -> Request {
        request.header("Host", self.http.to_string()).header("Authorization", format!("Bearer {}", self.token))
    }

    pub fn rest(&self, operation: &str, input: impl AsRef<[u8]>) -> Request {
        self.request(Request::post(format!("/api/tools/{operation}"))).json(input)
    }

    pub fn mcp(&self, body: impl AsRef<[u8]>) -> Request {
        self.request(Request::post("/mcp")).header("Accept", "application/json, text/event-stream").json(body)
    }

    /// As [`Target::mcp`], from a client of the era without a handshake, with the headers it must send.
    pub fn modern(&self, method: &str, mut params: Value) -> Request {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let request = self.mcp(body.to_string()).header("MCP-Protocol-Version", "2026-07-28");
        let request = request.header("Mcp-Method", method);
        match params["name"].as_str().or(params["uri"].as_str()) {
            Some(name) => request.header("Mcp-Name", name),
            None => request,
        }
    }

    #[track_caller]
    pub fn send(&self, request: &Request) -> Answer {
        exchange(self.http, &request.bytes()).only()
    }

    #[track_caller]
    pub fn send_bytes(&self, bytes: &[u8]) -> Answer {
        exchange(self.http, bytes).only()
    }

    /// An ordinary call: the server is alive, and this is the id it gives out next.
    #[track_caller]
    pub fn check_alive(&self) -> String {
        let input = json!({"artifact_type": "backlog_story", "project_id": PROJECT});
        let answer = self.send(&self.rest("get_next_available_id", input.to_string()));
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["next_id"].as_str().expect("an id").to_owned()
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).expect("the log can be read")
    }

    /// Stops as an operator would, and gives what the server recorded.
    pub fn stop(mut self) -> Vec<Recorded> {
        self.terminate();
        read_events(&self.data())
    }

    pub fn terminate(&mut self) {
        let pid = Pid::from_child(&self.process.0);
        kill_process(pid, Signal::TERM).expect("the server can be told to stop");
        wait_until("the server stops", Duration::from_secs(20), || self.exit_code().is_some());
    }

    /// The exit code of a server that has ended.
    pub fn exit_code(&mut self) -> Option<i32> {
        let status = self.process.0.try_wait().expect("a child can be asked");
        status.map(|status| status.code().unwrap_or(-1))
    }
}

fn serve_command(data: &Path, options: &TargetOptions<'_>) -> Command {
    let mut command = materia();
    command.args(["serve", "--json", "--data"]).arg(data);
    for listener in ["--listen", "--tasks-listen", "--ids-listen", "--grpc-listen"] {
        command.args([listener, "127.0.0.1:0"]);
    }
    if let Some(url) = options.database_url {
        command.args(["--database-url", url]);
    }
    for (name, value) in options.env {
        if value.is_empty() {
            command.env_remove(name);
        } else {
            command.env(name, value);
        }
    }
    command
}

/// The same command behind another program, which must replace itself with it.
fn wrapped(program: &str, arguments: &[&str], inner: &Command) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).arg(inner.get_program()).args(inner.get_args());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}
