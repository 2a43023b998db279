//! A log and a witness: two folders, the real binary, and the commands of an operator.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::house::{Process, append, materia};

/// How long something may take that comes by itself.
pub const SOON: Duration = Duration::from_secs(60);

/// What a command printed, and how it ended.
pub struct Told {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Told {
    fn of(output: Output) -> Told {
        let text = |bytes| String::from_utf8(bytes).expect("commands print UTF-8");
        Told { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }

    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{}\n{}", self.out, self.err);
        self.out
    }
}

/// One log: a data folder and perhaps a database elsewhere.
pub struct Log {
    pub data: PathBuf,
    pub database_url: Option<String>,
}

impl Log {
    pub fn run(&self, arguments: &[&str]) -> Told {
        let mut command = materia();
        command.args(arguments).arg("--data").arg(&self.data);
        // `doctor` looks whether the ports are free; those that ship may be a server's on this machine.
        for listener in ["LISTEN", "TASKS_LISTEN", "IDS_LISTEN", "GRPC_LISTEN"] {
            command.env(format!("MATERIA_{listener}"), "127.0.0.1:0");
        }
        if let Some(url) = &self.database_url {
            command.args(["--database-url", url]);
        }
        Told::of(command.stdin(Stdio::null()).output().expect("`materia` starts"))
    }

    /// Makes events, each one a process of its own or a call to the running server.
    pub fn take_ids(&self, n: usize) {
        for _ in 0..n {
            self.run(&["call", "get_next_available_id", r#"{"artifact_type":"US"}"#]).ok();
        }
    }

    pub fn key(&self) -> String {
        self.run(&["audit", "key"]).ok().lines().next().expect("a log has a key").to_owned()
    }

    pub fn verify(&self) -> Value {
        serde_json::from_str(&self.run(&["audit", "verify", "--json"]).out).expect("the result is JSON")
    }

    pub fn set_witness(&self, witness: &Witness) {
        let text =
            format!("[[witness]]\nurl = \"http://{}\"\nkey = \"{}\"\nname = \"w1\"\n", witness.address, witness.key);
        std::fs::write(self.data.join("materia.toml"), text).expect("settings can be written");
    }

    /// Serves until dropped.
    pub fn serve(&self) -> Serving {
        self.try_serve().unwrap_or_else(|told| panic!("`materia serve` did not start: {told}"))
    }

    /// The server, or what it said instead.
    pub fn try_serve(&self) -> Result<Serving, String> {
        let mut command = materia();
        command.args(["serve", "--json", "--no-auth", "--data"]).arg(&self.data);
        for listener in ["--listen", "--tasks-listen", "--ids-listen", "--grpc-listen"] {
            command.args([listener, "127.0.0.1:0"]);
        }
        if let Some(url) = &self.database_url {
            command.args(["--database-url", url]);
        }
        let log = self.data.with_extension("log");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(append(&log));
        let mut process = Process(command.spawn().expect("`materia` starts"));
        match process.lines().recv_timeout(Duration::from_secs(30)) {
            Ok(line) => {
                let ready: Value = serde_json::from_str(&line).expect("the ready line is JSON");
                let http = format!("http://{}", ready["http"].as_str().expect("an address"));
                Ok(Serving { process, http })
            }
            Err(_) => Err(std::fs::read_to_string(log).unwrap_or_default()),
        }
    }
}

pub struct Serving {
    process: Process,
    pub http: String,
}

impl Serving {
    pub async fn get(&self, path: &str) -> String {
        let answer = crate::ids::http_client().get(format!("{}{path}", self.http)).send().await;
        answer.expect("the server answers").text().await.expect("the answer comes whole")
    }

    pub async fn health(&self) -> Value {
        serde_json::from_str(&self.get("/health").await).expect("health is JSON")
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// SIGTERM, and gone when this returns.
    pub fn stop(mut self) {
        stop(&mut self.process);
    }
}

fn stop(process: &mut Process) {
    kill_process(Pid::from_child(&process.0), Signal::TERM).expect("a process can be told to stop");
    process.0.wait().expect("a process that was told to stop stops");
}

/// A running `materia witness`.
pub struct Witness {
    process: Process,
    pub folder: PathBuf,
    pub address: String,
    pub key: String,
}

impl Witness {
    pub fn start(folder: &Path) -> Witness {
        Witness::start_on(folder, "127.0.0.1:0")
    }

    pub fn start_on(folder: &Path, listen: &str) -> Witness {
        let mut command = materia();
        command.args(["witness", "--json", "--listen", listen, "--folder"]).arg(folder);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(append(&folder.with_extension("log")));
        let mut process = Process(command.spawn().expect("`materia` starts"));
        let line = process.lines().recv_timeout(Duration::from_secs(30)).expect("the witness gets ready");
        let ready: Value = serde_json::from_str(&line).expect("the ready line is JSON");
        assert_eq!(ready["ready"], true, "{ready}");
        let text = |name: &str| ready[name].as_str().expect("a text").to_owned();
        Witness { process, folder: folder.to_path_buf(), address: text("listen"), key: text("key") }
    }

    pub fn command(folder: &Path, arguments: &[&str]) -> Told {
        let mut command = materia();
        command.arg("witness").args(arguments).arg("--folder").arg(folder);
        Told::of(command.stdin(Stdio::null()).output().expect("`materia` starts"))
    }

    pub fn trust(&self, key: &str) {
        Witness::command(&self.folder, &["trust", key]).ok();
    }

    /// `POST /add-checkpoint`: status, content type, body.
    pub async fn post(&self, body: impl Into<String>) -> (u16, String, String) {
        let request = crate::ids::http_client().post(format!("http://{}/add-checkpoint", self.address));
        let answer = request.body(body.into()).send().await.expect("the witness answers");
        let content_type = answer.headers()["content-type"].to_str().expect("plain text").to_owned();
        (answer.status().as_u16(), content_type, answer.text().await.expect("the answer comes whole"))
    }

    /// SIGKILL; what it cosigned is on the disk.
    pub fn kill(mut self) -> (PathBuf, String) {
        self.process.kill();
        (self.folder.clone(), self.address.clone())
    }
}

/// Looks until it is so.
pub async fn until<F: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> F) {
    let give_up = Instant::now() + SOON;
    while !is_so().await {
        assert!(Instant::now() < give_up, "{what}: not within {} s", SOON.as_secs());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
