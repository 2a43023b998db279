//! Numbers that a counter passed over and nobody was ever given: they are free for a document that wants just that one.

use store::{Conn, Statement, StoreError, Tx};

use super::{Counter, last_assigned};
use crate::audited::{self, AuditedRow};

/// Keeps a range in mind; an empty one is none.
pub(super) async fn insert(
    tx: &mut Tx<'_>,
    counter: &Counter<'_>,
    first: i64,
    last: i64,
) -> Result<Option<AuditedRow>, StoreError> {
    let Some((statement, gap)) = insertion(counter, first, last) else { return Ok(None) };
    tx.execute(statement.sql, &statement.params).await?;
    Ok(Some(gap))
}

pub(super) fn insertion<'a>(counter: &Counter<'a>, first: i64, last: i64) -> Option<(Statement<'a>, AuditedRow)> {
    if first > last {
        return None;
    }
    let (organisation_id, prefix, project_id) = (counter.organisation_id, counter.prefix, counter.project_id);
    let statement = Statement {
        sql: "INSERT INTO id_gaps (organisation_id, artifact_type, project_id, first_number, last_number) \
              VALUES ($1, $2, $3, $4, $5)",
        params: vec![organisation_id.into(), prefix.into(), project_id.into(), first.into(), last.into()],
    };
    Some((statement, audited::gap(counter, first, Some(last))))
}

/// Whether a number was ever given or noted here.
pub async fn is_given(conn: &mut Conn, counter: &Counter<'_>, number: i64) -> Result<bool, StoreError> {
    if number > last_assigned(conn, counter).await? {
        return Ok(false);
    }
    let gap = conn
        .fetch_optional(
            "SELECT 1 FROM id_gaps WHERE organisation_id = $1 AND artifact_type = $2 AND project_id = $3 \
             AND first_number <= $4 AND last_number >= $4",
            &[counter.organisation_id.into(), counter.prefix.into(), counter.project_id.into(), number.into()],
        )
        .await?;
    // No counter ever gives out the number of foundation work.
    Ok(gap.is_none() && number > 0)
}

/// Takes a number out of its gap, and returns what is left of that; `None` if it was in none.
pub(super) async fn take(
    tx: &mut Tx<'_>,
    counter: &Counter<'_>,
    number: i64,
) -> Result<Option<Vec<AuditedRow>>, StoreError> {
    let row = tx
        .fetch_optional(
            "DELETE FROM id_gaps WHERE organisation_id = $1 AND artifact_type = $2 AND project_id = $3 \
             AND first_number <= $4 AND last_number >= $4 RETURNING first_number, last_number",
            &[counter.organisation_id.into(), counter.prefix.into(), counter.project_id.into(), number.into()],
        )
        .await?;
    let Some(row) = row else { return Ok(None) };
    let (first, last) = (row.int(0)?, row.int(1)?);
    let below = insert(tx, counter, first, number - 1).await?.unwrap_or_else(|| audited::gap(counter, first, None));
    let above = insert(tx, counter, number + 1, last).await?;
    Ok(Some([below.after(audited::gap(counter, first, Some(last)))].into_iter().chain(above).collect()))
}
