//! The browser UI, embedded when it was built (`web/dist`). Without it the server shows its plain start page.
//!
//! Its files were packed when they were built. Nothing else is: an answer that holds somebody's words beside a session must
//! not change its length with them.

mod files;

use std::borrow::Cow;

use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use rust_embed::RustEmbed;
use serde_json::json;

use crate::edge::answer;
pub use files::lasting;
use files::{Stored, is_packed, served};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Dist;

/// First segments of the UI's own addresses (`web/src/router/routes.ts`).
const PAGES: [&str; 7] = ["audit", "documents", "graph", "herbs", "search", "settings", "tasks"];

/// The UI's one page, if it was built.
pub fn index(status: StatusCode, asked: &HeaderMap) -> Option<Response> {
    let mut response = served("index.html", status, asked, stored)?;
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    Some(response)
}

/// A file of the UI, the UI itself for its addresses, or that there is nothing.
pub async fn find(uri: Uri, asked: HeaderMap) -> Response {
    let path = uri.path().trim_start_matches('/');
    let first = path.split('/').next().unwrap_or_default();
    let file = if is_packed(path) { None } else { served(path, StatusCode::OK, &asked, stored) };
    if let Some(response) = file {
        return response;
    }
    let found = if PAGES.contains(&first) {
        index(StatusCode::OK, &asked)
    } else if matches!(first, "api" | "mcp" | "tools" | "session") {
        None
    } else {
        index(StatusCode::NOT_FOUND, &asked)
    };
    found.unwrap_or_else(|| {
        let body = json!({ "error": { "code": "NOT_FOUND", "message": "nothing is served at this path" } });
        answer(StatusCode::NOT_FOUND, &body)
    })
}

/// A file of the build; read from the disk in a debug build.
fn stored(path: &str) -> Option<Stored> {
    let file = Dist::get(path)?;
    let data = match file.data {
        Cow::Borrowed(data) => Bytes::from_static(data),
        Cow::Owned(data) => Bytes::from(data),
    };
    Some(Stored { data, sha256: file.metadata.sha256_hash() })
}
