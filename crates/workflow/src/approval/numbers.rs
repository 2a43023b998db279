//! Which final id each document that comes next gets. One that is stored, queued or was given to anybody else is passed
//! over, never used a second time.

use std::collections::BTreeMap;

use ::store::{Conn, StoreError, Tx};
use uuid::Uuid;

use super::{ApprovalError, Next, Request, ids_error, owners};
use crate::artifacts::{self, Place};
use crate::audited::AuditedRow;
use crate::catalogue::{Catalogue, Numbering};
use crate::ids::{self, Claim, Counter, Leap, ReserveOptions};

/// Ids in a row that may turn out to be in use before an approval gives up.
const IN_USE_MAX: u32 = 1_000;

/// An id, and whether its document is still to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinalId {
    pub id: String,
    pub is_new: bool,
}

fn counter<'a>(request: &'a Request, next: &'a Next) -> Counter<'a> {
    Counter { organisation_id: &request.organisation_id, prefix: &next.prefix, project_id: &request.project_id }
}

/// Whether a document of that id is stored, or is or was in the queue.
pub async fn is_occupied(conn: &mut Conn, place: Place<'_>, id: &str) -> Result<bool, StoreError> {
    let row = conn
        .fetch_optional(
            "SELECT 1 FROM artifacts WHERE organisation_id = $1 AND project_id = $2 AND artifact_key = $3 \
             UNION ALL SELECT 1 FROM tasks WHERE organisation_id = $1 AND project_id = $2 AND artifact_id = $3 LIMIT 1",
            &[place.organisation_id.into(), place.project_id.into(), id.into()],
        )
        .await?;
    Ok(row.is_some())
}

/// Whether an id is a document's here, or was ever given here.
pub async fn is_known(conn: &mut Conn, place: Place<'_>, id: &str) -> Result<bool, StoreError> {
    let Some((prefix, number)) = ids::parse_id(id) else { return is_occupied(conn, place, id).await };
    let counter = Counter { organisation_id: place.organisation_id, prefix, project_id: place.project_id };
    Ok(ids::is_given(conn, &counter, number).await? || is_occupied(conn, place, id).await?)
}

/// The highest number of what comes next that is known here.
pub async fn last_known(conn: &mut Conn, request: &Request, next: &Next) -> Result<i64, StoreError> {
    ids::last_assigned(conn, &counter(request, next)).await
}

/// Whether an id that another service gave is somebody's here: it may have been set back, and give again what it gave
/// before.
pub async fn is_taken(
    conn: &mut Conn,
    catalogue: &Catalogue,
    request: &Request,
    next: &Next,
    id: &str,
) -> Result<bool, StoreError> {
    let is_own = next.numbering == Numbering::SameNumber && id == ids::format_id(&next.prefix, next.number);
    // A later version is given the number of the document again.
    let is_known = match is_own && has_approved(conn, catalogue, request).await? {
        true => is_occupied(conn, request.place(), id).await?,
        false => is_known(conn, request.place(), id).await?,
    };
    let is_named = next.named.contains(id) && !is_own;
    Ok(is_known || is_named || owners::find_definer(conn, catalogue, request, next, id).await?.is_some())
}

/// Whether some version of the document is approved.
async fn has_approved(conn: &mut Conn, catalogue: &Catalogue, request: &Request) -> Result<bool, StoreError> {
    let Some(kind) = catalogue.type_of_id(&request.artifact_id) else { return Ok(false) };
    Ok(artifacts::find_approved(conn, request.place(), kind, &request.artifact_id).await?.is_some())
}

/// Whether an id means something already: a document, or something that the text itself calls so.
async fn is_in_use(conn: &mut Conn, request: &Request, next: &Next, id: &str) -> Result<bool, StoreError> {
    Ok(next.named.contains(id) || is_occupied(conn, request.place(), id).await?)
}

/// The one document of a parent's own number, where somebody has stored or queued it for this parent already.
async fn find_own(conn: &mut Conn, request: &Request, next: &Next) -> Result<Option<FinalId>, StoreError> {
    let id = ids::format_id(&next.prefix, next.number);
    let is_named = next.placeholders.is_empty();
    let is_own = match artifacts::find(conn, request.place(), &id, None).await? {
        Some(stored) => stored.parent_id.as_deref() == Some(request.artifact_id.as_str()),
        None => is_queued_for(conn, request, &id).await?,
    };
    if is_own {
        return Ok(Some(FinalId { id, is_new: false }));
    }
    // The text names the document by its final id: it is that one, whoever has written it.
    let is_new = is_named && !is_occupied(conn, request.place(), &id).await?;
    Ok(is_named.then_some(FinalId { id, is_new }))
}

async fn is_queued_for(conn: &mut Conn, request: &Request, id: &str) -> Result<bool, StoreError> {
    let row = conn
        .fetch_optional(
            "SELECT 1 FROM tasks AS t JOIN task_inputs AS i \
             ON i.organisation_id = t.organisation_id AND i.task_id = t.task_id \
             WHERE t.organisation_id = $1 AND t.project_id = $2 AND t.artifact_id = $3 AND i.artifact_id = $4 LIMIT 1",
            &[
                request.organisation_id.as_str().into(),
                request.project_id.as_str().into(),
                id.into(),
                request.artifact_id.as_str().into(),
            ],
        )
        .await?;
    Ok(row.is_some())
}

/// How many new ids are needed from whoever gives them out.
pub async fn n_wanted(conn: &mut Conn, request: &Request, next: &Next) -> Result<usize, StoreError> {
    match next.numbering {
        Numbering::Reserved => Ok(next.placeholders.len()),
        Numbering::SameNumber => Ok(usize::from(find_own(conn, request, next).await?.is_none())),
    }
}

