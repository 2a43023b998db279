//! Logs on standard error, as JSON lines or for people, metrics in the Prometheus text format, traces over OTLP.

mod described;
mod text;
pub mod traces;

use std::io::IsTerminal as _;
use std::sync::{LazyLock, OnceLock};

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::EnvFilter;

use crate::settings::LogFormat;

static METRICS: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// Starts logging and counting for the process. A second call changes nothing.
pub fn start(filter: &str, format: LogFormat) {
    let filter = if format.is_text() { text::filter(filter) } else { filter };
    // The protocol library would repeat what clients sent; the door already logs every call.
    let filter = EnvFilter::try_new(format!("{filter},rmcp=off")).unwrap_or_else(|_| EnvFilter::new("info,rmcp=off"));
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| Lines(std::io::stderr()));
    // Fails only when a subscriber is there already, as in tests.
    drop(if format.is_text() {
        let has_colours =
            std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|no| no.is_empty());
        logs.with_ansi(has_colours).event_format(text::Text).try_init()
    } else {
        let logs = logs.json().flatten_event(true).with_current_span(false).with_span_list(false).with_target(false);
        logs.try_init()
    });
    // The default hook prints the message as it is, which may hold what no log may, on a line that is no JSON.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        tracing::error!(place, "A panic was caught");
    }));
    start_metrics();
}

/// Fields whose text is JSON and stands in the log as such; the library only writes plain values.
const STRUCTURED: [&str; 6] =
    ["artifact_ids", "generators", "id_mapping", "reserved_ids", "sub_artifacts_detected", "task_ids"];
/// How such a field begins in a line. Every line is searched for them.
static STRUCTURED_STARTS: LazyLock<[String; STRUCTURED.len()]> =
    LazyLock::new(|| STRUCTURED.map(|name| format!("\"{name}\":\"")));

/// Standard error, one whole line at a time.
struct Lines(std::io::Stderr);

impl std::io::Write for Lines {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        let written = match std::str::from_utf8(line).ok().and_then(structured) {
            Some(text) => self.0.write_all(text.as_bytes()),
            None => self.0.write_all(line),
        };
        // A log that cannot be written (a full disk, a reader that left) is no reason to stop serving.
        drop(written);
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        drop(self.0.flush());
        Ok(())
    }
}

/// The line with its structured fields as JSON; nothing where it has none.
fn structured(line: &str) -> Option<String> {
    if !STRUCTURED_STARTS.iter().any(|start| line.contains(start)) {
        return None;
    }
    let mut members: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).ok()?;
    for name in STRUCTURED {
        let parsed = members.get(name).and_then(|value| serde_json::from_str(value.as_str()?).ok());
        if let Some(parsed) = parsed {
            members.insert(name.to_owned(), parsed);
        }
    }
    serde_json::to_string(&members).ok().map(|text| format!("{text}\n"))
}

pub fn start_metrics() {
    METRICS.get_or_init(|| {
        let builder = PrometheusBuilder::new()
            .set_buckets(&[0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0])
            .ok()?;
        let recorder = builder.install_recorder().ok()?;
        described::describe();
        Some(recorder)
    });
}

/// The metrics page. Names and numbers only, never what was asked.
pub fn render_metrics() -> String {
    METRICS.get().and_then(Option::as_ref).map(PrometheusHandle::render).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_stands_in_the_log_as_an_object() {
        let line =
            r#"{"event":"x","id_mapping":"{\"HLS-AAA\":\"HLS-012\"}","task_ids":"[\"TASK-001\"]","tasks_created":1}"#;
        let expected = r#"{"event":"x","id_mapping":{"HLS-AAA":"HLS-012"},"task_ids":["TASK-001"],"tasks_created":1}"#;
        assert_eq!(structured(line).as_deref(), Some(format!("{expected}\n").as_str()));
        assert_eq!(structured(r#"{"event":"x"}"#), None);
    }
}
