//! Logs as JSON lines on standard error, metrics in the Prometheus text format, traces over OTLP.

pub mod traces;

use std::sync::OnceLock;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::EnvFilter;

static METRICS: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// Starts logging and counting for the process. A second call changes nothing.
pub fn start(filter: &str) {
    // The protocol library would repeat what clients sent; the door already logs every call.
    let filter = EnvFilter::try_new(format!("{filter},rmcp=off")).unwrap_or_else(|_| EnvFilter::new("info,rmcp=off"));
    let logs = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_target(false)
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    // Fails only when a subscriber is there already, as in tests.
    drop(logs.try_init());
    // The default hook prints the message as it is, which may hold what no log may, on a line that is no JSON.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        tracing::error!(place, "A panic was caught");
    }));
    start_metrics();
}

pub fn start_metrics() {
    METRICS.get_or_init(|| {
        let builder = PrometheusBuilder::new()
            .set_buckets(&[0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0])
            .ok()?;
        builder.install_recorder().ok()
    });
}

/// The metrics page. Names and numbers only, never what was asked.
pub fn render_metrics() -> String {
    METRICS.get().and_then(Option::as_ref).map(PrometheusHandle::render).unwrap_or_default()
}
