//! Approval where services elsewhere give out ids or keep tasks: they are asked first, in the order of the seed, then the
//! document is approved here, then the ids are confirmed there.
//!
//! What they are asked goes under keys that are made from the text itself: whoever approves the same text again, after a
//! crash or at the same time, meets the same ids and the same tasks.

use std::collections::BTreeMap;

use contract::canonical;
use contract::error::{Kind, OpError};
use contract::workflow::artifacts::{ArtifactRevision, RevisionCause};
use contract::workflow::tasks::QueuedTasks;
use contract::workflow::{ConfirmedReservation, ReservedIdRange};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use workflow::approval::{self, ApprovalError, Draft, Next, PlannedTask, Request};
use workflow::artifacts;
use workflow::catalogue::Catalogue;

use crate::context::Context;
use crate::door::Via;
use crate::operation::{ApplyError, store_error};
use crate::remote::Remote;

/// Reservations that one type may need where ids of the service are in use here.
const ROUNDS_MAX: u32 = 8;
/// Ids that a service reserves at once.
const RESERVED_AT_ONCE_MAX: usize = 100;

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
    request.content_sha256.get_or_insert_with(|| draft.content_sha256.clone());
    request.given.text_key = text_key(request, &draft)?;
    let wanted: Vec<(Next, usize)> = draft.next.into_iter().filter(|(_, n_wanted)| *n_wanted > 0).collect();
    if remotes.ids.is_none() && !wanted.is_empty() {
        return Err(OpError::conflict("tasks are kept elsewhere and ids are not; set `ids_url` beside `tasks_url`"));
    }
    if let Some(ids) = &remotes.ids {
        let mut given = BTreeMap::new();
        for (next, n_wanted) in wanted {
            let reserved = reserve(ctx, &**ids, request, &next, n_wanted).await?;
            given.insert(next.artifact_type.clone(), reserved);
        }
        request.given.ids = Some(given);
    }
    if let Some(tracker) = &remotes.tasks {
        let mut reader = ctx.read().await?;
        let tasks = approval::plan_tasks(&mut reader, catalogue, request).await.map_err(refusal)?;
        drop(reader);
        request.given.n_inputs = tasks.iter().map(|task| task.inputs.len()).sum();
        let mut task_ids = Vec::new();
        if !tasks.is_empty() {
            // Where some of the ids turned out to be in use, it is another batch.
            let about = tasks.iter().map(|task| task.artifact_id.as_str()).collect::<Vec<_>>().join(",");
            let tasks: Vec<Value> = tasks.iter().map(described).collect();
            let input = json!({ "project_id": request.project_id, "tasks": tasks });
            let answer: QueuedTasks = ask(ctx, &**tracker, request, "queue_tasks", &about, input).await?;
            task_ids = answer.task_ids.iter().map(ToString::to_string).collect();
        }
        request.given.task_ids = Some(task_ids);
    }
    Ok(())
}

/// The same for every approval of the same text.
fn text_key(request: &Request, draft: &Draft) -> Result<String, OpError> {
    let text =
        json!([request.organisation_id, request.project_id, request.artifact_id, draft.version, draft.content_sha256]);
    canonical::hash(&text).map_err(OpError::internal)
}

/// Reserves ids that are not in use here. The service cannot know which ones are.
async fn reserve(
    ctx: &Context<'_>,
    ids: &dyn Remote,
    request: &mut Request,
    next: &Next,
    n_wanted: usize,
) -> Result<Vec<String>, OpError> {
    let mut free = Vec::new();
    for round in 0..ROUNDS_MAX {
        let count = if round == 0 { n_wanted } else { RESERVED_AT_ONCE_MAX };
        let about = format!("{}/{round}", next.artifact_type);
        let input = json!({ "artifact_type": next.artifact_type, "count": count, "project_id": request.project_id });
        let answer: ReservedIdRange = ask(ctx, ids, request, "reserve_id_range", &about, input).await?;
        request.given.reservation_ids.push(answer.reservation_id);
        let mut reader = ctx.read().await?;
        for id in answer.reserved_ids {
            let is_wanted = free.len() < n_wanted;
            if is_wanted && !approval::is_occupied(&mut reader, request.place(), &id).await.map_err(store_error)? {
                free.push(id);
            }
        }
        if free.len() == n_wanted {
            return Ok(free);
        }
    }
    let problem = format!("the id service gives ids of {} that are in use here, {ROUNDS_MAX} times", next.prefix);
    Err(OpError::new(Kind::Upstream, problem))
}

