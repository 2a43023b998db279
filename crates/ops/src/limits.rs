//! Every limit that is not a field of an input schema, in one place. Settings may lower or raise what says so.

use std::time::Duration;

/// A call that takes longer is stopped (setting `call_deadline_ms`).
pub const CALL_DEADLINE: Duration = Duration::from_secs(30);

/// Events of public reads that may wait for their flush; a full queue answers Busy.
pub const EVENT_QUEUE_MAX: usize = 8_192;

/// Public-read events are durable after at most this long.
pub const EVENT_FLUSH_EVERY: Duration = Duration::from_millis(100);

/// Writes that may wait for the writer.
pub const WRITE_QUEUE_MAX: usize = 4_096;

/// Writes that may share one commit.
pub const WRITE_BATCH_MAX: usize = 512;

/// Connections to the database.
pub const CONNECTIONS_MAX: u32 = 25;

/// A reservation that is not confirmed expires after this (setting `reservation_expires_after_minutes`).
pub const RESERVATION_EXPIRES_AFTER: Duration = Duration::from_secs(15 * 60);

/// Reservations of one project in a minute (setting `reservations_per_minute_max`).
pub const RESERVATIONS_PER_MINUTE_MAX: u32 = 10;

/// A claim of a task ends after this (setting `task_lease_minutes`).
pub const TASK_LEASE: Duration = Duration::from_secs(60 * 60);

/// Idempotency keys are kept this long.
pub const IDEMPOTENCY_KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// A request state is refused when it comes back later than this.
pub const REQUEST_STATE_EXPIRES_AFTER: Duration = Duration::from_secs(15 * 60);

/// A sealed request state, as text.
pub const REQUEST_STATE_BYTES_MAX: usize = 64 * 1024;

/// Jobs that one process runs at a time.
pub const JOBS_RUNNING_MAX: usize = 4;

/// Jobs of one caller that have not ended.
pub const JOBS_OPEN_MAX: i64 = 100;

/// A job and what came of it are kept this long.
pub const JOB_KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// How often a process looks for jobs, and for a wish to cancel those it runs.
pub const JOB_LOOK_EVERY: Duration = Duration::from_millis(250);

/// A job whose runner was not heard of for this long is started again by another.
pub const JOB_LEASE: Duration = Duration::from_secs(15);

/// A job that was started this often and never ended is given up: it may be what kills its runners.
pub const JOB_STARTS_MAX: i64 = 3;

/// A string in a log line is cut here.
pub const LOG_STRING_CHARS_MAX: usize = 100;

/// The tool list of one family, as a client gets it.
pub const CATALOGUE_BYTES_MAX: usize = 24_000;

/// Items on one page of a list.
pub const PAGE_ITEMS_MAX: usize = 50;

/// Rows that a read leaves, and the event with them, are committed within this or the call is not answered.
pub const RECORD_WITHIN: Duration = Duration::from_secs(10);

/// Wait before trying again, where the server has no better figure.
pub const RETRY_AFTER_MS: u64 = 1_000;

/// Times in a minute that a caller of one operation may ask for what is not there.
pub const NOT_FOUND_PER_MINUTE_MAX: u32 = 100;
