//! Seed 002: the evidence graph, its documents, and the operations over them.

pub mod record;
pub mod records;
pub mod search;
