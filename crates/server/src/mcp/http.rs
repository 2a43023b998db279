//! Streamable HTTP without sessions: one POST, one answer, as JSON or as a stream where the call reports progress.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use contract::actor::{Actor, Credential};
use contract::dialect;
use contract::error::OpError;
use contract::strict::Limits;
use futures::{Stream, StreamExt};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use ops::Family;
use ops::authorise::missing_scope;
use rmcp::model::{
    ClientCapabilities, ClientJsonRpcMessage, ClientRequest, ErrorCode, GetMeta as _, Implementation,
    InitializeRequestParams, JsonRpcMessage, ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::serve_directly_with_ct;
use rmcp::transport::{OneshotTransport, Transport};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::envelope::{self, Envelope, EnvelopeError, METHOD_NOT_FOUND};
use super::exchange::{Exchange, Waiting};
use super::handler::Handler;
use super::headers::{self, Era, STATELESS_SINCE};
use super::idempotency;
use super::lifted::Lifted;
use super::session;
use crate::edge::{Denied, NoCall, StreamPlace, Streams, answer, closing, error_response};
use crate::owner::House;
use crate::rest::{MEDIA_TYPE_MESSAGE, is_json};

const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);
/// What most answers fit into, without being copied as they grow.
const ANSWER_BYTES_MOSTLY: usize = 8 * 1024;

/// One MCP endpoint.
pub struct Endpoint<F> {
    pub house: Arc<House>,
    /// Makes the handler that answers from the one over the table.
    pub front: F,
    pub family: Option<Family>,
    pub body_bytes_max: usize,
    pub stop: CancellationToken,
    /// Shared by the endpoints of a server.
    pub waiting: Arc<Waiting>,
    /// Shared by them too.
    pub streams: Arc<Streams>,
}

pub async fn not_allowed() -> Response {
    let mut response = answer(
        StatusCode::METHOD_NOT_ALLOWED,
        &json!({ "error": { "code": "METHOD_NOT_ALLOWED", "message": "there are no sessions and no streams to open: POST" } }),
    );
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
    response
}

pub async fn post<F: Fn(Handler) -> H, H: ServerHandler>(
    State(endpoint): State<Arc<Endpoint<F>>>,
    Extension(actor): Extension<Actor>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    match serve(&endpoint, actor, &headers, &body).await {
        Ok(response) => response,
        Err(error) if error.code == METHOD_NOT_FOUND => answer(StatusCode::NOT_FOUND, &error.to_json()),
        Err(error) => {
            let mut response = answer(StatusCode::BAD_REQUEST, &error.to_json());
            response.extensions_mut().insert(NoCall("MESSAGE"));
            response
        }
    }
}

async fn serve<F: Fn(Handler) -> H, H: ServerHandler>(
    endpoint: &Endpoint<F>,
    actor: Actor,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<Response, EnvelopeError> {
    if let Some(refused) = check_media(headers) {
        return Ok(refused);
    }
    let limits = Limits { bytes_max: endpoint.body_bytes_max, ..Limits::DEFAULT };
    let envelope = envelope::parse(body, limits)?;
    let schema =
        |name: &str| endpoint.house.table().find_in(name, endpoint.family).map(|tool| Arc::clone(&tool.input_schema));
    let era = headers::check(headers, &envelope, schema)?;
    let refuse = |message: &str| EnvelopeError::new(Value::Null, -32600, format!("Invalid Request: {message}"));
    let denied = denied(endpoint, &actor, &envelope);
    let session = match envelope.method() {
        Some("initialize") => session::open(&envelope.value),
        Some(_) | None => None,
    };
    let id = envelope.id();
    match envelope.message {
        JsonRpcMessage::Request(mut request) => {
            let invalid = |message: String| EnvelopeError::new(id, -32602, format!("Invalid params: {message}"));
            if let Err(message) =
                check_metadata(&request, &era).and_then(|()| idempotency::take_over(headers, &mut request.request))
            {
                return Err(invalid(message));
            }
            let actor = Arc::new(actor);
            let mut handler = Handler::new(Arc::clone(&endpoint.house), Arc::clone(&actor), endpoint.family);
            handler.listens_for = Some(endpoint.streams.lifetime);
            let (front, peer) = ((endpoint.front)(handler), peer(&era, headers));
            let mut response = dispatch(endpoint, &actor, front, request, &era, peer).await;
            if let Some(session) = session {
                response.headers_mut().insert(session::SESSION_HEADER, session);
            }
            if let Some(denied) = denied {
                *response.status_mut() = StatusCode::FORBIDDEN;
                response.extensions_mut().insert(denied);
            }
            Ok(response)
        }
        // Nothing outlives a request here, so there is nothing to notify.
        JsonRpcMessage::Notification(_) => {
            let mut response = StatusCode::ACCEPTED.into_response();
            // A call without an id asks for no answer, and is not made either.
            if envelope.value.get("method").and_then(Value::as_str).is_some_and(|it| !it.starts_with("notifications/"))
            {
                response.extensions_mut().insert(NoCall("MESSAGE"));
            }
            Ok(response)
        }
        message @ (JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)) => {
            if endpoint.waiting.deliver(&actor, message) {
                Ok(StatusCode::ACCEPTED.into_response())
            } else {
                Err(refuse("no request of ours is waiting for a response"))
            }
        }
    }
}

