//! Approval where services elsewhere give out ids or keep tasks: they are asked first, in the order of the seed, then the
//! document is approved here, then the ids are confirmed there.
//!
//! The tasks that are asked for are noted before, and taken back where the document is not approved (`asked_tasks.rs`).
//!
//! What they are asked goes under keys that are made from the text itself and the name of the house: whoever approves the
//! same text again here, after a crash or at the same time, meets the same ids and the same tasks.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::canonical;
use contract::error::{Kind, OpError};
use contract::workflow::ReservedIdRange;
use contract::workflow::tasks::QueuedTasks;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use store::{Applied, Apply, Keep};
use tokio::time::Instant;
use uuid::Uuid;
use workflow::approval::asked::Asked;
use workflow::approval::{self, ApprovalError, Draft, Next, PlannedTask, Request};
use workflow::catalogue::{Catalogue, Numbering};
use workflow::ids::{format_id, parse_id};

use super::asked_tasks::{self, Asking};
use super::elsewhere::{self, Owner};
use crate::context::Context;
use crate::drive::write_error;
use crate::operation::{refusal, store_error};
use crate::remote::{Remote, Service};

/// Reservations that one type may need where ids of the service are taken here.
const ROUNDS_MAX: u32 = 10;
/// Ids that a service reserves at once.
const RESERVED_AT_ONCE_MAX: usize = 100;

/// Has the services do their part. What they did is in `request.given`.
pub async fn prepare(ctx: &Context<'_>, catalogue: &Arc<Catalogue>, request: &mut Request) -> Result<(), OpError> {
    let (ids, tracker) = (ctx.find_remote(Service::Ids), ctx.find_remote(Service::Tasks));
    if ids.is_none() && tracker.is_none() {
        return Ok(());
    }
    let mut reader = ctx.read().await?;
    // Whoever loses a race is told that the document is approved, not that its ids are taken: both are looked at in one moment.
    reader.hold_snapshot().await.map_err(store_error)?;
    let draft = approval::preview(&mut reader, catalogue, request).await.map_err(refusal)?;
    drop(reader);
    // What is approved is what the services were asked for.
    request.content_sha256.get_or_insert_with(|| draft.content_sha256.clone());
    request.given.text_key = text_key(request, &draft)?;
    let defined: Vec<Next> =
        draft.next.iter().map(|(next, _)| next).filter(|next| !next.defined.is_empty()).cloned().collect();
    let wanted: Vec<(Next, usize)> = draft.next.into_iter().filter(|(_, n_wanted)| *n_wanted > 0).collect();
    if ids.is_none() && !wanted.is_empty() {
        return Err(OpError::conflict("tasks are kept elsewhere and ids are not; set `ids_url` beside `tasks_url`"));
    }
    if let Some(ids) = ids {
        let mut given = BTreeMap::new();
        for next in &defined {
            note_defined(ctx, &**ids, request, next).await?;
        }
        for (next, n_wanted) in wanted {
            let reserved = match own_number(ctx, &**ids, catalogue, request, &next).await? {
                Some(id) => vec![id],
                None => reserve(ctx, &**ids, catalogue, request, &next, n_wanted).await?,
            };
            given.insert(next.artifact_type.clone(), reserved);
        }
        request.given.ids = Some(given);
    }
    if let Some(tracker) = tracker {
        let mut reader = ctx.read().await?;
        reader.hold_snapshot().await.map_err(store_error)?;
        let tasks = approval::plan_tasks(&mut reader, catalogue, request).await.map_err(refusal)?;
        drop(reader);
        request.given.n_inputs = tasks.iter().map(|task| task.inputs.len()).sum();
        request.given.lacking = tasks.iter().flat_map(|task| task.lacking.iter().cloned()).collect();
        let task_ids = queue(ctx, &**tracker, catalogue, request, &tasks).await?;
        request.given.task_ids = Some(task_ids);
    }
    Ok(())
}

