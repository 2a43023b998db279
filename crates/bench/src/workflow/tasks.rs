//! The task service with a full queue. Workers look, list, claim and put back, so that the queue stays as long as it is;
//! the reference is a write through the same door on the same server, `GET /ids/next`, in turns.
//!
//! Each connection of the reference has a counter of its own, so that each call changes one row and leaves one event, as a
//! claim does. Of one counter for all, the house takes the numbers of a whole batch with one statement (`bench ids`
//! measures that), and claims, which each take another task, have nothing to share.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::Engine;
use crate::figures::{Latencies, median, print, rounded};
use crate::load::Connection;
use crate::process::Server;
use crate::{Plan, Verdict};

const TASKS: usize = 10_000;
const BATCH: usize = 100;
const CONNECTIONS: usize = 16;
const REQUESTS_PER_S_MIN: f64 = 100.0;
const P99_MS_MAX: f64 = 200.0;
const QUERY_MS_MAX: f64 = 50.0;
const THROUGHPUT_RATIO_MIN: f64 = 0.5;
/// Of each kind of question.
const QUERIES: usize = 200;

/// One side's turn.
struct Turn {
    requests_per_s: f64,
    latencies: Latencies,
}

pub async fn run(house: &Server, engine: Engine, plan: Plan) -> anyhow::Result<Verdict> {
    let tasks = house.tasks.context("the house has no task service")?;
    let ids = house.ids.context("the house has no id service")?;
    fill(tasks, engine).await?;
    let query_verdict = measure_queries(tasks, engine).await?;
    let (mut task_turns, mut id_turns) = (Vec::new(), Vec::new());
    // The first round opens connections and prepares statements; it does not count.
    for round in 0..=plan.rounds {
        let length = if round == 0 { plan.turn() / 4 } else { plan.turn() };
        let (at_tasks, at_ids) = (take_turn(tasks, length, work).await?, take_turn(ids, length, take_id).await?);
        if round > 0 {
            task_turns.push(at_tasks);
            id_turns.push(at_ids);
        }
    }
    let ratios = task_turns.iter().zip(&id_turns).map(|(tasks, ids)| tasks.requests_per_s / ids.requests_per_s);
    let throughput_ratio = median(ratios);
    let (requests_per_s, p99_ms) = report("tasks", engine, task_turns)?;
    report("ids", engine, id_turns)?;
    let ok = requests_per_s >= REQUESTS_PER_S_MIN && p99_ms < P99_MS_MAX && throughput_ratio >= THROUGHPUT_RATIO_MIN;
    print(&json!({
        "bench": "workflow",
        "part": "tasks",
        "engine": engine.name(),
        "connections": CONNECTIONS,
        "requests_per_s": requests_per_s.round(),
        "p99_ms": rounded(p99_ms),
        "throughput_ratio": rounded(throughput_ratio),
        "target": {
            "requests_per_s_min": REQUESTS_PER_S_MIN,
            "p99_ms_max": P99_MS_MAX,
            "throughput_ratio_min": THROUGHPUT_RATIO_MIN,
        },
        "ok": ok,
    }))?;
    Ok(if ok && query_verdict == Verdict::Met { Verdict::Met } else { Verdict::Missed })
}

async fn fill(tasks: SocketAddr, engine: Engine) -> anyhow::Result<()> {
    let mut connection = Connection::open(tasks).await?;
    let started = Instant::now();
    let mut latencies = Latencies::default();
    for first in (1..=TASKS).step_by(BATCH) {
        let body = batch(first, BATCH).to_string();
        let asked = Instant::now();
        connection.ask(&request(tasks, "POST /tasks/batch", Some(&body))).await?;
        latencies.push(asked.elapsed());
    }
    print(&json!({
        "bench": "workflow",
        "part": "tasks",
        "side": "fill",
        "engine": engine.name(),
        "tasks_per_s": (TASKS as f64 / started.elapsed().as_secs_f64()).round(),
        "p99_ms": rounded(latencies.percentile_ms(99)),
    }))
}

/// The questions that have a limit of their own, one after the other.
async fn measure_queries(tasks: SocketAddr, engine: Engine) -> anyhow::Result<Verdict> {
    let mut connection = Connection::open(tasks).await?;
    let mut verdict = Verdict::Met;
    for (query, path) in [
        ("status", "/tasks?project=bench&status=pending&cursor=5000"),
        ("depends_on", "/tasks?project=bench&depends_on=PRD-006&cursor=5000"),
        ("missing_mandatory_inputs", "/tasks?project=bench&missing_mandatory_inputs=true"),
    ] {
        let mut latencies = Latencies::default();
        for _ in 0..QUERIES {
            let asked = Instant::now();
            let body = connection.ask(&request(tasks, &format!("GET {path}"), None)).await?;
            latencies.push(asked.elapsed());
            let listed: Value = serde_json::from_slice(body).context("the answer is not JSON")?;
            let expected = if query == "missing_mandatory_inputs" { 0 } else { 50 };
            ensure!(listed["count"] == expected, "{query} found {} tasks", listed["count"]);
        }
        let (p50_ms, p99_ms) = (latencies.percentile_ms(50), latencies.percentile_ms(99));
        let ok = p99_ms < QUERY_MS_MAX;
        if !ok {
            verdict = Verdict::Missed;
        }
        print(&json!({
            "bench": "workflow",
            "part": "tasks",
            "query": query,
            "engine": engine.name(),
            "p50_ms": rounded(p50_ms),
            "p99_ms": rounded(p99_ms),
            "target": { "p99_ms_max": QUERY_MS_MAX },
            "ok": ok,
        }))?;
    }
    Ok(verdict)
}

