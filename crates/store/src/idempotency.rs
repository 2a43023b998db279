//! Idempotency keys: the stored answer of a write, so that a repeated call gets it again instead of a second change.

use crate::conn::{Conn, Tx};
use crate::error::StoreError;
use crate::param::Param;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Hash of the input that produced the output; another one under the same key is a conflict.
    pub in_hash: String,
    pub output: String,
}

pub async fn find(
    conn: &mut Conn,
    organisation_id: &str,
    actor_id: &str,
    operation: &str,
    key: &str,
) -> Result<Option<Stored>, StoreError> {
    let sql = "SELECT in_hash, output FROM idempotency_keys
        WHERE organisation_id = $1 AND actor_id = $2 AND operation = $3 AND idempotency_key = $4";
    let row =
        conn.fetch_optional(sql, &[organisation_id.into(), actor_id.into(), operation.into(), key.into()]).await?;
    row.map(|row| Ok(Stored { in_hash: row.text(0)?, output: row.text(1)? })).transpose()
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
