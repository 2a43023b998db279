//! HTTP to one service: a few attempts, a limit on each, and nothing of the key in any error.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use ops::{RemoteCall, Via};
use serde_json::Value;

use super::wire::Wire;
use crate::rest::{ACTOR_HEADER, CORRELATION_HEADER, FOR_APPROVAL, FOR_HEADER, IDEMPOTENCY_HEADER};
use crate::settings::oauth::is_loopback;

/// Waits before the second and the third attempt; the seed's 400 ms would come before a fourth.
const WAITS: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(200)];
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(5);
/// Whoever asks how things are does not wait for long.
const LOOK_TIMEOUT: Duration = Duration::from_secs(2);
/// Nobody is sent away for longer, whatever a service says.
const RETRY_AFTER_S_MAX: u64 = 3_600;
const BODY_BYTES_MAX: usize = 8 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    #[error("`{setting}` must be an address such as https://tasks.example:8080, without user, path or query")]
    Address { setting: &'static str },
    #[error("`{setting}` must begin with https:// beyond this machine, as a key goes with every call")]
    PlainText { setting: &'static str },
    #[error("the key for `{setting}` has characters that no header may have")]
    Key { setting: &'static str },
    #[error("the certificates of this machine cannot be read")]
    Certificates(#[source] std::io::Error),
}

pub struct Answered {
    pub status: StatusCode,
    /// When the service wants to be asked again, where it says so.
    pub retry_after_ms: Option<u64>,
    pub body: Value,
}

/// Why there is no answer.
pub enum Failure {
    Slow,
    Unreachable(Box<dyn std::error::Error + Send + Sync>),
    Unreadable,
}

enum Http {
    Plain(legacy::Client<HttpConnector, Full<Bytes>>),
    Tls(legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>),
}

pub struct Client {
    base: String,
    authorization: Option<HeaderValue>,
    http: Http,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("base", &self.base).finish_non_exhaustive()
    }
}

impl Client {
    pub fn new(setting: &'static str, url: &str, key: Option<&str>) -> Result<Client, RemoteError> {
        let uri: Uri = url.parse().map_err(|_| RemoteError::Address { setting })?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(RemoteError::Address { setting });
        };
        let is_bare = matches!(uri.path(), "" | "/") && uri.query().is_none() && !authority.as_str().contains('@');
        if !is_bare || !matches!(scheme, "http" | "https") {
            return Err(RemoteError::Address { setting });
        }
        let is_plain = scheme == "http";
        if is_plain && key.is_some() && !is_loopback(authority.host()) {
            return Err(RemoteError::PlainText { setting });
        }
        let authorization = key.map(|key| {
            let mut value =
                HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| RemoteError::Key { setting })?;
            value.set_sensitive(true);
            Ok(value)
        });
        let builder = legacy::Client::builder(TokioExecutor::new());
        let http = if is_plain {
            let mut connector = HttpConnector::new();
            connector.set_nodelay(true);
            Http::Plain(builder.build(connector))
        } else {
            let connector = HttpsConnectorBuilder::new()
                .with_provider_and_native_roots(rustls::crypto::ring::default_provider())
                .map_err(RemoteError::Certificates)?;
            Http::Tls(builder.build(connector.https_only().enable_http1().build()))
        };
        let base = format!("{scheme}://{authority}");
        Ok(Client { base, authorization: authorization.transpose()?, http })
    }

    /// Sends until it is answered, at most three times. Only a failed connection and a failure of the service are worth
    /// another try; the key of the call makes that safe.
    pub async fn send(&self, wire: &Wire, call: &RemoteCall) -> Result<Answered, Failure> {
        let mut waits = WAITS.into_iter();
        loop {
            let outcome = match tokio::time::timeout(ATTEMPT_TIMEOUT, self.attempt(wire, call)).await {
                Ok(outcome) => outcome,
                Err(_) => return Err(Failure::Slow),
            };
            let wait = match &outcome {
                Ok(answered) if answered.status.is_server_error() => waits.next(),
                Err(Failure::Unreachable(_)) => waits.next(),
                Ok(_) | Err(Failure::Slow | Failure::Unreadable) => None,
            };
            let Some(wait) = wait else { return outcome };
            tracing::warn!(
                operation = call.operation,
                correlation_id = call.correlation_id,
                status = outcome.as_ref().ok().map(|answered| answered.status.as_u16()),
                "A remote service failed; trying again"
            );
            tokio::time::sleep(wait).await;
        }
    }

    /// Asks once, without a call of anybody.
    pub async fn look(&self, path: &str) -> Result<Answered, Failure> {
        let mut request = Request::get(format!("{}{path}", self.base));
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let request = request.body(Full::new(Bytes::new())).map_err(|error| Failure::Unreachable(error.into()))?;
        let answer = async { read(self.exchange(request).await?).await };
        tokio::time::timeout(LOOK_TIMEOUT, answer).await.unwrap_or(Err(Failure::Slow))
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Failure> {
        let response = match &self.http {
            Http::Plain(http) => http.request(request).await,
            Http::Tls(http) => http.request(request).await,
        };
        response.map_err(|error| Failure::Unreachable(error.into()))
    }

    async fn attempt(&self, wire: &Wire, call: &RemoteCall) -> Result<Answered, Failure> {
        let mut request = Request::builder()
            .method(wire.method.clone())
            .uri(format!("{}{}", self.base, wire.path))
            .header(IDEMPOTENCY_HEADER, &call.idempotency_key)
            .header(CORRELATION_HEADER, &call.correlation_id)
            .header(ACTOR_HEADER, call.acting.to_string());
        if call.via == Via::Approval {
            request = request.header(FOR_HEADER, FOR_APPROVAL);
        }
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let body = match &wire.body {
            Some(body) => {
                request = request.header(CONTENT_TYPE, "application/json");
                Bytes::from(body.to_string())
            }
            None => Bytes::new(),
        };
        let request = request.body(Full::new(body)).map_err(|error| Failure::Unreachable(error.into()))?;
        read(self.exchange(request).await?).await
    }
}

async fn read(response: Response<Incoming>) -> Result<Answered, Failure> {
    let status = response.status();
    let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let retry_after_ms = retry_after.map(|seconds| seconds.min(RETRY_AFTER_S_MAX) * 1_000);
    let body = match Limited::new(response.into_body(), BODY_BYTES_MAX).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => return Err(Failure::Unreadable),
        // The connection broke in the middle of the answer.
        Err(error) => return Err(Failure::Unreachable(error)),
    };
    match serde_json::from_slice(&body) {
        Ok(body) => Ok(Answered { status, retry_after_ms, body }),
        // A proxy in between may answer for a service that is down, in a language of its own.
        Err(_) if status.is_success() => Err(Failure::Unreadable),
        Err(_) => Ok(Answered { status, retry_after_ms, body: Value::Null }),
    }
}
