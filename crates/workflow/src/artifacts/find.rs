//! Looking documents up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use ::store::{Conn, InList, Row, StoreError};

use super::{ArtifactRow, Place, small};
use crate::address::Address;
use crate::catalogue::DocumentType;
use crate::tasks;
use crate::validation::Known;

/// A version of a document; the latest when none is named.
pub async fn find(
    conn: &mut Conn,
    place: Place<'_>,
    key: &str,
    version: Option<u32>,
) -> Result<Option<ArtifactRow>, StoreError> {
    let row = conn
        .fetch_optional(
            with_columns!(
                "SELECT",
                "FROM artifacts WHERE organisation_id = $1 AND project_id = $2 AND artifact_key = $3 \
                 AND ($4 = 0 OR version = $4) ORDER BY version DESC LIMIT 1"
            ),
            &[
                place.organisation_id.into(),
                place.project_id.into(),
                key.into(),
                i64::from(version.unwrap_or(0)).into(),
            ],
        )
        .await?;
    row.as_ref().map(ArtifactRow::read).transpose()
}

/// What whoever is about to store a version needs to know, in one reading.
pub(super) struct Surroundings {
    /// The version itself, where it is there.
    pub row: Option<ArtifactRow>,
    pub latest_version: Option<u32>,
    /// The number that the counter of its type stands at.
    pub last_assigned: i64,
}

pub(super) async fn find_with_counter(
    conn: &mut Conn,
    place: Place<'_>,
    key: &str,
    version: u32,
    prefix: &str,
) -> Result<Surroundings, StoreError> {
    let found = conn
        .fetch_optional(
            with_columns!(
                "SELECT",
                ", last_assigned_id, latest_version FROM (SELECT (SELECT last_assigned_id FROM id_registry WHERE organisation_id = $1 \
                 AND project_id = $2 AND artifact_type = $5) AS last_assigned_id, \
                 (SELECT MAX(version) FROM artifacts WHERE organisation_id = $1 AND project_id = $2 \
                 AND artifact_key = $3) AS latest_version) c \
                 LEFT JOIN artifacts ON organisation_id = $1 AND project_id = $2 AND artifact_key = $3 AND version = $4"
            ),
            &[
                place.organisation_id.into(),
                place.project_id.into(),
                key.into(),
                i64::from(version).into(),
                prefix.into(),
            ],
        )
        .await?;
    let found = found.ok_or(StoreError::other("a row that is always there was not"))?;
    Ok(Surroundings {
        row: found.opt_text(0)?.is_some().then(|| ArtifactRow::read(&found)).transpose()?,
        latest_version: found.opt_int(23)?.map(small).transpose()?,
        last_assigned: found.opt_int(22)?.unwrap_or(0),
    })
}

/// The document at an address of a project.
pub async fn find_at(conn: &mut Conn, place: Place<'_>, address: &Address) -> Result<Option<ArtifactRow>, StoreError> {
    let row = conn
        .fetch_optional(
            with_columns!(
                "SELECT",
                "FROM artifacts WHERE organisation_id = $1 AND project_id = $2 AND folder = $3 AND file_name = $4"
            ),
            &[
                place.organisation_id.into(),
                place.project_id.into(),
                address.folder.as_str().into(),
                address.file_name.as_str().into(),
            ],
        )
        .await?;
    row.as_ref().map(ArtifactRow::read).transpose()
}

/// The approved version of a document: the newest one that anybody decided on, if that was approved. A later draft decides
/// nothing, so it neither takes the approval away nor brings back what a withdrawal ended.
pub async fn find_approved(
    conn: &mut Conn,
    place: Place<'_>,
    kind: &DocumentType,
    key: &str,
) -> Result<Option<ArtifactRow>, StoreError> {
    let rows = conn
        .fetch_all(
            "SELECT version, status FROM artifacts WHERE organisation_id = $1 AND project_id = $2 AND artifact_key = $3 \
             AND artifact_type = $4 ORDER BY version DESC",
            &[place.organisation_id.into(), place.project_id.into(), key.into(), kind.name.as_str().into()],
        )
        .await?;
    for row in &rows {
        let status = row.text(1)?;
        if kind.is_decided(&status) {
            let version = Some(small(row.int(0)?)?);
            return if kind.is_approved(&status) { find(conn, place, key, version).await } else { Ok(None) };
        }
    }
    Ok(None)
}

