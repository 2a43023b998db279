//! Operations about the house itself.

mod create_key;
mod describe_operation;
mod list_keys;
mod revoke_key;
mod tidy_house;

pub use tidy_house::TidyHouse;
