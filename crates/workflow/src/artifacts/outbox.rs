//! Files that are still to be written. A row goes in with the change and out after its files are safe; what a crash
//! leaves behind is written at the next start.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use ::store::{Conn, InList, Statement, StoreError, Tx};

use super::{ArtifactRow, small};

/// A version whose newest state may not be on disk yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Waiting {
    pub organisation_id: String,
    pub project_id: String,
    pub key: String,
    pub version: u32,
    pub revision: u32,
}

impl From<&ArtifactRow> for Waiting {
    fn from(row: &ArtifactRow) -> Waiting {
        Waiting {
            organisation_id: row.organisation_id.clone(),
            project_id: row.project_id.clone(),
            key: row.key.clone(),
            version: row.version,
            revision: row.n_revisions,
        }
    }
}

pub(super) fn putting(row: &ArtifactRow) -> Statement<'_> {
    Statement {
        sql: "INSERT INTO artifact_outbox (organisation_id, project_id, artifact_key, version, revision) \
              VALUES ($1, $2, $3, $4, $5) ON CONFLICT (organisation_id, project_id, artifact_key, version) \
              DO UPDATE SET revision = excluded.revision",
        params: vec![
            row.organisation_id.as_str().into(),
            row.project_id.as_str().into(),
            row.key.as_str().into(),
            i64::from(row.version).into(),
            i64::from(row.n_revisions).into(),
        ],
    }
}

pub async fn read_waiting(conn: &mut Conn, limit: u32) -> Result<Vec<Waiting>, StoreError> {
    let rows = conn
        .fetch_all(
            "SELECT organisation_id, project_id, artifact_key, version, revision FROM artifact_outbox \
             ORDER BY organisation_id, project_id, artifact_key, version LIMIT $1",
            &[i64::from(limit).into()],
        )
        .await?;
    let read = |row: &::store::Row| {
        Ok(Waiting {
            organisation_id: row.text(0)?,
            project_id: row.text(1)?,
            key: row.text(2)?,
            version: small(row.int(3)?)?,
            revision: small(row.int(4)?)?,
        })
    };
    rows.iter().map(read).collect()
}

static DELETE: LazyLock<InList> = LazyLock::new(|| {
    let sql = "DELETE FROM artifact_outbox WHERE organisation_id = $1 AND project_id = $2 AND version = $3 \
               AND revision <= $4 AND artifact_key IN";
    InList::new(sql, 4, "")
});

/// Forgets what is written. A version that changed meanwhile stays.
pub async fn delete_written(tx: &mut Tx<'_>, written: &[Waiting]) -> Result<(), StoreError> {
    // Most documents are new when their files are written, and so are alike but for their keys.
    let mut alike: BTreeMap<(&str, &str, u32, u32), Vec<&str>> = BTreeMap::new();
    for Waiting { organisation_id, project_id, key, version, revision } in written {
        alike.entry((organisation_id, project_id, *version, *revision)).or_default().push(key);
    }
    for ((organisation_id, project_id, version, revision), keys) in alike {
        let before = [organisation_id.into(), project_id.into(), i64::from(version).into(), i64::from(revision).into()];
        DELETE.execute(tx, &before, &keys).await?;
    }
    Ok(())
}
