//! Documents at the size of a working team: validate, store, approve and list over REST with 10,000 documents present.
//! Storing is measured in turns with its floor: two files on the disk and one commit.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use testkit::documents::{BUSINESS_RESEARCH, EPIC_006, IMPLEMENTATION_RESEARCH, PRD_006};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::Engine;
use super::floor::Floor;
use crate::figures::{Latencies, median, print, rounded};
use crate::load::Connection;
use crate::{Plan, Verdict};

const DOCUMENTS: usize = 10_000;
const PROJECT: &str = "documents";
const CONNECTIONS: usize = 16;
/// Of each kind of call.
const CALLS: usize = 200;
const APPROVALS: usize = 50;
/// Documents on one page of the list.
const PAGE: usize = 200;
const VALIDATE_P95_MS_MAX: f64 = 500.0;
const STORE_P95_MS_MAX: f64 = 500.0;
const APPROVE_P95_MS_MAX: f64 = 2_000.0;
const FLOOR_RATIO_MIN: f64 = 0.3;
const LIST_RATIO_MIN: f64 = 10.0;

/// The n-th document: the one of the seed's story under another id.
fn document(number: usize) -> String {
    PRD_006.replace("PRD-006", &id(number))
}

fn id(number: usize) -> String {
    format!("PRD-{number:03}")
}

/// A connection that calls operations.
struct Caller {
    connection: Connection,
    address: SocketAddr,
}

impl Caller {
    async fn open(address: SocketAddr) -> anyhow::Result<Caller> {
        Ok(Caller { connection: Connection::open(address).await?, address })
    }

    async fn call(&mut self, operation: &str, mut input: Value) -> anyhow::Result<(Value, Duration)> {
        input["project_id"] = json!(PROJECT);
        let (body, address) = (input.to_string(), self.address);
        let head = format!("POST /api/tools/{operation} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json");
        let request = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let asked = Instant::now();
        let answer = self.connection.ask(request.as_bytes()).await.with_context(|| format!("{operation} failed"))?;
        let took = asked.elapsed();
        Ok((serde_json::from_slice(answer).context("the answer is not JSON")?, took))
    }
}

/// Stores what the measurements need to be there.
pub async fn fill(address: SocketAddr, engine: Engine) -> anyhow::Result<()> {
    let mut caller = Caller::open(address).await?;
    for text in [BUSINESS_RESEARCH, IMPLEMENTATION_RESEARCH, EPIC_006] {
        caller.call("store_artifact", json!({"artifact_content": text})).await?;
    }
    caller.call("approve_artifact", json!({"artifact_id": "EPIC-006"})).await?;
    let started = Instant::now();
    let mut running: JoinSet<anyhow::Result<Latencies>> = JoinSet::new();
    for first in 1..=CONNECTIONS {
        running.spawn(async move {
            let mut caller = Caller::open(address).await?;
            let mut latencies = Latencies::default();
            for number in (first..=DOCUMENTS).step_by(CONNECTIONS) {
                let input = json!({"artifact_content": document(number)});
                latencies.push(caller.call("store_artifact", input).await?.1);
            }
            Ok(latencies)
        });
    }
    let mut latencies = Latencies::default();
    while let Some(ended) = running.join_next().await {
        latencies.append(ended.context("a worker panicked")??);
    }
    let per_s = latencies.count() as f64 / started.elapsed().as_secs_f64().max(1e-9);
    print(&json!({
        "bench": "workflow", "part": "documents", "side": "fill", "engine": engine.name(),
        "connections": CONNECTIONS, "documents_per_s": per_s.round(), "p95_ms": rounded(latencies.percentile_ms(95)),
    }))
}

pub async fn run(address: SocketAddr, engine: Engine, plan: Plan) -> anyhow::Result<Verdict> {
    let mut caller = Caller::open(address).await?;
    let verdicts = [
        validate(&mut caller, engine).await?,
        store(&mut caller, engine, plan).await?,
        approve(&mut caller, engine).await?,
        list(&mut caller, engine).await?,
    ];
    Ok(if verdicts.contains(&Verdict::Missed) { Verdict::Missed } else { Verdict::Met })
}

