//! The disk is full, read-only or broken, the database locked, the descriptors used up (case 50).

use std::fs;
use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use store::{Applied, Apply, Keep};

use super::answers::{ANSWER_WITHIN, wait_until};
use super::record::{block_on, count, open};
use super::target::{PROJECT, Target, TargetOptions};
use super::wire::{Answer, Request};

const RECOVERED_WITHIN: Duration = Duration::from_secs(5);
const EROFS: i32 = 30;
const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// Takes an id, whatever comes of it.
pub fn take(target: &Target) -> Answer {
    let begun = Instant::now();
    let input = json!({"artifact_type": "backlog_story", "project_id": PROJECT});
    let answer = target.send(&target.rest("get_next_available_id", input.to_string()));
    assert!(begun.elapsed() < ANSWER_WITHIN, "an answer took {:?}: {answer:?}", begun.elapsed());
    answer
}

#[track_caller]
pub fn check_unavailable(answer: &Answer) {
    let error = &answer.json()["error"];
    assert_eq!((answer.status, &error["code"]), (503, &json!("BUSY")), "{answer:?}");
    let wait: Option<u64> = answer.header("retry-after").and_then(|value| value.parse().ok());
    assert!(wait.is_some_and(|seconds| (1..=60).contains(&seconds)), "{answer:?}");
}

/// Waits until the server serves again, by itself; gives the id it then gives out.
#[track_caller]
pub fn wait_for_recovery(target: &Target) -> String {
    let mut next = Value::Null;
    wait_until("served again", RECOVERED_WITHIN, || {
        let answer = take(target);
        if answer.status != 200 {
            check_unavailable(&answer);
        }
        next = answer.json()["next_id"].clone();
        answer.status == 200
    });
    next.as_str().expect("an id").to_owned()
}

