//! The data that ships, and documents against it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and says where")]

mod data;
mod validation;
