//! Writing a backup, while others go on writing to the database.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{AppliedMigration, BackupError, Column, Contents, EVENTS, Kind, Table, file_name, read_schema};
use crate::conn::{Conn, Reader};
use crate::error::StoreError;
use crate::row::Row;

/// Few, large writes: they hold up the task that makes them.
const WRITE_BYTES: usize = 256 * 1024;
/// Rows between two reports.
const REPORT_EVERY: u64 = 10_000;

/// Writes every table into a folder that is there and empty. The reader holds its snapshot already, so all of them are of
/// one moment. Reports how many rows are written.
pub async fn write(reader: &mut Reader, folder: &Path, report: impl Fn(u64)) -> Result<Contents, BackupError> {
    reader.wait_for_ever().await?;
    let migrations = read_migrations(reader).await?;
    let mut tables = read_schema(reader).await?;
    let mut n_written = 0;
    for table in &mut tables {
        write_table(reader, folder, table, &mut n_written, &report).await?;
    }
    report(n_written);
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|source| BackupError::File { path: folder.to_owned(), source })?;
    Ok(Contents { migrations, tables })
}

async fn read_migrations(conn: &mut Conn) -> Result<Vec<AppliedMigration>, StoreError> {
    let rows = conn.fetch_all("SELECT version, name, sha256 FROM schema_migrations ORDER BY version", &[]).await?;
    rows.iter()
        .map(|row| Ok(AppliedMigration { version: row.int(0)?, name: row.text(1)?, sha256: row.text(2)? }))
        .collect()
}

async fn write_table(
    conn: &mut Conn,
    folder: &Path,
    table: &mut Table,
    n_written: &mut u64,
    report: &impl Fn(u64),
) -> Result<(), BackupError> {
    let path = folder.join(file_name(&table.name));
    let failed = |source: io::Error| BackupError::File { path: path.clone(), source };
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).map_err(failed)?;
    let (mut file, mut hash) = (BufWriter::with_capacity(WRITE_BYTES, file), Sha256::new());
    let read = |column: &Column| match column.is_json {
        true => format!("CAST({} AS TEXT)", column.name),
        false => column.name.clone(),
    };
    let columns: Vec<String> = table.columns.iter().map(read).collect();
    // Events in the order of their commits, which is that of the log.
    let order = if table.name == EVENTS { " ORDER BY commit_key, event_seq" } else { "" };
    let sql = format!("SELECT {} FROM {}{order}", columns.join(", "), table.name);
    let kinds: Vec<Kind> = table.columns.iter().map(|column| column.kind).collect();
    let mut n_rows = 0;
    conn.for_each_row(sql, |row| -> Result<(), BackupError> {
        let values = kinds.iter().enumerate().map(|(index, kind)| value(&row, index, *kind));
        let values: Vec<Value> = values.collect::<Result<_, StoreError>>()?;
        let mut line = Value::Array(values).to_string();
        line.push('\n');
        hash.update(line.as_bytes());
        file.write_all(line.as_bytes()).map_err(failed)?;
        n_rows += 1;
        if (*n_written + n_rows).is_multiple_of(REPORT_EVERY) {
            report(*n_written + n_rows);
        }
        Ok(())
    })
    .await?;
    let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
    file.sync_all().map_err(failed)?;
    *n_written += n_rows;
    (table.n_rows, table.sha256) = (n_rows, hex::encode(hash.finalize()));
    Ok(())
}

fn value(row: &Row, column: usize, kind: Kind) -> Result<Value, StoreError> {
    Ok(match kind {
        Kind::Int => row.opt_int(column)?.into(),
        Kind::Text => row.opt_text(column)?.into(),
        Kind::Bytes => row.opt_bytes(column)?.map(hex::encode).into(),
        Kind::Bool => row.opt_bool(column)?.into(),
    })
}
