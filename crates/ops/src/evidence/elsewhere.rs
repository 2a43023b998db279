//! What another server says of things, as a graph of its own beside ours.

use contract::envelope::Content;
use contract::error::OpError;
use contract::evidence::record::Record;
use evidence::graph::{Graph, NodeNumber};
use evidence::import::Format;
use evidence::network::{Edges, Network, Place};
use evidence::resolve::resolve;

use super::{Shown, graph_error, network_answer};
use crate::context::Context;
use crate::operation::{Answer, store_error};

/// Its answer, with the things that were asked about.
pub struct Elsewhere {
    graph: Graph,
    edges: Edges,
    pub nodes: Vec<NodeNumber>,
}

/// Asks about things by their ids. `None` where nobody is to be asked, nobody answers, or one of them is unknown there:
/// the record answers then.
pub async fn ask(ctx: &Context<'_>, curies: &[String]) -> Result<Option<Elsewhere>, OpError> {
    let Some(knowledge) = &ctx.services().knowledge else { return Ok(None) };
    let mut records = match knowledge.about(curies).await {
        Ok(records) => records,
        Err(error) => {
            tracing::warn!(error = %error, "The TRAPI endpoint did not answer; the record does");
            return Ok(None);
        }
    };
    records.push(Record::Source(Format::Trapi.source()));
    let graph = Graph::of(&records).map_err(graph_error)?;
    let found: Option<Vec<NodeNumber>> =
        curies.iter().map(|curie| resolve(&graph, curie, None).ok().map(|meant| meant.node)).collect();
    let edges = records.into_iter().filter_map(|record| match record {
        Record::Edge(edge) => Some(edge),
        Record::Source(_) | Record::Node(_) | Record::Document(_) | Record::Deletion(_) => None,
    });
    let Some(nodes) = found else { return Ok(None) };
    // What is retracted is known here, whoever states what rests on it.
    let mut reader = ctx.read().await?;
    let organisation_id = ctx.actor().organisation_id.as_str();
    let edges = Edges::read(&mut reader, organisation_id, edges.collect()).await.map_err(store_error)?;
    Ok(Some(Elsewhere { graph, edges, nodes }))
}

impl Elsewhere {
    /// A part of it, in the standard answer of seed 003.
    pub fn answer(&self, title: &str, part: impl FnOnce(&Graph) -> Network) -> Result<Answer<Content>, OpError> {
        network_answer(
            &self.graph,
            &part(&self.graph),
            title,
            &self.edges,
            Shown { place: Place::Elsewhere, notes: &[] },
        )
    }
}
