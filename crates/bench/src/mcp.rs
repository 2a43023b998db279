//! `bench mcp`: `list_artifact_types` through the whole door over HTTP, against a bare rmcp tool with the same output.
//!
//! The servers are processes of their own; they take turns, and a ratio is the median of the rounds' own ratios, so
//! that other work on the machine falls on both sides alike. CPU is read some time after the load has ended: what a
//! server still has to do for the answers it gave, such as storing their events, counts. The bare server is judged as
//! anybody would build it; beside it stands the same with the allocator of the house.

pub mod bare;
mod request;

use std::time::Duration;

use anyhow::ensure;
use serde_json::json;

use crate::figures::{Latencies, median, print, rounded};
use crate::load::{self, Load, Target};
use crate::process::Server;
use crate::{Plan, Verdict};
use request::Era;

const CPU_RATIO_MAX: f64 = 2.0;
const THROUGHPUT_RATIO_MIN: f64 = 0.5;
/// Where the targets apply.
const CONNECTIONS: usize = 16;
/// Measured with fewer rounds, for the record.
const CONNECTIONS_BESIDE: [usize; 2] = [1, 64];
const ROUNDS_BESIDE_MAX: u32 = 2;
const WARM_UP: Duration = Duration::from_millis(200);
/// Longer than events of public reads wait for their flush and then for their place in the log.
const SETTLE: Duration = Duration::from_millis(600);

/// One side's turn.
struct Turn {
    requests_per_s: f64,
    cpu_us_per_request: f64,
    latencies: Latencies,
}

pub async fn run(plan: Plan) -> anyhow::Result<Verdict> {
    let (house, bare, alike) = (Server::house(None)?, Server::bare()?, Server::bare_with_our_allocator()?);
    let mut verdict = Verdict::Met;
    for era in Era::ALL {
        let wanted = request::find_output(house.address, era).await?;
        ensure!(wanted == request::find_output(bare.address, era).await?, "the two servers give different outputs");
        let expected = format!("\"structuredContent\":{wanted}");
        for connections in CONNECTIONS_BESIDE.into_iter().chain([CONNECTIONS]) {
            let is_judged = connections == CONNECTIONS;
            let rounds = if is_judged { plan.rounds } else { plan.rounds.min(ROUNDS_BESIDE_MAX) };
            let mut turns: [Vec<Turn>; 3] = Default::default();
            for _ in 0..rounds {
                for (server, turns) in [&house, &bare, &alike].into_iter().zip(&mut turns) {
                    turns.push(take_turn(server, era, connections, &expected, plan.turn()).await?);
                }
            }
            let [house_turns, bare_turns, alike_turns] = turns;
            let ratio = |to: &[Turn], of: fn(&Turn) -> f64| {
                median(house_turns.iter().zip(to).map(|(house, bare)| of(house) / of(bare)))
            };
            let cpu_ratio = ratio(&bare_turns, |turn| turn.cpu_us_per_request);
            let throughput_ratio = ratio(&bare_turns, |turn| turn.requests_per_s);
            let cpu_ratio_same_allocator = ratio(&alike_turns, |turn| turn.cpu_us_per_request);
            report("materia", era, connections, house_turns)?;
            report("rmcp", era, connections, bare_turns)?;
            report("rmcp with our allocator", era, connections, alike_turns)?;
            let ok = cpu_ratio <= CPU_RATIO_MAX && throughput_ratio >= THROUGHPUT_RATIO_MIN;
            let mut line = json!({
                "bench": "mcp",
                "era": era.version(),
                "connections": connections,
                "cpu_ratio": rounded(cpu_ratio),
                "cpu_ratio_same_allocator": rounded(cpu_ratio_same_allocator),
                "throughput_ratio": rounded(throughput_ratio),
            });
            if is_judged {
                line["target"] =
                    json!({ "cpu_ratio_max": CPU_RATIO_MAX, "throughput_ratio_min": THROUGHPUT_RATIO_MIN });
                line["ok"] = json!(ok);
                verdict = if ok { verdict } else { Verdict::Missed };
            }
            print(&line)?;
        }
    }
    Ok(verdict)
}

async fn take_turn(
    server: &Server,
    era: Era,
    connections: usize,
    expected: &str,
    length: Duration,
) -> anyhow::Result<Turn> {
    let target = Target { address: server.address, request: era.request(server.address), expected: expected.into() };
    load::run(&target, connections, WARM_UP).await?;
    tokio::time::sleep(SETTLE).await;
    let cpu_before = server.cpu()?;
    let Load { elapsed, latencies } = load::run(&target, connections, length).await?;
    tokio::time::sleep(SETTLE).await;
    let cpu = server.cpu()?.saturating_sub(cpu_before);
    let n_requests = latencies.count().max(1) as f64;
    Ok(Turn {
        requests_per_s: n_requests / elapsed.as_secs_f64(),
        cpu_us_per_request: cpu.as_secs_f64() * 1e6 / n_requests,
        latencies,
    })
}

/// The line of one server: medians over its turns.
fn report(server: &str, era: Era, connections: usize, mut turns: Vec<Turn>) -> anyhow::Result<()> {
    let requests_per_s = median(turns.iter().map(|turn| turn.requests_per_s));
    let cpu_us_per_request = median(turns.iter().map(|turn| turn.cpu_us_per_request));
    let mut percentile = |percent| median(turns.iter_mut().map(|turn| turn.latencies.percentile_ms(percent)));
    let (p50_ms, p99_ms) = (percentile(50), percentile(99));
    print(&json!({
        "bench": "mcp",
        "server": server,
        "era": era.version(),
        "connections": connections,
        "requests": turns.iter().map(|turn| turn.latencies.count()).sum::<usize>(),
        "requests_per_s": requests_per_s.round(),
        "p50_ms": rounded(p50_ms),
        "p99_ms": rounded(p99_ms),
        "cpu_us_per_request": rounded(cpu_us_per_request),
    }))
}
