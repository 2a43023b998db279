//! What stays of a document that its source withdraws.
//!
//! What is known against a paper outlives its record: who withdraws a retracted paper has not made it stand. Its words go;
//! its ids stay, with what it says against papers, as a record like any other, in the batches and their hashes.

use std::collections::BTreeMap;

use contract::canonical;
use contract::evidence::record::Document;
use serde_json::Value;
use store::StoreError;

use super::said_by;
use crate::record::incoming::Content;

/// The document as it stays, or nothing where it says nothing against any paper. What stays of what stayed is the same.
pub fn remains(body: &str) -> Result<Option<(Document, Content)>, StoreError> {
    let document: Document =
        serde_json::from_str(body).map_err(|_| StoreError::other("a document cannot be read as what it is"))?;
    if said_by(&document).is_empty() {
        return Ok(None);
    }
    let corrections = document.attributes.get("corrections").cloned();
    let mut attributes = BTreeMap::from([("withdrawn".to_owned(), Value::Bool(true))]);
    attributes.extend(corrections.map(|it| ("corrections".to_owned(), it)));
    let left = Document { text: String::new(), authors: Vec::new(), attributes, ..document };
    let text = canonical::text(&left).map_err(|_| StoreError::other("a document cannot be written"))?;
    Ok(Some((left, Content::of(text))))
}
