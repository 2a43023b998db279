//! `POST /add-checkpoint`, after C2SP tlog-witness.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{get, post};
use http::{HeaderValue, StatusCode, header};
use ledger::witness::{AddCheckpoint, REQUEST_BYTES_MAX, Refusal, SIZE_CONTENT_TYPE};

use super::Folder;
use crate::edge::body;

const BODY_TIMEOUT: Duration = Duration::from_secs(10);
const PLAIN: &str = "text/plain; charset=utf-8";

#[derive(Clone)]
pub struct WitnessService {
    pub folder: Arc<Folder>,
}

/// Open to everybody, as the protocol wants it: only a known log's signature moves anything here.
pub fn routes(service: WitnessService) -> Router {
    Router::new()
        .route("/add-checkpoint", post(add_checkpoint))
        .route("/health", get(async || text(StatusCode::OK, PLAIN, "ok\n".to_owned())))
        .fallback(async || text(StatusCode::NOT_FOUND, PLAIN, "POST /add-checkpoint (C2SP tlog-witness)\n".to_owned()))
        .with_state(service)
}

async fn add_checkpoint(State(service): State<WitnessService>, request: Request) -> Response {
    let bytes = match body::read(request.into_body(), REQUEST_BYTES_MAX, BODY_TIMEOUT).await {
        Ok(bytes) => bytes,
        Err(error) => return text(error.status(), PLAIN, format!("{error}\n")),
    };
    let request = match AddCheckpoint::parse(&bytes) {
        Ok(request) => request,
        Err(error) => return text(StatusCode::BAD_REQUEST, PLAIN, format!("{error}\n")),
    };
    let (origin, size) = {
        let checkpoint = request.checkpoint().unverified();
        (checkpoint.origin().to_owned(), checkpoint.size())
    };
    let folder = Arc::clone(&service.folder);
    let time_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    // The decision waits for the disk. It goes on if the caller leaves: it is whole or did not happen.
    let decided = tokio::task::spawn_blocking(move || folder.add_checkpoint(&request, time_s)).await;
    match decided {
        Ok(Ok(Ok(cosignature))) => {
            tracing::info!(origin, size, "Cosigned a checkpoint");
            text(StatusCode::OK, PLAIN, cosignature)
        }
        Ok(Ok(Err(refusal))) => {
            tracing::warn!(status = refusal.status(), reason = %refusal, size, "Did not cosign a checkpoint");
            let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::BAD_REQUEST);
            let content_type = match &refusal {
                Refusal::StaleOldSize { .. } => SIZE_CONTENT_TYPE,
                Refusal::UnknownOrigin(_)
                | Refusal::NotSigned(_)
                | Refusal::WrongSignature(_)
                | Refusal::OldSizeBeyondNew { .. }
                | Refusal::RootDiffers
                | Refusal::Inconsistent(_) => PLAIN,
            };
            text(status, content_type, refusal.body())
        }
        Ok(Err(error)) => {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            tracing::error!(error = %error, cause, "The witness cannot decide");
            text(StatusCode::INTERNAL_SERVER_ERROR, PLAIN, "the witness cannot decide; its log says why\n".to_owned())
        }
        Err(_) => text(StatusCode::INTERNAL_SERVER_ERROR, PLAIN, "the witness cannot decide\n".to_owned()),
    }
}

fn text(status: StatusCode, content_type: &'static str, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
