//! A log of many events, verified by `audit_verify`, beside a plain SHA-256 over the same bytes.

use std::time::Instant;

use anyhow::{Context as _, ensure};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::log::Log;
use crate::Verdict;
use crate::figures::{print, rounded};
use crate::ids::Engine;

const BATCH: u64 = 1_000;
/// Reading, parsing and comparing every event and hashing the tree, over hashing the bytes alone.
const RATIO_MAX: f64 = 80.0;

pub async fn run(engine: Engine, n_events: u64) -> anyhow::Result<Verdict> {
    let log = Log::open(engine).await?;
    let mut bytes: Vec<u8> = Vec::new();
    let mut left = n_events;
    while left > 0 {
        let n_now = left.min(BATCH);
        let events: Vec<_> = (0..n_now).map(|_| Log::event(log.actor())).collect::<Result<_, _>>()?;
        events.iter().for_each(|event| bytes.extend_from_slice(event.body.as_bytes()));
        log.store.append_events(events).await.context("the events are not stored")?;
        left -= n_now;
    }
    log.settle().await?;
    let started = Instant::now();
    let found = log.verify().await?;
    let seconds = started.elapsed().as_secs_f64();
    let n_checked = found.get("n_events_checked").and_then(serde_json::Value::as_u64);
    ensure!(n_checked == Some(n_events), "{n_checked:?} events were checked instead of {n_events}");
    ensure!(found.get("ok") == Some(&json!(true)), "the log does not verify: {found}");
    let started = Instant::now();
    let digest = Sha256::digest(&bytes);
    let plain_seconds = started.elapsed().as_secs_f64();
    log.close().await?;
    let ratio = seconds / plain_seconds.max(1e-9);
    let ok = ratio <= RATIO_MAX;
    print(&json!({
        "bench": "ledger",
        "engine": engine.name(),
        "verified_events": n_events,
        "verified_bytes": bytes.len(),
        "seconds": rounded(seconds),
        "sha256_seconds": rounded(plain_seconds),
        // So that the compiler cannot leave the work out.
        "sha256_first_byte": digest.first(),
        "ratio": rounded(ratio),
        "target": { "ratio_max": RATIO_MAX },
        "ok": ok,
    }))?;
    Ok(if ok { Verdict::Met } else { Verdict::Missed })
}
