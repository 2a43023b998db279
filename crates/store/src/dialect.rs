//! The differences between SQLite and PostgreSQL: settings, transaction starts, column types, locks and error codes.

mod failures;

pub(crate) use failures::{
    error_kind, find_file_damage, find_refusal, is_already_rolled_back, is_connection_lost, is_fsync_failure,
};

use std::path::Path;
use std::str::FromStr;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection};

use crate::conn::Pool;
use crate::presence::{FIND_EVENT, IS_OLDER, Presence};

/// Older versions can corrupt a WAL database when a checkpoint and a write meet (the WAL-reset bug).
pub(crate) const SQLITE_VERSION_MIN: &str = "3.51.3";

/// See [`Engine::events_ahead_max`].
const LAST_EVENT_SQL: &str = "SELECT MAX(event_seq) FROM events WHERE event_seq <= 4294967296 + \
     COALESCE((SELECT MAX(CAST(last_event_seq AS INTEGER), 0) FROM log_state WHERE id = 1), 0)";

/// Only a foreign program can hold SQLite's lock, and everybody waits behind the one who waits for it.
const SQLITE_LOCK_TIMEOUT: Duration = Duration::from_millis(1_500);
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(3);
/// Enough for every statement of the program; the driver's default of 100 would evict hot ones.
const STATEMENT_CACHE_CAPACITY: usize = 256;
/// A pooled connection that rested longer is tested before use: the server may have been restarted meanwhile.
pub const UNTESTED_REST_MAX: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres,
}

impl Engine {
    pub(crate) const ALL: [Engine; 2] = [Engine::Sqlite, Engine::Postgres];

    /// The place of a parameter in a statement that names every place once, in order.
    pub(crate) fn place(self, number: usize) -> String {
        match self {
            // It looks for the name of each place that has one among all others.
            Engine::Sqlite => "?".to_owned(),
            Engine::Postgres => format!("${number}"),
        }
    }

