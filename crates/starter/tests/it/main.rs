//! The data set as a whole: a made-up one that is whole, what happens when it is not, and the real one.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and says where"
)]

mod broken;
mod figures;
mod made_up;
mod schemas;

use starter::Files;
use std::path::{Path, PathBuf};

/// Plants, drugs and papers that do not exist.
pub fn made_up_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

pub fn made_up_files() -> Files {
    Files::read(&made_up_folder()).unwrap()
}
