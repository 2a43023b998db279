//! Numbers that a counter passed over and nobody was ever given: they are free for a document that wants just that one.

use store::{StoreError, Tx};

use super::Counter;

/// Keeps a range in mind; an empty one is none.
pub(super) async fn insert(tx: &mut Tx<'_>, counter: &Counter<'_>, first: i64, last: i64) -> Result<(), StoreError> {
    if first > last {
        return Ok(());
    }
    tx.execute(
        "INSERT INTO id_gaps (organisation_id, artifact_type, project_id, first_number, last_number) \
         VALUES ($1, $2, $3, $4, $5)",
        &[counter.organisation_id.into(), counter.prefix.into(), counter.project_id.into(), first.into(), last.into()],
    )
    .await?;
    Ok(())
}

/// Takes a number out of its gap. Says whether it was in one.
pub(super) async fn take(tx: &mut Tx<'_>, counter: &Counter<'_>, number: i64) -> Result<bool, StoreError> {
    let row = tx
        .fetch_optional(
            "DELETE FROM id_gaps WHERE organisation_id = $1 AND artifact_type = $2 AND project_id = $3 \
             AND first_number <= $4 AND last_number >= $4 RETURNING first_number, last_number",
            &[counter.organisation_id.into(), counter.prefix.into(), counter.project_id.into(), number.into()],
        )
        .await?;
    let Some(row) = row else { return Ok(false) };
    insert(tx, counter, row.int(0)?, number - 1).await?;
    insert(tx, counter, number + 1, row.int(1)?).await?;
    Ok(true)
}
