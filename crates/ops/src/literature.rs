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

pub trait Literature: fmt::Debug + Send + Sync {
    /// Papers in the order asked for.
    fn search(&self, search: LiteratureSearch) -> BoxFuture<'_, Result<Vec<Document>, OpError>>;

    fn find<'a>(&'a self, pmid: &'a str) -> BoxFuture<'a, Result<Option<Document>, OpError>>;
}
