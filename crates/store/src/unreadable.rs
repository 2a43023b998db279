//! Rows with a cell that is not of its column's type. SQLite lets other hands write any type into any column; such a row
//! cannot be read as what it was. It is named, and set aside, so that the others can still be looked at.

use crate::backup::{Column, Kind, Table, read_schema};
use crate::conn::Conn;
use crate::dialect::Engine;
use crate::error::StoreError;
use crate::row::Row;

/// Callers choose these, and may put into them what no report may hold.
const UNTOLD_COLUMNS: [&str; 1] = ["idempotency_key"];
const TOLD_CHARS_MAX: usize = 80;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableRow {
    pub table: String,
    /// The engine's own number of the row.
    row_number: i64,
    /// Whose it is; `None` where the table has no organisations, or the cell cannot be read.
    pub organisation_id: Option<String>,
    /// The primary key, as far as it can be read.
    key: Vec<(String, String)>,
    /// The first column that cannot be read.
    column: String,
}

impl std::fmt::Display for UnreadableRow {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let UnreadableRow { table, row_number, key, column, .. } = self;
        write!(formatter, "row {row_number} of `{table}`")?;
        for (index, (name, value)) in key.iter().enumerate() {
            let before = if index == 0 { " (" } else { ", " };
            write!(formatter, "{before}{name} `{value}`")?;
        }
        let after = if key.is_empty() { "" } else { ")" };
        write!(formatter, "{after} was changed by other hands: `{column}` is not of its type")
    }
}

/// Finds the rows of these tables that cannot be read, and hides them from every later statement of this connection,
/// which is closed after use. On PostgreSQL there are none: it keeps to the types.
pub async fn set_aside(conn: &mut Conn, tables: &[&str]) -> Result<Vec<UnreadableRow>, StoreError> {
    match conn.engine() {
        Engine::Postgres => return Ok(Vec::new()),
        Engine::Sqlite => {}
    }
    let schema = read_schema(conn).await.map_err(|_| StoreError::other("the schema cannot be read"))?;
    let mut found = Vec::new();
    for table in schema.iter().filter(|table| tables.contains(&table.name.as_str())) {
        find(conn, table, &mut found).await?;
    }
    if !found.is_empty() {
        hide(conn, &found).await?;
    }
    Ok(found)
}

async fn find(conn: &mut Conn, table: &Table, found: &mut Vec<UnreadableRow>) -> Result<(), StoreError> {
    let sql = "SELECT name FROM pragma_table_info($1) WHERE pk > 0 ORDER BY pk";
    let rows = conn.fetch_all(sql, &[(&table.name).into()]).await?;
    let key: Vec<String> = rows.iter().map(|row| row.text(0)).collect::<Result<_, _>>()?;
    let columns: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let sql = format!("SELECT rowid, {} FROM main.{}", columns.join(", "), table.name);
    conn.for_each_row(sql, |row| {
        let is_unreadable = |(index, column): &(usize, &Column)| !is_readable(&row, *index, column.kind);
        if let Some((_, column)) = (1..).zip(&table.columns).find(is_unreadable) {
            found.push(name(table, &key, &row, column)?);
        }
        Ok::<(), StoreError>(())
    })
    .await
}

fn is_readable(row: &Row, index: usize, kind: Kind) -> bool {
    match kind {
        Kind::Int => row.opt_int(index).is_ok(),
        Kind::Text => row.opt_text(index).is_ok(),
        Kind::Bytes => row.opt_bytes(index).is_ok(),
        Kind::Bool => row.opt_bool(index).is_ok(),
    }
}

fn name(table: &Table, key: &[String], row: &Row, unreadable: &Column) -> Result<UnreadableRow, StoreError> {
    let index_of =
        |name: &str| (1..).zip(&table.columns).find(|(_, column)| column.name == name).map(|(index, _)| index);
    let told = key.iter().filter(|name| !UNTOLD_COLUMNS.contains(&name.as_str()));
    Ok(UnreadableRow {
        table: table.name.clone(),
        row_number: row.int(0)?,
        organisation_id: index_of("organisation_id").and_then(|index| row.opt_text(index).ok().flatten()),
        key: told.filter_map(|name| Some((name.clone(), show(row, index_of(name)?)))).collect(),
        column: unreadable.name.clone(),
    })
}

fn show(row: &Row, index: usize) -> String {
    let shown = match (row.opt_int(index), row.opt_text(index), row.opt_bytes(index)) {
        (Ok(Some(number)), _, _) => number.to_string(),
        (_, Ok(Some(text)), _) => text,
        (_, _, Ok(Some(bytes))) => format!("x'{}'", hex::encode(bytes)),
        (_, _, _) => "unreadable".to_owned(),
    };
    shown.chars().take(TOLD_CHARS_MAX).collect()
}

/// Views of the connection alone stand before the tables of the same name.
async fn hide(conn: &mut Conn, found: &[UnreadableRow]) -> Result<(), StoreError> {
    conn.close_after_use();
    conn.execute_raw("PRAGMA query_only = OFF".to_owned()).await?;
    conn.execute_raw("CREATE TEMP TABLE rows_set_aside (name TEXT NOT NULL, row_number BIGINT NOT NULL)".to_owned())
        .await?;
    for row in found {
        let sql = "INSERT INTO rows_set_aside (name, row_number) VALUES ($1, $2)";
        conn.execute(sql, &[(&row.table).into(), row.row_number.into()]).await?;
    }
    let mut tables: Vec<&str> = found.iter().map(|row| row.table.as_str()).collect();
    tables.dedup();
    for table in tables {
        let sql = format!(
            "CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} \
             WHERE rowid NOT IN (SELECT row_number FROM rows_set_aside WHERE name = '{table}')"
        );
        conn.execute_raw(sql).await?;
    }
    conn.execute_raw("PRAGMA query_only = ON".to_owned()).await
}
