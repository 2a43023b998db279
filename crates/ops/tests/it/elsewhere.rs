//! Ids and tasks that another house gives out and keeps.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use contract::error::OpError;
use contract::id::{CorrelationId, IdempotencyKey, OrganisationId};
use futures::future::BoxFuture;
use ops::operations::OPERATIONS;
use ops::{Call, Remote, RemoteCall, Remotes};
use serde_json::{Value, json};
use testkit::documents::{BUSINESS_RESEARCH, EPIC_006, IMPLEMENTATION_RESEARCH, PRD_006};

use crate::artifacts::output;
use crate::script::{Stage, actor, on_sqlite, on_sqlite_with_remotes};

/// The other house, called as its services are: by one actor, with what goes beside the input.
#[derive(Clone)]
struct Far {
    stage: Arc<Stage>,
    called_by: &'static str,
}

impl std::fmt::Debug for Far {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Far")
    }
}

impl Remote for Far {
    fn call(&self, call: RemoteCall) -> BoxFuture<'_, Result<Value, OpError>> {
        Box::pin(async move {
            let mut there = Call { operation: call.operation.to_owned(), input: call.input, ..Call::default() };
            if let Value::Object(members) = &mut there.input
                && call.operation != "update_task_status"
            {
                members.remove("task_id");
            }
            there.idempotency_key = Some(IdempotencyKey::parse(&call.idempotency_key).unwrap());
            there.correlation.task_id = Some(CorrelationId::parse(&call.correlation_id).unwrap());
            there.via = call.via;
            there.acting = Some(call.acting);
            self.stage.platform.call(&actor(self.called_by), there).await.result.map(|success| success.output)
        })
    }
}

/// Whose services the far house has: the organisation of the actors here.
fn ours() -> OrganisationId {
    actor("owner").organisation_id
}

/// A house whose ids and tasks the far one has.
async fn neighbours(called_by: &'static str) -> (Stage, Far) {
    let far = Far { stage: Arc::new(on_sqlite(OPERATIONS).await), called_by };
    let remote = || Some(Arc::new(far.clone()) as Arc<dyn Remote>);
    let near = on_sqlite_with_remotes(OPERATIONS, Remotes::of(ours(), remote(), remote())).await;
    (near, far)
}

fn prd(number: usize) -> String {
    PRD_006.replace("PRD-006", &format!("PRD-{number:03}"))
}

#[tokio::test]
async fn an_id_that_is_in_use_here_is_given_to_nobody() {
    let (near, _far) = neighbours("owner").await;
    near.begin().await;
    // The far house was not asked for ids yet when they were stored.
    let before = near.again().await;
    for number in [1, 2, 4] {
        before.store(&prd(number)).await;
    }
    let next = json!({"artifact_type": "prd"});
    assert_eq!(output(near.call("author", "get_next_available_id", next).await)["next_id"], "PRD-003");
    let range = json!({"artifact_type": "prd", "count": 2});
    let reserved = output(near.call("author", "reserve_id_range", range).await);
    assert_eq!(reserved["reserved_ids"], json!(["PRD-006", "PRD-007"]));
}

/// A far house that another takes the place of.
#[derive(Debug, Clone)]
struct Replaced(Arc<Mutex<Far>>);

impl Remote for Replaced {
    fn call(&self, call: RemoteCall) -> BoxFuture<'_, Result<Value, OpError>> {
        let far = self.0.lock().unwrap().clone();
        Box::pin(async move { far.call(call).await })
    }
}

