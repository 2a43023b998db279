//! Batches: what each change of the record touched, in numbered order.

use contract::canonical;
use contract::evidence::record::RecordKind;
use serde_json::{Value, json};
use store::{Conn, StoreError, Tx};

/// A record that a batch touched, with the hash of its content; without one where it was withdrawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub kind: RecordKind,
    pub id: String,
    /// Hex.
    pub sha256: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    pub number: i64,
    pub changes: Vec<Change>,
}

/// Batches on one page of [`after`].
pub const PAGE_MAX: i64 = 50;

/// The change number of an organisation; 0 before its first batch.
pub async fn latest(conn: &mut Conn, organisation_id: &str) -> Result<i64, StoreError> {
    let sql = "SELECT batch_number FROM evidence_batches WHERE organisation_id = $1 ORDER BY batch_number DESC LIMIT 1";
    let row = conn.fetch_optional(sql, &[organisation_id.into()]).await?;
    row.map_or(Ok(0), |row| row.int(0))
}

/// The next batches after a change number, the oldest first.
pub async fn after(conn: &mut Conn, organisation_id: &str, version: i64) -> Result<Vec<Batch>, StoreError> {
    let sql = "SELECT batch_number, manifest FROM evidence_batches WHERE organisation_id = $1 AND batch_number > $2
        ORDER BY batch_number LIMIT $3";
    let rows = conn.fetch_all(sql, &[organisation_id.into(), version.into(), PAGE_MAX.into()]).await?;
    let batch = |row: &store::Row| Ok(Batch { number: row.int(0)?, changes: parse(&row.text(1)?)? });
    rows.iter().map(batch).collect()
}

/// Appends a batch and answers its number and the hash of its manifest; where nothing changed, the number before.
pub(super) async fn append(
    tx: &mut Tx<'_>,
    organisation_id: &str,
    changes: &[Change],
) -> Result<(i64, Option<String>), StoreError> {
    let before = latest(tx, organisation_id).await?;
    if changes.is_empty() {
        return Ok((before, None));
    }
    let (number, manifest) = (before + 1, manifest(changes));
    let sql = "INSERT INTO evidence_batches (organisation_id, batch_number, manifest) VALUES ($1, $2, $3)";
    tx.execute(sql, &[organisation_id.into(), number.into(), (&manifest).into()]).await?;
    Ok((number, Some(hash(number, &manifest))))
}

fn manifest(changes: &[Change]) -> String {
    let entries = changes.iter().map(|change| json!([change.kind.name(), change.id, change.sha256]));
    canonical::text_of(&Value::Array(entries.collect()))
}

/// The number is part of what is hashed: two batches must not be able to change places.
pub(super) fn hash(number: i64, manifest: &str) -> String {
    canonical::hash_text(&format!("{number}\n{manifest}"))
}

pub(super) fn parse(manifest: &str) -> Result<Vec<Change>, StoreError> {
    let entries: Vec<(String, String, Option<String>)> =
        serde_json::from_str(manifest).map_err(|_| StoreError::other("a manifest of a batch cannot be read"))?;
    let change = |(kind, id, sha256): (String, String, Option<String>)| {
        let kind = RecordKind::find(&kind).ok_or(StoreError::other("a manifest names a kind that is none"))?;
        Ok(Change { kind, id, sha256 })
    };
    entries.into_iter().map(change).collect()
}
