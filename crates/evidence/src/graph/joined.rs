//! The graph of the record together with what another server says of things.

use contract::evidence::record::{Edge, Record, Source};

use super::{Changes, Direction, EdgeHead, Graph};
use crate::import::{Format, Provider};
use crate::record::passes_for_own_source;

impl Graph {
    /// This graph with the nodes and edges of an answer that it does not have yet, and these edges as they came. What is here
    /// stays as it is. An edge is of the source that its server names first.
    pub fn joined(&self, records: Vec<Record>) -> (Graph, Vec<Edge>) {
        let server = Format::Trapi.source();
        let mut changes = Changes { version: self.version, ..Changes::default() };
        let mut edges = Vec::new();
        for record in records {
            let provider = Provider::of(&record);
            match record {
                Record::Node(node) if self.nodes().find(&node.id).is_none() => changes.nodes.push(node),
                Record::Edge(mut edge) => {
                    if let Some(provider) = provider {
                        let source = self.source_elsewhere(provider, &server);
                        edge.source.clone_from(&source.id);
                        changes.sources.push(source);
                    }
                    if !self.has(&edge) {
                        changes.edges.push(EdgeHead::from(&edge).into_owned());
                        edges.push(edge);
                    }
                }
                Record::Node(_) | Record::Source(_) | Record::Document(_) | Record::Deletion(_) => {}
            }
        }
        changes.sources.push(server);
        changes.sources.retain(|source| self.sources().find(&source.id).is_none());
        let mut joined = self.clone();
        joined.apply(&changes);
        (joined, edges)
    }

    /// A server does not speak for a source that is here, nor for the program and its importers.
    fn source_elsewhere(&self, provider: Provider, server: &Source) -> Source {
        let Provider { id, licence } = provider;
        let is_own = passes_for_own_source(&id) || Format::own_source(&id).is_some();
        let is_taken = is_own || self.sources().find(&id).is_some();
        let title = format!("{id}, as a server names it");
        let id = if is_taken { format!("{}:{id}", server.id) } else { id };
        Source { id, title, licence: licence.unwrap_or_else(|| server.licence.clone()), ..server.clone() }
    }

    /// Whether the edge is here, or another one of its source that says the same.
    fn has(&self, edge: &Edge) -> bool {
        let nodes = self.nodes();
        let (Some(subject), Some(object)) = (nodes.find(&edge.subject), nodes.find(&edge.object)) else { return false };
        let Some(predicate) = self.predicates().find(&edge.predicate) else { return false };
        let hops = self.hops(subject, Direction::Out, Some(predicate)).into_iter().filter(|hop| hop.end == object);
        let mut kept = hops.map(|hop| self.edge(hop.edge));
        kept.any(|kept| kept.id == edge.id || self.sources().id(kept.source) == edge.source)
    }
}