#[tokio::test]
async fn what_a_service_that_was_set_back_gives_again_is_not_taken_for_new() {
    let far = || async { Far { stage: Arc::new(on_sqlite(OPERATIONS).await), called_by: "owner" } };
    let place = Replaced(Arc::new(Mutex::new(far().await)));
    let remote = || Some(Arc::new(place.clone()) as Arc<dyn Remote>);
    let near = on_sqlite_with_remotes(OPERATIONS, Remotes::of(ours(), remote(), remote())).await;
    near.begin().await;
    let mut given = Vec::new();
    for number in 10..30 {
        near.store(&prd(number)).await;
        let approved = output(near.approve(&format!("PRD-{number:03}")).await);
        given.extend(approved["sub_artifacts_detected"].as_array().unwrap().clone());
    }
    let epic = |id: &str| EPIC_006.replace("EPIC-006", id) + "\n- PRD-AAA: its requirements\n";
    near.store(&epic("EPIC-012")).await;
    assert_eq!(output(near.approve("EPIC-012").await)["sub_artifacts_detected"], json!(["PRD-030"]));
    // It knows nothing any more, as one that was restored from its first backup.
    *place.0.lock().unwrap() = far().await;
    for number in 30..33 {
        near.store(&prd(number + 10)).await;
        let approved = output(near.approve(&format!("PRD-{:03}", number + 10)).await);
        given.extend(approved["sub_artifacts_detected"].as_array().unwrap().clone());
    }
    let expected: Vec<String> = (1..=69).map(|number| format!("HLS-{number:03}")).collect();
    assert_eq!(given, expected);
    // Nor is what nobody has written yet: the only trace of it is our own counter.
    near.store(&epic("EPIC-030")).await;
    let approved = output(near.approve("EPIC-030").await);
    assert_eq!(approved["sub_artifacts_detected"], json!(["PRD-043"]));
    *place.0.lock().unwrap() = far().await;
    let next = near.call("author", "get_next_available_id", json!({"artifact_type": "hls"})).await;
    assert_eq!(output(next)["next_id"], "HLS-070");
}

#[tokio::test]
async fn approvals_are_exempt_from_the_limit_on_reservations_there_too() {
    let (near, far) = neighbours("owner").await;
    near.begin().await;
    for number in 10..22 {
        near.store(&prd(number)).await;
        output(near.approve(&format!("PRD-{number:03}")).await);
    }
    // Approvals are not counted either. Whoever reserves directly is bound, and whoever may not approve is not believed.
    let range = || json!({"artifact_type": "adr", "count": 1});
    for _ in 0..10 {
        output(near.call("owner", "reserve_id_range", range()).await);
    }
    let error = near.call("owner", "reserve_id_range", range()).await.result.unwrap_err();
    assert_eq!(error.code(), "BUSY");
    let call =
        Call { operation: "reserve_id_range".to_owned(), input: range(), via: ops::Via::Approval, ..Call::default() };
    let error = far.stage.platform.call(&actor("author"), call).await.result.unwrap_err();
    assert_eq!(error.code(), "BUSY");
}

#[tokio::test]
async fn a_task_there_is_its_claimants_here_and_nobody_elses() {
    let (near, far) = neighbours("owner").await;
    near.begin().await;
    near.store(PRD_006).await;
    output(near.approve("PRD-006").await);
    let claimed = output(near.call("agent", "get_next_task", json!({"claim": true})).await);
    assert_eq!(
        (&claimed["task"]["task_id"], &claimed["task"]["claimed_by"]),
        (&json!("TASK-001"), &json!("owner/agent"))
    );
    let change = |status: &str| json!({"task_id": "TASK-001", "status": status, "reset": status == "pending"});
    for status in ["completed", "in_progress", "pending"] {
        let error = near.call("author", "update_task_status", change(status)).await.result.unwrap_err();
        assert_eq!(error.code(), "CONFLICT", "{status}");
        assert!(error.message.contains("is claimed by `owner/agent`"), "{}", error.message);
    }
    // Nor whoever is there under the name that the agent has here.
    let error = far.stage.call("agent", "update_task_status", change("completed")).await.result.unwrap_err();
    assert_eq!(error.code(), "CONFLICT");
    output(near.call("agent", "update_task_status", change("in_progress")).await);
    // A person who answers for the work here takes it back there.
    output(near.call("approver", "update_task_status", change("pending")).await);
    output(near.call("agent", "get_next_task", json!({"claim": true})).await);
    output(near.call("agent", "update_task_status", change("completed")).await);
}

