//! The four prerequisites of seed 001, and what else must hold before a document is approved.

use ::store::{Conn, StoreError};

use super::{ApprovalError, Request};
use crate::artifacts::{self, ArtifactRow};
use crate::catalogue::{Catalogue, DocumentType};
use crate::markdown::Document;
use crate::metadata;
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
        // Whoever wrote an earlier version wrote part of this one.
        if !request.may_approve_own
            && artifacts::has_stored(conn, request.place(), &row.key, &request.approved_by).await?
        {
            return Err(ApprovalError::OwnDocument);
        }
        if kind.is_approved(&row.status) {
            return Err(match row.has_id || row.approved.is_some() {
                true => ApprovalError::AlreadyApproved { id: id() },
                false => ApprovalError::StoredFinished { id: id(), status: row.status },
            });
        }
        if row.status != kind.first_status() {
            let (status, expected) = (row.status.clone(), kind.first_status().to_owned());
            return Err(ApprovalError::OtherStatus { id: id(), status, expected });
        }
        if request.content_sha256.as_ref().is_some_and(|reviewed| *reviewed != row.content_sha256) {
            return Err(ApprovalError::OtherContent { id: id(), found: row.content_sha256 });
        }
        let content = artifacts::read_content(conn, &row.organisation_id, &row.content_sha256).await?;
        let document = Document::parse(&content);
        check_parents(conn, catalogue, request, kind, &row, &document).await?;
        let n = n_blocking(catalogue, kind, &document);
        if n > 0 {
            return Err(ApprovalError::OpenQuestions { n });
        }
        Ok(Candidate { row, content, kind })
    }
}

/// The parents are of the right types, approved and of one family, and no document is its own ancestor.
async fn check_parents(
    conn: &mut Conn,
    catalogue: &Catalogue,
    request: &Request,
    kind: &DocumentType,
    row: &ArtifactRow,
    document: &Document<'_>,
) -> Result<(), ApprovalError> {
    let Some(parent_id) = &row.parent_id else {
        return match needed_parent(catalogue, kind) {
            Some(label) => Err(ApprovalError::NoParent { id: row.key.clone(), label: label.to_owned() }),
            None => Ok(()),
        };
    };
    let mut path = vec![row.key.clone()];
    let mut above = Some(parent_id.clone());
    while let (Some(id), true) = (above.take(), path.len() <= GENERATIONS_MAX) {
        path.push(id.clone());
        if id == row.key {
            return Err(ApprovalError::ParentCycle { id, path: path.join(", ") });
        }
        above = artifacts::find(conn, request.place(), &id, None).await?.and_then(|parent| parent.parent_id);
    }
    let mut named = metadata::own_parents(catalogue, kind, document);
    if named.iter().all(|(id, _)| id != parent_id) {
        named.insert(0, (parent_id.clone(), 0));
    }
    let mut approved = Vec::new();
    for (id, line) in named {
        let parent_kind = catalogue.type_of_id(&id);
        if !kind.parent_types.is_empty() && !parent_kind.is_some_and(|it| kind.parent_types.contains(&it.name)) {
            return Err(ApprovalError::WrongParent { id, line, expected: kind.parent_types.join(" or ") });
        }
        let found = match parent_kind {
            Some(parent_kind) => artifacts::find_approved(conn, request.place(), parent_kind, &id).await?,
            None => None,
        };
        approved.push(found.ok_or(ApprovalError::ParentNotApproved { id })?);
    }
    for parent in &approved {
        let Some(above) = &parent.parent_id else { continue };
        let is_other = |other: &&ArtifactRow| {
            other.key != *above && catalogue.type_of_id(above).is_some_and(|it| it.name == other.artifact_type)
        };
        if let Some(other) = approved.iter().find(is_other) {
            let (parent, above, other) = (parent.key.clone(), above.clone(), other.key.clone());
            return Err(ApprovalError::OtherFamily { parent, above, other });
        }
    }
    Ok(())
}

/// The label of the parent that a type cannot do without: its generator is given one in any case. Where it is given one
/// of several, as an epic is, a document may stand alone: foundation work has no parent.
fn needed_parent<'c>(catalogue: &Catalogue, kind: &'c DocumentType) -> Option<&'c str> {
    let generator = catalogue.find_generator(kind.generator.as_deref()?)?;
    let mut certain = generator.mandatory().filter(|rule| rule.exclusive_group.is_none());
    certain.find(|rule| kind.parent_types.contains(&rule.artifact_type))?;
    kind.parent_labels.first().map(String::as_str)
}
