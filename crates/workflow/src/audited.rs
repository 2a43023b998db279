//! Rows whose content is part of the record: every event that changes one carries its hash, and `audit verify` compares
//! the hash of the last such event with the row as it is.

pub mod derived;
pub mod moves;
pub mod revisions;

use contract::canonical;
use contract::workflow::tasks::Task;
use serde_json::json;
use store::{Conn, Row, StoreError};

use crate::artifacts::{self, ArtifactRow};
use crate::ids::Counter;
use crate::tasks;

/// A row by its kind and id, with the hash of its content; without one when the row is gone. Made here, a row is new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditedRow {
    pub kind: &'static str,
    pub id: String,
    pub sha256: Option<String>,
    /// What a change found in its place.
    pub found: Found,
}

/// What was there before a change, so that a change by other hands shows even after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    Nothing,
    /// A row with content of this hash; a row that has none fits no event.
    Row(Option<String>),
}

impl AuditedRow {
    /// The row as a change leaves it that found this one.
    #[must_use]
    pub fn after(self, before: AuditedRow) -> AuditedRow {
        AuditedRow { found: Found::Row(before.sha256), ..self }
    }

    /// The row as a change leaves it that made it, however many steps that took.
    #[must_use]
    pub fn created(self) -> AuditedRow {
        AuditedRow { found: Found::Nothing, ..self }
    }
}

/// A row with the organisation it belongs to, as the table holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundRow {
    pub organisation_id: String,
    pub row: AuditedRow,
    pub origin: Origin,
}

/// Who made a row, when, and when it was changed last, as far as its table says. The events of these calls say the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    pub made_by: Option<String>,
    pub made_at_us: Option<i64>,
    pub changed_at_us: Option<i64>,
}

pub fn counter(counter: &Counter<'_>, last_assigned_id: i64) -> AuditedRow {
    let id = format!("{}/{}", counter.prefix, counter.project_id);
    let sha256 = canonical::hash(&json!({ "id": id, "last_assigned_id": last_assigned_id })).ok();
    AuditedRow { kind: "counter", id, sha256, found: Found::Nothing }
}

/// A range of numbers that a counter passed over, by its first one; without a last one it is used up.
pub fn gap(counter: &Counter<'_>, first: i64, last: Option<i64>) -> AuditedRow {
    let id = format!("{}/{}/{first}", counter.prefix, counter.project_id);
    let content = last.map(|last| json!({ "id": id, "last_number": last }));
    AuditedRow {
        kind: "id_gap",
        sha256: content.and_then(|content| canonical::hash(&content).ok()),
        id,
        found: Found::Nothing,
    }
}

/// The columns that [`ReservationRow::read`] expects first, in this order, and that its hash covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReservationRow {
    pub id: String,
    pub artifact_type: String,
    pub project_id: String,
    pub reserved_ids: String,
    pub reserved_by: String,
    pub expires_at_us: i64,
    pub confirmed: bool,
    /// It does not count towards the limit on reservations.
    pub is_exempt: bool,
}

impl ReservationRow {
    pub fn read(row: &Row) -> Result<ReservationRow, StoreError> {
        Ok(ReservationRow {
            id: row.text(0)?,
            artifact_type: row.text(1)?,
            project_id: row.text(2)?,
            reserved_ids: row.text(3)?,
            reserved_by: row.text(4)?,
            expires_at_us: row.int(5)?,
            confirmed: row.bool(6)?,
            is_exempt: row.bool(7)?,
        })
    }

    pub fn audited(&self) -> AuditedRow {
        let content = json!({
            "id": self.id, "artifact_type": self.artifact_type, "project_id": self.project_id,
            "reserved_ids": self.reserved_ids, "reserved_by": self.reserved_by,
            // Microseconds do not fit the exact integers of JSON for ever; text does.
            "expires_at_us": self.expires_at_us.to_string(), "confirmed": self.confirmed,
        });
        // Others have the hashes that they had before there were such.
        let content = if self.is_exempt { json!({ "reservation": content, "is_exempt": true }) } else { content };
        let sha256 = canonical::hash(&content).ok();
        AuditedRow { kind: "reservation", id: self.id.clone(), sha256, found: Found::Nothing }
    }
}

