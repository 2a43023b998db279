//! The contract: types of every operation, event and error, their JSON Schemas, canonical JSON and hashes.
//!
//! Pure: no clock, no randomness, no input or output. Everything here is data that crosses a boundary.

pub mod actor;
pub mod audit;
pub mod canonical;
pub mod character;
pub mod compatibility;
pub mod describe;
pub mod detail;
pub mod dialect;
pub mod envelope;
pub mod error;
pub mod event;
pub mod evidence;
pub mod id;
pub mod job;
pub mod key;
pub mod ledger;
pub mod model;
pub mod question;
pub mod schema;
pub mod scope;
pub mod strict;
pub mod time;
pub mod workflow;
