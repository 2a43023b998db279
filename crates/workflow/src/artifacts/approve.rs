//! The one change of a stored version: its approval.

use ::store::{Statement, StoreError, Tx};

use super::store::{content_insertion, size};
use super::{Approved, ArtifactRow, outbox, revisions};
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

/// Rewrites a version as approved and keeps what was reviewed. Refuses if the version is no longer what `row` says.
pub async fn mark_approved(
    tx: &mut Tx<'_>,
    row: &ArtifactRow,
    mark: ApprovalMark<'_>,
) -> Result<(ArtifactRow, AuditedRow), StoreError> {
    let approved = ArtifactRow {
        status: mark.status.to_owned(),
        content_sha256: mark.content_sha256.to_owned(),
        size_bytes: u64::try_from(mark.content.len()).unwrap_or(u64::MAX),
        n_revisions: row.n_revisions + 1,
        updated_at_us: mark.approved_at_us,
        approved: Some(Approved {
            by: mark.approved_by.to_owned(),
            at_us: mark.approved_at_us,
            meaning: mark.meaning.to_owned(),
            reviewed_sha256: row.content_sha256.clone(),
            names_reviewed_hash: Some(mark.names_reviewed_hash),
        }),
        ..row.clone()
    };
    let update = Statement {
        sql: "UPDATE artifacts SET status = $1, content_sha256 = $2, size_bytes = $3, n_revisions = $4, \
              updated_at_us = $5, approved_by = $6, approved_at_us = $5, approval_meaning = $7, reviewed_sha256 = $8, \
              names_reviewed_hash = $14 \
              WHERE organisation_id = $9 AND project_id = $10 AND artifact_key = $11 AND version = $12 \
              AND content_sha256 = $8 AND n_revisions = $13",
        params: vec![
            mark.status.into(),
            mark.content_sha256.into(),
            size(approved.size_bytes).into(),
            i64::from(approved.n_revisions).into(),
            mark.approved_at_us.into(),
            mark.approved_by.into(),
            mark.meaning.into(),
            row.content_sha256.as_str().into(),
            row.organisation_id.as_str().into(),
            row.project_id.as_str().into(),
            row.key.as_str().into(),
            i64::from(row.version).into(),
            i64::from(row.n_revisions).into(),
            mark.names_reviewed_hash.into(),
        ],
    };
    let statements = [
        content_insertion(&row.organisation_id, mark.content_sha256, mark.content),
        revisions::insertion(&approved, "approved", mark.approved_by, mark.approved_at_us, Some(mark.meaning)),
        outbox::putting(&approved),
        // The last, as it says whether the version was still there; the rest is rolled back where it was not.
        update,
    ];
    if tx.execute_together(&statements).await? != 1 {
        return Err(StoreError::other("a document changed within its own transaction"));
    }
    let audited = audited::artifact(&approved).after(audited::artifact(row));
    Ok((approved, audited))
}
