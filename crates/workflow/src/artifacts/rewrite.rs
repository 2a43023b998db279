//! The changes of a stored version: its approval, and the statuses that it is moved to afterwards.

use ::store::{Param, Statement, StoreError, Tx};

use super::store::{content_insertion, size};
use super::{Approved, ArtifactRow, outbox, revisions};
use crate::audited::moves::Move;
use crate::audited::{self, AuditedRow};

/// What an approval writes: the new content and status, who approved, when, and with what meaning.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalMark<'a> {
    pub content: &'a str,
    pub content_sha256: &'a str,
    pub status: &'a str,
    pub approved_by: &'a str,
    pub approved_at_us: i64,
    pub meaning: &'a str,
    pub names_reviewed_hash: bool,
}

/// What a move writes: the new content and status, who moved it, and when.
#[derive(Debug, Clone, Copy)]
pub struct MoveMark<'a> {
    pub content: &'a str,
    pub content_sha256: &'a str,
    pub status: &'a str,
    pub moved_by: &'a str,
    pub moved_at_us: i64,
}

/// Rewrites a version as approved and keeps what was reviewed. Refuses if the version is no longer what `row` says.
pub async fn mark_approved(
    tx: &mut Tx<'_>,
    row: &ArtifactRow,
    mark: ApprovalMark<'_>,
) -> Result<(ArtifactRow, AuditedRow), StoreError> {
    let approved = ArtifactRow {
        approved: Some(Approved {
            by: mark.approved_by.to_owned(),
            at_us: mark.approved_at_us,
            meaning: mark.meaning.to_owned(),
            reviewed_sha256: row.content_sha256.clone(),
            names_reviewed_hash: Some(mark.names_reviewed_hash),
        }),
        ..changed(row, mark.status, mark.content, mark.content_sha256, mark.approved_at_us)
    };
    let revision =
        revisions::insertion(&approved, "approved", mark.approved_by, mark.approved_at_us, Some(mark.meaning));
    let audited = rewrite(tx, row, &approved, mark.content, revision).await?;
    Ok((approved, audited))
}

/// Rewrites an approved version with another status and keeps what it was. Refuses if the version is no longer what `row`
/// says. The second row is that of its history.
pub async fn mark_moved(
    tx: &mut Tx<'_>,
    row: &ArtifactRow,
    mark: MoveMark<'_>,
) -> Result<(ArtifactRow, [AuditedRow; 2]), StoreError> {
    let moved = changed(row, mark.status, mark.content, mark.content_sha256, mark.moved_at_us);
    let revision = revisions::insertion(&moved, "moved", mark.moved_by, mark.moved_at_us, None);
    let audited = rewrite(tx, row, &moved, mark.content, revision).await?;
    let history = Move::between(row, &moved).audited();
    Ok((moved, [audited, history]))
}

fn changed(row: &ArtifactRow, status: &str, content: &str, content_sha256: &str, changed_at_us: i64) -> ArtifactRow {
    ArtifactRow {
        status: status.to_owned(),
        content_sha256: content_sha256.to_owned(),
        size_bytes: u64::try_from(content.len()).unwrap_or(u64::MAX),
        n_revisions: row.n_revisions + 1,
        updated_at_us: changed_at_us,
        ..row.clone()
    }
}

async fn rewrite<'a>(
    tx: &mut Tx<'_>,
    row: &'a ArtifactRow,
    changed: &'a ArtifactRow,
    content: &'a str,
    revision: Statement<'a>,
) -> Result<AuditedRow, StoreError> {
    let approved = changed.approved.as_ref();
    let update = Statement {
        sql: "UPDATE artifacts SET status = $1, content_sha256 = $2, size_bytes = $3, n_revisions = $4, \
              updated_at_us = $5, approved_by = $6, approved_at_us = $7, approval_meaning = $8, reviewed_sha256 = $9, \
              names_reviewed_hash = $10 \
              WHERE organisation_id = $11 AND project_id = $12 AND artifact_key = $13 AND version = $14 \
              AND content_sha256 = $15 AND n_revisions = $16",
        params: vec![
            changed.status.as_str().into(),
            changed.content_sha256.as_str().into(),
            size(changed.size_bytes).into(),
            i64::from(changed.n_revisions).into(),
            changed.updated_at_us.into(),
            approved.map(|it| it.by.as_str()).into(),
            approved.map(|it| it.at_us).into(),
            approved.map(|it| it.meaning.as_str()).into(),
            approved.map(|it| it.reviewed_sha256.as_str()).into(),
            approved.and_then(|it| it.names_reviewed_hash).map_or(Param::Null, Param::Bool),
            row.organisation_id.as_str().into(),
            row.project_id.as_str().into(),
            row.key.as_str().into(),
            i64::from(row.version).into(),
            row.content_sha256.as_str().into(),
            i64::from(row.n_revisions).into(),
        ],
    };
    let statements = [
        content_insertion(&row.organisation_id, &changed.content_sha256, content),
        revision,
        outbox::putting(changed),
        // The last, as it says whether the version was still there; the rest is rolled back where it was not.
        update,
    ];
    if tx.execute_together(&statements).await? != 1 {
        return Err(StoreError::other("a document changed within its own transaction"));
    }
    Ok(audited::artifact(changed).after(audited::artifact(row)))
}