/// Whoever speaks a revision without a handshake says with every request what the handshake would have said.
fn check_metadata(request: &Request, era: &Era) -> Result<(), String> {
    if !era.is_stateless || era.version.as_str() < STATELESS_SINCE {
        return Ok(());
    }
    let missing = request.request.get_meta().missing_required_keys(&ProtocolVersion::V_2026_07_28);
    if missing.is_empty() { Ok(()) } else { Err(format!("`_meta` lacks {}", missing.join(", "))) }
}

/// A token that lacks the scope of the tool it calls is answered 403, so that its client can ask for a better one. The
/// door refuses the call as any other and records it; this only decides the status.
fn denied<F>(endpoint: &Endpoint<F>, actor: &Actor, envelope: &Envelope) -> Option<Denied> {
    let is_call = envelope.method() == Some("tools/call");
    if !is_call || !matches!(actor.credential, Credential::Token { .. }) {
        return None;
    }
    let name = envelope.value.get("params")?.get("name")?.as_str()?;
    let tool = endpoint.house.table().find_in(name, endpoint.family).filter(|tool| tool.entry.is_tool)?;
    let scope = missing_scope(tool, actor)?;
    Some(Denied { scope: Some(scope.to_string()) })
}

/// Clients must take both forms of answer and send JSON.
fn check_media(headers: &HeaderMap) -> Option<Response> {
    let value = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).unwrap_or_default();
    let refused = |status: StatusCode, message: &str| {
        Some(answer(status, &json!({ "error": { "code": "UNSUPPORTED", "message": message } })))
    };
    if !is_json(value(header::CONTENT_TYPE)) {
        return refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, MEDIA_TYPE_MESSAGE);
    }
    let accept = value(header::ACCEPT);
    let takes = |media: &str| accept.contains(media) || accept.contains("*/*");
    if !(takes("application/json") && takes("text/event-stream")) {
        return refused(StatusCode::NOT_ACCEPTABLE, "send `Accept: application/json, text/event-stream`");
    }
    None
}

type Request = rmcp::model::JsonRpcRequest<rmcp::model::ClientRequest>;

/// Who asked, how they are to be served, and the place of a stream that they asked for.
struct Asked<'a> {
    id: RequestId,
    actor: &'a Actor,
    era: &'a Era,
    lacks_metadata: bool,
    peer: InitializeRequestParams,
    place: Option<StreamPlace>,
}

async fn dispatch<F, H: ServerHandler>(
    endpoint: &Endpoint<F>,
    actor: &Actor,
    handler: H,
    request: Request,
    era: &Era,
    peer: InitializeRequestParams,
) -> Response {
    let id = request.id.clone();
    let lacks_metadata = era.is_stateless
        && !request.request.get_meta().missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty();
    // The one request that is answered with a stream whatever comes of it. Who finds no place is told before it begins.
    let is_subscription = matches!(request.request, ClientRequest::SubscriptionsListenRequest(_));
    let place = match is_subscription.then(|| endpoint.streams.enter(actor)).transpose() {
        Ok(place) => place,
        Err(error) => return no_place(id.into_json_value(), &error),
    };
    let asked = Asked { id: id.clone(), actor, era, lacks_metadata, peer, place };
    let (transport, messages) = OneshotTransport::<RoleServer>::new(ClientJsonRpcMessage::Request(request));
    let answered = if asked.era.is_stateless {
        answered(endpoint, asked, handler, transport, messages).await
    } else {
        let exchange = Exchange::new(transport, asked.actor, Arc::clone(&endpoint.waiting));
        answered(endpoint, asked, handler, exchange, messages).await
    };
    answered.unwrap_or_else(|| {
        let body =
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32000, "message": "the server is stopping" } });
        answer(StatusCode::SERVICE_UNAVAILABLE, &body)
    })
}

