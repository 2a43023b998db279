//! What the engines' error codes mean to the store.

use std::borrow::Cow;
use std::str::FromStr;

use sqlx::postgres::PgConnectOptions;

use super::ACQUIRE_TIMEOUT;
use crate::error::StoreErrorKind;

pub(crate) fn error_kind(error: &sqlx::Error) -> StoreErrorKind {
    match code(error) {
        Some(Code::Sqlite(code)) => sqlite_kind(code, error),
        Some(Code::Postgres(code)) => postgres_kind(&code, error),
        None if is_link_failure(error) || matches!(error, sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed) => {
            StoreErrorKind::Unavailable
        }
        None => StoreErrorKind::Other,
    }
}

/// What is wrong with a file that is no database of SQLite, or no longer one.
pub(crate) fn find_file_damage(error: &sqlx::Error) -> Option<String> {
    const CORRUPT: u32 = 11;
    const NOTADB: u32 = 26;
    match code(error) {
        Some(Code::Sqlite(code)) if matches!(code & 0xff, CORRUPT | NOTADB) => {
            error.as_database_error().map(|error| error.message().to_owned())
        }
        Some(Code::Sqlite(_) | Code::Postgres(_)) | None => None,
    }
}

/// Where a PostgreSQL server was looked for, and why it lets nobody in. Nothing of user and password.
pub(crate) fn find_refusal(error: &sqlx::Error, url: &str) -> Option<(String, String)> {
    let settings = PgConnectOptions::from_str(url).ok()?;
    let host = settings.get_socket().map_or(settings.get_host().to_owned(), |socket| socket.display().to_string());
    let why = match code(error) {
        Some(Code::Postgres(code)) => match code.as_ref() {
            "3D000" => {
                let name = settings.get_database().unwrap_or(settings.get_username());
                format!("has no database `{name}`; make it with `createdb`, or mend `database_url`")
            }
            "28P01" | "28000" => "does not let this user in; are user and password right?".to_owned(),
            "53300" => "has no connection left; raise its `max_connections`".to_owned(),
            "55000" => "takes no connections to this database".to_owned(),
            "57P03" => "is starting or stopping; try again in a moment".to_owned(),
            _ => return None,
        },
        Some(Code::Sqlite(_)) => return None,
        None => match error {
            sqlx::Error::PoolTimedOut | sqlx::Error::Io(_) => {
                let waited_s = ACQUIRE_TIMEOUT.as_secs();
                format!("could not be reached within {waited_s} s; is it running, and the address right?")
            }
            sqlx::Error::Tls(_) => "could not agree on TLS; is `sslmode` right?".to_owned(),
            _ => return None,
        },
    };
    Some((format!("{host}:{}", settings.get_port()), why))
}

/// Whether the connection that reported the error must not be used again.
pub(crate) fn is_connection_lost(error: &sqlx::Error) -> bool {
    match code(error) {
        // IOERR, CORRUPT, CANTOPEN, NOTADB, and READONLY, which can mean that the file was moved away.
        Some(Code::Sqlite(code)) => matches!(code & 0xff, 8 | 10 | 11 | 14 | 26),
        Some(Code::Postgres(code)) => code.starts_with("08") || code.starts_with("57P") || code == "25P03",
        None => is_link_failure(error),
    }
}

/// SQLite ends the transaction by itself after some errors, and then answers a ROLLBACK with this harmless one.
pub(crate) fn is_already_rolled_back(error: &sqlx::Error) -> bool {
    const ERROR: u32 = 1;
    matches!(code(error), Some(Code::Sqlite(ERROR)))
}

/// After a failed fsync the kernel may have dropped the dirty pages, so neither cache nor file can be trusted any more.
pub(crate) fn is_fsync_failure(error: &sqlx::Error) -> bool {
    const IOERR_FSYNC: u32 = 1034;
    const IOERR_DIR_FSYNC: u32 = 1290;
    matches!(code(error), Some(Code::Sqlite(IOERR_FSYNC | IOERR_DIR_FSYNC)))
}