#[tokio::test]
async fn another_organisation_keeps_its_tasks_and_ids_here() {
    let (near, far) = neighbours("owner").await;
    near.begin().await;
    near.store(PRD_006).await;
    output(near.approve("PRD-006").await);
    for (operation, input) in [
        ("get_next_task", json!({"claim": true})),
        ("update_task_status", json!({"task_id": "TASK-001", "status": "in_progress"})),
        ("list_tasks", json!({})),
    ] {
        let found = near.call("rival", operation, input).await.result;
        let is_nothing = match &found {
            Ok(found) => found.output["task"].is_null() && found.output["tasks"].as_array().is_none_or(Vec::is_empty),
            Err(error) => error.code() == "NOT_FOUND",
        };
        assert!(is_nothing, "{operation}: {found:?}");
    }
    let hls = || json!({"artifact_type": "hls"});
    assert_eq!(output(near.call("rival", "get_next_available_id", hls()).await)["next_id"], "HLS-001");
    let range = json!({"artifact_type": "adr", "count": 1});
    let reserved = output(near.call("rival", "reserve_id_range", range).await);
    let handle = || json!({"reservation_id": reserved["reservation_id"]});
    assert_eq!(near.call("owner", "confirm_reservation", handle()).await.result.unwrap_err().code(), "NOT_FOUND");
    output(near.call("rival", "confirm_reservation", handle()).await);
    // Documents, their approval and the tasks that follow from it, too.
    let n_there = far.stage.tasks().await.len();
    for (text, approved) in [
        (BUSINESS_RESEARCH, None),
        (IMPLEMENTATION_RESEARCH, None),
        (EPIC_006, Some("EPIC-006")),
        (PRD_006, Some("PRD-006")),
    ] {
        output(near.call("rival", "store_artifact", json!({"artifact_content": text})).await);
        if let Some(id) = approved {
            output(near.call("rival", "approve_artifact", json!({"artifact_id": id})).await);
        }
    }
    let listed = output(near.call("rival", "list_tasks", json!({"depends_on": "PRD-006"})).await);
    let made: Vec<&Value> = listed["tasks"].as_array().unwrap().iter().map(|task| &task["artifact_id"]).collect();
    assert_eq!(made, ["HLS-002", "HLS-003", "HLS-004"]);
    assert_eq!(far.stage.tasks().await.len(), n_there);
    assert_eq!(output(near.call("author", "get_next_available_id", hls()).await)["next_id"], "HLS-004");
}

#[tokio::test]
async fn a_reservation_there_is_whose_it_is_here_and_an_approval_confirms_its_own() {
    let (near, far) = neighbours("owner").await;
    near.begin().await;
    let range = json!({"artifact_type": "adr", "count": 2});
    let reserved = output(near.call("agent", "reserve_id_range", range).await);
    let handle = || json!({"reservation_id": reserved["reservation_id"]});
    for name in ["author", "owner"] {
        let error = near.call(name, "confirm_reservation", handle()).await.result.unwrap_err();
        assert_eq!(error.code(), "NOT_FOUND", "{name}");
    }
    // Nor whoever is there under a name of here.
    assert_eq!(far.stage.call("agent", "confirm_reservation", handle()).await.result.unwrap_err().code(), "NOT_FOUND");
    output(near.call("agent", "confirm_reservation", handle()).await);
    near.store(PRD_006).await;
    output(near.approve("PRD-006").await);
    let mut reader = far.stage.store.read().await.unwrap();
    let sql = "SELECT reserved_by FROM id_reservations WHERE confirmed AND artifact_type IN ('ADR', 'HLS') \
               ORDER BY reserved_by";
    let rows = reader.fetch_all(sql, &[]).await.unwrap();
    let found: Vec<String> = rows.iter().map(|row| row.text(0).unwrap()).collect();
    assert_eq!(found, ["owner", "owner/agent"]);
}

