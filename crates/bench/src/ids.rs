//! `bench ids`: `get_next_available_id` through `Platform::call`, its event included, against one commit per id.
//!
//! All clients want the next id of the same counter, and each asks again as soon as it is answered. The house and the
//! reference take turns on the same disk or server, and a ratio is the median of the rounds' own ratios.

mod door;
mod reference;

use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::figures::{Latencies, median, print, rounded};
use crate::{Plan, Verdict};
use door::Door;
use reference::Reference;

const CLIENTS: [usize; 2] = [32, 256];
/// Where a throughput target applies.
const CLIENTS_JUDGED: usize = 32;
/// What seed 001 allows a call.
const P99_MS_MAX: f64 = 200.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres,
}

impl Engine {
    pub fn name(self) -> &'static str {
        match self {
            Engine::Sqlite => "sqlite",
            Engine::Postgres => "postgres",
        }
    }

    /// Ids per second of the house over those of the reference, at least.
    fn throughput_ratio_min(self) -> f64 {
        match self {
            Engine::Sqlite => 4.0,
            Engine::Postgres => 1.5,
        }
    }
}

/// One side's turn.
#[derive(Default)]
struct Turn {
    elapsed: Duration,
    latencies: Latencies,
    numbers: Vec<i64>,
    n_commits: u64,
    n_applies: u64,
}

impl Turn {
    fn ids_per_s(&self) -> f64 {
        self.latencies.count() as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

pub async fn run(plan: Plan) -> anyhow::Result<Verdict> {
    door::start_telemetry();
    let mut verdict = Verdict::Met;
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let door = Door::open(engine).await?;
        let mut reference = Reference::open(engine, CLIENTS.into_iter().max().unwrap_or_default()).await?;
        for clients in CLIENTS {
            if compare(&door, &mut reference, engine, clients, plan).await? == Verdict::Missed {
                verdict = Verdict::Missed;
            }
        }
        reference.close().await;
        door.close().await?;
    }
    Ok(verdict)
}

async fn compare(
    door: &Door,
    reference: &mut Reference,
    engine: Engine,
    clients: usize,
    plan: Plan,
) -> anyhow::Result<Verdict> {
    let (mut door_turns, mut reference_turns) = (Vec::new(), Vec::new());
    // The first round opens connections, prepares statements and grows files; it does not count.
    for round in 0..=plan.rounds {
        let length = if round == 0 { plan.turn() / 4 } else { plan.turn() };
        let (mut at_door, mut at_reference) =
            (door.take_turn(clients, length).await?, reference.take_turn(clients, length).await?);
        check_numbers(&mut at_door.numbers)?;
        check_numbers(&mut at_reference.numbers)?;
        if round > 0 {
            door_turns.push(at_door);
            reference_turns.push(at_reference);
        }
    }
    let ratios =
        door_turns.iter().zip(&reference_turns).map(|(door, reference)| door.ids_per_s() / reference.ids_per_s());
    let throughput_ratio = median(ratios);
    let (ids_per_commit, p99_ms) = report("door", engine, clients, door_turns)?;
    report("reference", engine, clients, reference_turns)?;
    let ids_per_commit_min = clients as f64 / 2.0;
    let throughput_ratio_min = (clients == CLIENTS_JUDGED).then(|| engine.throughput_ratio_min());
    let ok = ids_per_commit >= ids_per_commit_min
        && p99_ms < P99_MS_MAX
        && throughput_ratio_min.is_none_or(|ratio_min| throughput_ratio >= ratio_min);
    print(&json!({
        "bench": "ids",
        "engine": engine.name(),
        "clients": clients,
        "ids_per_commit": rounded(ids_per_commit),
        "throughput_ratio": rounded(throughput_ratio),
        "p99_ms": rounded(p99_ms),
        "target": {
            "ids_per_commit_min": ids_per_commit_min,
            "throughput_ratio_min": throughput_ratio_min,
            "p99_ms_max": P99_MS_MAX,
        },
        "ok": ok,
    }))?;
    Ok(if ok { Verdict::Met } else { Verdict::Missed })
}

/// The line of one side; answers its ids per commit and its 99th percentile.
fn report(side: &str, engine: Engine, clients: usize, mut turns: Vec<Turn>) -> anyhow::Result<(f64, f64)> {
    let ids_per_s = median(turns.iter().map(Turn::ids_per_s));
    // Of the rounds' own percentiles, as one burst of other work would decide that of all calls together.
    let p99_ms = median(turns.iter_mut().map(|turn| turn.latencies.percentile_ms(99)));
    let p50_ms = median(turns.iter_mut().map(|turn| turn.latencies.percentile_ms(50)));
    let n_commits: u64 = turns.iter().map(|turn| turn.n_commits).sum();
    let n_applies: u64 = turns.iter().map(|turn| turn.n_applies).sum();
    let ids_per_commit = n_applies as f64 / n_commits.max(1) as f64;
    print(&json!({
        "bench": "ids",
        "side": side,
        "engine": engine.name(),
        "clients": clients,
        "ids": turns.iter().map(|turn| turn.latencies.count()).sum::<usize>(),
        "ids_per_s": ids_per_s.round(),
        "ids_per_commit": rounded(ids_per_commit),
        "p50_ms": rounded(p50_ms),
        "p99_ms": rounded(p99_ms),
    }))?;
    Ok((ids_per_commit, p99_ms))
}

/// Speed counts only for ids that are right: none twice, none left out.
fn check_numbers(numbers: &mut [i64]) -> anyhow::Result<()> {
    numbers.sort_unstable();
    let is_contiguous = numbers.windows(2).all(|pair| matches!(pair, [one, next] if one + 1 == *next));
    ensure!(is_contiguous, "an id was given out twice or left out");
    Ok(())
}

/// What one client did in a turn.
type Client = (Latencies, Vec<i64>);

/// Waits for the clients of a turn.
async fn gather(started: Instant, mut clients: JoinSet<anyhow::Result<Client>>) -> anyhow::Result<Turn> {
    let mut turn = Turn::default();
    while let Some(ended) = clients.join_next().await {
        let (latencies, numbers) = ended.context("a client panicked")??;
        turn.latencies.append(latencies);
        turn.numbers.extend(numbers);
    }
    turn.elapsed = started.elapsed();
    Ok(turn)
}
