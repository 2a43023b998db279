//! What operators see: metrics and the dashboard over them, traces at a real collector, slow calls in the log.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use bytes::Bytes;
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use serde_json::{Value, json};

use crate::house::{Process, append, materia};
use crate::ids;
use crate::ledger::lab::{Log, Witness, until};

const DASHBOARD: &str = include_str!("../../../../deploy/grafana/materia.json");

/// Every `materia_…` in the expressions.
fn names(text: &str) -> BTreeSet<String> {
    let is_part = |char: char| char.is_ascii_lowercase() || char == '_';
    let starts = text.match_indices("materia_").map(|(at, _)| &text[at..]);
    starts.map(|rest| rest.chars().take_while(|char| is_part(*char)).collect()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_metric_of_the_dashboard_is_one_that_the_server_exposes() {
    let dashboard: Value = serde_json::from_str(DASHBOARD).expect("the dashboard is JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().expect("targets"));
    let mut wanted: BTreeSet<String> =
        targets.flat_map(|target| names(target["expr"].as_str().expect("an expression"))).collect();
    wanted.extend(names(&dashboard["templating"].to_string()));
    assert!(wanted.len() >= 8, "{wanted:?}");

    let folder = testkit::temp_dir();
    let witness = Witness::start(&folder.path().join("witness"));
    let log = Log { data: folder.path().join("data"), database_url: None };
    log.take_ids(1);
    witness.trust(&log.key());
    log.set_witness(&witness);
    let settings = log.data.join("materia.toml");
    let text = std::fs::read_to_string(&settings).expect("settings");
    std::fs::write(&settings, format!("slow_call_ms = 1\n{text}")).expect("settings can be written");
    let serving = log.serve();
    let exposed = |page: &str| {
        let lines = page.lines().filter(|line| !line.starts_with('#'));
        lines.filter_map(|line| line.split(['{', ' ']).next().map(str::to_owned)).collect::<BTreeSet<String>>()
    };
    let page = async || {
        ids::next(&ids::http_client(), &serving.http, "seen", None).await.expect("an id");
        serving.get("/metrics").await
    };
    until("all of them show", async || wanted.is_subset(&exposed(&page().await))).await;
    let page = page().await;
    let of_kind = |kind: &str| -> BTreeSet<String> {
        let lines = page.lines().filter_map(|line| line.strip_prefix(kind));
        lines.filter_map(|line| line.split(' ').next().map(str::to_owned)).collect()
    };
    assert_eq!(of_kind("# TYPE "), of_kind("# HELP "), "a metric that says what it counts is worth more");
}

#[derive(Clone, Default)]
struct Collector {
    received: Arc<Mutex<Vec<(HeaderMap, ExportTraceServiceRequest)>>>,
}

impl Collector {
    /// OTLP over HTTP, as a collector speaks it.
    async fn start(&self) -> String {
        let router = Router::new().route("/v1/traces", post(collect)).with_state(self.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{address}")
    }

    fn spans(&self) -> Vec<Span> {
        let received = self.received.lock().expect("no panic");
        let resources = received.iter().flat_map(|(_, request)| request.resource_spans.clone());
        resources.flat_map(|resource| resource.scope_spans).flat_map(|scope| scope.spans).collect()
    }
}

async fn collect(State(collector): State<Collector>, headers: HeaderMap, body: Bytes) -> Vec<u8> {
    let request = ExportTraceServiceRequest::decode(body).expect("OTLP in protobuf");
    collector.received.lock().expect("no panic").push((headers, request));
    ExportTraceServiceResponse::default().encode_to_vec()
}

fn attribute(span: &Span, name: &str) -> Option<String> {
    let found = span.attributes.iter().find(|attribute| attribute.key == name)?;
    match found.value.as_ref()?.value.as_ref()? {
        Any::StringValue(text) => Some(text.clone()),
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_gets_one_span_per_call_and_no_content() {
    let collector = Collector::default();
    let endpoint = collector.start().await;
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let mut command = materia();
    command.args(["serve", "--json", "--no-auth", "--data"]).arg(&data);
    for listener in ["--listen", "--tasks-listen", "--ids-listen", "--grpc-listen"] {
        command.args([listener, "127.0.0.1:0"]);
    }
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint).env("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=ward-7");
    command.env("OTEL_BSP_SCHEDULE_DELAY", "100").env("MATERIA_SLOW_CALL_MS", "1");
    let log = data.with_extension("log");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(append(&log));
    let mut process = Process(command.spawn().expect("`materia` starts"));
    let line = process.lines().recv_timeout(Duration::from_secs(30)).expect("the server gets ready");
    let ready: Value = serde_json::from_str(&line).expect("the ready line is JSON");
    let http = format!("http://{}", ready["http"].as_str().expect("an address"));

    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let call = async |operation: &str, input: Value| {
        let request = ids::http_client().post(format!("{http}/api/tools/{operation}")).json(&input);
        let request = request.header("traceparent", format!("00-{trace}-00f067aa0ba902b7-01"));
        request.send().await.expect("the server answers").status().as_u16()
    };
    let canary = "canary-Somchai";
    let input = json!({"artifact_type": "US", "project_id": canary, "task_id": canary});
    assert_eq!(call("get_next_available_id", input).await, 200);
    assert_eq!(call("get_next_available_id", json!({"artifact_type": canary})).await, 400);
    assert_eq!(call(canary, json!({})).await, 404);
    until("the spans arrive", async || collector.spans().len() >= 2).await;

    let spans = collector.spans();
    let shown = format!("{:?}", collector.received.lock().expect("no panic"));
    assert!(!shown.contains(canary), "what was asked reached the collector");
    assert!(shown.contains("x-tenant"), "the headers of the environment are sent");
    let codes: Vec<_> = spans.iter().filter_map(|span| attribute(span, "materia.code")).collect();
    assert!(codes.contains(&"ok".to_owned()) && codes.contains(&"INVALID_ARG".to_owned()), "{codes:?}");
    for span in &spans {
        assert_eq!(hex::encode(&span.trace_id), trace, "the caller's trace goes on");
        assert_eq!(hex::encode(&span.parent_span_id), "00f067aa0ba902b7");
        assert!(span.end_time_unix_nano > span.start_time_unix_nano);
        assert!(attribute(span, "materia.call_id").is_some_and(|id| id.len() == 36));
    }

    // Who calls the owner over its socket is seen as well. Recomputing the log takes more than a millisecond.
    let output = materia().args(["call", "audit_verify", "{}", "--data"]).arg(&data).output().expect("`materia` runs");
    assert!(output.status.success(), "{output:?}");
    let is_of_guest = |span: &Span| attribute(span, "materia.operation").as_deref() == Some("audit_verify");
    until("the span of the guest's call arrives", async || collector.spans().iter().any(is_of_guest)).await;
    let log = std::fs::read_to_string(&log).expect("a log");
    assert!(log.lines().any(|line| line.contains("A call was slow") && line.contains("audit_verify")), "{log}");
}

#[test]
fn a_slow_call_has_a_line_with_name_duration_and_id_only() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let mut command = materia();
    command
        .args(["call", "get_next_available_id", r#"{"artifact_type":"US","project_id":"canary"}"#, "--data"])
        .arg(&data);
    // A commit on a disk takes longer than a millisecond, most of the time; opening the folder is not part of the call.
    command.env("MATERIA_LOG", "warn").env("MATERIA_SLOW_CALL_MS", "1");
    let slow = (0..50).find_map(|_| {
        let output = command.output().expect("`materia` runs");
        let log = String::from_utf8(output.stderr).expect("UTF-8");
        log.lines().find(|line| line.contains("A call was slow")).map(str::to_owned)
    });
    let line: Value = serde_json::from_str(&slow.expect("one of fifty calls is slow")).expect("a line of JSON");
    let members: BTreeSet<&str> = line.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(members, ["call_id", "duration_ms", "level", "message", "timestamp", "tool_name"].into());
}
