//! `query_kg`: paths through the graph, from a herb to its constituents to what they treat, or any other way.

use contract::actor::Role;
use contract::detail::Detail;
use contract::error::{Kind, OpError};
use contract::evidence::graph::{DEPTH_DEFAULT, PATHS_DEFAULT, Paths, QueryKg, QueryKgOutput};
use contract::evidence::record::RetractedReference;
use evidence::network::Edges;
use evidence::paths::{PathsError, Question};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::brief::{self, Page};
use super::{graph, graph_error, provenance, unresolved};
use crate::context::{Context, Settings};
use crate::family::Family;
use crate::operation::{Answer, Operation, Read, store_error};
use crate::rendering::Lines;

/// A question that looks at fewer edges than these is answered at once, and every other one in the pool for long work.
const WORK_AT_ONCE_MAX: u64 = 50_000;

impl Operation for QueryKg {
    const NAME: &'static str = "query_kg";
    const ABOUT: &'static str = "Find paths in the evidence graph from a node, along a pattern such as \
        `herb -contains-> constituent -treats-> indication`, with the edge, source and strength of every hop.";
    const FAMILY: Family = Family::Evidence;
    const ROLES: &'static [Role] = &Role::ALL;
    const ALIASES: &'static [&'static str] = &["tool.query_kg"];
    const IS_STAMPED: bool = true;
    const TEXT: Option<fn(&Value) -> String> = Some(words);

    type Output = QueryKgOutput;

    fn fill_defaults(&mut self, _settings: &Settings) {
        self.max_depth.get_or_insert(DEPTH_DEFAULT);
        self.limit.get_or_insert(PATHS_DEFAULT);
    }
}

impl Read for QueryKg {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<QueryKgOutput>, OpError> {
        let question = Question::parse(self).map_err(refused)?;
        if self.dry {
            return Ok(Answer::of(QueryKgOutput::default()));
        }
        let graph = graph(ctx, self.min_version).await?;
        let found = match question.ask(&graph, WORK_AT_ONCE_MAX).map_err(refused)? {
            Some(found) => found,
            None => {
                let graphs = ctx.services().evidence.graphs().map_err(graph_error)?;
                let graph = Arc::clone(&graph);
                let asked = graphs.work(move |nobody_waits| question.ask_fully(&graph, nobody_waits)).await;
                asked.map_err(graph_error)?.map_err(refused)?
            }
        };
        let mut answer = Answer::of(found.output);
        answer.metadata = provenance(&graph, found.licences);
        let note = answer.output.note.clone();
        answer.metadata.extend(note.map(|note| ("note".to_owned(), note.into())));
        let retracted = retracted(ctx, graph.version(), &answer.output.paths).await?;
        if !retracted.is_empty() {
            answer.metadata.insert("retracted".to_owned(), each(&retracted));
            answer.output.paths.set_retracted(retracted);
        }
        if self.detail != Some(Detail::Full) {
            brief::paths(&mut answer.output, &Page::of(self, self.cursor.as_deref(), graph.version())?)?;
        }
        Ok(answer)
    }
}

/// The papers that edges on the paths rest on and that do not stand, by the ids of the edges.
async fn retracted(
    ctx: &Context<'_>,
    version: i64,
    paths: &Paths,
) -> Result<BTreeMap<String, Vec<RetractedReference>>, OpError> {
    let organisation_id = ctx.actor().organisation_id.as_str();
    let graphs = ctx.services().evidence.graphs().map_err(graph_error)?;
    if paths.is_empty() || !graphs.is_any_paper_doubted(organisation_id, version).await.map_err(graph_error)? {
        return Ok(BTreeMap::new());
    }
    let vias = paths.iter().flatten().filter_map(|node| node.via);
    let ids: BTreeSet<&str> = vias.map(|via| via.edge_id).collect();
    let mut reader = ctx.read().await?;
    let ids: Vec<&str> = ids.into_iter().collect();
    let edges = Edges::find(&mut reader, organisation_id, &ids).await.map_err(store_error)?;
    let told = ids.iter().map(|id| ((*id).to_owned(), edges.retracted(id)));
    Ok(told.filter(|(_, retracted)| !retracted.is_empty()).collect())
}

/// Each of them with its edge.
fn each(retracted: &BTreeMap<String, Vec<RetractedReference>>) -> Value {
    let told = retracted.iter().flat_map(|(id, retracted)| retracted.iter().map(move |it| (id, it)));
    let told = told.map(|(id, RetractedReference { reference, status, notice, source })| {
        json!({"edge_id": id, "reference": reference, "status": status, "notice": notice, "source": source})
    });
    told.collect()
}

fn refused(error: PathsError) -> OpError {
    let field = match &error {
        PathsError::Abandoned => return OpError::timeout(error.to_string()),
        PathsError::Start(error) => return unresolved("start/id", error),
        PathsError::Pattern(_) | PathsError::OtherStart { .. } => "pattern",
        PathsError::TooDeep { .. } | PathsError::NoDepth => "max_depth",
        PathsError::TooMany => "count",
        PathsError::Unknown { field, .. } => field,
    };
    let mut refusal = OpError::new(Kind::Invalid, format!("`{field}`: {error}")).advising(&error.advice());
    refusal.details.field = Some(field.to_owned());
    if let PathsError::Pattern(error) = &error {
        refusal.details.expected = Some(error.expected.to_owned());
        refusal.details.more.insert("position".to_owned(), error.position.into());
    }
    refusal
}

/// A line a path, with what stands behind each hop.
fn words(output: &Value) -> String {
    let mut lines = Lines::default();
    let text = |name: &str| output.get(name).and_then(Value::as_str);
    if let Some(note) = text("note") {
        lines.push(format!("Note: {note}"));
    }
    if let Some(count) = output.get("count") {
        lines.push(format!("{count} paths"));
    }
    let paths = output.get("paths").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    lines.list(&format!("{} paths:", paths.len()), paths.iter().map(path));
    if let (Some(rows), Some(cursor)) = (output.pointer("/left_out/rows"), text("next_cursor")) {
        lines.push(format!("{rows} more paths are left out: ask the same with `cursor`: `{cursor}`."));
    }
    if text("truncated").is_some() {
        lines.push("There are more paths than `limit`, or than could be looked at.".to_owned());
    }
    lines.push("What is not on a path may still be so: absence here is not safety.".to_owned());
    lines.finish()
}

fn path(path: &Value) -> String {
    let nodes = path.as_array().map(Vec::as_slice).unwrap_or_default();
    nodes.iter().map(hop).collect::<Vec<_>>().join(" ")
}

fn hop(node: &Value) -> String {
    let text = |pointer: &str| node.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let is = |pointer: &str| node.pointer(pointer).and_then(Value::as_bool).unwrap_or_default();
    let name = format!("{} ({})", text("/label"), text("/id"));
    if node.get("via").is_none() {
        return name;
    }
    let arrow = if is("/via/reverse") { ("<-", "-") } else { ("-", "->") };
    let marks = [
        (is("/via/critical"), "critical"),
        (!text("/via/strength").is_empty(), text("/via/strength")),
        (!is("/via/verified"), "not verified"),
        (node.pointer("/via/retracted").is_some(), "RETRACTED source"),
    ];
    let marks = marks.into_iter().filter(|(holds, _)| *holds).map(|(_, mark)| mark);
    let marks = marks.chain([text("/via/source")]).collect::<Vec<_>>().join(", ");
    format!("{}{}{} {name} [{marks}]", arrow.0, text("/via/predicate"), arrow.1)
}
