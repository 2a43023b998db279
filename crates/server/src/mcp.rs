//! MCP: both protocol eras on one endpoint, over HTTP and stdio. Only translates; the door decides.

pub mod envelope;
pub mod handler;
pub mod headers;
pub mod http;
pub mod lifted;
pub mod stdio;
