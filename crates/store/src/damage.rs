//! Damage below the rows: pages that cannot be read, and indexes that do not have what their tables have. A row that its index
//! lacks is hidden from whoever looks for it by that index, and no row is changed.
//!
//! SQLite compares every index with its table. PostgreSQL has no such check without an extension: there an index that is not
//! in use or not kept is named, and one index of each table is counted against the table itself.

use crate::conn::Conn;
use crate::dialect::Engine;
use crate::error::StoreError;

/// What is damaged, in words with names of the schema and numbers of pages and rows alone.
pub async fn find(conn: &mut Conn, tables: &[&str]) -> Result<Vec<String>, StoreError> {
    match conn.engine() {
        Engine::Sqlite => in_file(conn).await,
        Engine::Postgres => {
            let mut found = unkept_indexes(conn).await?;
            found.extend(short_indexes(conn, tables).await?);
            Ok(found)
        }
    }
}

/// The first that is damaged in a file of SQLite is enough to restore a backup; a few more help to see how.
async fn in_file(conn: &mut Conn) -> Result<Vec<String>, StoreError> {
    let rows = conn.fetch_all("PRAGMA integrity_check(10)", &[]).await?;
    let found: Vec<String> = rows.iter().map(|row| row.text(0)).collect::<Result<_, _>>()?;
    // Each is one finding, and some have several lines.
    Ok(found.into_iter().filter(|found| found != "ok").map(|found| found.replace('\n', "; ")).collect())
}

async fn unkept_indexes(conn: &mut Conn) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT i.relname::text, t.relname::text FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid \
               JOIN pg_class t ON t.oid = x.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace \
               WHERE n.nspname = current_schema() AND NOT (x.indisvalid AND x.indisready AND x.indislive) \
               ORDER BY 1 LIMIT 100";
    let rows = conn.fetch_all(sql, &[]).await?;
    let told = rows.iter().map(|row| Ok(format!("index {} of {} is marked as not kept", row.text(0)?, row.text(1)?)));
    told.collect()
}

/// Who plans a count by an index, and who by the table itself.
const BY_INDEX: &str = "SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true), \
     set_config('enable_indexscan', 'on', true), set_config('enable_indexonlyscan', 'on', true)";
const BY_TABLE: &str = "SELECT set_config('enable_seqscan', 'on', true), set_config('enable_bitmapscan', 'off', true), \
     set_config('enable_indexscan', 'off', true), set_config('enable_indexonlyscan', 'off', true)";
const AS_BEFORE: &str = "SELECT set_config('enable_seqscan', 'on', true), set_config('enable_bitmapscan', 'on', true), \
     set_config('enable_indexscan', 'on', true), set_config('enable_indexonlyscan', 'on', true)";

async fn short_indexes(conn: &mut Conn, tables: &[&str]) -> Result<Vec<String>, StoreError> {
    // A statement that fails over a table that is gone would be the last one of its moment.
    let sql = "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
               WHERE n.nspname = current_schema() AND c.relkind = 'r'";
    let known: Vec<String> = conn.fetch_all(sql, &[]).await?.iter().map(|row| row.text(0)).collect::<Result<_, _>>()?;
    let mut found = Vec::new();
    for table in tables.iter().filter(|table| known.iter().any(|known| known == *table)) {
        conn.fetch_optional(BY_INDEX, &[]).await?;
        let by_index = count(conn, table).await?;
        conn.fetch_optional(BY_TABLE, &[]).await?;
        let by_table = count(conn, table).await?;
        if by_index != by_table {
            found.push(format!("an index of {table} has {by_index} of its {by_table} rows"));
        }
    }
    conn.fetch_optional(AS_BEFORE, &[]).await?;
    Ok(found)
}

async fn count(conn: &mut Conn, table: &str) -> Result<i64, StoreError> {
    let row = conn.fetch_built(format!("SELECT COUNT(*) FROM {table}")).await?;
    row.map_or(Ok(0), |row| row.int(0))
}
