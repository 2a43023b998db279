//! The artifact workflow: document types and ids. Knows no protocol and none of the other domains.

pub mod audited;
pub mod ids;
pub mod types;

use store::Migration;

/// Tables of this crate, versions from 100.
pub const MIGRATIONS: &[Migration] =
    &[Migration { version: 100, name: "ids", sql: include_str!("../migrations/0100_ids.sql") }];
