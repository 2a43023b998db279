//! The query layer: one way to run a statement on either engine.
//!
//! Inside a transaction the first failed statement is the last: every later one is refused with the same error until
//! the transaction or its savepoint is rolled back. PostgreSQL behaves so by itself but answers a COMMIT of such a
//! transaction with a silent rollback, and SQLite may have rolled back already and would run the rest in autocommit.

mod transaction;

pub use transaction::Tx;

use std::future::ready;
use std::ops::{Deref, DerefMut};
use std::process;
use std::sync::Arc;

use futures::TryStreamExt as _;
use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, Executor as _, Postgres, SqlSafeStr, Sqlite};

use crate::ahead::Ahead;
use crate::dialect::{self, Engine};
use crate::error::StoreError;
use crate::param::{Param, postgres_arguments, sqlite_arguments};
use crate::presence::Presence;
use crate::row::Row;
use crate::together::{self, Statement};

/// `EX_IOERR` of sysexits.h.
const EXIT_FSYNC_FAILED: i32 = 74;

/// A connection of a pool. Given back when dropped, or closed if its state is in doubt.
pub struct Conn {
    link: Link,
    is_in_transaction: bool,
    holds_lock: bool,
    /// The lane's lock, where the commit of the running transaction gives it back.
    freed_by_commit: Option<i64>,
    /// True while a statement runs, and for ever if its future was dropped before it ended.
    is_in_flight: bool,
    /// The failure after which the connection must not be used again.
    loss: Option<StoreError>,
    is_for_one_use: bool,
    /// The failure that ended the current transaction.
    failure: Option<StoreError>,
    pub(crate) ahead: Ahead,
    /// The number of the last event, where the running transaction knows it.
    pub(crate) last_event: Option<i64>,
}

enum Link {
    Sqlite(PoolConnection<Sqlite>),
    Postgres(PoolConnection<Postgres>),
}

#[derive(Clone)]
pub(crate) enum Pool {
    Sqlite { pool: sqlx::SqlitePool, presence: Option<Arc<Presence>> },
    Postgres(sqlx::PgPool),
}

impl Pool {
    /// With what knows whose file it is, where that matters.
    pub(crate) fn sqlite(pool: sqlx::SqlitePool, presence: Option<Arc<Presence>>) -> Pool {
        Pool::Sqlite { pool, presence }
    }

    pub(crate) async fn acquire(&self) -> Result<Conn, StoreError> {
        let link = match self {
            Pool::Sqlite { pool, presence } => match pool.try_acquire() {
                Some(open) => Ok(Link::Sqlite(open)),
                None => {
                    // A new one may come to another file, whose journal would be taken for that of this one.
                    presence.as_ref().map_or(Ok(()), |presence| presence.check_file())?;
                    pool.acquire().await.map(Link::Sqlite)
                }
            },
            Pool::Postgres(pool) => pool.acquire().await.map(Link::Postgres),
        };
        // Whatever the reason, to the caller a database without a connection is unavailable.
        link.map(Conn::new).map_err(StoreError::no_connection)
    }

    /// Waits for the connections that are in use.
    pub(crate) async fn close(&self) {
        match self {
            Pool::Sqlite { pool, .. } => pool.close().await,
            Pool::Postgres(pool) => pool.close().await,
        }
    }
}

impl Conn {
    fn new(link: Link) -> Conn {
        Conn {
            link,
            is_in_transaction: false,
            holds_lock: false,
            freed_by_commit: None,
            is_in_flight: false,
            loss: None,
            is_for_one_use: false,
            failure: None,
            ahead: Ahead::default(),
            last_event: None,
        }
    }

    pub fn engine(&self) -> Engine {
        match self.link {
            Link::Sqlite(_) => Engine::Sqlite,
            Link::Postgres(_) => Engine::Postgres,
        }
    }

