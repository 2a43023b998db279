//! The end-to-end story of seed 001 over MCP: a document is validated, stored, approved, and its tasks are queued.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use testkit::documents::{BUSINESS_RESEARCH, EPIC_006, IMPLEMENTATION_RESEARCH, PRD_006};

use crate::house::{Access, House, HouseOptions, materia};
use crate::ids;

/// An MCP client without a handshake.
struct Client {
    http: reqwest::Client,
    url: String,
}

impl Client {
    async fn request(&self, method: &str, params: Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let request = self.http.post(&self.url).header("Accept", "application/json, text/event-stream");
        let response = request.header("MCP-Protocol-Version", "2025-11-25").json(&body).send().await;
        response.expect("an answer").json().await.expect("JSON")
    }

    async fn call(&self, tool: &str, mut input: Value) -> Value {
        input["task_id"] = json!("abc-123");
        let answer = self.request("tools/call", json!({"name": tool, "arguments": input})).await;
        assert!(answer["result"]["structuredContent"].is_object(), "{tool}: {answer}");
        answer["result"]["structuredContent"].clone()
    }

    async fn read(&self, uri: &str) -> Value {
        self.request("resources/read", json!({ "uri": uri })).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_story_on_sqlite() {
    tell(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_story_on_postgresql() {
    let database = testkit::postgres_url().await;
    tell(Some(&database.url)).await;
}

async fn tell(database_url: Option<&str>) {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let house = House::start(&HouseOptions { data: &data, access: Access::Anyone, database_url });
    let client = Client { http: ids::http_client(), url: house.mcp() };
    for text in [BUSINESS_RESEARCH, IMPLEMENTATION_RESEARCH, EPIC_006] {
        client.call("store_artifact", json!({ "artifact_content": text })).await;
    }
    client.call("approve_artifact", json!({"artifact_id": "EPIC-006"})).await;
    client.call("reserve_id_range", json!({"artifact_type": "hls", "count": 11})).await;

    let found = client.call("validate_artifact", json!({"artifact_content": PRD_006, "artifact_id": "PRD-006"})).await;
    assert_eq!((&found["passed"], &found["automated_pass_rate"]), (&json!(true), &json!("24/24")), "{found}");
    let stored = client.call("store_artifact", json!({ "artifact_content": PRD_006 })).await;
    assert_eq!(stored["resource_uri"], "mcp://resources/artifacts/prds/PRD-006_v1.md");
    let approved = client.call("approve_artifact", json!({"artifact_id": "PRD-006"})).await;
    let expected = json!({
        "success": true, "artifact_id": "PRD-006", "old_status": "Draft", "new_status": "Approved",
        "artifact_path": "artifacts/prds/PRD-006_v1.md",
        "sub_artifacts_detected": ["HLS-012", "HLS-013", "HLS-014"], "tasks_created": 3,
        "task_ids": ["TASK-001", "TASK-002", "TASK-003"], "placeholder_ids_replaced": 3,
        "id_mapping": {"HLS-AAA": "HLS-012", "HLS-BBB": "HLS-013", "HLS-CCC": "HLS-014"}
    });
    assert_eq!(approved, expected);

    let resource = client.read("mcp://resources/artifacts/prds/PRD-006_v1.md").await;
    let content = &resource["result"]["contents"][0];
    let text = content["text"].as_str().expect("text");
    assert_eq!(content["mimeType"], "text/markdown");
    assert!(text.contains("**Status:** Approved") && !text.contains("HLS-AAA"), "{text}");
    assert_eq!(fs::read_to_string(data.join("artifacts/prds/PRD-006_v1.md")).expect("the file"), text);
    let next = client.call("get_next_task", json!({})).await;
    assert_eq!(next["task"]["inputs"].as_array().map(Vec::len), Some(3), "{next}");
    let task = json!({
        "artifact_id": "HLS-020", "generator": "hls-generator",
        "inputs": [{"name": "prd", "classification": "mandatory", "mcp_resource_uri": "mcp://resources/artifacts/prds/PRD-006_v1.md"}]
    });
    client.call("add_task", json!({ "tasks": [task] })).await;
    check_other_resources(&client).await;
    let nothing = json!({"name": "approve_artifact", "arguments": {"artifact_id": "Patient_HN12345_HIV"}});
    client.request("tools/call", nothing).await;
    let other = PRD_006.replace("PRD-006", "PRD-007").replace("AI_Agent_MCP_Server_business", "Nowhere_business");
    client.call("store_artifact", json!({ "artifact_content": other })).await;
    client.call("approve_artifact", json!({"artifact_id": "PRD-007"})).await;
    check_log(&data.with_extension("log"));
}

async fn check_other_resources(client: &Client) {
    let listed = client.read("mcp://resources/artifacts/metadata?type=prd&status=Approved&parent=EPIC-006").await;
    let listed: Value =
        serde_json::from_str(listed["result"]["contents"][0]["text"].as_str().expect("text")).expect("JSON");
    assert_eq!(listed["artifacts"][0]["id"], "PRD-006");
    let checklist = client.read("mcp://resources/validation/prd_validation_v1").await;
    let checklist: Value =
        serde_json::from_str(checklist["result"]["contents"][0]["text"].as_str().expect("text")).expect("JSON");
    assert_eq!(checklist["criteria"].as_array().map(Vec::len), Some(26));
    let template = client.read("mcp://resources/templates/prd").await;
    assert!(template["result"]["contents"][0]["text"].as_str().is_some_and(|text| text.starts_with("# PRD-XXX")));
    let prompts = client.request("prompts/list", json!({})).await;
    let names: Vec<&str> =
        prompts["result"]["prompts"].as_array().expect("prompts").iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names.len(), 16, "{names:?}");
    let arguments = json!({"name": "hls-generator", "arguments": {"artifact_id": "HLS-012", "parent_id": "PRD-006"}});
    let prompt = client.request("prompts/get", arguments).await;
    let text = prompt["result"]["messages"][0]["content"]["text"].as_str().expect("text");
    for part in [
        "Its id is HLS-012.",
        "mcp://resources/artifacts/prds/PRD-006_v1.md, Approved",
        "## Template",
        "Required sections:",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // The documents come after what is always there.
    let mut cursor = None;
    let mut uris = Vec::new();
    loop {
        let page = client
            .request("resources/list", cursor.map_or(json!({}), |cursor: String| json!({ "cursor": cursor })))
            .await;
        let items = page["result"]["resources"].as_array().unwrap_or_else(|| panic!("{page}"));
        uris.extend(items.iter().filter_map(|item| item["uri"].as_str().map(str::to_owned)));
        match page["result"]["nextCursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    assert!(uris.contains(&"mcp://resources/artifacts/prds/PRD-006_v1.md".to_owned()), "{uris:?}");
}

/// The ten stages in their order, and the entry of the seed.
fn check_log(path: &Path) {
    let log = fs::read_to_string(path).expect("the log");
    // What names no document may be anything.
    assert!(!log.contains("HN12345"), "{log}");
    let lines: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let of_document: Vec<&Value> = lines.iter().filter(|line| line["artifact_id"] == "PRD-006").collect();
    let events: Vec<&str> = of_document.iter().filter_map(|line| line["event"].as_str()).collect();
    let stages = [
        "approval_workflow_started",
        "approval_prerequisites_validated",
        "sub_artifacts_detected",
        "id_range_reserved",
        "placeholders_replaced",
        "artifact_status_updated",
        "generator_inputs_resolved",
        "tasks_created",
        "id_reservation_confirmed",
        "approval_workflow_completed",
    ];
    let told: Vec<&str> = events.iter().copied().filter(|event| stages.contains(event)).collect();
    assert_eq!(told, stages);
    let entry =
        of_document.iter().find(|line| line["event"] == "approve_artifact_invocation_completed").expect("the entry");
    assert_eq!(
        entry["id_mapping"],
        json!({"HLS-AAA": "HLS-012", "HLS-BBB": "HLS-013", "HLS-CCC": "HLS-014"}),
        "{entry}"
    );
    assert_eq!(entry["sub_artifacts_detected"], json!(["HLS-012", "HLS-013", "HLS-014"]));
    for (field, value) in [
        ("tool_name", json!("approve_artifact")),
        ("task_id", json!("abc-123")),
        ("old_status", json!("Draft")),
        ("new_status", json!("Approved")),
        ("placeholder_ids_replaced", json!(3)),
        ("tasks_created", json!(3)),
        ("success", json!(true)),
    ] {
        assert_eq!(entry[field], value, "{field} in {entry}");
    }
    let lacking: Vec<_> = lines.iter().filter(|line| line["event"] == "recommended_input_missing").collect();
    let [lacking] = lacking[..] else { panic!("{lacking:?}") };
    for (field, value) in [("level", "WARN"), ("artifact_id", "PRD-007"), ("input_name", "business_research")] {
        assert_eq!(lacking[field], value, "{field} in {lacking}");
    }
    let added =
        lines.iter().find(|line| line["event"] == "add_task_invocation_completed").expect("the entry of add_task");
    for (field, value) in [
        ("tasks_added", json!(1)),
        ("artifact_ids", json!(["HLS-020"])),
        ("generators", json!(["hls-generator"])),
        ("task_ids", json!(["TASK-004"])),
        ("inputs_validated", json!(true)),
        ("mandatory_inputs_count", json!(1)),
        ("recommended_inputs_count", json!(0)),
        ("success", json!(true)),
    ] {
        assert_eq!(added[field], value, "{field} in {added}");
    }
    assert!(!log.contains("Faster audits"), "no content of a document is in the log");
}

/// The command line, on a folder that nobody serves.
fn run(data: &Path, arguments: &[&str]) -> Output {
    materia().args(arguments).arg("--data").arg(data).output().expect("`materia` runs")
}

fn printed(data: &Path, arguments: &[&str]) -> String {
    let output = run(data, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn an_approval_on_the_command_line_names_the_hash_that_was_shown() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let file = folder.path().join("epic.md");
    fs::write(&file, EPIC_006).expect("a file can be written");
    printed(&data, &["artifact", "store", file.to_str().expect("a path")]);
    let approve = |arguments: &[&str]| {
        let mut command = materia();
        command.args(["artifact", "approve", "EPIC-006"]).args(arguments).arg("--data").arg(&data);
        command.env("MATERIA_APPROVAL_NEEDS_HASH", "true").output().expect("`materia` runs")
    };
    let refused = approve(&[]);
    assert_eq!(refused.status.code(), Some(1));
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(told.contains("as `--sha256` (`materia artifact show` tells it)"), "{told}");
    let shown = run(&data, &["artifact", "show", "EPIC-006"]);
    assert_eq!(String::from_utf8_lossy(&shown.stdout), EPIC_006);
    let told = String::from_utf8_lossy(&shown.stderr);
    let sha256 = told.trim().strip_prefix("EPIC-006 version 1, SHA-256 ").expect("a hash");
    assert!(approve(&["--sha256", sha256]).status.success());
    let history = printed(&data, &["artifact", "history", "EPIC-006"]);
    assert!(history.contains("  named  ") && !history.contains("not named"), "{history}");
}

#[test]
fn the_command_line_tells_the_same_story() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("a file can be written");
        path.to_str().expect("a path").to_owned()
    };
    let (epic, prd) = (file("epic.md", EPIC_006), file("prd.md", PRD_006));
    assert_eq!(
        printed(&data, &["artifact", "store", &epic]),
        "stored EPIC-006 at artifacts/epics/EPIC-006_v1.md\nmcp://resources/artifacts/epics/EPIC-006_v1.md\n"
    );
    let failed = run(&data, &["artifact", "validate", &prd]);
    assert_eq!(failed.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&failed.stdout).contains("parent EPIC-006 is Draft, and not approved"));
    assert_eq!(
        printed(&data, &["artifact", "approve", "EPIC-006", "--meaning", "agreed"]),
        "EPIC-006 is Approved (was Draft): artifacts/epics/EPIC-006_v1.md\n"
    );
    for name in ["business_research", "implementation_research"] {
        let text = if name == "business_research" { BUSINESS_RESEARCH } else { IMPLEMENTATION_RESEARCH };
        printed(&data, &["artifact", "store", &file(name, text)]);
    }
    let valid = printed(&data, &["artifact", "validate", &prd]);
    assert!(valid.ends_with("passed: 24/24 automated criteria, 2 left to you\n"), "{valid}");
    printed(&data, &["artifact", "store", &prd]);
    let output = run(&data, &["artifact", "approve", "PRD-006"]);
    let (approved, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(approved.contains("HLS-AAA      HLS-001   TASK-001\n"), "{approved}");
    // Nobody was asked, and nobody said what they had reviewed.
    assert_eq!(told, "");
    let history = printed(&data, &["artifact", "history", "PRD-006"]);
    assert!(history.contains("  not named  "), "{history}");
    let listed = printed(&data, &["artifact", "list", "--type", "prd"]);
    assert!(listed.contains("PRD-006   1        Approved  prd   EPIC-006  "), "{listed}");
    assert!(printed(&data, &["artifact", "show", "PRD-006"]).contains("### HLS-001: List the tools"));
    let stored = fs::read_to_string(data.join("artifacts/prds/PRD-006_v1.md")).expect("the document as a file");
    assert_eq!(printed(&data, &["artifact", "show", "PRD-006"]), stored);
    let moved = printed(&data, &["artifact", "status", "EPIC-006", "In Progress"]);
    assert_eq!(moved, "EPIC-006 v1 is In Progress (was Approved): artifacts/epics/EPIC-006_v1.md\n");
    let refused = run(&data, &["artifact", "status", "EPIC-006", "Draft"]);
    assert_eq!(refused.status.code(), Some(1));
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(told.contains("expected one of Approved, Planned, In Progress, Completed"), "{told}");
    let history = printed(&data, &["artifact", "history", "EPIC-006"]);
    assert!(history.contains("1.2    approved  Approved     owner") && history.contains("agreed"), "{history}");
    assert!(history.contains("1.3    moved     In Progress  owner"), "{history}");
    assert!(printed(&data, &["artifact", "diff", "PRD-006", "1.1"]).contains("+- **Status:** Approved"));
    let json: Value = serde_json::from_str(&printed(&data, &["artifact", "list", "--json"])).expect("JSON");
    assert_eq!(json["artifacts"].as_array().map(Vec::len), Some(4));
    assert!(printed(&data, &["audit", "verify"]).contains("The log is whole."));
    assert_eq!(
        printed(&data, &["rebuild"]),
        "4 documents compared with their files: 0 written, 0 differ and are left alone, 0 failed\n"
    );
    let unknown = run(&data, &["artifact", "approve", "PRD-999"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("Artifact PRD-999 not found"));
    let bare = file("bare", &format!("{}\n\n\nThe end.", BUSINESS_RESEARCH.trim_end()));
    let stored = printed(&data, &["artifact", "store", &bare, "--file-name", "bare_business_research"]);
    assert!(stored.starts_with("stored bare_business_research at "), "{stored}");
    let nameless = run(&data, &["artifact", "validate", &bare]);
    assert!(String::from_utf8_lossy(&nameless.stderr).contains("--id herbs_business_research"), "{nameless:?}");
    run(&data, &["artifact", "validate", &bare, "--id", "bare_business_research", "--json"]);
    let shown = printed(&data, &["artifact", "show", "bare_business_research"]);
    assert!(shown.ends_with("\n\n\nThe end."), "{shown:?}");
}

#[test]
fn the_story_with_ids_and_tasks_of_another_server() {
    let folder = testkit::temp_dir();
    let (near, far) = (folder.path().join("near"), folder.path().join("far"));
    let house = House::start(&HouseOptions { data: &far, access: Access::Token, database_url: None });
    let token = house.token();
    let settings = [
        ("MATERIA_TASKS_URL", house.tasks()),
        ("MATERIA_TASKS_KEY", token.as_str()),
        ("MATERIA_IDS_URL", house.ids()),
        ("MATERIA_IDS_KEY", token.as_str()),
    ];
    let call = |data: &Path, settings: &[(&str, &str)], operation: &str, input: Value| -> Result<Value, String> {
        let mut command = materia();
        command.arg("--data").arg(data).args(["call", operation, "-"]).envs(settings.iter().copied());
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("`materia` runs");
        let mut stdin = child.stdin.take().expect("standard input");
        stdin.write_all(input.to_string().as_bytes()).expect("the input is read");
        drop(stdin);
        let output = child.wait_with_output().expect("`materia` ends");
        if output.status.success() {
            return Ok(serde_json::from_slice(&output.stdout).expect("JSON"));
        }
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let near_call = |operation: &str, input: Value| call(&near, &settings, operation, input);
    for text in [BUSINESS_RESEARCH, IMPLEMENTATION_RESEARCH, EPIC_006, PRD_006] {
        near_call("store_artifact", json!({ "artifact_content": text })).expect("stored");
    }
    let refused = near_call("approve_artifact", json!({"artifact_id": "PRD-006"})).expect_err("the epic is a draft");
    assert!(refused.contains("Parent EPIC-006 must be approved first"), "{refused}");
    near_call("approve_artifact", json!({"artifact_id": "EPIC-006"})).expect("approved");
    let approved = near_call("approve_artifact", json!({"artifact_id": "PRD-006"})).expect("approved");
    assert_eq!(approved["sub_artifacts_detected"], json!(["HLS-001", "HLS-002", "HLS-003"]), "{approved}");
    assert_eq!(approved["task_ids"], json!(["TASK-001", "TASK-002", "TASK-003"]));
    let again = near_call("approve_artifact", json!({"artifact_id": "PRD-006"})).expect_err("it is approved");
    assert!(again.contains("Artifact PRD-006 already approved"), "{again}");
    let tasks = call(&far, &[], "list_tasks", json!({})).expect("tasks");
    let tasks = tasks["tasks"].as_array().expect("tasks");
    assert_eq!(tasks.len(), 3);
    assert!(tasks.iter().all(|task| task["inputs"].as_array().is_some_and(|inputs| inputs.len() == 3)), "{tasks:?}");
    assert_eq!(call(&near, &[], "list_tasks", json!({})).expect("tasks")["tasks"], json!([]));
    let next = call(&far, &[], "get_next_available_id", json!({"artifact_type": "hls"})).expect("an id");
    assert_eq!(next["next_id"], "HLS-004");
}
