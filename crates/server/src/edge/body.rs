//! Reading a request body: never more than the limit, never slower than the clock allows.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http_body_util::BodyExt;
use tokio::time::Instant;

#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    #[error("the body is larger than {bytes_max} bytes")]
    TooLarge { bytes_max: usize },
    #[error("the body came too slowly")]
    TooSlow,
    #[error("the body broke off")]
    Broken(#[source] axum::Error),
}

impl BodyError {
    pub fn status(&self) -> StatusCode {
        match self {
            BodyError::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            BodyError::TooSlow => StatusCode::REQUEST_TIMEOUT,
            BodyError::Broken(_) => StatusCode::BAD_REQUEST,
        }
    }
}

/// Reads a whole body. The time is for all of it: a byte now and then does not buy more.
pub async fn read(mut body: Body, bytes_max: usize, timeout: Duration) -> Result<Bytes, BodyError> {
    let promised = http_body::Body::size_hint(&body).lower();
    if promised > u64::try_from(bytes_max).unwrap_or(u64::MAX) {
        return Err(BodyError::TooLarge { bytes_max });
    }
    let deadline = Instant::now() + timeout;
    let mut collected: Option<Bytes> = None;
    let mut more = BytesMut::new();
    let mut n_bytes = 0;
    loop {
        let frame = match tokio::time::timeout_at(deadline, body.frame()).await {
            Err(_) => return Err(BodyError::TooSlow),
            Ok(None) => break,
            Ok(Some(Err(error))) => return Err(BodyError::Broken(error)),
            Ok(Some(Ok(frame))) => frame,
        };
        let Ok(data) = frame.into_data() else { continue };
        n_bytes += data.len();
        if n_bytes > bytes_max {
            return Err(BodyError::TooLarge { bytes_max });
        }
        // Most bodies come in one piece, which then needs no copy.
        match collected.take() {
            None if more.is_empty() => collected = Some(data),
            None => more.extend_from_slice(&data),
            Some(first) => {
                // Once, instead of in steps that each copy all: what was promised is within the limit.
                more.reserve(usize::try_from(promised).unwrap_or_default().max(n_bytes));
                more.extend_from_slice(&first);
                more.extend_from_slice(&data);
            }
        }
    }
    Ok(collected.unwrap_or_else(|| more.freeze()))
}