    /// Runs a statement and answers how many rows it changed.
    pub async fn execute(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<u64, StoreError> {
        self.enter()?;
        let result = match &mut self.link {
            Link::Sqlite(link) => match sqlite_arguments(params) {
                Ok(arguments) => {
                    sqlx::query_with(sql, arguments).execute(&mut **link).await.map(|done| done.rows_affected())
                }
                Err(error) => Err(error),
            },
            Link::Postgres(link) => match postgres_arguments(params) {
                Ok(arguments) => {
                    sqlx::query_with(sql, arguments).execute(&mut **link).await.map(|done| done.rows_affected())
                }
                Err(error) => Err(error),
            },
        };
        self.leave(result)
    }

    /// Runs statements that have nothing to do with each other: none reads what another one writes, and no row is changed
    /// twice. On either engine that is one round trip. Answers how many rows the last one changed.
    pub async fn execute_together(&mut self, statements: &[Statement<'_>]) -> Result<u64, StoreError> {
        if statements.is_empty() {
            return Ok(0);
        }
        let (sql, params) = match self.engine() {
            Engine::Sqlite => together::in_a_row(statements),
            Engine::Postgres => together::joined(statements),
        };
        self.enter()?;
        let sql = AssertSqlSafe(sql);
        let result = match &mut self.link {
            Link::Sqlite(link) => match sqlite_arguments(&params) {
                Ok(arguments) => {
                    let steps = (&mut **link).fetch_many(sqlx::query_with(sql, arguments));
                    let changed = steps.try_filter_map(|step| ready(Ok(step.left().map(|done| done.rows_affected()))));
                    changed.try_fold(0, |_before, n_changed| ready(Ok(n_changed))).await
                }
                Err(error) => Err(error),
            },
            Link::Postgres(link) => match postgres_arguments(&params) {
                Ok(arguments) => {
                    sqlx::query_with(sql, arguments).execute(&mut **link).await.map(|done| done.rows_affected())
                }
                Err(error) => Err(error),
            },
        };
        self.leave(result)
    }

    /// The first row, if there is one.
    pub async fn fetch_optional(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<Option<Row>, StoreError> {
        self.enter()?;
        let result = match &mut self.link {
            Link::Sqlite(link) => match sqlite_arguments(params) {
                Ok(arguments) => {
                    let row = sqlx::query_with(sql, arguments).fetch_optional(&mut **link).await;
                    row.map(|row| row.map(Row::sqlite))
                }
                Err(error) => Err(error),
            },
            Link::Postgres(link) => match postgres_arguments(params) {
                Ok(arguments) => {
                    let row = sqlx::query_with(sql, arguments).fetch_optional(&mut **link).await;
                    row.map(|row| row.map(Row::postgres))
                }
                Err(error) => Err(error),
            },
        };
        self.leave(result)
    }

    /// All rows. The statement itself must limit their number.
    pub async fn fetch_all(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<Vec<Row>, StoreError> {
        self.enter()?;
        let result = match &mut self.link {
            Link::Sqlite(link) => match sqlite_arguments(params) {
                Ok(arguments) => {
                    let rows = sqlx::query_with(sql, arguments).fetch_all(&mut **link).await;
                    rows.map(|rows| rows.into_iter().map(Row::sqlite).collect())
                }
                Err(error) => Err(error),
            },
            Link::Postgres(link) => match postgres_arguments(params) {
                Ok(arguments) => {
                    let rows = sqlx::query_with(sql, arguments).fetch_all(&mut **link).await;
                    rows.map(|rows| rows.into_iter().map(Row::postgres).collect())
                }
                Err(error) => Err(error),
            },
        };
        self.leave(result)
    }

    /// A statement without parameters that is not worth preparing.
    pub(crate) async fn execute_raw(&mut self, sql: String) -> Result<(), StoreError> {
        self.enter()?;
        let sql = AssertSqlSafe(sql);
        let result = match &mut self.link {
            Link::Sqlite(link) => sqlx::raw_sql(sql).execute(&mut **link).await.map(|_| ()),
            Link::Postgres(link) => sqlx::raw_sql(sql).execute(&mut **link).await.map(|_| ()),
        };
        self.leave(result)
    }

    /// A statement whose text was built, from names that the schema has.
    pub(crate) async fn execute_built(&mut self, sql: String, params: &[Param<'_>]) -> Result<u64, StoreError> {
        self.enter()?;
        let sql = AssertSqlSafe(sql);
        let result = match &mut self.link {
            Link::Sqlite(link) => match sqlite_arguments(params) {
                Ok(arguments) => {
                    sqlx::query_with(sql, arguments).execute(&mut **link).await.map(|done| done.rows_affected())
                }
                Err(error) => Err(error),
            },
            Link::Postgres(link) => match postgres_arguments(params) {
                Ok(arguments) => {
                    sqlx::query_with(sql, arguments).execute(&mut **link).await.map(|done| done.rows_affected())
                }
                Err(error) => Err(error),
            },
        };
        self.leave(result)
    }

    /// As [`Conn::fetch_optional`], with a text that was built.
    pub(crate) async fn fetch_built(&mut self, sql: String) -> Result<Option<Row>, StoreError> {
        self.enter()?;
        let sql = AssertSqlSafe(sql);
        let result = match &mut self.link {
            Link::Sqlite(link) => sqlx::query(sql).fetch_optional(&mut **link).await.map(|row| row.map(Row::sqlite)),
            Link::Postgres(link) => {
                sqlx::query(sql).fetch_optional(&mut **link).await.map(|row| row.map(Row::postgres))
            }
        };
        self.leave(result)
    }

    /// Hands on the rows of a statement as they come, however many. After an error of `each` the connection is closed.
    pub(crate) async fn for_each_row<E: From<StoreError>>(
        &mut self,
        sql: String,
        mut each: impl FnMut(Row) -> Result<(), E>,
    ) -> Result<(), E> {
        self.enter()?;
        let sql = AssertSqlSafe(sql);
        let result = match &mut self.link {
            Link::Sqlite(link) => {
                let mut rows = sqlx::query(sql).fetch(&mut **link);
                loop {
                    match rows.try_next().await {
                        Ok(Some(row)) => each(Row::sqlite(row))?,
                        Ok(None) => break Ok(()),
                        Err(error) => break Err(error),
                    }
                }
            }
            Link::Postgres(link) => {
                let mut rows = sqlx::query(sql).fetch(&mut **link);
                loop {
                    match rows.try_next().await {
                        Ok(Some(row)) => each(Row::postgres(row))?,
                        Ok(None) => break Ok(()),
                        Err(error) => break Err(error),
                    }
                }
            }
        };
        self.leave(result).map_err(E::from)
    }

    /// Lifts the time limits of statements. The connection is closed after use.
    pub(crate) async fn wait_for_ever(&mut self) -> Result<(), StoreError> {
        for sql in self.engine().no_time_limits_sql() {
            self.control(sql).await?;
        }
        self.close_after_use();
        Ok(())
    }

    pub(crate) fn is_in_transaction(&self) -> bool {
        self.is_in_transaction
    }

    pub(crate) fn holds_lock(&self) -> bool {
        self.holds_lock
    }

    /// Why the current transaction can no longer be committed, even if the apply swallowed the error.
    pub(crate) fn failure(&self) -> Option<&StoreError> {
        self.failure.as_ref()
    }

    /// Whether the connection can be given back or used for another transaction.
    pub(crate) fn is_clean(&self) -> bool {
        !(self.is_in_transaction || self.holds_lock || self.is_lost() || self.is_for_one_use)
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.is_in_flight || self.loss.is_some()
    }

    /// The connection stays usable, but is closed instead of given back.
    pub(crate) fn close_after_use(&mut self) {
        self.is_for_one_use = true;
    }

    async fn control(&mut self, sql: &'static str) -> Result<(), StoreError> {
        self.enter()?;
        let result = match &mut self.link {
            Link::Sqlite(link) => sqlx::query(sql).execute(&mut **link).await.map(|_| ()),
            // The simple protocol: one round trip and no prepared statement.
            Link::Postgres(link) => sqlx::raw_sql(sql.into_sql_str()).execute(&mut **link).await.map(|_| ()),
        };
        self.leave(result)
    }

    fn enter(&mut self) -> Result<(), StoreError> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        if let Some(loss) = &self.loss {
            return Err(loss.clone());
        }
        if self.is_in_flight {
            return Err(StoreError::unavailable("an earlier statement was abandoned"));
        }
        self.is_in_flight = true;
        Ok(())
    }

    fn leave<T>(&mut self, result: Result<T, sqlx::Error>) -> Result<T, StoreError> {
        self.is_in_flight = false;
        result.map_err(|error| {
            if dialect::is_fsync_failure(&error) {
                tracing::error!("The disk refused an fsync; exiting, as neither cache nor file can be trusted");
                process::exit(EXIT_FSYNC_FAILED);
            }
            let is_connection_lost = dialect::is_connection_lost(&error);
            let error = StoreError::from_driver(error);
            if is_connection_lost {
                self.loss = Some(error.clone());
            }
            if self.is_in_transaction {
                self.failure = Some(error.clone());
            }
            error
        })
    }
}

impl Drop for Conn {
    fn drop(&mut self) {
        if !self.is_clean() {
            match &mut self.link {
                Link::Sqlite(link) => link.close_on_drop(),
                Link::Postgres(link) => link.close_on_drop(),
            }
        }
    }
}

/// A connection that may only read. Each statement sees its own snapshot.
pub struct Reader {
    conn: Conn,
}

impl Reader {
    pub(crate) fn new(conn: Conn) -> Reader {
        Reader { conn }
    }

    /// From here on all statements see the same state. Lasts until the reader is dropped, which closes its connection.
    pub async fn hold_snapshot(&mut self) -> Result<(), StoreError> {
        self.conn.control(self.conn.engine().snapshot_sql()).await?;
        self.conn.close_after_use();
        Ok(())
    }
}

impl Deref for Reader {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        &self.conn
    }
}

impl DerefMut for Reader {
    fn deref_mut(&mut self) -> &mut Conn {
        &mut self.conn
    }
}
