//! Models that run in this process: sentence models of the BERT family, by rten.
//!
//! Knows nothing of the house but the trait in `contract` that it fulfils.

mod bert;
mod onnx;
mod safetensors;
mod sentence;

pub use sentence::{LoadModelError, SentenceModel};
