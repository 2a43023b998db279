//! Boundary tests of the door: scripts in, answers and events out, the same on both engines.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests, where a panic is the failure report"
)]

mod artifacts;
mod consent;
mod contracts;
mod dialogue;
mod door;
mod elsewhere;
mod evidence;
mod ids;
mod jobs;
mod keys;
mod ledger;
mod ledger_attacks;
mod ledger_forgeries;
mod numbers;
mod own_ids;
mod permissions;
mod prerequisites;
mod records;
mod script;
mod statuses;
mod tasks;
mod trials;
