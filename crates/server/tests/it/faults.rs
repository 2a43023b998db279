//! A fault at every step of store and approve, injected into the real binary: afterwards the state is the old one or
//! the new one, whole, and the files follow it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use ops::Call;
use serde_json::{Value, json};
use server::assemble;
use server::auth::owner;
use server::settings::Settings;
use testkit::documents::{BUSINESS_RESEARCH, EPIC_006, IMPLEMENTATION_RESEARCH, PRD_006};

use crate::house::{materia, size};

/// What may go wrong, and where.
const FAULTS: [&str; 3] = ["signal=KILL", "error=EIO", "error=ENOSPC"];
/// Calls that are struck one after the other.
struct Step {
    calls: &'static str,
    /// Only those that touch this file; without one, the calls of each thread are counted.
    file: Option<&'static str>,
    /// Of so many calls one is struck in `cargo test`; in `prove` it is every one.
    stride: usize,
}

const fn at(calls: &'static str, file: &'static str) -> Step {
    Step { calls, file: Some(file), stride: 1 }
}

const fn any(calls: &'static str, stride: usize) -> Step {
    Step { calls, file: None, stride }
}

const STEPS: [Step; 10] = [
    any("fsync,fdatasync", 9),
    // SQLite's way to write. `write` without a file would strike the pipes by which threads wake each other, which no disk
    // can break.
    any("pwrite64", 15),
    any("rename,renameat,renameat2", 1),
    any("unlink,unlinkat", 1),
    // How files that were written ahead get their names.
    any("linkat", 1),
    // Threads have counters of their own, and the database comes first: the files need to be named.
    at("write", "artifacts/prds/.PRD-006_v1.md.tmp"),
    at("fsync", "artifacts/prds/.PRD-006_v1.md.tmp"),
    at("write", "artifacts/prds/.PRD-006_v1_metadata.json.tmp"),
    at("fsync", "artifacts/prds/.PRD-006_v1_metadata.json.tmp"),
    at("fsync", "artifacts/prds"),
];
/// Points that are struck at once, each in a folder of its own.
const N_SIDE_BY_SIDE: usize = 2;
/// Far more than the slowest command needs.
const RUN_SECONDS_MAX: &str = "120";
/// How `timeout` ends when it had to end the command.
const RUN_TOO_LONG: i32 = 124;
/// No command makes more calls of one kind.
const POINTS_MAX: usize = 4_000;

struct Lab {
    folder: tempfile::TempDir,
    /// The data folder before the command under test.
    before: PathBuf,
}

impl Lab {
    fn new() -> Lab {
        let folder = testkit::temp_dir();
        let before = folder.path().join("before");
        Lab { folder, before }
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        fs::write(&path, text).expect("a file can be written");
        path.to_str().expect("a path").to_owned()
    }

    /// Runs the command with the fault at one call after the other, until it is beyond the last one.
    fn check(&self, subject: &str, arguments: &[&str], judge: impl Fn(&Path) -> bool + Sync) {
        let (mut n_points, mut n_new) = (0, 0);
        for step in &STEPS {
            for fault in FAULTS.into_iter().take(size(1, FAULTS.len())) {
                let points: Vec<usize> = (1..POINTS_MAX).step_by(size(step.stride, 1)).collect();
                for side_by_side in points.chunks(N_SIDE_BY_SIDE) {
                    let outcomes = self.strike_all(arguments, step, fault, side_by_side, &judge);
                    n_points += outcomes.iter().flatten().count();
                    n_new += outcomes.iter().flatten().filter(|is_new| **is_new).count();
                    if outcomes.iter().any(Option::is_none) {
                        break;
                    }
                }
            }
        }
        println!("proof: faults subject={subject} points={n_points} old={} new={n_new}", n_points - n_new);
        assert!(n_points > 5 && n_new > 0 && n_new < n_points, "{subject}: {n_points} points, {n_new} new");
    }

    /// Whether the state was the new one after the fault at each of the points; nothing where the command ended before it.
    fn strike_all(
        &self,
        arguments: &[&str],
        step: &Step,
        fault: &str,
        points: &[usize],
        judge: &(impl Fn(&Path) -> bool + Sync),
    ) -> Vec<Option<bool>> {
        let strike = |point: usize| {
            let place = self.folder.path().join(format!("point-{point}"));
            let data = place.join("data");
            copy(&self.before, &data);
            let is_new = self.run_with_fault(&place, arguments, step, fault, point).then(|| judge(&data));
            fs::remove_dir_all(&place).expect("the folder of a point can be removed");
            is_new
        };
        thread::scope(|scope| {
            let running: Vec<_> = points.iter().map(|point| scope.spawn(move || strike(*point))).collect();
            running.into_iter().map(|running| running.join().expect("the state is whole")).collect()
        })
    }