    pub(crate) fn begin_sql(self) -> &'static str {
        match self {
            // IMMEDIATE takes the write lock at once: a deferred transaction could fail with BUSY after half its work.
            Engine::Sqlite => "BEGIN IMMEDIATE",
            Engine::Postgres => "BEGIN ISOLATION LEVEL SERIALIZABLE",
        }
    }

    /// Begins a transaction and answers, in one round trip, a number that changes with what other connections write and the
    /// last event. On PostgreSQL everybody writes.
    pub(crate) fn begin_looking_sql(self) -> Option<&'static str> {
        static BEGIN: LazyLock<String> =
            LazyLock::new(|| format!("BEGIN IMMEDIATE; PRAGMA data_version; {LAST_EVENT_SQL}"));
        match self {
            Engine::Sqlite => Some(BEGIN.as_str()),
            Engine::Postgres => None,
        }
    }

    /// The number that changes when another connection has written to the file.
    pub(crate) fn data_version_sql(self) -> Option<&'static str> {
        match self {
            Engine::Sqlite => Some("PRAGMA data_version"),
            Engine::Postgres => None,
        }
    }

    /// The call of the newest event, in the order that each engine has an index for.
    pub(crate) fn newest_event_sql(self) -> &'static str {
        match self {
            Engine::Sqlite => "SELECT call_id FROM events ORDER BY event_seq DESC LIMIT 1",
            Engine::Postgres => "SELECT call_id FROM events ORDER BY commit_key DESC, event_seq DESC LIMIT 1",
        }
    }

    /// The call of the oldest event, in the same order.
    pub(crate) fn oldest_event_sql(self) -> &'static str {
        match self {
            Engine::Sqlite => "SELECT call_id FROM events ORDER BY event_seq LIMIT 1",
            Engine::Postgres => "SELECT call_id FROM events ORDER BY commit_key, event_seq LIMIT 1",
        }
    }

    /// Waits for a lock in a transaction of its own, and then begins one that sees all that was committed meanwhile.
    pub(crate) fn begin_locked_sql(self, key: i64) -> String {
        format!("BEGIN; SELECT pg_advisory_lock({key}); COMMIT; {}", self.begin_sql())
    }

    /// A statement of a migration in the engine's words; nothing if it is not for this engine.
    pub(crate) fn migration_sql(self, sql: &str) -> Option<String> {
        let sql = match (self, sql.strip_prefix("{postgres}")) {
            (Engine::Sqlite, Some(_)) => return None,
            (Engine::Postgres, Some(rest)) => rest,
            (Engine::Sqlite | Engine::Postgres, None) => sql,
        };
        // On SQLite one writer commits after the other, so the row number is the order of commits. On PostgreSQL it is
        // not: a transaction that began earlier may commit later, so its number goes first and unfinished ones wait.
        let (bytes, json, event_seq, commit_key, events_key) = match self {
            Engine::Sqlite => ("BLOB", "TEXT", "INTEGER PRIMARY KEY", "BIGINT NOT NULL DEFAULT 0", ""),
            Engine::Postgres => (
                "BYTEA",
                "JSONB",
                "BIGINT GENERATED ALWAYS AS IDENTITY",
                "BIGINT NOT NULL DEFAULT (pg_current_xact_id()::text::bigint)",
                ", PRIMARY KEY (commit_key, event_seq)",
            ),
        };
        let sql = sql.replace("{bytes}", bytes).replace("{json}", json).replace("{event_seq}", event_seq);
        Some(sql.replace("{commit_key}", commit_key).replace("{events_key}", events_key))
    }

    /// All writes of SQLite pass one lane, since it has one write lock; on PostgreSQL the caller chooses.
    pub(crate) fn lane(self, lane: Option<String>) -> Option<String> {
        match self {
            Engine::Sqlite => Some(String::new()),
            Engine::Postgres => lane,
        }
    }

    /// Whether a lane keeps its connection between batches. A PostgreSQL lane gives it back, as there are more lanes than connections.
    pub(crate) fn lane_keeps_connection(self) -> bool {
        match self {
            Engine::Sqlite => true,
            Engine::Postgres => false,
        }
    }

    /// The key of the lock that keeps a lane to one process at a time. SQLite's write lock already does so.
    pub(crate) fn lane_lock_key(self, lane: &str) -> Option<i64> {
        match self {
            Engine::Sqlite => None,
            Engine::Postgres => Some(lock_key("lane", lane)),
        }
    }

    /// With SQLite's single writer a duplicate key stays one; on PostgreSQL a concurrent transaction may have taken the same next id.
    pub(crate) fn may_repeat_after_unique_violation(self) -> bool {
        match self {
            Engine::Sqlite => false,
            Engine::Postgres => true,
        }
    }

    /// What a connection needs before it migrates: no time limits, and on PostgreSQL the lock that lets two processes start at once.
    pub(crate) fn migration_setup_sql(self) -> Vec<String> {
        match self {
            Engine::Sqlite => Vec::new(),
            Engine::Postgres => {
                let lock = format!("SELECT pg_advisory_lock({})", lock_key("migrations", ""));
                self.no_time_limits_sql().iter().map(|sql| (*sql).to_owned()).chain([lock]).collect()
            }
        }
    }

    /// SQLite has no such limits.
    pub(crate) fn no_time_limits_sql(self) -> &'static [&'static str] {
        match self {
            Engine::Sqlite => &[],
            Engine::Postgres => {
                &["SET statement_timeout = 0", "SET lock_timeout = 0", "SET idle_in_transaction_session_timeout = 0"]
            }
        }
    }

    /// Table, column and type of everything in the schema.
    pub(crate) fn columns_sql(self) -> &'static str {
        match self {
            Engine::Sqlite => {
                "SELECT m.name, c.name, c.type FROM sqlite_master m JOIN pragma_table_info(m.name) c \
                 WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY m.name, c.cid"
            }
            Engine::Postgres => {
                "SELECT c.table_name::text, c.column_name::text, c.data_type::text FROM information_schema.columns c \
                 JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name \
                 WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE' \
                 ORDER BY c.table_name, c.ordinal_position"
            }
        }
    }

    /// Lets a restored event bring its number.
    pub(crate) fn overriding_sql(self) -> &'static str {
        match self {
            Engine::Sqlite => "",
            Engine::Postgres => " OVERRIDING SYSTEM VALUE",
        }
    }

    /// Numbers new events after the restored ones; SQLite does so by itself.
    pub(crate) fn continue_events_sql(self) -> Option<&'static str> {
        match self {
            Engine::Sqlite => None,
            Engine::Postgres => Some("SELECT setval(pg_get_serial_sequence('events', 'event_seq'), $1)"),
        }
    }
}