/// The same over MCP: a JSON-RPC error of the workflow tools.
#[track_caller]
fn check_unavailable_over_mcp(target: &Target) {
    let params = json!({"name": "get_next_available_id", "arguments": {"artifact_type": "US", "project_id": PROJECT}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let message = target.send(&target.mcp(body.to_string())).json();
    assert_eq!(message["error"]["code"], -32000, "{message}");
    assert_eq!(message["error"]["data"]["code"], "BUSY", "{message}");
}

/// A server whose database can be made to fail.
struct Faulty {
    target: Target,
    /// Dropped after the server.
    faults: tempfile::TempDir,
}

impl Faulty {
    fn start() -> Faulty {
        let faults = testkit::temp_dir();
        let target = Target::with(&TargetOptions { env: &Faulty::env(faults.path()), ..TargetOptions::default() });
        Faulty { target, faults }
    }

    /// Compiles the library that makes them fail, and how to load it.
    fn env(folder: &Path) -> [(&'static str, &'static str); 2] {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/attacks/faults.c");
        let library = folder.join("faults.so");
        let compiled =
            Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).args([source, "-ldl"]).status();
        assert!(compiled.is_ok_and(|status| status.success()), "`cc` compiles the faults");
        let leaked = |path: &Path| -> &'static str { path.to_str().expect("a plain path").to_owned().leak() };
        [("LD_PRELOAD", leaked(&library)), ("FAULTS", leaked(folder))]
    }

    fn fail(&self, kind: &str, errno: i32) {
        fs::write(self.faults.path().join(kind), errno.to_string()).expect("a file can be written");
    }

    fn mend(&self, kind: &str) {
        fs::remove_file(self.faults.path().join(kind)).expect("the fault was there");
    }
}

#[test]
fn a_read_only_broken_or_full_disk_is_waited_out() {
    let faulty = Faulty::start();
    let target = &faulty.target;
    assert_eq!(target.check_alive(), "US-001");
    for (errno, next) in [(EROFS, "US-002"), (EIO, "US-003"), (ENOSPC, "US-004")] {
        faulty.fail("write", errno);
        for _ in 0..3 {
            check_unavailable(&take(target));
        }
        check_unavailable_over_mcp(target);
        let health = target.send(&target.request(Request::get("/health"))).json();
        let word = if errno == ENOSPC { "full" } else { "unreachable" };
        assert_eq!(health["dependencies"]["database"], word, "{health}");
        // A read whose event cannot be kept is not answered either.
        let read = || target.send(&target.rest("list_artifact_types", "{}"));
        wait_until("reads are refused", RECOVERED_WITHIN, || read().status == 503);
        check_unavailable(&read());
        faulty.mend("write");
        assert_eq!(wait_for_recovery(target), next, "after errno {errno}");
        wait_until("reads are served", RECOVERED_WITHIN, || read().status == 200);
    }
    let events = faulty.target.stop();
    assert_eq!(count(&events, "get_next_available_id", "ok"), 4);
    // What was refused is told: each call, or how many of an operation.
    let told = |operation: &str| -> u64 {
        let refused = events.iter().filter(|event| event.operation == operation && event.outcome == "busy");
        refused.map(|event| event.body["count"].as_u64().unwrap_or(1)).sum()
    };
    assert!(told("get_next_available_id") >= 12 && told("list_artifact_types") >= 6, "{events:?}");
}

#[test]
fn who_ends_with_events_that_could_not_be_stored_says_so() {
    let mut faulty = Faulty::start();
    assert_eq!(faulty.target.check_alive(), "US-001");
    faulty.fail("write", ENOSPC);
    let answer = faulty.target.send(&faulty.target.rest("list_artifact_types", "{}"));
    assert_eq!(answer.status, 200, "answered once it has a place in the queue: {answer:?}");
    faulty.target.terminate();
    let (code, log) = (faulty.target.exit_code(), faulty.target.log());
    assert_eq!(code, Some(2), "{log}");
    assert!(log.contains("error: not all that was done could be recorded; `materia doctor` says"), "{log}");
    faulty.mend("write");
    assert_eq!(faulty.target.again(&TargetOptions::default()).check_alive(), "US-002");
}

#[test]
fn a_failed_fsync_ends_the_server_and_what_it_acknowledged_stays() {
    let mut faulty = Faulty::start();
    assert_eq!(faulty.target.check_alive(), "US-001");
    faulty.fail("fsync", EIO);
    // Nobody may be told that the id is theirs; the connection may break instead.
    let input = json!({"artifact_type": "backlog_story", "project_id": PROJECT}).to_string();
    let exchanged =
        super::wire::exchange(faulty.target.http, &faulty.target.rest("get_next_available_id", input).bytes());
    assert!(exchanged.answers.iter().all(|answer| answer.status >= 500), "{exchanged:?}");
    wait_until("the server ends", RECOVERED_WITHIN, || faulty.target.exit_code().is_some());
    assert_eq!(faulty.target.exit_code(), Some(74), "{}", faulty.target.log());
    faulty.mend("fsync");
    let target = faulty.target.again(&TargetOptions::default());
    let next = target.check_alive();
    assert!(next == "US-002" || next == "US-003", "{next}");
}

#[test]
fn a_full_file_system_is_waited_out() {
    // A file system of its own, which vanishes with the server.
    let script = r#"mount -t tmpfs -o size=6m,mode=700 tmpfs "$5" && exec "$@""#;
    let mut under = vec!["unshare", "--mount", "sh", "-c", script, "sh"];
    if !rustix::process::geteuid().is_root() {
        under.insert(1, "--map-root-user");
    }
    let options = TargetOptions { under: &under, ..TargetOptions::default() };
    let target = Target::with(&options);
    assert_eq!(target.check_alive(), "US-001");
    let filler = target.data_seen().join("filler");
    for next in ["US-002", "US-003"] {
        let mut file = fs::File::create(&filler).expect("there is room for a file");
        while file.write_all(&[0; 4096]).is_ok() {}
        drop(file);
        // What the log of changes has already allotted may still take a few.
        let mut n_taken = 0;
        wait_until("the disk is full", RECOVERED_WITHIN, || {
            let answer = take(&target);
            n_taken += u32::from(answer.status == 200);
            answer.status != 200
        });
        check_unavailable(&take(&target));
        check_unavailable_over_mcp(&target);
        fs::remove_file(&filler).expect("the file was there");
        let number: u32 = wait_for_recovery(&target).trim_start_matches("US-").parse().expect("a number");
        let expected: u32 = next.trim_start_matches("US-").parse().expect("a number");
        assert!(number >= expected && number <= expected + 2 * n_taken, "{number} after {n_taken} more");
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_named_and_left_alone() {
    let folder = testkit::temp_dir();
    let file = folder.path().join("file");
    fs::write(&file, "mine").expect("a file can be written");
    let mut command = crate::house::materia();
    command.args(["serve", "--json", "--listen", "127.0.0.1:0", "--data"]).arg(file.join("data"));
    let output = command.output().expect("`materia` starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("data folder") && !errors.contains("panicked"), "{errors}");
    assert_eq!(fs::read_to_string(&file).expect("the file is there"), "mine");
}

#[test]
fn a_locked_database_is_waited_out() {
    let target = Target::start();
    assert_eq!(target.check_alive(), "US-001");
    let (locked, is_locked) = mpsc::channel();
    let (let_go, may_go) = tokio::sync::oneshot::channel::<()>();
    let data = target.data();
    // Another process to SQLite: it has its own connection and its own locks.
    let holder = std::thread::spawn(move || {
        block_on(async {
            let store = open(&data).await;
            let mut may_go = Some(may_go);
            let apply: Apply<()> = Box::new(move |_tx| {
                let (locked, may_go) = (locked.clone(), may_go.take());
                Box::pin(async move {
                    locked.send(()).expect("the test waits");
                    if let Some(may_go) = may_go {
                        drop(may_go.await);
                    }
                    Ok(Applied { value: (), event: None, keep: Keep::Nothing })
                })
            });
            let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
            store.write(None, deadline, apply).await.expect("the lock was held");
            store.close().await;
        });
    });
    is_locked.recv_timeout(Duration::from_secs(10)).expect("the database is locked");
    let begun = Instant::now();
    let input = json!({"artifact_type": "backlog_story", "project_id": PROJECT}).to_string();
    let request = target.rest("get_next_available_id", input).bytes();
    let address = target.http;
    let callers: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn({
                let request = request.clone();
                move || super::wire::exchange(address, &request)
            })
        })
        .collect();
    for caller in callers {
        check_unavailable(&caller.join().expect("an answer").only());
    }
    assert!(begun.elapsed() < ANSWER_WITHIN + Duration::from_secs(1), "the answers took {:?}", begun.elapsed());
    let_go.send(()).expect("the holder waits");
    holder.join().expect("the holder ends");
    assert_eq!(wait_for_recovery(&target), "US-002", "a call that was refused took an id");
}

#[test]
fn used_up_file_descriptors_are_waited_out() {
    let target = Target::with(&TargetOptions {
        env: &[("MATERIA_HEADER_TIMEOUT_MS", "1000"), ("MATERIA_CONNECTIONS_PER_ADDRESS_MAX", "100")],
        under: &["prlimit", "--nofile=48:48"],
        ..TargetOptions::default()
    });
    assert_eq!(target.check_alive(), "US-001");
    let ports = [target.http, target.tasks, target.ids, target.grpc].into_iter().cycle();
    let idle: Vec<TcpStream> =
        ports.take(60).map(|port| TcpStream::connect(port).expect("the backlog has room")).collect();
    let n_open = || fs::read_dir(format!("/proc/{}/fd", target.pid())).expect("the server lives").count();
    wait_until("no descriptor is free", RECOVERED_WITHIN, || n_open() >= 48);
    // The next one waits in the backlog until the idle ones are cut off, and is then served.
    let answer = take(&target);
    if answer.status != 200 {
        check_unavailable(&answer);
    }
    drop(idle);
    wait_for_recovery(&target);
    wait_until("the descriptors are free", RECOVERED_WITHIN, || n_open() < 40);
}