#[tokio::test]
async fn an_id_that_somebody_here_reserved_there_is_theirs() {
    let (near, far) = neighbours("owner").await;
    near.begin().await;
    let reserve = async || {
        let range = json!({"artifact_type": "prd", "count": 3});
        output(near.call("author", "reserve_id_range", range).await)
    };
    let store = async |name: &str, number: usize| {
        near.call(name, "store_artifact", json!({"artifact_content": prd(number)})).await.result
    };
    let wait = || {
        for stage in [&near, &*far.stage] {
            stage.clock.set_us(stage.clock.now_us() + 16 * 60_000_000);
        }
    };
    let reserved = reserve().await;
    assert_eq!(reserved["reserved_ids"], json!(["PRD-001", "PRD-002", "PRD-003"]));
    let confirmation = json!({"reservation_id": reserved["reservation_id"]});
    let message = "PRD-001 belongs to whoever reserved it; take an id of your own";
    assert_eq!(store("agent", 1).await.unwrap_err().message, message);
    output(near.call("author", "confirm_reservation", confirmation).await);
    wait();
    assert_eq!(store("agent", 1).await.unwrap_err().message, message);
    store("author", 1).await.expect("it is the author's");
    // Nor may others queue it; a task of the author hands it on, though the task is there.
    let input = json!({
        "name": "epic", "classification": "mandatory",
        "mcp_resource_uri": "mcp://resources/artifacts/epics/EPIC-006_v1.md"
    });
    let task = json!({"tasks": [{"artifact_id": "PRD-002", "generator": "prd-generator", "inputs": [input]}]});
    let error = near.call("agent", "add_task", task.clone()).await.result.unwrap_err();
    assert_eq!(error.message, "PRD-002 belongs to whoever reserved it; take an id of your own");
    output(near.call("author", "add_task", task).await);
    store("agent", 2).await.expect("it was handed on");
    store("agent", 3).await.expect_err("it was not");
    // As here: one that was given singly is nobody's, and one that was not confirmed lapses.
    assert_eq!(
        output(near.call("author", "get_next_available_id", json!({"artifact_type": "prd"})).await)["next_id"],
        "PRD-004"
    );
    store("agent", 4).await.expect("it is nobody's");
    assert_eq!(reserve().await["reserved_ids"][0], "PRD-005");
    store("agent", 5).await.expect_err("it is the author's");
    wait();
    store("agent", 5).await.expect("it has lapsed");
}

#[tokio::test]
async fn an_input_that_is_here_is_seen_though_the_service_there_has_not_seen_it() {
    let (near, far) = neighbours("owner").await;
    near.begin().await;
    near.store(PRD_006).await;
    output(near.approve("PRD-006").await);
    let unseen = async |stage: &Stage| {
        let tasks = stage.tasks().await;
        let first = tasks.iter().find(|task| task["generator"] == "hls-generator").unwrap();
        first.get("unseen_inputs").cloned()
    };
    assert_eq!(unseen(&far.stage).await, Some(json!(["prd", "business_research", "implementation_research"])));
    assert_eq!(unseen(&near).await, None);
    let claimed = output(near.call("agent", "get_next_task", json!({"claim": true})).await);
    assert_eq!(claimed["task"].get("unseen_inputs"), None, "{claimed}");
    // What is not approved here any more is the word of others.
    let withdrawal = json!({"artifact_id": "PRD-006", "status": "Withdrawn"});
    output(near.call("owner", "set_artifact_status", withdrawal).await);
    assert_eq!(unseen(&near).await, Some(json!(["prd"])));
}

