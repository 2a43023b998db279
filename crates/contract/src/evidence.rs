//! Seed 002: the evidence graph, its documents, and the operations over them.

pub mod export;
pub mod pubmed;
pub mod contraindications;
pub mod graph;
pub mod network;
pub mod record;
pub mod records;
pub mod resources;
