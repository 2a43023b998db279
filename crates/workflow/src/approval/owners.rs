//! Whose the ids are that a text gives to documents of its own making. One id means one document, in every text.

use std::collections::BTreeSet;

use ::store::{Conn, StoreError};

use super::candidate::Candidate;
use super::{ApprovalError, Next, Request};
use crate::artifacts::{self, ArtifactRow, Place};
use crate::catalogue::{Catalogue, DocumentType};
use crate::ids::{self, Counter};
use crate::markdown::Document;
use crate::{metadata, placeholders};

/// How far up parents are followed.
const GENERATIONS_MAX: usize = 32;

/// Refuses an id that somebody else's document has: the document's own, and those that it gives to others.
pub async fn check(
    conn: &mut Conn,
    catalogue: &Catalogue,
    request: &Request,
    candidate: &Candidate<'_>,
    next: &[Next],
) -> Result<(), ApprovalError> {
    let row = &candidate.row;
    if let Some(owner) = find_claimant(conn, catalogue, request, candidate).await? {
        return Err(ApprovalError::GivenToOther { id: row.key.clone(), owner });
    }
    if next.iter().all(|next| next.defined.is_empty()) {
        return Ok(());
    }
    let family = family(conn, request.place(), row.key.clone(), row.parent_id.clone()).await?;
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

/// The document whose approval had a document of this id queued, where that is no kin of the one that now has the id.
pub async fn find_maker(
    conn: &mut Conn,
    catalogue: &Catalogue,
    bearer: Bearer<'_>,
) -> Result<Option<String>, StoreError> {
    let mut makers = queued_from(conn, bearer.place, bearer.key).await?;
    makers.retain(|key| catalogue.type_of_id(key).is_some_and(|kind| is_cut(kind, bearer.artifact_type)));
    find_stranger(conn, catalogue, bearer, makers).await
}

/// A document that has an id, rightly or not.
#[derive(Debug, Clone, Copy)]
pub struct Bearer<'a> {
    pub place: Place<'a>,
    pub key: &'a str,
    pub artifact_type: &'a str,
    pub parent_id: Option<&'a str>,
    pub content: &'a str,
}

impl<'a> Bearer<'a> {
    pub fn of(row: &'a ArtifactRow, content: &'a str) -> Bearer<'a> {
        Bearer {
            place: Place { organisation_id: &row.organisation_id, project_id: &row.project_id },
            key: &row.key,
            artifact_type: &row.artifact_type,
            parent_id: row.parent_id.as_deref(),
            content,
        }
    }
}

/// Another document that has given the id of this one to a document of its own: by a task, or in its approved text.
async fn find_claimant(
    conn: &mut Conn,
    catalogue: &Catalogue,
    request: &Request,
    Candidate { row, content, .. }: &Candidate<'_>,
) -> Result<Option<String>, StoreError> {
    let bearer = Bearer::of(row, content);
    let maker = find_maker(conn, catalogue, bearer).await?;
    if maker.is_some() || !row.has_id {
        return Ok(maker);
    }
    let prefix = row.key.split('-').next().unwrap_or_default();
    let definers = find_definers(conn, catalogue, request, &row.artifact_type, prefix, &row.key).await?;
    find_stranger(conn, catalogue, bearer, definers).await
}

/// The first of some documents, unless one of them is kin: above the document, or below a parent that it names, as a story
/// may name the requirements above the one that it was made for.
async fn find_stranger(
    conn: &mut Conn,
    catalogue: &Catalogue,
    Bearer { place, key, parent_id, content, .. }: Bearer<'_>,
    keys: Vec<String>,
) -> Result<Option<String>, StoreError> {
    if keys.is_empty() || keys.iter().any(|key| Some(key.as_str()) == parent_id) {
        return Ok(None);
    }
    let parents = metadata::find_parents(catalogue, &Document::parse(content));
    let above = family(conn, place, key.to_owned(), parent_id.map(str::to_owned)).await?;
    for key in &keys {
        let parent_id = artifacts::find(conn, place, key, None).await?.and_then(|it| it.parent_id);
        let theirs = family(conn, place, key.clone(), parent_id).await?;
        let kind = |id: &String| catalogue.type_of_id(id).map(|kind| kind.name.as_str());
        // Who names others of the same types belongs to those, whatever is above both.
        let contradicts =
            |parent: &String| !theirs.contains(parent) && theirs.iter().any(|other| kind(other) == kind(parent));
        let is_below = !theirs.is_disjoint(&parents) && !parents.iter().any(contradicts);
        if above.contains(key) || parents.contains(key) || is_below {
            return Ok(None);
        }
    }
    Ok(keys.into_iter().next())
}

