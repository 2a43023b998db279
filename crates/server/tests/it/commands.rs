//! What commands say when something is wrong, how they end, and that those which look change nothing.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::house::{Access, House, HouseOptions, Process, materia};
use crate::ids::{self, OPERATION};
use crate::stdio::StdioClient;

const PROJECT: &str = "commands";

struct Told {
    code: Option<i32>,
    out: String,
    err: String,
}

fn told(output: Output) -> Told {
    let text = |bytes| String::from_utf8(bytes).expect("commands print UTF-8");
    Told { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

fn run(data: &Path, arguments: &[&str]) -> Told {
    let mut command = materia();
    command.args(arguments).arg("--data").arg(data).stdin(Stdio::null());
    told(command.output().expect("`materia` starts"))
}

fn take_id(data: &Path) {
    let taken = run(data, &["call", OPERATION, &ids::input(PROJECT).to_string()]);
    assert_eq!(taken.code, Some(0), "{}", taken.err);
}

/// The events of the log, oldest first.
fn events(data: &Path) -> Vec<Value> {
    let exported = run(data, &["audit", "export"]);
    assert_eq!(exported.code, Some(0), "{}", exported.err);
    let lines = exported.out.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line is JSON"));
    lines.map(|line| serde_json::from_str(line["event"].as_str().expect("an event")).expect("JSON")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_is_told_when_the_owner_has_lost_its_database() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let database = testkit::postgres_url().await;
    let options = HouseOptions { data: &data, access: Access::Anyone, database_url: Some(&database.url) };
    let _house = House::start(&options);
    take_id(&data);

    // Without the address of the database, the owner is asked.
    for arguments in [&["audit", "verify"][..], &["audit", "key"], &["task", "list"], &["export", "csl-json"]] {
        let said = run(&data, arguments);
        assert_eq!(said.code, Some(0), "{arguments:?}: {}{}", said.out, said.err);
    }
    let said = run(&data, &["doctor"]);
    assert!(
        said.out.contains("a running process owns it") && said.out.contains("the database answers"),
        "{}",
        said.out
    );

    database.shut().await;
    for arguments in [&["doctor"][..], &["doctor", "--database-url", &database.url]] {
        let said = run(&data, arguments);
        assert_eq!(said.code, Some(1), "{}", said.out);
        assert!(said.out.contains("WRONG  the database does not answer"), "{}", said.out);
        assert!(!said.out.contains("the log grows"), "{}", said.out);
    }
    database.reopen().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_without_the_address_of_the_database_begins_no_other_record() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let database = testkit::postgres_url().await;
    let options = HouseOptions { data: &data, access: Access::Anyone, database_url: Some(&database.url) };
    let house = House::start(&options);
    let mut client = StdioClient::start(&data);
    client.call(OPERATION, &ids::input(PROJECT), Duration::from_secs(30)).expect("the owner answers");
    house.kill();
    let refused = client.call(OPERATION, &ids::input(PROJECT), Duration::from_secs(30));
    assert!(refused.is_err(), "{refused:?}");
    assert!(!data.join("materia.db").exists());
}

#[test]
fn doctor_finds_a_folder_in_which_nothing_can_be_kept() {
    let folder = testkit::temp_dir();
    let said = run(&folder.path().join("new"), &["doctor", "--no-starter-data"]);
    assert!(said.out.contains("holds no data yet"), "{}", said.out);
    assert!(!folder.path().join("new").exists());

    let file = folder.path().join("file");
    fs::write(&file, "").expect("a file");
    for data in [file.clone(), file.join("below")] {
        let said = run(&data, &["doctor"]);
        assert_eq!(said.code, Some(1), "{}", said.out);
        assert!(said.out.contains("is no folder"), "{}", said.out);
    }

    let closed = folder.path().join("closed");
    fs::create_dir(&closed).expect("a folder");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).expect("a mode can be set");
    // Nothing is closed to root.
    let is_closed = fs::write(closed.join("probe"), "").is_err();
    let said = run(&closed, &["doctor"]);
    assert_eq!(said.out.contains("nothing can be written to"), is_closed, "{}", said.out);
}

#[test]
fn a_damaged_database_file_is_called_that_and_a_backup_is_advised() {
    let folder = testkit::temp_dir();
    fs::write(folder.path().join("materia.db"), "this was a database once, and is none any more".repeat(200))
        .expect("a file");
    let said = run(folder.path(), &["doctor"]);
    assert_eq!(said.code, Some(1), "{}", said.out);
    assert!(
        said.out.contains("is damaged: file is not a database") && said.out.contains("materia restore"),
        "{}",
        said.out
    );
    assert!(!said.out.contains("is the database running"), "{}", said.out);
}

#[test]
fn a_command_that_would_forget_the_choice_of_starter_data_refuses_it() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("new");
    for flag in ["--starter-data", "--no-starter-data"] {
        let said = run(&data, &["key", "create", "--actor", "x", "--role", "agent", flag]);
        assert_eq!(said.code, Some(2), "{}", said.out);
        assert!(!data.exists());
    }
}

#[test]
fn commands_that_look_load_no_starter_data() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let mut call = materia();
    call.env_remove("MATERIA_STARTER_DATA").args(["call", OPERATION, &ids::input(PROJECT).to_string()]);
    call.arg("--no-starter-data").arg("--data").arg(&data);
    assert!(call.output().expect("`materia` starts").status.success());
    for arguments in [
        &["audit", "verify"][..],
        &["audit", "checkpoint"],
        &["doctor"],
        &["task", "list"],
        &["artifact", "list"],
        &["key", "list"],
        &["export", "csl-json"],
    ] {
        let mut look = materia();
        look.env_remove("MATERIA_STARTER_DATA").args(arguments).arg("--data").arg(&data);
        look.output().expect("`materia` starts");
    }
    let operations: Vec<Value> = events(&data).iter().map(|event| event["operation"].clone()).collect();
    assert!(operations.contains(&Value::from(OPERATION)), "{operations:?}");
    assert!(!operations.contains(&Value::from("load_starter_data")), "{operations:?}");

    for arguments in [
        &["export", "csl-json"][..],
        &["rebuild"],
        &["artifact", "approve", "PRD-006"],
        &["task", "next", "--claim"],
        &["task", "done", "TASK-001"],
    ] {
        let said = run(&folder.path().join("mistyped"), arguments);
        assert!(said.code == Some(2) && said.err.contains("there is no database in"), "{}", said.err);
        assert!(!folder.path().join("mistyped").exists());
    }
}

