//! The artifact workflow: document types, validation, documents, approval, ids and tasks. Knows no protocol and none of
//! the other domains.

pub mod address;
pub mod approval;
pub mod artifacts;
pub mod audited;
pub mod catalogue;
pub mod diff;
pub mod ids;
pub mod markdown;
pub mod metadata;
pub mod placeholders;
pub mod projection;
pub mod status;
pub mod tasks;
pub mod validation;

use store::Migration;

/// Tables of this crate, versions from 100.
pub const MIGRATIONS: &[Migration] = &[
    Migration { version: 100, name: "ids", sql: include_str!("../migrations/0100_ids.sql") },
    Migration { version: 101, name: "artifacts", sql: include_str!("../migrations/0101_artifacts.sql") },
    Migration { version: 102, name: "tasks", sql: include_str!("../migrations/0102_tasks.sql") },
    Migration { version: 103, name: "mandatory_inputs", sql: include_str!("../migrations/0103_mandatory_inputs.sql") },
    Migration { version: 104, name: "id_gaps", sql: include_str!("../migrations/0104_id_gaps.sql") },
    Migration { version: 105, name: "reviewed_hash", sql: include_str!("../migrations/0105_reviewed_hash.sql") },
    Migration { version: 106, name: "unseen_inputs", sql: include_str!("../migrations/0106_unseen_inputs.sql") },
    Migration {
        version: 107,
        name: "exempt_reservations",
        sql: include_str!("../migrations/0107_exempt_reservations.sql"),
    },
    Migration { version: 108, name: "moves", sql: include_str!("../migrations/0108_moves.sql") },
    Migration { version: 109, name: "asked_tasks", sql: include_str!("../migrations/0109_asked_tasks.sql") },
    Migration { version: 110, name: "ids_elsewhere", sql: include_str!("../migrations/0110_ids_elsewhere.sql") },
];
