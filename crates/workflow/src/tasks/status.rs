//! Changes of a task's status.

use contract::id::TaskId;
use contract::time::rfc3339_ms;
use contract::workflow::tasks::{Task, TaskStatus};
use store::{Param, Tx};

use super::{NextState, TaskRow, TasksError};
use crate::audited::{self, AuditedRow};

/// What becomes of a task, and who says so.
#[derive(Debug, Clone)]
pub struct Change<'a> {
    pub organisation_id: &'a str,
    pub actor_id: &'a str,
    pub task_id: &'a TaskId,
    pub status: TaskStatus,
    /// Back to pending, whatever the status.
    pub is_reset: bool,
    /// Whether this actor may take a task from somebody else, or back from where it was completed.
    pub may_take_back: bool,
    pub completion_notes: Option<&'a str>,
    /// How long a renewed claim lasts.
    pub lease_us: Option<i64>,
    pub now_us: i64,
}

/// Changes the status if the task may have it next, and returns the task as it is now.
pub async fn change_status(tx: &mut Tx<'_>, change: &Change<'_>) -> Result<(Task, AuditedRow), TasksError> {
    let found = tx
        .fetch_optional(
            with_columns!("SELECT", "FROM tasks WHERE organisation_id = $1 AND task_id = $2"),
            &[change.organisation_id.into(), change.task_id.as_str().into()],
        )
        .await?;
    let Some(found) = found else { return Err(TasksError::Unknown { task_id: change.task_id.to_string() }) };
    let now = TaskRow::read(&found)?;
    let next = next_state(change, &now)?;
    if now.task.status == TaskStatus::Completed {
        check_queue(tx, change, &now).await?;
    }
    let task = next.write(tx, change.organisation_id, &now.task).await?;
    let row = audited::task(&task).after(audited::task(&now.task));
    Ok((task, row))
}

/// pending → in_progress → completed; back to pending only by a reset; in progress again by its claimant renews,
/// and by others takes over what ran out.
fn next_state<'a>(change: &Change<'a>, now: &TaskRow) -> Result<NextState<'a>, TasksError> {
    let (status, updated_at_us) = (change.status, change.now_us);
    let illegal = || TasksError::IllegalTransition {
        task_id: change.task_id.to_string(),
        from: now.task.status,
        to: change.status,
    };
    let lease_expires_at_us = change.lease_us.map(|lease_us| change.now_us.saturating_add(lease_us));
    let is_claimants = now.task.claimed_by.as_deref() == Some(change.actor_id);
    let started = || NextState {
        status,
        updated_at_us,
        started_at_us: Some(change.now_us),
        completed_at_us: None,
        completion_notes: change.completion_notes,
        claimed_by: Some(change.actor_id),
        lease_expires_at_us,
    };
    match (now.task.status, change.status) {
        (from, TaskStatus::Pending) if change.is_reset => {
            if from == TaskStatus::Completed && !change.may_take_back {
                return Err(TasksError::MayNotReopen { task_id: change.task_id.to_string() });
            }
            check_claim(change, now)?;
            Ok(NextState {
                status,
                updated_at_us,
                started_at_us: None,
                completed_at_us: None,
                completion_notes: None,
                claimed_by: None,
                lease_expires_at_us: None,
            })
        }
        // Who starts a task holds it, as if they had claimed it: else nobody could tell that its worker is gone. One whose
        // claim ran out is free, as it is for whoever asks for the next.
        (TaskStatus::Pending, TaskStatus::InProgress) => Ok(started()),
        (TaskStatus::InProgress, TaskStatus::InProgress) if !is_claimants && has_lapsed(change, now) => Ok(started()),
        (TaskStatus::InProgress, TaskStatus::InProgress) if is_claimants => Ok(NextState {
            status,
            updated_at_us,
            started_at_us: now.started_at_us,
            completed_at_us: None,
            completion_notes: change.completion_notes,
            claimed_by: Some(change.actor_id),
            lease_expires_at_us,
        }),
        (TaskStatus::InProgress, TaskStatus::InProgress) => {
            // Who comes second is told whose it is: their request is right, and too late.
            check_claim(change, now)?;
            Err(illegal())
        }
        (TaskStatus::InProgress, TaskStatus::Completed) => {
            check_claim(change, now)?;
            Ok(NextState {
                status,
                updated_at_us,
                started_at_us: now.started_at_us,
                completed_at_us: Some(change.now_us),
                completion_notes: change.completion_notes,
                claimed_by: None,
                lease_expires_at_us: None,
            })
        }
        (TaskStatus::Pending | TaskStatus::InProgress | TaskStatus::Completed, _) => Err(illegal()),
    }
}

/// A claim that has not run out is its claimant's to complete and to give back; others need the right to take back.
fn check_claim(change: &Change<'_>, now: &TaskRow) -> Result<(), TasksError> {
    let Some(claimed_by) = &now.task.claimed_by else { return Ok(()) };
    let is_taken_back = change.is_reset && change.may_take_back;
    if claimed_by == change.actor_id || is_taken_back || has_lapsed(change, now) {
        return Ok(());
    }
    Err(TasksError::ClaimedByAnother {
        task_id: change.task_id.to_string(),
        claimed_by: claimed_by.clone(),
        until: now.lease_expires_at_us.map_or_else(|| "they give it back".to_owned(), rfc3339_ms),
    })
}

fn has_lapsed(change: &Change<'_>, now: &TaskRow) -> bool {
    now.lease_expires_at_us.is_some_and(|until_us| until_us <= change.now_us)
}

/// A completed task may come back only if its document is not in the queue again meanwhile.
async fn check_queue(tx: &mut Tx<'_>, change: &Change<'_>, now: &TaskRow) -> Result<(), TasksError> {
    let other = tx
        .fetch_optional(
            "SELECT task_id FROM tasks WHERE organisation_id = $1 AND project_id = $2 AND artifact_id = $3 \
             AND status <> 'completed' AND task_number <> $4",
            &[
                change.organisation_id.into(),
                (&now.task.project_id).into(),
                (&now.task.artifact_id).into(),
                Param::Int(now.number),
            ],
        )
        .await?;
    match other {
        Some(_) => Err(TasksError::AlreadyQueued { artifact_id: now.task.artifact_id.clone() }),
        None => Ok(()),
    }
}
