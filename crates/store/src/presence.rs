//! Whether the database is still the one that this process writes to.
//!
//! A database that is rolled back under a running process, by a restore or by a failover to a copy that lags behind, would
//! give out again what was acknowledged. So the last event that was committed here, or was there when the process came, must
//! be found: on every new connection to PostgreSQL, as an old one cannot outlive its database, and on SQLite whenever somebody
//! else has written to the file. A file that was replaced is not written to any more.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::conn::Conn;
use crate::error::StoreError;
use crate::param::Param;

pub(crate) const IS_OLDER: &str =
    "the database does not have what this process wrote to it: it was rolled back or replaced";
pub(crate) const FILE_IS_ANOTHER: &str =
    "the file of the database was replaced or removed under this process; put it back";
pub(crate) const FIND_EVENT: &str = "SELECT 1 FROM events WHERE call_id = $1";

#[derive(Default)]
pub(crate) struct Presence {
    file: Option<File>,
    memory: Mutex<Memory>,
    n_foreign: AtomicU64,
}

struct File {
    path: PathBuf,
    identity: (u64, u64),
}

#[derive(Default)]
struct Memory {
    /// The call of the last event that was committed here; until there is one, of the newest that was found.
    last_event: Option<String>,
    /// SQLite's number of what others wrote, as this process last saw it on its connection.
    data_version: Option<i64>,
}

impl Presence {
    /// For a file of SQLite, which must be there.
    pub(crate) fn of_file(path: PathBuf) -> io::Result<Presence> {
        let identity = identity(&std::fs::metadata(&path)?);
        Ok(Presence { file: Some(File { path, identity }), ..Presence::default() })
    }

    /// Remembers what the database has when this process comes to it, on the connection that will write.
    pub(crate) async fn note_found(&self, conn: &mut Conn) -> Result<(), StoreError> {
        // In this order: what others write in between is theirs.
        let data_version = match conn.engine().data_version_sql() {
            Some(sql) => conn.fetch_optional(sql, &[]).await?.map(|row| row.int(0)).transpose()?,
            None => None,
        };
        let newest = conn.fetch_optional(conn.engine().newest_event_sql(), &[]).await?;
        let newest = newest.map(|row| row.text(0)).transpose()?;
        *self.memory() = Memory { last_event: newest, data_version };
        Ok(())
    }

    pub(crate) fn note_event(&self, call_id: &str) {
        self.memory().last_event = Some(call_id.to_owned());
    }

    pub(crate) fn last_event(&self) -> Option<String> {
        self.memory().last_event.clone()
    }

    /// The numbers of a new connection cannot be compared with those of the one before.
    pub(crate) fn note_connection(&self) {
        self.memory().data_version = None;
    }

    /// How often somebody else wrote to the file while this process had it.
    pub(crate) fn n_foreign(&self) -> u64 {
        self.n_foreign.load(Ordering::Relaxed)
    }

    /// Whether the path still leads to the file that this process opened.
    pub(crate) fn check_file(&self) -> Result<(), StoreError> {
        match &self.file {
            Some(File { path, identity: known })
                if std::fs::metadata(path).map_or(true, |found| identity(&found) != *known) =>
            {
                Err(StoreError::unavailable(FILE_IS_ANOTHER))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// In a transaction that has just begun, with SQLite's number at that moment.
    pub(crate) async fn check(&self, conn: &mut Conn, data_version: i64) -> Result<(), StoreError> {
        self.check_file()?;
        let (before, last_event) = {
            let memory = self.memory();
            (memory.data_version, memory.last_event.clone())
        };
        if before == Some(data_version) {
            return Ok(());
        }
        if let Some(call_id) = last_event
            && conn.fetch_optional(FIND_EVENT, &[Param::Text(&call_id)]).await?.is_none()
        {
            return Err(StoreError::unavailable(IS_OLDER));
        }
        // Only now: until then every write looks again.
        self.memory().data_version = Some(data_version);
        if before.is_some() {
            self.n_foreign.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn identity(found: &Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}
