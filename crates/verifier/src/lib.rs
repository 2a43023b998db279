//! A second, independent reading of the ledger's formats: RFC 6962 trees, C2SP signed notes, checkpoints and proofs.
//!
//! It shares no code with the crates that write the log, and where a choice was open it takes the other way: trees by
//! recursion as the RFC defines them, not by the bits of an index. The tests compare the two.

pub mod checkpoint;
pub mod consistency;
pub mod export;
pub mod merkle;
pub mod note;
pub mod proof;
pub mod trust;
pub mod verdict;
