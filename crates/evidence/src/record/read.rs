//! Reading records: by id, or all of a kind page by page in the order of their ids (by their bytes, on both engines).

use std::sync::LazyLock;

use contract::evidence::record::RecordKind;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use store::{Conn, InList, Row, StoreError};

/// A record as the table has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    pub kind: RecordKind,
    pub id: String,
    /// Canonical JSON.
    pub body: String,
}

impl Stored {
    fn new(kind: RecordKind, row: &Row) -> Result<Stored, StoreError> {
        Ok(Stored { kind, id: row.text(0)?, body: row.text(1)? })
    }

    /// The record as its type: `Source`, `Node`, `Edge` or `Document` by its kind.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, StoreError> {
        serde_json::from_str(&self.body).map_err(|_| StoreError::other("a record cannot be read as what it is"))
    }

    /// As it was brought, with its kind.
    pub fn tagged(&self) -> Result<Map<String, Value>, StoreError> {
        let mut members: Map<String, Value> = self.parse()?;
        members.insert("record".to_owned(), Value::from(self.kind.name()));
        Ok(members)
    }
}

static FIND: LazyLock<InList> = LazyLock::new(|| {
    InList::new("SELECT id, body FROM evidence_records WHERE organisation_id = $1 AND kind = $2 AND id IN", 2, "")
});

/// The records of these ids, in no order; those that are not there are left out.
pub async fn find(
    conn: &mut Conn,
    organisation_id: &str,
    kind: RecordKind,
    ids: &[&str],
) -> Result<Vec<Stored>, StoreError> {
    let rows = FIND.fetch(conn, &[organisation_id.into(), kind.name().into()], ids).await?;
    rows.iter().map(|row| Stored::new(kind, row)).collect()
}

pub async fn find_one(
    conn: &mut Conn,
    organisation_id: &str,
    kind: RecordKind,
    id: &str,
) -> Result<Option<Stored>, StoreError> {
    Ok(find(conn, organisation_id, kind, &[id]).await?.pop())
}

/// The next records of a kind after an id; begin with an empty one. To read all of one moment, hold a snapshot.
pub async fn page(
    conn: &mut Conn,
    organisation_id: &str,
    kind: RecordKind,
    after_id: &str,
    n_max: i64,
) -> Result<Vec<Stored>, StoreError> {
    let sql = "SELECT id, body FROM evidence_records WHERE organisation_id = $1 AND kind = $2 AND id > $3
        ORDER BY id LIMIT $4";
    let params = [organisation_id.into(), kind.name().into(), after_id.into(), n_max.into()];
    let rows = conn.fetch_all(sql, &params).await?;
    rows.iter().map(|row| Stored::new(kind, row)).collect()
}

pub async fn count(conn: &mut Conn, organisation_id: &str, kind: RecordKind) -> Result<i64, StoreError> {
    let sql = "SELECT COUNT(*) FROM evidence_records WHERE organisation_id = $1 AND kind = $2";
    let row = conn.fetch_optional(sql, &[organisation_id.into(), kind.name().into()]).await?;
    row.map_or(Ok(0), |row| row.int(0))
}
