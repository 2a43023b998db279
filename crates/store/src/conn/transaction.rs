//! Transactions of a connection: how they begin and end, the locks they wait for, and what an apply holds of one.

use std::future::ready;
use std::ops::{Deref, DerefMut, RangeInclusive};

use futures::TryStreamExt as _;
use sqlx::Executor as _;

use super::{Conn, Link};
use crate::ahead::Alike;
use crate::dialect;
use crate::error::StoreError;
use crate::param::{Param, sqlite_arguments};

impl Conn {
    pub(crate) async fn begin(&mut self) -> Result<(), StoreError> {
        self.control(self.engine().begin_sql()).await?;
        (self.is_in_transaction, self.last_event) = (true, None);
        Ok(())
    }

    /// As [`Conn::begin`]; on SQLite with the number that changes when another connection has written to the file. What the
    /// next event will be numbered is asked for on the same way.
    pub(crate) async fn begin_looking(&mut self) -> Result<Option<i64>, StoreError> {
        let Some(sql) = self.engine().begin_looking_sql() else {
            return self.begin().await.map(|()| None);
        };
        self.is_in_transaction = true;
        let looked = self.fetch_all(sql, &[]).await.and_then(|rows| match rows.as_slice() {
            [version, last_event] => Ok((version.int(0)?, last_event.opt_int(0)?)),
            _ => Err(StoreError::other("a transaction began without its numbers")),
        });
        match looked {
            Ok((version, last_event)) => {
                self.last_event = Some(last_event.unwrap_or(0));
                Ok(Some(version))
            }
            Err(error) => {
                // It may have begun all the same.
                if !self.is_lost() {
                    drop(self.rollback().await);
                }
                Err(error)
            }
        }
    }

    /// Waits for a lane's lock, then begins a transaction whose commit gives it back: one round trip each. The lock belongs
    /// to the connection, as it must be held before the transaction takes its snapshot.
    pub(crate) async fn begin_locked(&mut self, key: i64) -> Result<(), StoreError> {
        self.holds_lock = true;
        if let Err(error) = self.execute_raw(self.engine().begin_locked_sql(key)).await {
            // It may have failed while it waited, inside the small transaction that the wait is.
            if !self.is_lost() {
                drop(self.rollback().await);
            }
            return Err(error);
        }
        (self.is_in_transaction, self.freed_by_commit) = (true, Some(key));
        Ok(())
    }

    /// After an error the transaction is not committed, unless the connection was lost, when nobody can tell.
    pub(crate) async fn commit(&mut self) -> Result<(), StoreError> {
        match self.freed_by_commit.take() {
            None => self.control("COMMIT").await?,
            Some(key) => {
                // What fails after the commit is the connection alone: giving back a lock that it holds cannot.
                self.execute_raw(dialect::commit_and_unlock_sql(key)).await?;
                self.holds_lock = false;
            }
        }
        self.is_in_transaction = false;
        Ok(())
    }

    /// Runs statements of SQLite of which the last one commits, without coming back from its thread in between. An error
    /// tells how many of them ended before it; see also [`Conn::commit`].
    pub(crate) async fn finish(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<(), (usize, StoreError)> {
        self.enter().map_err(|error| (0, error))?;
        let mut n_done = 0;
        let ended = match (&mut self.link, sqlite_arguments(params)) {
            (Link::Sqlite(link), Ok(arguments)) => {
                let steps = (&mut **link).fetch_many(sqlx::query_with(sql, arguments));
                let done = steps.try_filter_map(|step| ready(Ok(step.left())));
                done.try_for_each(|_| {
                    n_done += 1;
                    ready(Ok(()))
                })
                .await
            }
            (Link::Sqlite(_), Err(error)) => Err(error),
            (Link::Postgres(_), _) => Err(sqlx::Error::Protocol("statements of another engine".to_owned())),
        };
        self.leave(ended).map_err(|error| (n_done, error))?;
        self.is_in_transaction = false;
        Ok(())
    }

    /// Ends the transaction. If that fails, the connection will be closed, which ends it too.
    pub(crate) async fn rollback(&mut self) -> Result<(), StoreError> {
        let had_failed = self.failure.take().is_some();
        self.last_event = None;
        // Another transaction may follow under the same lock.
        self.freed_by_commit = None;
        let result = self.control("ROLLBACK").await;
        self.is_in_transaction = false;
        self.failure = None;
        match result {
            Err(error) if had_failed && error.driver().is_some_and(dialect::is_already_rolled_back) => Ok(()),
            Err(error) => Err(self.loss.get_or_insert(error).clone()),
            Ok(()) => Ok(()),
        }
    }

    pub(crate) async fn savepoint(&mut self) -> Result<(), StoreError> {
        self.control("SAVEPOINT apply").await
    }

    pub(crate) async fn release_savepoint(&mut self) -> Result<(), StoreError> {
        self.control("RELEASE SAVEPOINT apply").await
    }

    /// Undoes what was done since the savepoint and keeps the savepoint.
    pub(crate) async fn rollback_to_savepoint(&mut self) -> Result<(), StoreError> {
        (self.failure, self.last_event) = (None, None);
        self.control("ROLLBACK TO SAVEPOINT apply").await
    }

    /// Takes a lock if it is free. `false` means that another connection has it.
    pub(crate) async fn try_lock(&mut self, key: i64) -> Result<bool, StoreError> {
        self.holds_lock = true;
        let row = self.fetch_optional(dialect::TRY_LOCK_SQL, &[Param::Int(key)]).await?;
        self.holds_lock = row.map(|row| row.bool(0)).transpose()? == Some(true);
        Ok(self.holds_lock)
    }

    /// A transaction whose statements each see what is committed when they start.
    pub(crate) async fn begin_plain(&mut self) -> Result<(), StoreError> {
        self.control("BEGIN").await?;
        self.is_in_transaction = true;
        Ok(())
    }

    /// If this fails, `holds_lock` stays set and the connection is closed, which frees the lock.
    pub(crate) async fn unlock(&mut self, key: i64) -> Result<(), StoreError> {
        let row = self.fetch_optional(dialect::UNLOCK_SQL, &[Param::Int(key)]).await?;
        let was_held = row.map(|row| row.bool(0)).transpose()?;
        self.holds_lock = was_held != Some(true);
        Ok(())
    }
}

/// A running write transaction. Only the store can make one, so code that holds it will have its event committed with its changes.
pub struct Tx<'c> {
    conn: &'c mut Conn,
}

impl<'c> Tx<'c> {
    pub(crate) fn new(conn: &'c mut Conn) -> Tx<'c> {
        Tx { conn }
    }

    /// The writes like this one that follow at once; numbers may be kept for them with [`Tx::keep_ahead`].
    pub fn alike(&self) -> Option<Alike> {
        self.conn.ahead.alike()
    }

    /// Keeps numbers of a counter, which stands at the last of them already, for the writes that follow.
    pub fn keep_ahead(&mut self, counter: String, numbers: RangeInclusive<i64>) {
        self.conn.ahead.keep(counter, numbers);
    }

    /// Whether an earlier write of the batch keeps numbers of this counter for others.
    pub fn has_ahead(&self, counter: &str) -> bool {
        self.conn.ahead.has(counter)
    }

    /// The next number of a counter that an earlier write of the batch keeps for this one.
    pub fn take_ahead(&mut self, counter: &str) -> Option<i64> {
        self.conn.ahead.take(counter)
    }
}

impl Deref for Tx<'_> {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        self.conn
    }
}

impl DerefMut for Tx<'_> {
    fn deref_mut(&mut self) -> &mut Conn {
        self.conn
    }
}
