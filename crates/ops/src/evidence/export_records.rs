//! `export_records`: documents as BibTeX, RIS or CSL-JSON, nodes and edges as KGX.

use std::collections::BTreeSet;

use contract::actor::Role;
use contract::error::OpError;
use contract::evidence::export::{ExportFormat, ExportRecords, ExportedRecords};
use contract::evidence::record::{Document, Edge, Node, RecordKind};
use evidence::export;
use evidence::graph::Direction;
use evidence::record::papers::Doubts;
use evidence::record::read::{self, Stored};
use serde_json::Value;

use super::graph;
use super::sources::sources;
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, Operation, Read, store_error};

impl Operation for ExportRecords {
    const NAME: &'static str = "export_records";
    const ABOUT: &'static str =
        "Documents as BibTeX, RIS or CSL-JSON, nodes and edges as KGX, each with its terms of use.";
    const FAMILY: Family = Family::Evidence;
    const ROLES: &'static [Role] = &Role::ALL;
    // For pages and programs; an agent cites by the bibliography of its searches.
    const IS_TOOL: bool = false;

    type Output = ExportedRecords;
}

impl Read for ExportRecords {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<ExportedRecords>, OpError> {
        let (kind, media_type) = match self.format {
            ExportFormat::Bibtex => (RecordKind::Document, "application/x-bibtex"),
            ExportFormat::Ris => (RecordKind::Document, "application/x-research-info-systems"),
            ExportFormat::CslJson => (RecordKind::Document, "application/vnd.citationstyles.csl+json"),
            ExportFormat::KgxNodes => (RecordKind::Node, "application/jsonl"),
            ExportFormat::KgxEdges => (RecordKind::Edge, "application/jsonl"),
        };
        let (records, next_cursor) = match &self.around {
            Some(nodes) => around(self, nodes, kind, ctx).await?,
            None => page(self, kind, ctx).await?,
        };
        let content = written(self, &records, ctx).await?;
        let n_records = u64::try_from(records.len()).unwrap_or(u64::MAX);
        Ok(Answer::of(ExportedRecords { content, media_type: media_type.to_owned(), n_records, next_cursor }))
    }
}

async fn page(
    wanted: &ExportRecords,
    kind: RecordKind,
    ctx: &Context<'_>,
) -> Result<(Vec<Stored>, Option<String>), OpError> {
    let organisation_id = ctx.actor().organisation_id.as_str();
    let mut reader = ctx.read().await?;
    if let Some(ids) = &wanted.ids {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let mut found = read::find(&mut reader, organisation_id, kind, &ids).await.map_err(store_error)?;
        found.sort_by(|a, b| a.id.cmp(&b.id));
        found.dedup_by(|a, b| a.id == b.id);
        // A list of references that is shorter than what was asked for must not pass for the whole.
        let is_missing = |id: &&str| found.binary_search_by(|stored| stored.id.as_str().cmp(*id)).is_err();
        if let Some((at, id)) = ids.iter().enumerate().find(|(_, id)| is_missing(id)) {
            return Err(missing(kind, id, format!("ids/{at}")));
        }
        return Ok((found, None));
    }
    let after = wanted.cursor.as_deref().unwrap_or_default();
    let n_max = usize::try_from(wanted.limit).unwrap_or(usize::MAX);
    let page = read::page(&mut reader, organisation_id, kind, after, i64::from(wanted.limit) + 1).await;
    let mut page = page.map_err(store_error)?;
    let is_more = page.len() > n_max;
    page.truncate(n_max);
    let next = page.last().filter(|_| is_more).map(|last| last.id.clone());
    Ok((page, next))
}

