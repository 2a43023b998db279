//! A fresh database of each engine, and the changes that the scripts make.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use sqlx::{Connection, SqliteConnection};
use store::{
    Applied, Apply, Engine, EventRow, Keep, Migration, Options, Param, Store, StoreError, Target, Tx, WriteError,
};
use tempfile::TempDir;
use testkit::TestDatabase;
use tokio::sync::Semaphore;
use tokio::time::Instant;

pub const TABLES: Migration = Migration {
    version: 100,
    name: "tables_of_the_tests",
    sql: "CREATE TABLE counters (name TEXT PRIMARY KEY, value BIGINT NOT NULL);
        CREATE TABLE samples (id BIGINT PRIMARY KEY, number BIGINT, word TEXT, content {bytes}, is_good BOOLEAN);",
};

/// An empty database that tests can open several times.
pub struct Database {
    pub engine: Engine,
    pub target: Target,
    folder: TempDir,
    postgres: Option<TestDatabase>,
}

pub async fn sqlite() -> Database {
    let folder = testkit::temp_dir();
    let target = Target::Sqlite(folder.path().join("test.db"));
    Database { engine: Engine::Sqlite, target, folder, postgres: None }
}

pub async fn postgres() -> Database {
    let database = testkit::postgres_url().await;
    let target = Target::Postgres(database.url.clone());
    Database { engine: Engine::Postgres, target, folder: testkit::temp_dir(), postgres: Some(database) }
}

pub async fn both() -> [Database; 2] {
    [sqlite().await, postgres().await]
}

/// Ends with [`Database::mend`].
pub enum Outage {
    WriteLock(SqliteConnection),
    Shut,
}

impl Database {
    pub fn options(&self) -> Options {
        Options {
            target: self.target.clone(),
            migrations: vec![TABLES],
            n_connections_max: 8,
            write_queue_max: 256,
            batch_max: 64,
        }
    }

    pub async fn open(&self) -> Store {
        Store::open(self.options()).await.unwrap()
    }

    pub fn sqlite_file(&self) -> std::path::PathBuf {
        self.folder.path().join("test.db")
    }

    pub fn server(&self) -> &TestDatabase {
        self.postgres.as_ref().unwrap()
    }

    /// Makes every write fail: another process holds SQLite's lock, or PostgreSQL cuts and refuses connections.
    pub async fn damage(&self, store: &Store) -> Outage {
        match self.engine {
            Engine::Sqlite => {
                write(store, statement("PRAGMA busy_timeout = 20")).await.unwrap();
                let mut other = connect_sqlite(self).await;
                sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
                Outage::WriteLock(other)
            }
            Engine::Postgres => {
                self.server().shut().await;
                Outage::Shut
            }
        }
    }

    pub async fn mend(&self, outage: Outage) {
        match outage {
            Outage::WriteLock(other) => other.close().await.unwrap(),
            Outage::Shut => self.server().reopen().await,
        }
    }
}

pub async fn connect_sqlite(database: &Database) -> SqliteConnection {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(database.sqlite_file());
    SqliteConnection::connect_with(&options).await.unwrap()
}

pub fn later() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

pub fn lane() -> Option<String> {
    Some("counters".to_owned())
}

pub async fn write<T: Send + 'static>(store: &Store, apply: Apply<T>) -> Result<T, WriteError> {
    store.write(lane(), later(), apply).await
}

/// A unique id for a call, in order of creation.
pub fn call_id() -> String {
    static N_CALLS: AtomicI64 = AtomicI64::new(0);
    format!("call-{:06}", N_CALLS.fetch_add(1, Ordering::Relaxed))
}

pub fn event(call_id: &str, outcome: &str) -> EventRow {
    EventRow {
        call_id: call_id.to_owned(),
        organisation_id: "org".to_owned(),
        recorded_at_us: 1,
        actor_id: "tester".to_owned(),
        operation: "increment".to_owned(),
        outcome: outcome.to_owned(),
        body: "{}".to_owned(),
    }
}

pub fn applied<T>(value: T, call_id: &str) -> Applied<T> {
    Applied { value, event: Some(event(call_id, "ok")), keep: Keep::Changes }
}

pub async fn increment(tx: &mut Tx<'_>, counter: &str) -> Result<i64, StoreError> {
    let row = tx.fetch_optional("SELECT value FROM counters WHERE name = $1", &[counter.into()]).await?;
    let value = row.map(|row| row.int(0)).transpose()?.unwrap_or(0) + 1;
    let sql =
        "INSERT INTO counters (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    tx.execute(sql, &[counter.into(), value.into()]).await?;
    Ok(value)
}

/// Adds one to the counter `c` and answers its new value.
pub fn counting() -> Apply<i64> {
    counting_as(call_id())
}

