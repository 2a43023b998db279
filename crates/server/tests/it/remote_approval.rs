//! Approval where another server gives out the ids and keeps the tasks: everything happens once, whoever asks and however
//! often, and what the services answer is looked at before it is believed.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use reqwest::Method;
use serde_json::{Value, json};
use testkit::documents::{EPIC_006, PRD_006};

use crate::{
    house::House,
    remotes::{Act, Broken, call, read_request},
    tracker::{ask, serve},
};

/// A far server, and a near data folder that uses it.
struct Neighbours {
    near: PathBuf,
    far: PathBuf,
    house: House,
    _folder: tempfile::TempDir,
}

impl Neighbours {
    /// With two documents of the story stored, and the epic approved.
    fn begin() -> Neighbours {
        let folder = testkit::temp_dir();
        let (near, far) = (folder.path().join("near"), folder.path().join("far"));
        let house = serve(&far, None);
        for text in [EPIC_006, PRD_006] {
            call(&near, &[], "store_artifact", &json!({ "artifact_content": text }), None).expect("stored");
        }
        call(&near, &[], "approve_artifact", &json!({"artifact_id": "EPIC-006"}), None).expect("approved");
        Neighbours { near, far, house, _folder: folder }
    }

    fn approve(&self, ids_url: &str, tasks_url: &str, task_id: &str) -> Result<Value, Value> {
        let settings = [("MATERIA_IDS_URL", ids_url), ("MATERIA_TASKS_URL", tasks_url)];
        let input = json!({"artifact_id": "PRD-006", "task_id": task_id});
        call(&self.near, &settings, "approve_artifact", &input, None)
    }

    /// The documents whose tasks the far server has.
    fn queued(&self) -> Vec<String> {
        let tasks = call(&self.far, &[], "list_tasks", &json!({}), None).expect("tasks");
        let tasks = tasks["tasks"].as_array().expect("tasks");
        tasks
            .iter()
            .map(|task| {
                format!("{} {}", task["artifact_id"].as_str().unwrap_or(""), task["status"].as_str().unwrap_or(""))
            })
            .collect()
    }
}

/// Brings requests to a service, and loses the first answers.
fn lossy(to: &str, n_lost: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let url = format!("http://{}", listener.local_addr().expect("a bound port has an address"));
    let to = to.trim_start_matches("http://").to_owned();
    let n_seen = Arc::new(AtomicUsize::new(0));
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (to, n_seen) = (to.clone(), Arc::clone(&n_seen));
            thread::spawn(move || pass_on(stream, &to, n_seen.fetch_add(1, Ordering::SeqCst) < n_lost));
        }
    });
    url
}

fn pass_on(mut stream: TcpStream, to: &str, is_lost: bool) {
    let Some((head, body)) = read_request(&stream) else { return };
    let kept: String = head
        .lines()
        .filter(|line| !line.to_ascii_lowercase().starts_with("host:"))
        .map(|line| format!("{line}\r\n"))
        .collect();
    let mut service = TcpStream::connect(to).expect("the service is there");
    write!(service, "{kept}Host: {to}\r\nConnection: close\r\n\r\n").expect("the service reads");
    service.write_all(&body).expect("the service reads");
    let mut answer = Vec::new();
    service.read_to_end(&mut answer).expect("the service answers");
    if !is_lost {
        // Whoever asked may be gone.
        stream.write_all(&answer).ok();
    }
}

const QUEUED: [&str; 3] = ["HLS-001 pending", "HLS-002 pending", "HLS-003 pending"];

#[test]
fn an_approval_whose_answers_were_lost_leaves_no_work_and_is_repeated_with_the_same_ids() {
    let neighbours = Neighbours::begin();
    let (ids, tasks) = (neighbours.house.ids(), neighbours.house.tasks());
    // All three tries reach the service, and no answer comes back.
    let error = neighbours.approve(&lossy(ids, 3), tasks, "a-1").expect_err("no ids");
    assert_eq!(error["message"], "the id service cannot be reached");
    assert_eq!(neighbours.queued(), Vec::<String>::new());
    let error = neighbours.approve(ids, &lossy(tasks, 3), "a-2").expect_err("no tasks");
    assert_eq!(error["message"], "the task service cannot be reached");
    let withdrawn = ["HLS-001 completed", "HLS-002 completed", "HLS-003 completed"];
    assert_eq!(neighbours.queued(), withdrawn, "nobody works for a document that is not approved");
    let approved = neighbours.approve(ids, tasks, "a-3").expect("approved");
    assert_eq!(approved["task_ids"], json!(["TASK-004", "TASK-005", "TASK-006"]));
    assert_eq!(approved["sub_artifacts_detected"], json!(["HLS-001", "HLS-002", "HLS-003"]));
    assert_eq!(neighbours.queued()[3..], QUEUED);
    let next =
        call(&neighbours.far, &[], "get_next_available_id", &json!({"artifact_type": "hls"}), None).expect("an id");
    assert_eq!(next["next_id"], "HLS-004");
}