impl Engine {
    /// Events after a position that no unfinished transaction can get in front of any more, in order.
    pub(crate) fn settled_events_sql(self) -> &'static str {
        match self {
            Engine::Sqlite => {
                "SELECT commit_key, event_seq, call_id, body FROM events WHERE event_seq > $2 AND commit_key = $1 \
                 ORDER BY event_seq LIMIT $3"
            }
            Engine::Postgres => {
                "SELECT commit_key, event_seq, call_id, body FROM events WHERE (commit_key, event_seq) > ($1, $2) \
                 AND commit_key < pg_snapshot_xmin(pg_current_snapshot())::text::bigint \
                 ORDER BY commit_key, event_seq LIMIT $3"
            }
        }
    }

    /// How far after the last event of the tree another one can stand: `None` where the engine gives out the places.
    ///
    /// SQLite gives a row the number after the largest one, and any number once the largest possible is taken. So events
    /// that other hands put far ahead are passed over when a number is given out, and the sequencer does not follow them.
    pub(crate) fn events_ahead_max(self) -> Option<i64> {
        match self {
            Engine::Sqlite => Some(4_294_967_296),
            Engine::Postgres => None,
        }
    }

    /// The number of the last event, where we number them.
    pub(crate) fn last_event_sql(self) -> Option<&'static str> {
        self.events_ahead_max().map(|_| LAST_EVENT_SQL)
    }

    /// The transaction number before which every event is settled; `None` where an event is settled once it is there.
    pub(crate) fn settled_before_sql(self) -> Option<&'static str> {
        match self {
            Engine::Sqlite => None,
            Engine::Postgres => Some("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint"),
        }
    }

    /// What the database does by itself when a table is written or read: its kind, name and table.
    pub(crate) fn triggers_sql(self) -> &'static str {
        match self {
            Engine::Sqlite => {
                "SELECT type, name, tbl_name FROM sqlite_master WHERE type IN ('trigger', 'view') ORDER BY name LIMIT $1"
            }
            Engine::Postgres => {
                "SELECT 'trigger', t.tgname::text, c.relname::text FROM pg_trigger t \
                 JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
                 WHERE NOT t.tgisinternal AND n.nspname = current_schema() \
                 UNION ALL SELECT 'rule', rulename::text, tablename::text FROM pg_rules \
                 WHERE schemaname = current_schema() \
                 UNION ALL SELECT CASE WHEN c.relkind IN ('v', 'm', 'f') THEN 'view' ELSE 'row security' END, \
                 c.relname::text, c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                 WHERE n.nspname = current_schema() AND (c.relkind IN ('v', 'm', 'f') OR c.relrowsecurity) \
                 UNION ALL SELECT 'policy', policyname::text, tablename::text FROM pg_policies \
                 WHERE schemaname = current_schema() \
                 UNION ALL SELECT 'event trigger', e.evtname::text, e.evtevent::text FROM pg_event_trigger e \
                 WHERE e.evtenabled <> 'D' AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = e.oid \
                 AND d.classid = 'pg_event_trigger'::regclass AND d.deptype = 'e') ORDER BY 1, 2, 3 LIMIT $1"
            }
        }
    }

    /// The oldest of the newest events that has no leaf, in the order that each engine has an index for.
    pub(crate) fn oldest_waiting_sql(self) -> &'static str {
        match self {
            Engine::Sqlite => {
                "SELECT e.call_id, e.recorded_at_us FROM \
                 (SELECT call_id, recorded_at_us FROM events ORDER BY event_seq DESC LIMIT 1000) AS e \
                 LEFT JOIN log_leaves l ON l.call_id = e.call_id \
                 WHERE l.call_id IS NULL AND e.recorded_at_us < $1 ORDER BY e.recorded_at_us, e.call_id LIMIT 1"
            }
            Engine::Postgres => {
                "SELECT e.call_id, e.recorded_at_us FROM \
                 (SELECT call_id, recorded_at_us FROM events ORDER BY commit_key DESC, event_seq DESC LIMIT 1000) AS e \
                 LEFT JOIN log_leaves l ON l.call_id = e.call_id \
                 WHERE l.call_id IS NULL AND e.recorded_at_us < $1 ORDER BY e.recorded_at_us, e.call_id LIMIT 1"
            }
        }
    }

    /// Settings that make a commit less than durable. Connections that write set the last one themselves: its default counts.
    pub(crate) fn laxity_sql(self) -> Option<&'static str> {
        match self {
            Engine::Sqlite => None,
            Engine::Postgres => Some(
                "SELECT name FROM pg_settings WHERE (name IN ('fsync', 'full_page_writes') AND setting = 'off') \
                 OR (name = 'synchronous_commit' AND reset_val = 'off') ORDER BY name",
            ),
        }
    }

    /// Begins a transaction that only reads and always sees the same state.
    pub(crate) fn snapshot_sql(self) -> &'static str {
        match self {
            Engine::Sqlite => "BEGIN",
            Engine::Postgres => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        }
    }

    /// Takes the oldest free job. On PostgreSQL a job that another process is just taking is passed over.
    pub(crate) fn claim_job_sql(self) -> &'static str {
        match self {
            Engine::Sqlite => {
                "UPDATE jobs SET runner_id = $1, lease_until_us = $3, n_starts = n_starts + 1, updated_at_us = $2 \
                 WHERE (organisation_id, job_id) = (SELECT organisation_id, job_id FROM jobs \
                 WHERE state = 'working' AND lease_until_us < $2 ORDER BY created_at_us, job_id LIMIT 1) \
                 RETURNING organisation_id, job_id, actor_id, actor, operation, input, answers, questions, state, \
                 progress, ending, n_starts, created_at_us, updated_at_us, expires_at_us, seal"
            }
            Engine::Postgres => {
                "UPDATE jobs SET runner_id = $1, lease_until_us = $3, n_starts = n_starts + 1, updated_at_us = $2 \
                 WHERE (organisation_id, job_id) = (SELECT organisation_id, job_id FROM jobs \
                 WHERE state = 'working' AND lease_until_us < $2 ORDER BY created_at_us, job_id LIMIT 1 \
                 FOR UPDATE SKIP LOCKED) \
                 RETURNING organisation_id, job_id, actor_id, actor, operation, input, answers, questions, state, \
                 progress, ending, n_starts, created_at_us, updated_at_us, expires_at_us, seal"
            }
        }
    }

    /// The key of the lock that makes one process the sequencer. SQLite's owner is the only one.
    pub(crate) fn sequencer_lock_key(self) -> Option<i64> {
        match self {
            Engine::Sqlite => None,
            Engine::Postgres => Some(lock_key("sequencer", "")),
        }
    }
}

