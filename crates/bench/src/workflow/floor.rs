//! The least that storing a document can cost: two files that are on the disk and one commit, and nothing else.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, PgConnection, SqliteConnection};
use tempfile::TempDir;

use super::Engine;
use crate::place;

const CREATE: &str = "CREATE TABLE documents (name TEXT PRIMARY KEY, content TEXT NOT NULL)";
const INSERT: &str = "INSERT INTO documents (name, content) VALUES ($1, $2)";

pub struct Floor {
    database: Database,
    folder: TempDir,
}

enum Database {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Floor {
    pub async fn open(engine: Engine) -> anyhow::Result<Floor> {
        let folder = place::folder()?;
        let database = match engine {
            Engine::Sqlite => {
                let settings = SqliteConnectOptions::new()
                    .filename(folder.path().join("floor.db"))
                    .create_if_missing(true)
                    .journal_mode(SqliteJournalMode::Wal)
                    .synchronous(SqliteSynchronous::Full)
                    .disable_statement_logging();
                let mut connection = settings.connect().await.context("the database of the floor does not open")?;
                sqlx::query(CREATE).execute(&mut connection).await?;
                Database::Sqlite(connection)
            }
            Engine::Postgres => {
                let url = testkit::postgres_url().await.url;
                let mut connection = PgConnection::connect(&url).await.context("the floor does not connect")?;
                sqlx::query(CREATE).execute(&mut connection).await?;
                Database::Postgres(connection)
            }
        };
        Ok(Floor { database, folder })
    }

    pub async fn store(&mut self, name: &str, content: &str) -> anyhow::Result<()> {
        match &mut self.database {
            Database::Sqlite(connection) => {
                sqlx::query(INSERT).bind(name).bind(content).execute(connection).await?;
            }
            Database::Postgres(connection) => {
                sqlx::query(INSERT).bind(name).bind(content).execute(connection).await?;
            }
        }
        write(self.folder.path(), &format!("{name}.md"), content)?;
        write(self.folder.path(), &format!("{name}_metadata.json"), "{\"status\":\"Draft\"}")
    }
}

fn write(folder: &Path, name: &str, content: &str) -> anyhow::Result<()> {
    let aside = folder.join(format!(".{name}.tmp"));
    let mut file = File::create(&aside)?;
    file.write_all(content.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&aside, folder.join(name)).context("a file cannot be put in place")
}
