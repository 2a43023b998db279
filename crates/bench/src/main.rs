//! The benchmarks behind `cargo xtask bench`. Each compares the house with a reference in the same run, prints one
//! line of JSON per figure, and fails when a target is missed.

#![expect(clippy::indexing_slicing, reason = "members of JSON objects that were made two lines above")]

mod figures;
mod graph;
mod ids;
mod ledger;
mod load;
mod mcp;
mod place;
mod process;
mod retrieval;
mod search;
mod workflow;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Parser, Subcommand};

/// As in the program.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[derive(Parser)]
#[command(about = "Compares the house with a reference, in the same run")]
struct Arguments {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand)]
enum Bench {
    /// A cheap read through the whole door against a bare rmcp tool, over HTTP
    Mcp(Plan),
    /// Ids through the door against one commit per id, on SQLite and PostgreSQL
    Ids(Plan),
    /// Durable events with and without the log over them, and the verification of a long log
    Ledger(ledger::LedgerPlan),
    /// Path queries on a large graph against ladybug, the walk against a plain loop, and the start with a larger one
    Graph(graph::GraphPlan),
    /// The task service with 10,000 tasks in its queue, on SQLite and PostgreSQL
    Workflow(Plan),
    /// How well search finds what people judged to be right, on a folder in the form of BEIR
    Retrieval(retrieval::RetrievalPlan),
    /// Search over generated documents against bare tantivy on the same index
    Search(search::SearchPlan),
    /// The reference of `mcp`, as a process of its own
    #[command(hide = true)]
    BareServer,
}

/// How long to measure. Both sides take turns in every round; many short rounds even out what else the machine does.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Plan {
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub rounds: u32,
    /// Length of one side's turn
    #[arg(long, default_value_t = 1.0)]
    pub seconds: f64,
}

impl Plan {
    pub fn turn(self) -> Duration {
        Duration::from_secs_f64(self.seconds.clamp(0.1, 3_600.0))
    }
}

/// Whether a bench met its targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Met,
    Missed,
}

fn main() -> anyhow::Result<ExitCode> {
    let verdict = match Arguments::parse().bench {
        // One thread, so that the generator leaves the server as much of the machine as it can.
        Bench::Mcp(plan) => tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("could not start the runtime")?
            .block_on(mcp::run(plan))?,
        // As the server's own runtime, since the door runs in this process.
        Bench::Ids(plan) => runtime()?.block_on(ids::run(plan))?,
        Bench::Ledger(plan) => runtime()?.block_on(ledger::run(plan))?,
        Bench::Graph(plan) => runtime()?.block_on(graph::run(plan))?,
        Bench::Workflow(plan) => runtime()?.block_on(workflow::run(plan))?,
        Bench::Retrieval(plan) => runtime()?.block_on(retrieval::run(plan))?,
        Bench::Search(plan) => search::run(&plan)?,
        Bench::BareServer => runtime()?.block_on(mcp::bare::serve()).map(|()| Verdict::Met)?,
    };
    Ok(match verdict {
        Verdict::Met => ExitCode::SUCCESS,
        Verdict::Missed => ExitCode::FAILURE,
    })
}

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().context("could not start the runtime")
}
