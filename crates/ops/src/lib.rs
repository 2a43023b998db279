//! The operation table and the one door.
//!
//! Every capability is an operation: one file under the folder of its family and one line in [`operations`].
//! Every surface reaches it through [`Platform::call`] and in no other way.

mod audit;
pub mod authorise;
mod clock;
mod context;
mod door;
mod drive;
mod entry;
mod family;
mod files;
mod house;
pub mod keys;
pub mod limits;
mod misses;
mod notary;
mod operation;
pub mod operations;
pub mod prompts;
mod record;
pub mod refusals;
mod remote;
pub mod resources;
mod summary;
mod table;
mod validate;
mod workflow;

pub use clock::Clock;
pub use context::{Context, Progress, ProgressReport, SelfApproval, Services, Settings};
pub use door::{Call, OpenError, Options, Platform, Reply, Success};
pub use entry::Entry;
pub use family::Family;
pub use files::{Files, FilesReport};
pub use notary::{Notary, NotaryError, Standing};
pub use operation::{Answer, ApplyError, Operation, Read, Told, Write};
pub use remote::{Remote, RemoteCall, Remotes, Service};
pub use table::{Table, TableError, Tool};

/// Tables of every crate, in order.
pub fn migrations() -> Vec<store::Migration> {
    [store::MIGRATIONS, ::workflow::MIGRATIONS, keys::MIGRATIONS].concat()
}
