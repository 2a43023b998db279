//! A paper's wish to stand for our own summary of it. Importers of papers put it on what they read, for whoever imports
//! PubMed wants its records; everybody else says `replace_starter`. It goes with the record to the door and no further.

use std::borrow::Cow;

use contract::evidence::record::Document;
use serde_json::Value;

/// Among the attributes.
const WISH: &str = "replace_starter";

pub fn ask(document: &mut Document) {
    document.attributes.insert(WISH.to_owned(), Value::Bool(true));
}

/// The document as it is to be kept, and whether it asks.
pub fn take(document: &Document) -> (Cow<'_, Document>, bool) {
    if !document.attributes.contains_key(WISH) {
        return (Cow::Borrowed(document), false);
    }
    let mut kept = document.clone();
    let wish = kept.attributes.remove(WISH);
    (Cow::Owned(kept), wish == Some(Value::Bool(true)))
}
