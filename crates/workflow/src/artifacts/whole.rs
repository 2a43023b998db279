//! A version with everything that its files need, in one reading: so that what is written is of one moment.

use ::store::{Conn, StoreError};

use super::find::check_content;
use super::{ArtifactRow, Place};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whole {
    pub row: ArtifactRow,
    pub content: String,
    /// The SHA-256 of every text that any version of the document ever had.
    pub known_sha256: Vec<String>,
}

pub async fn find_whole(
    conn: &mut Conn,
    place: Place<'_>,
    key: &str,
    version: u32,
) -> Result<Option<Whole>, StoreError> {
    let row = conn
        .fetch_optional(
            with_columns!(
                "SELECT",
                ", (SELECT c.content FROM artifact_contents c WHERE c.organisation_id = a.organisation_id \
                 AND c.content_sha256 = a.content_sha256), \
                 (SELECT string_agg(r.content_sha256, ' ') FROM artifact_revisions r \
                 WHERE r.organisation_id = a.organisation_id AND r.project_id = a.project_id \
                 AND r.artifact_key = a.artifact_key) \
                 FROM artifacts a WHERE organisation_id = $1 AND project_id = $2 AND artifact_key = $3 AND version = $4"
            ),
            &[place.organisation_id.into(), place.project_id.into(), key.into(), i64::from(version).into()],
        )
        .await?;
    let Some(found) = row else { return Ok(None) };
    let row = ArtifactRow::read(&found)?;
    let content = check_content(found.opt_text(22)?, &row.content_sha256)?;
    let known_sha256 = found.opt_text(23)?.unwrap_or_default().split(' ').map(str::to_owned).collect();
    Ok(Some(Whole { row, content, known_sha256 }))
}
