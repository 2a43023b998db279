//! `bench ledger`: what the log over the events costs.
//!
//! Two databases take turns on the same disk or server. 32 writers each insert one event at a time, durably, by the same
//! code; over one database the notary gives the events their places and signs checkpoints, as in the server, over the other
//! nobody does. Then a log of a million events is verified, beside a plain SHA-256 over the same bytes.

mod log;
mod verify;

use anyhow::Context as _;
use serde_json::json;

use crate::figures::{Latencies, median, print, rounded};
use crate::ids::Engine;
use crate::{Plan, Verdict};
use log::{Log, Sequencing};

const WRITERS: usize = 32;
/// Durable events per second with the log over those without it, at least.
const RATIO_MIN: f64 = 0.8;
/// An event has its place within a second.
const LAG_MS_MAX: f64 = 1_000.0;

#[derive(Debug, Clone, Copy, clap::Args)]
pub struct LedgerPlan {
    #[command(flatten)]
    pub plan: Plan,
    /// Events of the log that is verified; 0 leaves it out
    #[arg(long, default_value_t = 1_000_000)]
    pub events: u64,
}

pub async fn run(plan: LedgerPlan) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::Met;
    for engine in [Engine::Sqlite, Engine::Postgres] {
        if append(engine, plan.plan).await.context("appending")? == Verdict::Missed {
            verdict = Verdict::Missed;
        }
        if plan.events > 0 && verify::run(engine, plan.events).await.context("verifying")? == Verdict::Missed {
            verdict = Verdict::Missed;
        }
    }
    Ok(verdict)
}

async fn append(engine: Engine, plan: Plan) -> anyhow::Result<Verdict> {
    let with = Log::open(engine).await?;
    let without = Log::open(engine).await?;
    let (mut with_turns, mut without_turns) = (Vec::new(), Vec::new());
    let mut lags = Latencies::default();
    // The first round opens connections, prepares statements and grows files; it does not count.
    for round in 0..=plan.rounds {
        let length = if round == 0 { plan.turn() / 4 } else { plan.turn() };
        // Who begins changes from round to round, so that neither always follows the other's dirty pages.
        let (turn, reference) = if round % 2 == 0 {
            let turn = with.take_turn(WRITERS, length, Sequencing::On).await?;
            (turn, without.take_turn(WRITERS, length, Sequencing::Off).await?)
        } else {
            let reference = without.take_turn(WRITERS, length, Sequencing::Off).await?;
            (with.take_turn(WRITERS, length, Sequencing::On).await?, reference)
        };
        if round > 0 {
            with_turns.push(turn.events_per_s);
            without_turns.push(reference.events_per_s);
            lags.append(turn.lags);
        }
    }
    with.check_whole().await?;
    with.close().await?;
    without.close().await?;
    let ratio = median(with_turns.iter().zip(&without_turns).map(|(with, without)| with / without));
    let (lag_p50_ms, lag_max_ms) = (lags.percentile_ms(50), lags.percentile_ms(100));
    let ok = ratio >= RATIO_MIN && lag_max_ms <= LAG_MS_MAX;
    print(&json!({
        "bench": "ledger",
        "engine": engine.name(),
        "writers": WRITERS,
        "events_per_s": median(with_turns).round(),
        "events_per_s_without_log": median(without_turns).round(),
        "throughput_ratio": rounded(ratio),
        "lag_p50_ms": rounded(lag_p50_ms),
        "lag_max_ms": rounded(lag_max_ms),
        "target": { "throughput_ratio_min": RATIO_MIN, "lag_max_ms": LAG_MS_MAX },
        "ok": ok,
    }))?;
    Ok(if ok { Verdict::Met } else { Verdict::Missed })
}
