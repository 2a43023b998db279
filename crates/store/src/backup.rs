//! Backups: every table of one moment as lines of JSON, and back into an empty database of either engine.
//!
//! Not the engine's own dump: the place of an event in the order of commits is a PostgreSQL transaction number, which means
//! nothing on another server. A restored log keeps its order under numbers of its own, and grows from there.

mod restore;
mod write;

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::conn::Conn;
use crate::error::{OpenError, StoreError};

pub use restore::{clear, restore};
pub use write::write;

const MIGRATIONS_TABLE: &str = "schema_migrations";
const EVENTS: &str = "events";
const LOG_STATE: &str = "log_state";
const LOG_IDENTITY: &str = "log_identity";

#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("the database could not be read or written")]
    Store(#[source] StoreError),
    #[error("the database could not be opened")]
    Open(#[source] OpenError),
    #[error("could not read or write `{}`", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("column `{column}` of `{table}` has the type `{found}`, which backups do not know")]
    ColumnType { table: String, column: String, found: String },
    #[error("`{}` is not what was backed up: its SHA-256 differs", .0.display())]
    Changed(PathBuf),
    #[error("`{}` has {found} rows, but the backup was made with {expected}", path.display())]
    NumberOfRows { path: PathBuf, expected: u64, found: u64 },
    #[error("line {line} of `{}` is not a row of its table", path.display())]
    Row { path: PathBuf, line: u64 },
    #[error("the backup has migration `{version}` ({name}), which this program does not know; use a newer program")]
    UnknownMigration { version: i64, name: String },
    #[error("migration `{version}` ({name}) of the backup differs from this program's")]
    ChangedMigration { version: i64, name: String },
    #[error(
        "the database is not empty: `{0}` has rows, and nothing was restored; give a new folder with --data, or delete \
         this one if it holds nothing but a restore that did not end"
    )]
    NotEmpty(String),
    #[error("the backup names a table `{0}` or column that its schema does not have")]
    UnknownTable(String),
}

impl From<StoreError> for BackupError {
    fn from(error: StoreError) -> BackupError {
        BackupError::Store(error)
    }
}

/// What a column holds, the same on both engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Int,
    Text,
    /// As hex digits.
    Bytes,
    Bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
    /// Text that this engine keeps as a type of its own. Backups are the same for both.
    #[serde(skip)]
    is_json: bool,
}

/// One table, in a file `{name}.ndjson`: a JSON array of its columns' values a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    pub name: String,
    pub columns: Vec<Column>,
    pub n_rows: u64,
    /// Of the file.
    pub sha256: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedMigration {
    pub version: i64,
    pub name: String,
    pub sha256: String,
}

/// What was backed up. Belongs beside the files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    pub migrations: Vec<AppliedMigration>,
    pub tables: Vec<Table>,
}

fn file_name(table: &str) -> String {
    format!("{table}.ndjson")
}

/// The tables of the schema with their columns, without rows or hashes.
pub(crate) async fn read_schema(conn: &mut Conn) -> Result<Vec<Table>, BackupError> {
    let mut tables: Vec<Table> = Vec::new();
    for row in conn.fetch_all(conn.engine().columns_sql(), &[]).await? {
        let (table, column, found) = (row.text(0)?, row.text(1)?, row.text(2)?);
        if table == MIGRATIONS_TABLE {
            continue;
        }
        let kind = match found.to_ascii_uppercase().as_str() {
            "BIGINT" | "INTEGER" => Kind::Int,
            "TEXT" | "JSONB" => Kind::Text,
            "BLOB" | "BYTEA" => Kind::Bytes,
            "BOOLEAN" => Kind::Bool,
            _ => return Err(BackupError::ColumnType { table, column, found }),
        };
        let column = Column { name: column, kind, is_json: found.eq_ignore_ascii_case("jsonb") };
        match tables.last_mut().filter(|last| last.name == table) {
            Some(last) => last.columns.push(column),
            None => tables.push(Table { name: table, columns: vec![column], n_rows: 0, sha256: String::new() }),
        }
    }
    // Where the log stood is needed before its events are.
    tables.sort_by_key(|table| table.name != LOG_STATE);
    Ok(tables)
}
