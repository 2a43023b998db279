//! What can go wrong in the store, sorted by what the caller can do about it.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::dialect;
use crate::events::EVENT_IS_SWALLOWED;
use crate::presence::FILE_IS_ANOTHER;

/// A failed read or statement. `Display` shows neither SQL, values nor paths; the driver's error is the source.
///
/// Cloneable, because one failed commit is the answer to every job of its batch.
#[derive(Debug, Clone)]
pub struct StoreError {
    kind: StoreErrorKind,
    cause: Arc<dyn Error + Send + Sync>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// The database cannot be reached, is locked or shutting down. Trying later may help.
    Unavailable,
    /// The disk of the database is full. Trying helps after somebody made room.
    DiskFull,
    /// The transaction met a concurrent one; repeating it from the start may help.
    Serialization,
    /// `constraint` is the engine's own name for it, so it serves messages, not decisions.
    UniqueViolation { constraint: String },
    /// A table of the log is not as the sequencer left it. Only a backup helps.
    Damaged { table: &'static str },
    /// A table, a column or a page is gone or cannot be read, in the words of the engine. Only a backup helps.
    Broken { what: String },
    /// A statement the database refuses, or a row that does not have the expected shape.
    Other,
}

impl StoreError {
    /// A failure found by our own code: a row of an unexpected shape, a closed store.
    pub fn other(what: &'static str) -> StoreError {
        StoreError { kind: StoreErrorKind::Other, cause: Arc::new(Reason(what)) }
    }

    /// A table of the log that is not as the sequencer left it.
    pub(crate) fn damaged(table: &'static str, what: &'static str) -> StoreError {
        StoreError { kind: StoreErrorKind::Damaged { table }, cause: Arc::new(Reason(what)) }
    }

    pub(crate) fn unavailable(what: &'static str) -> StoreError {
        StoreError { kind: StoreErrorKind::Unavailable, cause: Arc::new(Reason(what)) }
    }

    pub(crate) fn from_driver(error: sqlx::Error) -> StoreError {
        StoreError { kind: dialect::error_kind(&error), cause: Arc::new(error) }
    }

    pub(crate) fn no_connection(error: sqlx::Error) -> StoreError {
        let kind = match dialect::error_kind(&error) {
            told @ (StoreErrorKind::Broken { .. } | StoreErrorKind::DiskFull) => told,
            StoreErrorKind::Unavailable
            | StoreErrorKind::Serialization
            | StoreErrorKind::UniqueViolation { .. }
            | StoreErrorKind::Damaged { .. }
            | StoreErrorKind::Other => StoreErrorKind::Unavailable,
        };
        StoreError { kind, cause: Arc::new(error) }
    }

    pub(crate) fn driver(&self) -> Option<&sqlx::Error> {
        self.cause.downcast_ref()
    }

    pub fn kind(&self) -> &StoreErrorKind {
        &self.kind
    }

    /// Whether our own code refused what a row holds, although each cell is of its type.
    pub fn is_about_a_value(&self) -> bool {
        self.kind == StoreErrorKind::Other && self.cause.is::<Reason>()
    }

    /// Whether the file of the database is not the one any more that this process opened.
    pub fn is_about_another_file(&self) -> bool {
        self.cause.downcast_ref::<Reason>().is_some_and(|reason| reason.0 == FILE_IS_ANOTHER)
    }

    /// Whether the database took an event, refused nothing, and does not have it: a trigger or a rule of other hands.
    pub fn is_about_a_swallowed_event(&self) -> bool {
        self.cause.downcast_ref::<Reason>().is_some_and(|reason| reason.0 == EVENT_IS_SWALLOWED)
    }

    /// Whether the same may succeed later, full disk included.
    pub fn is_unavailable(&self) -> bool {
        matches!(self.kind, StoreErrorKind::Unavailable | StoreErrorKind::DiskFull)
    }

