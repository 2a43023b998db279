//! The events table: one row per call, inserted in the transaction of its change and never altered.

use std::sync::LazyLock;

use crate::bulk::Bulk;
use crate::conn::Conn;
use crate::error::StoreError;
use crate::param::Param;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    pub call_id: String,
    pub organisation_id: String,
    pub recorded_at_us: i64,
    pub actor_id: String,
    pub operation: String,
    pub outcome: String,
    /// Canonical JSON.
    pub body: String,
}

/// What to do with an event whose `call_id` is already stored.
#[derive(Clone, Copy)]
pub(crate) enum Duplicate {
    Refuse,
    /// For a flush that is repeated after a commit of unknown outcome.
    Skip,
}

const INTO: &str = "events (call_id, organisation_id, recorded_at_us, actor_id, operation, outcome, body)";
const N_COLUMNS: usize = 7;

static REFUSE: LazyLock<Bulk> = LazyLock::new(|| Bulk::new(INTO, N_COLUMNS, ""));
static SKIP: LazyLock<Bulk> = LazyLock::new(|| Bulk::new(INTO, N_COLUMNS, " ON CONFLICT (call_id) DO NOTHING"));

pub(crate) async fn insert(conn: &mut Conn, events: &[&EventRow], duplicate: Duplicate) -> Result<(), StoreError> {
    let bulk: &'static Bulk = match duplicate {
        Duplicate::Refuse => &REFUSE,
        Duplicate::Skip => &SKIP,
    };
    let inserting = bulk.insert_counting(conn, events, |event, params| {
        params.extend([
            Param::Text(&event.call_id),
            Param::Text(&event.organisation_id),
            Param::Int(event.recorded_at_us),
            Param::Text(&event.actor_id),
            Param::Text(&event.operation),
            Param::Text(&event.outcome),
            Param::Text(&event.body),
        ]);
    });
    if usize::try_from(inserting.await?) == Ok(events.len()) {
        return Ok(());
    }
    // Other hands may have left something in the database that keeps events out of it.
    for event in events {
        let sql = "SELECT 1 FROM events WHERE call_id = $1";
        if conn.fetch_optional(sql, &[Param::Text(&event.call_id)]).await?.is_none() {
            return Err(StoreError::damaged("events", "an event was not stored, although nothing refused it"));
        }
    }
    Ok(())
}
