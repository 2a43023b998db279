//! Tasks through the door, on both engines.

use std::collections::BTreeSet;
use std::sync::Arc;

use contract::error::Kind;
use ops::operations::OPERATIONS;
use serde_json::{Value, json};
use testkit::documents::PRD_006;

use crate::script::{Stage, check, on_postgres, on_sqlite, shared, together};

const SEED_PROJECT: &str = "ai-agent-mcp-server";

/// The batch of the seed: `first` is its first document, such as 12 for HLS-012.
pub fn batch(project: &str, first: usize, n: usize) -> Value {
    let research = |kind: &str| {
        json!({"name": kind, "classification": "recommended", "status": "Finalized",
               "resource_uri": format!("mcp://resources/artifacts/research/AI_Agent_MCP_Server_{kind}.md")})
    };
    let tasks: Vec<Value> = (0..n)
        .map(|index| {
            json!({
                "artifact_id": format!("HLS-{:03}", first + index), "generator": "hls-generator", "status": "pending",
                "task_id": format!("gen-{:03}", index + 1),
                "inputs": [
                    {"name": "prd", "artifact_id": "PRD-006", "classification": "mandatory", "status": "Approved",
                     "resource_uri": "mcp://resources/artifacts/prds/PRD-006_v3.md"},
                    research("business_research"), research("implementation_research"),
                ]
            })
        })
        .collect();
    json!({"project_id": project, "tasks": tasks})
}

async fn both() -> [Arc<Stage>; 2] {
    [shared(on_sqlite(OPERATIONS).await), shared(on_postgres(OPERATIONS).await)]
}

async fn queue(stage: &Stage, project: &str, n: usize) {
    for first in (1..=n).step_by(100) {
        let reply = stage.call("author", "queue_tasks", batch(project, first, 100.min(n + 1 - first))).await;
        assert!(reply.result.is_ok(), "{reply:?}");
    }
}

async fn output(stage: &Stage, name: &str, operation: &str, input: Value) -> Value {
    stage.call(name, operation, input).await.result.unwrap().output
}

/// Moves the tracker's sequence, so that the next task is that of the seed.
async fn number_from(stage: &Stage, next: i64) {
    let sql = "INSERT INTO task_counters (organisation_id, last_task_number) VALUES ('here', $1)";
    let apply: store::Apply<()> = Box::new(move |tx| {
        Box::pin(async move {
            tx.execute(sql, &[(next - 1).into()]).await?;
            Ok(store::Applied { value: (), event: None, keep: store::Keep::Changes })
        })
    });
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    stage.store.write(None, deadline, apply).await.unwrap();
}

#[tokio::test]
async fn a_counter_at_its_end_is_a_refusal() {
    for end in [workflow::ids::NUMBER_MAX, i64::MAX] {
        for stage in both().await {
            number_from(&stage, end).await;
            let added = stage.call("author", "queue_tasks", batch(SEED_PROJECT, 1, 2)).await;
            let refused = added.result.unwrap_err();
            assert_eq!((refused.kind, refused.message.as_str()), (Kind::Conflict, "no number is left for TASK"));
        }
    }
}

#[tokio::test]
async fn the_batch_of_the_seed_gets_the_ids_of_the_seed_and_its_row() {
    for stage in both().await {
        number_from(&stage, 12).await;
        let added = output(&stage, "author", "queue_tasks", batch(SEED_PROJECT, 12, 3)).await;
        assert_eq!(added, json!({"success": true, "tasks_added": 3, "task_ids": ["TASK-012", "TASK-013", "TASK-014"]}));
        let next = output(&stage, "author", "get_next_task", json!({"project_id": SEED_PROJECT})).await;
        let research = |kind: &str| {
            let path = format!("artifacts/research/AI_Agent_MCP_Server_{kind}.md");
            json!({"name": kind, "classification": "recommended", "artifact_type": "research", "artifact_id": "N/A",
                   "mcp_resource_uri": format!("mcp://resources/{path}"), "resource_path": path, "status": "Finalized"})
        };
        assert_eq!(
            next,
            json!({"success": true, "task": {
                "task_id": "TASK-012", "project_id": SEED_PROJECT, "artifact_id": "HLS-012",
                "generator": "hls-generator", "status": "pending", "description": "Generate HLS-012 from PRD-006",
                "inputs": [
                    {"name": "prd", "classification": "mandatory", "artifact_type": "prd", "artifact_id": "PRD-006",
                     "resource_path": "artifacts/prds/PRD-006_v3.md",
                     "mcp_resource_uri": "mcp://resources/artifacts/prds/PRD-006_v3.md", "status": "Approved"},
                    research("business_research"), research("implementation_research"),
                ],
                "unseen_inputs": ["prd", "business_research", "implementation_research"],
                "correlation_id": "gen-001",
                "created_at": "2026-02-04T19:00:00.000Z", "updated_at": "2026-02-04T19:00:00.000Z",
            }})
        );
    }
}