#[tokio::test]
async fn a_task_there_belongs_to_the_work_of_the_caller_here() {
    let (near, far) = neighbours("owner").await;
    near.begin().await;
    near.store(PRD_006).await;
    output(near.approve("PRD-006").await);
    let mut reader = far.stage.store.read().await.unwrap();
    let rows = reader.fetch_all("SELECT correlation_id FROM tasks", &[]).await.unwrap();
    let found: Vec<String> = rows.iter().map(|row| row.text(0).unwrap()).collect();
    assert_eq!(found, ["abc-123"; 3]);
}

/// A way to the far house that can fail.
#[derive(Debug, Clone)]
struct Road {
    far: Far,
    /// Tasks are still queued there, and nothing is heard of it.
    is_cut: Arc<AtomicBool>,
}

impl Remote for Road {
    fn call(&self, call: RemoteCall) -> BoxFuture<'_, Result<Value, OpError>> {
        Box::pin(async move {
            let is_queueing = call.operation == "queue_tasks";
            if !self.is_cut.load(Ordering::SeqCst) {
                return self.far.call(call).await;
            }
            if is_queueing {
                self.far.call(call).await?;
            }
            Err(OpError::new(contract::error::Kind::Upstream, "the task service cannot be reached"))
        })
    }
}

async fn by_road() -> (Stage, Far, Arc<AtomicBool>) {
    let far = Far { stage: Arc::new(on_sqlite(OPERATIONS).await), called_by: "owner" };
    let road = Road { far: far.clone(), is_cut: Arc::default() };
    let is_cut = Arc::clone(&road.is_cut);
    let remotes = Remotes::of(ours(), Some(Arc::new(road)), Some(Arc::new(far.clone())));
    (on_sqlite_with_remotes(OPERATIONS, remotes).await, far, is_cut)
}

async fn queued(far: &Far) -> Vec<String> {
    let shown =
        |task: &Value| format!("{} {}", task["artifact_id"].as_str().unwrap(), task["status"].as_str().unwrap());
    let tasks = far.stage.tasks().await;
    tasks.iter().filter(|task| task["generator"] == "hls-generator").map(shown).collect()
}

#[tokio::test]
async fn what_an_approval_left_there_is_taken_back_when_the_service_answers_again() {
    let (near, far, is_cut) = by_road().await;
    near.begin().await;
    near.store(PRD_006).await;
    is_cut.store(true, Ordering::SeqCst);
    let error = near.approve("PRD-006").await.result.unwrap_err();
    assert_eq!(error.message, "the task service cannot be reached");
    assert_eq!(queued(&far).await, ["HLS-001 pending", "HLS-002 pending", "HLS-003 pending"]);
    // A worker was quicker.
    output(far.stage.call("agent", "get_next_task", json!({"claim": true})).await);
    near.platform.take_back_tasks(near.platform.asked_until_us(Duration::ZERO)).await;
    assert_eq!(queued(&far).await[1..], ["HLS-002 pending", "HLS-003 pending"]);
    is_cut.store(false, Ordering::SeqCst);
    for _ in 0..2 {
        near.platform.take_back_tasks(near.platform.asked_until_us(Duration::ZERO)).await;
        assert_eq!(queued(&far).await, ["HLS-001 completed", "HLS-002 completed", "HLS-003 completed"]);
    }
    let approved = output(near.approve("PRD-006").await);
    assert_eq!(approved["sub_artifacts_detected"], json!(["HLS-001", "HLS-002", "HLS-003"]));
    near.platform.take_back_tasks(near.platform.asked_until_us(Duration::ZERO)).await;
    assert_eq!(queued(&far).await[3..], ["HLS-001 pending", "HLS-002 pending", "HLS-003 pending"]);
}

