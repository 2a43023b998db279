//! The Task Tracking service as its callers meet it: its answers, its refusals, `kill -9`, and the command line.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    house::{Access, House, HouseOptions, materia, size},
    ids,
};

/// A batch of high-level stories from one PRD, as `POST /tasks/batch` of the seed has it.
pub fn batch(project: &str, first: usize, n: usize) -> Value {
    let research = |kind: &str| {
        json!({"name": kind, "classification": "recommended", "status": "Finalized",
               "resource_uri": format!("mcp://resources/artifacts/research/AI_Agent_MCP_Server_{kind}.md")})
    };
    let task = |index: usize| {
        json!({
            "artifact_id": format!("HLS-{:03}", first + index), "generator": "hls-generator", "status": "pending",
            "task_id": format!("gen-{:03}", index + 1),
            "inputs": [
                {"name": "prd", "artifact_id": "PRD-006", "classification": "mandatory", "status": "Approved",
                 "resource_uri": "mcp://resources/artifacts/prds/PRD-006_v3.md"},
                research("business_research"), research("implementation_research"),
            ]
        })
    };
    json!({"project_id": project, "tasks": (0..n).map(task).collect::<Vec<Value>>()})
}

/// Asks a service. Answers the status and the body.
pub async fn ask(method: Method, url: &str, body: Option<&Value>, key: Option<&str>) -> (u16, Value) {
    let mut request = ids::http_client().request(method, url);
    if let Some(body) = body {
        request = request.json(body);
    }
    if let Some(key) = key {
        request = request.header("Idempotency-Key", key);
    }
    let response = request.send().await.expect("the service answers");
    let status = response.status().as_u16();
    (status, response.json().await.expect("the service answers in JSON"))
}

pub fn serve(data: &Path, database_url: Option<&str>) -> House {
    House::start(&HouseOptions { data, access: Access::Anyone, database_url })
}