async fn validate(caller: &mut Caller, engine: Engine) -> anyhow::Result<Verdict> {
    let mut latencies = Latencies::default();
    for number in 1..=CALLS {
        let input = json!({"artifact_content": document(number), "artifact_id": id(number)});
        let (found, took) = caller.call("validate_artifact", input).await?;
        ensure!(found["passed"] == true, "a document fails: {found}");
        latencies.push(took);
    }
    tell(engine, "validate", latencies, VALIDATE_P95_MS_MAX)
}

/// One caller and the floor take turns.
async fn store(caller: &mut Caller, engine: Engine, plan: Plan) -> anyhow::Result<Verdict> {
    let mut floor = Floor::open(engine).await?;
    let (mut latencies, mut ratios) = (Latencies::default(), Vec::new());
    let mut number = DOCUMENTS;
    for _ in 0..plan.rounds {
        let (mut n_stored, started) = (0_u32, Instant::now());
        while started.elapsed() < plan.turn() {
            number += 1;
            latencies.push(caller.call("store_artifact", json!({"artifact_content": document(number)})).await?.1);
            n_stored += 1;
        }
        let stored_per_s = f64::from(n_stored) / started.elapsed().as_secs_f64();
        let (mut n_written, started) = (0_u32, Instant::now());
        while started.elapsed() < plan.turn() {
            number += 1;
            floor.store(&id(number), &document(number)).await?;
            n_written += 1;
        }
        ratios.push(stored_per_s / (f64::from(n_written) / started.elapsed().as_secs_f64()));
    }
    let ratio = median(ratios);
    let ok = ratio >= FLOOR_RATIO_MIN;
    print(&json!({
        "bench": "workflow", "part": "documents", "figure": "store_against_floor", "engine": engine.name(),
        "throughput_ratio": rounded(ratio), "target": { "throughput_ratio_min": FLOOR_RATIO_MIN }, "ok": ok,
    }))?;
    let verdict = tell(engine, "store", latencies, STORE_P95_MS_MAX)?;
    Ok(if ok { verdict } else { Verdict::Missed })
}

async fn approve(caller: &mut Caller, engine: Engine) -> anyhow::Result<Verdict> {
    let mut latencies = Latencies::default();
    for number in 1..=APPROVALS {
        let (approved, took) = caller.call("approve_artifact", json!({"artifact_id": id(number)})).await?;
        ensure!(approved["tasks_created"] == 3, "an approval made other tasks: {approved}");
        latencies.push(took);
    }
    tell(engine, "approve", latencies, APPROVE_P95_MS_MAX)
}

/// A page of metadata against loading the documents that it lists.
async fn list(caller: &mut Caller, engine: Engine) -> anyhow::Result<Verdict> {
    let mut ratios = Vec::new();
    for _ in 0..5 {
        let input = json!({"artifact_type": "prd", "status": "Draft", "limit": PAGE});
        let (listed, listing) = caller.call("list_artifacts", input).await?;
        let documents = listed["artifacts"].as_array().context("no list")?;
        ensure!(documents.len() == PAGE, "a page has {} documents", documents.len());
        let mut loading = Duration::ZERO;
        for document in documents {
            loading += caller.call("read_artifact", json!({"artifact_id": document["id"]})).await?.1;
        }
        ratios.push(loading.as_secs_f64() / listing.as_secs_f64().max(1e-9));
    }
    let ratio = median(ratios);
    let ok = ratio >= LIST_RATIO_MIN;
    print(&json!({
        "bench": "workflow", "part": "documents", "figure": "list_against_loading", "engine": engine.name(),
        "documents": PAGE, "time_ratio": rounded(ratio), "target": { "time_ratio_min": LIST_RATIO_MIN }, "ok": ok,
    }))?;
    Ok(if ok { Verdict::Met } else { Verdict::Missed })
}

fn tell(engine: Engine, call: &str, mut latencies: Latencies, p95_ms_max: f64) -> anyhow::Result<Verdict> {
    let (p50_ms, p95_ms) = (latencies.percentile_ms(50), latencies.percentile_ms(95));
    let ok = p95_ms < p95_ms_max;
    print(&json!({
        "bench": "workflow", "part": "documents", "call": call, "engine": engine.name(), "calls": latencies.count(),
        "p50_ms": rounded(p50_ms), "p95_ms": rounded(p95_ms), "target": { "p95_ms_max": p95_ms_max }, "ok": ok,
    }))?;
    Ok(if ok { Verdict::Met } else { Verdict::Missed })
}
