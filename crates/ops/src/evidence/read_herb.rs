//! `read_herb`: a herb with its names, parts, constituents and indications; served as `kg://herb/{id}`.

use std::collections::HashMap;

use contract::actor::Role;
use contract::error::OpError;
use contract::evidence::record::{Node, RecordKind};
use contract::evidence::resources::{Herb, ReadHerb};
use evidence::network::Edges;
use evidence::record::read;
use evidence::resolve::resolve_herb;
use evidence::{details, paths};
use store::StoreError;

use super::{graph, node_record, note, provenance, unresolved};
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, Operation, Read, store_error};

impl Operation for ReadHerb {
    const NAME: &'static str = "read_herb";
    const ABOUT: &'static str = "Read a herb with its names, parts, constituents and indications.";
    const FAMILY: Family = Family::Evidence;
    const ROLES: &'static [Role] = &Role::ALL;
    // Agents reach it as a resource; a catalogue has room for so many tools.
    const IS_TOOL: bool = false;
    const RECORDED_AS: &'static str = "resource.kg.herb";

    type Output = Herb;
}

impl Read for ReadHerb {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<Herb>, OpError> {
        let graph = graph(ctx, None).await?;
        let meant = resolve_herb(&graph, &self.id).map_err(|error| unresolved("id", &error))?;
        let number = meant.node;
        let mut reader = ctx.read().await?;
        let node = node_record(ctx, &mut reader, &graph, number).await?;
        // Only the records of what it treats have the codes.
        let treated = details::treated(&graph, number);
        let ids: Vec<&str> = treated.iter().map(|end| graph.nodes().id(*end)).collect();
        let organisation_id = ctx.actor().organisation_id.as_str();
        let stored = read::find(&mut reader, organisation_id, RecordKind::Node, &ids).await.map_err(store_error)?;
        let records = stored.iter().map(|it| Ok((it.id.clone(), it.parse::<Node>()?)));
        let records: HashMap<String, Node> = records.collect::<Result<_, StoreError>>().map_err(store_error)?;
        let record = |end| records.get(graph.nodes().id(end)).cloned();
        let edges = Edges::find(&mut reader, organisation_id, &details::herb_edge_ids(&graph, number)).await;
        let edges = edges.map_err(store_error)?;
        let (mut herb, sources) = details::herb(&graph, number, &node, &edges, record);
        let notes = meant.note(&graph, &self.id).into_iter().chain(details::same_note(&graph, number));
        let notes: Vec<String> = notes.chain(herb.note.take()).collect();
        herb.note = (!notes.is_empty()).then(|| notes.join(" "));
        let licences = paths::licences(&graph, sources);
        herb.sources = licences.iter().map(|(source, _)| source.clone()).collect();
        let mut answer = Answer::of(herb).touching("node", node.id);
        answer.metadata = provenance(&graph, licences);
        note(&mut answer.metadata, &notes);
        Ok(answer)
    }
}
