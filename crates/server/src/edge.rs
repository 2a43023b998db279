//! What stands before every HTTP handler: host and origin, sizes and times, who it is and how often they come.

pub mod body;
mod failures;
mod hosts;
mod limiter;
mod places;
mod streams;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use contract::actor::Credential;
use contract::dialect;
use contract::error::{Kind, OpError};
use contract::id::OrganisationId;
use http::{HeaderValue, Method, StatusCode, header};
use ops::authorise::SCOPE_DETAIL;
use ops::refusals::Shown;
use serde_json::{Value, json};
use tower::ServiceBuilder;

pub use failures::network;
pub use hosts::{Hosts, Surface};
pub use limiter::Limiter;
pub use places::Places;
pub use streams::{StreamPlace, Streams};

use crate::auth::{Authenticator, Refusal, Sessions};
use crate::oauth::metadata::Challenge;
use crate::owner::House;
use crate::telemetry::traces;

/// In whose words the edge refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voice {
    House,
    /// The services of seed 001 on their own ports.
    Service,
}

pub struct Edge {
    pub house: Arc<House>,
    /// In whose record a request of somebody unknown is noted.
    pub organisation_id: OrganisationId,
    pub authenticator: Arc<Authenticator>,
    pub challenge: Arc<Challenge>,
    pub hosts: Hosts,
    pub limiter: Arc<Limiter>,
    pub body_bytes_max: usize,
    pub body_timeout: Duration,
    pub voice: Voice,
}

impl Edge {
    /// Puts the whole edge before `protected` and all but the authentication before `open`.
    pub fn wrap(self: Arc<Edge>, open: Router, protected: Router) -> Router {
        let gate = from_fn_with_state(Arc::clone(&self), admit);
        let (of_open, of_protected) = match self.voice {
            Voice::House => (Surface::Pages, Surface::Calls),
            Voice::Service => (Surface::Service, Surface::Service),
        };
        let before = |surface| from_fn_with_state(Shield { edge: Arc::clone(&self), surface }, shield);
        // `admit` has read the body within the limit of the settings; the framework's own is lower than a document.
        // Together they are one layer: each one of the router's costs every request two boxes.
        let whole = ServiceBuilder::new().layer(before(of_protected)).layer(gate).layer(DefaultBodyLimit::disable());
        open.layer(before(of_open)).merge(protected.layer(whole))
    }

    fn note(&self, request: &Request, reason: &'static str) {
        self.note_of(request, reason, Shown::Nothing);
    }

    fn note_of(&self, request: &Request, reason: &'static str, shown: Shown) {
        let source = address(request).map_or_else(|| "unknown".to_owned(), |address| address.to_string());
        self.house.refusals().note(&self.organisation_id, &source, reason, shown);
    }

    fn refuse(&self, status: StatusCode, message: &str) -> Response {
        let body = match self.voice {
            Voice::House => json!({ "error": { "code": code(status), "message": message } }),
            Voice::Service => {
                json!({ "success": false, "status_code": status.as_u16(), "detail": message, "error": code(status) })
            }
        };
        answer(status, &body)
    }

    /// An error of an operation, in the voice of this port.
    pub fn error(&self, error: &OpError) -> Response {
        match self.voice {
            Voice::House => error_response(error, &dialect::common(error)),
            Voice::Service => error_response(error, &dialect::service(error)),
        }
    }
}

fn code(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "UNAUTHENTICATED",
        StatusCode::FORBIDDEN => "DENIED",
        StatusCode::NOT_FOUND => "NOT_FOUND",
        StatusCode::METHOD_NOT_ALLOWED => "METHOD_NOT_ALLOWED",
        StatusCode::PAYLOAD_TOO_LARGE => "TOO_LARGE",
        StatusCode::REQUEST_TIMEOUT => "TIMEOUT",
        StatusCode::UNSUPPORTED_MEDIA_TYPE | StatusCode::NOT_IMPLEMENTED => "UNSUPPORTED",
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => "BUSY",
        _ => "INVALID_ARG",
    }
}

pub fn answer(status: StatusCode, body: &Value) -> Response {
    answer_text(status, body.to_string())
}

/// As [`answer`], with JSON that is written already.
pub fn answer_text(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// A failed call as HTTP: its status, and when to come back where that is known.
pub fn error_response(error: &OpError, body: &Value) -> Response {
    let status = StatusCode::from_u16(dialect::http_status(error)).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = answer(status, body);
    if let Some(ms) = error.details.retry_after_ms {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(ms.div_ceil(1_000).max(1)));
    }
    if error.kind == Kind::Refused {
        let scope = error.details.more.get(SCOPE_DETAIL).and_then(Value::as_str);
        response.extensions_mut().insert(Denied { scope: scope.map(str::to_owned) });
    }
    response
}

/// Beside a 403: the caller may not, and which scope would help. A holder of a token is then told where to get it.
#[derive(Debug, Clone)]
pub struct Denied {
    pub scope: Option<String>,
}

