//! A PostgreSQL server for tests: the one that `MATERIA_TEST_POSTGRES` names, or a throwaway cluster of this process.

use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::{env, fs};

use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio::sync::OnceCell;
use uuid::Uuid;

/// A fresh, empty database. It stays when dropped: the whole server is thrown away after the tests.
#[derive(Debug, Clone)]
pub struct TestDatabase {
    pub url: String,
    name: String,
}

/// Creates a database for one test.
pub async fn postgres_url() -> TestDatabase {
    let name = format!("test_{}", Uuid::new_v4().simple());
    execute(format!("CREATE DATABASE {name}")).await;
    TestDatabase { url: with_database(admin_url().await, &name), name }
}

impl TestDatabase {
    /// Cuts all connections, as a crash of the server would.
    pub async fn cut_connections(&self) {
        execute(format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'", self.name))
            .await;
    }

    /// Cuts all connections and refuses further ones.
    pub async fn shut(&self) {
        execute(format!("ALTER DATABASE {} ALLOW_CONNECTIONS false", self.name)).await;
        self.cut_connections().await;
    }

    /// A database like this one, as a dump of now would restore it. Cuts all connections.
    pub async fn copy(&self) -> TestDatabase {
        let name = format!("test_{}", Uuid::new_v4().simple());
        self.shut().await;
        execute(format!("CREATE DATABASE {name} TEMPLATE {}", self.name)).await;
        self.reopen().await;
        TestDatabase { url: with_database(admin_url().await, &name), name }
    }

    /// Ends [`TestDatabase::shut`].
    pub async fn reopen(&self) {
        execute(format!("ALTER DATABASE {} ALLOW_CONNECTIONS true", self.name)).await;
    }
}

async fn execute(sql: String) {
    let mut connection = PgConnection::connect(admin_url().await).await.expect("could not reach the test server");
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.expect("the test server refused a statement");
    connection.close().await.expect("could not close an administrator's connection");
}

async fn admin_url() -> &'static str {
    static URL: OnceCell<String> = OnceCell::const_new();
    URL.get_or_init(|| async {
        match env::var("MATERIA_TEST_POSTGRES") {
            Ok(url) => url,
            Err(_unset) => tokio::task::spawn_blocking(start_cluster).await.expect("could not start PostgreSQL"),
        }
    })
    .await
}

/// The URL of another database on the same server.
fn with_database(url: &str, name: &str) -> String {
    let (address, settings) = url.split_once('?').unwrap_or((url, ""));
    let (scheme, rest) = address.split_once("://").expect("the server's address is no URL");
    let authority = rest.split('/').next().unwrap_or(rest);
    let separator = if settings.is_empty() { "" } else { "?" };
    format!("{scheme}://{authority}/{name}{separator}{settings}")
}

/// Starts a cluster that lives as long as this process.
fn start_cluster() -> String {
    let programs = find_programs();
    let folder = output(as_server_user("mktemp").args(["-d", "/tmp/materia-postgres-XXXXXX"]));
    let folder = Path::new(folder.trim());
    let data = folder.join("data");
    // `--no-sync` concerns only the creation; the server itself runs with fsync.
    let settings = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"];
    output(as_server_user(programs.join("initdb")).arg("--pgdata").arg(&data).args(settings));
    let port = free_port();
    let server =
        format!("-p {port} -k {} -c listen_addresses=127.0.0.1 -c max_connections=300 -c fsync=on", folder.display());
    let mut start = as_server_user(programs.join("pg_ctl"));
    start.args(["start", "--wait", "--silent", "--pgdata"]).arg(&data).arg("--log").arg(folder.join("log"));
    // The server inherits the pipes, so waiting for their end would be waiting for the server.
    let started = start.arg("--options").arg(server).stdin(Stdio::null()).stdout(Stdio::null()).status();
    assert!(started.is_ok_and(|status| status.success()), "pg_ctl could not start the server");
    stop_after_exit(&programs, folder, &data);
    format!("postgres://postgres@127.0.0.1:{port}/postgres")
}

/// Leaves a shell behind that waits for the end of this process, however it ends, and then removes the cluster.
fn stop_after_exit(programs: &Path, folder: &Path, data: &Path) {
    // In the background of a shell that ends at once, so that nobody has to wait for it.
    let script = r#"(
        while kill -0 "$1" 2>/dev/null; do sleep 0.2; done
        "$2" stop --silent --mode immediate --pgdata "$3"
        rm -rf "$4"
    ) &"#;
    let pg_ctl = programs.join("pg_ctl");
    // Watched as the user who runs the tests: another one may not signal this process.
    let stop = if is_root() { write_stop_script(folder, &pg_ctl) } else { pg_ctl };
    let started = Command::new("sh")
        .args(["-c", script, "watchdog", &process::id().to_string()])
        .args([stop.as_path(), data, folder])
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(started.is_ok_and(|status| status.success()), "could not start the watchdog of the test server");
}

/// `pg_ctl` refuses to run as root.
fn write_stop_script(folder: &Path, pg_ctl: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join("stop");
    let script = format!("#!/bin/sh\nexec runuser -u postgres -- {} \"$@\"\n", pg_ctl.display());
    fs::write(&path, script).expect("could not write the stop script");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("could not make the stop script executable");
    path
}

fn find_programs() -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").expect("PostgreSQL is not installed in `/usr/lib/postgresql`");
    let version = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    let newest = versions.flatten().map(|entry| entry.path()).max_by_key(version);
    newest.expect("`/usr/lib/postgresql` is empty").join("bin")
}

/// PostgreSQL refuses to run as root.
fn as_server_user(program: impl AsRef<Path>) -> Command {
    let program = program.as_ref();
    let mut command = if is_root() {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--"]).arg(program);
        command
    } else {
        Command::new(program)
    };
    // The server's user may not be allowed to enter the current folder.
    command.current_dir("/");
    command
}

fn is_root() -> bool {
    output(Command::new("id").arg("-u")).trim() == "0"
}

fn output(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().expect("could not start a program of the test server");
    assert!(output.status.success(), "{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("no free port");
    listener.local_addr().expect("a listener has an address").port()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_of_a_url_is_replaced() {
        let check = |url, expected: &str| assert_eq!(with_database(url, "x"), expected);
        check("postgres://u:p@h:5/postgres", "postgres://u:p@h:5/x");
        check("postgres://h", "postgres://h/x");
        check("postgres://h/postgres?host=/tmp", "postgres://h/x?host=/tmp");
    }
}
