//! Tasks that an approval asks of a service elsewhere. They are noted before the service is asked, and forgotten in the
//! transaction that approves the document: whatever is left was made for nobody and is taken back.
//!
//! No part of the record and without events, as the list of files to be written: it only says what may have to be undone.

use ::store::{Conn, Row, StoreError, Tx};

use super::{ApprovalError, Request};

/// One asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub organisation_id: String,
    pub project_id: String,
    pub artifact_id: String,
    pub content_sha256: String,
    pub asking_id: String,
    /// Who asked, as the service was told.
    pub acting: String,
    pub made_ids: Vec<String>,
    /// Whether somebody has begun to take the tasks back: nobody approves with them any more.
    pub is_taken_back: bool,
}

impl Asked {
    fn read(row: &Row) -> Result<Asked, StoreError> {
        let made_ids = serde_json::from_str(&row.text(6)?).map_err(|_| StoreError::other("asked tasks are no JSON"))?;
        Ok(Asked {
            organisation_id: row.text(0)?,
            project_id: row.text(1)?,
            artifact_id: row.text(2)?,
            content_sha256: row.text(3)?,
            asking_id: row.text(4)?,
            acting: row.text(5)?,
            made_ids,
            is_taken_back: row.bool(7)?,
        })
    }
}

/// All that was asked for a document.
pub async fn find(conn: &mut Conn, request: &Request) -> Result<Vec<Asked>, StoreError> {
    let rows = conn
        .fetch_all(
            "SELECT organisation_id, project_id, artifact_id, content_sha256, asking_id, acting, made_ids, is_taken_back \
             FROM asked_tasks WHERE organisation_id = $1 AND project_id = $2 AND artifact_id = $3",
            &[
                request.organisation_id.as_str().into(),
                request.project_id.as_str().into(),
                request.artifact_id.as_str().into(),
            ],
        )
        .await?;
    rows.iter().map(Asked::read).collect()
}

/// What an organisation asked for until a time, the oldest first.
pub async fn find_left(
    conn: &mut Conn,
    organisation_id: &str,
    until_us: i64,
    limit: u32,
) -> Result<Vec<Asked>, StoreError> {
    let rows = conn
        .fetch_all(
            "SELECT organisation_id, project_id, artifact_id, content_sha256, asking_id, acting, made_ids, is_taken_back \
             FROM asked_tasks WHERE organisation_id = $1 AND asked_at_us <= $2 ORDER BY asked_at_us LIMIT $3",
            &[organisation_id.into(), until_us.into(), i64::from(limit).into()],
        )
        .await?;
    rows.iter().map(Asked::read).collect()
}

/// Notes what is about to be asked, and returns the name to ask under: who approves the same text at the same time asks
/// for the same tasks.
pub async fn note(tx: &mut Tx<'_>, asked: &Asked, now_us: i64) -> Result<Asked, StoreError> {
    let made_ids = serde_json::Value::from(asked.made_ids.clone()).to_string();
    let row = tx
        .fetch_optional(
            "INSERT INTO asked_tasks (organisation_id, project_id, artifact_id, content_sha256, asking_id, acting, \
             made_ids, is_taken_back, asked_at_us) VALUES ($1, $2, $3, $4, $5, $6, $7, FALSE, $8) \
             ON CONFLICT (organisation_id, project_id, artifact_id, content_sha256) \
             DO UPDATE SET asked_at_us = excluded.asked_at_us \
             RETURNING organisation_id, project_id, artifact_id, content_sha256, asking_id, acting, made_ids, \
             is_taken_back",
            &[
                asked.organisation_id.as_str().into(),
                asked.project_id.as_str().into(),
                asked.artifact_id.as_str().into(),
                asked.content_sha256.as_str().into(),
                asked.asking_id.as_str().into(),
                asked.acting.as_str().into(),
                made_ids.as_str().into(),
                now_us.into(),
            ],
        )
        .await?;
    Asked::read(&row.ok_or(StoreError::other("asked tasks did not come back"))?)
}

/// From here on nobody approves with these tasks. `false` where they are gone: approved, or taken back by somebody else.
pub async fn begin_taking_back(tx: &mut Tx<'_>, asked: &Asked) -> Result<bool, StoreError> {
    let row = tx
        .fetch_optional(
            "UPDATE asked_tasks SET is_taken_back = TRUE WHERE organisation_id = $1 AND project_id = $2 \
             AND artifact_id = $3 AND content_sha256 = $4 AND asking_id = $5 RETURNING asking_id",
            &key(asked),
        )
        .await?;
    Ok(row.is_some())
}

/// Forgets tasks that are taken back.
pub async fn forget(tx: &mut Tx<'_>, asked: &Asked) -> Result<(), StoreError> {
    tx.execute(
        "DELETE FROM asked_tasks WHERE organisation_id = $1 AND project_id = $2 AND artifact_id = $3 \
         AND content_sha256 = $4 AND asking_id = $5",
        &key(asked),
    )
    .await?;
    Ok(())
}

fn key(asked: &Asked) -> [::store::Param<'_>; 5] {
    [
        asked.organisation_id.as_str().into(),
        asked.project_id.as_str().into(),
        asked.artifact_id.as_str().into(),
        asked.content_sha256.as_str().into(),
        asked.asking_id.as_str().into(),
    ]
}

/// The tasks are those of an approved document now. Refused where somebody has begun to take them back.
pub(super) async fn keep(tx: &mut Tx<'_>, request: &Request) -> Result<(), ApprovalError> {
    let Some(asking_id) = &request.given.asking_id else { return Ok(()) };
    let row = tx
        .fetch_optional(
            "DELETE FROM asked_tasks WHERE organisation_id = $1 AND project_id = $2 AND artifact_id = $3 \
             AND asking_id = $4 AND NOT is_taken_back RETURNING asking_id",
            &[
                request.organisation_id.as_str().into(),
                request.project_id.as_str().into(),
                request.artifact_id.as_str().into(),
                asking_id.as_str().into(),
            ],
        )
        .await?;
    match row {
        Some(_) => Ok(()),
        None => Err(ApprovalError::TakenBack { id: request.artifact_id.clone() }),
    }
}