#[tokio::test]
async fn a_task_that_somebody_there_works_on_is_named_and_keeps_no_other_from_being_taken_back() {
    let far = Far { stage: Arc::new(on_sqlite(OPERATIONS).await), called_by: "author" };
    let road = Road { far: far.clone(), is_cut: Arc::default() };
    let is_cut = Arc::clone(&road.is_cut);
    let remotes = Remotes::of(ours(), Some(Arc::new(road)), Some(Arc::new(far.clone())));
    let near = on_sqlite_with_remotes(OPERATIONS, remotes).await;
    near.begin().await;
    near.store(PRD_006).await;
    is_cut.store(true, Ordering::SeqCst);
    near.approve("PRD-006").await.result.unwrap_err();
    is_cut.store(false, Ordering::SeqCst);
    let claimed = output(far.stage.call("agent", "get_next_task", json!({"claim": true})).await);
    assert_eq!(claimed["task"]["task_id"], "TASK-001");
    let message = "somebody works on what an earlier attempt to approve PRD-006 had queued: TASK-001 (claimed by agent); \
        have it set back or completed at the task service, then approve again";
    for _ in 0..2 {
        let error = near.approve("PRD-006").await.result.unwrap_err();
        assert_eq!((error.code(), error.message.as_str()), ("CONFLICT", message));
        assert_eq!(queued(&far).await, ["HLS-001 in_progress", "HLS-002 completed", "HLS-003 completed"]);
    }
    let back = json!({"task_id": "TASK-001", "status": "pending", "reset": true});
    output(far.stage.call("agent", "update_task_status", back).await);
    output(near.approve("PRD-006").await);
    assert_eq!(queued(&far).await[..3], ["HLS-001 completed", "HLS-002 completed", "HLS-003 completed"]);
}

#[tokio::test]
async fn the_tasks_of_an_earlier_version_are_taken_back_when_a_later_one_is_approved() {
    let (near, far, is_cut) = by_road().await;
    near.begin().await;
    near.store(PRD_006).await;
    is_cut.store(true, Ordering::SeqCst);
    near.approve("PRD-006").await.result.unwrap_err();
    is_cut.store(false, Ordering::SeqCst);
    near.store(&PRD_006.replacen("**Version:** 1", "**Version:** 2", 1)).await;
    output(near.approve("PRD-006").await);
    let found = queued(&far).await;
    assert_eq!(found[..3], ["HLS-001 completed", "HLS-002 completed", "HLS-003 completed"]);
    assert_eq!(found[3..], ["HLS-004 pending", "HLS-005 pending", "HLS-006 pending"]);
}

#[tokio::test]
async fn ids_by_hand_are_taken_there_too_and_no_more_than_needed() {
    let (near, far) = neighbours("owner").await;
    near.begin().await;
    near.store(&prd(10).replace("HLS-AAA", "HLS-001")).await;
    let approved = output(near.approve("PRD-010").await);
    assert_eq!(approved["id_mapping"], json!({"HLS-BBB": "HLS-002", "HLS-CCC": "HLS-003"}));
    let hls = "# HLS-005: A story of our own\n\n## Metadata\n- **Story ID:** HLS-005\n- **Parent PRD:** PRD-010\n\
        - **Status:** Draft\n\n## Value Contribution\nEnough words to make this a document of a hundred characters.\n";
    // The far house was not asked for ids yet when it was stored.
    near.again().await.store(hls).await;
    near.store(&prd(11)).await;
    let approved = output(near.approve("PRD-011").await);
    assert_eq!(approved["sub_artifacts_detected"], json!(["HLS-004", "HLS-006", "HLS-007"]));
    let next = output(far.stage.call("author", "get_next_available_id", json!({"artifact_type": "hls"})).await);
    assert_eq!(next["next_id"], "HLS-008");
}

#[tokio::test]
async fn the_one_document_of_an_epic_has_its_number_there_too() {
    let (near, far) = neighbours("owner").await;
    near.begin().await;
    for (number, expected) in [(77, "PRD-077"), (12, "PRD-012")] {
        let epic = EPIC_006.replace("EPIC-006", &format!("EPIC-{number:03}")) + "\n- PRD-AAA: its requirements\n";
        near.store(&epic).await;
        let approved = output(near.approve(&format!("EPIC-{number:03}")).await);
        assert_eq!(approved["sub_artifacts_detected"], json!([expected]), "{approved}");
    }
    let certain = json!({"artifact_type": "prd", "count": 1, "number": 77});
    let error = far.stage.call("author", "reserve_id_range", certain).await.result.unwrap_err();
    assert_eq!((error.code(), error.message.as_str()), ("CONFLICT", "PRD-077 was given to somebody before"));
}

