//! Seed 002: the evidence graph, its documents, and the operations over them.

pub mod checked;
pub mod contraindications;
pub mod export;
pub mod graph;
pub mod network;
pub mod pubmed;
pub mod record;
pub mod records;
pub mod resources;
pub mod search;
pub mod starter;
