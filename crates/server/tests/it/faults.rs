//! A fault at every step of store and approve, injected into the real binary: afterwards the state is the old one or
//! the new one, whole, and the files follow it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use testkit::documents::{BUSINESS_RESEARCH, EPIC_006, IMPLEMENTATION_RESEARCH, PRD_006};

use crate::house::{materia, size};

/// What may go wrong, and where.
const FAULTS: [&str; 3] = ["signal=KILL", "error=EIO", "error=ENOSPC"];
const STEPS: [&str; 4] = ["fsync,fdatasync", "rename,renameat,renameat2", "pwrite64,write", "unlink,unlinkat"];
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

    /// Runs the command with the fault at every `stride`-th call of a kind, until it is beyond the last one.
    fn check(&self, subject: &str, arguments: &[&str], stride: usize, judge: impl Fn(&Path) -> bool) {
        let (mut n_points, mut n_new) = (0, 0);
        for step in STEPS {
            for fault in FAULTS.into_iter().take(size(1, FAULTS.len())) {
                for point in (1..POINTS_MAX).step_by(stride) {
                    let data = self.folder.path().join("data");
                    fs::remove_dir_all(&data).ok();
                    copy(&self.before, &data);
                    if !self.run_with_fault(&data, arguments, step, fault, point) {
                        break;
                    }
                    n_points += 1;
                    n_new += usize::from(judge(&data));
                }
            }
        }
        println!("proof: faults subject={subject} points={n_points} old={} new={n_new}", n_points - n_new);
        assert!(n_points > 5 && n_new > 0 && n_new < n_points, "{subject}: {n_points} points, {n_new} new");
    }

    /// Whether the fault was met.
    fn run_with_fault(&self, data: &Path, arguments: &[&str], step: &str, fault: &str, point: usize) -> bool {
        let trace = self.folder.path().join("trace");
        let command = materia();
        let mut strace = Command::new("strace");
        strace.args(["-f", "-o"]).arg(&trace).args(["-e", &format!("trace={step}")]);
        strace.args(["-e", &format!("inject={step}:{fault}:when={point}")]);
        strace.arg(command.get_program()).args(arguments).arg("--data").arg(data);
        let output = strace.output().expect("`strace` runs");
        let traced = fs::read_to_string(&trace).expect("a trace");
        let is_met = traced.contains("(INJECTED)") || traced.contains("+++ killed by SIGKILL +++");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!errors.contains("panicked"), "{step} {fault} {point}: {errors}");
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

fn json(data: &Path, arguments: &[&str]) -> Value {
    let output = materia().args(arguments).arg("--data").arg(data).output().expect("`materia` runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The log is whole, and after a start the files are those of the record.
fn check_whole(data: &Path) -> Vec<Value> {
    let verified = json(data, &["audit", "verify", "--json"]);
    assert_eq!(verified["ok"], true, "{verified}");
    let listed = json(data, &["artifact", "list", "--json"])["artifacts"].as_array().expect("a list").clone();
    for document in &listed {
        let version = document["version"].to_string();
        let id = document["id"].as_str().expect("an id");
        let read = json(data, &["artifact", "show", id, "--version", &version, "--json"]);
        let file = data.join(document["file_path"].as_str().expect("a path"));
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert_eq!(read["content"], text, "{}", file.display());
        let sidecar = fs::read_to_string(file.with_file_name(format!(
            "{}_metadata.json",
            file.file_stem().and_then(|stem| stem.to_str()).expect("a name")
        )));
        let sidecar: Value = serde_json::from_str(&sidecar.expect("a sidecar")).expect("JSON");
        assert_eq!(
            (&sidecar["status"], &sidecar["content_sha256"]),
            (&document["status"], &document["content_sha256"])
        );
    }
    listed
}

fn stride() -> usize {
    size(7, 1)
}

#[test]
fn a_store_that_is_struck_leaves_all_or_nothing() {
    let lab = Lab::new();
    let (epic, prd) = (lab.file("epic.md", EPIC_006), lab.file("prd.md", PRD_006));
    json(&lab.before, &["artifact", "store", &epic, "--json"]);
    lab.check("store", &["artifact", "store", &prd], stride(), |data| check_whole(data).len() == 2);
}

#[test]
fn an_approval_that_is_struck_leaves_all_or_nothing() {
    let lab = Lab::new();
    for text in [BUSINESS_RESEARCH, IMPLEMENTATION_RESEARCH, EPIC_006] {
        json(&lab.before, &["artifact", "store", &lab.file("document.md", text), "--json"]);
    }
    json(&lab.before, &["artifact", "approve", "EPIC-006", "--json"]);
    json(&lab.before, &["artifact", "store", &lab.file("document.md", PRD_006), "--json"]);
    lab.check("approve", &["artifact", "approve", "PRD-006"], stride(), |data| {
        let listed = check_whole(data);
        let status =
            listed.iter().find(|document| document["id"] == "PRD-006").expect("the document")["status"].clone();
        let tasks = json(data, &["task", "list", "--json"])["tasks"].as_array().expect("tasks").len();
        let text = fs::read_to_string(data.join("artifacts/prds/PRD-006_v1.md")).expect("the file");
        let has_placeholders = text.contains("HLS-AAA");
        match status.as_str() {
            Some("Draft") => assert_eq!((tasks, has_placeholders), (0, true)),
            Some("Approved") => assert_eq!((tasks, has_placeholders), (3, false)),
            _ => panic!("status {status}"),
        }
        status == "Approved"
    });
}
