//! Opening a store, and the handle that everything else holds.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::ahead::Kind;
use crate::batch::{Applied, Apply, Keep};
use crate::conn::{Conn, Pool, Reader};
use crate::damage;
use crate::dialect::{self, Engine, Pools};
use crate::error::{OpenError, StoreError, WriteError};
use crate::events::{self, Duplicate, EventRow};
use crate::migrations::{self, Migration};
use crate::presence::Presence;
use crate::statistics;
use crate::writer::{Stats, Writer};

/// How long events may wait for the writer; their callers have no deadline of their own.
const APPEND_WAIT_MAX: Duration = Duration::from_secs(60);

#[derive(Debug, Clone)]
pub enum Target {
    /// The database file. Created if absent; its folder must exist.
    Sqlite(PathBuf),
    /// A `postgres://` URL.
    Postgres(String),
}

impl Target {
    fn engine(&self) -> Engine {
        match self {
            Target::Sqlite(_) => Engine::Sqlite,
            Target::Postgres(_) => Engine::Postgres,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Options {
    pub target: Target,
    /// Those of the domain crates; the store adds its own.
    pub migrations: Vec<Migration>,
    /// SQLite: readers, beside the one writer. PostgreSQL: half of them read, half write.
    pub n_connections_max: u32,
    /// How many writes may wait or run at once.
    pub write_queue_max: usize,
    /// How many writes may share a commit.
    pub batch_max: usize,
}

/// The handle of an open database. Cloning it is cheap.
#[derive(Clone)]
pub struct Store {
    engine: Engine,
    readers: Pool,
    writer: Arc<Writer>,
    sequencer: Pool,
    /// Why the last write failed, until one succeeds.
    write_failure: Arc<Mutex<Option<StoreError>>>,
}

impl Store {
    /// Connects and migrates.
    pub async fn open(options: Options) -> Result<Store, OpenError> {
        let (pools, presence) = connect(&options)?;
        let engine = options.target.engine();
        let result = prepare(&pools, &options.migrations, &presence).await;
        if let Err(error) = result {
            pools.write.close().await;
            return Err(explained(error, &options.target));
        }
        let Pools { read, write, sequence } = pools;
        let writer = Writer::new(engine, write, presence, options.write_queue_max, options.batch_max);
        statistics::keep(engine, &writer);
        Ok(Store { engine, readers: read, writer, sequencer: sequence, write_failure: Arc::default() })
    }

    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// A connection for reading; waits until one is free.
    pub async fn read(&self) -> Result<Reader, StoreError> {
        self.readers.acquire().await.map(Reader::new)
    }

    /// Runs `apply` in a transaction, with others if they come at the same time, and answers after the commit.
    ///
    /// Writers that contend for the same rows should share a `lane`: they then wait for each other instead of failing
    /// and trying again. Dropping the returned future does not stop the write.
    pub async fn write<T: Send + 'static>(
        &self,
        lane: Option<String>,
        deadline: Instant,
        apply: Apply<T>,
    ) -> Result<T, WriteError> {
        self.write_as(None, lane, deadline, apply).await
    }

    /// As [`Store::write`]. Writes of one kind and one lane do the same to the same counter: one of them may keep numbers
    /// for those that follow in its batch.
    pub async fn write_as<T: Send + 'static>(
        &self,
        kind: Option<Kind>,
        lane: Option<String>,
        deadline: Instant,
        apply: Apply<T>,
    ) -> Result<T, WriteError> {
        let permit = self.writer.try_permit()?;
        let written = self.writer.write(lane, kind, deadline, apply, permit).await;
        self.note_write(&written);
        written
    }

    /// A database that answers reads may still take no writes.
    fn note_write<T>(&self, written: &Result<T, WriteError>) {
        let failure = match written {
            Ok(_) => None,
            Err(WriteError::Store(error)) if error.is_unavailable() => Some(error.clone()),
            // The database had no part in these.
            Err(WriteError::Store(_) | WriteError::Expired | WriteError::QueueFull | WriteError::Panicked) => return,
        };
        *self.write_failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
    }

    /// Stores events that have no change. Repeating it after an error is safe: an event that is already stored is skipped.
    pub async fn append_events(&self, events: Vec<EventRow>) -> Result<(), StoreError> {
        if events.is_empty() {
            return Ok(());
        }
        let events = Arc::new(events);
        let apply: Apply<()> = Box::new(move |tx| {
            let events = Arc::clone(&events);
            Box::pin(async move {
                let rows: Vec<&EventRow> = events.iter().collect();
                events::insert(tx, &rows, Duplicate::Skip).await?;
                Ok(Applied { value: (), event: None, keep: Keep::Changes })
            })
        });
        let appended = match self.writer.permit().await {
            Ok(permit) => self.writer.write(None, None, Instant::now() + APPEND_WAIT_MAX, apply, permit).await,
            Err(error) => Err(error),
        };
        self.note_write(&appended);
        appended.map_err(|error| match error {
            WriteError::Store(error) => error,
            WriteError::Expired | WriteError::QueueFull => StoreError::unavailable("the writer is too busy"),
            WriteError::Panicked => StoreError::other("inserting events panicked"),
        })
    }

    /// Whether the database answers a question about its own content.
    pub async fn ping_reader(&self) -> Result<(), StoreError> {
        let mut reader = self.read().await?;
        reader.fetch_optional("SELECT version FROM schema_migrations LIMIT 1", &[]).await.map(|_| ())
    }

    /// As [`Store::ping_reader`], and whether it took what was last written.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.ping_reader().await?;
        let failure = self.write_failure.lock().unwrap_or_else(PoisonError::into_inner).clone();
        failure.map_or(Ok(()), Err)
    }

