//! Whose the ids are that a text gives to documents of its own making. One id means one document, in every text.

use std::collections::BTreeSet;

use ::store::{Conn, StoreError};

use super::{ApprovalError, Next, Request};
use crate::artifacts::{self, ArtifactRow};
use crate::catalogue::{Catalogue, DocumentType};
use crate::placeholders;

/// How far up parents are followed.
const GENERATIONS_MAX: usize = 32;

/// Refuses an id that somebody else's document has.
pub async fn check(
    conn: &mut Conn,
    catalogue: &Catalogue,
    request: &Request,
    row: &ArtifactRow,
    next: &[Next],
) -> Result<(), ApprovalError> {
    if next.iter().all(|next| next.defined.is_empty()) {
        return Ok(());
    }
    let family = family(conn, request, row).await?;
    for next in next {
        for defined in &next.defined {
            if let Some(owner) = find_other(conn, catalogue, request, &family, next, &defined.id).await? {
                return Err(ApprovalError::IdOfOther {
                    id: defined.id.clone(),
                    line: defined.line,
                    owner,
                    example: format!("{}-AAA", next.prefix),
                });
            }
        }
    }
    Ok(())
}

/// The document and those above it: what a specification is cut into may name the story as its parent.
async fn family(conn: &mut Conn, request: &Request, row: &ArtifactRow) -> Result<BTreeSet<String>, StoreError> {
    let mut keys = BTreeSet::from([row.key.clone()]);
    let mut above = row.parent_id.clone();
    while let (Some(id), true) = (above.take(), keys.len() <= GENERATIONS_MAX) {
        above = artifacts::find(conn, request.place(), &id, None).await?.and_then(|parent| parent.parent_id);
        if !keys.insert(id) {
            break;
        }
    }
    Ok(keys)
}

/// Who has an id, if it is somebody else.
async fn find_other(
    conn: &mut Conn,
    catalogue: &Catalogue,
    request: &Request,
    family: &BTreeSet<String>,
    next: &Next,
    id: &str,
) -> Result<Option<String>, StoreError> {
    let stored = artifacts::find(conn, request.place(), id, None).await?;
    if let Some(parent_id) = stored.and_then(|row| row.parent_id) {
        if parent_id == request.artifact_id {
            return Ok(None);
        }
        if !family.contains(&parent_id) {
            return Ok(Some(parent_id));
        }
    }
    let queued_from = queued_from(conn, request, id).await?;
    if queued_from.contains(&request.artifact_id) {
        return Ok(None);
    }
    // A task is given other documents too; it is made for one that is cut into such documents.
    let mut makers =
        queued_from.into_iter().filter(|key| catalogue.type_of_id(key).is_some_and(|kind| is_cut(kind, next)));
    if let Some(owner) = makers.next() {
        return Ok(Some(owner));
    }
    find_definer(conn, catalogue, request, next, id).await
}

/// Another document, approved in some version, that gives the id to a document of its own making.
pub async fn find_definer(
    conn: &mut Conn,
    catalogue: &Catalogue,
    request: &Request,
    next: &Next,
    id: &str,
) -> Result<Option<String>, StoreError> {
    for kind in catalogue.types().iter().filter(|kind| is_cut(kind, next)) {
        if let Some(owner) = find_definer_of(conn, catalogue, request, kind, &next.prefix, id).await? {
            return Ok(Some(owner));
        }
    }
    Ok(None)
}

/// Whether documents of a type are cut into such as come next.
fn is_cut(kind: &DocumentType, next: &Next) -> bool {
    kind.decomposes_into.iter().any(|it| it.artifact_type == next.artifact_type)
}

/// The documents that the tasks of an id are given.
async fn queued_from(conn: &mut Conn, request: &Request, id: &str) -> Result<Vec<String>, StoreError> {
    let rows = conn
        .fetch_all(
            "SELECT i.artifact_id FROM tasks AS t JOIN task_inputs AS i \
             ON i.organisation_id = t.organisation_id AND i.task_id = t.task_id \
             WHERE t.organisation_id = $1 AND t.project_id = $2 AND t.artifact_id = $3 \
             ORDER BY t.task_number, i.position",
            &[request.organisation_id.as_str().into(), request.project_id.as_str().into(), id.into()],
        )
        .await?;
    rows.iter().map(|row| row.text(0)).collect()
}

async fn find_definer_of(
    conn: &mut Conn,
    catalogue: &Catalogue,
    request: &Request,
    kind: &DocumentType,
    prefix: &str,
    id: &str,
) -> Result<Option<String>, StoreError> {
    let rows = conn
        .fetch_all(
            "SELECT a.artifact_key, a.status, a.content_sha256 FROM artifacts AS a JOIN artifact_contents AS c \
             ON c.organisation_id = a.organisation_id AND c.content_sha256 = a.content_sha256 \
             WHERE a.organisation_id = $1 AND a.project_id = $2 AND a.artifact_type = $3 AND a.artifact_key <> $4 \
             AND a.status <> $5 AND c.content LIKE $6 ORDER BY a.artifact_key, a.version",
            &[
                request.organisation_id.as_str().into(),
                request.project_id.as_str().into(),
                kind.name.as_str().into(),
                request.artifact_id.as_str().into(),
                kind.first_status().into(),
                format!("%{id}%").as_str().into(),
            ],
        )
        .await?;
    for row in rows {
        let (key, status, sha256) = (row.text(0)?, row.text(1)?, row.text(2)?);
        // What was withdrawn since keeps its ids: they are never given to others.
        if kind.is_approved(&status) || kind.is_withdrawn(&status) {
            let text = artifacts::read_content(conn, &request.organisation_id, &sha256).await?;
            if placeholders::find_defined(catalogue, kind, prefix, &text).iter().any(|it| it.id == id) {
                return Ok(Some(key));
            }
        }
    }
    Ok(None)
}