/// A task as the tracker gets it. The caller's word for the work goes beside the question and not into it: the same
/// question has the same words whoever asks it.
fn described(task: &PlannedTask) -> Value {
    json!({ "artifact_id": task.artifact_id, "generator": task.generator, "inputs": task.inputs })
}

/// Keeps the ids for good, and says whether that is done. One that cannot be confirmed is not given out again either: it
/// only leaves no trace there.
pub async fn confirm(ctx: &Context<'_>, request: &Request) -> bool {
    let Some(ids) = &ctx.services().remotes.ids else { return true };
    let mut is_confirmed = true;
    for reservation_id in &request.given.reservation_ids {
        let input = json!({ "reservation_id": reservation_id });
        let answer =
            ask::<ConfirmedReservation>(ctx, &**ids, request, "confirm_reservation", reservation_id, input).await;
        if let Err(error) = answer {
            is_confirmed = false;
            tracing::error!(reservation_id, code = error.code(), "A reservation could not be confirmed");
        }
    }
    is_confirmed
}

/// Takes the tasks of a refused approval out of the queue. Its ids lapse with their reservation.
pub async fn give_back(ctx: &Context<'_>, request: &Request) {
    let Some(tracker) = &ctx.services().remotes.tasks else { return };
    if !is_refused_for_good(ctx, request).await {
        return;
    }
    for task_id in request.given.task_ids.iter().flatten() {
        for status in ["in_progress", "completed"] {
            let input = json!({
                "task_id": task_id, "status": status, "completion_notes": "withdrawn: the approval was refused"
            });
            let about = format!("{task_id}/{status}");
            let answer = ask::<Value>(ctx, &**tracker, request, "update_task_status", &about, input).await;
            if let Err(error) = answer {
                tracing::error!(task_id, code = error.code(), "A task could not be withdrawn");
                break;
            }
        }
    }
}

/// Whether nobody else approved the same text: the tasks would be theirs too. Where that cannot be told they stay, and
/// whoever approves again meets them.
async fn is_refused_for_good(ctx: &Context<'_>, request: &Request) -> bool {
    let Ok(mut reader) = ctx.read().await else { return false };
    let found = artifacts::list_revisions(&mut reader, request.place(), &request.artifact_id).await;
    let Ok(revisions) = found else { return false };
    let is_text = |sha256: &str| request.content_sha256.as_deref() == Some(sha256);
    let version = revisions.iter().find(|revision| is_text(&revision.content_sha256)).map(|it| it.version);
    let approved = |it: &&ArtifactRevision| it.cause == RevisionCause::Approved && Some(it.version) == version;
    !revisions.iter().any(|it| approved(&it))
}

/// Asks a service, under a key of its own for each question about the text.
async fn ask<T: DeserializeOwned>(
    ctx: &Context<'_>,
    remote: &dyn Remote,
    request: &Request,
    operation: &'static str,
    about: &str,
    input: Value,
) -> Result<T, OpError> {
    let mut call = ctx.journey().call(operation, input);
    let key = canonical::hash(&json!([request.given.text_key, operation, about])).map_err(OpError::internal)?;
    call.idempotency_key = key;
    call.via = Via::Approval;
    serde_json::from_value(remote.call(call).await?).map_err(|error| {
        OpError::new(Kind::Upstream, "a service answered something else than it should").with_source(error)
    })
}

pub fn refusal(error: ApprovalError) -> OpError {
    match ApplyError::from(error) {
        ApplyError::Refused(error) => error,
        ApplyError::Store(error) => store_error(error),
    }
}
