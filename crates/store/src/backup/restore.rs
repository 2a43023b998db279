//! Reading a backup into an empty database, all of it or nothing.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{BackupError, Column, Contents, EVENTS, Kind, LOG_IDENTITY, LOG_STATE, Table, file_name, read_schema};
use crate::conn::Conn;
use crate::migrations::{self, Migration};
use crate::open::{Options, connect};
use crate::param::Param;

const ROWS_PER_STATEMENT: usize = 200;
const REPORT_EVERY: u64 = 10_000;

/// Restores into the database of the options, which has no rows yet. Its schema is brought to the version of the backup;
/// opening it afterwards brings it to that of the program. Reports and answers how many rows are restored.
pub async fn restore(
    options: &Options,
    folder: &Path,
    contents: &Contents,
    report: impl Fn(u64),
) -> Result<u64, BackupError> {
    for table in &contents.tables {
        check_file(folder, table)?;
    }
    let wanted = choose_migrations(&options.migrations, contents)?;
    let (pools, _) = connect(options).map_err(BackupError::Open)?;
    let restored = async {
        let mut conn = pools.write.acquire().await?;
        migrations::apply_exactly(&mut conn, &wanted).await.map_err(BackupError::Open)?;
        conn.wait_for_ever().await?;
        conn.begin_plain().await?;
        match fill(&mut conn, folder, contents, &report).await {
            Ok(n_restored) => {
                conn.commit().await?;
                Ok(n_restored)
            }
            Err(error) => {
                conn.rollback().await?;
                Err(error)
            }
        }
    };
    let restored = restored.await;
    pools.write.close().await;
    restored
}

/// Takes everything out again: what was restored turned out to be wrong.
pub async fn clear(options: &Options) -> Result<(), BackupError> {
    let (pools, _) = connect(options).map_err(BackupError::Open)?;
    let cleared = async {
        let mut conn = pools.write.acquire().await?;
        conn.wait_for_ever().await?;
        conn.begin_plain().await?;
        for table in read_schema(&mut conn).await? {
            conn.execute_built(format!("DELETE FROM {}", table.name), &[]).await?;
        }
        Ok(conn.commit().await?)
    };
    let cleared = cleared.await;
    pools.write.close().await;
    cleared
}

fn check_file(folder: &Path, table: &Table) -> Result<(), BackupError> {
    let is_name = table.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if !is_name {
        return Err(BackupError::UnknownTable(table.name.clone()));
    }
    let path = folder.join(file_name(&table.name));
    match hash(&path) {
        Err(source) => Err(BackupError::File { path, source }),
        Ok(sha256) if sha256 != table.sha256 => Err(BackupError::Changed(path)),
        Ok(_) => Ok(()),
    }
}

fn hash(path: &Path) -> io::Result<String> {
    let (mut file, mut hash) = (BufReader::new(File::open(path)?), Sha256::new());
    loop {
        let bytes = file.fill_buf()?;
        let n_bytes = bytes.len();
        if n_bytes == 0 {
            return Ok(hex::encode(hash.finalize()));
        }
        hash.update(bytes);
        file.consume(n_bytes);
    }
}

/// The migrations that the backup's database had, as this program knows them.
fn choose_migrations(ours: &[Migration], contents: &Contents) -> Result<Vec<Migration>, BackupError> {
    let ours: BTreeMap<i64, Migration> =
        migrations::MIGRATIONS.iter().chain(ours).map(|migration| (migration.version, *migration)).collect();
    let choose = |applied: &super::AppliedMigration| {
        let (version, name) = (applied.version, applied.name.clone());
        match ours.get(&version) {
            None => Err(BackupError::UnknownMigration { version, name }),
            Some(migration) if migrations::sha256(migration) != applied.sha256 => {
                Err(BackupError::ChangedMigration { version, name })
            }
            Some(migration) => Ok(*migration),
        }
    };
    contents.migrations.iter().map(choose).collect()
}

/// Answers how many rows there are.
async fn fill(conn: &mut Conn, folder: &Path, contents: &Contents, report: &impl Fn(u64)) -> Result<u64, BackupError> {
    let schema = read_schema(conn).await?;
    for table in &schema {
        // A server that only started here named a log that never had an event.
        if table.name == LOG_IDENTITY {
            continue;
        }
        let found = conn.fetch_built(format!("SELECT 1 FROM {} LIMIT 1", table.name)).await?;
        if found.is_some() {
            return Err(BackupError::NotEmpty(table.name.clone()));
        }
    }
    if schema.iter().any(|table| table.name == LOG_IDENTITY) {
        conn.execute("DELETE FROM log_identity", &[]).await?;
    }
    let mut order = Order::default();
    let mut n_restored = 0;
    for table in &contents.tables {
        // Names go into SQL text: only those that the schema has.
        let known = schema.iter().find(|known| known.name == table.name);
        let Some(known) = known.filter(|known| is_alike(&known.columns, &table.columns)) else {
            return Err(BackupError::UnknownTable(table.name.clone()));
        };
        let table = &Table { columns: known.columns.clone(), ..table.clone() };
        fill_table(conn, folder, table, &mut order, &mut n_restored, report).await?;
    }
    let last = [Param::Int(order.last_sequenced)];
    conn.execute("UPDATE log_state SET last_commit_key = 0, last_event_seq = $1", &last).await?;
    if let (Some(sql), 1..) = (conn.engine().continue_events_sql(), order.n_events) {
        conn.fetch_optional(sql, &[Param::Int(order.n_events)]).await?;
    }
    report(n_restored);
    Ok(n_restored)
}