    /// Whether the database answered, and is not what this program left: trying again does not help.
    pub fn is_damage(&self) -> bool {
        match self.kind {
            StoreErrorKind::Damaged { .. } | StoreErrorKind::Broken { .. } | StoreErrorKind::Other => true,
            StoreErrorKind::Unavailable
            | StoreErrorKind::DiskFull
            | StoreErrorKind::Serialization
            | StoreErrorKind::UniqueViolation { .. } => false,
        }
    }

    pub fn is_serialization(&self) -> bool {
        self.kind == StoreErrorKind::Serialization
    }

    pub fn is_unique_violation(&self) -> bool {
        matches!(self.kind, StoreErrorKind::UniqueViolation { .. })
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            StoreErrorKind::Unavailable => formatter.write_str("the database is unavailable"),
            StoreErrorKind::DiskFull => formatter.write_str("the disk of the database is full"),
            StoreErrorKind::Serialization => formatter.write_str("the transaction met a concurrent one"),
            StoreErrorKind::UniqueViolation { constraint } => write!(formatter, "`{constraint}` must be unique"),
            StoreErrorKind::Damaged { table } => {
                write!(formatter, "the table `{table}` of the log is damaged: {}", self.cause)
            }
            StoreErrorKind::Broken { what } => write!(formatter, "the database is damaged: {what}"),
            StoreErrorKind::Other => formatter.write_str("the database refused a statement"),
        }
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self.driver() {
            // It has the database's own error both in its text and as its source.
            Some(sqlx::Error::Database(error)) => Some(error.as_error()),
            Some(_) | None => Some(self.cause.as_ref()),
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Reason(&'static str);

/// Why a write was not committed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum WriteError {
    #[error("the deadline passed before the write began")]
    Expired,
    #[error("too many writes are waiting")]
    QueueFull,
    #[error("the write panicked")]
    Panicked,
    /// When the connection is lost during the commit it is unknown whether the write is stored; an idempotency key decides.
    #[error("the write failed")]
    Store(#[source] StoreError),
}

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("could not create the database file `{path}`", path = path.display())]
    CreateFile {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("the database address is not a valid `postgres://` URL")]
    ParseUrl {
        #[source]
        error: sqlx::Error,
    },
    /// In words of our own: the driver's say neither where nor what, and say it twice.
    #[error("the PostgreSQL server at `{place}` {why}")]
    Unreachable { place: String, why: String },
    #[error("the database file `{path}` is damaged: {problem}", path = path.display())]
    Damaged { path: PathBuf, problem: String },
    #[error("could not connect to the database")]
    Connect {
        #[source]
        error: StoreError,
    },
    #[error("SQLite `{found}` is too old, expected at least `{expected}`")]
    SqliteTooOld { found: String, expected: &'static str },
    #[error("the database has schema version `{found}`, this program knows at most `{known}`; use a newer program")]
    SchemaTooNew { found: i64, known: i64 },
    #[error("migration `{version}` ({name}) differs from the one that was applied to this database")]
    ChangedMigration { version: i64, name: String },
    #[error("migration version `{version}` is defined twice")]
    DuplicateMigration { version: i64 },
    #[error("could not read the applied migrations")]
    ReadMigrations {
        #[source]
        error: StoreError,
    },
    #[error(transparent)]
    ReadEvents { error: StoreError },
    #[error("could not apply migration `{version}` ({name})")]
    Migrate {
        version: i64,
        name: &'static str,
        #[source]
        error: StoreError,
    },
}

impl OpenError {
    /// What the database answered, where it is that which failed.
    pub fn answered(&self) -> Option<&StoreError> {
        match self {
            OpenError::Connect { error }
            | OpenError::ReadMigrations { error }
            | OpenError::ReadEvents { error }
            | OpenError::Migrate { error, .. } => Some(error),
            OpenError::CreateFile { .. }
            | OpenError::ParseUrl { .. }
            | OpenError::Unreachable { .. }
            | OpenError::Damaged { .. }
            | OpenError::SqliteTooOld { .. }
            | OpenError::SchemaTooNew { .. }
            | OpenError::ChangedMigration { .. }
            | OpenError::DuplicateMigration { .. } => None,
        }
    }
}
