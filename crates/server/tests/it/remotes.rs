//! Task and id services of another server: a second real process, and a service that fails in every way.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use reqwest::Method;
use serde_json::{Value, json};
use testkit::documents::{EPIC_006, PRD_006};

use crate::{
    house::{Access, House, HouseOptions, materia},
    tracker::{ask, batch, serve},
};

/// Calls an operation in a data folder whose services are elsewhere; a failure is its error object.
pub fn call(
    data: &Path,
    settings: &[(&str, &str)],
    operation: &str,
    input: &Value,
    key: Option<&str>,
) -> Result<Value, Value> {
    let mut command = materia();
    command.arg("--data").arg(data).args(["call", operation, &input.to_string()]);
    if let Some(key) = key {
        command.args(["--idempotency-key", key]);
    }
    let output = command.envs(settings.iter().copied()).output().expect("`materia` runs");
    let parse = |bytes: &[u8]| -> Value {
        serde_json::from_slice(bytes).unwrap_or_else(|_| panic!("expected JSON: {}", String::from_utf8_lossy(bytes)))
    };
    if output.status.success() { Ok(parse(&output.stdout)) } else { Err(parse(&output.stderr)["error"].clone()) }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_process_keeps_the_tasks_and_gives_out_the_ids() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let far = folder.path().join("far");
    let house = House::start(&HouseOptions { data: &far, access: Access::Token, database_url: None });
    let (token, tasks, ids) = (house.token(), house.tasks().to_owned(), house.ids().to_owned());
    let settings = [
        ("MATERIA_TASKS_URL", tasks.as_str()),
        ("MATERIA_TASKS_KEY", token.as_str()),
        ("MATERIA_IDS_URL", ids.as_str()),
        ("MATERIA_IDS_KEY", token.as_str()),
    ];
    let near = folder.path().join("near");
    let ok = |operation: &str, input: Value, key: Option<&str>| {
        call(&near, &settings, operation, &input, key).unwrap_or_else(|error| panic!("{operation}: {error}"))
    };

    let id = json!({"artifact_type": "backlog_story", "project_id": "p", "task_id": "abc-123"});
    let first = json!({"artifact_type": "backlog_story", "next_id": "US-001", "success": true});
    assert_eq!(ok("get_next_available_id", id.clone(), Some("k1")), first);
    assert_eq!(ok("get_next_available_id", id.clone(), Some("k1")), first, "a repeated call burns no second id");
    assert_eq!(ok("get_next_available_id", id, None)["next_id"], "US-002");
    let reserved = ok("reserve_id_range", json!({"artifact_type": "hls", "count": 3, "project_id": "p"}), None);
    assert_eq!(reserved["artifact_type"], "hls");
    assert_eq!(reserved["reserved_ids"], json!(["HLS-001", "HLS-002", "HLS-003"]));
    let confirmed = ok("confirm_reservation", json!({"reservation_id": reserved["reservation_id"]}), None);
    assert_eq!(confirmed["confirmed"], true);

    // Another house with the same key that calls its work by the same name is another caller.
    let id = json!({"artifact_type": "backlog_story", "project_id": "p"});
    let other = call(&folder.path().join("other"), &settings, "get_next_available_id", &id, Some("k1"));
    assert_eq!(other.expect("an id")["next_id"], "US-003");

    let queued = json!({"success": true, "tasks_added": 2, "task_ids": ["TASK-001", "TASK-002"]});
    assert_eq!(ok("queue_tasks", batch("p", 1, 2), Some("k2")), queued);
    assert_eq!(ok("queue_tasks", batch("p", 1, 2), Some("k2")), queued, "a repeated batch makes no second task");
    let error = call(&near, &settings, "queue_tasks", &batch("p", 1, 1), None).expect_err("it is there already");
    assert_eq!(error["code"], "INVALID_ARG");
    assert_eq!(error["message"], "Task validation failed: artifact_id HLS-001 already exists in queue");
    let next = ok("get_next_task", json!({"project_id": "p", "claim": true}), None);
    assert_eq!(next["task"]["task_id"], "TASK-001");
    let done = ok("update_task_status", json!({"task_id": "TASK-001", "status": "completed"}), None);
    assert_eq!(done["updated_task"]["status"], "completed");
    let error = json!({"task_id": "TASK-099", "status": "completed"});
    let error = call(&near, &settings, "update_task_status", &error, None).expect_err("no such task");
    assert_eq!((&error["code"], &error["message"]), (&json!("NOT_FOUND"), &json!("task TASK-099 does not exist")));
    let listed = ok("list_tasks", json!({"project_id": "p", "depends_on": "PRD-006", "status": "pending"}), None);
    assert_eq!(listed["count"], 1);

    // Both keep the event, and the far one knows the near one's work by its correlation id.
    let events = |data: &Path, operation: &str| {
        let search = json!({"operation": operation, "correlation_id": "abc-123"});
        let found = call(data, &[], "audit_search", &search, None).expect("events can be searched");
        found["events"].as_array().map_or(0, Vec::len)
    };
    assert_eq!(events(&near, "get_next_available_id"), 3);
    assert_eq!(events(&far, "get_next_available_id"), 3);
    let log = std::fs::read_to_string(far.with_extension("log")).expect("the far server logs");
    assert!(log.contains("abc-123") && !log.contains(&token));

    let wrong = [("MATERIA_TASKS_URL", tasks.as_str()), ("MATERIA_TASKS_KEY", "not-the-key")];
    let error = call(&near, &wrong, "list_tasks", &json!({}), None).expect_err("the key is wrong");
    assert_eq!(error["code"], "UPSTREAM");
    assert_eq!(error["message"], "the task service does not accept the key it was given");
}

