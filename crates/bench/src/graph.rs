//! `bench graph`: path queries on a generated graph of 50,000 nodes and 2,500,000 edges against ladybug; the walk alone
//! against a plain loop over the same rows; and how long a start takes.
//!
//! Each side answers all questions in a row, and they take turns of that several times: a question that takes
//! microseconds must not pay for the cache that one of milliseconds in another process has just emptied. What it costs when
//! it does is told beside, from the pass in which the answers are compared one by one.

mod generated;
mod house;
mod reference;
mod walks;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use contract::evidence::graph::{PATHS_DEFAULT, PathNode, QueryKg, Start};
use evidence::graph::Graph;
use evidence::paths::{Found, Question};
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
/// How often each side answers all questions.
const ROUNDS: usize = 5;

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
    let started = Instant::now();
    let graph = house.graph().await?;
    let read_s = started.elapsed().as_secs_f64();
    let bytes_per_edge = figure(graph.size_bytes()) / figure(graph.n_edges().max(1));
    let is_small_enough = bytes_per_edge <= BYTES_PER_EDGE_MAX;
    print(&json!({
        "bench": "graph", "part": "record", "nodes": graph.nodes().len(), "edges": graph.n_edges(),
        "put_records_edges_per_s": edges_per_s.round(), "read_all_s": rounded(read_s),
        "bytes_per_edge": rounded(bytes_per_edge), "ok": is_small_enough,
    }))?;
    let mut is_met = is_small_enough;
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
        detail: Some(contract::detail::Detail::Full),
        cursor: None,
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
async fn ask(house: &House, asked: &QueryKg) -> anyhow::Result<(Found, f64)> {
    let started = Instant::now();
    let question = Question::parse(asked)?;
    let graph: Arc<Graph> = house.graph().await?;
    let found = question.ask_fully(&graph, &AtomicBool::new(false))?;
    Ok((found, started.elapsed().as_secs_f64() * 1e6))
}

/// How long the questions took each side, in microseconds.
#[derive(Default)]
struct Times {
    /// By round.
    ours: Vec<Vec<f64>>,
    theirs: Vec<Vec<f64>>,
    /// Of the pass in which every question of ours came after one of theirs.
    ours_in_turns: Vec<f64>,
    theirs_in_turns: Vec<f64>,
}

impl Times {
    /// Both sides answer all questions in a row, alternating who begins.
    async fn measure(
        &mut self,
        house: &House,
        ladybug: &mut Ladybug,
        query: &str,
        starts: &[String],
        asked: &[QueryKg],
    ) -> anyhow::Result<()> {
        for round in 0..ROUNDS {
            for is_ours in [round % 2 == 0, round % 2 != 0] {
                if is_ours {
                    let mut ours = Vec::with_capacity(asked.len());
                    for asked in asked {
                        ours.push(ask(house, asked).await?.1);
                    }
                    self.ours.push(ours);
                } else {
                    self.theirs.push(ladybug.ask_all(query, starts)?);
                }
            }
        }
        Ok(())
    }

    /// The median over the rounds of how much faster ours are.
    fn ratio(&self, percent: usize) -> f64 {
        let rounds = self.ours.iter().zip(&self.theirs);
        median(rounds.map(|(ours, theirs)| percentile(theirs, percent) / percentile(ours, percent)))
    }

    fn ratio_in_turns(&self, percent: usize) -> f64 {
        percentile(&self.theirs_in_turns, percent) / percentile(&self.ours_in_turns, percent)
    }

    fn figures(&self) -> Value {
        let of = |rounds: &[Vec<f64>], percent: usize| {
            rounded(median(rounds.iter().map(|round| percentile(round, percent))))
        };
        json!({
            "p50_us": of(&self.ours, 50), "p99_us": of(&self.ours, 99),
            "ladybug_p50_us": of(&self.theirs, 50), "ladybug_p99_us": of(&self.theirs, 99),
            "p50_ratio": rounded(self.ratio(50)), "p99_ratio": rounded(self.ratio(99)),
            "in_turns_p50_us": rounded(percentile(&self.ours_in_turns, 50)),
            "in_turns_p50_ratio": rounded(self.ratio_in_turns(50)), "in_turns_p99_ratio": rounded(self.ratio_in_turns(99)),
        })
    }
}

