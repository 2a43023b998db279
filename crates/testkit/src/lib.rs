//! What tests need from outside: a PostgreSQL server with a fresh database per test, golden files, folders that vanish.
//!
//! Helpers panic instead of returning errors: a test that cannot be set up has failed.

#![expect(clippy::expect_used, clippy::panic, reason = "used by tests only, where a panic is the failure report")]

mod golden;
mod postgres;

pub use golden::check_golden;
pub use postgres::{TestDatabase, postgres_url};

/// An empty folder that is removed when the value is dropped.
pub fn temp_dir() -> tempfile::TempDir {
    tempfile::tempdir().expect("could not create a temporary folder")
}

/// Documents of the seed's story, as an agent would hand them in.
pub mod documents {
    pub const EPIC_006: &str = include_str!("../documents/EPIC-006.md");
    /// With the placeholders HLS-AAA, HLS-BBB and HLS-CCC.
    pub const PRD_006: &str = include_str!("../documents/PRD-006.md");
    pub const BUSINESS_RESEARCH: &str = include_str!("../documents/business_research.md");
    pub const IMPLEMENTATION_RESEARCH: &str = include_str!("../documents/implementation_research.md");
}
