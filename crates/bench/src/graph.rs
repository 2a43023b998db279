//! `bench graph`: path queries on a generated graph of 50,000 nodes and 2,500,000 edges against ladybug, question by
//! question in turns; the walk alone against a plain loop over the same rows; and how long a start takes.

mod generated;
mod house;
mod reference;
mod walks;

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use contract::evidence::graph::{PATHS_DEFAULT, QueryKg, Start};
use evidence::graph::Graph;
use evidence::paths::Question;
use serde_json::{Value, json};

use crate::Verdict;
use crate::figures::{median, print, rounded};
use generated::{Generated, Numbers, node_id, predicate};
use house::House;
use reference::Ladybug;

const P50_RATIO_MIN: f64 = 50.0;
const P99_RATIO_MIN: f64 = 20.0;
const COUNT_P99_RATIO_MIN: f64 = 5.0;
const WALK_RATIO_MIN: f64 = 0.5;
const BYTES_PER_EDGE_MAX: f64 = 64.0;
const EDGES_PER_S_MIN: f64 = 20_000.0;

#[derive(Debug, Clone, Copy, clap::Args)]
pub struct GraphPlan {
    #[arg(long, default_value_t = 50_000)]
    pub nodes: usize,
    #[arg(long, default_value_t = 2_500_000)]
    pub edges: usize,
    /// Questions of each kind
    #[arg(long, default_value_t = 200)]
    pub questions: usize,
    /// Edges for the start; twice as many as `edges`, or 0 to leave it out
    #[arg(long, default_value_t = 5_000_000)]
    pub start_edges: usize,
}

/// A pattern, and the same in the words of the reference.
struct Form {
    name: &'static str,
    /// The predicates of its hops. The first begins at herbs.
    predicates: Vec<usize>,
}

pub async fn run(plan: GraphPlan) -> anyhow::Result<Verdict> {
    let generated = Generated::new(plan.nodes, plan.edges);
    let house = House::open().await?;
    let edges_per_s = house.fill(&generated).await?;
    let is_fast_enough = edges_per_s >= EDGES_PER_S_MIN;
    let started = Instant::now();
    let graph = house.graph().await?;
    let read_s = started.elapsed().as_secs_f64();
    let bytes_per_edge = figure(graph.size_bytes()) / figure(graph.n_edges().max(1));
    let is_small_enough = bytes_per_edge <= BYTES_PER_EDGE_MAX;
    print(&json!({
        "bench": "graph", "part": "record", "nodes": graph.nodes().len(), "edges": graph.n_edges(),
        "put_records_edges_per_s": edges_per_s.round(), "read_all_s": rounded(read_s),
        "bytes_per_edge": rounded(bytes_per_edge), "ok": is_fast_enough && is_small_enough,
    }))?;
    let mut is_met = is_fast_enough && is_small_enough;
    let mut ladybug = Ladybug::start(&generated)?;
    // Herbs to constituents to genes, and on to diseases; five predicates lead from each kind to the next.
    let forms = [Form { name: "2 hops", predicates: vec![0, 1] }, Form { name: "3 hops", predicates: vec![5, 6, 7] }];
    let starts = starts(&generated, plan.questions);
    for form in &forms {
        is_met &= compare_paths(&house, &mut ladybug, form, &starts).await?;
        is_met &= compare_counts(&house, &mut ladybug, form, &starts).await?;
        let ratio = walks::compare(&graph, &form.predicates, &starts)?;
        let ok = ratio >= WALK_RATIO_MIN;
        print(&json!({"bench": "graph", "part": "walk", "form": form.name, "speed_ratio": rounded(ratio), "ok": ok}))?;
        is_met &= ok;
    }
    drop((ladybug, graph));
    if plan.start_edges > plan.edges {
        house.add(&generated, plan.start_edges).await?;
        house.measure_start().await?;
    }
    Ok(if is_met { Verdict::Met } else { Verdict::Missed })
}

/// Herbs, drawn evenly: among them are some with many edges.
fn starts(generated: &Generated, n: usize) -> Vec<String> {
    let mut numbers = Numbers::new(4);
    (0..n).map(|_| node_id("herb", numbers.below(generated.n_per_kind))).collect()
}

fn question(form: &Form, start: &str, is_count: bool) -> QueryKg {
    let hops =
        form.predicates.iter().map(|number| format!(" -{}-> {}", predicate(*number), generated::ends(*number).1));
    QueryKg {
        start: Start { kind: "herb".to_owned(), id: start.to_owned() },
        pattern: Some(format!("herb{}", hops.collect::<String>())),
        filters: None,
        max_depth: None,
        limit: None,
        count: is_count,
        min_version: None,
        dry: false,
    }
}

fn cypher(form: &Form, returned: &str) -> String {
    let hop = |(at, number): (usize, &usize)| {
        let (from, to) = generated::ends(*number);
        let start = if at == 0 { format!("(n0:{from})") } else { String::new() };
        format!("{start}-[:{}]->(n{}:{to})", predicate(*number), at + 1)
    };
    let path: String = form.predicates.iter().enumerate().map(hop).collect();
    format!("MATCH {path} WHERE n0.id = $start RETURN {returned}")
}

