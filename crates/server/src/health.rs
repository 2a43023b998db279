//! `/health` and `/metrics`, the same on every port.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, body::Body};
use http::{StatusCode, header};
use serde_json::json;

use crate::edge::answer;
use crate::owner::House;
use crate::telemetry;

#[derive(Clone)]
pub struct Health {
    pub house: Arc<House>,
    pub started: Instant,
}

pub fn routes(health: Health) -> Router {
    Router::new().route("/health", get(show)).route("/metrics", get(metrics)).with_state(health)
}

async fn show(State(health): State<Health>) -> Response {
    let database = health.house.ping().await;
    let (status, word) = match &database {
        Ok(()) => (StatusCode::OK, "ok"),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "degraded"),
    };
    let body = json!({
        "status": word,
        "version": env!("CARGO_PKG_VERSION"),
        "uptime_seconds": health.started.elapsed().as_secs(),
        "dependencies": { "database": if database.is_ok() { "ok" } else { "unreachable" } },
    });
    answer(status, &body)
}

async fn metrics() -> Response {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], Body::from(telemetry::render_metrics())).into_response()
}