/// Documents of a type that are looked at for two that nobody has withdrawn.
const CANDIDATES_MAX: i64 = 200;

/// The keys of approved documents of a type, below a parent where one is named, the last first. At most two, so that a
/// caller can tell one from many.
pub async fn find_approved_keys(
    conn: &mut Conn,
    place: Place<'_>,
    kind: &DocumentType,
    parent_id: Option<&str>,
) -> Result<Vec<String>, StoreError> {
    let mut keys = BTreeSet::new();
    for status in &kind.approved_statuses {
        let rows = conn
            .fetch_all(
                "SELECT DISTINCT artifact_key FROM artifacts WHERE organisation_id = $1 AND project_id = $2 \
                 AND artifact_type = $3 AND status = $4 AND ($5 = '' OR parent_id = $5) \
                 ORDER BY artifact_key DESC LIMIT $6",
                &[
                    place.organisation_id.into(),
                    place.project_id.into(),
                    kind.name.as_str().into(),
                    status.as_str().into(),
                    parent_id.unwrap_or("").into(),
                    CANDIDATES_MAX.into(),
                ],
            )
            .await?;
        for row in &rows {
            keys.insert(row.text(0)?);
        }
    }
    let mut standing = Vec::new();
    for key in keys.into_iter().rev() {
        if standing.len() < 2 && find_approved(conn, place, kind, &key).await?.is_some() {
            standing.push(key);
        }
    }
    Ok(standing)
}

/// Type and statuses of each document that is there, or that a task in the queue will make.
pub async fn find_known(
    conn: &mut Conn,
    place: Place<'_>,
    keys: &BTreeSet<String>,
) -> Result<BTreeMap<String, Known>, StoreError> {
    let mut known = BTreeMap::new();
    for key in keys {
        let rows = conn
            .fetch_all(
                "SELECT artifact_type, status, parent_id FROM artifacts WHERE organisation_id = $1 AND project_id = $2 \
                 AND artifact_key = $3 ORDER BY version DESC",
                &[place.organisation_id.into(), place.project_id.into(), key.as_str().into()],
            )
            .await?;
        let artifact_type = match rows.first() {
            Some(latest) => latest.text(0)?,
            None if tasks::is_queued(conn, place, key).await? => String::new(),
            None => continue,
        };
        let statuses = rows.iter().map(|row| row.text(1)).collect::<Result<Vec<String>, StoreError>>()?;
        let parent_id = rows.first().map(|row| row.opt_text(2)).transpose()?.flatten();
        known.insert(key.clone(), Known { artifact_type, statuses, parent_id });
    }
    Ok(known)
}

/// Which documents are listed. What is absent does not matter.
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter<'a> {
    pub artifact_type: Option<&'a str>,
    pub status: Option<&'a str>,
    pub parent_id: Option<&'a str>,
}

/// Documents by type, key and version, after a place in that order. The content is not touched.
pub async fn list(
    conn: &mut Conn,
    place: Place<'_>,
    filter: Filter<'_>,
    after: (&str, &str, u32),
    limit: u32,
) -> Result<Vec<ArtifactRow>, StoreError> {
    let rows = conn
        .fetch_all(
            with_columns!(
                "SELECT",
                "FROM artifacts WHERE organisation_id = $1 AND project_id = $2 AND ($3 = '' OR artifact_type = $3) \
                 AND ($4 = '' OR status = $4) AND ($5 = '' OR parent_id = $5) \
                 AND (artifact_type, artifact_key, version) > ($6, $7, $8) \
                 ORDER BY artifact_type, artifact_key, version LIMIT $9"
            ),
            &[
                place.organisation_id.into(),
                place.project_id.into(),
                filter.artifact_type.unwrap_or("").into(),
                filter.status.unwrap_or("").into(),
                filter.parent_id.unwrap_or("").into(),
                after.0.into(),
                after.1.into(),
                i64::from(after.2).into(),
                i64::from(limit).into(),
            ],
        )
        .await?;
    rows.iter().map(ArtifactRow::read).collect()
}

