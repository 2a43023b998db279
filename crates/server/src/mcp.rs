//! MCP: both protocol eras on one endpoint, over HTTP and stdio. Only translates; the door decides.

mod asking;
mod backlog;
mod correlation;
pub mod envelope;
pub mod exchange;
pub mod handler;
pub mod headers;
pub mod http;
mod idempotency;
pub mod lifted;
pub mod listening;
mod misfit;
mod offered;
mod results;
mod session;
pub mod stdio;
mod tasks;
