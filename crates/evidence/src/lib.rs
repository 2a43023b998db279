//! Evidence: the record of sources, nodes, edges and documents, the graph and the search over it, and importers.
//! Knows no protocol and none of the other domains.

pub mod codes;
pub mod contraindications;
pub mod derived;
pub mod details;
pub mod export;
pub mod graph;
pub mod import;
pub mod literature;
pub mod network;
pub mod paths;
pub mod record;
pub mod resolve;
pub mod rest;
pub mod sealing;
pub mod search;

use store::Migration;

/// Tables of this crate, versions from 300.
pub const MIGRATIONS: &[Migration] = &[
    Migration { version: 300, name: "evidence_records", sql: include_str!("../migrations/0300_records.sql") },
    Migration { version: 320, name: "evidence_embeddings", sql: include_str!("../migrations/0320_embeddings.sql") },
    Migration { version: 330, name: "evidence_starter_records", sql: include_str!("../migrations/0330_starter.sql") },
    Migration { version: 340, name: "evidence_papers", sql: include_str!("../migrations/0340_papers.sql") },
];