/// Has the tasks queued, after it is noted that they are asked for: where no document is approved with them, they are
/// taken back, also after a crash. So are those of an earlier version.
async fn queue(
    ctx: &Context<'_>,
    tracker: &dyn Remote,
    catalogue: &Arc<Catalogue>,
    request: &mut Request,
    tasks: &[PlannedTask],
) -> Result<Vec<String>, OpError> {
    let made_ids: Vec<String> = tasks.iter().map(|task| task.artifact_id.clone()).collect();
    let sha256 = request.content_sha256.clone().unwrap_or_default();
    let before = asked_tasks::find(ctx.store, request).await?;
    let claimed = asked_tasks::take_back_others(ctx.store, tracker, &before, &sha256, &made_ids).await;
    if !claimed.is_empty() {
        // New tasks would be refused: their documents are queued already.
        let (id, tasks) = (request.artifact_id.clone(), claimed.join(", "));
        return Err(refusal(ApprovalError::StillClaimed { id, tasks }));
    }
    if tasks.is_empty() {
        return Ok(Vec::new());
    }
    let asked = Asked {
        organisation_id: request.organisation_id.clone(),
        project_id: request.project_id.clone(),
        artifact_id: request.artifact_id.clone(),
        content_sha256: sha256,
        asking_id: Uuid::new_v4().to_string(),
        acting: ctx.journey().call("queue_tasks", Value::Null).acting.to_string(),
        made_ids,
        is_taken_back: false,
    };
    let asked = note(ctx, catalogue, request, asked).await?;
    request.given.asking_id = Some(asked.asking_id.clone());
    let tasks: Vec<Value> = tasks.iter().map(described).collect();
    let input = json!({ "project_id": request.project_id, "tasks": tasks });
    let answer = ask::<QueuedTasks>(ctx, tracker, request, "queue_tasks", &asked.asking_id, input).await;
    match answer {
        Ok(answer) => Ok(answer.task_ids.iter().map(ToString::to_string).collect()),
        Err(error) => {
            asked_tasks::take_back(ctx.store, tracker, &asked, Asking::after(&error)).await;
            Err(error)
        }
    }
}

/// Notes what is asked for, while the document may still be approved.
async fn note(
    ctx: &Context<'_>,
    catalogue: &Arc<Catalogue>,
    request: &Request,
    asked: Asked,
) -> Result<Asked, OpError> {
    let kept = (Arc::clone(catalogue), request.clone(), asked, ctx.now_us());
    let apply: Apply<Result<Asked, ApprovalError>> = Box::new(move |tx| {
        let (catalogue, request, asked, now_us) = kept.clone();
        Box::pin(async move {
            let value = match approval::preview(tx, &catalogue, &request).await {
                Ok(_) => Ok(approval::asked::note(tx, &asked, now_us).await?),
                Err(ApprovalError::Store(error)) => return Err(error),
                Err(refused) => Err(refused),
            };
            Ok(Applied { value, event: None, keep: Keep::Changes })
        })
    });
    let deadline = Instant::now() + ctx.settings().call_deadline;
    let noted = ctx.store.write(None, deadline, apply).await.map_err(write_error)?.map_err(refusal)?;
    match noted.is_taken_back {
        // Somebody else's approval of the same text failed just now.
        true => Err(refusal(ApprovalError::TakenBack { id: request.artifact_id.clone() })),
        false => Ok(noted),
    }
}

fn owner(request: &Request) -> Owner<'_> {
    let Request { organisation_id, project_id, artifact_id, .. } = request;
    Owner { organisation_id, project_id, artifact_id }
}

/// The same for every approval of the same text.
fn text_key(request: &Request, draft: &Draft) -> Result<String, OpError> {
    let text =
        json!([request.organisation_id, request.project_id, request.artifact_id, draft.version, draft.content_sha256]);
    canonical::hash(&text).map_err(OpError::internal)
}

/// Has the service take note of ids that the text gives by hand, so that nobody is given them. One that it gave before is
/// the author's, or else somebody's here, and then the approval was refused.
async fn note_defined(ctx: &Context<'_>, ids: &dyn Remote, request: &mut Request, next: &Next) -> Result<(), OpError> {
    for defined in &next.defined {
        let Some((_, number)) = parse_id(&defined.id).filter(|(_, number)| *number > 0) else { continue };
        if let Some(answer) = elsewhere::reserve_number(ctx, ids, owner(request), &next.artifact_type, number).await? {
            request.given.reservation_ids.push(answer.reservation_id);
        }
    }
    Ok(())
}

