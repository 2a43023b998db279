//! The events table: one row per call, inserted in the transaction of its change and never altered.

use std::sync::LazyLock;

use crate::bulk::Bulk;
use crate::conn::Conn;
use crate::dialect::Engine;
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

impl EventRow {
    fn params(&self) -> [Param<'_>; N_COLUMNS] {
        [
            Param::Text(&self.call_id),
            Param::Text(&self.organisation_id),
            Param::Int(self.recorded_at_us),
            Param::Text(&self.actor_id),
            Param::Text(&self.operation),
            Param::Text(&self.outcome),
            Param::Text(&self.body),
        ]
    }
}

/// What to do with an event whose `call_id` is already stored.
#[derive(Clone, Copy)]
pub(crate) enum Duplicate {
    Refuse,
    /// For a flush that is repeated after a commit of unknown outcome.
    Skip,
}

const COLUMNS: &str = "call_id, organisation_id, recorded_at_us, actor_id, operation, outcome, body";
const N_COLUMNS: usize = 7;
const SKIPPING: &str = " ON CONFLICT (call_id) DO NOTHING";

/// The same rows, with numbers from the engine or from here.
struct Insert {
    by_engine: Bulk,
    numbered: Bulk,
}

impl Insert {
    fn new(after: &str) -> Insert {
        Insert { by_engine: Bulk::new(&format!("events ({COLUMNS})"), N_COLUMNS, after), numbered: numbered(after) }
    }
}

pub(crate) const EVENT_IS_SWALLOWED: &str = "an event was not stored, although nothing refused it";

fn numbered(after: &str) -> Bulk {
    Bulk::new(&format!("events (event_seq, {COLUMNS})"), N_COLUMNS + 1, after)
}

static REFUSE: LazyLock<Insert> = LazyLock::new(|| Insert::new(""));
static SKIP: LazyLock<Insert> = LazyLock::new(|| Insert::new(SKIPPING));
/// On SQLite, all that is left to do in a batch in one go. Where other hands left something in the database that keeps
/// events out of it, an overflow stops it before its commit.
static COMMIT: LazyLock<Bulk> =
    LazyLock::new(|| numbered("; SELECT CASE changes() WHEN ? THEN 1 ELSE abs(-9223372036854775807 - 1) END; COMMIT"));

/// The call of the oldest event, by which databases can be told apart.
pub async fn first_call_id(conn: &mut Conn) -> Result<Option<String>, StoreError> {
    let row = conn.fetch_optional(conn.engine().oldest_event_sql(), &[]).await?;
    row.map(|row| row.text(0)).transpose()
}

/// The number of the next event, where the engine would count on from whatever other hands put there.
async fn next_number(conn: &mut Conn) -> Result<Option<i64>, StoreError> {
    let Some(sql) = conn.engine().last_event_sql() else { return Ok(None) };
    let last = match conn.last_event.take() {
        Some(last) => last,
        None => conn.fetch_optional(sql, &[]).await?.map(|row| row.opt_int(0)).transpose()?.flatten().unwrap_or(0),
    };
    let next = last.max(0).checked_add(1);
    next.map(Some).ok_or_else(|| StoreError::damaged("events", "no number is left for another event"))
}

fn put_numbered<'r>((number, event): &'r (i64, &EventRow), params: &mut Vec<Param<'r>>) {
    params.push(Param::Int(*number));
    params.extend(event.params());
}

/// What failed at the end of a batch.
pub(crate) enum Unfinished {
    Events(StoreError),
    Commit(StoreError),
}

/// Stores the events of a batch and commits it, in as few round trips as the engine allows.
pub(crate) async fn insert_and_commit(conn: &mut Conn, events: &[&EventRow]) -> Result<(), Unfinished> {
    if !events.is_empty() {
        let first = match conn.engine() {
            Engine::Sqlite => next_number(conn).await.map_err(Unfinished::Events)?,
            Engine::Postgres => None,
        };
        let numbered: Vec<(i64, &EventRow)> = (first.unwrap_or(0)..).zip(events.iter().copied()).collect();
        let whole = first.and_then(|_| COMMIT.whole(conn.engine(), &numbered, put_numbered));
        if let Some((sql, mut params)) = whole {
            params.push(Param::Int(i64::try_from(events.len()).unwrap_or(i64::MAX)));
            return conn.finish(sql, &params).await.map_err(|(n_done, error)| match n_done {
                0 => Unfinished::Events(error),
                // Nothing else can go wrong in what counts them.
                1 => Unfinished::Events(StoreError::damaged("events", EVENT_IS_SWALLOWED)),
                _ => Unfinished::Commit(error),
            });
        }
        insert(conn, events, Duplicate::Refuse).await.map_err(Unfinished::Events)?;
    }
    conn.commit().await.map_err(Unfinished::Commit)
}

pub(crate) async fn insert(conn: &mut Conn, events: &[&EventRow], duplicate: Duplicate) -> Result<(), StoreError> {
    if events.is_empty() {
        return Ok(());
    }
    let insert: &'static Insert = match duplicate {
        Duplicate::Refuse => &REFUSE,
        Duplicate::Skip => &SKIP,
    };
    let n_inserted = match next_number(conn).await? {
        None => insert.by_engine.insert_counting(conn, events, |event, params| params.extend(event.params())).await?,
        Some(first) => {
            let numbered: Vec<(i64, &EventRow)> = (first..).zip(events.iter().copied()).collect();
            insert.numbered.insert_counting(conn, &numbered, put_numbered).await?
        }
    };
    if usize::try_from(n_inserted) == Ok(events.len()) {
        return Ok(());
    }
    // Other hands may have left something in the database that keeps events out of it.
    for event in events {
        let sql = "SELECT 1 FROM events WHERE call_id = $1";
        if conn.fetch_optional(sql, &[Param::Text(&event.call_id)]).await?.is_none() {
            return Err(StoreError::damaged("events", EVENT_IS_SWALLOWED));
        }
    }
    Ok(())
}
