//! Papers for the tools of seed 003: a query over their words, and papers as text and as bibliography.

mod query;
mod shown;

pub use query::{Fault, Query, QueryError, sort};
pub use shown::{Credit, article, bibliography, details};
