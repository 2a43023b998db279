//! What the house expects of a model that turns texts into vectors, wherever it runs.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;

/// Which model it is, and what it can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelCard {
    pub name: String,
    /// Of everything that decides its numbers: vectors of two models with the same hash may be compared.
    pub sha256: String,
    pub n_dimensions: usize,
    /// Languages that it declares (`en`, `th`). What is written in another one is not asked of it.
    pub languages: Vec<String>,
}

impl ModelCard {
    pub fn speaks(&self, lang: &str) -> bool {
        self.languages.iter().any(|language| language == lang)
    }
}

/// Some models want to be told which side of a search a text is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Query,
    Passage,
}

#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    #[error("the model `{name}` failed")]
    Failed { name: String, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("the model `{name}` gave {received} vectors of {n_dimensions} numbers for {expected} texts")]
    Shape { name: String, received: usize, expected: usize, n_dimensions: usize },
}

pub type Embedding = Pin<Box<dyn Future<Output = Result<Vec<Vec<f32>>, EmbedError>> + Send>>;

/// Turns texts into vectors of length one: the closer in meaning, the larger their product.
pub trait Embedder: Debug + Send + Sync {
    fn card(&self) -> &ModelCard;

    /// One vector per text, in their order.
    fn embed(&self, texts: Vec<String>, side: Side) -> Embedding;
}
