//! The starter data set: the facts of `data/`, compiled in, checked, and as evidence records.
//!
//! Everything here is a pure function of the files. What becomes of the records is no business of this crate: it knows no
//! store, no operation and no clock.

pub mod check;
mod files;
mod parse;
mod places;
pub mod records;
mod report;
mod rows;
pub mod schemas;
mod version;

pub use files::{Files, FilesError};
pub use parse::{Located, Set, parse};
pub use places::Place;
pub use report::{Count, Problem, Report};
pub use rows::*;
pub use version::{DataVersion, data_version};
