//! Getting an issuer's published keys: from the configured address or file and from nowhere else.
//!
//! No redirects, no proxy, no cookies, no credentials; a limit on the size and on the time.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Empty, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::io::AsyncReadExt;

use crate::settings::oauth::{Issuer, is_loopback};

const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
const BYTES_MAX: usize = 256 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error("the certificates of this machine cannot be read")]
    Certificates(#[source] std::io::Error),
    #[error("`{0}` is no address")]
    Address(String),
    #[error("could not reach `{uri}`")]
    Reach { uri: String, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("`{uri}` answered {status}, expected 200")]
    Answered { uri: String, status: StatusCode },
    #[error("`{uri}` sent more than {BYTES_MAX} bytes, or broke off")]
    Body { uri: String, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("`{uri}` took longer than {} s", FETCH_TIMEOUT.as_secs())]
    Slow { uri: String },
    #[error("`{place}` holds something else than a JWK set")]
    NoKeys { place: String },
    #[error("could not read `{path}`", path = path.display())]
    File { path: PathBuf, source: std::io::Error },
}

/// Where the keys of one issuer are.
pub enum Source {
    File(PathBuf),
    Web(Uri, Box<Web>),
}

/// Plain HTTP only within this machine, as the settings check.
pub enum Web {
    Plain(Client<HttpConnector, Empty<Bytes>>),
    Tls(Client<HttpsConnector<HttpConnector>, Empty<Bytes>>),
}

impl Source {
    pub fn new(settings: &Issuer) -> Result<Source, FetchError> {
        let url = match (&settings.jwks_file, &settings.jwks_url) {
            (Some(path), _) => return Ok(Source::File(path.clone())),
            (None, Some(url)) => url,
            (None, None) => return Err(FetchError::Address(String::new())),
        };
        let uri: Uri = url.parse().map_err(|_| FetchError::Address(url.clone()))?;
        let builder = Client::builder(TokioExecutor::new());
        let is_plain = uri.scheme_str() == Some("http") && uri.host().is_some_and(is_loopback);
        let web = if is_plain {
            Web::Plain(builder.build_http())
        } else {
            let connector = HttpsConnectorBuilder::new()
                .with_provider_and_native_roots(rustls::crypto::ring::default_provider())
                .map_err(FetchError::Certificates)?;
            Web::Tls(builder.build(connector.https_only().enable_http1().build()))
        };
        Ok(Source::Web(uri, Box::new(web)))
    }

    /// For messages.
    pub fn place(&self) -> String {
        match self {
            Source::File(path) => path.display().to_string(),
            Source::Web(uri, _) => uri.to_string(),
        }
    }

    pub async fn fetch(&self) -> Result<Vec<u8>, FetchError> {
        match self {
            Source::File(path) => read(path).await.map_err(|source| FetchError::File { path: path.clone(), source }),
            Source::Web(uri, web) => match tokio::time::timeout(FETCH_TIMEOUT, get(uri, web)).await {
                Ok(fetched) => fetched,
                Err(_) => Err(FetchError::Slow { uri: uri.to_string() }),
            },
        }
    }
}

async fn read(path: &PathBuf) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let bytes_max = u64::try_from(BYTES_MAX).unwrap_or(u64::MAX);
    tokio::fs::File::open(path).await?.take(bytes_max).read_to_end(&mut bytes).await?;
    Ok(bytes)
}

async fn get(uri: &Uri, web: &Web) -> Result<Vec<u8>, FetchError> {
    let request = Request::get(uri).header(header::ACCEPT, "application/json").body(Empty::new());
    let request = request.map_err(|_| FetchError::Address(uri.to_string()))?;
    let response = match web {
        Web::Plain(client) => client.request(request).await,
        Web::Tls(client) => client.request(request).await,
    };
    let response = response.map_err(|error| FetchError::Reach { uri: uri.to_string(), source: error.into() })?;
    if response.status() != StatusCode::OK {
        return Err(FetchError::Answered { uri: uri.to_string(), status: response.status() });
    }
    let body = Limited::new(response.into_body(), BYTES_MAX).collect().await;
    body.map(|body| body.to_bytes().to_vec()).map_err(|source| FetchError::Body { uri: uri.to_string(), source })
}
