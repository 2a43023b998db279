//! Traces over OTLP, where the environment names a collector: one span per call, with names and numbers and no content.
//!
//! The standard variables hold: `OTEL_EXPORTER_OTLP_ENDPOINT`, `…_HEADERS`, `…_TIMEOUT`, `OTEL_SERVICE_NAME`,
//! `OTEL_TRACES_SAMPLER` and their kin.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::Full;
use opentelemetry::trace::{
    Span as _, SpanContext, SpanId, SpanKind, Status, TraceContextExt as _, TraceFlags, TraceId, TraceState,
    Tracer as _, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};

use crate::outbound::{Limits, Outbound};

const LIMITS: Limits = Limits { timeout: Duration::from_secs(10), bytes_max: 64 * 1024 };
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];

static TRACER: OnceLock<SdkTracer> = OnceLock::new();

tokio::task_local! {
    /// The caller's span, as its request named it.
    static PARENT: Option<SpanContext>;
}

/// Sends what is left when told to stop.
pub struct Traces(Option<SdkTracerProvider>);

/// Starts sending, if the environment says where to.
pub fn start() -> Result<Traces, ExporterBuildError> {
    let is_set = |name: &&str| std::env::var(name).is_ok_and(|value| !value.is_empty());
    if !ENDPOINTS.iter().any(is_set) {
        return Ok(Traces(None));
    }
    let client = Client { runtime: tokio::runtime::Handle::current(), outbound: Arc::new(OnceLock::new()) };
    let exporter = SpanExporter::builder().with_http().with_http_client(client).build()?;
    let mut resource = Resource::builder().with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    if std::env::var_os("OTEL_SERVICE_NAME").is_none() {
        resource = resource.with_service_name("materia");
    }
    let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build()).build();
    TRACER.get_or_init(|| provider.tracer("materia"));
    Ok(Traces(Some(provider)))
}

impl Traces {
    /// Sends what is queued. A collector that is away loses it; nothing else does.
    pub async fn stop(self) {
        let Some(provider) = self.0 else { return };
        let stopped = tokio::task::spawn_blocking(move || provider.shutdown()).await;
        if !matches!(stopped, Ok(Ok(()))) {
            tracing::warn!("The last traces could not be sent");
        }
    }
}

/// One call, as the collector gets to see it.
pub struct CallSpan {
    pub operation: &'static str,
    pub call_id: uuid::Uuid,
    /// `ok`, or the code of the error.
    pub code: &'static str,
    pub is_our_fault: bool,
    pub took: Duration,
    pub side: Side,
}

/// Whether this process carried the call out, or handed it to the one that did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Carried,
    Forwarded,
}

/// Hands a finished call to the exporter. Costs nothing where nobody collects.
pub fn note(call: &CallSpan) {
    let Some(tracer) = TRACER.get() else { return };
    let ended = SystemTime::now();
    let attributes = vec![
        KeyValue::new("materia.operation", call.operation),
        KeyValue::new("materia.call_id", call.call_id.to_string()),
        KeyValue::new("materia.code", call.code),
    ];
    let builder = tracer
        .span_builder(call.operation)
        .with_kind(match call.side {
            Side::Carried => SpanKind::Server,
            Side::Forwarded => SpanKind::Client,
        })
        .with_start_time(ended.checked_sub(call.took).unwrap_or(ended))
        .with_attributes(attributes);
    let parent = PARENT.try_with(Clone::clone).ok().flatten();
    let context = parent.map_or_else(Context::new, |parent| Context::new().with_remote_span_context(parent));
    let mut span = tracer.build_with_context(builder, &context);
    if call.is_our_fault {
        span.set_status(Status::error(call.code));
    }
    span.end_with_timestamp(ended);
}

/// The span that a caller named in `traceparent` (W3C Trace Context), where somebody collects.
pub fn parent(headers: &HeaderMap) -> Option<SpanContext> {
    TRACER.get()?;
    parse_traceparent(headers.get("traceparent")?.to_str().ok()?)
}

/// Runs a request under its caller's span.
pub async fn within<T>(parent: Option<SpanContext>, request: impl Future<Output = T>) -> T {
    PARENT.scope(parent, request).await
}

/// `00-TRACE-SPAN-FLAGS`; anything else is as if it were absent, as the standard wants it.
fn parse_traceparent(text: &str) -> Option<SpanContext> {
    let mut parts = text.split('-');
    let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_hex = |part: &str, n: usize| {
        part.len() == n && part.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    let is_valid = is_hex(version, 2) && is_hex(trace, 32) && is_hex(span, 16) && is_hex(flags, 2) && version != "ff";
    if !is_valid || (version == "00" && parts.next().is_some()) {
        return None;
    }
    let flags = TraceFlags::new(u8::from_str_radix(flags, 16).ok()? & 1);
    let (trace, span) = (TraceId::from_hex(trace).ok()?, SpanId::from_hex(span).ok()?);
    let context = SpanContext::new(trace, span, flags, true, TraceState::default());
    context.is_valid().then_some(context)
}

/// The exporter works on a thread of its own; requests are made where the runtime is.
#[derive(Debug, Clone)]
struct Client {
    runtime: tokio::runtime::Handle,
    outbound: Arc<OnceLock<Outbound>>,
}

#[async_trait::async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        // The exporter has one address.
        let outbound = match self.outbound.get() {
            Some(outbound) => outbound.clone(),
            None => {
                let made = Outbound::new(&request.uri().to_string(), LIMITS)?;
                self.outbound.get_or_init(|| made).clone()
            }
        };
        let request = request.map(Full::new);
        let answer = self.runtime.spawn(async move { outbound.send(request).await }).await??;
        let mut response = Response::new(answer.body);
        *response.status_mut() = answer.status;
        *response.headers_mut() = answer.headers;
        Ok(response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callers_span_is_read_and_anything_else_is_as_if_absent() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let context = parse_traceparent(good).unwrap();
        assert_eq!(context.trace_id().to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(context.span_id().to_string(), "00f067aa0ba902b7");
        assert!(context.is_sampled() && context.is_remote());
        for bad in [
            "",
            "00",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
        ] {
            assert!(parse_traceparent(bad).is_none(), "{bad}");
        }
    }
}
