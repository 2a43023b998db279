//! An embeddings endpoint in the form of OpenAI's (`POST …/embeddings`), served by many programs.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use contract::model::{EmbedError, Embedder, Embedding, ModelCard, Side};
use http::{Method, Request, header};
use http_body_util::Full;
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::outbound::{Limits, Outbound, OutboundError, may_carry_keys};

const LIMITS: Limits = Limits { timeout: Duration::from_secs(60), bytes_max: 32 << 20 };

#[derive(Debug, Clone)]
pub struct Endpoint(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    card: ModelCard,
    web: Outbound,
    authorisation: Option<Secret>,
}

/// Never printed.
struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("…")
    }
}

#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    #[error("the address of the embeddings endpoint cannot be used")]
    Address(#[source] OutboundError),
    #[error(
        "the address of the embeddings endpoint must begin with https:// beyond this machine, as a key goes with every request"
    )]
    PlainText,
    #[error("the environment variable `{0}` with the key of the embeddings endpoint is not set")]
    NoKey(String),
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Datum>,
}

#[derive(Deserialize)]
struct Datum {
    index: usize,
    embedding: Vec<f32>,
}

impl Endpoint {
    pub fn new(
        name: String,
        url: &str,
        n_dimensions: usize,
        languages: Vec<String>,
        key_variable: Option<&str>,
    ) -> Result<Endpoint, EndpointError> {
        let authorisation = match key_variable {
            Some(_) if !may_carry_keys(url) => return Err(EndpointError::PlainText),
            Some(variable) => {
                let key = std::env::var(variable).map_err(|_| EndpointError::NoKey(variable.to_owned()))?;
                Some(Secret(format!("Bearer {key}")))
            }
            None => None,
        };
        // The weights are out of sight: who changes them behind the same name and address has to say so.
        let sha256 = hex::encode(Sha256::digest(json!([url, name, n_dimensions]).to_string()));
        let card = ModelCard { name, sha256, n_dimensions, languages };
        let web = Outbound::new(url, LIMITS).map_err(EndpointError::Address)?;
        Ok(Endpoint(Arc::new(Inner { card, web, authorisation })))
    }
}

impl Embedder for Endpoint {
    fn card(&self) -> &ModelCard {
        &self.0.card
    }

    fn embed(&self, texts: Vec<String>, _side: Side) -> Embedding {
        let inner = Arc::clone(&self.0);
        Box::pin(async move { inner.embed(texts).await })
    }
}

impl Inner {
    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| EmbedError::Failed {
            name: self.card.name.clone(),
            source,
        };
        let expected = texts.len();
        let body = json!({ "model": self.card.name, "input": texts, "encoding_format": "float" }).to_string();
        let mut request = Request::builder().method(Method::POST).header(header::CONTENT_TYPE, "application/json");
        if let Some(Secret(authorisation)) = &self.authorisation {
            request = request.header(header::AUTHORIZATION, authorisation);
        }
        let request = request.body(Full::new(Bytes::from(body))).map_err(|error| failed(error.into()))?;
        let answer = self.web.send(request).await.map_err(|error| failed(error.into()))?;
        if !answer.status.is_success() {
            // Not its body: it may repeat the texts.
            return Err(failed(format!("the endpoint answered {}", answer.status).into()));
        }
        let mut answer: Answer = serde_json::from_slice(&answer.body).map_err(|error| failed(error.into()))?;
        answer.data.sort_by_key(|datum| datum.index);
        let vectors: Vec<Vec<f32>> = answer.data.into_iter().filter_map(|datum| normal(datum.embedding)).collect();
        let n_dimensions = self.card.n_dimensions;
        if vectors.len() != expected || vectors.iter().any(|vector| vector.len() != n_dimensions) {
            let received = vectors.len();
            let n_dimensions = vectors.first().map_or(0, Vec::len);
            return Err(EmbedError::Shape { name: self.card.name.clone(), received, expected, n_dimensions });
        }
        Ok(vectors)
    }
}

/// Of length one; none where it has no direction.
fn normal(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    if !length.is_finite() || length == 0.0 {
        return None;
    }
    vector.iter_mut().for_each(|number| *number /= length);
    Some(vector)
}
