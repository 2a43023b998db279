//! `audit_search`: the events of an organisation, newest first.

use contract::actor::Role;
use contract::error::OpError;
use contract::event::Event;
use contract::id::CorrelationId;
use contract::ledger::{AuditSearch, FoundEvent, FoundEvents};
use store::{Param, Row, StoreError};

use super::AUDIT_ROLES;
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, Operation, Read, store_error};

impl Operation for AuditSearch {
    const NAME: &'static str = "audit_search";
    const ABOUT: &'static str =
        "Find events by call, actor, operation, outcome, time or any correlation id, newest first.";
    const FAMILY: Family = Family::Audit;
    const ROLES: &'static [Role] = AUDIT_ROLES;
    const SCOPE: Option<&'static str> = Some("audit.read");

    type Output = FoundEvents;
}

/// Absent conditions are nulls. A correlation id is looked for as text first; the event itself decides.
const SEARCH: &str = "SELECT l.leaf_index, e.body, e.recorded_at_us, e.call_id \
    FROM events e LEFT JOIN log_leaves l ON l.call_id = e.call_id \
    WHERE e.organisation_id = $1 AND ($2 IS NULL OR e.call_id = $2) AND ($3 IS NULL OR e.actor_id = $3) \
    AND ($4 IS NULL OR e.operation = $4) AND ($5 IS NULL OR e.outcome = $5) AND ($6 IS NULL OR e.body LIKE $6) \
    AND e.recorded_at_us >= $7 AND e.recorded_at_us < $8 \
    AND (e.recorded_at_us < $9 OR (e.recorded_at_us = $9 AND e.call_id < $10)) \
    ORDER BY e.recorded_at_us DESC, e.call_id DESC LIMIT $11";

impl Read for AuditSearch {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<FoundEvents>, OpError> {
        let from_us = self.from.as_deref().map(|text| parse_time("from", text)).transpose()?.unwrap_or(i64::MIN);
        let to_us = self.to.as_deref().map(|text| parse_time("to", text)).transpose()?.unwrap_or(i64::MAX);
        let (cursor_us, cursor_id) = position(self.cursor.as_deref())?;
        // `_` and `%` are wild in LIKE; an id may hold the first, which only finds more, never less.
        let pattern = self.correlation_id.as_ref().map(|id| format!("%:\"{id}\"%"));
        let outcome = self.outcome.map(|outcome| outcome.name());
        let mut conn = ctx.read().await?;
        let rows = conn
            .fetch_all(
                SEARCH,
                &[
                    Param::Text(ctx.actor().organisation_id.as_str()),
                    text(self.call_id.as_ref().map(|id| id.as_str())),
                    text(self.actor_id.as_ref().map(|id| id.as_str())),
                    text(self.operation.as_ref().map(|name| name.as_str())),
                    text(outcome),
                    text(pattern.as_deref()),
                    Param::Int(from_us),
                    Param::Int(to_us),
                    Param::Int(cursor_us),
                    Param::Text(&cursor_id),
                    Param::Int(i64::from(self.limit)),
                ],
            )
            .await
            .map_err(store_error)?;
        let is_full = rows.len() == usize::try_from(self.limit).unwrap_or(usize::MAX);
        let next_cursor = match rows.last().filter(|_| is_full) {
            Some(row) => Some(cursor(row).map_err(store_error)?),
            None => None,
        };
        let mut events = Vec::with_capacity(rows.len());
        for row in &rows {
            let found = found(row).map_err(store_error)?.ok_or_else(|| OpError::internal("a kept event is damaged"))?;
            if is_wanted(self.correlation_id.as_ref(), &found.event) {
                events.push(found);
            }
        }
        Ok(Answer::of(FoundEvents { events, next_cursor }))
    }
}

fn text(value: Option<&str>) -> Param<'_> {
    value.map_or(Param::NullText, Param::Text)
}

fn parse_time(field: &str, text: &str) -> Result<i64, OpError> {
    let time: jiff::Timestamp =
        text.parse().map_err(|_| OpError::invalid(field, "a time such as 2026-02-04T19:00:00Z").received(text))?;
    Ok(time.as_microsecond())
}

fn cursor(row: &Row) -> Result<String, StoreError> {
    Ok(format!("{}.{}", row.int(2)?, row.text(3)?))
}

fn found(row: &Row) -> Result<Option<FoundEvent>, StoreError> {
    let event: Option<Event> = serde_json::from_str(&row.text(1)?).ok();
    let leaf_index = row.opt_int(0)?.map(i64::unsigned_abs);
    Ok(event.map(|event| FoundEvent { leaf_index, event }))
}

/// Where the page before ended; beyond the newest event for the first page.
fn position(cursor: Option<&str>) -> Result<(i64, String), OpError> {
    let Some(cursor) = cursor else { return Ok((i64::MAX, String::new())) };
    let parsed = cursor.split_once('.').and_then(|(us, id)| Some((us.parse().ok()?, id.to_owned())));
    parsed.ok_or_else(|| OpError::invalid("cursor", "the `next_cursor` of a page"))
}

fn is_wanted(wanted: Option<&CorrelationId>, event: &Event) -> bool {
    let Some(wanted) = wanted else { return true };
    let ids = &event.correlation;
    [&ids.task_id, &ids.run_id, &ids.request_id, &ids.message_id, &ids.conversation_id]
        .into_iter()
        .flatten()
        .any(|id| id == wanted)
}