    /// Whether the fault was met.
    fn run_with_fault(&self, place: &Path, arguments: &[&str], step: &Step, fault: &str, point: usize) -> bool {
        let (data, trace) = (place.join("data"), place.join("trace"));
        let command = materia();
        // A command that hangs has failed.
        let mut strace = Command::new("timeout");
        strace
            .args(["--kill-after=5", RUN_SECONDS_MAX, "strace", "-f", "-o"])
            .arg(&trace)
            .args(["-e", &format!("trace={}", step.calls)]);
        strace.args(["-e", &format!("inject={}:{fault}:when={point}", step.calls)]);
        if let Some(file) = step.file {
            strace.arg("-P").arg(data.join(file));
        }
        strace.arg(command.get_program()).args(arguments).arg("--data").arg(&data);
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => strace.env(name, value),
                None => strace.env_remove(name),
            };
        }
        let output = strace.output().expect("`strace` runs");
        assert_ne!(output.status.code(), Some(RUN_TOO_LONG), "{} {fault} {point}: the command hangs", step.calls);
        let traced = fs::read_to_string(&trace).expect("a trace");
        let is_met = traced.contains("(INJECTED)") || traced.contains("+++ killed by SIGKILL +++");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!errors.contains("panicked"), "{} {fault} {point}: {errors}", step.calls);
        is_met
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in fs::read_dir(from).expect("the folder").map(|entry| entry.expect("an entry")) {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy(&source, &target);
        } else if source.is_file() {
            fs::copy(&source, &target).expect("a file can be copied");
        }
    }
}

fn printed(data: &Path, arguments: &[&str]) -> Value {
    let output = materia().args(arguments).arg("--data").arg(data).output().expect("`materia` runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// What the next start finds.
struct Found {
    documents: Vec<Value>,
    n_tasks: usize,
}

/// Starts on the folder: the log is whole, and the files are those of the record.
fn start_again(data: &Path) -> Found {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    runtime.block_on(async {
        // As the house was made: loading them would take longer than all the rest.
        let settings = Settings { starter_data: false, ..Settings::default() };
        let house = assemble::enter(data.to_owned(), &settings).await.expect("the folder can be opened");
        let call = async |operation: &str, input: Value| -> Value {
            let call = Call { operation: operation.to_owned(), input, ..Call::default() };
            house.call(&owner(&settings.organisation_id), call).await.result.expect("an answer").output
        };
        let verified = call("audit_verify", json!({})).await;
        assert_eq!(verified["ok"], true, "{verified}");
        let listed = call("list_artifacts", json!({})).await;
        let documents = listed["artifacts"].as_array().expect("a list").clone();
        for document in &documents {
            let input = json!({"artifact_id": document["id"], "version": document["version"]});
            let read = call("read_artifact", input).await;
            let file = data.join(document["file_path"].as_str().expect("a path"));
            let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            assert_eq!(read["content"], text, "{}", file.display());
            let stem = file.file_stem().and_then(|stem| stem.to_str()).expect("a name");
            let sidecar = fs::read_to_string(file.with_file_name(format!("{stem}_metadata.json"))).expect("a sidecar");
            let sidecar: Value = serde_json::from_str(&sidecar).expect("JSON");
            assert_eq!(
                (&sidecar["status"], &sidecar["content_sha256"]),
                (&document["status"], &document["content_sha256"])
            );
        }
        let tasks = call("list_tasks", json!({})).await;
        house.close().await.expect("all is recorded");
        Found { documents, n_tasks: tasks["tasks"].as_array().map_or(0, Vec::len) }
    })
}

#[test]
fn a_store_that_is_struck_leaves_all_or_nothing() {
    let lab = Lab::new();
    let (epic, prd) = (lab.file("epic.md", EPIC_006), lab.file("prd.md", PRD_006));
    printed(&lab.before, &["artifact", "store", &epic, "--json"]);
    lab.check("store", &["artifact", "store", &prd], |data| start_again(data).documents.len() == 2);
}

/// Into a folder that is there, files are written ahead.
#[test]
fn a_store_beside_another_that_is_struck_leaves_all_or_nothing() {
    let lab = Lab::new();
    let (first, second) =
        (lab.file("first.md", EPIC_006), lab.file("second.md", &EPIC_006.replace("EPIC-006", "EPIC-007")));
    printed(&lab.before, &["artifact", "store", &first, "--json"]);
    lab.check("store beside", &["artifact", "store", &second], |data| start_again(data).documents.len() == 2);
}

#[test]
fn an_approval_that_is_struck_leaves_all_or_nothing() {
    let lab = Lab::new();
    for text in [BUSINESS_RESEARCH, IMPLEMENTATION_RESEARCH, EPIC_006] {
        printed(&lab.before, &["artifact", "store", &lab.file("document.md", text), "--json"]);
    }
    printed(&lab.before, &["artifact", "approve", "EPIC-006", "--json"]);
    printed(&lab.before, &["artifact", "store", &lab.file("document.md", PRD_006), "--json"]);
    lab.check("approve", &["artifact", "approve", "PRD-006"], |data| {
        let found = start_again(data);
        let document = found.documents.iter().find(|document| document["id"] == "PRD-006").expect("the document");
        let text = fs::read_to_string(data.join("artifacts/prds/PRD-006_v1.md")).expect("the file");
        let has_placeholders = text.contains("HLS-AAA");
        match document["status"].as_str() {
            Some("Draft") => assert_eq!((found.n_tasks, has_placeholders), (0, true)),
            Some("Approved") => assert_eq!((found.n_tasks, has_placeholders), (3, false)),
            _ => panic!("{document}"),
        }
        document["status"] == "Approved"
    });
}