/// What the operation does from the question to the answer; the door comes around it.
async fn ask(house: &House, asked: &QueryKg) -> anyhow::Result<(evidence::paths::Found, Duration)> {
    let started = Instant::now();
    let question = Question::parse(asked)?;
    let graph: std::sync::Arc<Graph> = house.graph().await?;
    let found = question.ask_fully(&graph)?;
    Ok((found, started.elapsed()))
}

async fn compare_paths(house: &House, ladybug: &mut Ladybug, form: &Form, starts: &[String]) -> anyhow::Result<bool> {
    let columns: Vec<String> = (1..=form.predicates.len()).map(|at| format!("n{at}.id, n{at}.label")).collect();
    let query = cypher(form, &format!("{} LIMIT {PATHS_DEFAULT}", columns.join(", ")));
    let (mut ours, mut theirs, mut door, mut n_paths) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for start in starts {
        let asked = question(form, start, false);
        let (found, took) = ask(house, &asked).await?;
        let (rows, reference_us) = ladybug.ask(&query, start)?;
        let mut expected: Vec<String> = rows.iter().map(|row| ids_of_row(row).join(" ")).collect();
        let mut paths: Vec<String> = found
            .output
            .paths
            .iter()
            .map(|path| path.iter().skip(1).map(|node| &*node.id).collect::<Vec<_>>().join(" "))
            .collect();
        // Of more paths than the limit each may choose its own; there must be as many.
        ensure!(paths.len() == expected.len(), "{} and {} paths from {start}", paths.len(), expected.len());
        if found.output.truncated.is_none() {
            paths.sort_unstable();
            expected.sort_unstable();
            ensure!(paths == expected, "other paths from {start}");
        }
        n_paths += paths.len();
        ours.push(took.as_secs_f64() * 1e6);
        theirs.push(reference_us);
        door.push(house.call(&asked).await?.as_secs_f64() * 1e6);
    }
    let (p50, p99) = (percentile(&theirs, 50) / percentile(&ours, 50), percentile(&theirs, 99) / percentile(&ours, 99));
    let ok = p50 >= P50_RATIO_MIN && p99 >= P99_RATIO_MIN;
    print(&json!({
        "bench": "graph", "part": "paths", "form": form.name, "questions": starts.len(), "paths": n_paths,
        "p50_us": rounded(percentile(&ours, 50)), "p99_us": rounded(percentile(&ours, 99)),
        "ladybug_p50_us": rounded(percentile(&theirs, 50)), "ladybug_p99_us": rounded(percentile(&theirs, 99)),
        "through_the_door_p50_us": rounded(percentile(&door, 50)), "through_the_door_p99_us": rounded(percentile(&door, 99)),
        "p50_ratio": rounded(p50), "p99_ratio": rounded(p99), "ok": ok,
    }))?;
    Ok(ok)
}

async fn compare_counts(house: &House, ladybug: &mut Ladybug, form: &Form, starts: &[String]) -> anyhow::Result<bool> {
    let query = cypher(form, "COUNT(*)");
    let (mut ours, mut theirs, mut most) = (Vec::new(), Vec::new(), 0);
    for start in starts {
        let (found, took) = ask(house, &question(form, start, true)).await?;
        let (rows, reference_us) = ladybug.ask(&query, start)?;
        let expected = rows.first().and_then(|row| row.get(0)).and_then(Value::as_u64).context("a count")?;
        ensure!(found.output.count == Some(expected), "{:?} and {expected} paths from {start}", found.output.count);
        most = most.max(expected);
        ours.push(took.as_secs_f64() * 1e6);
        theirs.push(reference_us);
    }
    let p99 = percentile(&theirs, 99) / percentile(&ours, 99);
    let ok = p99 >= COUNT_P99_RATIO_MIN;
    print(&json!({
        "bench": "graph", "part": "counts", "form": form.name, "questions": starts.len(), "paths_max": most,
        "p50_us": rounded(percentile(&ours, 50)), "p99_us": rounded(percentile(&ours, 99)),
        "ladybug_p50_us": rounded(percentile(&theirs, 50)), "ladybug_p99_us": rounded(percentile(&theirs, 99)),
        "p50_ratio": rounded(percentile(&theirs, 50) / percentile(&ours, 50)), "p99_ratio": rounded(p99), "ok": ok,
    }))?;
    Ok(ok)
}

/// Every other column is an id.
fn ids_of_row(row: &Value) -> Vec<&str> {
    row.as_array().into_iter().flatten().step_by(2).filter_map(Value::as_str).collect()
}

fn percentile(values: &[f64], percent: usize) -> f64 {
    if percent == 50 {
        return median(values.iter().copied());
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().saturating_sub(1) * percent / 100).copied().unwrap_or_default()
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn figure(number: usize) -> f64 {
    number as f64
}