/// A way to the far house that notes what goes over it, and on which some operations are lost.
#[derive(Debug, Clone)]
struct Line {
    far: Far,
    lost: Arc<Mutex<&'static [&'static str]>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Line {
    fn lose(&self, operations: &'static [&'static str]) {
        *self.lost.lock().unwrap() = operations;
    }

    /// What was asked since somebody looked last.
    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl Remote for Line {
    fn call(&self, call: RemoteCall) -> BoxFuture<'_, Result<Value, OpError>> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(format!("{} {}", call.operation, call.input["number"]));
            if self.lost.lock().unwrap().contains(&call.operation) {
                return Err(OpError::new(contract::error::Kind::Upstream, "the id service cannot be reached"));
            }
            self.far.call(call).await
        })
    }
}

/// A house whose ids the far one has, and the line between them.
async fn by_line(called_by: &'static str) -> (Stage, Line) {
    let far = Far { stage: Arc::new(on_sqlite(OPERATIONS).await), called_by };
    let line = Line { far, lost: Arc::default(), asked: Arc::default() };
    let remotes = Remotes::of(ours(), None, Some(Arc::new(line.clone())));
    (on_sqlite_with_remotes(OPERATIONS, remotes).await, line)
}

/// What the far house gives whoever asks it and not us.
async fn next_there(far: &Far, artifact_type: &str) -> Value {
    let next = far.stage.call("agent", "get_next_available_id", json!({ "artifact_type": artifact_type })).await;
    output(next)["next_id"].clone()
}

async fn try_to_store(stage: &Stage, text: &str) -> Result<Value, OpError> {
    let reply = stage.call("author", "store_artifact", json!({ "artifact_content": text })).await;
    reply.result.map(|success| success.output)
}

