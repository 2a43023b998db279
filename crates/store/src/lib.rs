//! SQLite (the embedded default) and PostgreSQL behind one handle.
//!
//! Invariants:
//! - A change and its event are committed together, and nobody is answered before the commit.
//! - Applies are repeatable: a batch may be rolled back and run again, so an [`Apply`] touches nothing but its [`Tx`].
//! - One SQL text serves both engines; what differs between them is in `dialect`.
//! - Every queue, batch, retry and wait has a limit.

mod ahead;
pub mod backup;
mod batch;
mod begun;
mod bulk;
mod conn;
pub mod damage;
mod dialect;
mod error;
mod event_queue;
pub mod events;
pub mod idempotency;
pub mod jobs;
pub mod log;
pub mod log_identity;
mod migrations;
mod open;
mod owner;
mod param;
mod presence;
pub mod request_states;
mod row;
pub mod schema;
mod statistics;
pub mod subject_keys;
mod together;
pub mod triggers;
pub mod unreadable;
mod writer;

pub use ahead::{Alike, Kind};
pub use batch::{Applied, Apply, Keep};
pub use begun::has_log;
pub use bulk::{Bulk, InList};
pub use conn::{Conn, Reader, Tx};
pub use dialect::{Engine, UNTESTED_REST_MAX};
pub use error::{OpenError, StoreError, StoreErrorKind, WriteError};
pub use event_queue::{EventQueue, QueueRefused};
pub use events::EventRow;
pub use log_identity::LogIdentity;
pub use migrations::{MIGRATIONS, Migration};
pub use open::{Options, Store, Target};
pub use owner::{OwnerError, OwnerLock};
pub use param::Param;
pub use row::Row;
pub use together::Statement;
pub use writer::Stats;
