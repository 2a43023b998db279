//! Records in the formats of others: citations for documents, KGX for the graph. Terms of use go along in each.

mod bibtex;
mod csl;
mod kgx;
mod ris;

pub use bibtex::bibtex;
pub use csl::csl;
pub use kgx::{kgx_edge, kgx_node};
pub use ris::ris;

use contract::evidence::record::{Document, RetractionKind};
use serde_json::Value;

/// An attribute that is a text.
fn attribute<'a>(document: &'a Document, key: &str) -> Option<&'a str> {
    document.attributes.get(key).and_then(Value::as_str)
}

/// A reader of a citation must see that the paper does not stand.
fn warning(document: &Document) -> Option<String> {
    let retraction = document.retraction.as_ref()?;
    let what = match retraction.kind {
        RetractionKind::Retracted => "Retracted",
        RetractionKind::ExpressionOfConcern => "Expression of concern",
    };
    Some(match &retraction.notice {
        Some(notice) => format!("{what}: {notice}"),
        None => what.to_owned(),
    })
}