/// Advisory locks are named by 64 bits; the SHA-256 makes an accidental meeting of two names practically impossible.
fn lock_key(family: &str, name: &str) -> i64 {
    use sha2::{Digest, Sha256};
    let digest =
        Sha256::new().chain_update("materia\0").chain_update(family).chain_update("\0").chain_update(name).finalize();
    digest.iter().take(8).fold(0_i64, |key, byte| (key << 8) | i64::from(*byte))
}

pub(crate) const TRY_LOCK_SQL: &str = "SELECT pg_try_advisory_lock($1)";
pub(crate) const UNLOCK_SQL: &str = "SELECT pg_advisory_unlock($1)";

/// The answer of a COMMIT that failed is its error, and the rest is not run.
pub(crate) fn commit_and_unlock_sql(key: i64) -> String {
    format!("COMMIT; SELECT pg_advisory_unlock({key})")
}

impl Engine {
    /// A default that is this engine's own: [`Engine::migration_sql`] puts it into the schema.
    pub(crate) fn default_of(self, table: &str, column: &str) -> Option<&'static str> {
        match (self, table, column) {
            (Engine::Postgres, "events", "event_seq") => Some("identity"),
            (Engine::Postgres, "events", "commit_key") => Some("pg_current_xact_id()"),
            (Engine::Sqlite | Engine::Postgres, _, _) => None,
        }
    }

    /// A primary key that is this engine's own.
    pub(crate) fn key_of(self, table: &str) -> Option<&'static str> {
        match (self, table) {
            (Engine::Postgres, "events") => Some("commit_key, event_seq"),
            (Engine::Sqlite | Engine::Postgres, _) => None,
        }
    }
}

