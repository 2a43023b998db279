//! Schema versions: each migration is applied once, in a transaction, and its text may never change afterwards.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};

use crate::conn::Conn;
use crate::error::{OpenError, StoreError};
use crate::param::Param;

/// One step of the schema, the same text for both engines.
///
/// `{bytes}` stands for the engine's type of byte strings, `{json}` for that of JSON. A statement ends at a line that
/// ends with `;`; one that begins with `{postgres}` is for PostgreSQL alone.
/// The store uses versions 1 to 99, the domain crates 100 and above.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    pub version: i64,
    pub name: &'static str,
    pub sql: &'static str,
}

/// The store's own tables. [`crate::Store::open`] applies them in any case.
pub const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, name: "events_and_idempotency_keys", sql: include_str!("migrations/0001.sql") },
    Migration { version: 2, name: "log", sql: include_str!("migrations/0002_log.sql") },
    Migration { version: 10, name: "request_states", sql: include_str!("migrations/0010_request_states.sql") },
    Migration { version: 11, name: "jobs", sql: include_str!("migrations/0011_jobs.sql") },
    Migration { version: 12, name: "log_identity", sql: include_str!("migrations/0012_log_identity.sql") },
    Migration { version: 13, name: "job_seals", sql: include_str!("migrations/0013_job_seals.sql") },
    Migration { version: 14, name: "subject_keys", sql: include_str!("migrations/0014_subject_keys.sql") },
];

/// Brings the database up to the newest version, or refuses it unchanged.
pub(crate) async fn apply(conn: &mut Conn, migrations: &[Migration]) -> Result<(), OpenError> {
    let merged = merge(migrations)?;
    apply_merged(conn, merged).await
}

/// Brings the database to these versions and no others, not even the store's own.
pub(crate) async fn apply_exactly(conn: &mut Conn, migrations: &[Migration]) -> Result<(), OpenError> {
    apply_merged(conn, migrations.iter().map(|migration| (migration.version, *migration)).collect()).await
}

/// Makes the newest schema in an empty database that nobody opens again: no versions are recorded.
pub(crate) async fn make(conn: &mut Conn, migrations: &[Migration]) -> Result<(), StoreError> {
    let merged = merge(migrations).map_err(|_| StoreError::other("a migration is defined twice"))?;
    read_applied(conn).await?;
    for migration in merged.values() {
        for statement in statements(migration.sql) {
            if let Some(statement) = conn.engine().migration_sql(&statement) {
                conn.execute_raw(statement).await?;
            }
        }
    }
    Ok(())
}

async fn apply_merged(conn: &mut Conn, migrations: BTreeMap<i64, Migration>) -> Result<(), OpenError> {
    let applied = read_applied(conn).await.map_err(|error| OpenError::ReadMigrations { error })?;
    check(&migrations, &applied)?;
    let is_new = applied.is_empty();
    for migration in migrations.values().filter(|migration| !applied.contains_key(&migration.version)) {
        let applied = apply_one(conn, migration).await;
        if let Err(error) = applied {
            if conn.is_in_transaction()
                && let Err(error) = conn.rollback().await
            {
                tracing::warn!(error.kind = ?error.kind(), "Could not roll back a migration; closing the connection");
            }
            return Err(OpenError::Migrate { version: migration.version, name: migration.name, error });
        }
        // Of a new database nobody wants to read how it came to be.
        if !is_new {
            tracing::info!(migration.version, migration.name, "Applied migration {}", migration.version);
        }
    }
    if is_new && let Some(version) = migrations.keys().next_back() {
        tracing::info!(schema.version = version, "Made a new database, schema version {version}");
    }
    Ok(())
}

fn merge(migrations: &[Migration]) -> Result<BTreeMap<i64, Migration>, OpenError> {
    let mut merged: BTreeMap<i64, Migration> = BTreeMap::new();
    for migration in MIGRATIONS.iter().chain(migrations) {
        if let Some(other) = merged.insert(migration.version, *migration)
            && other.sql != migration.sql
        {
            return Err(OpenError::DuplicateMigration { version: migration.version });
        }
    }
    Ok(merged)
}

struct AppliedRow {
    name: String,
    sha256: String,
}

async fn read_applied(conn: &mut Conn) -> Result<BTreeMap<i64, AppliedRow>, StoreError> {
    let sql = "CREATE TABLE IF NOT EXISTS schema_migrations
        (version BIGINT PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at_us BIGINT NOT NULL)";
    conn.execute(sql, &[]).await?;
    let rows = conn.fetch_all("SELECT version, name, sha256 FROM schema_migrations ORDER BY version", &[]).await?;
    rows.iter().map(|row| Ok((row.int(0)?, AppliedRow { name: row.text(1)?, sha256: row.text(2)? }))).collect()
}

fn check(migrations: &BTreeMap<i64, Migration>, applied: &BTreeMap<i64, AppliedRow>) -> Result<(), OpenError> {
    let known = migrations.keys().next_back().copied().unwrap_or(0);
    if let Some(found) = applied.keys().next_back().copied()
        && found > known
    {
        return Err(OpenError::SchemaTooNew { found, known });
    }
    for (version, row) in applied {
        let is_same = migrations.get(version).is_some_and(|migration| sha256(migration) == row.sha256);
        if !is_same {
            return Err(OpenError::ChangedMigration { version: *version, name: row.name.clone() });
        }
    }
    Ok(())
}

async fn apply_one(conn: &mut Conn, migration: &Migration) -> Result<(), StoreError> {
    conn.begin().await?;
    // Another process may have applied it while this one waited for the lock.
    let sql = "SELECT version FROM schema_migrations WHERE version = $1";
    if conn.fetch_optional(sql, &[migration.version.into()]).await?.is_some() {
        return conn.rollback().await;
    }
    for statement in statements(migration.sql) {
        if let Some(statement) = conn.engine().migration_sql(&statement) {
            conn.execute_raw(statement).await?;
        }
    }
    let applied_at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
    let params = [
        Param::Int(migration.version),
        Param::Text(migration.name),
        Param::Text(&sha256(migration)),
        Param::Int(i64::try_from(applied_at).unwrap_or(i64::MAX)),
    ];
    let sql = "INSERT INTO schema_migrations (version, name, sha256, applied_at_us) VALUES ($1, $2, $3, $4)";
    conn.execute(sql, &params).await?;
    conn.commit().await
}

fn statements(sql: &str) -> Vec<String> {
    let mut statements = Vec::new();
    let mut statement = String::new();
    for line in sql.lines().map(str::trim_end).filter(|line| !line.is_empty() && !line.trim_start().starts_with("--")) {
        statement.push_str(line);
        statement.push('\n');
        if line.ends_with(';') {
            statements.push(std::mem::take(&mut statement));
        }
    }
    if !statement.is_empty() {
        statements.push(statement);
    }
    statements
}

pub(crate) fn sha256(migration: &Migration) -> String {
    hex::encode(Sha256::digest(migration.sql))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_at_lines_that_end_with_a_semicolon() {
        let sql = "-- a note;\nCREATE TABLE a (\n  b TEXT DEFAULT 'x;y'\n);\n\nCREATE INDEX c ON a (b)";
        assert_eq!(statements(sql), ["CREATE TABLE a (\n  b TEXT DEFAULT 'x;y'\n);\n", "CREATE INDEX c ON a (b)\n"]);
    }
}
