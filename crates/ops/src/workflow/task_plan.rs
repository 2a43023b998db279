//! What the task operations plan with, and their errors as the caller sees them.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::error::{Kind, OpError};
use contract::id::{ProjectId, TaskId};
use contract::workflow::tasks::TaskMetadata;
use store::{Conn, StoreError, Tx};
use workflow::approval::{self, ApprovalError, Taker};
use workflow::artifacts::{self, Place};
use workflow::audited::AuditedRow;
use workflow::catalogue::Catalogue;
use workflow::ids::{self, Counter, IdsElsewhere, Leap};
use workflow::tasks::check::{CheckedTask, Wrong, check_batch};
use workflow::tasks::{self, Absent, InputsError, Library, NewTask, TasksError};

use crate::context::Context;
use crate::operation::{ApplyError, store_error};
use crate::remote::Service;

pub struct TaskPlan {
    pub organisation_id: String,
    pub project_id: String,
    actor_id: String,
    /// Whose a claim becomes: see [`crate::acting`].
    pub claimant: String,
    pub may_take_back: bool,
    catalogue: Arc<Catalogue>,
    leap: Leap,
    /// The caller's word for the work, for tasks that bring none of their own.
    correlation_id: Option<String>,
    pub lease_us: Option<i64>,
    pub now_us: i64,
}

impl TaskPlan {
    pub fn new(ctx: &Context<'_>, project_id: Option<&ProjectId>) -> TaskPlan {
        let lease = ctx.settings().task_lease;
        TaskPlan {
            organisation_id: ctx.actor().organisation_id.to_string(),
            project_id: project_id.unwrap_or(&ctx.settings().default_project_id).to_string(),
            actor_id: ctx.actor().id.to_string(),
            claimant: ctx.claimant(),
            may_take_back: ctx.may_take_back(),
            catalogue: ctx.services().catalogue.current(),
            leap: if ctx.find_remote(Service::Ids).is_some() { Leap::Free } else { Leap::Bounded },
            correlation_id: ctx.task_id().map(str::to_owned),
            lease_us: lease.map(|lease| i64::try_from(lease.as_micros()).unwrap_or(i64::MAX)),
            now_us: ctx.now_us(),
        }
    }
}

impl TaskPlan {
    pub async fn note_elsewhere(&self, tx: &mut Tx<'_>, done: &IdsElsewhere) -> Result<(), StoreError> {
        ids::note_elsewhere(tx, &self.organisation_id, &self.actor_id, done, self.now_us).await
    }
}

impl From<TasksError> for ApplyError {
    fn from(error: TasksError) -> ApplyError {
        let message = error.to_string();
        let invalid = |field: &str, expected: String| {
            let mut refusal = OpError::new(Kind::Invalid, message.clone());
            refusal.details.field = Some(field.to_owned());
            refusal.details.expected = Some(expected);
            refusal
        };
        let refusal = match error {
            TasksError::Store(error) => return ApplyError::Store(error),
            TasksError::Unknown { .. } => OpError::not_found(message),
            TasksError::ClaimedByAnother { .. } | TasksError::NoNumberLeft => OpError::conflict(message),
            TasksError::MayNotReopen { .. } => OpError::refused(message),
            TasksError::AlreadyQueued { artifact_id } => {
                invalid("artifact_id", "a document that is not in the queue".to_owned()).received(artifact_id)
            }
            TasksError::IllegalTransition { to, .. } => {
                let expected = "the status after this one: pending, in_progress, completed; or pending with reset";
                invalid("status", expected.to_owned()).received(to.name())
            }
        };
        refusal.into()
    }
}

/// Checks everything about new tasks that their own text shows.
pub fn check_form(ctx: &Context<'_>, tasks: &[TaskMetadata], prefix: &str) -> Result<Vec<CheckedTask>, OpError> {
    let catalogue = ctx.services().catalogue.current();
    check_batch(tasks, &catalogue).map_err(|found| wrong(found, prefix))
}

/// Checks what the documents themselves say of the inputs.
pub async fn check_inputs(
    ctx: &Context<'_>,
    place: &TaskPlan,
    tasks: Vec<CheckedTask>,
    absent: Absent,
    prefix: &str,
) -> Result<Vec<CheckedTask>, OpError> {
    let library = Library {
        organisation_id: &place.organisation_id,
        project_id: &place.project_id,
        default_project_id: ctx.settings().default_project_id.as_str(),
        catalogue: &ctx.services().catalogue.current(),
    };
    let mut conn = ctx.read().await?;
    tasks::find_inputs(&mut conn, library, tasks, absent).await.map_err(|error| match error {
        InputsError::Wrong(found) => wrong(found, prefix),
        InputsError::Store(error) => store_error(error),
    })
}

