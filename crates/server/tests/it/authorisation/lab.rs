//! A server with an authorization server in its settings, and what it recorded and logged in the end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use reqwest::{RequestBuilder, StatusCode};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use store::{Options, Store, Target};

use super::issuer::{AUDIENCE, KEYS, Kind, Web};
use crate::house::{Process, materia};
use crate::ids;

pub struct Lab {
    pub serving: Serving,
    pub issuer: Web,
    folder: tempfile::TempDir,
}

/// One `materia serve`.
pub struct Serving {
    process: Process,
    pub http: String,
    pub ids: String,
}

/// An answer, read to its end.
pub struct Answer {
    pub status: StatusCode,
    pub challenge: String,
    pub body: Value,
}

impl Lab {
    /// `settings` are more lines of TOML for the issuer.
    pub fn start(issuer: Web, settings: &str) -> Lab {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let data = folder.path().join("data");
        fs::create_dir(&data).expect("a data folder");
        let url = &issuer.url;
        let oauth = format!(
            "[[oauth]]\nissuer = \"{url}\"\naudience = \"{AUDIENCE}\"\njwks_url = \"{url}/jwks\"\nname = \"idp\"\n{settings}\n"
        );
        fs::write(data.join("materia.toml"), oauth).expect("the settings can be written");
        Lab { serving: Serving::start(&data), issuer, folder }
    }

    pub fn usual() -> Lab {
        Lab::start(Web::publishing(&KEYS), "")
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A token of the issuer with these claims beside the usual ones.
    pub fn token(&self, claims: &Value) -> String {
        KEYS.token(Kind::Ed, &self.issuer.url, &json!({}), claims)
    }

    /// A call of one operation over REST.
    pub async fn rest(&self, token: &str, operation: &str, input: &Value) -> Answer {
        self.serving.rest(token, operation, input).await
    }

    pub async fn mcp(&self, token: &str, method: &str, params: &Value) -> Answer {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let request = ids::http_client().post(format!("{}/mcp", self.serving.http));
        send(request.header("Accept", "application/json, text/event-stream").bearer_auth(token).json(&body)).await
    }

    pub fn log(&self) -> String {
        log(&self.data())
    }

    /// Stops the server and reads what it recorded.
    pub async fn stop(mut self) -> Vec<Value> {
        self.serving.stop();
        events(&self.data()).await
    }
}

impl Serving {
    pub fn start(data: &Path) -> Serving {
        let mut command = materia();
        command.args(["serve", "--json", "--data"]).arg(data);
        for listener in ["--listen", "--tasks-listen", "--ids-listen", "--grpc-listen"] {
            command.args([listener, "127.0.0.1:0"]);
        }
        let log = fs::File::options().create(true).append(true).open(data.with_extension("log"));
        // Everything there is to log, so that a token which slipped into a line would be found.
        command.env("MATERIA_LOG", "trace").stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(log.expect("a log file opens"));
        let mut process = Process(command.spawn().expect("`materia` starts"));
        let line = process.lines().recv_timeout(Duration::from_secs(30)).expect("the server gets ready");
        let ready: Value = serde_json::from_str(&line).expect("the ready line is JSON");
        let url = |name: &str| format!("http://{}", ready[name].as_str().expect("an address"));
        Serving { http: url("http"), ids: url("ids"), process }
    }

    pub async fn rest(&self, token: &str, operation: &str, input: &Value) -> Answer {
        let request = ids::http_client().post(format!("{}/api/tools/{operation}", self.http));
        send(request.bearer_auth(token).json(input)).await
    }

    /// SIGTERM, and gone when this returns.
    pub fn stop(&mut self) {
        kill_process(Pid::from_child(&self.process.0), Signal::TERM).expect("the server can be told to stop");
        self.process.0.wait().expect("a server that was told to stop stops");
    }

    pub fn kill(&mut self) {
        self.process.kill();
    }
}

pub async fn send(request: RequestBuilder) -> Answer {
    let response = request.send().await.expect("the server answers");
    let challenge = response.headers().get("www-authenticate").map(|value| value.to_str().expect("plain text"));
    let (status, challenge) = (response.status(), challenge.unwrap_or_default().to_owned());
    let text = response.text().await.expect("the answer comes whole");
    Answer { status, challenge, body: serde_json::from_str(&text).unwrap_or(Value::String(text)) }
}

pub fn log(data: &Path) -> String {
    fs::read_to_string(data.with_extension("log")).expect("the server wrote a log")
}

/// Every event, in the order of the calls. The server must have stopped.
pub async fn events(data: &Path) -> Vec<Value> {
    let options = Options {
        target: Target::Sqlite(data.join("materia.db")),
        migrations: ops::migrations(),
        n_connections_max: 1,
        write_queue_max: 1,
        batch_max: 1,
    };
    let store = Store::open(options).await.expect("the database can be opened");
    let mut reader = store.read().await.expect("the database can be read");
    let rows = reader.fetch_all("SELECT body FROM events ORDER BY call_id", &[]).await.expect("the events can be read");
    drop(reader);
    store.close().await;
    rows.iter().map(|row| serde_json::from_str(&row.text(0).expect("a text")).expect("an event is JSON")).collect()
}

/// How many requests were refused for this reason before anybody was authenticated.
pub fn n_refused(events: &[Value], code: &str) -> u64 {
    let refused = events.iter().filter(|event| event["operation"] == "authenticate" && event["code"] == code);
    refused.map(|event| event["count"].as_u64().expect("refusals are counted")).sum()
}

/// How many calls of an operation ended in this way.
pub fn n_ended(events: &[Value], operation: &str, outcome: &str) -> usize {
    events.iter().filter(|event| event["operation"] == operation && event["outcome"] == outcome).count()
}
