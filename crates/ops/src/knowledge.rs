//! A graph elsewhere that answers for things by their ids. `server` speaks its protocol.

use std::fmt;

use contract::error::OpError;
use contract::evidence::record::Record;
use futures::future::BoxFuture;

pub trait Knowledge: fmt::Debug + Send + Sync {
    /// Nodes and edges around these things.
    fn about<'a>(&'a self, curies: &'a [String]) -> BoxFuture<'a, Result<Vec<Record>, OpError>>;
}