pub fn counting_as(call_id: String) -> Apply<i64> {
    Box::new(move |tx| {
        let call_id = call_id.clone();
        Box::pin(async move { Ok(applied(increment(tx, "c").await?, &call_id)) })
    })
}

/// Counts, and then wants nothing of it kept but the event.
pub fn refused(call_id: String) -> Apply<i64> {
    Box::new(move |tx| {
        let call_id = call_id.clone();
        Box::pin(async move {
            let value = increment(tx, "c").await?;
            Ok(Applied { value, event: Some(event(&call_id, "refused")), keep: Keep::Nothing })
        })
    })
}

pub fn panicking() -> Apply<i64> {
    Box::new(|tx| {
        Box::pin(async move {
            increment(tx, "c").await?;
            panic!("this panic is part of the test");
        })
    })
}

/// Counts and then runs a statement that both engines refuse.
pub fn failing() -> Apply<i64> {
    Box::new(|tx| {
        Box::pin(async move {
            let value = increment(tx, "c").await?;
            tx.execute("INSERT INTO no_such_table (a) VALUES (1)", &[]).await?;
            Ok(applied(value, "never"))
        })
    })
}

/// A statement without an event.
pub fn statement(sql: &'static str) -> Apply<()> {
    Box::new(move |tx| {
        Box::pin(async move {
            tx.execute(sql, &[]).await?;
            Ok(Applied { value: (), event: None, keep: Keep::Changes })
        })
    })
}

/// An apply that holds its lane until it is let go, so that a test decides which jobs share a batch.
pub struct Gate {
    entered: Arc<Semaphore>,
    opened: Arc<Semaphore>,
}

impl Gate {
    pub fn new() -> Gate {
        Gate { entered: Arc::new(Semaphore::new(0)), opened: Arc::new(Semaphore::new(0)) }
    }

    pub fn apply(&self) -> Apply<i64> {
        let (entered, opened, call_id) = (Arc::clone(&self.entered), Arc::clone(&self.opened), call_id());
        Box::new(move |tx| {
            let (entered, opened, call_id) = (Arc::clone(&entered), Arc::clone(&opened), call_id.clone());
            Box::pin(async move {
                entered.add_permits(1);
                opened.acquire().await.unwrap().forget();
                Ok(applied(increment(tx, "c").await?, &call_id))
            })
        })
    }

    pub async fn entered(&self) {
        self.entered.acquire().await.unwrap().forget();
    }

    pub fn open(&self) {
        self.opened.add_permits(1);
    }
}

/// Runs the applies in one batch: they queue up behind a closed gate.
pub async fn write_together(store: &Store, applies: Vec<Apply<i64>>) -> Vec<Result<i64, WriteError>> {
    let gate = Gate::new();
    let first = tokio::spawn({
        let (store, apply) = (store.clone(), gate.apply());
        async move { write(&store, apply).await }
    });
    gate.entered().await;
    let writes = futures::future::join_all(applies.into_iter().map(|apply| write(store, apply)));
    // A write is in the queue once its future has been polled, and `join` polls from left to right.
    let (results, ()) = futures::future::join(writes, async { gate.open() }).await;
    first.await.unwrap().unwrap();
    results
}

pub async fn counter(store: &Store) -> i64 {
    let mut reader = store.read().await.unwrap();
    let row = reader.fetch_optional("SELECT value FROM counters WHERE name = $1", &["c".into()]).await.unwrap();
    row.map_or(0, |row| row.int(0).unwrap())
}

pub async fn outcome(store: &Store, call_id: &str) -> Option<String> {
    let mut reader = store.read().await.unwrap();
    let sql = "SELECT outcome FROM events WHERE call_id = $1";
    let row = reader.fetch_optional(sql, &[Param::Text(call_id)]).await.unwrap();
    row.map(|row| row.text(0).unwrap())
}

pub async fn n_events(store: &Store) -> i64 {
    let mut reader = store.read().await.unwrap();
    reader.fetch_optional("SELECT COUNT(*) FROM events", &[]).await.unwrap().unwrap().int(0).unwrap()
}

pub fn is_unavailable<T>(result: &Result<T, WriteError>) -> bool {
    matches!(result, Err(WriteError::Store(error)) if error.is_unavailable())
}

/// Looks again and again, for at most ten seconds.
pub async fn until<F: Future<Output = bool>>(what: &str, mut is_true: impl FnMut() -> F) {
    let end = Instant::now() + Duration::from_secs(10);
    while !is_true().await {
        assert!(Instant::now() < end, "waited too long until {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// True on its first call only, for applies that misbehave once.
pub fn once() -> impl Fn() -> bool + Clone {
    let has_happened = Arc::new(AtomicBool::new(false));
    move || !has_happened.swap(true, Ordering::SeqCst)
}