#[tokio::test]
async fn a_task_goes_forward_step_by_step_and_back_only_by_a_reset() {
    for stage in both().await {
        queue(&stage, "p", 1).await;
        let set_as = |name: &'static str, status: &str, more: Value| {
            let mut input = json!({"task_id": "TASK-001", "status": status});
            input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            stage.call(name, "update_task_status", input)
        };
        let set = |status: &str, more: Value| set_as("author", status, more);
        let told = |reply: ops::Reply| match reply.result {
            Ok(success) => success.output["updated_task"]["status"].as_str().unwrap().to_owned(),
            Err(error) => format!("{}: {}", error.code(), error.message),
        };
        let illegal = |from: &str, to: &str| format!("INVALID_ARG: task TASK-001 is {from} and cannot become {to}");
        let none = || json!({});
        assert_eq!(told(set("completed", none()).await), illegal("pending", "completed"));
        assert_eq!(told(set("pending", none()).await), illegal("pending", "pending"));
        assert_eq!(told(set("in_progress", none()).await), "in_progress");
        assert_eq!(told(set("in_progress", none()).await), "in_progress", "who started it may renew");
        let second = told(set_as("owner", "in_progress", none()).await);
        assert!(second.starts_with("CONFLICT: task TASK-001 is claimed by `author` until "), "{second}");
        assert_eq!(told(set("pending", none()).await), illegal("in_progress", "pending"));
        assert_eq!(told(set("completed", json!({"completion_notes": "done"})).await), "completed");
        assert_eq!(told(set("completed", none()).await), illegal("completed", "completed"));
        assert_eq!(told(set("in_progress", none()).await), illegal("completed", "in_progress"));
        let refused = "DENIED: task TASK-001 is completed, and only an approver may reopen it";
        assert_eq!(told(set("pending", json!({"reset": true})).await), refused);
        assert_eq!(told(set_as("owner", "pending", json!({"reset": true})).await), "pending");
        let task = &output(&stage, "author", "get_next_task", json!({"project_id": "p"})).await["task"];
        for gone in ["started_at", "completed_at", "completion_notes"] {
            assert!(task.get(gone).is_none(), "{task}");
        }
        let wrong = "INVALID_ARG: `status`: expected pending, where reset is true";
        assert_eq!(told(set("completed", json!({"reset": true})).await), wrong);
    }
}

#[tokio::test]
async fn whoever_started_a_task_holds_it_until_the_lease_ends_or_a_person_takes_it_back() {
    for stage in both().await {
        queue(&stage, "p", 1).await;
        let set = |name: &'static str, status: &str, reset: bool| {
            let input = json!({"task_id": "TASK-001", "status": status, "reset": reset});
            stage.call(name, "update_task_status", input)
        };
        assert!(set("agent", "in_progress", false).await.result.is_ok());
        for (status, reset) in [("completed", false), ("pending", true), ("in_progress", false)] {
            let error = set("author", status, reset).await.result.unwrap_err();
            assert_eq!(error.code(), "CONFLICT", "{error}");
            assert!(error.message.starts_with("task TASK-001 is claimed by `agent` until "), "{error}");
        }
        assert!(set("owner", "pending", true).await.result.is_ok(), "an approver takes it back");
        assert!(set("agent", "in_progress", false).await.result.is_ok());
        stage.clock.set_us(stage.clock.now_us() + 61 * 60 * 1_000_000);
        // Its worker is gone: others take it over by its id, and complete it.
        assert!(set("second", "in_progress", false).await.result.is_ok());
        let taken = &output(&stage, "owner", "list_tasks", json!({"project_id": "p"})).await["tasks"][0];
        assert_eq!((&taken["status"], &taken["claimed_by"]), (&json!("in_progress"), &json!("second")));
        let error = set("agent", "in_progress", false).await.result.unwrap_err();
        assert_eq!(error.code(), "CONFLICT", "{error}");
        stage.clock.set_us(stage.clock.now_us() + 61 * 60 * 1_000_000);
        assert!(set("author", "completed", false).await.result.is_ok());
    }
}

