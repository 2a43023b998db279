//! The artifact workflow: document types, validation, ids and tasks. Knows no protocol and none of the other domains.

pub mod address;
pub mod audited;
pub mod catalogue;
pub mod ids;
pub mod markdown;
pub mod metadata;
pub mod placeholders;
pub mod tasks;
pub mod validation;

use store::Migration;

/// Tables of this crate, versions from 100.
pub const MIGRATIONS: &[Migration] = &[
    Migration { version: 100, name: "ids", sql: include_str!("../migrations/0100_ids.sql") },
    Migration { version: 102, name: "tasks", sql: include_str!("../migrations/0102_tasks.sql") },
];
