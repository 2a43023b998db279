//! The head of the queue: to look at it, and to take it.

use contract::workflow::tasks::{Task, TaskStatus};
use store::{Conn, StoreError, Tx};

use super::{NextState, TaskRow, TasksError};
use crate::artifacts::Place;
use crate::audited::{self, AuditedRow};

/// The number of the task that a claim takes: the oldest that is pending, or whose claim ran out before `$3`. Each side
/// has an index of its own.
macro_rules! first_free {
    () => {
        "(SELECT MIN(task_number) FROM (\
         SELECT task_number FROM (SELECT task_number FROM tasks WHERE organisation_id = $1 AND project_id = $2 \
         AND status = 'pending' ORDER BY task_number LIMIT 1) AS waiting UNION ALL \
         SELECT task_number FROM (SELECT task_number FROM tasks WHERE organisation_id = $1 AND project_id = $2 \
         AND lease_expires_at_us <= $3 ORDER BY lease_expires_at_us LIMIT 1) AS lapsed) AS free)"
    };
}

/// Whether a task to make that document is open.
pub async fn is_queued(conn: &mut Conn, place: Place<'_>, artifact_id: &str) -> Result<bool, StoreError> {
    let row = conn
        .fetch_optional(
            "SELECT 1 FROM tasks WHERE organisation_id = $1 AND project_id = $2 AND artifact_id = $3 \
             AND status <> 'completed' LIMIT 1",
            &[place.organisation_id.into(), place.project_id.into(), artifact_id.into()],
        )
        .await?;
    Ok(row.is_some())
}

/// The oldest task of a project with this status; for `pending`, the one that a claim would take.
pub async fn find_next(
    conn: &mut Conn,
    organisation_id: &str,
    project_id: &str,
    status: TaskStatus,
    now_us: i64,
) -> Result<Option<Task>, StoreError> {
    let place = [organisation_id.into(), project_id.into()];
    let row = match status {
        TaskStatus::Pending => {
            let sql = concat!(
                with_columns!("SELECT", "FROM tasks WHERE organisation_id = $1 AND task_number = "),
                first_free!()
            );
            conn.fetch_optional(sql, &[&place[..], &[now_us.into()]].concat()).await?
        }
        TaskStatus::InProgress | TaskStatus::Completed => {
            let sql = with_columns!(
                "SELECT",
                "FROM tasks WHERE organisation_id = $1 AND project_id = $2 AND status = $3 \
                 ORDER BY task_number LIMIT 1"
            );
            conn.fetch_optional(sql, &[&place[..], &[status.name().into()]].concat()).await?
        }
    };
    Ok(row.as_ref().map(TaskRow::read).transpose()?.map(|row| row.task))
}

/// Who claims, and for how long.
#[derive(Debug, Clone)]
pub struct Claimant<'a> {
    pub organisation_id: &'a str,
    pub project_id: &'a str,
    pub actor_id: &'a str,
    /// `None` for a claim that lasts until it is completed or reset.
    pub lease_us: Option<i64>,
    pub now_us: i64,
}

/// Takes the oldest free task, and returns it with its row as it is now.
pub async fn claim_next(tx: &mut Tx<'_>, claimant: &Claimant<'_>) -> Result<Option<(Task, AuditedRow)>, TasksError> {
    let (organisation_id, project_id) = (claimant.organisation_id, claimant.project_id);
    let free = find_next(tx, organisation_id, project_id, TaskStatus::Pending, claimant.now_us).await?;
    let Some(before) = free else { return Ok(None) };
    let next = NextState {
        status: TaskStatus::InProgress,
        updated_at_us: claimant.now_us,
        started_at_us: Some(claimant.now_us),
        completed_at_us: None,
        completion_notes: before.completion_notes.as_deref(),
        claimed_by: Some(claimant.actor_id),
        lease_expires_at_us: claimant.lease_us.map(|lease_us| claimant.now_us.saturating_add(lease_us)),
    };
    let task = next.write(tx, organisation_id, &before).await?;
    let row = audited::task(&task).after(audited::task(&before));
    Ok(Some((task, row)))
}