/// A page of what is around nodes: their edges, or they themselves and the nodes at the other ends.
async fn around(
    wanted: &ExportRecords,
    nodes: &[String],
    kind: RecordKind,
    ctx: &Context<'_>,
) -> Result<(Vec<Stored>, Option<String>), OpError> {
    if kind == RecordKind::Document || wanted.ids.is_some() {
        return Err(OpError::invalid("around", "a format of KGX, and no `ids`"));
    }
    let graph = graph(ctx, None).await?;
    let mut ids: BTreeSet<&str> = BTreeSet::new();
    for (at, id) in nodes.iter().enumerate() {
        let Some(node) = graph.nodes().find(id) else {
            return Err(missing(RecordKind::Node, id, format!("around/{at}")));
        };
        let hops = [Direction::Out, Direction::In].into_iter().flat_map(|it| graph.hops(node, it, None));
        match kind {
            RecordKind::Edge => ids.extend(hops.map(|hop| graph.edge_id(hop.edge))),
            RecordKind::Node | RecordKind::Source | RecordKind::Document => {
                ids.insert(graph.nodes().id(node));
                ids.extend(hops.map(|hop| graph.nodes().id(hop.end)));
            }
        }
    }
    let n_max = usize::try_from(wanted.limit).unwrap_or(usize::MAX);
    let after = wanted.cursor.as_deref().unwrap_or_default();
    let mut page: Vec<&str> = ids.into_iter().filter(|id| *id > after).take(n_max.saturating_add(1)).collect();
    let is_more = page.len() > n_max;
    page.truncate(n_max);
    let next = page.last().filter(|_| is_more).map(|last| (*last).to_owned());
    let mut reader = ctx.read().await?;
    let organisation_id = ctx.actor().organisation_id.as_str();
    let mut found = read::find(&mut reader, organisation_id, kind, &page).await.map_err(store_error)?;
    found.sort_by(|a, b| a.id.cmp(&b.id));
    found.dedup_by(|a, b| a.id == b.id);
    Ok((found, next))
}

fn missing(kind: RecordKind, id: &str, field: String) -> OpError {
    let mut refusal = OpError::not_found(format!("no {} has the id `{id}`", kind.name()));
    refusal.details.field = Some(field);
    refusal
}

async fn written(wanted: &ExportRecords, records: &[Stored], ctx: &Context<'_>) -> Result<String, OpError> {
    Ok(match wanted.format {
        ExportFormat::Bibtex => texts(parsed(records)?, ctx, export::bibtex).await?.join("\n"),
        ExportFormat::Ris => texts(parsed(records)?, ctx, export::ris).await?.join("\n"),
        ExportFormat::CslJson => Value::Array(texts(parsed(records)?, ctx, export::csl).await?).to_string(),
        ExportFormat::KgxNodes => lines(&texts(parsed(records)?, ctx, export::kgx_node).await?),
        ExportFormat::KgxEdges => {
            let edges: Vec<Edge> = parsed(records)?;
            let doubts = {
                let mut reader = ctx.read().await?;
                let read = Doubts::read(&mut reader, ctx.actor().organisation_id.as_str(), &edges).await;
                read.map_err(store_error)?
            };
            let write = |edge: &Edge, licence: &str| export::kgx_edge(edge, licence, &doubts.of(edge));
            lines(&texts(edges, ctx, write).await?)
        }
    })
}

fn parsed<T: Sourced>(records: &[Stored]) -> Result<Vec<T>, OpError> {
    records.iter().map(Stored::parse).collect::<Result<_, _>>().map_err(store_error)
}

/// A record that names its source.
trait Sourced: serde::de::DeserializeOwned {
    fn source(&self) -> &str;
}

impl Sourced for Document {
    fn source(&self) -> &str {
        &self.source
    }
}

impl Sourced for Node {
    fn source(&self) -> &str {
        &self.source
    }
}

impl Sourced for Edge {
    fn source(&self) -> &str {
        &self.source
    }
}

/// Each record as `write` writes it, with the licence of its source.
async fn texts<T: Sourced, O>(
    records: Vec<T>,
    ctx: &Context<'_>,
    write: impl Fn(&T, &str) -> O,
) -> Result<Vec<O>, OpError> {
    let ids: Vec<&str> = records.iter().map(Sourced::source).collect();
    let sources = sources(ctx, &ids).await?;
    let licence = |record: &T| sources.get(record.source()).map_or("not stated", |source| source.licence.as_str());
    Ok(records.iter().map(|record| write(record, licence(record))).collect())
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}
