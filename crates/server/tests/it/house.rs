//! A house: one `materia serve` on a data folder, started as a user would start it and killed when dropped.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use serde_json::Value;

const READY_DEADLINE: Duration = Duration::from_secs(30);

/// Who may call the house over HTTP.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// `--no-auth`.
    Anyone,
    /// Callers that show the token of the data folder.
    Token,
}

pub struct HouseOptions<'a> {
    pub data: &'a Path,
    pub access: Access,
    /// SQLite in the data folder when absent.
    pub database_url: Option<&'a str>,
}

/// A serving process.
pub struct House {
    process: Process,
    data: PathBuf,
    http: String,
    tasks: String,
    ids: String,
}

impl House {
    /// Starts the server and waits for its ready line.
    pub fn start(options: &HouseOptions<'_>) -> House {
        House::start_by(materia(), options)
    }

    /// As [`House::start`], by a command of [`materia`] that the caller changed.
    pub fn start_by(mut command: Command, options: &HouseOptions<'_>) -> House {
        command.args(["serve", "--json", "--data"]).arg(options.data);
        for listener in ["--listen", "--tasks-listen", "--ids-listen", "--grpc-listen"] {
            command.args([listener, "127.0.0.1:0"]);
        }
        if options.access == Access::Anyone {
            command.arg("--no-auth");
        }
        if let Some(url) = options.database_url {
            command.args(["--database-url", url]);
        }
        // Beside the data folder: what lies in the folder is the server's own business.
        let log = options.data.with_extension("log");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(append(&log));
        let mut process = Process(command.spawn().expect("`materia` starts"));
        let ready = process.lines().recv_timeout(READY_DEADLINE);
        let ready: Value = match ready.ok().and_then(|line| serde_json::from_str(&line).ok()) {
            Some(ready) => ready,
            None => panic!("`materia serve` printed no ready line; its log:\n{}", end_of(&log)),
        };
        assert_eq!(ready["ready"], true, "{ready}");
        let base = |port: &str| base_url(ready[port].as_str().expect("the ready line names every address"));
        let (http, tasks, ids) = (base("http"), base("tasks"), base("ids"));
        House { process, data: options.data.to_path_buf(), http, tasks, ids }
    }

    /// `http://HOST:PORT`.
    pub fn http(&self) -> &str {
        &self.http
    }

    /// The Task Tracking service.
    pub fn tasks(&self) -> &str {
        &self.tasks
    }

    /// The ID Management service.
    pub fn ids(&self) -> &str {
        &self.ids
    }

    pub fn mcp(&self) -> String {
        format!("{}/mcp", self.http)
    }

    /// The token that callers must show.
    pub fn token(&self) -> String {
        let token = fs::read_to_string(self.data.join("token")).expect("the data folder holds a token");
        token.trim().to_owned()
    }

    pub fn pid(&self) -> u32 {
        self.process.0.id()
    }

    /// SIGKILL, and gone when this returns.
    pub fn kill(mut self) {
        self.process.kill();
    }
}

/// A child that does not outlive its handle.
pub struct Process(pub Child);

impl Process {
    /// The lines of the child's standard output, read to the end in the background so that the child never
    /// waits for a reader.
    pub fn lines(&mut self) -> mpsc::Receiver<String> {
        let output = self.0.stdout.take().expect("standard output is a pipe that nobody took");
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                // The receiver may have what it wanted and be gone.
                sender.send(line).ok();
            }
        });
        receiver
    }

    pub fn kill(&mut self) {
        self.0.kill().expect("the child can be killed");
        self.0.wait().expect("a killed child ends");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already, and a panic here would hide the one that brought us here.
        self.0.kill().and_then(|()| self.0.wait()).ok();
    }
}

/// The binary under test, deaf to the settings of whoever runs the tests, with limits that a load test does not meet.
pub fn materia() -> Command {
    // `cargo xtask prove` starts thousands of them and brings the release build.
    let program = std::env::var_os("MATERIA_TEST_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_materia").into());
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("MATERIA_")) {
            command.env_remove(name);
        }
    }
    command.env("MATERIA_RATE_PER_SECOND", "1000000").env("MATERIA_RATE_BURST", "1000000");
    command.env("MATERIA_CALLS_PER_PRINCIPAL_MAX", "1000").env("MATERIA_AUTH_FAILURES_PER_SECOND", "0");
    // An empty record, so that a test knows what is in it; tests of the starter data ask for them.
    command.env("MATERIA_STARTER_DATA", "false");
    command
}

/// `small` in `cargo test`, `full` in `cargo xtask prove`.
pub fn size(small: usize, full: usize) -> usize {
    if std::env::var_os("MATERIA_PROVE").is_some_and(|value| value == "1") { full } else { small }
}

/// A ready line may give `HOST:PORT` or a URL with a path and a fragment.
fn base_url(address: &str) -> String {
    let authority = address.trim_start_matches("http://").split(['/', '#']).next().unwrap_or_default();
    format!("http://{authority}")
}

/// The file at `path`, for what a process writes after what others wrote.
pub fn append(path: &Path) -> File {
    File::options().create(true).append(true).open(path).expect("a log file opens")
}

fn end_of(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