#[tokio::test]
async fn what_is_not_there_is_not_found_and_what_is_elsewhere_neither() {
    check(
        r#"
        author update_task_status {"task_id":"TASK-999","status":"in_progress"}
        author get_next_task {"project_id":"p"}
        author list_tasks {"project_id":"p"}
        viewer list_tasks {"project_id":"p"}
        viewer get_next_task {"project_id":"p"}
        author get_next_task {"project_id":"p","status_filter":"completed","claim":true}
        author list_tasks {"project_id":"p","cursor":"x"}
        author queue_tasks {"project_id":"p","tasks":[{"artifact_id":"HLS-012","parent_id":"PRD-006","task_id":"x"}]}
        "#,
        r#"
        NOT_FOUND: task TASK-999 does not exist
        {"message":"No pending tasks in project p","success":true,"task":null}
        {"count":0,"success":true,"tasks":[],"total":0}
        {"count":0,"success":true,"tasks":[],"total":0}
        DENIED: `viewer` may not call `get_next_task`
        INVALID_ARG: `status_filter`: expected pending, as only a pending task can be claimed
        INVALID_ARG: `cursor`: expected the `next_cursor` of a page
        INVALID_ARG: `parent_id`: expected `inputs` with every resolved document in its place, as version 3 of the task metadata has it
        event author update_task_status not_found
        event author get_next_task ok
        event author list_tasks ok
        event viewer list_tasks ok
        event viewer get_next_task denied
        event author get_next_task invalid
        event author list_tasks invalid
        event author queue_tasks invalid
        "#,
    )
    .await;
}

#[tokio::test]
async fn a_wrong_batch_is_refused_whole_in_the_words_of_the_seed() {
    for stage in both().await {
        queue(&stage, "p", 1).await;
        let refuse = |change: fn(&mut Value)| {
            let mut input = batch("p", 2, 2);
            change(&mut input);
            let stage = &stage;
            async move {
                let error = stage.call("author", "queue_tasks", input).await.result.unwrap_err();
                (error.message, error.details.field.unwrap())
            }
        };
        let prefix = |message: &str| format!("Task validation failed: {message}");
        let (message, field) = refuse(|batch| batch["tasks"][1]["artifact_id"] = json!("HLS-001")).await;
        assert_eq!(message, prefix("artifact_id HLS-001 already exists in queue"));
        assert_eq!(field, "artifact_id");
        let (message, _) = refuse(|batch| batch["tasks"][1]["artifact_id"] = json!("HLS-002")).await;
        assert_eq!(message, prefix("Duplicate artifact_id in batch: HLS-002"));
        let (message, field) = refuse(|batch| {
            batch["tasks"][1]["inputs"].as_array_mut().unwrap().remove(0);
        })
        .await;
        assert_eq!(message, prefix("Mandatory input 'prd' missing for task HLS-003"));
        assert_eq!(field, "tasks/1/inputs");
        let (message, field) =
            refuse(|batch| batch["tasks"][0]["inputs"][0]["resource_uri"] = json!("file:///x")).await;
        assert_eq!(message, prefix("Invalid resource_uri format"));
        assert_eq!(field, "tasks/0/inputs/0/mcp_resource_uri");
        let (message, _) = refuse(|batch| batch["tasks"][0]["generator"] = json!("poem-generator")).await;
        assert_eq!(message, prefix("Unknown generator 'poem-generator' for task HLS-002"));
        let listed = output(&stage, "author", "list_tasks", json!({"project_id": "p"})).await;
        assert_eq!(listed["count"], 1, "nothing of a refused batch stays");
    }
}

