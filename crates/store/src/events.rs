//! The events table: one row per call, inserted in the transaction of its change and never altered.

use std::sync::LazyLock;

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

/// How many rows one statement may insert, largest first. A handful of sizes, because each is a prepared statement of
/// its own on every connection: with all sizes up to 64 they would evict the rest of the program's statements.
const N_ROWS: [usize; 11] = [64, 32, 16, 8, 7, 6, 5, 4, 3, 2, 1];
const N_COLUMNS: usize = 7;

/// What to do with an event whose `call_id` is already stored.
#[derive(Clone, Copy)]
pub(crate) enum Duplicate {
    Refuse,
    /// For a flush that is repeated after a commit of unknown outcome.
    Skip,
}

struct Statement {
    n_rows: usize,
    refuse: String,
    skip: String,
}

static STATEMENTS: LazyLock<Vec<Statement>> = LazyLock::new(|| {
    let statement = |n_rows: usize| {
        let rows: Vec<String> = (0..n_rows)
            .map(|row| {
                let places: Vec<String> =
                    (1..=N_COLUMNS).map(|column| format!("${}", row * N_COLUMNS + column)).collect();
                format!("({})", places.join(", "))
            })
            .collect();
        let refuse = format!(
            "INSERT INTO events (call_id, organisation_id, recorded_at_us, actor_id, operation, outcome, body) VALUES {}",
            rows.join(", ")
        );
        let skip = format!("{refuse} ON CONFLICT (call_id) DO NOTHING");
        Statement { n_rows, refuse, skip }
    };
    N_ROWS.into_iter().map(statement).collect()
});

pub(crate) async fn insert(conn: &mut Conn, events: &[&EventRow], duplicate: Duplicate) -> Result<(), StoreError> {
    let mut rest = events;
    for statement in STATEMENTS.iter() {
        let sql = match duplicate {
            Duplicate::Refuse => &statement.refuse,
            Duplicate::Skip => &statement.skip,
        };
        while let Some((rows, after)) = rest.split_at_checked(statement.n_rows) {
            let params: Vec<Param<'_>> = rows.iter().flat_map(|event| params(event)).collect();
            conn.execute(sql, &params).await?;
            rest = after;
        }
    }
    Ok(())
}

fn params(event: &EventRow) -> [Param<'_>; N_COLUMNS] {
    [
        Param::Text(&event.call_id),
        Param::Text(&event.organisation_id),
        Param::Int(event.recorded_at_us),
        Param::Text(&event.actor_id),
        Param::Text(&event.operation),
        Param::Text(&event.outcome),
        Param::Text(&event.body),
    ]
}
