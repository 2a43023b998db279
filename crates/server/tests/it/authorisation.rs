//! Who is let in and what they may do: tokens of an authorization server, API keys, and other people's handles.
//!
//! Cases 4 to 9 and 12 of the attack table, with keys made on the spot and an issuer that really listens.

mod handles;
mod issuer;
mod keys;
mod lab;
mod tokens;
