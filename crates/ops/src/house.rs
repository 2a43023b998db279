//! Operations about the house itself.

mod back_up_house;
mod create_key;
mod describe_operation;
mod list_keys;
mod revoke_key;
mod tidy_house;

pub use back_up_house::BackUpHouse;
pub use tidy_house::TidyHouse;
