//! One throwaway PostgreSQL server, gone when its guard is dropped and also when xtask is killed.
//!
//! The server is a direct child with a parent-death signal, so no handler of ours has to run for it to stop:
//! Ctrl-C, `kill -9` of xtask and a panic all end it. Its folder goes with the scratch folder that it is in.

use std::{
    fs::{self, File},
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use crate::{cargo::run_quietly, install, scratch::Scratch};

/// What tests and benches read to find the server.
pub const URL_VARIABLE: &str = "MATERIA_TEST_POSTGRES";

const START_DEADLINE: Duration = Duration::from_secs(30);
const STOP_DEADLINE: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(50);
/// Another program can take a port between our look and the server's bind.
const N_STARTS_MAX: u32 = 3;

/// A running server. Must be made on the main thread: the parent-death signal fires when the
/// thread that spawned the server ends.
pub struct Postgres {
    _server: Server,
    port: u16,
}

impl Postgres {
    /// Its data are in `scratch`, which stays until the server is dropped.
    pub fn start(scratch: &Scratch) -> Result<Postgres> {
        let binaries = install::install_postgresql()?;
        let folder = scratch.make_folder("postgres")?;
        if is_root()? {
            run_quietly(Command::new("chown").arg("postgres:").arg(&folder))?;
        }
        let data = folder.join("data");
        let mut initdb = as_postgres(&binaries.join("initdb"))?;
        initdb.args(["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"]);
        run_quietly(initdb.arg("--pgdata").arg(&data).current_dir(&folder))?;
        let mut n_starts = 1;
        let (server, port) = loop {
            match Server::start(&binaries, &folder, &data) {
                Ok(started) => break started,
                Err(error) if n_starts == N_STARTS_MAX => return Err(error),
                Err(error) => eprintln!("PostgreSQL did not start, trying another port: {error:#}"),
            }
            n_starts += 1;
        };
        println!("PostgreSQL listens on 127.0.0.1:{port} until this command ends");
        Ok(Postgres { _server: server, port })
    }

    /// The superuser's URL of the server.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }
}

/// The server process, stopped on drop.
struct Server(Child);

impl Server {
    /// Starts the server on a free port and waits until it answers.
    fn start(binaries: &Path, folder: &Path, data: &Path) -> Result<(Server, u16)> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let log = folder.join("server.log");
        let mut command = as_postgres(&binaries.join("postgres"))?;
        command.arg("-D").arg(data).arg("-k").arg(folder);
        // `fsync` stays on: a test that measures durability without it would prove nothing.
        for setting in ["listen_addresses=127.0.0.1", "max_connections=300", "fsync=on"] {
            command.args(["-c", setting]);
        }
        command.args(["-c", &format!("port={port}")]);
        let output = File::create(&log).with_context(|| format!("could not make `{}`", log.display()))?;
        command.current_dir(folder).stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        let mut server = Server(command.spawn().context("could not start `postgres`")?);
        server
            .wait_until_ready(binaries, port)
            .with_context(|| fs::read_to_string(&log).unwrap_or_else(|_| "its log could not be read".to_owned()))?;
        Ok((server, port))
    }

    fn wait_until_ready(&mut self, binaries: &Path, port: u16) -> Result<()> {
        let deadline = Instant::now() + START_DEADLINE;
        while Instant::now() < deadline {
            if let Some(status) = self.0.try_wait()? {
                bail!("`postgres` ended with {status}");
            }
            let mut ask = Command::new(binaries.join("pg_isready"));
            ask.args(["--quiet", "--host", "127.0.0.1", "--port", &port.to_string()]);
            if ask.status().context("could not start `pg_isready`")?.success() {
                return Ok(());
            }
            thread::sleep(POLL);
        }
        bail!("`postgres` was not ready after {} s", START_DEADLINE.as_secs())
    }
}

impl Drop for Server {
    /// The server's immediate shutdown (SIGQUIT), or the hard end if that takes too long. The gentler ones write a
    /// checkpoint of every test's database, which took a minute, for data that is thrown away.
    fn drop(&mut self) {
        let asked = Command::new("kill").args(["-QUIT", &self.0.id().to_string()]).status();
        let deadline = Instant::now() + STOP_DEADLINE;
        while asked.is_ok() && Instant::now() < deadline {
            if !matches!(self.0.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(POLL);
        }
        if let Err(error) = self.0.kill().and_then(|()| self.0.wait()) {
            eprintln!("PostgreSQL could not be stopped: {error}");
        }
    }
}

/// `program` as a user that PostgreSQL accepts (it refuses root), ended when xtask ends.
fn as_postgres(program: &Path) -> Result<Command> {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "QUIT"]);
    if is_root()? {
        // `setpriv` and not `runuser`: it replaces itself by the program, so the signal and the
        // process id are the server's own.
        command.args(["--reuid", "postgres", "--regid", "postgres", "--init-groups"]);
    }
    command.arg("--").arg(program);
    Ok(command)
}

fn is_root() -> Result<bool> {
    Ok(run_quietly(Command::new("id").arg("-u"))?.trim() == "0")
}
