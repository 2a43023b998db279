//! The log under attack, with its witness, its keys and its backups, as an operator meets them.

mod backup;
mod keys;
pub mod lab;
mod running;
mod tampering;
mod witness;
