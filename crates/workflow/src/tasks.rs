//! Tasks: the queue of documents to generate, each with its resolved inputs.
//!
//! A task goes from pending over in progress to completed. A claim takes the oldest free one for its caller alone; a
//! task whose claim ran out is free again, so that nothing is lost with a worker that died.

/// The columns that [`TaskRow::read`] expects, between what goes before and after them.
macro_rules! with_columns {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            " task_number, task_id, project_id, artifact_id, generator, status, description, \
             CAST(inputs_json AS TEXT), correlation_id, created_at_us, updated_at_us, started_at_us, completed_at_us, \
             completion_notes, claimed_by, lease_expires_at_us, unseen_inputs ",
            $after
        )
    };
}

pub mod check;
mod inputs;
mod insert;
mod list;
mod queue;
mod status;

pub use inputs::{Absent, InputsError, Library, find_inputs, is_here};
pub use insert::{Inserted, NewTask, describe, insert};
pub use list::{Filter, count, list};
pub(crate) use list::{KeptTask, read_all};
pub use queue::{Claimant, claim_next, find_next, is_queued};
pub use status::{Change, change_status};

use contract::id::TaskId;
use contract::time::rfc3339_ms;
use contract::workflow::tasks::{Task, TaskStatus};
use store::{Row, StoreError, Tx};

#[derive(Debug, thiserror::Error)]
pub enum TasksError {
    #[error("Task validation failed: artifact_id {artifact_id} already exists in queue")]
    AlreadyQueued { artifact_id: String },
    #[error("task {task_id} does not exist")]
    Unknown { task_id: String },
    #[error("task {task_id} is {from} and cannot become {to}")]
    IllegalTransition { task_id: String, from: TaskStatus, to: TaskStatus },
    #[error("task {task_id} is claimed by `{claimed_by}` until {until}")]
    ClaimedByAnother { task_id: String, claimed_by: String, until: String },
    #[error("task {task_id} is completed, and only an approver may reopen it")]
    MayNotReopen { task_id: String },
    #[error("no number is left for TASK")]
    NoNumberLeft,
    #[error("could not reach the task table")]
    Store(#[from] StoreError),
}

/// Calls that change tasks of one organisation may share a transaction.
pub fn lane(organisation_id: &str) -> String {
    format!("tasks/{organisation_id}")
}

/// `TASK-012`, from the sequence of the tracker, which is not that of TASK documents.
fn format_task_id(number: i64) -> Result<TaskId, StoreError> {
    TaskId::parse(&crate::ids::format_id("TASK", number))
        .map_err(|_| StoreError::other("a task number is out of range"))
}

/// A row as the table has it.
#[derive(Debug, Clone)]
struct TaskRow {
    number: i64,
    task: Task,
    started_at_us: Option<i64>,
    lease_expires_at_us: Option<i64>,
}

/// What a change of its status makes of a task.
struct NextState<'a> {
    status: TaskStatus,
    updated_at_us: i64,
    started_at_us: Option<i64>,
    completed_at_us: Option<i64>,
    completion_notes: Option<&'a str>,
    claimed_by: Option<&'a str>,
    lease_expires_at_us: Option<i64>,
}

impl NextState<'_> {
    /// Writes it over the row of that task, and returns the task as it is now.
    async fn write(self, tx: &mut Tx<'_>, organisation_id: &str, before: &Task) -> Result<Task, StoreError> {
        let n_changed = tx
            .execute(
                "UPDATE tasks SET status = $3, updated_at_us = $4, started_at_us = $5, completed_at_us = $6, \
                 completion_notes = $7, claimed_by = $8, lease_expires_at_us = $9 \
                 WHERE organisation_id = $1 AND task_id = $2",
                &[
                    organisation_id.into(),
                    before.task_id.as_str().into(),
                    self.status.name().into(),
                    self.updated_at_us.into(),
                    self.started_at_us.into(),
                    self.completed_at_us.into(),
                    self.completion_notes.into(),
                    self.claimed_by.into(),
                    self.lease_expires_at_us.into(),
                ],
            )
            .await?;
        if n_changed != 1 {
            return Err(StoreError::other("a task was gone before it could be changed"));
        }
        Ok(Task {
            status: self.status,
            updated_at: rfc3339_ms(self.updated_at_us),
            started_at: self.started_at_us.map(rfc3339_ms),
            completed_at: self.completed_at_us.map(rfc3339_ms),
            completion_notes: self.completion_notes.map(str::to_owned),
            claimed_by: self.claimed_by.map(str::to_owned),
            lease_expires_at: self.lease_expires_at_us.map(rfc3339_ms),
            ..before.clone()
        })
    }
}

impl TaskRow {
    /// Reads the columns of `with_columns!`, which come first.
    fn read(row: &Row) -> Result<TaskRow, StoreError> {
        let (started_at_us, lease_expires_at_us) = (row.opt_int(11)?, row.opt_int(15)?);
        let damaged = |_| StoreError::other("a kept task is damaged");
        let task = Task {
            task_id: TaskId::parse(&row.text(1)?).map_err(|_| StoreError::other("a kept task has no id"))?,
            project_id: row.text(2)?,
            artifact_id: row.text(3)?,
            generator: row.text(4)?,
            status: TaskStatus::parse(&row.text(5)?).ok_or(StoreError::other("a kept task has no status"))?,
            description: row.text(6)?,
            inputs: serde_json::from_str(&row.text(7)?).map_err(damaged)?,
            unseen_inputs: serde_json::from_str(row.opt_text(16)?.as_deref().unwrap_or("[]")).map_err(damaged)?,
            correlation_id: row.opt_text(8)?,
            created_at: rfc3339_ms(row.int(9)?),
            updated_at: rfc3339_ms(row.int(10)?),
            started_at: started_at_us.map(rfc3339_ms),
            completed_at: row.opt_int(12)?.map(rfc3339_ms),
            completion_notes: row.opt_text(13)?,
            claimed_by: row.opt_text(14)?,
            lease_expires_at: lease_expires_at_us.map(rfc3339_ms),
        };
        Ok(TaskRow { number: row.int(0)?, task, started_at_us, lease_expires_at_us })
    }
}
