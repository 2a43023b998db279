//! REST: every operation at `POST /api/tools/{operation}`, from the table, with an OpenAPI document of the same table.

pub mod openapi;

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router};
use bytes::Bytes;
use contract::actor::Actor;
use contract::dialect;
use contract::error::{OpError, cut};
use contract::id::{CorrelationId, IdempotencyKey};
use contract::strict::{self, Limits, Problem};
use http::{HeaderMap, StatusCode, header};
use ops::acting::{self, Acting};
use ops::{Call, Reply, Via, seed_ids};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::edge::{NoCall, answer, error_response};
use crate::owner::House;
use crate::web;

pub const IDEMPOTENCY_HEADER: &str = "idempotency-key";
/// What a call is part of, where it is part of more than itself.
pub const FOR_HEADER: &str = "x-materia-for";
pub const FOR_APPROVAL: &str = "approve_artifact";
/// For whom the caller acts, where it calls for several.
pub const ACTOR_HEADER: &str = "x-materia-actor";
pub const CORRELATION_HEADER: &str = "x-correlation-id";
/// The request that a call belongs to, as seed 004 names requests.
pub const REQUEST_HEADER: &str = "x-request-id";
/// Under which id the log has the call.
pub const CALL_HEADER: &str = "x-call-id";

#[derive(Clone)]
pub struct Rest {
    pub house: Arc<House>,
    pub body_bytes_max: usize,
}

pub fn routes(rest: Rest) -> Router {
    Router::new()
        .route("/api/tools", get(list))
        .route("/api/tools/{operation}", post(call_by_path))
        .route("/tools", post(call_by_body))
        .with_state(rest)
}

async fn list(State(rest): State<Rest>, headers: HeaderMap) -> Response {
    let tools: Vec<Value> = rest
        .house
        .table()
        .all()
        .iter()
        .map(|tool| json!({ "name": tool.entry.name, "family": tool.entry.family.name(), "about": tool.entry.about }))
        .collect();
    web::lasting(&headers, json!({ "tools": tools }).to_string())
}

async fn call_by_path(
    State(rest): State<Rest>,
    Extension(actor): Extension<Actor>,
    Path(operation): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let call = match json_body(&headers, &body, rest.body_bytes_max) {
        Ok(input) => beside(&headers, Call { operation, input, ..Call::default() }),
        Err(response) => return *response,
    };
    match call {
        Ok(call) => respond(rest.house.call(&actor, call).await),
        Err(error) => no_call(error_response(&error, &dialect::common(&error)), "REQUEST"),
    }
}

/// Seed 000: `{tool, input, run_id?}`.
async fn call_by_body(
    State(rest): State<Rest>,
    Extension(actor): Extension<Actor>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let request = match json_body(&headers, &body, rest.body_bytes_max) {
        Ok(request) => request,
        Err(response) => return *response,
    };
    match tool_call(request).and_then(|call| beside(&headers, call)) {
        Ok(call) => respond(rest.house.call(&actor, call).await),
        Err(error) => no_call(error_response(&error, &dialect::common(&error)), "REQUEST"),
    }
}

fn tool_call(request: Value) -> Result<Call, OpError> {
    let Value::Object(mut members) = request else {
        return Err(OpError::invalid("body", "an object with `tool` and `input`"));
    };
    let Some(Value::String(operation)) = members.remove("tool") else {
        return Err(OpError::invalid("tool", "the name of an operation"));
    };
    let input = members.remove("input").unwrap_or_else(|| json!({}));
    let mut call = Call { operation, input, ..Call::default() };
    match members.remove("run_id") {
        None => {}
        Some(Value::String(run_id)) => {
            let run_id = CorrelationId::parse(&run_id).map_err(|error| OpError::invalid("run_id", error.expected))?;
            call.correlation.run_id = Some(run_id);
        }
        Some(_) => return Err(OpError::invalid("run_id", "a string")),
    }
    match members.keys().next() {
        Some(unknown) => Err(OpError::invalid(cut(unknown), "no field of this name")),
        None => Ok(call),
    }
}

/// What headers say beside the input.
pub fn beside(headers: &HeaderMap, mut call: Call) -> Result<Call, OpError> {
    let text = |name: &'static str| match headers.get(name) {
        None => Ok(None),
        Some(value) => value.to_str().map(Some).map_err(|_| OpError::invalid(name, "plain text")),
    };
    if let Some(key) = text(IDEMPOTENCY_HEADER)? {
        let key = IdempotencyKey::parse(key).map_err(|error| OpError::invalid("Idempotency-Key", error.expected))?;
        call.idempotency_key = Some(key);
    }
    if let Some(id) = text(CORRELATION_HEADER)? {
        let id = CorrelationId::parse(id).map_err(|error| OpError::invalid("X-Correlation-Id", error.expected))?;
        call.correlation.task_id = Some(id);
    }
    // Proxies send ids of their own under this name: one that has not the form of seed 004 is none of ours.
    let request_id = headers.get(REQUEST_HEADER).and_then(|value| value.to_str().ok());
    call.correlation.request_id = request_id.and_then(seed_ids::parse_request_id);
    if let Some(acting) = text(ACTOR_HEADER)? {
        let acting = Acting::parse(acting).ok_or_else(|| OpError::invalid("X-Materia-Actor", acting::EXPECTED))?;
        call.acting = Some(acting);
    }
    if text(FOR_HEADER)? == Some(FOR_APPROVAL) {
        call.via = Via::Approval;
    }
    Ok(call)
}