#[test]
fn of_those_who_approve_at_once_one_does_and_the_others_withdraw_nothing() {
    let neighbours = Neighbours::begin();
    let (ids, tasks) = (neighbours.house.ids(), neighbours.house.tasks());
    let replies: Vec<Result<Value, Value>> = thread::scope(|scope| {
        let run = |index: usize| {
            let neighbours = &neighbours;
            scope.spawn(move || neighbours.approve(ids, tasks, &format!("caller-{index}")))
        };
        let running: Vec<_> = (0..8).map(run).collect();
        running.into_iter().map(|it| it.join().expect("no thread panics")).collect()
    });
    assert_eq!(replies.iter().filter(|reply| reply.is_ok()).count(), 1, "{replies:?}");
    for lost in replies.iter().filter_map(|reply| reply.as_ref().err()) {
        assert_eq!(lost["message"], "Artifact PRD-006 already approved");
    }
    assert_eq!(neighbours.queued(), QUEUED);
}

#[test]
fn ids_of_the_service_that_are_in_use_here_are_passed_over() {
    let neighbours = Neighbours::begin();
    let hls = "# HLS-002: A story of our own\n\n## Metadata\n- **Story ID:** HLS-002\n- **Parent PRD:** PRD-006\n\
        - **Status:** Draft\n\n## Value Contribution\nEnough words to make this a document of a hundred characters.\n";
    call(&neighbours.near, &[], "store_artifact", &json!({ "artifact_content": hls }), None).expect("stored");
    let approved = neighbours.approve(neighbours.house.ids(), neighbours.house.tasks(), "a-1").expect("approved");
    assert_eq!(approved["sub_artifacts_detected"], json!(["HLS-001", "HLS-003", "HLS-004"]));
    assert_eq!(neighbours.queued(), ["HLS-001 pending", "HLS-003 pending", "HLS-004 pending"]);
}

fn state(data: &Path) -> Value {
    call(data, &[], "list_artifacts", &json!({}), None).expect("documents")
}

const OTHER_TYPE: &[Act] = &[Act::Answer(
    200,
    r#"{"success":true,"reservation_id":"r","artifact_type":"HLS","reserved_ids":["HLS-001","US-002","HLS-003"]}"#,
)];
const TOO_FEW: &[Act] = &[Act::Answer(
    200,
    r#"{"success":true,"reservation_id":"r","artifact_type":"HLS","reserved_ids":["HLS-001","HLS-002"]}"#,
)];
const REPEATED: &[Act] = &[Act::Answer(
    200,
    r#"{"success":true,"reservation_id":"r","artifact_type":"HLS","reserved_ids":["HLS-001","HLS-002","HLS-002"]}"#,
)];
const TOO_FEW_TASKS: &[Act] = &[Act::Answer(201, r#"{"success":true,"tasks_added":3,"task_ids":["TASK-001"]}"#)];

#[test]
fn what_a_service_answers_is_looked_at_before_it_is_believed() {
    let neighbours = Neighbours::begin();
    let before = state(&neighbours.near);
    let tasks = neighbours.house.tasks();
    for (acts, message) in [
        (OTHER_TYPE, "the id service answered something else than an id such as HLS-012"),
        (TOO_FEW, "the id service answered 2 reserved_ids where 3 were asked for"),
        (REPEATED, "the id service answered one of the reserved_ids twice"),
    ] {
        let broken = Broken::start(acts);
        let error = neighbours.approve(&broken.url, tasks, "a-1").expect_err("no ids");
        assert_eq!((&error["code"], &error["message"]), (&json!("UPSTREAM"), &json!(message)));
        assert!(broken.asked()[0].contains(r#""type":"HLS""#), "{:?}", broken.asked());
    }
    assert_eq!(neighbours.queued(), Vec::<String>::new());
    let broken = Broken::start(TOO_FEW_TASKS);
    let error = neighbours.approve(neighbours.house.ids(), &broken.url, "a-1").expect_err("no tasks");
    assert_eq!(error["message"], "the task service answered 1 task_ids where 3 were asked for");
    assert!(broken.asked()[0].contains(r#""status":"pending""#), "{:?}", broken.asked());
    assert_eq!(state(&neighbours.near), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_minute_at_the_service_is_told_as_it_is() {
    let folder = testkit::temp_dir();
    let house = serve(&folder.path().join("far"), None);
    let url = format!("{}/ids/reserve", house.ids());
    for _ in 0..10 {
        let input = json!({"type": "US", "count": 1, "project_id": "default"});
        assert_eq!(ask(Method::POST, &url, Some(&input), None).await.0, 200);
    }
    let settings = [("MATERIA_IDS_URL", house.ids())];
    let input = json!({"artifact_type": "US", "count": 1});
    let error =
        call(&folder.path().join("near"), &settings, "reserve_id_range", &input, None).expect_err("a full minute");
    let wait_ms = error["details"]["retry_after_ms"].as_u64().expect("when to come back");
    assert!((2_000..=60_000).contains(&wait_ms), "{error}");
}
