//! For whom ids are kept.

use store::{Conn, StoreError};

use super::Counter;

/// Who has reserved an id for themselves, and holds it still. What an approval reserves is its document's.
pub async fn find_holders(
    conn: &mut Conn,
    counter: &Counter<'_>,
    id: &str,
    now_us: i64,
) -> Result<Vec<String>, StoreError> {
    let rows = conn
        .fetch_all(
            "SELECT reserved_by FROM id_reservations WHERE organisation_id = $1 AND project_id = $2 \
             AND artifact_type = $3 AND NOT is_exempt AND (confirmed OR expires_at_us > $4) AND reserved_ids LIKE $5",
            &[
                counter.organisation_id.into(),
                counter.project_id.into(),
                counter.prefix.into(),
                now_us.into(),
                // They are kept as a JSON array.
                format!("%\"{id}\"%").as_str().into(),
            ],
        )
        .await?;
    rows.iter().map(|row| row.text(0)).collect()
}
