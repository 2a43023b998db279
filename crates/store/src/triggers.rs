//! What the database does by itself when a table is written or read. The schema has nothing of the kind, nor a view that could
//! stand in the place of a table.

use crate::conn::Conn;
use crate::error::StoreError;
use crate::param::Param;

/// So many are looked for; the first is enough to doubt a database.
const TRIGGERS_MAX: i64 = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trigger {
    /// `trigger` or `view`; on PostgreSQL also `rule`, `row security`, `policy` and `event trigger`.
    pub kind: String,
    pub name: String,
    /// For an event trigger, on what it fires.
    pub table: String,
}

pub async fn find_all(conn: &mut Conn) -> Result<Vec<Trigger>, StoreError> {
    let rows = conn.fetch_all(conn.engine().triggers_sql(), &[Param::Int(TRIGGERS_MAX)]).await?;
    let found = rows.iter().map(|row| Ok(Trigger { kind: row.text(0)?, name: row.text(1)?, table: row.text(2)? }));
    found.collect()
}