#[tokio::test]
async fn of_a_document_that_is_here_only_its_own_approval_counts() {
    for stage in both().await {
        stage.begin().await;
        stage.store(PRD_006).await;
        let task = |number: usize, file: &str, status: Option<&str>| {
            let mut input = json!({"name": "prd", "classification": "mandatory",
                "mcp_resource_uri": format!("mcp://resources/artifacts/prds/{file}")});
            if let Some(status) = status {
                input["status"] = json!(status);
            }
            let id = format!("HLS-{number:03}");
            let task = json!({"artifact_id": id, "generator": "hls-generator", "inputs": [input]});
            json!({"project_id": "default", "tasks": [task]})
        };
        for told in [None, Some("Approved")] {
            let error = stage.call("owner", "queue_tasks", task(500, "PRD-006_v1.md", told)).await.result.unwrap_err();
            assert_eq!(error.message, "Task validation failed: Input artifact PRD-006 not approved");
            assert_eq!(error.details.field.as_deref(), Some("tasks/0/inputs/0/mcp_resource_uri"));
        }
        // Whoever approves a document elsewhere queues its tasks first; whoever may not approve is not believed.
        let approving = |name: &'static str| {
            let (input, via) = (task(501, "PRD-006_v1.md", Some("Approved")), ops::Via::Approval);
            let call = ops::Call { operation: "queue_tasks".to_owned(), input, via, ..ops::Call::default() };
            let stage = &stage;
            async move { stage.platform.call(&crate::script::actor(name), call).await.result }
        };
        assert_eq!(approving("author").await.unwrap_err().code(), "INVALID_ARG");
        approving("owner").await.unwrap();
        stage.approve("PRD-006").await.result.unwrap();
        output(&stage, "author", "queue_tasks", task(520, "PRD-006_v1.md", None)).await;
        // A tracker cannot know the documents of other houses: it keeps what it is told, and adds nothing.
        output(&stage, "author", "queue_tasks", task(521, "PRD-007_v1.md", Some("Approved"))).await;
        output(&stage, "author", "queue_tasks", task(522, "PRD-007_v1.md", None)).await;
        let listed = output(&stage, "author", "list_tasks", json!({})).await;
        let kept: Vec<_> = listed["tasks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| (it["artifact_id"].as_str().unwrap(), it["inputs"][0]["status"].as_str().unwrap()))
            .filter(|(id, _)| ["HLS-501", "HLS-520", "HLS-521", "HLS-522"].contains(id))
            .collect();
        assert_eq!(
            kept,
            [("HLS-501", "Approved"), ("HLS-520", "Approved"), ("HLS-521", "Approved"), ("HLS-522", "Unknown")]
        );
    }
}

#[tokio::test]
async fn a_document_may_be_queued_again_once_its_task_is_completed() {
    for stage in both().await {
        queue(&stage, "p", 1).await;
        for status in ["in_progress", "completed"] {
            output(&stage, "author", "update_task_status", json!({"task_id": "TASK-001", "status": status})).await;
        }
        queue(&stage, "p", 1).await;
        let reset = json!({"task_id": "TASK-001", "status": "pending", "reset": true});
        let error = stage.call("owner", "update_task_status", reset).await.result.unwrap_err();
        assert_eq!(error.message, "Task validation failed: artifact_id HLS-001 already exists in queue");
    }
}

