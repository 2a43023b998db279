//! A graph elsewhere over TRAPI: one query each way around the things that are asked about.

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
use http::Request;
use http::header::{ACCEPT, CONTENT_TYPE};
use http_body_util::Full;
use ops::Knowledge;
use serde_json::{Value, json};

use crate::outbound::{Limits, Outbound, OutboundError};
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
    Ok(Some(Arc::new(Trapi { client, rate: RateLimiter::direct(Quota::per_second(PER_SECOND)) })))
}

#[derive(Debug)]
struct Trapi {
    client: Outbound,
    rate: DefaultDirectRateLimiter,
}

impl Knowledge for Trapi {
    fn about<'a>(&'a self, curies: &'a [String]) -> BoxFuture<'a, Result<Vec<Record>, OpError>> {
        Box::pin(async move {
            let mut records = self.ask(&query(curies, "n0", "n1")).await?;
            records.extend(self.ask(&query(curies, "n1", "n0")).await?);
            Ok(records)
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
    async fn ask(&self, query: &Value) -> Result<Vec<Record>, OpError> {
        let mut fault = None;
        // A second attempt, for a connection that broke or a server that was busy.
        for _ in 0..2 {
            self.rate.until_ready().await;
            let request = Request::post("/")
                .header(CONTENT_TYPE, "application/json")
                .header(ACCEPT, "application/json")
                .body(Full::new(Bytes::from(query.to_string())))
                .map_err(OpError::internal)?;
            match self.client.send(request).await {
                Ok(answer) if answer.status.is_success() => return records(answer.body),
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

/// The knowledge graph of a message. What is wrong in it is left out, as it is when a file is imported.
fn records(body: Bytes) -> Result<Vec<Record>, OpError> {
    let options = import::Options { source: Format::Trapi.source(), lang: None };
    let unreadable = |error| upstream("answered something else than it should").with_source(error);
    let items = import::open(Format::Trapi, options, Cursor::new(body)).map_err(unreadable)?;
    let mut records = Vec::new();
    for item in items.take(RECORDS_MAX) {
        if let Item::Record(record) = item.map_err(unreadable)? {
            records.push(*record);
        }
    }
    Ok(records)
}

fn upstream(what: &str) -> OpError {
    OpError::new(Kind::Upstream, format!("the TRAPI endpoint {what}"))
}