/// Prints a line about a part, with more figures.
fn print_part(part: &str, form: &Form, times: &Times, more: Value) -> anyhow::Result<()> {
    let mut line = json!({"bench": "graph", "part": part, "form": form.name});
    for figures in [times.figures(), more] {
        if let (Value::Object(line), Value::Object(figures)) = (&mut line, figures) {
            line.extend(figures);
        }
    }
    print(&line)
}

async fn compare_paths(house: &House, ladybug: &mut Ladybug, form: &Form, starts: &[String]) -> anyhow::Result<bool> {
    let columns: Vec<String> = (1..=form.predicates.len()).map(|at| format!("n{at}.id, n{at}.label")).collect();
    let query = cypher(form, &format!("{} LIMIT {PATHS_DEFAULT}", columns.join(", ")));
    let asked: Vec<QueryKg> = starts.iter().map(|start| question(form, start, false)).collect();
    let (mut times, mut door, mut n_paths) = (Times::default(), Vec::new(), 0);
    for (start, asked) in starts.iter().zip(&asked) {
        let (rows, theirs) = ladybug.ask(&query, start)?;
        let (found, ours) = ask(house, asked).await?;
        let mut expected: Vec<String> = rows.iter().map(|row| texts_of_row(row).join(" ")).collect();
        let texts = |node: PathNode<'_>| format!("{} {}", node.id, node.label);
        let paths = found.output.paths.iter().map(|path| path.skip(1).map(texts).collect::<Vec<_>>().join(" "));
        let mut paths: Vec<String> = paths.collect();
        // Of more paths than the limit each may choose its own; there must be as many.
        ensure!(paths.len() == expected.len(), "{} and {} paths from {start}", paths.len(), expected.len());
        if found.output.truncated.is_none() {
            paths.sort_unstable();
            expected.sort_unstable();
            ensure!(paths == expected, "other paths from {start}");
        }
        n_paths += paths.len();
        times.ours_in_turns.push(ours);
        times.theirs_in_turns.push(theirs);
    }
    times.measure(house, ladybug, &query, starts, &asked).await?;
    for asked in &asked {
        door.push(house.call(asked).await?.as_secs_f64() * 1e6);
    }
    let ok = times.ratio(50) >= P50_RATIO_MIN && times.ratio(99) >= P99_RATIO_MIN;
    let more = json!({
        "questions": starts.len(), "paths": n_paths, "through_the_door_p50_us": rounded(percentile(&door, 50)),
        "through_the_door_p99_us": rounded(percentile(&door, 99)), "ok": ok,
    });
    print_part("paths", form, &times, more)?;
    Ok(ok)
}

async fn compare_counts(house: &House, ladybug: &mut Ladybug, form: &Form, starts: &[String]) -> anyhow::Result<bool> {
    let query = cypher(form, "COUNT(*)");
    let asked: Vec<QueryKg> = starts.iter().map(|start| question(form, start, true)).collect();
    let (mut times, mut most) = (Times::default(), 0);
    for (start, asked) in starts.iter().zip(&asked) {
        let (rows, theirs) = ladybug.ask(&query, start)?;
        let (found, ours) = ask(house, asked).await?;
        let expected = rows.first().and_then(|row| row.get(0)).and_then(Value::as_u64).context("a count")?;
        ensure!(found.output.count == Some(expected), "{:?} and {expected} paths from {start}", found.output.count);
        most = most.max(expected);
        times.ours_in_turns.push(ours);
        times.theirs_in_turns.push(theirs);
    }
    times.measure(house, ladybug, &query, starts, &asked).await?;
    let ok = times.ratio(99) >= COUNT_P99_RATIO_MIN;
    print_part("counts", form, &times, json!({"questions": starts.len(), "paths_max": most, "ok": ok}))?;
    Ok(ok)
}

/// Ids and labels.
fn texts_of_row(row: &Value) -> Vec<&str> {
    row.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
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