/// Why a body is no JSON that we take.
pub enum BodyRefusal {
    /// It was sent as something else; as what, if that could be read.
    MediaType(Option<String>),
    /// With the status that goes with it.
    Json(StatusCode, OpError),
}

/// What a wrong media type is told, in every voice.
pub const MEDIA_TYPE_MESSAGE: &str = "send `Content-Type: application/json`";
const MEDIA_TYPE_CHARS_MAX: usize = 100;

/// JSON, which is UTF-8 whatever else somebody calls it (RFC 8259 § 8.1).
pub fn is_json(media: &str) -> bool {
    let mut parts = media.split(';').map(str::trim);
    let is_json = parts.next().is_some_and(|media| media.eq_ignore_ascii_case("application/json"));
    is_json
        && parts.all(|part| match part.split_once('=') {
            Some((name, value)) if name.eq_ignore_ascii_case("charset") => {
                value.trim_matches('"').eq_ignore_ascii_case("utf-8")
            }
            Some(_) | None => true,
        })
}

/// A strictly parsed JSON body. Only `application/json` counts: a form of another site cannot send that.
pub fn parse_body(headers: &HeaderMap, body: &Bytes, bytes_max: usize) -> Result<Value, BodyRefusal> {
    let media = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if !media.is_some_and(is_json) {
        return Err(BodyRefusal::MediaType(media.map(|media| media.chars().take(MEDIA_TYPE_CHARS_MAX).collect())));
    }
    strict::parse(body, Limits { bytes_max, ..Limits::DEFAULT }).map_err(|error| {
        let status = match error.problem {
            Problem::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Problem::Syntax { .. }
            | Problem::TooDeep { .. }
            | Problem::TooManyValues { .. }
            | Problem::StringTooLong { .. }
            | Problem::DuplicateKey
            | Problem::IntegerOutOfRange
            | Problem::NulCharacter => StatusCode::BAD_REQUEST,
        };
        BodyRefusal::Json(status, OpError::from(error))
    })
}

/// What a JSON value is, without repeating any of it.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn json_body(headers: &HeaderMap, body: &Bytes, bytes_max: usize) -> Result<Value, Box<Response>> {
    parse_body(headers, body, bytes_max).map_err(|refusal| match refusal {
        BodyRefusal::MediaType(_) => {
            let body = json!({ "error": { "code": "UNSUPPORTED", "message": MEDIA_TYPE_MESSAGE } });
            Box::new(no_call(answer(StatusCode::UNSUPPORTED_MEDIA_TYPE, &body), "MEDIA_TYPE"))
        }
        BodyRefusal::Json(status, error) => {
            let mut response = error_response(&error, &dialect::common(&error));
            *response.status_mut() = status;
            Box::new(no_call(response, "BODY"))
        }
    })
}

/// Marks a refusal of what never became a call.
fn no_call(mut response: Response, reason: &'static str) -> Response {
    response.extensions_mut().insert(NoCall(reason));
    response
}

/// The output with `audit`, and `artifacts` and `metadata` where there are any.
fn respond(reply: Reply) -> Response {
    let call_id = reply.call_id;
    named(body_of(reply), call_id)
}

/// With the id of its call.
pub fn named(mut response: Response, call_id: Uuid) -> Response {
    if let Ok(value) = http::HeaderValue::from_str(&call_id.to_string()) {
        response.headers_mut().insert(CALL_HEADER, value);
    }
    response
}

fn body_of(reply: Reply) -> Response {
    match reply.result {
        Ok(success) => {
            let mut body = success.output;
            if let Value::Object(members) = &mut body {
                members.insert("audit".to_owned(), json!(reply.audit));
                if !success.artifacts.is_empty() {
                    members.insert("artifacts".to_owned(), json!(success.artifacts));
                }
                if !success.metadata.is_empty() {
                    members.entry("metadata").or_insert_with(|| json!(success.metadata));
                }
            }
            answer(StatusCode::OK, &body)
        }
        Err(error) => error_response(&error, &dialect::body(reply.dialect, &error, Some(&reply.audit))),
    }
}
