//! `/health` and `/metrics`, the same on every port.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, body::Body};
use http::{StatusCode, header};
use ops::LogStanding;
use serde_json::{Map, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::edge::answer;
use crate::owner::House;
use crate::owner::database::DatabaseStanding;
use crate::owner::witnesses::WitnessStanding;
use crate::telemetry;

/// How long an answer waits for a look at the house: a probe takes a server that is slow to answer for a dead one.
const ANSWER_WITHIN: Duration = Duration::from_millis(80);
/// How often somebody looks for those who could not wait.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long that look may take. A database that gives no answer in this time is away.
const LOOK_WITHIN: Duration = Duration::from_secs(1);

/// How the house stood when somebody looked.
#[derive(Debug, Clone)]
struct Seen {
    database: DatabaseStanding,
    witnesses: Vec<WitnessStanding>,
    log: Option<LogStanding>,
}

#[derive(Clone)]
pub struct Health {
    house: Arc<House>,
    started: Instant,
    /// The last look; none before the first one.
    last: Arc<watch::Sender<Option<Seen>>>,
}

impl Health {
    /// Begins to look at the house, until told to stop.
    pub fn watch(house: Arc<House>, stop: CancellationToken) -> Health {
        let last = Arc::new(watch::Sender::new(None));
        let (watched, told) = (Arc::clone(&house), Arc::clone(&last));
        tokio::spawn(async move {
            loop {
                let seen = tokio::time::timeout(LOOK_WITHIN, look(&watched)).await;
                told.send_replace(Some(seen.unwrap_or_else(|_| Seen::silent())));
                tokio::select! {
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                    () = stop.cancelled() => return,
                }
            }
        });
        Health { house, started: Instant::now(), last }
    }

    /// As it is at this moment, or as it was a moment ago where that cannot be told quickly.
    async fn see(&self) -> Seen {
        if let Ok(seen) = tokio::time::timeout(ANSWER_WITHIN, look(&self.house)).await {
            // Who asks next and cannot be told quickly hears no older word than this one.
            self.last.send_replace(Some(seen.clone()));
            return seen;
        }
        let mut last = self.last.subscribe();
        let seen = last.wait_for(Option::is_some).await.ok().and_then(|last| last.clone());
        seen.unwrap_or_else(Seen::silent)
    }
}

impl Seen {
    fn silent() -> Seen {
        let database = DatabaseStanding::Unreachable { reason: "it gave no answer in time".to_owned() };
        Seen { database, witnesses: Vec::new(), log: None }
    }
}

async fn look(house: &House) -> Seen {
    let database = house.database_standing().await;
    // Who does not answer one question would let the second wait as long.
    if database.problem().is_some() {
        return Seen { database, witnesses: Vec::new(), log: None };
    }
    Seen { database, witnesses: house.witness_standings().await, log: house.log_standing().await }
}

pub fn routes(health: Health) -> Router {
    Router::new().route("/health", get(show)).route("/metrics", get(metrics)).with_state(health)
}

async fn show(State(health): State<Health>) -> Response {
    let uptime_seconds = health.started.elapsed().as_secs();
    let Seen { database, witnesses, log } = health.see().await;
    let is_fine = database.problem().is_none();
    let (status, word) = if is_fine { (StatusCode::OK, "ok") } else { (StatusCode::SERVICE_UNAVAILABLE, "degraded") };
    let is_contradicted = witnesses.iter().any(|witness| witness.standing.is_contradiction());
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
        "uptime_seconds": uptime_seconds,
        "dependencies": dependencies,
    });
    answer(status, &body)
}

async fn metrics() -> Response {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], Body::from(telemetry::render_metrics())).into_response()
}
