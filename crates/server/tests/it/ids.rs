//! Ids as the tests ask for them and judge them.

use std::{collections::BTreeSet, fmt, time::Duration};

use serde_json::{Value, json};

pub const OPERATION: &str = "get_next_available_id";

const PREFIX: &str = "US-";

/// The input of one call for an id of `project`.
pub fn input(project: &str) -> Value {
    json!({"artifact_type": "backlog_story", "project_id": project, "task_id": "abc-123"})
}

/// The number in the answer's `next_id`; the answer must be a success.
pub fn number(output: &Value) -> u64 {
    assert_eq!(output["success"], true, "{output}");
    assert_eq!(output["artifact_type"], "backlog_story", "{output}");
    let id = output["next_id"].as_str().and_then(|id| id.strip_prefix(PREFIX));
    id.and_then(|digits| digits.parse().ok()).unwrap_or_else(|| panic!("expected `{PREFIX}NNN` in {output}"))
}

/// Why a call over HTTP gave no id.
#[derive(Debug)]
pub enum Failure {
    /// The connection failed; the call may or may not have been carried out.
    Lost(reqwest::Error),
    /// The server said no.
    Answered { status: u16, body: String },
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Lost(error) => write!(out, "the connection failed: {error:?}"),
            Failure::Answered { status, body } => write!(out, "answered {status}: {body}"),
        }
    }
}

/// A client with a connection of its own.
pub fn http_client() -> reqwest::Client {
    reqwest::Client::builder()
        .no_proxy()
        .pool_max_idle_per_host(1)
        .timeout(Duration::from_secs(20))
        .build()
        .expect("a client without TLS always builds")
}

/// Asks the house at `base` for the next id of `project`. With a `key` the call may be repeated.
pub async fn next(http: &reqwest::Client, base: &str, project: &str, key: Option<&str>) -> Result<u64, Failure> {
    let mut request = http.post(format!("{base}/api/tools/{OPERATION}")).json(&input(project));
    if let Some(key) = key {
        request = request.header("Idempotency-Key", key);
    }
    let response = request.send().await.map_err(Failure::Lost)?;
    let status = response.status().as_u16();
    let body = response.text().await.map_err(Failure::Lost)?;
    match serde_json::from_str::<Value>(&body) {
        Ok(output) if status == 200 => Ok(number(&output)),
        _ => Err(Failure::Answered { status, body }),
    }
}

/// What a set of issued ids looks like.
pub struct Tally {
    pub n: usize,
    pub n_duplicates: usize,
    /// Numbers below the highest that nobody got.
    pub n_gaps: u64,
}

pub fn tally(ids: &[u64]) -> Tally {
    let distinct: BTreeSet<u64> = ids.iter().copied().collect();
    let highest = distinct.last().copied().unwrap_or(0);
    let n_distinct = u64::try_from(distinct.len()).expect("a count fits into 64 bits");
    Tally { n: ids.len(), n_duplicates: ids.len() - distinct.len(), n_gaps: highest - n_distinct }
}

impl Tally {
    /// Every number from one on, each once.
    pub fn check(&self) {
        assert_eq!((self.n_duplicates, self.n_gaps), (0, 0), "duplicates and gaps in {} ids", self.n);
    }
}
