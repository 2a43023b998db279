//! The four prerequisites of seed 001, and what else must hold before a document is approved.

use ::store::{Conn, StoreError};

use super::{ApprovalError, Request};
use crate::artifacts::{self, ArtifactRow};
use crate::catalogue::{Catalogue, DocumentType};
use crate::markdown::Document;
use crate::validation::n_blocking;

/// How far up parents are followed.
const GENERATIONS_MAX: usize = 32;

/// A document that may be approved.
pub struct Candidate<'c> {
    pub row: ArtifactRow,
    pub content: String,
    pub kind: &'c DocumentType,
}

impl<'c> Candidate<'c> {
    pub async fn check(
        conn: &mut Conn,
        catalogue: &'c Catalogue,
        request: &Request,
    ) -> Result<Candidate<'c>, ApprovalError> {
        let id = || request.artifact_id.clone();
        let row = artifacts::find(conn, request.place(), &request.artifact_id, None).await?;
        let row = row.ok_or_else(|| ApprovalError::NotFound { id: id() })?;
        let kind = catalogue
            .find_type(&row.artifact_type)
            .ok_or(StoreError::other("a kept document is of a type that is no longer there"))?;
        if !request.may_approve_own && row.created_by == request.approved_by {
            return Err(ApprovalError::OwnDocument);
        }
        if kind.is_approved(&row.status) {
            return Err(ApprovalError::AlreadyApproved { id: id() });
        }
        if row.status != kind.first_status() {
            let (status, expected) = (row.status.clone(), kind.first_status().to_owned());
            return Err(ApprovalError::OtherStatus { id: id(), status, expected });
        }
        if request.content_sha256.as_ref().is_some_and(|reviewed| *reviewed != row.content_sha256) {
            return Err(ApprovalError::OtherContent { id: id(), found: row.content_sha256 });
        }
        check_parents(conn, catalogue, request, &row).await?;
        let content = artifacts::read_content(conn, &row.organisation_id, &row.content_sha256).await?;
        let n = n_blocking(catalogue, kind, &Document::parse(&content));
        if n > 0 {
            return Err(ApprovalError::OpenQuestions { n });
        }
        Ok(Candidate { row, content, kind })
    }
}

/// The parent is approved, and no document is its own ancestor.
async fn check_parents(
    conn: &mut Conn,
    catalogue: &Catalogue,
    request: &Request,
    row: &ArtifactRow,
) -> Result<(), ApprovalError> {
    let Some(parent_id) = &row.parent_id else { return Ok(()) };
    let mut path = vec![row.key.clone()];
    let mut above = Some(parent_id.clone());
    while let (Some(id), true) = (above.take(), path.len() <= GENERATIONS_MAX) {
        path.push(id.clone());
        if id == row.key {
            return Err(ApprovalError::ParentCycle { id, path: path.join(", ") });
        }
        above = artifacts::find(conn, request.place(), &id, None).await?.and_then(|parent| parent.parent_id);
    }
    let parent = artifacts::find(conn, request.place(), parent_id, None).await?;
    let is_approved = parent.is_some_and(|parent| {
        catalogue.find_type(&parent.artifact_type).is_some_and(|kind| kind.is_approved(&parent.status))
    });
    if is_approved { Ok(()) } else { Err(ApprovalError::ParentNotApproved { id: parent_id.clone() }) }
}
