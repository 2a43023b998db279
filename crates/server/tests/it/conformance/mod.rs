//! The MCP conformance suite against the product's own stack: edge, envelope, dispatch, handler, door, store and jobs.
//!
//! The suite calls tools, prompts and resources by fixed names. They are operations of a table of their own (`tools`,
//! `offers`), served as the product serves its own; `front` gives their answers the content types that the suite wants to
//! see and adds what the product has no use for (log messages, lists that change).

mod front;
mod offers;
mod suite;
mod tools;
