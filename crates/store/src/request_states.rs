//! Request states that were used. The row is what makes the second use of one fail.

use crate::conn::Tx;
use crate::error::StoreError;

/// Uses a state. `false` if it was used before.
pub async fn use_once(
    tx: &mut Tx<'_>,
    organisation_id: &str,
    state_id: &str,
    expires_at_us: i64,
) -> Result<bool, StoreError> {
    let sql = "INSERT INTO used_request_states (organisation_id, state_id, expires_at_us) VALUES ($1, $2, $3)
        ON CONFLICT (organisation_id, state_id) DO NOTHING";
    let n_inserted = tx.execute(sql, &[organisation_id.into(), state_id.into(), expires_at_us.into()]).await?;
    Ok(n_inserted == 1)
}

/// Forgets states that are refused for their age anyway. Answers how many.
pub async fn delete_expired(tx: &mut Tx<'_>, now_us: i64) -> Result<u64, StoreError> {
    tx.execute("DELETE FROM used_request_states WHERE expires_at_us < $1", &[now_us.into()]).await
}