enum Code<'e> {
    /// The extended result code; its low byte is the primary one.
    Sqlite(u32),
    /// The five characters of SQLSTATE.
    Postgres(Cow<'e, str>),
}

fn code(error: &sqlx::Error) -> Option<Code<'_>> {
    let error = error.as_database_error()?;
    let code = error.code()?;
    if error.try_downcast_ref::<sqlx::sqlite::SqliteError>().is_some() {
        return code.parse().ok().map(Code::Sqlite);
    }
    Some(Code::Postgres(code))
}

/// What is told of a file that is damaged below its tables.
const PAGES: &str = "a page of it cannot be read";

fn sqlite_kind(code: u32, error: &sqlx::Error) -> StoreErrorKind {
    const FULL: u32 = 13;
    // The index of the log of changes, which lies beside the database, could not be made larger.
    const IOERR_SHMSIZE: u32 = 4874;
    const CONSTRAINT_PRIMARYKEY: u32 = 1555;
    const CONSTRAINT_UNIQUE: u32 = 2067;
    const ERROR: u32 = 1;
    const CORRUPT: u32 = 11;
    const NOTADB: u32 = 26;
    match code {
        CONSTRAINT_PRIMARYKEY | CONSTRAINT_UNIQUE => {
            let message = error.as_database_error().map_or("", |error| error.message());
            // `UNIQUE constraint failed: table.column, table.column`: names of the schema, never values.
            let constraint = message.rsplit_once(": ").map_or("unknown", |(_, columns)| columns);
            StoreErrorKind::UniqueViolation { constraint: constraint.to_owned() }
        }
        _ if code & 0xff == FULL || code == IOERR_SHMSIZE => StoreErrorKind::DiskFull,
        _ if matches!(code & 0xff, CORRUPT | NOTADB) => StoreErrorKind::Broken { what: PAGES.to_owned() },
        // Its message is all that tells a table that is gone from a mistake in the statement.
        ERROR => match error.as_database_error().map_or("", |error| error.message()) {
            gone if gone.starts_with("no such table: ") || gone.starts_with("no such column: ") => {
                StoreErrorKind::Broken { what: gone.to_owned() }
            }
            _ => StoreErrorKind::Other,
        },
        // BUSY, LOCKED, NOMEM, READONLY, INTERRUPT, IOERR, CANTOPEN, PROTOCOL (a WAL lock race).
        _ if matches!(code & 0xff, 5 | 6 | 7 | 8 | 9 | 10 | 14 | 15) => StoreErrorKind::Unavailable,
        _ => StoreErrorKind::Other,
    }
}

fn postgres_kind(code: &str, error: &sqlx::Error) -> StoreErrorKind {
    match code {
        "40001" | "40P01" => StoreErrorKind::Serialization,
        "23505" => {
            let constraint = error.as_database_error().and_then(|error| error.constraint()).unwrap_or("unknown");
            StoreErrorKind::UniqueViolation { constraint: constraint.to_owned() }
        }
        "53100" => StoreErrorKind::DiskFull,
        // A table or a column is gone: the message has names of the schema alone.
        "42P01" | "42703" => {
            let what = error.as_database_error().map_or("", |error| error.message()).to_owned();
            StoreErrorKind::Broken { what }
        }
        "XX001" | "XX002" => StoreErrorKind::Broken { what: PAGES.to_owned() },
        // Who may not look finds nothing wrong.
        "42501" => StoreErrorKind::Unavailable,
        // Connection, resources, shutdown, lock_timeout, statement_timeout, idle in transaction, read-only (a standby), IO.
        "55P03" | "57014" | "25P03" | "25006" | "58030" => StoreErrorKind::Unavailable,
        _ if code.starts_with("08") || code.starts_with("53") || code.starts_with("57P") => StoreErrorKind::Unavailable,
        _ => StoreErrorKind::Other,
    }
}

fn is_link_failure(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed)
}
