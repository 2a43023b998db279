//! Ids: one counter per organisation, type and project, and reservations of ranges.
//!
//! An id that was given out is never given out again: a counter only grows, and an expired reservation leaves a gap.
//! Whatever is stored or queued under a number that somebody chose raises the counter, so what it gives is always free.

mod gaps;
mod reservations;
mod reserved;

use std::collections::BTreeSet;

use store::{Conn, Statement, StoreError, Tx};

use crate::audited::{self, AuditedRow};
pub use gaps::is_given;
pub use reservations::{Reservation, ReserveOptions, check_rate, confirm, delete_expired, reserve, reserve_number};
pub use reserved::{IdsElsewhere, find_handed_on, find_holders, note_elsewhere};

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
    #[error("{id} is too far ahead: the highest number allowed is {highest}")]
    TooFarAhead { id: String, highest: String },
    #[error("{id} was given to somebody before")]
    Given { id: String },
    #[error("no number is left for {prefix}")]
    NoNumberLeft { prefix: String },
    #[error("the reservation is expired or unknown")]
    UnknownReservation,
    #[error("the reservation is already confirmed")]
    AlreadyConfirmed,
    #[error("could not reach the id registry")]
    Store(#[from] StoreError),
}

/// The highest number that an id can have.
pub const NUMBER_MAX: i64 = 999_999_999;

/// How far beyond its counter a number may be chosen: one document must not use up the numbers of all others.
const LEAP_MAX: i64 = 10_000;

/// `US-071`; numbers are padded to three digits and grow beyond.
pub fn format_id(prefix: &str, number: i64) -> String {
    format!("{prefix}-{number:03}")
}

/// The number that digits stand for, if they are written as [`format_id`] writes them. One document has one id: `0071`
/// beside `071` would be two.
pub fn parse_number(digits: &str) -> Option<i64> {
    let is_plain = (3..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| is_plain)?;
    (digits.len() == 3 || !digits.starts_with('0')).then_some(number)
}

/// Prefix and number of an id.
pub fn parse_id(id: &str) -> Option<(&str, i64)> {
    let (prefix, digits) = id.rsplit_once('-')?;
    Some((prefix, parse_number(digits)?))
}

/// How an id should be written that has more zeros than it needs.
pub fn find_canonical(id: &str) -> Option<String> {
    let (prefix, digits) = id.rsplit_once('-')?;
    let has_spare_zeros = digits.len() > 3 && digits.starts_with('0') && digits.bytes().all(|it| it.is_ascii_digit());
    let number = digits.parse().ok().filter(|number| has_spare_zeros && *number <= NUMBER_MAX)?;
    Some(format_id(prefix, number))
}

/// When a counter begins, and when it is changed.
#[derive(Clone, Copy)]
struct Times {
    made_at_us: i64,
    changed_at_us: i64,
}

impl Times {
    fn both(now_us: i64) -> Times {
        Times { made_at_us: now_us, changed_at_us: now_us }
    }
}

/// Takes the next `count` numbers and returns the last of them.
async fn advance(tx: &mut Tx<'_>, counter: &Counter<'_>, count: u32, times: Times) -> Result<i64, IdsError> {
    let row = tx
        .fetch_optional(
            "INSERT INTO id_registry \
             (organisation_id, artifact_type, project_id, last_assigned_id, created_at_us, updated_at_us) \
             VALUES ($1, $2, $3, $4, $5, $6) \
             ON CONFLICT (organisation_id, artifact_type, project_id) DO UPDATE SET \
             last_assigned_id = id_registry.last_assigned_id + excluded.last_assigned_id, \
             updated_at_us = excluded.updated_at_us \
             RETURNING last_assigned_id",
            &[
                counter.organisation_id.into(),
                counter.prefix.into(),
                counter.project_id.into(),
                i64::from(count).into(),
                times.made_at_us.into(),
                times.changed_at_us.into(),
            ],
        )
        .await?;
    let last = row.ok_or_else(|| StoreError::other("a counter did not answer"))?.int(0)?;
    if last > NUMBER_MAX {
        return Err(IdsError::NoNumberLeft { prefix: counter.prefix.to_owned() });
    }
    Ok(last)
}

