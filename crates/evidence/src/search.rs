//! Search over documents and nodes: words by tantivy, meaning by vectors, both fused, in Thai and English.
//!
//! Everything here is derived: it can be deleted and made anew from the record. Results do not depend on threads, on the
//! order of writing or on how the index happens to be cut into segments.

pub mod embeddings;
pub mod entry;
pub mod filter;
pub mod fusion;
pub mod gazetteer;
pub mod hybrid;
pub mod index;
pub mod keeping;
pub mod lexical;
pub mod lexicon;
mod schema;
mod sealed;
pub mod searches;
pub mod snippet;
pub(crate) mod spelling;
pub mod vectors;
pub mod words;
