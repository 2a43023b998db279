//! The moves of approved documents to other statuses. The row of a document tells only how the last one left it; each has
//! an event that tells of its own row of the history, and of the state before it.

use contract::canonical;
use serde_json::json;
use store::{Conn, Row, StoreError};

use super::{AuditedRow, Found, FoundRow, Origin, PAGE_MAX, Place};
use crate::artifacts::ArtifactRow;

/// A row of the history that a move left. Who moved the document, and when, is what its event says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    pub id: String,
    pub status: String,
    pub content_sha256: String,
    /// Absent where the state before is gone, which fits no event.
    pub before: Option<State>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    pub status: String,
    pub content_sha256: String,
}

impl Move {
    pub fn between(before: &ArtifactRow, after: &ArtifactRow) -> Move {
        Move {
            id: format!("{}/{}/{}/{}", after.project_id, after.key, after.version, after.n_revisions),
            status: after.status.clone(),
            content_sha256: after.content_sha256.clone(),
            before: Some(State { status: before.status.clone(), content_sha256: before.content_sha256.clone() }),
        }
    }

    pub fn audited(&self) -> AuditedRow {
        let sha256 = self.before.as_ref().and_then(|before| {
            let before = json!({ "status": before.status, "content_sha256": before.content_sha256 });
            let content = json!({
                "id": self.id, "status": self.status, "content_sha256": self.content_sha256, "before": before,
            });
            canonical::hash(&content).ok()
        });
        AuditedRow { kind: "artifact_revision", id: self.id.clone(), sha256, found: Found::Nothing }
    }
}

/// The last table of [`super::read_page`]. The last part of the place is a version and a revision, `1.3`.
pub(super) async fn read_page(
    conn: &mut Conn,
    after: [String; 4],
) -> Result<(Vec<FoundRow>, Option<Place>), StoreError> {
    let [organisation_id, project_id, key, state] = &after;
    let (version, revision) = state.split_once('.').unwrap_or_default();
    let rows = conn
        .fetch_all(
            "SELECT r.organisation_id, r.project_id, r.artifact_key, r.version, r.revision, r.status, r.content_sha256, \
             r.changed_by, r.changed_at_us, b.status, b.content_sha256 FROM artifact_revisions r \
             LEFT JOIN artifact_revisions b ON b.organisation_id = r.organisation_id AND b.project_id = r.project_id \
             AND b.artifact_key = r.artifact_key AND b.version = r.version AND b.revision = r.revision - 1 \
             WHERE r.cause = 'moved' \
             AND (r.organisation_id, r.project_id, r.artifact_key, r.version, r.revision) > ($1, $2, $3, $4, $5) \
             ORDER BY r.organisation_id, r.project_id, r.artifact_key, r.version, r.revision LIMIT $6",
            &[
                organisation_id.into(),
                project_id.into(),
                key.into(),
                version.parse().unwrap_or(i64::MIN).into(),
                revision.parse().unwrap_or(i64::MIN).into(),
                PAGE_MAX.into(),
            ],
        )
        .await?;
    let next = rows.last().map(next_place).transpose()?;
    let found = rows.iter().map(read).collect::<Result<Vec<FoundRow>, StoreError>>()?;
    Ok((found, next))
}

fn next_place(row: &Row) -> Result<Place, StoreError> {
    let state = format!("{}.{}", row.int(3)?, row.int(4)?);
    Ok(Place { table: super::MOVES, after: [row.text(0)?, row.text(1)?, row.text(2)?, state] })
}

fn read(row: &Row) -> Result<FoundRow, StoreError> {
    let before = match (row.opt_text(9)?, row.opt_text(10)?) {
        (Some(status), Some(content_sha256)) => Some(State { status, content_sha256 }),
        (_, _) => None,
    };
    let moved = Move {
        id: format!("{}/{}/{}/{}", row.text(1)?, row.text(2)?, row.int(3)?, row.int(4)?),
        status: row.text(5)?,
        content_sha256: row.text(6)?,
        before,
    };
    let origin = Origin { made_by: Some(row.text(7)?), made_at_us: Some(row.int(8)?), changed_at_us: None };
    Ok(FoundRow { organisation_id: row.text(0)?, row: moved.audited(), origin })
}