#[test]
fn what_is_no_call_is_refused_and_recorded() {
    let folder = testkit::temp_dir();
    for input in [r#"{"artifact_type":"US","artifact_type":"US"}"#, ""] {
        let said = run(folder.path(), &["call", OPERATION, input]);
        assert_eq!(said.code, Some(1), "{}", said.err);
    }
    for input in [Vec::new(), vec![b' '; 7 * 1024 * 1024], vec![b'"', 0xff, b'"']] {
        let mut command = materia();
        command.args(["call", OPERATION, "-", "--data"]).arg(folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("`materia` starts");
        // It stops reading at its limit.
        child.stdin.take().expect("a pipe").write_all(&input).ok();
        let said = told(child.wait_with_output().expect("it ends"));
        assert_eq!(said.code, Some(1), "{}", said.err);
    }
    let events = events(folder.path());
    let refused: Vec<&Value> = events.iter().filter(|event| event["operation"] == "admit").collect();
    assert_eq!(refused.len(), 5, "{events:?}");
    assert!(refused.iter().all(|event| event["actor"]["id"] == "owner"), "{refused:?}");
}

#[test]
fn a_call_whose_answer_could_not_be_written_is_told_to_have_been_made() {
    let folder = testkit::temp_dir();
    let mut command = materia();
    command.args(["call", OPERATION, &ids::input(PROJECT).to_string(), "--data"]).arg(folder.path());
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let said = told(command.stdout(full).stderr(Stdio::piped()).output().expect("`materia` starts"));
    assert_eq!(said.code, Some(3), "{}", said.err);
    let events = events(folder.path());
    let made = events.iter().find(|event| event["operation"] == OPERATION).expect("the call is in the log");
    let call_id = made["call_id"].as_str().expect("an id");
    assert!(said.err.contains(&format!("the call {call_id} was made")), "{}", said.err);
}

/// Sends SIGHUP to a server and tells how it ended.
fn hang_up(process: &mut Process) {
    kill_process(Pid::from_child(&process.0), Signal::HUP).expect("a process can be told that its terminal is gone");
}

fn serving(command: &mut Command, data: &Path) -> Process {
    command.args(["serve", "--json", "--no-auth", "--data"]).arg(data);
    for listener in ["--listen", "--tasks-listen", "--ids-listen", "--grpc-listen"] {
        command.args([listener, "127.0.0.1:0"]);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut process = Process(command.spawn().expect("it starts"));
    process.lines().recv_timeout(Duration::from_secs(30)).expect("a ready line");
    process
}

/// The program, started by another one that says which signals it ignores.
fn materia_by(starter: &[&str]) -> Command {
    let plain = materia();
    let mut command = Command::new(starter[0]);
    command.args(&starter[1..]).arg(plain.get_program());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

#[test]
fn a_closed_terminal_ends_a_server_gently_and_one_that_outlasts_terminals_not_at_all() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    // Whoever started the tests may ignore the signal, and their children with them.
    let mut process = serving(&mut materia_by(&["env", "--default-signal=HUP"]), &data);
    hang_up(&mut process);
    assert_eq!(process.0.wait().expect("it ends").code(), Some(0));
    assert!(!data.join("owner.sock").exists());

    let mut process = serving(&mut materia_by(&["nohup"]), &data);
    hang_up(&mut process);
    take_id(&data);
    assert!(process.0.try_wait().expect("it can be looked at").is_none());
}

#[test]
fn settings_and_addresses_that_are_wrong_are_named() {
    let folder = testkit::temp_dir();
    let settings = folder.path().join("materia.toml");
    let check = |text: &str, expected: &str| {
        fs::write(&settings, text).expect("settings can be written");
        for command in [&["config"][..], &["call", OPERATION]] {
            let said = run(folder.path(), command);
            assert!(said.code == Some(2) && said.err.contains(expected), "{}", said.err);
            assert_eq!(said.out.contains("rate_burst"), command == ["config"], "{}", said.out);
        }
        let said = run(folder.path(), &["doctor"]);
        assert!(said.code == Some(1) && said.out.contains(expected), "{}", said.out);
    };
    let file = settings.display();
    check("bogus = 1", &format!("there is no setting `bogus` in {file}; `materia config` lists them"));
    let expected =
        format!("`rate_burst` in {file}: found a negative number, expected a whole number from 1 to 1000000");
    fs::write(&settings, "rate_burst = -1").expect("settings can be written");
    let mut command = materia();
    command.env_remove("MATERIA_RATE_BURST").args(["config", "--data"]).arg(folder.path());
    let said = told(command.output().expect("`materia` starts"));
    assert!(said.err.contains(&expected), "{}", said.err);
    check("workflow_folder = \"/nope\"", "`workflow_folder` is `/nope`, which is no folder");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_cannot_be_reached_is_named_without_its_password() {
    let folder = testkit::temp_dir();
    let check = |url: &str, expected: &str| {
        let said = run(folder.path(), &["call", OPERATION, "--database-url", url]);
        assert!(said.code == Some(2) && said.err.contains(expected), "{}", said.err);
        assert!(
            !said.err.contains("secret") && !said.err.contains("pool") && !said.err.contains("line"),
            "{}",
            said.err
        );
    };
    check("postgres://me:secret@127.0.0.1:1/none", "the PostgreSQL server at `127.0.0.1:1` could not be reached");
    let database = testkit::postgres_url().await;
    check(&format!("{}_not", database.url), "has no database `test_");
    database.shut().await;
    check(&database.url, "takes no connections to this database");
    database.reopen().await;
}
