//! Papers for the tools of seed 003: a query over their words, and papers as text and as bibliography.

mod once;
mod query;
mod shown;

pub use once::FoundPapers;
pub use query::{Fault, Query, QueryError, sort};
pub use shown::{Credit, article, bibliography, details, not_searched, own_terms, spoken_against};
