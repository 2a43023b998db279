//! The server at a terminal, as `script` of util-linux gives it one: what a person sees there, and can copy.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::house::{Process, materia};
use crate::ids::{OPERATION, http_client};

const SOON: Duration = Duration::from_secs(30);
const BOLD: &str = "\u{1b}[1m";

struct Terminal {
    process: Process,
    lines: Receiver<String>,
    /// What came until the greeting was whole, as it was sent.
    greeting: Vec<String>,
}

impl Terminal {
    fn serve(data: &Path, more: &str) -> Terminal {
        let program = materia();
        let mut command = Command::new("script");
        let ports =
            "--listen 127.0.0.1:0 --tasks-listen 127.0.0.1:0 --ids-listen 127.0.0.1:0 --grpc-listen 127.0.0.1:0";
        let line = format!("exec \"$PROGRAM\" serve --data \"$DATA\" {ports} {more}");
        command.args(["--quiet", "--flush", "--return", "--command", &line, "/dev/null"]);
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.env("PROGRAM", program.get_program()).env("DATA", data).env("SHELL", "/bin/sh").env_remove("NO_COLOR");
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = Process(command.spawn().expect("`script` starts"));
        let lines = process.lines();
        let mut greeting = Vec::new();
        while !greeting.last().is_some_and(|line: &String| line.contains("Stop with Ctrl-C")) {
            let line = lines.recv_timeout(SOON).unwrap_or_else(|_| panic!("no greeting within {SOON:?}: {greeting:?}"));
            greeting.push(line);
        }
        Terminal { process, lines, greeting }
    }

    /// The address behind a word of the greeting, as a person copies it.
    fn address(&self, word: &str) -> String {
        let shown = self.greeting.iter().map(|line| shown(line));
        let found = shown.filter_map(|line| line.trim().strip_prefix(word).map(|rest| rest.trim().to_owned())).next();
        found.unwrap_or_else(|| panic!("no line `{word}`: {:?}", self.greeting))
    }

    /// Ends the server; all that the terminal showed.
    fn end(self) -> Vec<String> {
        // `script` itself would end at once and show nothing more; so the one that it watches is told.
        let script = self.process.0.id();
        let children = std::fs::read_to_string(format!("/proc/{script}/task/{script}/children"));
        let server = children.expect("Linux tells the children").trim().parse().ok().and_then(Pid::from_raw);
        kill_process(server.expect("`script` watches the server alone"), Signal::TERM).expect("the server is there");
        let rest = self.lines.iter();
        self.greeting.into_iter().chain(rest).map(|line| shown(&line)).collect()
    }
}

/// What stands on the screen: colours and weights are obeyed, every other command would be a surprise.
fn shown(line: &str) -> String {
    let mut pieces = line.trim_end_matches('\r').split("\u{1b}[");
    let mut seen = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (command, text) = piece.split_once('m').unwrap_or_else(|| panic!("a command that draws: {line:?}"));
        assert!(command.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'), "{line:?}");
        seen.push_str(text);
    }
    assert!(!seen.contains(|c: char| c.is_control()), "{line:?}");
    seen
}

async fn call(server: &str, token: &str, input: Value) -> u16 {
    let request = http_client().post(format!("{server}/api/tools/{OPERATION}")).bearer_auth(token).json(&input);
    request.send().await.expect("the server answers").status().as_u16()
}

/// Takes an id, and asks for one of a type that there is not.
async fn call_twice(terminal: &Terminal, canary: &str) {
    let url = terminal.address("Open");
    let (server, token) = url.split_once("/#token=").expect("the start URL carries the token");
    assert_eq!(call(server, token, json!({"artifact_type": "US", "project_id": "seen"})).await, 200);
    assert_eq!(call(server, token, json!({"artifact_type": canary, "project_id": "seen"})).await, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_start_url_that_a_terminal_shows_opens_a_session() {
    let folder = testkit::temp_dir();
    let terminal = Terminal::serve(&folder.path().join("data"), "");
    assert!(terminal.greeting.iter().any(|line| line.contains(BOLD)), "no terminal: {:?}", terminal.greeting);
    let url = terminal.address("Open");
    let (page, token) = url.split_once("#token=").expect("the start URL carries the token");
    assert!(!token.is_empty() && token.bytes().all(|byte| byte.is_ascii_hexdigit()), "{url}");
    let client = http_client();
    assert_eq!(client.get(page).send().await.expect("the server answers").status().as_u16(), 200);
    let session = client.post(format!("{page}session")).bearer_auth(token).send().await.expect("the server answers");
    assert_eq!(session.status().as_u16(), 200, "{url}");
    assert!(session.headers().contains_key("set-cookie"));
    terminal.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn at_a_terminal_the_log_tells_what_went_wrong_and_leaves_the_start_url_in_sight() {
    let folder = testkit::temp_dir();
    let terminal = Terminal::serve(&folder.path().join("data"), "");
    call_twice(&terminal, "canary-Somchai").await;
    let lines = terminal.end();
    let log: Vec<&String> = lines.iter().filter(|line| line.contains(OPERATION)).collect();
    assert_eq!(log.len(), 1, "{lines:?}");
    assert!(log.iter().all(|line| line.contains(&format!("WARN  {OPERATION} failed: "))), "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("canary") || line.starts_with('{')), "{lines:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_wants_json_at_a_terminal_says_so() {
    let folder = testkit::temp_dir();
    let terminal = Terminal::serve(&folder.path().join("data"), "--log json");
    call_twice(&terminal, "canary-Somchai").await;
    let lines = terminal.end();
    let log: Vec<Value> = lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    for event in ["started", "completed", "failed"] {
        let event = json!(format!("{OPERATION}_invocation_{event}"));
        assert!(log.iter().any(|line| line["event"] == event && line["level"].is_string()), "{event}: {lines:?}");
    }
    assert!(!lines.iter().any(|line| line.contains("canary")), "{lines:?}");
}
