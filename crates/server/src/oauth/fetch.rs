//! Getting an issuer's published keys: from the configured address or file and from nowhere else.
//!
//! Plain HTTP only within this machine, as the settings check; no credentials.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode, header};
use http_body_util::Full;
use tokio::io::AsyncReadExt;

use crate::outbound::{Limits, Outbound, OutboundError};
use crate::settings::oauth::Issuer;

const LIMITS: Limits = Limits { timeout: Duration::from_secs(5), bytes_max: BYTES_MAX };
const BYTES_MAX: usize = 256 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error("the issuer's keys cannot be fetched")]
    Outbound(#[source] OutboundError),
    #[error("`{uri}` answered {status}, expected 200")]
    Answered { uri: String, status: StatusCode },
    #[error("`{place}` holds something else than a JWK set")]
    NoKeys { place: String },
    #[error("could not read `{path}`", path = path.display())]
    File { path: PathBuf, source: std::io::Error },
}

/// Where the keys of one issuer are.
pub enum Source {
    File(PathBuf),
    Web(Box<Outbound>),
}

impl Source {
    pub fn new(settings: &Issuer) -> Result<Source, FetchError> {
        if let Some(path) = &settings.jwks_file {
            return Ok(Source::File(path.clone()));
        }
        let url = settings.jwks_url.as_deref().unwrap_or_default();
        Outbound::new(url, LIMITS).map(|web| Source::Web(Box::new(web))).map_err(FetchError::Outbound)
    }

    /// For messages.
    pub fn place(&self) -> String {
        match self {
            Source::File(path) => path.display().to_string(),
            Source::Web(web) => web.uri().to_string(),
        }
    }

    pub async fn fetch(&self) -> Result<Vec<u8>, FetchError> {
        match self {
            Source::File(path) => read(path).await.map_err(|source| FetchError::File { path: path.clone(), source }),
            Source::Web(web) => get(web).await,
        }
    }
}

async fn read(path: &PathBuf) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let bytes_max = u64::try_from(BYTES_MAX).unwrap_or(u64::MAX);
    tokio::fs::File::open(path).await?.take(bytes_max).read_to_end(&mut bytes).await?;
    Ok(bytes)
}

async fn get(web: &Outbound) -> Result<Vec<u8>, FetchError> {
    let mut request = Request::new(Full::new(Bytes::new()));
    request.headers_mut().insert(header::ACCEPT, header::HeaderValue::from_static("application/json"));
    let answer = web.send(request).await.map_err(FetchError::Outbound)?;
    if answer.status != StatusCode::OK {
        return Err(FetchError::Answered { uri: web.uri().to_string(), status: answer.status });
    }
    Ok(answer.body.to_vec())
}
