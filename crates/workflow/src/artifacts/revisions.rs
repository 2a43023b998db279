//! Every state that a version was in.

use ::store::{Conn, Row, Statement, StoreError};
use contract::time::rfc3339_ms;
use contract::workflow::artifacts::{ArtifactRevision, RevisionCause};

use super::{ArtifactRow, Place, small};

/// Revisions that one answer shows.
const SHOWN_MAX: i64 = 2_000;
/// States of one version.
pub const REVISIONS_MAX: u32 = 999;

macro_rules! select_revisions {
    ($after:literal) => {
        concat!(
            // A version is approved once, so that its row knows of its one approval.
            "SELECT version, revision, status, cause, content_sha256, size_bytes, changed_by, changed_at_us, meaning, \
             (SELECT a.names_reviewed_hash FROM artifacts a WHERE a.organisation_id = r.organisation_id \
              AND a.project_id = r.project_id AND a.artifact_key = r.artifact_key AND a.version = r.version \
              AND r.cause = 'approved') \
             FROM artifact_revisions r WHERE organisation_id = $1 AND project_id = $2 AND artifact_key = $3 ",
            $after
        )
    };
}

pub(super) fn insertion<'a>(
    row: &'a ArtifactRow,
    cause: &'static str,
    changed_by: &'a str,
    changed_at_us: i64,
    meaning: Option<&'a str>,
) -> Statement<'a> {
    Statement {
        sql: "INSERT INTO artifact_revisions (organisation_id, project_id, artifact_key, version, revision, status, cause, \
              content_sha256, size_bytes, changed_by, changed_at_us, meaning) \
              VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        params: vec![
            row.organisation_id.as_str().into(),
            row.project_id.as_str().into(),
            row.key.as_str().into(),
            i64::from(row.version).into(),
            i64::from(row.n_revisions).into(),
            row.status.as_str().into(),
            cause.into(),
            row.content_sha256.as_str().into(),
            super::store::size(row.size_bytes).into(),
            changed_by.into(),
            changed_at_us.into(),
            meaning.into(),
        ],
    }
}

/// Whether the version ever had this content.
pub(super) async fn has_content(
    conn: &mut Conn,
    place: Place<'_>,
    key: &str,
    version: u32,
    content_sha256: &str,
) -> Result<bool, StoreError> {
    let row = conn
        .fetch_optional(
            select_revisions!("AND version = $4 AND content_sha256 = $5 ORDER BY revision LIMIT 1"),
            &[
                place.organisation_id.into(),
                place.project_id.into(),
                key.into(),
                i64::from(version).into(),
                content_sha256.into(),
            ],
        )
        .await?;
    Ok(row.is_some())
}

/// Whether somebody stored any version of a document.
pub async fn has_stored(conn: &mut Conn, place: Place<'_>, key: &str, actor_id: &str) -> Result<bool, StoreError> {
    let row = conn
        .fetch_optional(
            select_revisions!("AND cause = 'stored' AND changed_by = $4 LIMIT 1"),
            &[place.organisation_id.into(), place.project_id.into(), key.into(), actor_id.into()],
        )
        .await?;
    Ok(row.is_some())
}

/// Oldest first; of more than one answer shows, the newest.
pub async fn list_revisions(conn: &mut Conn, place: Place<'_>, key: &str) -> Result<Vec<ArtifactRevision>, StoreError> {
    let rows = conn
        .fetch_all(
            select_revisions!("ORDER BY version DESC, revision DESC LIMIT $4"),
            &[place.organisation_id.into(), place.project_id.into(), key.into(), SHOWN_MAX.into()],
        )
        .await?;
    rows.iter().rev().map(read).collect()
}

/// The states that a version was in before the one of its row, as its row was then.
pub async fn list_earlier(conn: &mut Conn, row: &ArtifactRow) -> Result<Vec<ArtifactRow>, StoreError> {
    let rows = conn
        .fetch_all(
            select_revisions!("AND version = $4 AND revision < $5 ORDER BY revision"),
            &[
                row.organisation_id.as_str().into(),
                row.project_id.as_str().into(),
                row.key.as_str().into(),
                i64::from(row.version).into(),
                i64::from(row.n_revisions).into(),
            ],
        )
        .await?;
    let as_it_was = |it: ArtifactRevision| ArtifactRow {
        // A version is approved once, and stays approved by whoever did it.
        approved: row.approved.clone().filter(|_| it.cause != RevisionCause::Stored),
        status: it.status,
        content_sha256: it.content_sha256,
        size_bytes: it.size_bytes,
        n_revisions: it.revision,
        ..row.clone()
    };
    rows.iter().map(|row| read(row).map(as_it_was)).collect()
}

/// A revision; the last of the version, or of the latest version, when none is named.
pub async fn find_revision(
    conn: &mut Conn,
    place: Place<'_>,
    key: &str,
    version: Option<u32>,
    revision: Option<u32>,
) -> Result<Option<ArtifactRevision>, StoreError> {
    let row = conn
        .fetch_optional(
            select_revisions!(
                "AND ($4 = 0 OR version = $4) AND ($5 = 0 OR revision = $5) ORDER BY version DESC, revision DESC LIMIT 1"
            ),
            &[
                place.organisation_id.into(),
                place.project_id.into(),
                key.into(),
                i64::from(version.unwrap_or(0)).into(),
                i64::from(revision.unwrap_or(0)).into(),
            ],
        )
        .await?;
    row.as_ref().map(read).transpose()
}

fn read(row: &Row) -> Result<ArtifactRevision, StoreError> {
    let cause = match row.text(3)?.as_str() {
        "stored" => RevisionCause::Stored,
        "approved" => RevisionCause::Approved,
        "moved" => RevisionCause::Moved,
        _ => return Err(StoreError::other("a kept revision has no cause")),
    };
    Ok(ArtifactRevision {
        version: small(row.int(0)?)?,
        revision: small(row.int(1)?)?,
        status: row.text(2)?,
        cause,
        content_sha256: row.text(4)?,
        size_bytes: u64::try_from(row.int(5)?).unwrap_or(0),
        changed_by: row.text(6)?,
        changed_at: rfc3339_ms(row.int(7)?),
        meaning: row.opt_text(8)?,
        names_reviewed_hash: row.opt_bool(9)?,
    })
}
