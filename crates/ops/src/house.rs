//! Operations about the house itself.

mod describe_operation;
mod tidy_house;

pub use tidy_house::TidyHouse;