/// The id with the number of the document itself, for the one that it is cut into; none where somebody has it.
async fn own_number(
    ctx: &Context<'_>,
    ids: &dyn Remote,
    catalogue: &Catalogue,
    request: &mut Request,
    next: &Next,
) -> Result<Option<String>, OpError> {
    if next.numbering != Numbering::SameNumber || next.number == 0 {
        return Ok(None);
    }
    let id = format_id(&next.prefix, next.number);
    let mut reader = ctx.read().await?;
    let is_taken = approval::is_taken(&mut reader, catalogue, request, next, &id).await.map_err(store_error)?;
    drop(reader);
    if is_taken {
        return Ok(None);
    }
    let answer = elsewhere::reserve_number(ctx, ids, owner(request), &next.artifact_type, next.number).await?;
    Ok(answer.map(|answer| {
        request.given.reservation_ids.push(answer.reservation_id);
        id
    }))
}

/// Reserves ids that are not taken here, and no more than are needed. The service cannot know which ones are; one that
/// was set back, as from a backup, is asked for the number after ours, and goes on from there.
async fn reserve(
    ctx: &Context<'_>,
    ids: &dyn Remote,
    catalogue: &Catalogue,
    request: &mut Request,
    next: &Next,
    n_wanted: usize,
) -> Result<Vec<String>, OpError> {
    let mut free = Vec::new();
    let mut certain = None;
    for round in 0..ROUNDS_MAX {
        let answer = match certain.take() {
            Some(number) => elsewhere::reserve_number(ctx, ids, owner(request), &next.artifact_type, number).await?,
            None => Some(reserve_next(ctx, ids, request, next, n_wanted - free.len(), round).await?),
        };
        let Some(answer) = answer else { continue };
        let n_before = free.len();
        let mut reader = ctx.read().await?;
        for id in &answer.reserved_ids {
            if !approval::is_taken(&mut reader, catalogue, request, next, id).await.map_err(store_error)? {
                free.push(id.clone());
            }
        }
        if free.len() > n_before {
            request.given.reservation_ids.push(answer.reservation_id);
        }
        if free.len() >= n_wanted {
            return Ok(free);
        }
        let last = approval::last_known(&mut reader, request, next).await.map_err(store_error)?;
        let highest = answer.reserved_ids.iter().filter_map(|id| parse_id(id)).map(|(_, number)| number).max();
        if highest.is_none_or(|highest| highest < last) {
            tracing::warn!(prefix = next.prefix, last, "The id service gives out ids that are taken here");
            certain = Some(last + 1);
        }
    }
    let problem = format!(
        "the id service gives out ids of {} that are taken here, {ROUNDS_MAX} times in a row; \
         if it was restored from a backup, have it go on after the highest id that is known here",
        next.prefix
    );
    Err(OpError::new(Kind::Upstream, problem))
}

async fn reserve_next(
    ctx: &Context<'_>,
    ids: &dyn Remote,
    request: &Request,
    next: &Next,
    n_wanted: usize,
    round: u32,
) -> Result<ReservedIdRange, OpError> {
    let about = format!("{}/{round}", next.artifact_type);
    let count = n_wanted.min(RESERVED_AT_ONCE_MAX);
    let input = json!({ "artifact_type": next.artifact_type, "count": count, "project_id": request.project_id });
    ask(ctx, ids, request, "reserve_id_range", &about, input).await
}

/// A task as the tracker gets it. The caller's word for the work goes beside the question and not into it: the same
/// question has the same words whoever asks it.
fn described(task: &PlannedTask) -> Value {
    json!({ "artifact_id": task.artifact_id, "generator": task.generator, "inputs": task.inputs })
}

/// Takes the tasks of a refused approval out of the queue, unless somebody else approved the same text with them. Its ids
/// lapse with their reservation.
pub async fn give_back(ctx: &Context<'_>, request: &Request) {
    let (Some(tracker), Some(asking_id)) = (ctx.find_remote(Service::Tasks), &request.given.asking_id) else { return };
    let Ok(all) = asked_tasks::find(ctx.store, request).await else { return };
    for asked in all.iter().filter(|asked| asked.asking_id == *asking_id) {
        asked_tasks::take_back(ctx.store, &**tracker, asked, Asking::Ended).await;
    }
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
    elsewhere::ask(ctx, remote, operation, &json!([request.given.text_key, operation, about]), input).await
}