/// A document and those above it: what a specification is cut into may name the story as its parent.
async fn family(
    conn: &mut Conn,
    place: Place<'_>,
    key: String,
    parent_id: Option<String>,
) -> Result<BTreeSet<String>, StoreError> {
    let mut keys = BTreeSet::from([key]);
    let mut above = parent_id;
    while let (Some(id), true) = (above.take(), keys.len() <= GENERATIONS_MAX) {
        above = artifacts::find(conn, place, &id, None).await?.and_then(|parent| parent.parent_id);
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
    let parent_id = stored.and_then(|row| row.parent_id);
    match &parent_id {
        Some(parent_id) if *parent_id == request.artifact_id => return Ok(None),
        Some(other) if !family.contains(other) => return Ok(Some(other.clone())),
        Some(_) | None => {}
    }
    let queued_from = queued_from(conn, request.place(), id).await?;
    if queued_from.contains(&request.artifact_id) {
        return Ok(None);
    }
    // A task is given other documents too; it is made for one that is cut into such documents.
    let mut makers = queued_from
        .into_iter()
        .filter(|key| catalogue.type_of_id(key).is_some_and(|kind| is_cut(kind, &next.artifact_type)));
    if let Some(owner) = makers.next() {
        return Ok(Some(owner));
    }
    if parent_id.is_none() && is_reserved_by_other(conn, request, next, id).await? {
        return Ok(Some("whoever reserved it".to_owned()));
    }
    find_definer(conn, catalogue, request, next, id).await
}

/// Whether an id is kept for somebody who neither wrote the document nor approves it.
async fn is_reserved_by_other(conn: &mut Conn, request: &Request, next: &Next, id: &str) -> Result<bool, StoreError> {
    let counter =
        Counter { organisation_id: &request.organisation_id, prefix: &next.prefix, project_id: &request.project_id };
    for holder in ids::find_holders(conn, &counter, id, request.approved_at_us).await? {
        if holder != request.approved_by
            && !artifacts::has_stored(conn, request.place(), &request.artifact_id, &holder).await?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Who takes an id for a document, by storing its first version or by queueing it.
#[derive(Debug, Clone, Copy)]
pub struct Taker<'a> {
    pub place: Place<'a>,
    pub key: &'a str,
    pub actor_id: &'a str,
    /// The documents that it is made from.
    pub parents: &'a [&'a str],
    pub now_us: i64,
}

/// Whether an id is kept for somebody else than whoever takes it. They hand it on with a task of theirs, and an approval
/// does so with its tasks and with what the approved text says.
pub async fn is_kept_for_other(conn: &mut Conn, catalogue: &Catalogue, taker: Taker<'_>) -> Result<bool, StoreError> {
    let Taker { place, key, .. } = taker;
    let Some((prefix, _)) = ids::parse_id(key) else { return Ok(false) };
    let counter = Counter { organisation_id: place.organisation_id, prefix, project_id: place.project_id };
    let holders = ids::find_holders(conn, &counter, key, taker.now_us).await?;
    let holds = |actor_id: &str| holders.iter().any(|holder| key_of(holder) == key_of(actor_id));
    if holders.is_empty() || holds(taker.actor_id) {
        return Ok(false);
    }
    for (queued_by, approved_by) in queued_by(conn, place, key).await? {
        if holds(&queued_by) || approved_by == Some(queued_by) {
            return Ok(false);
        }
    }
    if ids::find_handed_on(conn, place, key).await?.iter().any(|by| holds(by)) {
        return Ok(false);
    }
    for parent_id in taker.parents {
        let Some(kind) = catalogue.type_of_id(parent_id) else { continue };
        let Some(parent) = artifacts::find_approved(conn, place, kind, parent_id).await? else { continue };
        let text = artifacts::read_content(conn, place.organisation_id, &parent.content_sha256).await?;
        if placeholders::find_defined(catalogue, kind, prefix, &text).iter().any(|it| it.id == key) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The actor whose word stands behind an id: `svc` of `svc/kagent`, which `svc` says of itself.
fn key_of(actor_id: &str) -> &str {
    actor_id.split('/').next().unwrap_or(actor_id)
}

/// Who has queued a document, with who approved each of those that its tasks are given.
async fn queued_by(conn: &mut Conn, place: Place<'_>, id: &str) -> Result<Vec<(String, Option<String>)>, StoreError> {
    let rows = conn
        .fetch_all(
            "SELECT t.created_by, a.approved_by FROM tasks AS t \
             LEFT JOIN task_inputs AS i ON i.organisation_id = t.organisation_id AND i.task_id = t.task_id \
             LEFT JOIN artifacts AS a ON a.organisation_id = t.organisation_id AND a.project_id = t.project_id \
             AND a.artifact_key = i.artifact_id \
             WHERE t.organisation_id = $1 AND t.project_id = $2 AND t.artifact_id = $3",
            &[place.organisation_id.into(), place.project_id.into(), id.into()],
        )
        .await?;
    rows.iter().map(|row| Ok((row.text(0)?, row.opt_text(1)?))).collect()
}

/// Another document, approved in some version, that gives the id to a document of its own making.
pub async fn find_definer(
    conn: &mut Conn,
    catalogue: &Catalogue,
    request: &Request,
    next: &Next,
    id: &str,
) -> Result<Option<String>, StoreError> {
    let definers = find_definers(conn, catalogue, request, &next.artifact_type, &next.prefix, id).await?;
    Ok(definers.into_iter().next())
}

async fn find_definers(
    conn: &mut Conn,
    catalogue: &Catalogue,
    request: &Request,
    artifact_type: &str,
    prefix: &str,
    id: &str,
) -> Result<Vec<String>, StoreError> {
    let mut found = Vec::new();
    for kind in catalogue.types().iter().filter(|kind| is_cut(kind, artifact_type)) {
        found.extend(find_definers_of(conn, catalogue, request, kind, prefix, id).await?);
    }
    Ok(found)
}

/// Whether documents of a type are cut into those of another.
fn is_cut(kind: &DocumentType, artifact_type: &str) -> bool {
    kind.decomposes_into.iter().any(|it| it.artifact_type == artifact_type)
}

/// The documents that the tasks of an id are given.
async fn queued_from(conn: &mut Conn, place: Place<'_>, id: &str) -> Result<Vec<String>, StoreError> {
    let rows = conn
        .fetch_all(
            // A plain join would have SQLite begin with the inputs of all tasks; of a cross join it keeps the order. The sign
            // keeps it from an index that is in this order and holds all tasks.
            "SELECT i.artifact_id FROM tasks AS t CROSS JOIN task_inputs AS i \
             WHERE i.organisation_id = t.organisation_id AND i.task_id = t.task_id \
             AND t.organisation_id = $1 AND t.project_id = $2 AND t.artifact_id = $3 \
             ORDER BY +t.task_number, i.position",
            &[place.organisation_id.into(), place.project_id.into(), id.into()],
        )
        .await?;
    rows.iter().map(|row| row.text(0)).collect()
}

async fn find_definers_of(
    conn: &mut Conn,
    catalogue: &Catalogue,
    request: &Request,
    kind: &DocumentType,
    prefix: &str,
    id: &str,
) -> Result<Vec<String>, StoreError> {
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
    let mut found = Vec::new();
    for row in rows {
        let (key, status, sha256) = (row.text(0)?, row.text(1)?, row.text(2)?);
        // What was withdrawn since keeps its ids: they are never given to others.
        if kind.is_decided(&status) {
            let text = artifacts::read_content(conn, &request.organisation_id, &sha256).await?;
            if placeholders::find_defined(catalogue, kind, prefix, &text).iter().any(|it| it.id == id) {
                found.push(key);
            }
        }
    }
    Ok(found)
}