    /// What SQLite finds damaged in its file. PostgreSQL looks after its own.
    pub async fn find_damage(&self) -> Result<Option<String>, StoreError> {
        if self.engine() == Engine::Postgres {
            return Ok(None);
        }
        let mut reader = self.read().await?;
        Ok(damage::find(&mut reader, &[]).await?.into_iter().next())
    }

    /// Settings of a PostgreSQL server, database or role that let it lose what it says it keeps, by name.
    pub async fn find_laxity(&self) -> Result<Vec<String>, StoreError> {
        let Some(sql) = self.engine().laxity_sql() else { return Ok(Vec::new()) };
        self.read().await?.fetch_all(sql, &[]).await?.iter().map(|row| row.text(0)).collect()
    }

    /// How often somebody else wrote to the file of SQLite while this process had it.
    pub fn n_foreign_writes(&self) -> u64 {
        self.writer.n_foreign_writes()
    }

    /// A connection outside the lanes.
    pub(crate) async fn writer_connection(&self) -> Result<Conn, StoreError> {
        self.writer.connection().await
    }

    /// The one that the sequencer has for itself, where it has one; else one of the writers'.
    pub(crate) async fn sequencer_connection(&self) -> Result<Conn, StoreError> {
        self.sequencer.acquire().await
    }

    pub fn stats(&self) -> Stats {
        self.writer.stats()
    }

    /// Refuses further writes, finishes those that were accepted, and closes the connections.
    pub async fn close(&self) {
        self.writer.close().await;
        self.sequencer.close().await;
        self.readers.close().await;
    }
}

/// Pools that connect when they are first used. Creates the file of SQLite.
pub(crate) fn connect(options: &Options) -> Result<(Pools, Arc<Presence>), OpenError> {
    let n_connections_max = options.n_connections_max;
    match &options.target {
        Target::Sqlite(file) => {
            let presence = create_file(file).and_then(|()| Presence::of_file(file.clone()));
            let presence = presence.map_err(|error| OpenError::CreateFile { path: file.clone(), error })?;
            let presence = Arc::new(presence);
            Ok((dialect::sqlite_pools(file, n_connections_max, &presence), presence))
        }
        Target::Postgres(url) => {
            let presence = Arc::new(Presence::default());
            let pools = dialect::postgres_pools(url, n_connections_max, &presence);
            Ok((pools.map_err(|error| OpenError::ParseUrl { error })?, presence))
        }
    }
}

async fn prepare(pools: &Pools, migrations: &[Migration], presence: &Presence) -> Result<(), OpenError> {
    let mut conn = pools.write.acquire().await.map_err(|error| OpenError::Connect { error })?;
    check_version(&mut conn).await?;
    for sql in conn.engine().migration_setup_sql() {
        conn.execute_raw(sql).await.map_err(|error| OpenError::Connect { error })?;
        // Closing the connection undoes the settings and frees the lock.
        conn.close_after_use();
    }
    migrations::apply(&mut conn, migrations).await?;
    presence.note_found(&mut conn).await.map_err(|error| OpenError::ReadEvents { error })
}

/// The error in words that say what to mend, where the driver knows it.
pub(crate) fn explained(error: OpenError, target: &Target) -> OpenError {
    let driver = error.answered().and_then(StoreError::driver);
    match target {
        Target::Sqlite(path) => match driver.and_then(dialect::find_file_damage) {
            Some(problem) => OpenError::Damaged { path: path.clone(), problem },
            None => error,
        },
        Target::Postgres(url) => match driver.and_then(|driver| dialect::find_refusal(driver, url)) {
            Some((place, why)) if matches!(error, OpenError::Connect { .. }) => OpenError::Unreachable { place, why },
            Some(_) | None => error,
        },
    }
}

async fn check_version(conn: &mut Conn) -> Result<(), OpenError> {
    if conn.engine() == Engine::Postgres {
        return Ok(());
    }
    let row = conn.fetch_optional("SELECT sqlite_version()", &[]).await;
    let found = row.and_then(|row| row.ok_or(StoreError::other("SQLite has no version"))?.text(0));
    let found = found.map_err(|error| OpenError::Connect { error })?;
    let number = |version: &str| -> Vec<u32> { version.split('.').map(|part| part.parse().unwrap_or(0)).collect() };
    if number(&found) < number(dialect::SQLITE_VERSION_MIN) {
        return Err(OpenError::SqliteTooOld { found, expected: dialect::SQLITE_VERSION_MIN });
    }
    Ok(())
}

/// Creates the file for its owner alone, which SQLite cannot; the WAL and the index inherit the mode.
///
/// An existing file is not even opened: closing it would free the POSIX locks that this process may hold on it.
fn create_file(file: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(file) {
        Ok(created) => created.sync_all()?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        Err(error) => return Err(error),
    }
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => File::open(folder)?.sync_all(),
        Some(_) | None => File::open(".")?.sync_all(),
    }
}
