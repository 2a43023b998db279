//! `read_node`: a node of the graph with what is said of it; served as `kg://node/{curie}`.

use contract::actor::Role;
use contract::error::OpError;
use contract::evidence::resources::{NodeDetails, ReadNode};
use evidence::details;
use evidence::network::Edges;
use evidence::resolve::resolve;

use super::{graph, node_record, note, provenance_of, unresolved};
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, Operation, Read, store_error};

impl Operation for ReadNode {
    const NAME: &'static str = "read_node";
    const ABOUT: &'static str = "Read a node of the evidence graph with its names and its relations.";
    const FAMILY: Family = Family::Evidence;
    const ROLES: &'static [Role] = &Role::ALL;
    // Agents reach it as a resource; a catalogue has room for so many tools.
    const IS_TOOL: bool = false;
    const RECORDED_AS: &'static str = "resource.kg.node";

    type Output = NodeDetails;
}

impl Read for ReadNode {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<NodeDetails>, OpError> {
        let graph = graph(ctx, None).await?;
        let meant = resolve(&graph, &self.curie, None).map_err(|error| unresolved("curie", &error))?;
        let number = meant.node;
        let mut reader = ctx.read().await?;
        let node = node_record(ctx, &mut reader, &graph, number).await?;
        let organisation_id = ctx.actor().organisation_id.as_str();
        let edges = Edges::find(&mut reader, organisation_id, &details::edge_ids(&graph, number)).await;
        let edges = edges.map_err(store_error)?;
        let (details, sources) = details::node(&graph, number, node, &edges);
        let id = details.id.clone();
        let mut answer = Answer::of(details).touching("node", id);
        answer.metadata = provenance_of(&graph, sources);
        let notes = meant.note(&graph, &self.curie).into_iter().chain(details::same_note(&graph, number));
        note(&mut answer.metadata, &notes.collect::<Vec<String>>());
        Ok(answer)
    }
}
