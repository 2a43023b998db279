//! Checkpoints in the database: signed statements of how long the log was and what its root was.

use tokio::time::Instant;

use super::{WAIT_MAX, signed};
use crate::batch::{Applied, Apply, Keep};
use crate::conn::Conn;
use crate::error::{StoreError, WriteError};
use crate::open::Store;
use crate::param::Param;
use crate::row::Row;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCheckpoint {
    pub tree_size: u64,
    pub note: String,
    pub created_at_us: i64,
}

impl Store {
    /// Adds a checkpoint as the next one after that of so many leaves. `false` where another process has added one since.
    pub async fn add_checkpoint(&self, checkpoint: StoredCheckpoint, after_size: u64) -> Result<bool, StoreError> {
        let apply: Apply<bool> = Box::new(move |tx| {
            let checkpoint = checkpoint.clone();
            Box::pin(async move {
                let n_added = tx
                    .execute(
                        "INSERT INTO log_checkpoints (tree_size, note, created_at_us) SELECT $1, $2, $3 \
                         WHERE NOT EXISTS (SELECT 1 FROM log_checkpoints WHERE tree_size > $4)",
                        &[
                            Param::Int(signed(checkpoint.tree_size)),
                            Param::Text(&checkpoint.note),
                            Param::Int(checkpoint.created_at_us),
                            Param::Int(signed(after_size)),
                        ],
                    )
                    .await?;
                Ok(Applied { value: n_added == 1, event: None, keep: Keep::Changes })
            })
        });
        self.write(None, Instant::now() + WAIT_MAX, apply).await.map_err(keeping_failed)
    }

    /// Keeps a signed checkpoint. One that is already there for the same size stays, unless cosignatures were added.
    pub async fn keep_checkpoint(&self, checkpoint: StoredCheckpoint) -> Result<(), StoreError> {
        let apply: Apply<()> = Box::new(move |tx| {
            let checkpoint = checkpoint.clone();
            Box::pin(async move {
                tx.execute(
                    "INSERT INTO log_checkpoints (tree_size, note, created_at_us) VALUES ($1, $2, $3) \
                     ON CONFLICT (tree_size) DO UPDATE SET note = excluded.note \
                     WHERE LENGTH(excluded.note) > LENGTH(log_checkpoints.note)",
                    &[
                        Param::Int(signed(checkpoint.tree_size)),
                        Param::Text(&checkpoint.note),
                        Param::Int(checkpoint.created_at_us),
                    ],
                )
                .await?;
                Ok(Applied { value: (), event: None, keep: Keep::Changes })
            })
        });
        self.write(None, Instant::now() + WAIT_MAX, apply).await.map_err(keeping_failed)
    }
}

fn keeping_failed(error: WriteError) -> StoreError {
    match error {
        WriteError::Store(error) => error,
        WriteError::Expired | WriteError::QueueFull => StoreError::unavailable("the writer is too busy"),
        WriteError::Panicked => StoreError::other("keeping a checkpoint panicked"),
    }
}

/// The newest checkpoint.
pub async fn latest_checkpoint(conn: &mut Conn) -> Result<Option<StoredCheckpoint>, StoreError> {
    let sql = "SELECT tree_size, note, created_at_us FROM log_checkpoints ORDER BY tree_size DESC LIMIT 1";
    let row = conn.fetch_optional(sql, &[]).await?;
    row.map(|row| checkpoint(&row)).transpose()
}

/// The newest checkpoints, the newest first.
pub async fn newest_checkpoints(conn: &mut Conn, n_max: u32) -> Result<Vec<StoredCheckpoint>, StoreError> {
    let sql = "SELECT tree_size, note, created_at_us FROM log_checkpoints ORDER BY tree_size DESC LIMIT $1";
    conn.fetch_all(sql, &[Param::Int(i64::from(n_max))]).await?.iter().map(checkpoint).collect()
}

pub async fn find_checkpoint(conn: &mut Conn, tree_size: u64) -> Result<Option<StoredCheckpoint>, StoreError> {
    let sql = "SELECT tree_size, note, created_at_us FROM log_checkpoints WHERE tree_size = $1";
    let row = conn.fetch_optional(sql, &[Param::Int(signed(tree_size))]).await?;
    row.map(|row| checkpoint(&row)).transpose()
}

pub async fn count_checkpoints(conn: &mut Conn) -> Result<u64, StoreError> {
    let row = conn.fetch_optional("SELECT COUNT(*) FROM log_checkpoints", &[]).await?;
    Ok(row.map(|row| row.int(0)).transpose()?.unwrap_or(0).unsigned_abs())
}

/// Checkpoints over no leaves at all, which nobody signs.
pub async fn count_empty_checkpoints(conn: &mut Conn) -> Result<u64, StoreError> {
    let row = conn.fetch_optional("SELECT COUNT(*) FROM log_checkpoints WHERE tree_size < 1", &[]).await?;
    Ok(row.map(|row| row.int(0)).transpose()?.unwrap_or(0).unsigned_abs())
}

/// Was a checkpoint signed after the database got a table for whose log it is?
pub async fn is_older_than_identity(conn: &mut Conn) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM log_checkpoints WHERE created_at_us > \
               (SELECT applied_at_us FROM schema_migrations WHERE name = 'log_identity') LIMIT 1";
    Ok(conn.fetch_optional(sql, &[]).await?.is_some())
}

/// Checkpoints over more leaves than this, the smallest first.
pub async fn checkpoints_after(
    conn: &mut Conn,
    tree_size: u64,
    n_max: u32,
) -> Result<Vec<StoredCheckpoint>, StoreError> {
    let sql =
        "SELECT tree_size, note, created_at_us FROM log_checkpoints WHERE tree_size > $1 ORDER BY tree_size LIMIT $2";
    let rows = conn.fetch_all(sql, &[Param::Int(signed(tree_size)), Param::Int(i64::from(n_max))]).await?;
    rows.iter().map(checkpoint).collect()
}

fn checkpoint(row: &Row) -> Result<StoredCheckpoint, StoreError> {
    let read = || -> Result<StoredCheckpoint, StoreError> {
        Ok(StoredCheckpoint { tree_size: row.int(0)?.unsigned_abs(), note: row.text(1)?, created_at_us: row.int(2)? })
    };
    read().map_err(|_| StoreError::damaged("log_checkpoints", "a checkpoint has a column that is not of its type"))
}

/// Tables of the log with one row each that have others beside it.
pub async fn tables_with_others(conn: &mut Conn) -> Result<Vec<&'static str>, StoreError> {
    let mut found = Vec::new();
    for (table, sql) in [
        ("log_state", "SELECT 1 FROM log_state WHERE id <> 1 LIMIT 1"),
        ("log_identity", "SELECT 1 FROM log_identity WHERE id <> 1 LIMIT 1"),
    ] {
        if conn.fetch_optional(sql, &[]).await?.is_some() {
            found.push(table);
        }
    }
    Ok(found)
}