async fn take_turn<F, W>(address: SocketAddr, length: Duration, work: W) -> anyhow::Result<Turn>
where
    F: Future<Output = anyhow::Result<Latencies>> + Send + 'static,
    W: Fn(Connection, SocketAddr, usize, Instant) -> F,
{
    let mut connections = Vec::with_capacity(CONNECTIONS);
    for _ in 0..CONNECTIONS {
        connections.push(Connection::open(address).await?);
    }
    let started = Instant::now();
    let mut running: JoinSet<anyhow::Result<Latencies>> = JoinSet::new();
    for (worker, connection) in connections.into_iter().enumerate() {
        running.spawn(work(connection, address, worker, started + length));
    }
    let mut latencies = Latencies::default();
    while let Some(ended) = running.join_next().await {
        latencies.append(ended.context("a worker panicked")??);
    }
    let requests_per_s = latencies.count() as f64 / started.elapsed().as_secs_f64().max(1e-9);
    Ok(Turn { requests_per_s, latencies })
}

/// Looks, lists, claims and puts back, until the time is over.
async fn work(
    mut connection: Connection,
    address: SocketAddr,
    _worker: usize,
    until: Instant,
) -> anyhow::Result<Latencies> {
    let mut latencies = Latencies::default();
    let back = r#"{"status":"pending","reset":true}"#;
    while Instant::now() < until {
        for line in ["GET /tasks/next?project=bench", "GET /tasks?project=bench&status=pending&limit=10"] {
            let asked = Instant::now();
            connection.ask(&request(address, line, None)).await?;
            latencies.push(asked.elapsed());
        }
        let asked = Instant::now();
        let body = connection.ask(&request(address, "GET /tasks/next?project=bench&claim=true", None)).await?;
        latencies.push(asked.elapsed());
        let claimed: Value = serde_json::from_slice(body).context("the answer is not JSON")?;
        let task_id = claimed["task"]["task_id"].as_str().with_context(|| format!("no task in {claimed}"))?;
        let asked = Instant::now();
        connection.ask(&request(address, &format!("PUT /tasks/{task_id}/status"), Some(back))).await?;
        latencies.push(asked.elapsed());
    }
    Ok(latencies)
}

/// Takes ids of the worker's own counter.
async fn take_id(
    mut connection: Connection,
    address: SocketAddr,
    worker: usize,
    until: Instant,
) -> anyhow::Result<Latencies> {
    let mut latencies = Latencies::default();
    let request = request(address, &format!("GET /ids/next?type=US&project=bench-{worker}"), None);
    while Instant::now() < until {
        let asked = Instant::now();
        connection.ask(&request).await?;
        latencies.push(asked.elapsed());
    }
    Ok(latencies)
}

fn report(side: &str, engine: Engine, mut turns: Vec<Turn>) -> anyhow::Result<(f64, f64)> {
    let requests_per_s = median(turns.iter().map(|turn| turn.requests_per_s));
    let p50_ms = median(turns.iter_mut().map(|turn| turn.latencies.percentile_ms(50)));
    let p99_ms = median(turns.iter_mut().map(|turn| turn.latencies.percentile_ms(99)));
    print(&json!({
        "bench": "workflow",
        "part": "tasks",
        "side": side,
        "engine": engine.name(),
        "connections": CONNECTIONS,
        "requests": turns.iter().map(|turn| turn.latencies.count()).sum::<usize>(),
        "requests_per_s": requests_per_s.round(),
        "p50_ms": rounded(p50_ms),
        "p99_ms": rounded(p99_ms),
    }))?;
    Ok((requests_per_s, p99_ms))
}

/// The whole request: head and body.
fn request(address: SocketAddr, line: &str, body: Option<&str>) -> Vec<u8> {
    let body = body.unwrap_or_default();
    let kind = if body.is_empty() { "" } else { "Content-Type: application/json\r\n" };
    let length = body.len();
    format!("{line} HTTP/1.1\r\nHost: {address}\r\n{kind}Content-Length: {length}\r\n\r\n{body}").into_bytes()
}

/// Tasks with three resolved inputs each, as seed 001 has them.
fn batch(first: usize, n: usize) -> Value {
    let input = |name: &str, class: &str, path: &str| json!({"name": name, "classification": class, "mcp_resource_uri": format!("mcp://resources/artifacts/{path}")});
    let tasks = (first..first + n).map(|number| {
        json!({
            "artifact_id": format!("HLS-{number:03}"),
            "generator": "hls-generator",
            "inputs": [
                input("prd", "mandatory", "prds/PRD-006_v3.md"),
                input("business_research", "recommended", "research/Bench_business_research.md"),
                input("implementation_research", "recommended", "research/Bench_implementation_research.md"),
            ]
        })
    });
    json!({"project_id": "bench", "tasks": tasks.collect::<Vec<Value>>()})
}
