//! A library elsewhere that answers for papers which are not in the record. `server` speaks its protocol.

use std::fmt;

use contract::error::OpError;
use contract::evidence::pubmed::SortBy;
use contract::evidence::record::Document;
use futures::future::BoxFuture;

/// What a library is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiteratureSearch {
    /// In the library's own language.
    pub query: String,
    pub n_max: u32,
    pub sort_by: SortBy,
}

/// What a library answers.
#[derive(Debug, Clone, PartialEq)]
pub struct LiteratureFound {
    /// In the order asked for.
    pub documents: Vec<Document>,
    /// How many match, sent or not; absent where the library does not say.
    pub n_matching: Option<u64>,
    /// The numbers of papers that it named and did not send.
    pub not_sent: Vec<String>,
}

pub trait Literature: fmt::Debug + Send + Sync {
    fn search(&self, search: LiteratureSearch) -> BoxFuture<'_, Result<LiteratureFound, OpError>>;

    fn find<'a>(&'a self, pmid: &'a str) -> BoxFuture<'a, Result<Option<Document>, OpError>>;
}
