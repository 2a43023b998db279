//! The head of the queue: to look at it, and to take it.

use contract::workflow::tasks::{Task, TaskStatus};
use store::{Conn, StoreError, Tx};

use super::{TaskRow, TasksError};
use crate::audited::{self, AuditedRow};

/// The oldest task of a project with this status.
pub async fn find_next(
    conn: &mut Conn,
    organisation_id: &str,
    project_id: &str,
    status: TaskStatus,
) -> Result<Option<Task>, StoreError> {
    let row = conn
        .fetch_optional(
            with_columns!(
                "SELECT",
                "FROM tasks WHERE organisation_id = $1 AND project_id = $2 AND status = $3 \
                 ORDER BY task_number LIMIT 1"
            ),
            &[organisation_id.into(), project_id.into(), status.name().into()],
        )
        .await?;
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

#[derive(Debug, Default)]
pub struct Claimed {
    pub task: Option<Task>,
    /// Every task that changed, as it is now: the claimed one, and those that went back because their lease ran out.
    pub rows: Vec<AuditedRow>,
}

/// Leases that one claim ends at most; each is named in its event.
const LAPSED_MAX: i64 = 100;

/// Takes the oldest pending task. Tasks of claims that ran out are pending again first, so they keep their place.
pub async fn claim_next(tx: &mut Tx<'_>, claimant: &Claimant<'_>) -> Result<Claimed, TasksError> {
    let mut rows = end_leases(tx, claimant).await?;
    let row = tx
        .fetch_optional(
            with_columns!(
                "UPDATE tasks SET status = 'in_progress', claimed_by = $3, lease_expires_at_us = $4, \
                 started_at_us = $5, updated_at_us = $5 WHERE organisation_id = $1 AND task_number = \
                 (SELECT task_number FROM tasks WHERE organisation_id = $1 AND project_id = $2 \
                 AND status = 'pending' ORDER BY task_number LIMIT 1) RETURNING",
                ""
            ),
            &[
                claimant.organisation_id.into(),
                claimant.project_id.into(),
                claimant.actor_id.into(),
                claimant.lease_us.map(|lease_us| claimant.now_us.saturating_add(lease_us)).into(),
                claimant.now_us.into(),
            ],
        )
        .await?;
    let Some(row) = row else { return Ok(Claimed { task: None, rows }) };
    let task = TaskRow::read(&row)?.task;
    // The last word of an event about a row is the one that counts.
    rows.retain(|row| row.id != task.task_id.as_str());
    rows.push(audited::task(&task));
    Ok(Claimed { task: Some(task), rows })
}

async fn end_leases(tx: &mut Tx<'_>, claimant: &Claimant<'_>) -> Result<Vec<AuditedRow>, StoreError> {
    let rows = tx
        .fetch_all(
            with_columns!(
                "UPDATE tasks SET status = 'pending', claimed_by = NULL, lease_expires_at_us = NULL, \
                 started_at_us = NULL, updated_at_us = $3 WHERE organisation_id = $1 AND task_number IN \
                 (SELECT task_number FROM tasks WHERE organisation_id = $1 AND project_id = $2 \
                 AND lease_expires_at_us <= $3 ORDER BY lease_expires_at_us LIMIT $4) RETURNING",
                ""
            ),
            &[claimant.organisation_id.into(), claimant.project_id.into(), claimant.now_us.into(), LAPSED_MAX.into()],
        )
        .await?;
    rows.iter().map(|row| Ok(audited::task(&TaskRow::read(row)?.task))).collect()
}