/// Times are fixed, so that an answer can be compared.
fn timeless(mut value: Value) -> String {
    fn still(value: &mut Value) {
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    if name.ends_with("_at") { *value = json!("<time>") } else { still(value) }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(still),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    still(&mut value);
    value.to_string()
}

/// Every endpoint with its answers and refusals, in the order in which they were asked.
const SCRIPT: &[(&str, &str, &str)] = &[
    ("GET", "/tasks/next", ""),
    ("GET", "/tasks", ""),
    ("GET", "/tasks/next?project=p", ""),
    ("POST", "/tasks/batch", "BATCH 1 2"),
    ("POST", "/tasks/batch", "BATCH 2 1"),
    ("POST", "/tasks/batch", r#"{"project_id":"p","tasks":[]}"#),
    ("POST", "/tasks/batch", r#"{"tasks":[]}"#),
    (
        "POST",
        "/tasks/batch",
        r#"{"project_id":"p","tasks":[{"artifact_id":"HLS-009","parent_id":"PRD-006","task_id":"x"}]}"#,
    ),
    (
        "POST",
        "/tasks/batch",
        r#"{"project_id":"p","tasks":[{"artifact_id":"HLS-012","generator":"hls-generator","inputs":[{"name":"business_research","classification":"recommended","mcp_resource_uri":"mcp://resources/artifacts/research/X_business_research.md"}]}]}"#,
    ),
    ("POST", "/tasks/batch", "not json"),
    ("POST", "/tasks/batch", "[]"),
    ("POST", "/tasks/batch", r#"{"project_id":"p","project_id":"q"}"#),
    ("POST", "/tasks/batch", r#"{"project_id":7,"tasks":[]}"#),
    ("GET", "/tasks/next?project=p", ""),
    ("GET", "/tasks/next?project=p&status=completed", ""),
    ("GET", "/tasks/next?project=p&status=done", ""),
    ("GET", "/tasks/next?project=p&project=q", ""),
    ("GET", "/tasks/next?project=p&claim=yes", ""),
    ("GET", "/tasks/next?project=p&colour=red", ""),
    ("PUT", "/tasks/TASK-001/status", r#"{"status":"completed"}"#),
    ("PUT", "/tasks/TASK-001/status", r#"{"status":"in_progress"}"#),
    ("PUT", "/tasks/TASK-001/status", r#"{"status":"completed","completion_notes":"stored"}"#),
    ("PUT", "/tasks/TASK-001/status", r#"{"status":"pending"}"#),
    ("PUT", "/tasks/TASK-001/status", r#"{"status":"pending","reset":true}"#),
    ("PUT", "/tasks/TASK-001/status", r#"{"status":"done"}"#),
    ("PUT", "/tasks/TASK-001/status", r#"{"status":"pending","task_id":"TASK-002"}"#),
    ("PUT", "/tasks/TASK-999/status", r#"{"status":"in_progress"}"#),
    ("GET", "/tasks/next?project=p&claim=true", ""),
    ("GET", "/tasks?project=p&status=in_progress", ""),
    ("GET", "/tasks?project=p&depends_on=PRD-006&limit=1", ""),
    ("GET", "/tasks?project=p&depends_on=PRD-006&limit=1&cursor=1", ""),
    ("GET", "/tasks?project=p&missing_mandatory_inputs=true", ""),
    ("GET", "/tasks?project=p&limit=201", ""),
    ("GET", "/tasks?project=p&limit=many", ""),
    ("GET", "/tasks?project=p&cursor=x", ""),
    ("GET", "/nothing", ""),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_of_the_service_is_the_committed_one_on_both_engines() {
    let database = testkit::postgres_url().await;
    for url in [None, Some(database.url.as_str())] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let house = serve(&folder.path().join("data"), url);
        let mut lines = Vec::new();
        for (method, path, body) in SCRIPT {
            let body = match body.strip_prefix("BATCH ").and_then(|rest| rest.split_once(' ')) {
                Some((first, n)) => {
                    batch("p", first.parse().expect("a number"), n.parse().expect("a number")).to_string()
                }
                None => (*body).to_owned(),
            };
            let method: Method = method.parse().expect("a method");
            let mut request = ids::http_client().request(method.clone(), format!("{}{path}", house.tasks()));
            if !body.is_empty() {
                request = request.header("Content-Type", "application/json").body(body);
            }
            let response = request.send().await.expect("the service answers");
            let status = response.status().as_u16();
            let answer: Value = response.json().await.expect("the service answers in JSON");
            lines.push(format!("{method} {path}\n{status} {}\n", timeless(answer)));
        }
        testkit::check_golden("contracts/tasks_service.txt", &lines.join("\n"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_request_takes_neither_a_task_nor_an_id() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let house = serve(&folder.path().join("data"), None);
    let (status, _) = ask(Method::POST, &format!("{}/tasks/batch", house.tasks()), Some(&batch("p", 1, 1)), None).await;
    assert_eq!(status, 201);
    let (claim, id) = (
        format!("{}/tasks/next?project=p&claim=true", house.tasks()),
        format!("{}/ids/next?type=US&project=p", house.ids()),
    );
    for url in [&claim, &id, &format!("{}/tasks?project=p", house.tasks())] {
        let answer = ids::http_client().head(url).send().await.expect("the service answers");
        let allow = answer.headers().get("allow").map(|allow| allow.to_str().expect("plain text").to_owned());
        assert_eq!((answer.status().as_u16(), allow.as_deref()), (405, Some("GET")), "{url}");
    }
    assert_eq!(ask(Method::GET, &claim, None, None).await.1["task"]["task_id"], "TASK-001");
    assert_eq!(ask(Method::GET, &id, None, None).await.1["next_id"], "US-001");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_sent_as_something_else_than_json_is_told_what_was_expected() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let house = serve(&folder.path().join("data"), None);
    let request = ids::http_client().post(format!("{}/ids/reserve", house.ids()));
    let answer = request.header("Content-Type", "text/plain").body("{}").send().await.expect("the service answers");
    assert_eq!(answer.status().as_u16(), 415);
    let expected = json!({
        "success": false, "status_code": 415, "detail": "send `Content-Type: application/json`", "error": "UNSUPPORTED",
        "details": {"field": "Content-Type", "received": "text/plain", "expected": "application/json"}
    });
    assert_eq!(answer.json::<Value>().await.expect("the service answers in JSON"), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_token_the_service_tells_nothing_but_its_description() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let house = House::start(&HouseOptions { data: &data, access: Access::Token, database_url: None });
    for (method, path) in [
        (Method::GET, "/tasks/next?project=p"),
        (Method::GET, "/tasks?project=p"),
        (Method::POST, "/tasks/batch"),
        (Method::PUT, "/tasks/TASK-001/status"),
    ] {
        let (status, body) = ask(method, &format!("{}{path}", house.tasks()), None, None).await;
        assert_eq!((status, &body["success"], &body["status_code"]), (401, &json!(false), &json!(401)), "{path}");
    }
    let (status, body) = ask(Method::GET, &format!("{}/openapi.json", house.tasks()), None, None).await;
    assert_eq!((status, &body["openapi"]), (200, &json!("3.1.0")));
    let (status, _) = ask(Method::GET, &format!("{}/health", house.tasks()), None, None).await;
    assert_eq!(status, 200);
}

/// Workers claim with a key and repeat the call until it is answered, while the server is killed under them: every task
/// is given to exactly one of them, and none is lost with an answer that did not arrive.
#[tokio::test(flavor = "multi_thread")]
async fn a_kill_between_claim_and_answer_loses_no_task() {
    let database = testkit::postgres_url().await;
    for (engine, url) in [("sqlite", None), ("postgresql", Some(database.url))] {
        let n_tasks = size(200, 2_000);
        let n_kills = size(3, 30);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let data: PathBuf = folder.path().join("data");
        let mut house = serve(&data, url.as_deref());
        for first in (1..=n_tasks).step_by(100) {
            let body = batch("kills", first, 100);
            let (status, _) = ask(Method::POST, &format!("{}/tasks/batch", house.tasks()), Some(&body), None).await;
            assert_eq!(status, 201);
        }
        let base = std::sync::Arc::new(std::sync::RwLock::new(house.tasks().to_owned()));
        let mut workers = JoinSet::new();
        for worker in 0..8 {
            let base = std::sync::Arc::clone(&base);
            workers.spawn(async move { claim_all(worker, &base).await });
        }
        for kill in 0..n_kills {
            tokio::time::sleep(Duration::from_millis(20 + 13 * (kill as u64 % 5))).await;
            house.kill();
            house = serve(&data, url.as_deref());
            house.tasks().clone_into(&mut base.write().expect("no worker panics while it reads the address"));
        }
        let claimed: Vec<String> = workers.join_all().await.concat();
        let distinct: BTreeSet<&String> = claimed.iter().collect();
        println!("proof: claims n={} distinct={} kills={n_kills} engine={engine}", claimed.len(), distinct.len());
        assert_eq!((claimed.len(), distinct.len()), (n_tasks, n_tasks));
    }
}

async fn claim_all(worker: usize, base: &std::sync::RwLock<String>) -> Vec<String> {
    let http = ids::http_client();
    let deadline = Instant::now() + Duration::from_secs(120);
    let mut claimed = Vec::new();
    loop {
        let key = format!("worker-{worker}-claim-{}", claimed.len());
        let url = {
            let base = base.read().expect("the killer does not panic while it writes the address");
            format!("{base}/tasks/next?project=kills&claim=true")
        };
        let answer = http.get(url).header("Idempotency-Key", &key).send().await;
        let answer = match answer {
            Ok(answer) => answer.json::<Value>().await,
            Err(error) => Err(error),
        };
        match answer {
            Ok(answer) if answer["success"] == true => match answer["task"]["task_id"].as_str() {
                Some(task_id) => claimed.push(task_id.to_owned()),
                None => return claimed,
            },
            Ok(_) | Err(_) => {
                assert!(Instant::now() < deadline, "no answer any more");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }
}

/// `bench workflow` has the limits in milliseconds; here a full queue is compared with a short one on the same machine.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_takes_no_longer_in_a_full_queue_than_in_a_short_one() {
    let database = testkit::postgres_url().await;
    for url in [None, Some(database.url.as_str())] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let house = serve(&folder.path().join("data"), url);
        fill(&house, 1, 200).await;
        let short = medians(&house, 100).await;
        fill(&house, 201, size(1_200, 10_000)).await;
        let full = medians(&house, size(1_100, 9_900)).await;
        for (path, (short, full)) in QUESTIONS.iter().zip(short.into_iter().zip(full)) {
            println!("proof: questions path={path} short_us={} full_us={}", short.as_micros(), full.as_micros());
            assert!(full < short * 4 + Duration::from_millis(20), "{path}: {short:?}, then {full:?}");
        }
    }
}

const QUESTIONS: [&str; 3] =
    ["/tasks?project=p&status=pending", "/tasks?project=p&depends_on=PRD-006", "/tasks/next?project=p"];

async fn fill(house: &House, first: usize, last: usize) {
    for first in (first..=last).step_by(100) {
        let url = format!("{}/tasks/batch", house.tasks());
        let (status, body) = ask(Method::POST, &url, Some(&batch("p", first, 100)), None).await;
        assert_eq!(status, 201, "{body}");
    }
}

/// The median time of each question, from the given place on.
async fn medians(house: &House, cursor: usize) -> Vec<Duration> {
    let http = ids::http_client();
    let mut medians = Vec::new();
    for path in QUESTIONS {
        let cursor = if path.starts_with("/tasks?") { format!("&cursor={cursor}") } else { String::new() };
        let mut took: Vec<Duration> = Vec::new();
        for _ in 0..21 {
            let started = Instant::now();
            let answer = http.get(format!("{}{path}{cursor}", house.tasks())).send().await.expect("an answer");
            let answer: Value = answer.json().await.expect("JSON");
            took.push(started.elapsed());
            assert!(answer["success"] == true, "{answer}");
        }
        took.sort_unstable();
        medians.push(took[10]);
    }
    medians
}

#[tokio::test(flavor = "multi_thread")]
async fn people_take_and_complete_tasks_on_the_command_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let run = |arguments: &[&str]| {
        let output = materia().arg("--data").arg(&data).args(arguments).output().expect("`materia` runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    };
    // Looking begins no folder; a call does.
    assert!(!run(&["task", "next"]).0);
    assert!(run(&["call", "list_tasks", "{}"]).0);
    assert_eq!(run(&["task", "next"]).1, "No pending tasks in project default\n");
    assert_eq!(run(&["task", "list"]).1, "No tasks.\n");
    let (is_ok, _, error) = run(&["call", "queue_tasks", &batch("default", 12, 2).to_string()]);
    assert!(is_ok, "{error}");
    let (_, next, _) = run(&["task", "next", "--claim"]);
    assert!(next.starts_with("TASK-001  Generate HLS-012 from PRD-006\nstatus     in_progress\n"), "{next}");
    assert!(
        next.contains(
            "\nprd                      mandatory    Approved (not seen here)   mcp://resources/artifacts/prds/PRD-006_v3.md\n"
        ),
        "{next}"
    );
    let (_, listed, _) = run(&["task", "list", "--depends-on", "PRD-006"]);
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines[0].starts_with("TASK      STATUS       DOCUMENT  GENERATOR      CLAIMED BY  CREATED"), "{listed}");
    assert!(lines[2].starts_with("TASK-002  pending      HLS-013   hls-generator  -"), "{listed}");
    let (is_ok, _, error) = run(&["task", "done", "TASK-002"]);
    assert!(!is_ok && error.contains("task TASK-002 is pending and cannot become completed"), "{error}");
    let (_, done, _) = run(&["task", "done", "TASK-001", "--notes", "stored as v1"]);
    assert_eq!(done, "TASK-001 is completed: Generate HLS-012 from PRD-006\n");
    let (_, json, _) = run(&["task", "list", "--status", "completed", "--json"]);
    let listed: Value = serde_json::from_str(&json).expect("`--json` prints JSON");
    assert_eq!(listed["tasks"][0]["completion_notes"], "stored as v1");
}