/// While numbers are kept for other writes of the batch, more is given out than the counter says. Whoever wants to know
/// more of it than its next number makes the batch run again, each write for itself.
fn check_alone(tx: &Tx<'_>, counter: &Counter<'_>) -> Result<(), StoreError> {
    if tx.has_ahead(&counter.lane()) {
        return Err(StoreError::other("numbers of this counter are kept for others"));
    }
    Ok(())
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
    let number = match tx.take_ahead(&counter.lane()) {
        Some(number) => number,
        None => {
            // With those that the rest of the batch wants: one statement for all of them. Its event will be the last that
            // tells of the counter, so the counter says its time.
            let alike = tx.alike();
            let n_more = alike.map_or(0, |alike| alike.n);
            let changed_at_us = alike.map_or(now_us, |alike| alike.last_at_us);
            let last = advance(tx, counter, n_more + 1, Times { made_at_us: now_us, changed_at_us }).await?;
            let first = last - i64::from(n_more);
            tx.keep_ahead(counter.lane(), first + 1..=last);
            first
        }
    };
    Ok((format_id(counter.prefix, number), advanced(counter, number, 1)))
}

/// Whether a chosen number may be any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leap {
    /// At most so far beyond the counter that enough numbers are left.
    Bounded,
    /// Another service gives out the ids, and our counter only follows.
    Free,
}

/// Notes numbers that somebody chose by hand, so that they are never given out. Returns the rows that this changed.
pub async fn note_used(
    tx: &mut Tx<'_>,
    counter: &Counter<'_>,
    numbers: &[i64],
    leap: Leap,
    now_us: i64,
) -> Result<Vec<AuditedRow>, IdsError> {
    let last = last_assigned(tx, counter).await?;
    let noting = plan_used(tx, counter, last, numbers, leap, now_us).await?;
    tx.execute_together(&noting.statements).await?;
    Ok(noting.rows)
}

/// What is left to do until chosen numbers are noted: whoever has more to write sends it along.
#[derive(Debug, Default)]
pub struct Noting<'a> {
    pub statements: Vec<Statement<'a>>,
    /// The rows as they are after the statements.
    pub rows: Vec<AuditedRow>,
}

/// As [`note_used`], for a counter that was read to stand at `last`, and with the statements that only write left to the
/// caller.
pub async fn plan_used<'a>(
    tx: &mut Tx<'_>,
    counter: &Counter<'a>,
    last: i64,
    numbers: &[i64],
    leap: Leap,
    now_us: i64,
) -> Result<Noting<'a>, IdsError> {
    check_alone(tx, counter)?;
    let (known, new): (BTreeSet<i64>, BTreeSet<i64>) = numbers.iter().partition(|number| **number <= last);
    let mut noting = Noting::default();
    for number in known {
        noting.rows.extend(gaps::take(tx, counter, number).await?.into_iter().flatten());
    }
    let Some(number) = new.last().copied() else { return Ok(noting) };
    let highest = last.saturating_add(LEAP_MAX).min(NUMBER_MAX);
    if leap == Leap::Bounded && number > highest {
        let (id, highest) = (format_id(counter.prefix, number), format_id(counter.prefix, highest));
        return Err(IdsError::TooFarAhead { id, highest });
    }
    let mut before = last;
    for number in new {
        if let Some((statement, gap)) = gaps::insertion(counter, before + 1, number - 1) {
            noting.statements.push(statement);
            noting.rows.push(gap);
        }
        before = number;
    }
    let (statement, raised) = raising(counter, last, number, now_us);
    noting.statements.push(statement);
    noting.rows.push(raised);
    Ok(noting)
}

/// What became of the wish for one certain number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// It is the caller's, with the rows that this changed.
    Taken(Vec<AuditedRow>),
    /// Somebody may have it.
    Given,
}

