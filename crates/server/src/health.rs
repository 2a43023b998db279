//! `/health` and `/metrics`, the same on every port.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, body::Body};
use http::{StatusCode, header};
use ops::LogStanding;
use serde_json::{Map, json};

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
    let database = health.house.database_standing().await;
    let is_fine = database.problem().is_none();
    let (status, word) = if is_fine { (StatusCode::OK, "ok") } else { (StatusCode::SERVICE_UNAVAILABLE, "degraded") };
    // Who does not answer one question would let the second wait as long.
    let witnesses = if is_fine { health.house.witness_standings().await } else { Vec::new() };
    let is_contradicted = witnesses.iter().any(|witness| witness.standing.is_contradiction());
    let log = if is_fine { health.house.log_standing().await } else { None };
    // Reads are answered all the same, so the status code stays that of a server in service.
    let word = match &log {
        _ if is_contradicted => "contradicted",
        Some(LogStanding::Contradicted { .. }) => "contradicted",
        Some(LogStanding::Stalled { .. } | LogStanding::Stopped { .. }) => "degraded",
        Some(LogStanding::Doubted { .. }) => "doubted",
        Some(LogStanding::Fine) | None => word,
    };
    let mut dependencies = Map::from_iter([("database".to_owned(), json!(database.word()))]);
    if let Some(log) = log {
        dependencies.insert("log".to_owned(), json!(log.word()));
    }
    if !witnesses.is_empty() {
        let shown = witnesses.into_iter().map(|witness| (witness.name, json!(witness.standing.word())));
        dependencies.insert("witnesses".to_owned(), shown.collect::<Map<_, _>>().into());
    }
    let body = json!({
        "status": word,
        "version": env!("CARGO_PKG_VERSION"),
        "uptime_seconds": health.started.elapsed().as_secs(),
        "dependencies": dependencies,
    });
    answer(status, &body)
}

async fn metrics() -> Response {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], Body::from(telemetry::render_metrics())).into_response()
}