/// Runs the service for one request. It ends with this future or with the stream: a client that hangs up stops its call.
/// There is no answer when the server stops.
async fn answered<F, H: ServerHandler, T: Transport<RoleServer> + 'static>(
    endpoint: &Endpoint<F>,
    asked: Asked<'_>,
    handler: H,
    transport: T,
    mut messages: mpsc::Receiver<ServerJsonRpcMessage>,
) -> Option<Response> {
    let cancel = CancellationToken::new();
    let service = serve_directly_with_ct(Lifted(handler), transport, Some(asked.peer), cancel.clone());
    let mut place = asked.place;
    loop {
        let message = tokio::select! {
            message = messages.recv() => message?,
            () = endpoint.stop.cancelled() => return None,
        };
        if matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)) {
            return Some(single(&message, status(&message, asked.era, asked.lacks_metadata)));
        }
        match place.take().map_or_else(|| endpoint.streams.enter(asked.actor), Ok) {
            Ok(place) => {
                tokio::spawn(service.waiting());
                return Some(stream(message, messages, (cancel.drop_guard(), place)));
            }
            // A client can do without a report of progress; the answer still comes, by itself.
            Err(_) if matches!(message, JsonRpcMessage::Notification(_)) => {}
            Err(error) => return Some(no_place(asked.id.into_json_value(), &error)),
        }
    }
}

/// A stream for which there is no place.
fn no_place(id: Value, error: &OpError) -> Response {
    let rpc = dialect::workflow_rpc(error);
    let refused = EnvelopeError::new(id, rpc.code, rpc.message).with_data(rpc.data);
    let mut response = closing(error_response(error, &refused.to_json()));
    response.extensions_mut().insert(NoCall("TOO_MANY_STREAMS"));
    response
}

/// What the service knows of the client. Without sessions this is what the request itself says: by its metadata, or by the
/// id that a client of the handshake was given.
fn peer(era: &Era, headers: &HeaderMap) -> InitializeRequestParams {
    let capabilities = if era.is_stateless { ClientCapabilities::default() } else { session::capabilities(headers) };
    let mut peer = InitializeRequestParams::new(capabilities, Implementation::default());
    if let Ok(version) = serde_json::from_value(Value::from(era.version.clone())) {
        peer.protocol_version = version;
    }
    peer
}

/// Revisions with a handshake carry errors in a 200; the later ones, and clients that name none, get the status.
fn status(message: &ServerJsonRpcMessage, era: &Era, lacks_metadata: bool) -> StatusCode {
    let JsonRpcMessage::Error(error) = message else { return StatusCode::OK };
    if !era.is_stateless && !era.is_assumed {
        return StatusCode::OK;
    }
    match error.error.code {
        ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
        | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
        | ErrorCode::HEADER_MISMATCH => StatusCode::BAD_REQUEST,
        ErrorCode::INVALID_PARAMS if lacks_metadata => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

fn single(message: &ServerJsonRpcMessage, status: StatusCode) -> Response {
    let mut body = Vec::with_capacity(ANSWER_BYTES_MOSTLY);
    match serde_json::to_writer(&mut body, message) {
        Ok(()) => (status, [(header::CONTENT_TYPE, "application/json")], body).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn stream(
    first: ServerJsonRpcMessage,
    rest: mpsc::Receiver<ServerJsonRpcMessage>,
    (guard, place): (DropGuard, StreamPlace),
) -> Response {
    let rest = Guarded { rest, guard: Some(guard), _place: place };
    let messages = futures::stream::once(async move { first }).chain(rest);
    let events = messages.map(|message| {
        let text = serde_json::to_string(&message).unwrap_or_default();
        Ok::<Event, Infallible>(Event::default().event("message").data(text))
    });
    let mut response = Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE_EVERY)).into_response();
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// The rest of a call's messages; dropping it before the end cancels the call.
struct Guarded {
    rest: mpsc::Receiver<ServerJsonRpcMessage>,
    guard: Option<DropGuard>,
    _place: StreamPlace,
}

impl Stream for Guarded {
    type Item = ServerJsonRpcMessage;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ServerJsonRpcMessage>> {
        let message = self.rest.poll_recv(cx);
        if matches!(&message, Poll::Ready(None | Some(JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_))))
            && let Some(guard) = self.guard.take()
        {
            guard.disarm();
        }
        message
    }
}