/// Takes one certain number, if nobody was ever given it.
pub async fn claim(tx: &mut Tx<'_>, counter: &Counter<'_>, number: i64, now_us: i64) -> Result<Claim, IdsError> {
    check_alone(tx, counter)?;
    let last = last_assigned(tx, counter).await?;
    if number > last && number <= last.saturating_add(LEAP_MAX).min(NUMBER_MAX) {
        let gap = gaps::insert(tx, counter, last + 1, number - 1).await?;
        let raised = raise(tx, counter, last, number, now_us).await?;
        return Ok(Claim::Taken(gap.into_iter().chain([raised]).collect()));
    }
    // No counter ever gives out the number of foundation work.
    if number == 0 {
        return Ok(Claim::Taken(Vec::new()));
    }
    let taken = if number <= last { gaps::take(tx, counter, number).await? } else { None };
    Ok(taken.map_or(Claim::Given, Claim::Taken))
}

/// The highest number that a counter has given or passed over.
pub async fn last_assigned(conn: &mut Conn, counter: &Counter<'_>) -> Result<i64, StoreError> {
    let row = conn
        .fetch_optional(
            "SELECT last_assigned_id FROM id_registry \
             WHERE organisation_id = $1 AND artifact_type = $2 AND project_id = $3",
            &[counter.organisation_id.into(), counter.prefix.into(), counter.project_id.into()],
        )
        .await?;
    row.map_or(Ok(0), |row| row.int(0))
}

/// Sets the counter, which stood at `last`, to a higher number.
async fn raise(
    tx: &mut Tx<'_>,
    counter: &Counter<'_>,
    last: i64,
    number: i64,
    now_us: i64,
) -> Result<AuditedRow, StoreError> {
    let (statement, raised) = raising(counter, last, number, now_us);
    tx.execute(statement.sql, &statement.params).await?;
    Ok(raised)
}

fn raising<'a>(counter: &Counter<'a>, last: i64, number: i64, now_us: i64) -> (Statement<'a>, AuditedRow) {
    let statement = Statement {
        sql: "INSERT INTO id_registry \
              (organisation_id, artifact_type, project_id, last_assigned_id, created_at_us, updated_at_us) \
              VALUES ($1, $2, $3, $4, $5, $5) \
              ON CONFLICT (organisation_id, artifact_type, project_id) DO UPDATE SET \
              last_assigned_id = excluded.last_assigned_id, updated_at_us = excluded.updated_at_us",
        params: vec![
            counter.organisation_id.into(),
            counter.prefix.into(),
            counter.project_id.into(),
            number.into(),
            now_us.into(),
        ],
    };
    let row = audited::counter(counter, number);
    // A counter that stands at nothing has no row yet.
    (statement, if last == 0 { row } else { row.after(audited::counter(counter, last)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_padded_to_three_digits_and_grow_beyond() {
        assert_eq!(format_id("US", 71), "US-071");
        assert_eq!(format_id("HLS", 1234), "HLS-1234");
    }

    #[test]
    fn an_id_has_one_form() {
        for (digits, number) in [("000", 0), ("071", 71), ("999", 999), ("1000", 1000), ("999999999", NUMBER_MAX)] {
            assert_eq!(parse_number(digits), Some(number), "{digits}");
        }
        for digits in ["", "71", "0071", "0999", "000000071", "1000000000", "+71", "07x", "٠٧١"] {
            assert_eq!(parse_number(digits), None, "{digits}");
        }
        assert_eq!(find_canonical("EPIC-0011").as_deref(), Some("EPIC-011"));
        assert_eq!(find_canonical("EPIC-00001234").as_deref(), Some("EPIC-1234"));
        for id in ["EPIC-011", "EPIC-11", "EPIC-1000", "EPIC-00AA", "EPIC-1000000000"] {
            assert_eq!(find_canonical(id), None, "{id}");
        }
    }
}
