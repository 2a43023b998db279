//! The port of the Task Tracking service: health and metrics.

use axum::Router;
use axum::response::Response;
use contract::dialect;
use contract::error::OpError;

use crate::edge::error_response;

/// What is not served answers in the service's own words.
pub fn routes() -> Router {
    Router::new().fallback(not_found)
}

pub async fn not_found() -> Response {
    let error = OpError::not_found("nothing is served at this path");
    error_response(&error, &dialect::service(&error))
}
