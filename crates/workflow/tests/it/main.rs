//! The data that ships, and documents against it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and says where"
)]

mod data;
mod validation;
