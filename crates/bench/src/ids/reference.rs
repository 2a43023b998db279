//! What the house is measured against: a counter that commits once per id and records nothing.
//!
//! On PostgreSQL every client has a connection of its own and sends one autocommit `UPDATE … RETURNING` per id, all on
//! the same row. SQLite has one write lock, so its clients could only wait for each other: one of them, on one
//! connection with the settings of the house (WAL, `synchronous = FULL`), commits as fast as it can.

use std::time::Duration;

use anyhow::Context as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, PgConnection, Row as _, SqliteConnection};
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::{Client, Engine, Turn, gather};
use crate::figures::Latencies;
use crate::place;

const CREATE: &str = "CREATE TABLE counters (name TEXT PRIMARY KEY, n BIGINT NOT NULL)";
const INSERT: &str = "INSERT INTO counters (name, n) VALUES ('bench', 0)";
const NEXT: &str = "UPDATE counters SET n = n + 1 WHERE name = 'bench' RETURNING n";

pub enum Reference {
    Sqlite { connection: SqliteConnection, _folder: TempDir },
    Postgres { connections: Vec<PgConnection> },
}

impl Reference {
    pub async fn open(engine: Engine, clients_max: usize) -> anyhow::Result<Reference> {
        match engine {
            Engine::Sqlite => {
                let folder = place::folder()?;
                let settings = SqliteConnectOptions::new()
                    .filename(folder.path().join("reference.db"))
                    .create_if_missing(true)
                    .journal_mode(SqliteJournalMode::Wal)
                    .synchronous(SqliteSynchronous::Full)
                    .disable_statement_logging();
                let mut connection = settings.connect().await.context("the reference database does not open")?;
                sqlx::query(CREATE).execute(&mut connection).await?;
                sqlx::query(INSERT).execute(&mut connection).await?;
                Ok(Reference::Sqlite { connection, _folder: folder })
            }
            Engine::Postgres => {
                let url = testkit::postgres_url().await.url;
                let mut connections = Vec::with_capacity(clients_max);
                for _ in 0..clients_max {
                    connections.push(PgConnection::connect(&url).await.context("the reference does not connect")?);
                }
                if let Some(connection) = connections.first_mut() {
                    sqlx::query(CREATE).execute(&mut *connection).await?;
                    sqlx::query(INSERT).execute(connection).await?;
                }
                Ok(Reference::Postgres { connections })
            }
        }
    }

    pub async fn take_turn(&mut self, clients: usize, length: Duration) -> anyhow::Result<Turn> {
        let started = Instant::now();
        let until = started + length;
        let mut turn = match self {
            Reference::Sqlite { connection, .. } => {
                let (latencies, numbers) = take_sqlite_ids(connection, until).await?;
                Turn { elapsed: started.elapsed(), latencies, numbers, ..Turn::default() }
            }
            Reference::Postgres { connections } => {
                let mut running = JoinSet::new();
                let (returned, mut back) = tokio::sync::mpsc::unbounded_channel();
                let n_resting = connections.len().saturating_sub(clients);
                for mut connection in connections.drain(n_resting..) {
                    let returned = returned.clone();
                    running.spawn(async move {
                        let client = take_postgres_ids(&mut connection, until).await;
                        drop(returned.send(connection));
                        client
                    });
                }
                drop(returned);
                let turn = gather(started, running).await?;
                while let Some(connection) = back.recv().await {
                    connections.push(connection);
                }
                turn
            }
        };
        turn.n_applies = u64::try_from(turn.latencies.count()).unwrap_or(u64::MAX);
        turn.n_commits = turn.n_applies;
        Ok(turn)
    }

    pub async fn close(self) {
        match self {
            Reference::Sqlite { connection, .. } => drop(connection.close().await),
            Reference::Postgres { connections } => {
                for connection in connections {
                    drop(connection.close().await);
                }
            }
        }
    }
}

async fn take_sqlite_ids(connection: &mut SqliteConnection, until: Instant) -> anyhow::Result<Client> {
    let (mut latencies, mut numbers) = (Latencies::default(), Vec::new());
    while Instant::now() < until {
        let asked = Instant::now();
        sqlx::query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
        let row = sqlx::query(NEXT).fetch_one(&mut *connection).await?;
        sqlx::query("COMMIT").execute(&mut *connection).await?;
        latencies.push(asked.elapsed());
        numbers.push(row.try_get(0)?);
    }
    Ok((latencies, numbers))
}

async fn take_postgres_ids(connection: &mut PgConnection, until: Instant) -> anyhow::Result<Client> {
    let (mut latencies, mut numbers) = (Latencies::default(), Vec::new());
    while Instant::now() < until {
        let asked = Instant::now();
        let row = sqlx::query(NEXT).fetch_one(&mut *connection).await?;
        latencies.push(asked.elapsed());
        numbers.push(row.try_get(0)?);
    }
    Ok((latencies, numbers))
}
