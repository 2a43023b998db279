//! `set_artifact_status`: moves an approved document to another status of approved ones, or withdraws it. As an approval
//! does, it rewrites the same version and keeps the bytes that were there. What follows from a withdrawal (nothing is
//! approved below the document, and no task is given it) is asked of the status whenever it matters.

use ::store::{Conn, StoreError, Tx};

use crate::approval::content_hash;
use crate::artifacts::{self, ArtifactRow, MoveMark, Place, REVISIONS_MAX};
use crate::audited::AuditedRow;
use crate::catalogue::{Catalogue, DocumentType};
use crate::metadata;

/// What is to be moved where, by whom.
#[derive(Debug, Clone)]
pub struct Request {
    pub organisation_id: String,
    pub project_id: String,
    pub artifact_id: String,
    /// The latest where none is named.
    pub version: Option<u32>,
    pub status: String,
    /// Hash of the content that was read.
    pub content_sha256: Option<String>,
    pub moved_by: String,
    pub moved_at_us: i64,
    pub may_withdraw: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum StatusError {
    #[error("Artifact {id} not found")]
    NotFound { id: String },
    #[error("{key} has no id: its status is the one that it was stored or approved with")]
    WithoutId { key: String },
    #[error("Artifact {id} v{version} has status {status}, expected one of {expected}")]
    NotApproved { id: String, version: u32, status: String, expected: String },
    #[error("`status`: expected one of {expected}")]
    WrongStatus { received: String, expected: String },
    #[error("Artifact {id} v{version} is not what was read: its content has SHA-256 {found}")]
    OtherContent { id: String, version: u32, received: String, found: String },
    #[error("this caller may not withdraw an approved document")]
    MayNotWithdraw,
    #[error("{id} v{version} has had its last state, {REVISIONS_MAX}; what follows needs a new version")]
    NoStateLeft { id: String, version: u32 },
    #[error("could not reach the documents")]
    Store(#[from] StoreError),
}

/// What a move did.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub row: ArtifactRow,
    pub old_status: String,
    /// Every row of an audited table that changed; none where the document had the status already.
    pub rows: Vec<AuditedRow>,
}

pub async fn set(tx: &mut Tx<'_>, catalogue: &Catalogue, request: &Request) -> Result<Outcome, StatusError> {
    let (row, kind) = check(tx, catalogue, request).await?;
    let old_status = row.status.clone();
    if old_status == request.status {
        return Ok(Outcome { row, old_status, rows: Vec::new() });
    }
    if row.n_revisions >= REVISIONS_MAX {
        return Err(StatusError::NoStateLeft { id: row.key, version: row.version });
    }
    let content = artifacts::read_content(tx, &row.organisation_id, &row.content_sha256).await?;
    let text = metadata::with_status(kind, &content, &request.status);
    let mark = MoveMark {
        content: &text,
        content_sha256: &content_hash(&text),
        status: &request.status,
        moved_by: &request.moved_by,
        moved_at_us: request.moved_at_us,
    };
    let (row, rows) = artifacts::mark_moved(tx, &row, mark).await?;
    Ok(Outcome { row, old_status, rows: rows.into() })
}

/// The version, if it may be given the status.
async fn check<'c>(
    conn: &mut Conn,
    catalogue: &'c Catalogue,
    request: &Request,
) -> Result<(ArtifactRow, &'c DocumentType), StatusError> {
    let place = Place { organisation_id: &request.organisation_id, project_id: &request.project_id };
    let row = artifacts::find(conn, place, &request.artifact_id, request.version).await?;
    let row = row.ok_or_else(|| StatusError::NotFound { id: request.artifact_id.clone() })?;
    let kind = catalogue
        .find_type(&row.artifact_type)
        .ok_or(StoreError::other("a kept document is of a type that is no longer there"))?;
    let (id, version) = (row.key.clone(), row.version);
    if !row.has_id {
        return Err(StatusError::WithoutId { key: id });
    }
    if !kind.is_approved(&row.status) {
        let (status, expected) = (row.status, kind.approved_statuses.join(", "));
        return Err(StatusError::NotApproved { id, version, status, expected });
    }
    if row.status != request.status && !kind.next_statuses(&row.status).contains(&request.status.as_str()) {
        let may_have = kind.statuses.iter().filter(|it| kind.is_decided(it));
        let expected = may_have.cloned().collect::<Vec<_>>().join(", ");
        return Err(StatusError::WrongStatus { received: request.status.clone(), expected });
    }
    if let Some(received) = request.content_sha256.clone().filter(|read| *read != row.content_sha256) {
        return Err(StatusError::OtherContent { id, version, received, found: row.content_sha256 });
    }
    if kind.is_withdrawn(&request.status) && !request.may_withdraw {
        return Err(StatusError::MayNotWithdraw);
    }
    Ok((row, kind))
}
