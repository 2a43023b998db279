//! The browser UI, embedded when it was built (`web/dist`). Without it the server shows its plain start page.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, Uri, header};
use rust_embed::RustEmbed;
use serde_json::json;

use crate::edge::answer;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Dist;

/// First segments of the UI's own addresses (`web/src/router/routes.ts`).
const PAGES: [&str; 7] = ["audit", "documents", "graph", "herbs", "search", "settings", "tasks"];

/// The UI's one page, if it was built.
pub fn index(status: StatusCode) -> Option<Response> {
    let file = Dist::get("index.html")?;
    let mut response =
        (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], file.data.into_owned()).into_response();
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    Some(response)
}

/// A file of the UI, the UI itself for its addresses, or that there is nothing.
pub async fn find(uri: Uri) -> Response {
    let path = uri.path().trim_start_matches('/');
    let first = path.split('/').next().unwrap_or_default();
    if let Some(file) = Dist::get(path) {
        return typed(path, file.data.into_owned());
    }
    let found = if PAGES.contains(&first) {
        index(StatusCode::OK)
    } else if matches!(first, "api" | "mcp" | "tools" | "session") {
        None
    } else {
        index(StatusCode::NOT_FOUND)
    };
    found.unwrap_or_else(|| {
        let body = json!({ "error": { "code": "NOT_FOUND", "message": "nothing is served at this path" } });
        answer(StatusCode::NOT_FOUND, &body)
    })
}

fn typed(path: &str, data: Vec<u8>) -> Response {
    let kind = match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("html") => "text/html; charset=utf-8",
        Some(_) | None => "application/octet-stream",
    };
    let mut response = ([(header::CONTENT_TYPE, kind)], data).into_response();
    if path.starts_with("assets/") {
        // Their names hold the hash of their content.
        let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
        response.headers_mut().insert(header::CACHE_CONTROL, forever);
    }
    response
}
