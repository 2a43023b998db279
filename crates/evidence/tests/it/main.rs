//! Evidence as its callers see it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests, where a panic is the failure report"
)]

mod export;
mod import;