pub fn deleted_reservation(id: &str) -> AuditedRow {
    AuditedRow { kind: "reservation", id: id.to_owned(), sha256: None, found: Found::Nothing }
}

pub fn task(task: &Task) -> AuditedRow {
    AuditedRow { kind: "task", id: task.task_id.to_string(), sha256: canonical::hash(task).ok(), found: Found::Nothing }
}

/// A row that cannot be read as what it was. No event has left a row without a hash.
fn unreadable(kind: &'static str, id: String) -> AuditedRow {
    AuditedRow { kind, id, sha256: None, found: Found::Nothing }
}

pub fn artifact(row: &ArtifactRow) -> AuditedRow {
    let content = json!({
        "key": row.key, "version": row.version, "type": row.artifact_type, "folder": row.folder,
        "file_name": row.file_name, "title": row.title, "status": row.status, "parent_id": row.parent_id,
        "content_sha256": row.content_sha256, "n_revisions": row.n_revisions, "created_by": row.created_by,
        "approval": row.approval(),
    });
    let id = format!("{}/{}/{}", row.project_id, row.key, row.version);
    AuditedRow { kind: "artifact", id, sha256: canonical::hash(&content).ok(), found: Found::Nothing }
}

/// The next page of audited rows after a place, and the place after it. Begin with the default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    table: usize,
    after: [String; 4],
}

const PAGE_MAX: i64 = 1_000;
/// The last table.
const MOVES: usize = 5;

