//! Every state that a document was in, as its row was then. The event that brought it there carries the hash of that row,
//! and so says what the row of the history must hold.

use std::collections::BTreeMap;

use store::{Conn, Row, StoreError};

use super::PAGE_MAX;
use crate::artifacts::{self, ArtifactRow, small};

/// A document with its history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundHistory {
    pub organisation_id: String,
    /// `default/EPIC-006/1`, as events name it.
    pub id: String,
    /// Of the row of the document as it is.
    pub sha256: Option<String>,
    pub revisions: Vec<FoundRevision>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundRevision {
    pub revision: i64,
    /// Moves have events that tell of their own rows.
    pub is_move: bool,
    /// Of the row of the document as it was then.
    pub sha256: Option<String>,
    pub changed_by: String,
    pub changed_at_us: i64,
}

/// Organisation, project, key and version of the last document of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place(String, String, String, i64);

impl Default for Place {
    fn default() -> Place {
        Place(String::new(), String::new(), String::new(), i64::MIN)
    }
}

/// The next page of documents after a place, and the place after it. Rows that cannot be read as documents are left out.
pub async fn read_page(conn: &mut Conn, after: Place) -> Result<(Vec<FoundHistory>, Option<Place>), StoreError> {
    let Place(organisation_id, project_id, key, version) = &after;
    let kept = artifacts::read_kept(conn, (organisation_id, project_id, key, *version), PAGE_MAX).await?;
    let Some(last) = kept.last() else { return Ok((Vec::new(), None)) };
    let until = Place(last.organisation_id.clone(), last.project_id.clone(), last.key.clone(), last.version);
    let rows = conn
        .fetch_all(
            "SELECT organisation_id, project_id, artifact_key, version, revision, status, cause, content_sha256, changed_by, \
             changed_at_us FROM artifact_revisions \
             WHERE (organisation_id, project_id, artifact_key, version) > ($1, $2, $3, $4) \
             AND (organisation_id, project_id, artifact_key, version) <= ($5, $6, $7, $8) \
             ORDER BY organisation_id, project_id, artifact_key, version, revision",
            &[
                organisation_id.into(),
                project_id.into(),
                key.into(),
                (*version).into(),
                (&until.0).into(),
                (&until.1).into(),
                (&until.2).into(),
                until.3.into(),
            ],
        )
        .await?;
    let mut of_documents: BTreeMap<(String, String), Vec<Row>> = BTreeMap::new();
    for row in rows {
        let id = format!("{}/{}/{}", row.text(1)?, row.text(2)?, row.int(3)?);
        of_documents.entry((row.text(0)?, id)).or_default().push(row);
    }
    let mut found = Vec::with_capacity(kept.len());
    for row in kept.into_iter().filter_map(|kept| kept.row) {
        let audited = super::artifact(&row);
        let place = (row.organisation_id.clone(), audited.id);
        let revisions = of_documents.remove(&place).unwrap_or_default();
        let revisions = revisions.iter().map(|revision| read(&row, revision)).collect::<Result<_, StoreError>>()?;
        found.push(FoundHistory { organisation_id: place.0, id: place.1, sha256: audited.sha256, revisions });
    }
    Ok((found, Some(until)))
}

fn read(document: &ArtifactRow, row: &Row) -> Result<FoundRevision, StoreError> {
    let (revision, cause) = (row.int(4)?, row.text(6)?);
    // No document has a state of another number, and none has its hash.
    let n_revisions = small(revision).unwrap_or_default();
    let as_it_was = ArtifactRow {
        status: row.text(5)?,
        content_sha256: row.text(7)?,
        n_revisions,
        // A version is approved once, and stays approved by whoever did it.
        approved: document.approved.clone().filter(|_| cause != "stored"),
        ..document.clone()
    };
    Ok(FoundRevision {
        revision,
        is_move: cause == "moved",
        sha256: super::artifact(&as_it_was).sha256,
        changed_by: row.text(8)?,
        changed_at_us: row.int(9)?,
    })
}
