//! Requests that this program makes: to one configured address and to nowhere else.
//!
//! No redirects, no proxy, no cookies; a limit on the size of the answer and on the time.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use crate::settings::oauth::is_loopback;

#[derive(Debug, thiserror::Error)]
pub enum OutboundError {
    #[error("the certificates of this machine cannot be read")]
    Certificates(#[source] std::io::Error),
    #[error("`{0}` is no address")]
    Address(String),
    #[error("could not reach `{uri}`")]
    Reach { uri: String, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("`{uri}` sent more than {bytes_max} bytes, or broke off")]
    Body { uri: String, bytes_max: usize, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("`{uri}` took longer than {} s", timeout.as_secs())]
    Slow { uri: String, timeout: Duration },
}

/// Whether it is an address that this program can send requests to.
pub fn is_web_address(url: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else { return false };
    matches!((uri.scheme_str(), uri.host()), (Some("http" | "https"), Some(_)))
}

/// Whether a key may go to this address: encrypted, or within this machine.
pub fn may_carry_keys(url: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else { return false };
    match (uri.scheme_str(), uri.host()) {
        (Some("https"), Some(_)) => true,
        (Some("http"), Some(host)) => is_loopback(host),
        (_, _) => false,
    }
}

/// What an answer may cost.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub timeout: Duration,
    pub bytes_max: usize,
}

pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// A client for one address; connections are kept.
#[derive(Debug, Clone)]
pub struct Outbound {
    uri: Uri,
    limits: Limits,
    web: Web,
}

/// Which of them is allowed is for the settings to check.
#[derive(Debug, Clone)]
enum Web {
    Plain(Client<HttpConnector, Full<Bytes>>),
    Tls(Client<HttpsConnector<HttpConnector>, Full<Bytes>>),
}

impl Outbound {
    pub fn new(url: &str, limits: Limits) -> Result<Outbound, OutboundError> {
        let uri: Uri = url.parse().map_err(|_| OutboundError::Address(url.to_owned()))?;
        let builder = Client::builder(TokioExecutor::new());
        let web = match (uri.scheme_str(), uri.host()) {
            (Some("http"), Some(_)) => Web::Plain(builder.build_http()),
            (Some("https"), Some(_)) => {
                let connector = HttpsConnectorBuilder::new()
                    .with_provider_and_native_roots(rustls::crypto::ring::default_provider())
                    .map_err(OutboundError::Certificates)?;
                Web::Tls(builder.build(connector.https_only().enable_http1().build()))
            }
            (_, _) => return Err(OutboundError::Address(url.to_owned())),
        };
        Ok(Outbound { uri, limits, web })
    }

    /// For messages.
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// Sends a request whose address is this client's, and reads the whole answer.
    pub async fn send(&self, mut request: Request<Full<Bytes>>) -> Result<Answer, OutboundError> {
        *request.uri_mut() = self.uri.clone();
        let Limits { timeout, .. } = self.limits;
        match tokio::time::timeout(timeout, self.exchange(request)).await {
            Ok(answered) => answered,
            Err(_) => Err(OutboundError::Slow { uri: self.uri.to_string(), timeout }),
        }
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<Answer, OutboundError> {
        let (uri, bytes_max) = (self.uri.to_string(), self.limits.bytes_max);
        let answered = match &self.web {
            Web::Plain(client) => client.request(request).await,
            Web::Tls(client) => client.request(request).await,
        };
        let (head, body) = match answered {
            Ok(answered) => answered.into_parts(),
            Err(error) => return Err(OutboundError::Reach { uri, source: error.into() }),
        };
        match Limited::new(body, bytes_max).collect().await {
            Ok(body) => Ok(Answer { status: head.status, headers: head.headers, body: body.to_bytes() }),
            Err(source) => Err(OutboundError::Body { uri, bytes_max, source }),
        }
    }
}
