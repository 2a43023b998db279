//! Models that run in this process, how to get them, and which one is in use: sentence models of the BERT family, by rten.
//!
//! Knows nothing of the house but the trait in `contract` that it fulfils.

mod bert;
mod onnx;
pub mod package;
mod safetensors;
mod sentence;
pub mod shelf;

pub use sentence::{LoadModelError, SentenceModel};
