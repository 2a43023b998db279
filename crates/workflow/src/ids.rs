//! Ids: one counter per organisation, type and project, and reservations of ranges.
//!
//! An id that was given out is never given out again: a counter only grows, and an expired reservation leaves a gap.

use store::{Conn, StoreError, Tx};
use uuid::Uuid;

use crate::audited::{self, AuditedRow};

/// Names one counter.
#[derive(Debug, Clone)]
pub struct Counter<'a> {
    pub organisation_id: &'a str,
    pub prefix: &'a str,
    pub project_id: &'a str,
}

impl Counter<'_> {
    /// Calls for the same counter may share a transaction.
    pub fn lane(&self) -> String {
        format!("ids/{}/{}/{}", self.organisation_id, self.prefix, self.project_id)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum IdsError {
    #[error("the project has reserved {n_max} ranges in the last minute")]
    TooManyReservations { n_max: u32, retry_after_ms: u64 },
    #[error("the reservation is expired or unknown")]
    UnknownReservation,
    #[error("the reservation is already confirmed")]
    AlreadyConfirmed,
    #[error("could not reach the id registry")]
    Store(#[from] StoreError),
}

/// `US-071`; numbers are padded to three digits and grow beyond.
pub fn format_id(prefix: &str, number: i64) -> String {
    format!("{prefix}-{number:03}")
}

/// Takes the next `count` numbers and returns the last of them.
async fn advance(tx: &mut Tx<'_>, counter: &Counter<'_>, count: u32, now_us: i64) -> Result<i64, StoreError> {
    let row = tx
        .fetch_optional(
            "INSERT INTO id_registry \
             (organisation_id, artifact_type, project_id, last_assigned_id, created_at_us, updated_at_us) \
             VALUES ($1, $2, $3, $4, $5, $5) \
             ON CONFLICT (organisation_id, artifact_type, project_id) DO UPDATE SET \
             last_assigned_id = id_registry.last_assigned_id + excluded.last_assigned_id, \
             updated_at_us = excluded.updated_at_us \
             RETURNING last_assigned_id",
            &[
                counter.organisation_id.into(),
                counter.prefix.into(),
                counter.project_id.into(),
                i64::from(count).into(),
                now_us.into(),
            ],
        )
        .await?;
    row.ok_or_else(|| StoreError::other("a counter did not answer"))?.int(0)
}

/// The counter as taking `count` numbers left it, after what that found.
fn advanced(counter: &Counter<'_>, last: i64, count: u32) -> AuditedRow {
    let row = audited::counter(counter, last);
    match last - i64::from(count) {
        // A counter begins with the first number it gives.
        0 => row,
        before => row.after(audited::counter(counter, before)),
    }
}

/// Takes the next id of a counter. Also returns the counter as it is now.
pub async fn take_next(tx: &mut Tx<'_>, counter: &Counter<'_>, now_us: i64) -> Result<(String, AuditedRow), IdsError> {
    let number = advance(tx, counter, 1, now_us).await?;
    Ok((format_id(counter.prefix, number), advanced(counter, number, 1)))
}

/// Raises a counter to a number that somebody chose by hand, so that it is never given out. Returns the counter where
/// that changed it.
pub async fn note_used(
    tx: &mut Tx<'_>,
    counter: &Counter<'_>,
    number: i64,
    now_us: i64,
) -> Result<Option<AuditedRow>, StoreError> {
    let before = tx
        .fetch_optional(
            "SELECT last_assigned_id FROM id_registry \
             WHERE organisation_id = $1 AND artifact_type = $2 AND project_id = $3",
            &[counter.organisation_id.into(), counter.prefix.into(), counter.project_id.into()],
        )
        .await?;
    let row = tx
        .fetch_optional(
            "INSERT INTO id_registry \
             (organisation_id, artifact_type, project_id, last_assigned_id, created_at_us, updated_at_us) \
             VALUES ($1, $2, $3, $4, $5, $5) \
             ON CONFLICT (organisation_id, artifact_type, project_id) DO UPDATE SET \
             last_assigned_id = excluded.last_assigned_id, updated_at_us = excluded.updated_at_us \
             WHERE id_registry.last_assigned_id < excluded.last_assigned_id RETURNING last_assigned_id",
            &[
                counter.organisation_id.into(),
                counter.prefix.into(),
                counter.project_id.into(),
                number.into(),
                now_us.into(),
            ],
        )
        .await?;
    let Some(row) = row else { return Ok(None) };
    let after = audited::counter(counter, row.int(0)?);
    Ok(Some(match before {
        Some(before) => after.after(audited::counter(counter, before.int(0)?)),
        None => after,
    }))
}

/// How a range is reserved. No `Default`: each caller decides, in sight.
#[derive(Debug, Clone)]
pub struct ReserveOptions<'a> {
    pub reserved_by: &'a str,
    pub reservation_id: Uuid,
    pub expires_after_us: i64,
    /// Most reservations of one project in a minute; `None` for callers that are exempt.
    pub n_per_minute_max: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    pub reservation_id: String,
    pub reserved_ids: Vec<String>,
    pub expires_at_us: i64,
    /// The reservation and its counter as they are now.
    pub rows: [AuditedRow; 2],
}

const MINUTE_US: i64 = 60_000_000;

/// Reserves `count` contiguous ids until the reservation expires.
pub async fn reserve(
    tx: &mut Tx<'_>,
    counter: &Counter<'_>,
    count: u32,
    options: &ReserveOptions<'_>,
    now_us: i64,
) -> Result<Reservation, IdsError> {
    if let Some(n_max) = options.n_per_minute_max {
        check_rate(tx, counter, n_max, now_us).await?;
    }
    let last = advance(tx, counter, count, now_us).await?;
    let first = last - i64::from(count) + 1;
    let reservation_id = options.reservation_id.to_string();
    let reserved_ids: Vec<String> = (first..=last).map(|number| format_id(counter.prefix, number)).collect();
    let expires_at_us = now_us + options.expires_after_us;
    let reserved_text = serde_json::Value::from(reserved_ids.clone()).to_string();
    tx.execute(
        "INSERT INTO id_reservations (organisation_id, reservation_id, artifact_type, project_id, reserved_by, \
         reserved_ids, reserved_at_us, expires_at_us, confirmed) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, FALSE)",
        &[
            counter.organisation_id.into(),
            reservation_id.as_str().into(),
            counter.prefix.into(),
            counter.project_id.into(),
            options.reserved_by.into(),
            reserved_text.as_str().into(),
            now_us.into(),
            expires_at_us.into(),
        ],
    )
    .await?;
    let row = audited::reservation(&reservation_id, &reserved_text, options.reserved_by, expires_at_us, false);
    let rows = [row, advanced(counter, last, count)];
    Ok(Reservation { reservation_id, reserved_ids, expires_at_us, rows })
}

async fn check_rate(conn: &mut Conn, counter: &Counter<'_>, n_max: u32, now_us: i64) -> Result<(), IdsError> {
    let row = conn
        .fetch_optional(
            "SELECT COUNT(*), COALESCE(MIN(reserved_at_us), 0) FROM id_reservations \
             WHERE organisation_id = $1 AND project_id = $2 AND reserved_at_us > $3 AND reserved_at_us <= $4",
            &[
                counter.organisation_id.into(),
                counter.project_id.into(),
                (now_us - MINUTE_US).into(),
                // A clock that was set back has left reservations in the future; they are not of the last minute.
                now_us.into(),
            ],
        )
        .await?;
    let Some(row) = row else { return Ok(()) };
    if row.int(0)? < i64::from(n_max) {
        return Ok(());
    }
    let wait_us = (row.int(1)? + MINUTE_US - now_us).max(0);
    Err(IdsError::TooManyReservations { n_max, retry_after_ms: wait_us.unsigned_abs().div_ceil(1000) })
}

/// Confirms a reservation of `reserved_by` and returns it as it is now. Somebody else's reservation looks as if it were
/// not there.
pub async fn confirm(
    tx: &mut Tx<'_>,
    organisation_id: &str,
    reserved_by: &str,
    reservation_id: &str,
    now_us: i64,
) -> Result<AuditedRow, IdsError> {
    let confirmed = tx
        .fetch_optional(
            "UPDATE id_reservations SET confirmed = TRUE WHERE organisation_id = $1 AND reservation_id = $2 \
             AND reserved_by = $3 AND NOT confirmed AND expires_at_us > $4 RETURNING reserved_ids, expires_at_us",
            &[organisation_id.into(), reservation_id.into(), reserved_by.into(), now_us.into()],
        )
        .await?;
    if let Some(row) = confirmed {
        let (reserved_ids, expires_at_us) = (row.text(0)?, row.int(1)?);
        let [before, after] = [false, true].map(|is_confirmed| {
            audited::reservation(reservation_id, &reserved_ids, reserved_by, expires_at_us, is_confirmed)
        });
        return Ok(after.after(before));
    }
    let row = tx
        .fetch_optional(
            "SELECT confirmed FROM id_reservations \
             WHERE organisation_id = $1 AND reservation_id = $2 AND reserved_by = $3",
            &[organisation_id.into(), reservation_id.into(), reserved_by.into()],
        )
        .await?;
    match row {
        Some(row) if row.bool(0)? => Err(IdsError::AlreadyConfirmed),
        Some(_) | None => Err(IdsError::UnknownReservation),
    }
}

/// Reservations that one call forgets at most; each is named in its event.
const DELETED_MAX: i64 = 1_000;

/// Forgets the reservations that expired unconfirmed. Their numbers stay used.
pub async fn delete_expired(tx: &mut Tx<'_>, organisation_id: &str, now_us: i64) -> Result<Vec<AuditedRow>, IdsError> {
    let rows = tx
        .fetch_all(
            "DELETE FROM id_reservations WHERE organisation_id = $1 AND reservation_id IN \
             (SELECT reservation_id FROM id_reservations WHERE organisation_id = $1 AND NOT confirmed \
             AND expires_at_us <= $2 ORDER BY expires_at_us LIMIT $3) \
             RETURNING reservation_id, reserved_ids, reserved_by, expires_at_us, confirmed",
            &[organisation_id.into(), now_us.into(), DELETED_MAX.into()],
        )
        .await?;
    let deleted = rows.iter().map(|row| {
        let id = row.text(0)?;
        let before = audited::reservation(&id, &row.text(1)?, &row.text(2)?, row.int(3)?, row.bool(4)?);
        Ok(audited::deleted_reservation(&id).after(before))
    });
    Ok(deleted.collect::<Result<Vec<AuditedRow>, StoreError>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_padded_to_three_digits_and_grow_beyond() {
        assert_eq!(format_id("US", 71), "US-071");
        assert_eq!(format_id("HLS", 1234), "HLS-1234");
    }
}
