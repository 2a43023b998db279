//! A graph elsewhere that answers for things by their ids. `server` speaks its protocol.

use std::fmt;

use contract::error::OpError;
use contract::evidence::record::Record;
use futures::future::BoxFuture;

/// What a server says of things.
#[derive(Debug, Clone, PartialEq)]
pub struct KnowledgeFound {
    pub records: Vec<Record>,
    /// Neither did anything fail there, nor was more sent than is read.
    pub is_whole: bool,
}

pub trait Knowledge: fmt::Debug + Send + Sync {
    /// Nodes and edges around these things.
    fn about<'a>(&'a self, curies: &'a [String]) -> BoxFuture<'a, Result<KnowledgeFound, OpError>>;
}