/// Beside a refusal of what never became a call, and so has no event of its own.
#[derive(Debug, Clone, Copy)]
pub struct NoCall(pub &'static str);

/// Headers that would be read once and could be meant twice.
const SINGLE: [&str; 6] =
    ["authorization", "content-type", "idempotency-key", "x-correlation-id", "x-materia-for", "x-materia-actor"];

#[derive(Clone)]
struct Shield {
    edge: Arc<Edge>,
    surface: Surface,
}

/// Checks that need no identity.
async fn shield(State(Shield { edge, surface }): State<Shield>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    if let Err(problem) = edge.hosts.check(surface, request.method(), request.uri(), headers) {
        edge.note(&request, problem.code());
        return edge.refuse(problem.status(), problem.message());
    }
    if let Some(name) = SINGLE.iter().find(|name| headers.get_all(**name).iter().nth(1).is_some()) {
        edge.note(&request, "HEADER_TWICE");
        return edge.refuse(StatusCode::BAD_REQUEST, &format!("the header `{name}` must stand once"));
    }
    if headers.contains_key(header::CONTENT_ENCODING) {
        edge.note(&request, "CONTENT_ENCODING");
        return edge.refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send the body without a content encoding");
    }
    if headers.get(header::TRANSFER_ENCODING).is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"chunked"))
    {
        edge.note(&request, "TRANSFER_ENCODING");
        return closing(edge.refuse(StatusCode::NOT_IMPLEMENTED, "send the body with its length, or chunked alone"));
    }
    if !is_text(request.uri().path()) {
        edge.note(&request, "PATH");
        return edge.error(&OpError::invalid("path", "UTF-8 behind its percent signs"));
    }
    let _permit = match edge.limiter.enter() {
        Some(permit) => permit,
        None => {
            edge.note(&request, "OVERLOADED");
            return edge.error(&OpError::busy("the server has its hands full, try again", 1_000));
        }
    };
    let is_chunked = headers.contains_key(header::TRANSFER_ENCODING);
    let mut response = next.run(request).await;
    if response.status() == StatusCode::METHOD_NOT_ALLOWED && !response.headers().contains_key(header::CONTENT_TYPE) {
        // The router answers these itself, without a word.
        let allow = response.headers_mut().remove(header::ALLOW);
        response =
            edge.refuse(StatusCode::METHOD_NOT_ALLOWED, "this address knows other methods; see the header Allow");
        response.headers_mut().extend(allow.map(|allow| (header::ALLOW, allow)));
    }
    let headers = response.headers_mut();
    if is_chunked {
        // `listen::head` stops watching at a chunked body, so nothing may follow it.
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Whether a path is text. The framework refuses what is none, in words of its own.
fn is_text(path: &str) -> bool {
    percent_encoding::percent_decode_str(path).decode_utf8().is_ok()
}

/// Addresses that only programs call, with a token or key of theirs.
fn is_for_programs(path: &str) -> bool {
    path == "/tools" || path == "/mcp" || path.starts_with("/mcp/")
}

/// Finds out who it is, keeps them to their rate, and only then reads what they send.
async fn admit(State(edge): State<Arc<Edge>>, mut request: Request, next: Next) -> Response {
    let address = address(&request);
    let sessions = match edge.voice {
        Voice::House if !is_for_programs(request.uri().path()) => Sessions::Count,
        // Browsers send a cookie to every port of a host, and no page of ours calls the services, `/tools` or MCP.
        Voice::House | Voice::Service => Sessions::Ignored,
    };
    let caller = match edge.authenticator.identify(request.headers(), sessions).await {
        Ok(caller) => caller,
        Err(refusal) => {
            // Only who was not recognised is kept to the limit: others at the same address may hold tokens that count.
            if refusal != Refusal::Unavailable
                && let Err(error) = edge.limiter.count_failure(address)
            {
                edge.note(&request, "TOO_MANY_FAILURES");
                return closing(edge.error(&error));
            }
            edge.note_of(&request, refusal.code(), edge.authenticator.shown(request.headers(), refusal));
            return unauthenticated(&edge, refusal);
        }
    };
    let _permit = match edge.limiter.admit(&caller.actor) {
        Ok(permit) => permit,
        Err(error) => {
            edge.house.refusals().note_of(&caller.actor, "RATE_LIMITED");
            let refused = edge.error(&error);
            return if may_have_body(&request) { closing(refused) } else { refused };
        }
    };
    if may_have_body(&request) {
        let (parts, body) = request.into_parts();
        let bytes = match body::read(body, edge.body_bytes_max, edge.body_timeout).await {
            Ok(bytes) => bytes,
            Err(problem) => {
                edge.house.refusals().note_of(&caller.actor, "BODY");
                return closing(edge.refuse(problem.status(), &problem.to_string()));
            }
        };
        request = Request::from_parts(parts, Body::from(bytes));
    }
    let has_token = matches!(caller.actor.credential, Credential::Token { .. });
    let actor = caller.actor.clone();
    request.extensions_mut().insert(caller.actor.clone());
    request.extensions_mut().insert(caller);
    let parent = traces::parent(request.headers());
    let mut response = traces::within(parent, next.run(request)).await;
    if let Some(NoCall(reason)) = response.extensions().get() {
        edge.house.refusals().note_of(&actor, reason);
    }
    if let (true, Some(denied)) = (has_token, response.extensions().get::<Denied>()) {
        let challenge = edge.challenge.insufficient(denied.scope.as_deref());
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

fn may_have_body(request: &Request) -> bool {
    matches!(*request.method(), Method::POST | Method::PUT | Method::PATCH | Method::DELETE)
}

/// What is left of an unread body must not be taken for the next request.
pub fn closing(mut response: Response) -> Response {
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

fn unauthenticated(edge: &Edge, refusal: Refusal) -> Response {
    if refusal == Refusal::Unavailable {
        return closing(edge.error(&OpError::busy(refusal.message(), 1_000)));
    }
    let mut response = edge.refuse(StatusCode::UNAUTHORIZED, refusal.message());
    response.headers_mut().insert(header::WWW_AUTHENTICATE, edge.challenge.unauthenticated(refusal));
    closing(response)
}

/// Where a request comes from.
fn address(request: &Request) -> Option<IpAddr> {
    request.extensions().get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| address.ip())
}
