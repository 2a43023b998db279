//! Approval where services elsewhere give out ids or keep tasks: they are asked first, in the order of the seed and
//! under the call's own key, then the document is approved here, then the ids are confirmed there.

use std::collections::BTreeMap;

use contract::canonical;
use contract::error::{Kind, OpError};
use contract::workflow::ReservedIdRange;
use contract::workflow::tasks::QueuedTasks;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use workflow::approval::{self, ApprovalError, Next, Request};
use workflow::catalogue::{Catalogue, Numbering};

use crate::context::Context;
use crate::operation::{ApplyError, store_error};
use crate::remote::Remote;

/// Has the services do their part. What they did is in `request.given`.
pub async fn prepare(ctx: &Context<'_>, catalogue: &Catalogue, request: &mut Request) -> Result<(), OpError> {
    let remotes = &ctx.services().remotes;
    if remotes.ids.is_none() && remotes.tasks.is_none() {
        return Ok(());
    }
    let mut reader = ctx.read().await?;
    let draft = approval::preview(&mut reader, catalogue, request).await.map_err(refusal)?;
    drop(reader);
    // What is approved is what the services were asked for.
    request.content_sha256.get_or_insert(draft.content_sha256);
    let reserved: Vec<Next> = draft.next.into_iter().filter(|next| next.numbering == Numbering::Reserved).collect();
    if remotes.ids.is_none() && !reserved.is_empty() {
        return Err(OpError::conflict("tasks are kept elsewhere and ids are not; set `ids_url` beside `tasks_url`"));
    }
    if let Some(ids) = &remotes.ids {
        let mut given = BTreeMap::new();
        for next in reserved {
            let input = json!({
                "artifact_type": next.artifact_type, "count": next.placeholders.len(), "project_id": request.project_id
            });
            let answer: ReservedIdRange = ask(ctx, &**ids, "reserve_id_range", &next.artifact_type, input).await?;
            request.given.reservation_ids.push(answer.reservation_id);
            given.insert(next.artifact_type.clone(), answer.reserved_ids);
        }
        request.given.ids = Some(given);
    }
    if let Some(tracker) = &remotes.tasks {
        let mut reader = ctx.read().await?;
        let tasks = approval::plan_tasks(&mut reader, catalogue, request).await.map_err(refusal)?;
        drop(reader);
        let mut task_ids = Vec::new();
        if !tasks.is_empty() {
            let tasks: Vec<Value> = tasks
                .iter()
                .map(|task| {
                    json!({
                        "artifact_id": task.artifact_id, "generator": task.generator, "inputs": task.inputs,
                        "task_id": request.correlation_id
                    })
                })
                .map(without_nulls)
                .collect();
            let input = json!({ "project_id": request.project_id, "tasks": tasks });
            let answer: QueuedTasks = ask(ctx, &**tracker, "queue_tasks", "", input).await?;
            task_ids = answer.task_ids.iter().map(ToString::to_string).collect();
        }
        request.given.task_ids = Some(task_ids);
    }
    Ok(())
}

/// Keeps the ids for good. One that cannot be confirmed is not given out again either: it only leaves no trace there.
pub async fn confirm(ctx: &Context<'_>, request: &Request) {
    let Some(ids) = &ctx.services().remotes.ids else { return };
    for reservation_id in &request.given.reservation_ids {
        let input = json!({ "reservation_id": reservation_id });
        if let Err(error) = ask::<Value>(ctx, &**ids, "confirm_reservation", reservation_id, input).await {
            tracing::error!(reservation_id, error_message = error.message, "A reservation could not be confirmed");
        }
    }
}

/// Takes the tasks of a refused approval out of the queue. Its ids lapse with their reservation.
pub async fn give_back(ctx: &Context<'_>, request: &Request) {
    let Some(tracker) = &ctx.services().remotes.tasks else { return };
    for task_id in request.given.task_ids.iter().flatten() {
        for status in ["in_progress", "completed"] {
            let input = json!({
                "task_id": task_id, "status": status, "completion_notes": "withdrawn: the approval was refused"
            });
            let key = format!("{task_id}/{status}");
            if let Err(error) = ask::<Value>(ctx, &**tracker, "update_task_status", &key, input).await {
                tracing::error!(task_id, error_message = error.message, "A task could not be withdrawn");
                break;
            }
        }
    }
}

/// Asks a service, under a key of its own for each question of the call.
async fn ask<T: DeserializeOwned>(
    ctx: &Context<'_>,
    remote: &dyn Remote,
    operation: &'static str,
    about: &str,
    input: Value,
) -> Result<T, OpError> {
    let mut call = ctx.journey().call(operation, input);
    let key = canonical::hash(&json!([call.idempotency_key, operation, about])).map_err(OpError::internal)?;
    call.idempotency_key = key;
    serde_json::from_value(remote.call(call).await?).map_err(|error| {
        OpError::new(Kind::Upstream, "a service answered something else than it should").with_source(error)
    })
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => members.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        other => other,
    }
}

fn refusal(error: ApprovalError) -> OpError {
    match ApplyError::from(error) {
        ApplyError::Refused(error) => error,
        ApplyError::Store(error) => store_error(error),
    }
}
