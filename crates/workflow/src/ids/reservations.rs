//! Ranges of ids that somebody keeps for a while, to confirm them or let them lapse.

use store::{Conn, StoreError, Tx};
use uuid::Uuid;

use super::{
    Claim, Counter, IdsError, LEAP_MAX, NUMBER_MAX, Times, advance, advanced, check_alone, claim, format_id,
    last_assigned,
};
use crate::audited::{self, AuditedRow, ReservationRow};

/// How a range is reserved. No `Default`: each caller decides, in sight.
#[derive(Debug, Clone)]
pub struct ReserveOptions<'a> {
    pub reserved_by: &'a str,
    pub reservation_id: Uuid,
    pub expires_after_us: i64,
    /// Not counted among the reservations of a minute.
    pub is_exempt: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    pub reservation_id: String,
    pub reserved_ids: Vec<String>,
    pub expires_at_us: i64,
    /// The reservation as it is now, then its counter and what else taking the ids changed.
    pub rows: Vec<AuditedRow>,
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
    check_alone(tx, counter)?;
    let last = advance(tx, counter, count, Times::both(now_us)).await?;
    let first = last - i64::from(count) + 1;
    let reserved_ids: Vec<String> = (first..=last).map(|number| format_id(counter.prefix, number)).collect();
    keep_reserved(tx, counter, reserved_ids, vec![advanced(counter, last, count)], options, now_us).await
}

/// Reserves one certain number, if nobody was ever given it.
pub async fn reserve_number(
    tx: &mut Tx<'_>,
    counter: &Counter<'_>,
    number: i64,
    options: &ReserveOptions<'_>,
    now_us: i64,
) -> Result<Reservation, IdsError> {
    let id = format_id(counter.prefix, number);
    let highest = last_assigned(tx, counter).await?.saturating_add(LEAP_MAX).min(NUMBER_MAX);
    if number > highest {
        return Err(IdsError::TooFarAhead { id, highest: format_id(counter.prefix, highest) });
    }
    match claim(tx, counter, number, now_us).await? {
        Claim::Taken(rows) => keep_reserved(tx, counter, vec![id], rows, options, now_us).await,
        Claim::Given => Err(IdsError::Given { id }),
    }
}

/// Keeps ids that were taken, with the rows that this changed, for whoever reserves them.
async fn keep_reserved(
    tx: &mut Tx<'_>,
    counter: &Counter<'_>,
    reserved_ids: Vec<String>,
    taken: Vec<AuditedRow>,
    options: &ReserveOptions<'_>,
    now_us: i64,
) -> Result<Reservation, IdsError> {
    let reservation_id = options.reservation_id.to_string();
    let expires_at_us = now_us + options.expires_after_us;
    let reserved_text = serde_json::Value::from(reserved_ids.clone()).to_string();
    tx.execute(
        "INSERT INTO id_reservations (organisation_id, reservation_id, artifact_type, project_id, reserved_by, \
         reserved_ids, reserved_at_us, expires_at_us, confirmed, is_exempt) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, FALSE, $9)",
        &[
            counter.organisation_id.into(),
            reservation_id.as_str().into(),
            counter.prefix.into(),
            counter.project_id.into(),
            options.reserved_by.into(),
            reserved_text.as_str().into(),
            now_us.into(),
            expires_at_us.into(),
            options.is_exempt.into(),
        ],
    )
    .await?;
    let row = ReservationRow {
        id: reservation_id.clone(),
        artifact_type: counter.prefix.to_owned(),
        project_id: counter.project_id.to_owned(),
        reserved_ids: reserved_text,
        reserved_by: options.reserved_by.to_owned(),
        expires_at_us,
        confirmed: false,
        is_exempt: options.is_exempt,
    };
    let rows = std::iter::once(row.audited()).chain(taken).collect();
    Ok(Reservation { reservation_id, reserved_ids, expires_at_us, rows })
}

/// Refuses more than so many reservations of one project in a minute. Not for the transaction that reserves: under
/// PostgreSQL's SERIALIZABLE whoever reads a range of reservations there meets all who reserve in other projects. Calls that
/// come at the same moment may each find room.
pub async fn check_rate(conn: &mut Conn, counter: &Counter<'_>, n_max: u32, now_us: i64) -> Result<(), IdsError> {
    // The oldest of the last `n_max`: when it is a minute old, there is room for one more.
    let row = conn
        .fetch_optional(
            "SELECT reserved_at_us FROM id_reservations \
             WHERE organisation_id = $1 AND project_id = $2 AND reserved_at_us > $3 AND reserved_at_us <= $4 \
             AND NOT is_exempt \
             ORDER BY reserved_at_us DESC LIMIT 1 OFFSET $5",
            &[
                counter.organisation_id.into(),
                counter.project_id.into(),
                (now_us - MINUTE_US).into(),
                // Calls that came later, here or at another server, may have been served first. What is further ahead was
                // left by a clock that was set back.
                (now_us + MINUTE_US).into(),
                (i64::from(n_max) - 1).max(0).into(),
            ],
        )
        .await?;
    let Some(row) = row else { return Ok(()) };
    let wait_us = (row.int(0)? + MINUTE_US - now_us).max(0);
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
             AND reserved_by = $3 AND NOT confirmed AND expires_at_us > $4 \
             RETURNING reservation_id, artifact_type, project_id, reserved_ids, reserved_by, expires_at_us, confirmed, \
             is_exempt",
            &[organisation_id.into(), reservation_id.into(), reserved_by.into(), now_us.into()],
        )
        .await?;
    if let Some(row) = confirmed {
        let after = ReservationRow::read(&row)?;
        let before = ReservationRow { confirmed: false, ..after.clone() };
        return Ok(after.audited().after(before.audited()));
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
             RETURNING reservation_id, artifact_type, project_id, reserved_ids, reserved_by, expires_at_us, confirmed, \
             is_exempt",
            &[organisation_id.into(), now_us.into(), DELETED_MAX.into()],
        )
        .await?;
    let deleted = rows.iter().map(|row| {
        let before = ReservationRow::read(row)?;
        Ok(audited::deleted_reservation(&before.id).after(before.audited()))
    });
    Ok(deleted.collect::<Result<Vec<AuditedRow>, StoreError>>()?)
}