/// Checks that no document is to be made that is approved already. Its next version is stored without a task.
pub async fn check_unfinished(ctx: &Context<'_>, place: &TaskPlan, tasks: &[CheckedTask]) -> Result<(), OpError> {
    let catalogue = ctx.services().catalogue.current();
    let mut conn = ctx.read().await?;
    let home = Place { organisation_id: &place.organisation_id, project_id: &place.project_id };
    for (index, task) in tasks.iter().enumerate() {
        let Some(kind) = catalogue.type_of_id(&task.artifact_id) else { continue };
        let approved = artifacts::find_approved(&mut conn, home, kind, &task.artifact_id).await;
        if approved.map_err(store_error)?.is_some() {
            let found = Wrong {
                message: format!("Artifact {} already approved", task.artifact_id),
                field: format!("tasks/{index}/artifact_id"),
                expected: "the id of a document that is still to be made".to_owned(),
                received: Some(task.artifact_id.clone()),
            };
            return Err(wrong(found, ""));
        }
    }
    Ok(())
}

/// Refuses tasks for documents whose ids are kept for others.
pub async fn check_holders(conn: &mut Conn, place: &TaskPlan, tasks: &[CheckedTask]) -> Result<(), ApprovalError> {
    // A house that acts for its callers has looked itself, and may have another key for ids than for tasks.
    if place.claimant != place.actor_id {
        return Ok(());
    }
    let home = Place { organisation_id: &place.organisation_id, project_id: &place.project_id };
    let mut last_of: BTreeMap<&str, i64> = BTreeMap::new();
    for task in tasks {
        let Some((prefix, number)) = ids::parse_id(&task.artifact_id) else { continue };
        if !last_of.contains_key(prefix) {
            let counter = Counter { organisation_id: home.organisation_id, prefix, project_id: home.project_id };
            last_of.insert(prefix, ids::last_assigned(conn, &counter).await?);
        }
        // A number that nobody was given yet was not reserved either, unless it is another service that gives them.
        if place.leap == Leap::Bounded && last_of.get(prefix).is_some_and(|last| number > *last) {
            continue;
        }
        let parents: Vec<&str> = task.inputs.iter().map(|input| input.artifact_id.as_str()).collect();
        let taker = Taker {
            place: home,
            key: &task.artifact_id,
            actor_id: &place.actor_id,
            parents: &parents,
            now_us: place.now_us,
        };
        if approval::is_kept_for_other(conn, &place.catalogue, taker).await? {
            return Err(ApprovalError::KeptForOther { id: task.artifact_id.clone() });
        }
    }
    Ok(())
}

/// Puts checked tasks into the queue, in their order. Nobody is given an id that is queued.
pub async fn insert_all(
    tx: &mut Tx<'_>,
    place: &TaskPlan,
    tasks: &[CheckedTask],
) -> Result<(Vec<TaskId>, Vec<AuditedRow>), ApplyError> {
    check_holders(tx, place, tasks).await?;
    let (mut task_ids, mut rows) = (Vec::with_capacity(tasks.len()), Vec::with_capacity(tasks.len()));
    let mut numbers: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for (prefix, number) in tasks.iter().filter_map(|task| ids::parse_id(&task.artifact_id)) {
        numbers.entry(prefix).or_default().push(number);
    }
    for (prefix, numbers) in numbers {
        let (organisation_id, project_id) = (&place.organisation_id, &place.project_id);
        let counter = Counter { organisation_id, prefix, project_id };
        rows.extend(ids::note_used(tx, &counter, &numbers, place.leap, place.now_us).await?);
    }
    for task in tasks {
        let new = NewTask {
            organisation_id: &place.organisation_id,
            project_id: &place.project_id,
            artifact_id: &task.artifact_id,
            generator: &task.generator,
            description: task.description.as_deref(),
            inputs: &task.inputs,
            unseen_inputs: &task.unseen_inputs,
            correlation_id: task.correlation_id.as_deref().or(place.correlation_id.as_deref()),
            created_by: &place.actor_id,
            created_at_us: place.now_us,
        };
        let inserted = tasks::insert(tx, &new).await?;
        task_ids.push(inserted.task_id);
        rows.push(inserted.row);
    }
    Ok((task_ids, rows))
}

/// A task that is wrong, in the words of the seed.
fn wrong(wrong: Wrong, prefix: &str) -> OpError {
    let mut error = OpError::new(Kind::Invalid, format!("{prefix}{}", wrong.message));
    error.details.field = Some(wrong.field);
    error.details.expected = Some(wrong.expected);
    error.details.received = wrong.received.map(Into::into);
    error
}