static REVISIONS: LazyLock<InList> = LazyLock::new(|| {
    let sql = "SELECT artifact_key, n_revisions FROM artifacts WHERE organisation_id = $1 AND project_id = $2 \
               AND version = $3 AND artifact_key IN";
    InList::new(sql, 3, "")
});

/// How many revisions the given version of each document has, of those that are there.
pub async fn read_revisions(
    conn: &mut Conn,
    place: Place<'_>,
    version: u32,
    keys: &[&str],
) -> Result<Vec<(String, u32)>, StoreError> {
    let before = [place.organisation_id.into(), place.project_id.into(), i64::from(version).into()];
    let rows = REVISIONS.fetch(conn, &before, keys).await?;
    rows.iter().map(|row| Ok((row.text(0)?, small(row.int(1)?)?))).collect()
}

/// Every document of every organisation, in the order of the key, page by page.
pub async fn read_all(
    conn: &mut Conn,
    (organisation_id, project_id, key, version): (&str, &str, &str, u32),
    limit: i64,
) -> Result<Vec<ArtifactRow>, StoreError> {
    let rows = read_rows(conn, (organisation_id, project_id, key, version.into()), limit).await?;
    rows.iter().map(ArtifactRow::read).collect()
}

async fn read_rows(
    conn: &mut Conn,
    (organisation_id, project_id, key, version): (&str, &str, &str, i64),
    limit: i64,
) -> Result<Vec<Row>, StoreError> {
    let sql = with_columns!(
        "SELECT",
        "FROM artifacts WHERE (organisation_id, project_id, artifact_key, version) > ($1, $2, $3, $4) \
         ORDER BY organisation_id, project_id, artifact_key, version LIMIT $5"
    );
    let after = [organisation_id.into(), project_id.into(), key.into(), version.into(), limit.into()];
    conn.fetch_all(sql, &after).await
}

/// A row of the table of documents, as the audit finds it.
pub(crate) struct KeptArtifact {
    pub organisation_id: String,
    pub project_id: String,
    pub key: String,
    pub version: i64,
    /// Absent where the row cannot be read as a document: other hands changed it.
    pub row: Option<ArtifactRow>,
}

/// As [`read_all`], whatever the rows hold.
pub(crate) async fn read_kept(
    conn: &mut Conn,
    after: (&str, &str, &str, i64),
    limit: i64,
) -> Result<Vec<KeptArtifact>, StoreError> {
    let kept = |row: &Row| {
        let (organisation_id, project_id, key) = (row.text(0)?, row.text(1)?, row.text(2)?);
        let read = match ArtifactRow::read(row) {
            Ok(row) => Some(row),
            Err(error) if error.is_about_a_value() => None,
            Err(error) => return Err(error),
        };
        Ok(KeptArtifact { organisation_id, project_id, key, version: row.int(3)?, row: read })
    };
    read_rows(conn, after, limit).await?.iter().map(kept).collect()
}

pub async fn read_content(conn: &mut Conn, organisation_id: &str, content_sha256: &str) -> Result<String, StoreError> {
    let row = conn
        .fetch_optional(
            "SELECT content FROM artifact_contents WHERE organisation_id = $1 AND content_sha256 = $2",
            &[organisation_id.into(), content_sha256.into()],
        )
        .await?;
    check_content(row.map(|row| row.text(0)).transpose()?, content_sha256)
}

/// Nobody is shown, and nobody approves, what somebody put in the place of a document's bytes.
pub(super) fn check_content(content: Option<String>, content_sha256: &str) -> Result<String, StoreError> {
    let content = content.ok_or(StoreError::other("the bytes of a document are gone"))?;
    if crate::approval::content_hash(&content) != content_sha256 {
        return Err(StoreError::other("the bytes of a document are not those that were stored"));
    }
    Ok(content)
}
