//! A server under test as a child process, and how much CPU it has used.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::place;

/// Stopped when dropped.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
    /// Task Tracking and ID Management, where it has them.
    pub tasks: Option<SocketAddr>,
    pub ids: Option<SocketAddr>,
    /// Where the house keeps its data, for as long as it runs.
    _folder: Option<TempDir>,
}

impl Server {
    /// The release build that `MATERIA_BIN` names, without the limiter; with SQLite when there is no URL.
    pub fn house(database_url: Option<&str>) -> anyhow::Result<Server> {
        let folder = place::folder()?;
        let mut command = Command::new(house_program()?);
        command.args(["serve", "--no-auth", "--json", "--data"]).arg(folder.path());
        for flag in ["--listen", "--tasks-listen", "--ids-listen", "--grpc-listen"] {
            command.args([flag, "127.0.0.1:0"]);
        }
        command.env("MATERIA_RATE_PER_SECOND", "0").env_remove("MATERIA_DATABASE_URL");
        // What is measured is what the bench put in.
        command.env("MATERIA_STARTER_DATA", "false");
        if let Some(url) = database_url {
            command.args(["--database-url", url]);
        }
        Server::start(command, Some(folder))
    }

    /// [`crate::mcp::bare`] with the allocator of the system.
    pub fn bare() -> anyhow::Result<Server> {
        Server::start(Command::new(this_program()?.with_file_name("bare")), None)
    }

    /// This program again, as [`crate::mcp::bare`] with the allocator of the house.
    pub fn bare_with_our_allocator() -> anyhow::Result<Server> {
        let mut command = Command::new(this_program()?);
        command.arg("bare-server");
        Server::start(command, None)
    }

    fn start(mut command: Command, folder: Option<TempDir>) -> anyhow::Result<Server> {
        // What goes to standard error is formatted and written, only nobody keeps it.
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("could not start {command:?}"))?;
        let stdout = child.stdout.take();
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut server = Server { child, address: nowhere, tasks: None, ids: None, _folder: folder };
        let mut line = String::new();
        BufReader::new(stdout.context("the server has no output")?).read_line(&mut line)?;
        let ready: Value = serde_json::from_str(&line).with_context(|| format!("{command:?} did not become ready"))?;
        let port = |name: &str| ready.get(name).and_then(Value::as_str).and_then(|address| address.parse().ok());
        server.address = port("http").with_context(|| format!("no address in {ready}"))?;
        (server.tasks, server.ids) = (port("tasks"), port("ids"));
        Ok(server)
    }

    /// User and system time of all its threads so far.
    pub fn cpu(&self) -> anyhow::Result<Duration> {
        let path = format!("/proc/{}/stat", self.child.id());
        let stat = std::fs::read_to_string(&path).with_context(|| format!("could not read `{path}`"))?;
        // The second field is a name in brackets that may contain anything; utime and stime are fields 14 and 15.
        let fields = stat.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default().split_whitespace();
        let ticks: Vec<u64> = fields.skip(11).take(2).filter_map(|field| field.parse().ok()).collect();
        ensure!(ticks.len() == 2, "`{path}` has no CPU times");
        let per_second = rustix::param::clock_ticks_per_second().max(1);
        Ok(Duration::from_secs_f64(ticks.iter().sum::<u64>() as f64 / per_second as f64))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its folder goes with it, so there is nothing to end quietly for.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn this_program() -> anyhow::Result<PathBuf> {
    std::env::current_exe().context("this program has no path")
}

fn house_program() -> anyhow::Result<PathBuf> {
    if let Some(path) = std::env::var_os("MATERIA_BIN") {
        return Ok(PathBuf::from(path));
    }
    let beside = this_program()?.with_file_name("materia");
    ensure!(beside.exists(), "set MATERIA_BIN to a release build of `materia`");
    Ok(beside)
}
