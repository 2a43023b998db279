//! The real binary as others meet it: foreign clients, contention, crashes, changes of owner.
//!
//! Sizes are small here and full in `cargo xtask prove`, which sets `MATERIA_PROVE=1`; a line `proof: SUBJECT
//! key=value …` is what that command writes into RELIABILITY.md.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and says where"
)]

mod attacks;
mod authorisation;
mod budgets;
mod catalogues;
mod clients;
mod commands;
mod conformance;
mod contention;
mod evidence;
mod faults;
mod following;
mod house;
mod ids;
mod import;
mod import_terms;
mod kills;
mod ledger;
mod models;
mod observability;
mod owner;
mod remote_approval;
mod remotes;
mod starter_data;
mod stdio;
mod story;
mod terminal;
mod tracker;
mod upstreams;
