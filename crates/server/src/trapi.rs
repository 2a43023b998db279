//! A graph elsewhere over TRAPI: one query each way around the things that are asked about.

use std::collections::HashMap;
use std::fmt;
use std::io::Cursor;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use contract::error::{Kind, OpError};
use contract::evidence::record::Record;
use evidence::import::{self, Format, Item};
use futures::future::BoxFuture;
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Request, StatusCode};
use http_body_util::Full;
use ops::{Knowledge, KnowledgeFound};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::outbound::{Limits, Outbound, OutboundError};
use crate::remembered::Remembered;
use crate::settings::Settings;

const LIMITS: Limits = Limits { timeout: Duration::from_secs(6), bytes_max: 64 * 1024 * 1024 };
/// Nobody has stated a limit; this hurts no server.
const PER_SECOND: NonZeroU32 = NonZeroU32::new(2).unwrap();
/// Records of one answer.
const RECORDS_MAX: usize = 50_000;

/// The server, where the settings name one.
pub fn knowledge(settings: &Settings) -> Result<Option<Arc<dyn Knowledge>>, OutboundError> {
    let Some(url) = &settings.trapi_url else { return Ok(None) };
    let client = Outbound::new(url, LIMITS)?;
    let rate = RateLimiter::direct(Quota::per_second(PER_SECOND));
    Ok(Some(Arc::new(Trapi { client, rate, remembered: Remembered::default() })))
}

struct Trapi {
    client: Outbound,
    rate: DefaultDirectRateLimiter,
    remembered: Remembered,
}

impl fmt::Debug for Trapi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trapi").field("client", self.client.uri()).finish_non_exhaustive()
    }
}

impl Knowledge for Trapi {
    fn about<'a>(&'a self, curies: &'a [String]) -> BoxFuture<'a, Result<KnowledgeFound, OpError>> {
        Box::pin(async move {
            let mut found = self.ask(&query(curies, "n0", "n1")).await?;
            let other_way = self.ask(&query(curies, "n1", "n0")).await?;
            found.records.extend(other_way.records);
            found.is_whole &= other_way.is_whole;
            Ok(found)
        })
    }
}

/// Everything that `n0` is the subject or the object of.
fn query(curies: &[String], subject: &str, object: &str) -> Value {
    let nodes = json!({ "n0": { "ids": curies }, "n1": {} });
    let edges = json!({ "e0": { "subject": subject, "object": object } });
    json!({ "message": { "query_graph": { "nodes": nodes, "edges": edges } }, "submitter": "materia" })
}

impl Trapi {
    async fn ask(&self, query: &Value) -> Result<KnowledgeFound, OpError> {
        let query = query.to_string();
        if let Some(known) = self.remembered.recall(&query) {
            return found(known);
        }
        let mut fault = None;
        // A second attempt, for a connection that broke or a server that was busy.
        for _ in 0..2 {
            self.rate.until_ready().await;
            let request = Request::post("/")
                .header(CONTENT_TYPE, "application/json")
                .header(ACCEPT, "application/json")
                .body(Full::new(Bytes::from(query.clone())))
                .map_err(OpError::internal)?;
            match self.client.send(request).await {
                // A query that was only put in a queue is not answered yet.
                Ok(answer) if answer.status == StatusCode::OK => {
                    let found = found(answer.body.clone())?;
                    if found.is_whole {
                        self.remembered.remember(query, answer.body);
                    }
                    return Ok(found);
                }
                Ok(answer) => {
                    let status = answer.status;
                    fault = Some(upstream(&format!("answered {}", status.as_u16())));
                    if !status.is_server_error() && status.as_u16() != 429 {
                        break;
                    }
                }
                Err(error) => fault = Some(upstream("cannot be reached").with_source(error)),
            }
        }
        Err(fault.unwrap_or_else(|| upstream("was not asked")))
    }
}

/// What an answer says of itself. Servers that fail often do so with a status of 200.
#[derive(Deserialize)]
struct Response {
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    logs: Value,
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    knowledge_graph: Option<HashMap<String, IgnoredAny>>,
    #[serde(default)]
    results: Option<Vec<IgnoredAny>>,
}

impl Response {
    /// Whether the server says that something failed on the way, whatever its status.
    fn tells_errors(&self) -> bool {
        let entries = self.logs.as_array().into_iter().flatten();
        let mut levels = entries.filter_map(|entry| entry.get("level")?.as_str());
        levels.any(|level| level.eq_ignore_ascii_case("ERROR"))
    }

    /// Whether it answers the query: with a knowledge graph, or by saying that there is none.
    fn is_answer(&self) -> bool {
        let is_success = self.status.as_deref().map(|status| status.eq_ignore_ascii_case("Success"));
        let has_results = self.message.results.as_ref().is_some_and(|results| !results.is_empty());
        match (is_success, &self.message.knowledge_graph) {
            (Some(true) | None, Some(_)) => true,
            (Some(true), None) => !has_results,
            (Some(false), _) | (None, None) => false,
        }
    }
}

/// The knowledge graph of a message. What is wrong in it is left out, as it is when a file is imported.
fn found(body: Bytes) -> Result<KnowledgeFound, OpError> {
    const OTHER: &str = "answered something else than it should";
    let response: Response = serde_json::from_slice(&body).map_err(|error| upstream(OTHER).with_source(error))?;
    if !response.is_answer() {
        return Err(upstream("could not answer the query"));
    }
    let options = import::Options { source: Format::Trapi.source(), lang: None };
    let unreadable = |error| upstream(OTHER).with_source(error);
    let mut items = import::open(Format::Trapi, options, Cursor::new(body)).map_err(unreadable)?;
    let mut records = Vec::new();
    for item in items.by_ref().take(RECORDS_MAX) {
        if let Item::Record(record) = item.map_err(unreadable)? {
            records.push(*record);
        }
    }
    let tells_errors = response.tells_errors();
    // Nothing that was found while something failed is no word that there is nothing.
    if tells_errors && !records.iter().any(|record| matches!(record, Record::Edge(_))) {
        return Err(upstream("told of errors and of no statement"));
    }
    let is_whole = !tells_errors && items.next().is_none();
    Ok(KnowledgeFound { records, is_whole })
}

fn upstream(what: &str) -> OpError {
    OpError::new(Kind::Upstream, format!("the TRAPI endpoint {what}"))
}
