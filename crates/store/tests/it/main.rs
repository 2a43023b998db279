//! The same scripts on both engines, then what only one of them can suffer.

#![expect(clippy::unwrap_used, clippy::panic, reason = "the helpers of tests fail by panicking")]

mod batches;
mod event_queue;
mod faults;
mod harness;
mod migrations;
mod owner;
mod presence;
mod queries;
mod statistics;
mod writes;