/// An empty database that is nowhere, and gone when it is closed.
pub(crate) fn sqlite_memory() -> Pool {
    let settings = SqliteConnectOptions::new().in_memory(true).disable_statement_logging();
    Pool::sqlite(SqlitePoolOptions::new().max_connections(1).idle_timeout(None).connect_lazy_with(settings), None)
}

pub(crate) struct Pools {
    pub read: Pool,
    pub write: Pool,
    /// The sequencer's own, where it reads beside the writer.
    pub sequence: Pool,
}

pub(crate) fn sqlite_pools(file: &Path, n_connections_max: u32, presence: &Arc<Presence>) -> Pools {
    let settings = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(false)
        .foreign_keys(true)
        .busy_timeout(SQLITE_LOCK_TIMEOUT)
        .statement_cache_capacity(STATEMENT_CACHE_CAPACITY)
        .disable_statement_logging();
    let write_settings = settings.clone().journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Full);
    let pool = SqlitePoolOptions::new()
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .test_before_acquire(false)
        .idle_timeout(None)
        .max_lifetime(None);
    let read_settings = settings.pragma("query_only", "ON");
    let readers = pool.clone().max_connections(n_connections_max.max(1));
    let one = pool.max_connections(1);
    let (presence, file) = (Arc::clone(presence), Some(Arc::clone(presence)));
    let writer = one.clone().after_connect(move |_, _| {
        presence.note_connection();
        Box::pin(std::future::ready(Ok(())))
    });
    Pools {
        read: Pool::sqlite(readers.connect_lazy_with(read_settings.clone()), file.clone()),
        write: Pool::sqlite(writer.connect_lazy_with(write_settings), file.clone()),
        // Kept open: what is done must find its place in the log however many readers there are.
        sequence: Pool::sqlite(one.connect_lazy_with(read_settings), file),
    }
}

/// Half of the connections read and half write, so that neither side can starve the other.
pub(crate) fn postgres_pools(
    url: &str,
    n_connections_max: u32,
    presence: &Arc<Presence>,
) -> Result<Pools, sqlx::Error> {
    let settings = PgConnectOptions::from_str(url)?
        .application_name("materia")
        .statement_cache_capacity(STATEMENT_CACHE_CAPACITY)
        // A process that hangs in a transaction would keep its lane's lock for ever.
        .options([("lock_timeout", "5s"), ("statement_timeout", "30s"), ("idle_in_transaction_session_timeout", "30s")])
        .disable_statement_logging();
    let n_write = (n_connections_max / 2).max(1);
    let n_read = n_connections_max.saturating_sub(n_write).max(1);
    let pool = PgPoolOptions::new().acquire_timeout(ACQUIRE_TIMEOUT).test_before_acquire(false).before_acquire(
        |connection, rest| {
            Box::pin(async move {
                if rest.idle_for > UNTESTED_REST_MAX {
                    connection.ping().await?;
                }
                Ok(true)
            })
        },
    );
    // A database or a role may have it off, and then a commit that was answered can be gone after a crash. Whatever else it
    // is set to waits for the disk at least.
    let presence = Arc::clone(presence);
    let durable = pool.clone().after_connect(move |connection, _| {
        let last_event = presence.last_event();
        Box::pin(async move {
            let sql = "SELECT set_config('synchronous_commit', 'on', false) \
                       WHERE current_setting('synchronous_commit') = 'off'";
            sqlx::raw_sql(sql).execute(&mut *connection).await?;
            let Some(call_id) = last_event else { return Ok(()) };
            let found = sqlx::query(FIND_EVENT).bind(call_id).fetch_optional(connection).await?;
            found.map(drop).ok_or_else(|| sqlx::Error::Protocol(IS_OLDER.to_owned()))
        })
    });
    let write = Pool::Postgres(durable.max_connections(n_write).connect_lazy_with(settings.clone()));
    let read_settings = settings.options([("default_transaction_read_only", "on")]);
    Ok(Pools {
        read: Pool::Postgres(pool.max_connections(n_read).connect_lazy_with(read_settings)),
        sequence: write.clone(),
        write,
    })
}