fn is_alike(ours: &[Column], theirs: &[Column]) -> bool {
    let told = |columns: &[Column]| -> Vec<(String, Kind)> {
        columns.iter().map(|column| (column.name.clone(), column.kind)).collect()
    };
    told(ours) == told(theirs)
}

/// Events are numbered anew, in the order in which they come, under a transaction number before all others.
#[derive(Default)]
struct Order {
    /// The last event that is in the tree, by its old numbers.
    sequenced_to: (i64, i64),
    /// The same, by its new number.
    last_sequenced: i64,
    n_events: i64,
}

impl Order {
    fn note_state(&mut self, table: &Table, values: &[Value]) {
        let number = |name: &str| value_of(table, values, name).and_then(Value::as_i64).unwrap_or(0);
        self.sequenced_to = (number("last_commit_key"), number("last_event_seq"));
    }

    fn renumber(&mut self, table: &Table, values: &mut [Value]) {
        let number = |name: &str| value_of(table, values, name).and_then(Value::as_i64).unwrap_or(0);
        self.n_events += 1;
        if (number("commit_key"), number("event_seq")) <= self.sequenced_to {
            self.last_sequenced = self.n_events;
        }
        for (column, value) in table.columns.iter().zip(values) {
            match column.name.as_str() {
                "commit_key" => *value = 0.into(),
                "event_seq" => *value = self.n_events.into(),
                _ => {}
            }
        }
    }
}

fn value_of<'v>(table: &Table, values: &'v [Value], name: &str) -> Option<&'v Value> {
    table.columns.iter().zip(values).find(|(column, _)| column.name == name).map(|(_, value)| value)
}

async fn fill_table(
    conn: &mut Conn,
    folder: &Path,
    table: &Table,
    order: &mut Order,
    n_restored: &mut u64,
    report: &impl Fn(u64),
) -> Result<(), BackupError> {
    let path = folder.join(file_name(&table.name));
    let failed = |source| BackupError::File { path: path.clone(), source };
    let mut lines = BufReader::new(File::open(&path).map_err(failed)?).lines();
    let mut n_lines = 0;
    loop {
        let mut rows: Vec<Vec<Cell>> = Vec::with_capacity(ROWS_PER_STATEMENT);
        for line in lines.by_ref().take(ROWS_PER_STATEMENT) {
            n_lines += 1;
            let wrong = || BackupError::Row { path: path.clone(), line: n_lines };
            let mut values: Vec<Value> = serde_json::from_str(&line.map_err(failed)?).map_err(|_| wrong())?;
            match table.name.as_str() {
                EVENTS => order.renumber(table, &mut values),
                LOG_STATE => order.note_state(table, &values),
                _ => {}
            }
            if values.len() != table.columns.len() {
                return Err(wrong());
            }
            let cells = values.into_iter().zip(&table.columns).map(|(value, column)| Cell::of(value, column.kind));
            rows.push(cells.collect::<Option<_>>().ok_or_else(wrong)?);
        }
        if rows.is_empty() {
            // A hash that was mended fits a file that was cut.
            let (expected, found) = (table.n_rows, n_lines);
            return if found == expected { Ok(()) } else { Err(BackupError::NumberOfRows { path, expected, found }) };
        }
        insert(conn, table, &rows).await?;
        *n_restored += u64::try_from(rows.len()).unwrap_or(0);
        if n_restored.is_multiple_of(REPORT_EVERY) {
            report(*n_restored);
        }
    }
}

async fn insert(conn: &mut Conn, table: &Table, rows: &[Vec<Cell>]) -> Result<(), BackupError> {
    let n_columns = table.columns.len();
    let places = |row: usize| {
        let places: Vec<String> = (1..=n_columns).map(|column| format!("${}", row * n_columns + column)).collect();
        format!("({})", places.join(", "))
    };
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let overriding = if table.name == EVENTS { conn.engine().overriding_sql() } else { "" };
    let values: Vec<String> = (0..rows.len()).map(places).collect();
    let sql = format!("INSERT INTO {} ({}){overriding} VALUES {}", table.name, names.join(", "), values.join(", "));
    let columns = table.columns.iter().cycle();
    let params: Vec<Param<'_>> = rows.iter().flatten().zip(columns).map(|(cell, column)| cell.param(column)).collect();
    conn.execute_built(sql, &params).await?;
    Ok(())
}

enum Cell {
    Null(Kind),
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
    Bool(bool),
}

impl Cell {
    fn of(value: Value, kind: Kind) -> Option<Cell> {
        Some(match (kind, value) {
            (kind, Value::Null) => Cell::Null(kind),
            (Kind::Int, Value::Number(number)) => Cell::Int(number.as_i64()?),
            (Kind::Text, Value::String(text)) => Cell::Text(text),
            (Kind::Bytes, Value::String(text)) => Cell::Bytes(hex::decode(text).ok()?),
            (Kind::Bool, Value::Bool(value)) => Cell::Bool(value),
            (Kind::Int | Kind::Text | Kind::Bytes | Kind::Bool, _) => return None,
        })
    }

    fn param(&self, column: &Column) -> Param<'_> {
        match self {
            Cell::Text(text) if column.is_json => Param::Json(text),
            Cell::Null(Kind::Int) => Param::NullInt,
            Cell::Null(Kind::Text) => Param::NullText,
            Cell::Null(Kind::Bytes | Kind::Bool) => Param::Null,
            Cell::Int(value) => Param::Int(*value),
            Cell::Text(text) => Param::Text(text),
            Cell::Bytes(bytes) => Param::Bytes(bytes),
            Cell::Bool(value) => Param::Bool(*value),
        }
    }
}
