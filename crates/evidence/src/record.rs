//! The record: every source, node, edge and document of an organisation as canonical JSON, in batches that are numbered.
//!
//! The number of the last batch is the change number. What is derived reads all records once, with the number they are
//! at, and then follows the batches: [`read::page`] in a held snapshot, then [`batches::after`] and [`read::find`].

pub mod audited;
pub mod batches;
mod checks;
mod earlier;
mod incoming;
mod owners;
pub mod papers;
pub mod put;
pub mod read;
pub mod starter;

pub use checks::passes_for_own_source;
pub(crate) use checks::{disguised, is_seen, is_tag, turns};
pub use incoming::{Incoming, Unfit};

use store::StoreError;

type Sha256 = [u8; 32];

fn sha256(bytes: &[u8]) -> Result<Sha256, StoreError> {
    bytes.try_into().map_err(|_| StoreError::other("a hash of a record has not 32 bytes"))
}

/// Writers of one organisation wait for each other: batches are numbered without gaps.
pub fn lane(organisation_id: &str) -> String {
    format!("evidence/{organisation_id}")
}