#[tokio::test]
async fn a_document_under_an_id_of_its_own_is_known_there_and_nobody_is_given_its_id() {
    let (near, line) = by_line("owner").await;
    near.store(PRD_006).await;
    assert_eq!(line.asked(), ["reserve_id_range 6", "confirm_reservation null"]);
    assert_eq!(next_there(&line.far, "prd").await, "PRD-007");
    let mut reader = line.far.stage.store.read().await.unwrap();
    let sql = "SELECT reserved_ids, reserved_by, confirmed FROM id_reservations";
    let row = reader.fetch_optional(sql, &[]).await.unwrap().unwrap();
    let found = (row.text(0).unwrap(), row.text(1).unwrap(), row.bool(2).unwrap());
    assert_eq!(found, ("[\"PRD-006\"]".to_owned(), "owner".to_owned(), true));
    // One that the service gave is its author's.
    near.store(&prd(7)).await;
    assert_eq!(line.asked(), ["reserve_id_range 7"]);
    // The numbers of foundation work are never given out, and research has none.
    near.store(&EPIC_006.replace("EPIC-006", "EPIC-000")).await;
    near.store(BUSINESS_RESEARCH).await;
    assert_eq!(line.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn what_is_stored_again_or_in_another_version_is_asked_for_once() {
    let (near, line) = by_line("owner").await;
    for _ in 0..2 {
        near.store(PRD_006).await;
    }
    near.store(&PRD_006.replacen("**Version:** 1", "**Version:** 2", 1)).await;
    assert_eq!(line.asked(), ["reserve_id_range 6", "confirm_reservation null"]);
}

#[tokio::test]
async fn a_service_that_is_down_stops_the_first_version_of_a_document_and_no_other() {
    let (near, line) = by_line("owner").await;
    near.store(PRD_006).await;
    line.lose(&["reserve_id_range", "confirm_reservation"]);
    let error = try_to_store(&near, &prd(10)).await.unwrap_err();
    assert_eq!(error.code(), "UPSTREAM");
    assert_eq!(
        error.message,
        "nothing was stored, as PRD-010 could not be made known to the service that gives out the ids: \
         the id service cannot be reached"
    );
    let listed = output(near.call("author", "list_artifacts", json!({})).await);
    assert_eq!(listed["artifacts"].as_array().map(Vec::len), Some(1), "{listed}");
    near.store(PRD_006).await;
    near.store(&PRD_006.replacen("**Version:** 1", "**Version:** 2", 1)).await;
    line.lose(&[]);
    near.store(&prd(10)).await;
    assert_eq!(next_there(&line.far, "prd").await, "PRD-011");
}

#[tokio::test]
async fn an_id_whose_reservation_nobody_confirmed_is_not_given_out_either() {
    let (near, line) = by_line("owner").await;
    line.lose(&["confirm_reservation"]);
    near.store(PRD_006).await;
    line.lose(&[]);
    let far = &line.far.stage;
    far.clock.set_us(far.clock.now_us() + 16 * 60_000_000);
    let deleted = output(far.call("owner", "delete_expired_reservations", json!({})).await);
    assert_eq!(deleted["deleted_count"], 1);
    assert_eq!(next_there(&line.far, "prd").await, "PRD-007");
    let certain = json!({"artifact_type": "prd", "count": 1, "number": 6});
    let error = far.call("author", "reserve_id_range", certain).await.result.unwrap_err();
    assert_eq!((error.code(), error.message.as_str()), ("CONFLICT", "PRD-006 was given to somebody before"));
}

#[tokio::test]
async fn whoever_is_refused_takes_no_number_there() {
    let (near, line) = by_line("owner").await;
    near.begin().await;
    near.store(&prd(10)).await;
    let approved = output(near.approve("PRD-010").await);
    assert_eq!(approved["sub_artifacts_detected"], json!(["HLS-001", "HLS-002", "HLS-003"]));
    near.store(&prd(11)).await;
    line.asked();
    let hls = "# HLS-001: A story of our own\n\n## Metadata\n- **Story ID:** HLS-001\n- **Parent PRD:** PRD-011\n\
        - **Status:** Draft\n\n## Value Contribution\nEnough words to make this a document of a hundred characters.\n";
    for (text, code) in [
        (prd(12).replacen("Draft", "Approved", 1), "INVALID_ARG"),
        (prd(12).replacen("**Version:** 1", "**Version:** 900", 1), "INVALID_ARG"),
        (prd(11) + "\nOther words.\n", "CONFLICT"),
        (hls.to_owned(), "CONFLICT"),
    ] {
        let error = try_to_store(&near, &text).await.unwrap_err();
        assert_eq!(error.code(), code, "{}", error.message);
    }
    assert_eq!(line.asked(), Vec::<String>::new());
    // Nor does one whose number the service refuses.
    let error = try_to_store(&near, &prd(200_000)).await.unwrap_err();
    assert_eq!(error.code(), "INVALID_ARG");
    assert!(error.message.ends_with("PRD-200000 is too far ahead: the highest number allowed is PRD-10011"), "{error}");
    assert_eq!(next_there(&line.far, "prd").await, "PRD-012");
}

#[tokio::test]
async fn documents_are_not_bound_to_the_limit_on_reservations_where_the_key_may_approve() {
    let (near, _) = by_line("owner").await;
    for number in 1..=12 {
        near.store(&prd(number)).await;
    }
    let (near, _) = by_line("author").await;
    for number in 1..=10 {
        near.store(&prd(number)).await;
    }
    let error = try_to_store(&near, &prd(11)).await.unwrap_err();
    assert_eq!((error.code(), error.details.retry_after_ms), ("BUSY", Some(60_000)));
    assert!(error.message.starts_with("nothing was stored, as PRD-011"), "{error}");
}