#[tokio::test]
async fn lists_are_pages_by_status_by_input_and_by_what_is_missing() {
    for stage in both().await {
        queue(&stage, "p", 7).await;
        queue(&stage, "other", 1).await;
        let review = json!({"artifact_id": "REV-001", "generator": "evidence-review-generator", "inputs": []});
        output(&stage, "author", "queue_tasks", json!({"project_id": "p", "tasks": [review]})).await;
        let numbers = |listed: &Value| -> Vec<String> {
            let tasks = listed["tasks"].as_array().unwrap();
            tasks.iter().map(|task| task["task_id"].as_str().unwrap().to_owned()).collect()
        };
        let mut found = Vec::new();
        let mut input = json!({"project_id": "p", "depends_on": "PRD-006", "limit": 3});
        loop {
            let page = output(&stage, "viewer", "list_tasks", input.clone()).await;
            assert_eq!(page["count"].as_u64().unwrap(), page["tasks"].as_array().unwrap().len() as u64);
            found.extend(numbers(&page));
            match page.get("next_cursor") {
                Some(cursor) => input["cursor"] = cursor.clone(),
                None => break,
            }
        }
        let expected: Vec<String> = (1..=7).map(|number| format!("TASK-{number:03}")).collect();
        assert_eq!(found, expected);
        let none = output(&stage, "viewer", "list_tasks", json!({"project_id": "p", "depends_on": "PRD-007"})).await;
        assert_eq!(none["count"], 0);
        let missing = json!({"project_id": "p", "missing_mandatory_inputs": true});
        assert_eq!(numbers(&output(&stage, "viewer", "list_tasks", missing).await), ["TASK-009"]);
        output(&stage, "author", "get_next_task", json!({"project_id": "p", "claim": true})).await;
        let working = json!({"project_id": "p", "status": "in_progress"});
        assert_eq!(numbers(&output(&stage, "viewer", "list_tasks", working).await), ["TASK-001"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_claimers_get_every_task_once() {
    for stage in both().await {
        queue(&stage, "p", 160).await;
        let given = together(64, |index| {
            let stage = Arc::clone(&stage);
            async move {
                let mut given = Vec::new();
                for turn in 0..3 {
                    let name = if (index + turn) % 2 == 0 { "author" } else { "agent" };
                    let claim = json!({"project_id": "p", "claim": true});
                    let next = output(&stage, name, "get_next_task", claim).await;
                    given.extend(next["task"]["task_id"].as_str().map(str::to_owned));
                }
                given
            }
        })
        .await;
        let given: Vec<String> = given.into_iter().flatten().collect();
        let distinct: BTreeSet<&String> = given.iter().collect();
        assert_eq!((given.len(), distinct.len()), (160, 160), "each task once, and none left");
    }
}

#[tokio::test]
async fn a_claim_lasts_until_its_lease_ends_and_is_its_claimants_alone() {
    for stage in both().await {
        queue(&stage, "p", 2).await;
        let claim =
            |name: &'static str| output(&stage, name, "get_next_task", json!({"project_id": "p", "claim": true}));
        let later = |minutes: i64| stage.clock.set_us(stage.clock.now_us() + minutes * 60_000_000);
        let task = &claim("agent").await["task"];
        assert_eq!((&task["task_id"], &task["claimed_by"]), (&json!("TASK-001"), &json!("agent")));
        assert_eq!(task["lease_expires_at"], "2026-02-04T20:00:00.000Z");
        let complete = json!({"task_id": "TASK-001", "status": "completed"});
        let error = stage.call("author", "update_task_status", complete.clone()).await.result.unwrap_err();
        assert_eq!(error.code(), "CONFLICT");
        assert_eq!(error.message, "task TASK-001 is claimed by `agent` until 2026-02-04T20:00:00.000Z");
        later(30);
        let renew = json!({"task_id": "TASK-001", "status": "in_progress"});
        let renewed = output(&stage, "agent", "update_task_status", renew).await;
        assert_eq!(renewed["updated_task"]["lease_expires_at"], "2026-02-04T20:30:00.000Z");
        later(59);
        assert_eq!(claim("author").await["task"]["task_id"], "TASK-002");
        later(1);
        let again = claim("author").await;
        assert_eq!((&again["task"]["task_id"], &again["task"]["claimed_by"]), (&json!("TASK-001"), &json!("author")));
        let error = stage.call("agent", "update_task_status", complete.clone()).await.result.unwrap_err();
        assert_eq!(error.code(), "CONFLICT", "whoever came late must not end the work of another");
        assert!(stage.call("author", "update_task_status", complete).await.result.is_ok());
        crate::ledger::settle(&stage).await;
        let verified = output(&stage, "auditor", "audit_verify", json!({})).await;
        assert_eq!(verified["problems"], json!([]));
    }
}

#[tokio::test]
async fn a_repeated_claim_or_batch_answers_as_the_first_one_did() {
    for stage in both().await {
        let add = || stage.call_with_key("author", "queue_tasks", batch("p", 1, 2), "add");
        let (first, second) = (add().await.result.unwrap().output, add().await.result.unwrap().output);
        assert_eq!(first, second);
        let claim =
            || stage.call_with_key("agent", "get_next_task", json!({"project_id": "p", "claim": true}), "claim");
        let (first, second) = (claim().await.result.unwrap().output, claim().await.result.unwrap().output);
        assert_eq!(first["task"]["task_id"], "TASK-001");
        assert_eq!(first, second);
        let pending = json!({"project_id": "p", "status": "pending"});
        assert_eq!(output(&stage, "viewer", "list_tasks", pending).await["count"], 1);
    }
}

#[tokio::test]
async fn a_row_that_was_changed_by_other_hands_shows() {
    for stage in both().await {
        queue(&stage, "p", 2).await;
        let apply: store::Apply<()> = Box::new(|tx| {
            Box::pin(async move {
                tx.execute("UPDATE tasks SET generator = 'other' WHERE task_id = 'TASK-002'", &[]).await?;
                Ok(store::Applied { value: (), event: None, keep: store::Keep::Changes })
            })
        });
        let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
        stage.store.write(None, deadline, apply).await.unwrap();
        crate::ledger::settle(&stage).await;
        let verified = output(&stage, "auditor", "audit_verify", json!({})).await;
        assert_eq!(verified["problems"][0]["message"], "task `TASK-002` was changed by other hands");
    }
}

/// Puts a document into the table as it would be after approval or before it.
async fn keep(
    stage: &Stage,
    project: &'static str,
    artifact_type: &'static str,
    folder: &'static str,
    key: &str,
    file: &str,
    status: &'static str,
) {
    let (key, file) = (key.to_owned(), file.to_owned());
    let apply: store::Apply<()> = Box::new(move |tx| {
        let (key, file) = (key.clone(), file.clone());
        Box::pin(async move {
            let sql = "INSERT INTO artifacts (organisation_id, project_id, artifact_key, version, artifact_type, has_id, \
                 folder, file_name, title, status, content_sha256, size_bytes, n_revisions, created_by, created_at_us, \
                 updated_at_us) VALUES ('here', $7, $1, 3, $2, $3, $4, $5, 'Title', $6, '', 0, 1, 'author', 1, 1)";
            let has_id = (folder != "research").into();
            tx.execute(
                sql,
                &[
                    (&key).into(),
                    artifact_type.into(),
                    has_id,
                    folder.into(),
                    (&file).into(),
                    status.into(),
                    project.into(),
                ],
            )
            .await?;
            Ok(store::Applied { value: (), event: None, keep: store::Keep::Changes })
        })
    });
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    stage.store.write(None, deadline, apply).await.unwrap();
}

async fn keep_inputs_of_the_seed(
    stage: &Stage,
    project: &'static str,
    prd_status: &'static str,
    research_status: &'static str,
) {
    keep(stage, project, "prd", "prds", "PRD-006", "PRD-006_v3.md", prd_status).await;
    for kind in ["business_research", "implementation_research"] {
        let key = format!("AI_Agent_MCP_Server_{kind}");
        keep(stage, project, kind, "research", &key, &format!("{key}.md"), research_status).await;
    }
}

#[tokio::test]
async fn add_task_answers_as_the_seed_does_once_its_inputs_are_there_and_approved() {
    for stage in both().await {
        number_from(&stage, 12).await;
        keep_inputs_of_the_seed(&stage, SEED_PROJECT, "Approved", "Finalized").await;
        let added = output(&stage, "author", "add_task", batch(SEED_PROJECT, 12, 3)).await;
        assert_eq!(
            added,
            json!({"success": true, "tasks_added": 3, "task_ids": ["TASK-012", "TASK-013", "TASK-014"],
                   "artifact_ids": ["HLS-012", "HLS-013", "HLS-014"]})
        );
        let mut bare = batch(SEED_PROJECT, 20, 1);
        for input in bare["tasks"][0]["inputs"].as_array_mut().unwrap() {
            let members = input.as_object_mut().unwrap();
            for left_out in ["status", "artifact_id", "artifact_type"] {
                members.remove(left_out);
            }
        }
        output(&stage, "author", "add_task", bare).await;
        let listed = output(&stage, "viewer", "list_tasks", json!({"project_id": SEED_PROJECT})).await;
        let inputs = |index: usize| listed["tasks"][index]["inputs"].clone();
        assert_eq!(inputs(0), inputs(3), "what is left out follows from the documents");
        let again = stage.call("author", "add_task", batch(SEED_PROJECT, 12, 1)).await.result.unwrap_err();
        assert_eq!(again.message, "Task validation failed: artifact_id HLS-012 already exists in queue");
    }
}

#[tokio::test]
async fn add_task_refuses_inputs_that_are_not_there_or_not_approved() {
    for (prd, research, message) in [
        (None, "Finalized", "Input file not found: PRD-006_v3.md"),
        (Some("Draft"), "Finalized", "Input artifact PRD-006 not approved"),
        (Some("Approved"), "Draft", "Input research AI_Agent_MCP_Server_business_research not finalized"),
    ] {
        for stage in both().await {
            if let Some(prd) = prd {
                keep_inputs_of_the_seed(&stage, "default", prd, research).await;
            }
            let error = stage.call("author", "add_task", batch("default", 12, 3)).await.result.unwrap_err();
            assert_eq!((error.code(), error.message.as_str()), ("INVALID_ARG", message));
            let rpc = contract::dialect::workflow_rpc(&error);
            assert_eq!((rpc.code, rpc.message), (-32602, format!("Invalid params: {message}")));
            assert_eq!(output(&stage, "viewer", "list_tasks", json!({})).await["count"], 0);
        }
    }
}

#[tokio::test]
async fn what_another_project_approved_is_not_seen_by_this_one() {
    for stage in both().await {
        keep_inputs_of_the_seed(&stage, "default", "Approved", "Finalized").await;
        keep_inputs_of_the_seed(&stage, "elsewhere", "Approved", "Finalized").await;
        let named = |project: &str| {
            let mut batch = batch("p", 12, 1);
            for input in batch["tasks"][0]["inputs"].as_array_mut().unwrap() {
                let uri = input["resource_uri"].as_str().unwrap();
                input["resource_uri"] = json!(uri.replace("artifacts/", &format!("artifacts/projects/{project}/")));
            }
            batch
        };
        for foreign in [batch("p", 12, 1), named("elsewhere"), named("default")] {
            let error = stage.call("author", "add_task", foreign.clone()).await.result.unwrap_err();
            assert_eq!(error.message, "Input file not found: PRD-006_v3.md");
            assert_eq!(error.details.expected.as_deref(), Some("the address of a stored document of project p"));
        }
        // A tracker believes what it is told, and says so.
        output(&stage, "author", "queue_tasks", named("elsewhere")).await;
        let listed = output(&stage, "viewer", "list_tasks", json!({"project_id": "p"})).await;
        let unseen = json!(["prd", "business_research", "implementation_research"]);
        assert_eq!(listed["tasks"][0]["unseen_inputs"], unseen, "{listed}");
        // Of its own documents an address without a project finds them, and is written out.
        keep_inputs_of_the_seed(&stage, "p", "Approved", "Finalized").await;
        output(&stage, "author", "add_task", batch("p", 13, 1)).await;
        let listed = output(&stage, "viewer", "list_tasks", json!({"project_id": "p"})).await;
        let input = &listed["tasks"][1]["inputs"][0];
        assert_eq!(input["mcp_resource_uri"], "mcp://resources/artifacts/projects/p/prds/PRD-006_v3.md");
        assert_eq!(input["resource_path"], "artifacts/projects/p/prds/PRD-006_v3.md");
    }
}

#[tokio::test]
async fn a_batch_tells_which_approvals_are_only_stated() {
    for stage in both().await {
        keep(&stage, "default", "prd", "prds", "PRD-006", "PRD-006_v3.md", "Approved").await;
        output(&stage, "author", "queue_tasks", batch("default", 12, 1)).await;
        let listed = output(&stage, "viewer", "list_tasks", json!({})).await;
        let task = &listed["tasks"][0];
        assert_eq!(task["unseen_inputs"], json!(["business_research", "implementation_research"]), "{listed}");
        // Claimed, it still says so.
        let claimed = output(&stage, "agent", "get_next_task", json!({"claim": true})).await;
        assert_eq!(claimed["task"]["unseen_inputs"], task["unseen_inputs"]);
        let changed = "task `TASK-001` was changed by other hands";
        assert!(!crate::ledger::verify(&stage).await["problems"].to_string().contains(changed));
        crate::ledger::tamper(&stage, "UPDATE tasks SET unseen_inputs = NULL").await;
        assert!(crate::ledger::verify(&stage).await["problems"].to_string().contains(changed));
    }
    // What is here and not approved is refused, whatever is stated of it.
    let stage = on_sqlite(OPERATIONS).await;
    keep(&stage, "default", "prd", "prds", "PRD-006", "PRD-006_v3.md", "Draft").await;
    let error = stage.call("author", "queue_tasks", batch("default", 12, 1)).await.result.unwrap_err();
    assert_eq!(error.message, "Task validation failed: Input artifact PRD-006 not approved");
}

#[tokio::test]
async fn no_task_makes_a_document_that_is_approved_already() {
    let stage = on_sqlite(OPERATIONS).await;
    keep_inputs_of_the_seed(&stage, "default", "Approved", "Finalized").await;
    keep(&stage, "default", "hls", "hls", "HLS-012", "HLS-012_v1.md", "Approved").await;
    let error = stage.call("author", "add_task", batch("default", 11, 3)).await.result.unwrap_err();
    assert_eq!((error.code(), error.message.as_str()), ("INVALID_ARG", "Artifact HLS-012 already approved"));
    assert_eq!(error.details.field.as_deref(), Some("tasks/1/artifact_id"));
}

#[tokio::test]
async fn who_calls_what_is_no_more_is_told_what_took_its_place() {
    let stage = on_sqlite(OPERATIONS).await;
    let error = stage.call("author", "resolve_artifact_path", json!({})).await.result.unwrap_err();
    assert_eq!(error.code(), "NOT_FOUND");
    assert!(error.message.contains("call approve_artifact"), "{}", error.message);
}

#[tokio::test]
async fn add_task_names_the_missing_mandatory_input_as_the_seed_does() {
    let stage = on_sqlite(OPERATIONS).await;
    keep_inputs_of_the_seed(&stage, "default", "Approved", "Finalized").await;
    let mut input = batch("default", 12, 1);
    input["tasks"][0]["inputs"].as_array_mut().unwrap().remove(0);
    let error = stage.call("author", "add_task", input).await.result.unwrap_err();
    let rpc = contract::dialect::workflow_rpc(&error);
    assert_eq!(
        (rpc.code, rpc.message.as_str()),
        (-32602, "Invalid params: Mandatory input 'prd' missing for task HLS-012")
    );
    let v2 = json!({"tasks": [{"artifact_id": "HLS-012", "parent_id": "PRD-006", "task_id": "x"}]});
    let error = stage.call("author", "add_task", v2).await.result.unwrap_err();
    assert_eq!(error.details.field.as_deref(), Some("parent_id"));
}

/// 100 tasks within a second, says the origin; a debug build on a busy machine gets ten times that.
#[tokio::test]
async fn a_hundred_tasks_are_checked_and_added_in_a_moment() {
    for stage in both().await {
        keep_inputs_of_the_seed(&stage, "default", "Approved", "Finalized").await;
        let started = std::time::Instant::now();
        output(&stage, "author", "add_task", batch("default", 1, 100)).await;
        assert!(started.elapsed() < std::time::Duration::from_secs(10), "{:?}", started.elapsed());
    }
}

/// The two queries of the seed, as it writes them.
#[tokio::test]
async fn the_queries_of_the_seed_run_on_postgresql_and_use_the_index() {
    let stage = on_postgres(OPERATIONS).await;
    queue(&stage, "p", 3).await;
    let mut conn = stage.store.read().await.unwrap();
    let depends = "SELECT task_id FROM tasks WHERE inputs_json @> '[{\"artifact_id\": \"PRD-006\"}]'";
    assert_eq!(conn.fetch_all(depends, &[]).await.unwrap().len(), 3);
    let missing = "SELECT task_id FROM tasks WHERE NOT EXISTS (SELECT 1 FROM jsonb_array_elements(inputs_json) AS input \
         WHERE input->>'classification' = 'mandatory')";
    assert_eq!(conn.fetch_all(missing, &[]).await.unwrap().len(), 0);
    conn.hold_snapshot().await.unwrap();
    conn.execute("SET LOCAL enable_seqscan = off", &[]).await.unwrap();
    let plan = "EXPLAIN SELECT task_id FROM tasks WHERE inputs_json @> '[{\"artifact_id\": \"PRD-006\"}]'";
    let rows = conn.fetch_all(plan, &[]).await.unwrap();
    let plan: String = rows.iter().map(|row| row.text(0).unwrap()).collect();
    assert!(plan.contains("tasks_by_inputs"), "{plan}");
}

#[tokio::test]
async fn the_event_of_a_task_that_is_not_there_does_not_repeat_its_name() {
    let stage = on_sqlite(OPERATIONS).await;
    let input = json!({"task_id": "SomchaiHIV", "status": "in_progress"});
    stage.call("author", "update_task_status", input).await.result.unwrap_err();
    let word = json!({"artifact_type": "poem", "task_id": "abc-123"});
    stage.call("author", "get_next_available_id", word).await.result.unwrap_err();
    let bodies = stage.bodies().await;
    assert_eq!(bodies[0]["correlation"], json!({}));
    assert_eq!(bodies[1]["correlation"], json!({"task_id": "abc-123"}));
}