#[test]
fn doctor_tells_of_services_that_are_not_there() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port is free");
    let nobody = format!("http://{free}");
    let there = Broken::start(&[Act::Answer(200, r#"{"success":true,"tasks":[],"count":0}"#)]);
    let mut command = materia();
    command.arg("--data").arg(folder.path().join("near")).arg("doctor");
    command.env("MATERIA_TASKS_URL", &there.url).env("MATERIA_IDS_URL", &nobody);
    let output = command.output().expect("`materia` runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("ok     the service of another server answers (tasks_url)"), "{said}");
    assert!(
        said.contains("WRONG  the service of another server does not serve (ids_url): it cannot be reached"),
        "{said}"
    );
}

#[test]
fn doctor_tells_of_a_wrong_key_and_of_addresses_that_changed_places() {
    let folder = testkit::temp_dir();
    let far = folder.path().join("far");
    let house = House::start(&HouseOptions { data: &far, access: Access::Token, database_url: None });
    let token = house.token();
    let doctor = |tasks: &str, ids: &str, key: &str| {
        let mut command = materia();
        command.arg("--data").arg(folder.path().join("near")).arg("doctor");
        command.env("MATERIA_TASKS_URL", tasks).env("MATERIA_IDS_URL", ids);
        command.env("MATERIA_TASKS_KEY", key).env("MATERIA_IDS_KEY", key);
        let output = command.output().expect("`materia` runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let (tasks, ids) = (house.tasks(), house.ids());
    let right = doctor(tasks, ids, &token);
    for setting in ["tasks_url", "ids_url"] {
        assert!(right.contains(&format!("ok     the service of another server answers ({setting})")), "{right}");
    }
    let wrong = doctor(tasks, ids, "not-the-key");
    for (setting, key) in [("tasks_url", "tasks_key"), ("ids_url", "ids_key")] {
        let said = format!(
            "WRONG  the service of another server does not serve ({setting}): it does not accept the key it was given\n         \
             set `{key}` to a key of that server\n"
        );
        assert!(wrong.contains(&said), "{wrong}");
    }
    let swapped = doctor(ids, tasks, &token);
    for (setting, name) in [("tasks_url", "task"), ("ids_url", "id")] {
        let said = format!(
            "WRONG  the service of another server does not serve ({setting}): what answers there is no {name} service\n"
        );
        assert!(swapped.contains(&said), "{swapped}");
    }
    // Nobody was given an id for it.
    let next = call(&far, &[], "get_next_available_id", &json!({"artifact_type": "prd"}), None).expect("an id");
    assert_eq!(next["next_id"], "PRD-001");
}

/// What a broken service does with one request.
#[derive(Clone, Copy)]
pub enum Act {
    Answer(u16, &'static str),
    /// Closes without an answer.
    Hang,
    /// Says how long the answer is, and closes in the middle of it.
    Break,
    Wait(Duration),
}

/// A service that does as it is told, one act per request, the last one for ever. Keeps what it was asked.
pub struct Broken {
    pub url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Broken {
    pub fn start(acts: &'static [Act]) -> Broken {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let url = format!("http://{}", listener.local_addr().expect("a bound port has an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        thread::spawn(move || {
            for (index, stream) in listener.incoming().map_while(Result::ok).enumerate() {
                let act = acts[index.min(acts.len() - 1)];
                let seen = Arc::clone(&seen);
                thread::spawn(move || perform(act, stream, &seen));
            }
        });
        Broken { url, asked }
    }

    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no thread panics with it").clone()
    }
}

/// Head and body of the one request of a connection.
pub fn read_request(stream: &TcpStream) -> Option<(String, Vec<u8>)> {
    let mut reader = BufReader::new(stream.try_clone().expect("a stream can be cloned"));
    let (mut head, mut n_body) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return None;
        }
        if let Some(length) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            n_body = length.trim().parse().expect("a length");
        }
        if line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; n_body];
    reader.read_exact(&mut body).expect("the body comes");
    Some((head, body))
}

/// Every answer closes its connection, so that one connection is one request.
fn perform(act: Act, mut stream: TcpStream, asked: &Mutex<Vec<String>>) {
    let Some((head, body)) = read_request(&stream) else { return };
    asked.lock().expect("no thread panics with it").push(head + &String::from_utf8_lossy(&body));
    let sent = match act {
        Act::Answer(status, body) => write!(
            stream,
            "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        ),
        Act::Hang => Ok(()),
        Act::Break => {
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\n{{\"success\"")
        }
        Act::Wait(time) => {
            thread::sleep(time);
            Ok(())
        }
    };
    // Whoever asked may be gone.
    sent.ok();
}

/// Longer than an attempt may take.
const SLOW: &[Act] = &[Act::Wait(Duration::from_secs(30))];
const EMPTY: &str = r#"{"success":true,"task":null,"message":"No pending tasks in project p"}"#;

/// Asks a broken service for the next task: what came of it, how long it took, and what the service was asked.
fn ask_broken(acts: &'static [Act]) -> (Result<Value, Value>, Duration, Vec<String>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let broken = Broken::start(acts);
    let settings = [("MATERIA_TASKS_URL", broken.url.as_str()), ("MATERIA_TASKS_KEY", "the-secret-key")];
    let input = json!({"project_id": "p", "claim": true, "task_id": "abc-123"});
    let started = Instant::now();
    let result = call(&folder.path().join("data"), &settings, "get_next_task", &input, None);
    assert!(!format!("{result:?}").contains("the-secret-key"));
    (result, started.elapsed(), broken.asked())
}

#[test]
fn a_failed_service_is_tried_three_times_under_one_key() {
    for acts in [
        &[Act::Answer(500, "{}"), Act::Answer(503, "{}"), Act::Answer(200, EMPTY)][..],
        &[Act::Hang, Act::Break, Act::Answer(200, EMPTY)][..],
    ] {
        let (result, took, asked) = ask_broken(acts);
        assert_eq!(result.expect("the third try is answered")["task"], Value::Null);
        assert_eq!(asked.len(), 3);
        assert!(took >= Duration::from_millis(300), "it waits 100 and 200 ms: {took:?}");
        let header = |asked: &String, name: &str| {
            let mut lines = asked.lines().filter_map(|line| line.split_once(": "));
            lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
        };
        for name in ["idempotency-key", "x-correlation-id", "authorization"] {
            let values: Vec<Option<String>> = asked.iter().map(|asked| header(asked, name)).collect();
            assert!(values[0].is_some() && values.iter().all(|value| *value == values[0]), "{name}: {values:?}");
        }
        assert_eq!(header(&asked[0], "x-correlation-id").as_deref(), Some("abc-123"));
        assert!(asked[0].starts_with("GET /tasks/next?project=p&status=pending&claim=true HTTP/1.1"), "{}", asked[0]);
    }
}

#[test]
fn a_service_that_never_works_is_given_up_after_three_tries() {
    for (acts, message) in [
        (&[Act::Answer(500, "{}")][..], "the task service answered 500"),
        (&[Act::Answer(502, "<html>")][..], "the task service answered 502"),
        (&[Act::Hang][..], "the task service cannot be reached"),
        (&[Act::Break][..], "the task service cannot be reached"),
    ] {
        let (result, _, asked) = ask_broken(acts);
        let error = result.expect_err("nothing was answered");
        assert_eq!((&error["code"], &error["message"]), (&json!("UPSTREAM"), &json!(message)));
        assert_eq!(asked.len(), 3);
    }
}

#[test]
fn what_another_try_would_not_mend_is_not_tried_again() {
    for (acts, code, message) in [
        (&[Act::Answer(400, r#"{"detail":"bad"}"#)][..], "INVALID_ARG", "bad"),
        (&[Act::Answer(404, r#"{"detail":"no"}"#)][..], "NOT_FOUND", "no"),
        (&[Act::Answer(409, r#"{"detail":"taken"}"#)][..], "CONFLICT", "taken"),
        (&[Act::Answer(429, r#"{"detail":"slower"}"#)][..], "BUSY", "slower"),
        (&[Act::Answer(403, r#"{"detail":"not yours"}"#)][..], "DENIED", "not yours"),
        (&[Act::Answer(403, "{}")][..], "UPSTREAM", "the task service does not accept the key it was given"),
        (
            &[Act::Answer(200, "nonsense")][..],
            "UPSTREAM",
            "the task service answered something else than JSON, or too much of it",
        ),
        (
            &[Act::Answer(200, r#"{"success":true,"task":7}"#)][..],
            "UPSTREAM",
            "the service answered something else than it should",
        ),
        (SLOW, "TIMEOUT", "the task service took too long"),
    ] {
        let (result, took, asked) = ask_broken(acts);
        let error = result.expect_err("it is no answer");
        assert_eq!((&error["code"], &error["message"]), (&json!(code), &json!(message)));
        assert_eq!(asked.len(), 1, "{message}");
        assert!(took < Duration::from_secs(9), "{message}: {took:?}");
    }
}

/// Stores in a data folder whose ids a service gives out.
fn store(data: &Path, ids_url: &str, text: &str) -> Result<Value, Value> {
    let settings = [("MATERIA_IDS_URL", ids_url)];
    call(data, &settings, "store_artifact", &json!({ "artifact_content": text }), None)
}

#[test]
fn a_document_is_stored_when_the_service_that_gives_out_the_ids_knows_of_it() {
    let folder = testkit::temp_dir();
    let (near, far) = (folder.path().join("near"), folder.path().join("far"));
    let house = serve(&far, None);
    store(&near, house.ids(), EPIC_006).expect("stored");
    let next = |artifact_type: &str| {
        let input = json!({ "artifact_type": artifact_type });
        call(&far, &[], "get_next_available_id", &input, None).expect("an id")["next_id"].clone()
    };
    assert_eq!(next("epic"), "EPIC-007");
    let down = Broken::start(&[Act::Hang]);
    let error = store(&near, &down.url, PRD_006).expect_err("the service is down");
    let message = "nothing was stored, as PRD-006 could not be made known to the service that gives out the ids: \
        the id service cannot be reached";
    assert_eq!((&error["code"], &error["message"]), (&json!("UPSTREAM"), &json!(message)));
    let stored = || {
        let listed = call(&near, &[], "list_artifacts", &json!({}), None).expect("a list");
        listed["artifacts"].as_array().map_or(0, Vec::len)
    };
    assert_eq!((stored(), down.asked().len()), (1, 3));
    store(&near, &down.url, &EPIC_006.replacen("**Version:** 1", "**Version:** 2", 1)).expect("a second version");
    assert_eq!((stored(), down.asked().len()), (2, 3));
    // One that knows no such type gives out no such ids.
    let other = Broken::start(&[Act::Answer(400, r#"{"detail":"no such type","details":{"field":"type"}}"#)]);
    store(&near, &other.url, PRD_006).expect("stored");
    assert_eq!((stored(), other.asked().len()), (3, 1));
    let asked = &other.asked()[0];
    assert!(asked.contains(r#"{"count":1,"number":6,"project_id":"default","type":"PRD"}"#), "{asked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_at_the_address_is_an_error_that_names_no_secret() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port is free");
    let url = format!("http://{free}");
    let settings = [("MATERIA_IDS_URL", url.as_str()), ("MATERIA_IDS_KEY", "the-secret-key")];
    let input = json!({"artifact_type": "US"});
    let error =
        call(&folder.path().join("data"), &settings, "get_next_available_id", &input, None).expect_err("nobody");
    assert_eq!((&error["code"], &error["message"]), (&json!("UPSTREAM"), &json!("the id service cannot be reached")));

    let house = serve(&folder.path().join("near"), None);
    let (status, _) = ask(Method::POST, &format!("{}/tasks/batch", house.tasks()), Some(&batch("p", 1, 1)), None).await;
    assert_eq!(status, 201, "without the setting the house keeps its tasks itself");
}

#[test]
fn a_key_does_not_go_over_plain_http_beyond_this_machine() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (url, problem) in [
        ("http://tasks.example:8080", "must begin with https://"),
        ("https://user:pw@tasks.example", "without user, path or query"),
        ("ftp://tasks.example", "must be an address"),
    ] {
        let mut command = materia();
        command.arg("--data").arg(folder.path().join("data")).args(["call", "list_tasks"]);
        let output = command.envs([("MATERIA_TASKS_URL", url), ("MATERIA_TASKS_KEY", "k")]).output().expect("it runs");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(problem), "{error}");
        assert!(!error.contains("pw"), "{error}");
    }
}
