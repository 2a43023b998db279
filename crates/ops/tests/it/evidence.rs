//! The evidence: records through the door, and what is asked of them.

pub mod herbs;
mod records;
mod search;
