//! Storing a version of a document.

use std::cmp::Ordering;

use ::store::{Conn, Statement, StoreError, Tx};

use super::find::find_with_counter;
use super::{ArtifactRow, ArtifactsError, Place, outbox, revisions};
use crate::audited::{self, AuditedRow};
use crate::metadata::{FIRST_VERSION_MAX, VERSION_MAX};

/// A document to be stored. Whoever made it has read its metadata.
#[derive(Debug, Clone)]
pub struct NewArtifact {
    pub row: ArtifactRow,
    pub content: String,
}

/// What a version meets where it is to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Met {
    /// It was stored before: the same content again is the same document, also after its approval.
    Stored(Box<ArtifactRow>),
    Nothing {
        /// The number that the counter of its type stands at; 0 where it has none.
        last_assigned: i64,
        /// No version of the document is stored.
        is_first: bool,
    },
}

/// Looks where a version is to be stored. `prefix` is that of its id, where it has one.
pub async fn find_stored(conn: &mut Conn, new: &NewArtifact, prefix: Option<&str>) -> Result<Met, ArtifactsError> {
    let row = &new.row;
    let place = Place { organisation_id: &row.organisation_id, project_id: &row.project_id };
    let found = find_with_counter(conn, place, &row.key, row.version, prefix.unwrap_or_default()).await?;
    let Some(kept) = found.row else {
        check_version(row, found.latest_version)?;
        return Ok(Met::Nothing { last_assigned: found.last_assigned, is_first: found.latest_version.is_none() });
    };
    if revisions::has_content(conn, place, &row.key, row.version, &row.content_sha256).await? {
        return Ok(Met::Stored(Box::new(kept)));
    }
    let next_version = next_version(&row.key, found.latest_version.unwrap_or(row.version))?;
    Err(ArtifactsError::OtherContent { key: row.key.clone(), version: row.version, next_version })
}

/// Versions follow one another. One that left many out would be the latest until others have caught up with it, and be
/// approved in their place.
fn check_version(row: &ArtifactRow, latest: Option<u32>) -> Result<(), ArtifactsError> {
    let (key, version) = (row.key.clone(), row.version);
    let Some(latest) = latest else {
        return match version {
            // Documents that were begun elsewhere bring their version with them.
            1..=FIRST_VERSION_MAX => Ok(()),
            _ => Err(ArtifactsError::FirstTooHigh { key, version }),
        };
    };
    let next_version = next_version(&key, latest)?;
    match version.cmp(&next_version) {
        Ordering::Less => Err(ArtifactsError::Outdated { key, version, next_version }),
        Ordering::Equal => Ok(()),
        Ordering::Greater => Err(ArtifactsError::Ahead { key, version, next_version }),
    }
}

fn next_version(key: &str, latest: u32) -> Result<u32, ArtifactsError> {
    match latest {
        ..VERSION_MAX => Ok(latest + 1),
        _ => Err(ArtifactsError::NoVersionLeft { key: key.to_owned() }),
    }
}

/// Stores a version that [`find_stored`] did not find, together with what else the change writes. Returns the document as
/// it is then.
pub async fn insert<'a>(
    tx: &mut Tx<'_>,
    new: &'a NewArtifact,
    beside: Vec<Statement<'a>>,
) -> Result<AuditedRow, StoreError> {
    let row = &new.row;
    let artifact = Statement {
        sql: "INSERT INTO artifacts (organisation_id, project_id, artifact_key, version, artifact_type, has_id, folder, \
              file_name, title, status, parent_id, content_sha256, size_bytes, n_revisions, created_by, created_at_us, \
              updated_at_us) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 1, $14, $15, $15)",
        params: vec![
            row.organisation_id.as_str().into(),
            row.project_id.as_str().into(),
            row.key.as_str().into(),
            i64::from(row.version).into(),
            row.artifact_type.as_str().into(),
            row.has_id.into(),
            row.folder.as_str().into(),
            row.file_name.as_str().into(),
            row.title.as_str().into(),
            row.status.as_str().into(),
            row.parent_id.as_deref().into(),
            row.content_sha256.as_str().into(),
            size(row.size_bytes).into(),
            row.created_by.as_str().into(),
            row.created_at_us.into(),
        ],
    };
    let mut statements = vec![
        content_insertion(&row.organisation_id, &row.content_sha256, &new.content),
        artifact,
        revisions::insertion(row, "stored", &row.created_by, row.created_at_us, None),
        outbox::putting(row),
    ];
    statements.extend(beside);
    tx.execute_together(&statements).await?;
    Ok(audited::artifact(row))
}

pub(super) fn content_insertion<'a>(
    organisation_id: &'a str,
    content_sha256: &'a str,
    content: &'a str,
) -> Statement<'a> {
    Statement {
        sql: "INSERT INTO artifact_contents (organisation_id, content_sha256, content, size_bytes) \
              VALUES ($1, $2, $3, $4) ON CONFLICT (organisation_id, content_sha256) DO NOTHING",
        params: vec![
            organisation_id.into(),
            content_sha256.into(),
            content.into(),
            i64::try_from(content.len()).unwrap_or(i64::MAX).into(),
        ],
    }
}

pub(super) fn size(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