/// The number of the parent; the next free one where that is in use.
pub async fn own(
    tx: &mut Tx<'_>,
    request: &Request,
    next: &Next,
    rows: &mut Vec<AuditedRow>,
) -> Result<FinalId, ApprovalError> {
    let (counter, now_us) = (counter(request, next), request.approved_at_us);
    if let Some(own) = find_own(tx, request, next).await? {
        if own.is_new {
            let raised = ids::note_used(tx, &counter, &[next.number], Leap::Bounded, now_us).await;
            rows.extend(raised.map_err(ids_error)?);
        }
        return Ok(own);
    }
    let id = ids::format_id(&next.prefix, next.number);
    if !is_occupied(tx, request.place(), &id).await?
        && let Claim::Taken(raised) = ids::claim(tx, &counter, next.number, now_us).await.map_err(ids_error)?
    {
        rows.extend(raised);
        return Ok(FinalId { id, is_new: true });
    }
    take_free(tx, request, next, rows).await
}

/// A reserved range, with others in the place of those that are in use.
pub async fn reserve(
    tx: &mut Tx<'_>,
    request: &Request,
    next: &Next,
    reservation_id: Uuid,
    rows: &mut Vec<AuditedRow>,
) -> Result<Vec<FinalId>, ApprovalError> {
    let options = ReserveOptions {
        reserved_by: &request.approved_by,
        reservation_id,
        expires_after_us: request.reservation_expires_after_us,
        // The limit is for those who reserve directly.
        is_exempt: true,
    };
    let count = u32::try_from(next.placeholders.len()).unwrap_or(u32::MAX);
    let reserved = ids::reserve(tx, &counter(request, next), count, &options, request.approved_at_us).await;
    let reserved = reserved.map_err(ids_error)?;
    // The reservation itself changes once more when it is confirmed, and is told then.
    rows.extend(reserved.rows.into_iter().skip(1));
    let mut found = Vec::with_capacity(reserved.reserved_ids.len());
    for id in reserved.reserved_ids {
        if !is_in_use(tx, request, next, &id).await? {
            found.push(FinalId { id, is_new: true });
        }
    }
    // After the others: the numbers follow the order of the placeholders.
    while found.len() < next.placeholders.len() {
        found.push(take_free(tx, request, next, rows).await?);
    }
    Ok(found)
}

/// Takes the ids that the text gives to documents itself out of the counter, so that nobody is given them.
pub async fn note_defined(
    tx: &mut Tx<'_>,
    request: &Request,
    next: &Next,
    rows: &mut Vec<AuditedRow>,
) -> Result<(), ApprovalError> {
    let numbers: Vec<i64> = next.defined.iter().filter_map(|it| ids::parse_id(&it.id)).map(|(_, it)| it).collect();
    if numbers.is_empty() {
        return Ok(());
    }
    let leap = if request.given.ids.is_some() { Leap::Free } else { Leap::Bounded };
    let noted = ids::note_used(tx, &counter(request, next), &numbers, leap, request.approved_at_us).await;
    rows.extend(noted.map_err(ids_error)?);
    Ok(())
}

async fn take_free(
    tx: &mut Tx<'_>,
    request: &Request,
    next: &Next,
    rows: &mut Vec<AuditedRow>,
) -> Result<FinalId, ApprovalError> {
    for _ in 0..IN_USE_MAX {
        let taken = ids::take_next(tx, &counter(request, next), request.approved_at_us).await;
        let (id, raised) = taken.map_err(ids_error)?;
        rows.push(raised);
        if !is_in_use(tx, request, next, &id).await? {
            return Ok(FinalId { id, is_new: true });
        }
    }
    Err(ApprovalError::NoFreeId { artifact_type: next.artifact_type.clone(), n: IN_USE_MAX })
}

/// Ids that another service gave, without changing anything. One that is in use here was taken after it was asked for.
pub async fn find_given(
    conn: &mut Conn,
    catalogue: &Catalogue,
    request: &Request,
    next: &Next,
    given: &BTreeMap<String, Vec<String>>,
) -> Result<Vec<FinalId>, ApprovalError> {
    if next.numbering == Numbering::SameNumber
        && let Some(own) = find_own(conn, request, next).await?
    {
        return Ok(vec![own]);
    }
    let mut found = Vec::new();
    for id in given.get(&next.artifact_type).into_iter().flatten() {
        if is_taken(conn, catalogue, request, next, id).await? {
            return Err(ApprovalError::IdTaken { id: id.clone() });
        }
        found.push(FinalId { id: id.clone(), is_new: true });
    }
    Ok(found)
}

/// As [`find_given`]; our own counter follows, so that it never gives them out.
pub async fn given(
    tx: &mut Tx<'_>,
    catalogue: &Catalogue,
    request: &Request,
    next: &Next,
    given: &BTreeMap<String, Vec<String>>,
    rows: &mut Vec<AuditedRow>,
) -> Result<Vec<FinalId>, ApprovalError> {
    let found = find_given(tx, catalogue, request, next, given).await?;
    let new = found.iter().filter(|it| it.is_new).filter_map(|it| ids::parse_id(&it.id));
    let numbers: Vec<i64> = new.map(|(_, number)| number).collect();
    let raised = ids::note_used(tx, &counter(request, next), &numbers, Leap::Free, request.approved_at_us).await;
    rows.extend(raised.map_err(ids_error)?);
    Ok(found)
}
