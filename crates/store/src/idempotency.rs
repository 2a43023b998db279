//! Idempotency keys: the stored answer of a write, so that a repeated call gets it again instead of a second change.

use crate::conn::{Conn, Tx};
use crate::error::StoreError;
use crate::param::Param;
use crate::row::Row;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Hash of the input that produced the output; another one under the same key is a conflict.
    pub in_hash: String,
    pub output: String,
}

/// A stored answer, and when the call was that it answered: its event has the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub stored: Stored,
    pub recorded_at_us: i64,
}

/// Organisation, actor, operation and key.
pub type Place = [String; 4];

pub async fn find(
    conn: &mut Conn,
    organisation_id: &str,
    actor_id: &str,
    operation: &str,
    key: &str,
) -> Result<Option<Kept>, StoreError> {
    let sql = "SELECT in_hash, output, recorded_at_us FROM idempotency_keys
        WHERE organisation_id = $1 AND actor_id = $2 AND operation = $3 AND idempotency_key = $4";
    let row =
        conn.fetch_optional(sql, &[organisation_id.into(), actor_id.into(), operation.into(), key.into()]).await?;
    row.map(|row| {
        let stored = Stored { in_hash: row.text(0)?, output: row.text(1)? };
        Ok(Kept { stored, recorded_at_us: row.int(2)? })
    })
    .transpose()
}

/// The next stored answers after a place. Begin with the default.
pub async fn read_page(conn: &mut Conn, after: &Place, n_max: i64) -> Result<Vec<(Place, Kept)>, StoreError> {
    let sql = "SELECT organisation_id, actor_id, operation, idempotency_key, in_hash, output, recorded_at_us
        FROM idempotency_keys
        WHERE (organisation_id, actor_id, operation, idempotency_key) > ($1, $2, $3, $4)
        ORDER BY organisation_id, actor_id, operation, idempotency_key LIMIT $5";
    let [organisation_id, actor_id, operation, key] = after;
    let params = [organisation_id.into(), actor_id.into(), operation.into(), key.into(), n_max.into()];
    let rows = conn.fetch_all(sql, &params).await?;
    let entry = |row: &Row| {
        let place = [row.text(0)?, row.text(1)?, row.text(2)?, row.text(3)?];
        let stored = Stored { in_hash: row.text(4)?, output: row.text(5)? };
        Ok((place, Kept { stored, recorded_at_us: row.int(6)? }))
    };
    rows.iter().map(entry).collect()
}

/// The events of an actor at one time, in which a stored answer must be found.
pub async fn event_bodies(
    conn: &mut Conn,
    organisation_id: &str,
    actor_id: &str,
    recorded_at_us: i64,
) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT body FROM events WHERE organisation_id = $1 AND actor_id = $2 AND recorded_at_us = $3";
    let rows = conn.fetch_all(sql, &[organisation_id.into(), actor_id.into(), recorded_at_us.into()]).await?;
    rows.iter().map(|row| row.text(0)).collect()
}

/// A key that is already there is a [`crate::StoreErrorKind::UniqueViolation`].
pub async fn insert(
    tx: &mut Tx<'_>,
    organisation_id: &str,
    actor_id: &str,
    operation: &str,
    key: &str,
    stored: &Stored,
    recorded_at_us: i64,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO idempotency_keys
        (organisation_id, actor_id, operation, idempotency_key, in_hash, output, recorded_at_us)
        VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let params = [
        Param::Text(organisation_id),
        Param::Text(actor_id),
        Param::Text(operation),
        Param::Text(key),
        Param::Text(&stored.in_hash),
        Param::Text(&stored.output),
        Param::Int(recorded_at_us),
    ];
    tx.execute(sql, &params).await?;
    Ok(())
}

/// Answers how many keys were deleted.
pub async fn delete_older_than(tx: &mut Tx<'_>, recorded_at_us: i64) -> Result<u64, StoreError> {
    tx.execute("DELETE FROM idempotency_keys WHERE recorded_at_us < $1", &[recorded_at_us.into()]).await
}
