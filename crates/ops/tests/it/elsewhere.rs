//! Ids and tasks that another house gives out and keeps.

use std::sync::Arc;

use contract::error::OpError;
use contract::id::{CorrelationId, IdempotencyKey};
use futures::future::BoxFuture;
use ops::operations::OPERATIONS;
use ops::{Call, Remote, RemoteCall, Remotes};
use serde_json::{Value, json};
use testkit::documents::PRD_006;

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

/// A house whose ids and tasks the far one has.
async fn neighbours(called_by: &'static str) -> (Stage, Far) {
    let far = Far { stage: Arc::new(on_sqlite(OPERATIONS).await), called_by };
    let remote = || Some(Arc::new(far.clone()) as Arc<dyn Remote>);
    let near = on_sqlite_with_remotes(OPERATIONS, Remotes { tasks: remote(), ids: remote() }).await;
    (near, far)
}

fn prd(number: usize) -> String {
    PRD_006.replace("PRD-006", &format!("PRD-{number:03}"))
}

#[tokio::test]
async fn an_id_that_is_in_use_here_is_given_to_nobody() {
    let (near, _far) = neighbours("owner").await;
    near.begin().await;
    for number in [1, 2, 4] {
        near.store(&prd(number)).await;
    }
    let next = json!({"artifact_type": "prd"});
    assert_eq!(output(near.call("author", "get_next_available_id", next).await)["next_id"], "PRD-003");
    let range = json!({"artifact_type": "prd", "count": 2});
    let reserved = output(near.call("author", "reserve_id_range", range).await);
    assert_eq!(reserved["reserved_ids"], json!(["PRD-006", "PRD-007"]));
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