/// Reads the audited tables page by page; an empty page with no next place is the end.
pub async fn read_page(conn: &mut Conn, place: Place) -> Result<(Vec<FoundRow>, Option<Place>), StoreError> {
    let Place { table, after: [organisation_id, first, second, third] } = place;
    if table == 0 {
        let rows = conn
            .fetch_all(
                "SELECT organisation_id, artifact_type, project_id, last_assigned_id, created_at_us, updated_at_us \
                 FROM id_registry \
                 WHERE (organisation_id, artifact_type, project_id) > ($1, $2, $3) \
                 ORDER BY organisation_id, artifact_type, project_id LIMIT $4",
                &[(&organisation_id).into(), (&first).into(), (&second).into(), PAGE_MAX.into()],
            )
            .await?;
        let mut found = Vec::with_capacity(rows.len());
        let mut after = [organisation_id, first, second, String::new()];
        for row in &rows {
            after = [row.text(0)?, row.text(1)?, row.text(2)?, String::new()];
            let [organisation_id, prefix, project_id, _] = &after;
            let origin = Origin { made_by: None, made_at_us: Some(row.int(4)?), changed_at_us: Some(row.int(5)?) };
            let row = counter(&Counter { organisation_id, prefix, project_id }, row.int(3)?);
            found.push(FoundRow { organisation_id: organisation_id.clone(), row, origin });
        }
        let next = if rows.is_empty() { Place { table: 1, ..Place::default() } } else { Place { table: 0, after } };
        return Ok((found, Some(next)));
    }
    if table == 2 {
        let tasks = tasks::read_all(conn, [&organisation_id, &first], PAGE_MAX).await?;
        let last = tasks.last().map(|kept| [kept.organisation_id.clone(), kept.task_id.clone()]);
        let found = tasks.into_iter().map(|kept| {
            let (made_at_us, changed_at_us) = (Some(kept.created_at_us), Some(kept.updated_at_us));
            let origin = Origin { made_by: Some(kept.created_by), made_at_us, changed_at_us };
            let row = kept.task.as_ref().map_or_else(|| unreadable("task", kept.task_id), task);
            FoundRow { organisation_id: kept.organisation_id, row, origin }
        });
        let next = match last {
            Some([organisation_id, id]) => {
                Place { table: 2, after: [organisation_id, id, String::new(), String::new()] }
            }
            None => Place { table: 3, ..Place::default() },
        };
        return Ok((found.collect(), Some(next)));
    }
    if table == 3 {
        let after = (organisation_id.as_str(), first.as_str(), second.as_str(), third.parse().unwrap_or(i64::MIN));
        let rows = artifacts::read_kept(conn, after, PAGE_MAX).await?;
        let last = rows.last().map(|kept| {
            let (organisation_id, project_id, key) = (&kept.organisation_id, &kept.project_id, &kept.key);
            let after = [organisation_id, project_id, key, &kept.version.to_string()].map(Clone::clone);
            Place { table: 3, after }
        });
        let found = rows.into_iter().map(|kept| {
            let Some(row) = &kept.row else {
                let id = format!("{}/{}/{}", kept.project_id, kept.key, kept.version);
                let (row, origin) = (unreadable("artifact", id), Origin::default());
                return FoundRow { organisation_id: kept.organisation_id, row, origin };
            };
            let origin = Origin { made_at_us: Some(row.created_at_us), ..Origin::default() };
            // The key of a document without an id ends in the suffix of its type, and so looks like no id.
            let is_id = row.key.rsplit_once('-').is_some_and(|(_, number)| !number.contains('_'));
            let mut audited = artifact(row);
            audited.sha256 = audited.sha256.filter(|_| is_id == row.has_id);
            FoundRow { organisation_id: kept.organisation_id, row: audited, origin }
        });
        return Ok((found.collect(), Some(last.unwrap_or(Place { table: 4, ..Place::default() }))));
    }
    if table == 4 {
        return read_gaps(conn, [organisation_id, first, second, third]).await;
    }
    if table == MOVES {
        return moves::read_page(conn, [organisation_id, first, second, third]).await;
    }
    let rows = conn
        .fetch_all(
            "SELECT reservation_id, artifact_type, project_id, reserved_ids, reserved_by, expires_at_us, confirmed, \
             is_exempt, organisation_id, reserved_at_us FROM id_reservations WHERE (organisation_id, reservation_id) > ($1, $2) \
             ORDER BY organisation_id, reservation_id LIMIT $3",
            &[(&organisation_id).into(), (&first).into(), PAGE_MAX.into()],
        )
        .await?;
    let mut found = Vec::with_capacity(rows.len());
    let mut next = Place { table: 2, ..Place::default() };
    for row in &rows {
        let (organisation_id, reservation) = (row.text(8)?, ReservationRow::read(row)?);
        let origin = Origin { made_at_us: Some(row.int(9)?), ..Origin::default() };
        found.push(FoundRow { organisation_id: organisation_id.clone(), row: reservation.audited(), origin });
        let id = reservation.id;
        next = Place { table: 1, after: [organisation_id, id, String::new(), String::new()] };
    }
    Ok((found, Some(next)))
}

async fn read_gaps(conn: &mut Conn, after: [String; 4]) -> Result<(Vec<FoundRow>, Option<Place>), StoreError> {
    let [organisation_id, prefix, project_id, number] = &after;
    let number: i64 = number.parse().unwrap_or(0);
    let rows = conn
        .fetch_all(
            "SELECT organisation_id, artifact_type, project_id, first_number, last_number FROM id_gaps \
             WHERE (organisation_id, artifact_type, project_id, first_number) > ($1, $2, $3, $4) \
             ORDER BY organisation_id, artifact_type, project_id, first_number LIMIT $5",
            &[organisation_id.into(), prefix.into(), project_id.into(), number.into(), PAGE_MAX.into()],
        )
        .await?;
    let (mut found, mut next) = (Vec::with_capacity(rows.len()), Place { table: MOVES, ..Place::default() });
    for row in &rows {
        let (organisation_id, prefix, project_id, first) = (row.text(0)?, row.text(1)?, row.text(2)?, row.int(3)?);
        let counter = Counter { organisation_id: &organisation_id, prefix: &prefix, project_id: &project_id };
        let row = gap(&counter, first, Some(row.int(4)?));
        found.push(FoundRow { organisation_id: organisation_id.clone(), row, origin: Origin::default() });
        next = Place { table: 4, after: [organisation_id, prefix, project_id, first.to_string()] };
    }
    Ok((found, Some(next)))
}
