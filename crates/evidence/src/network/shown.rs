//! A part of the graph as something to look at, in the form of seed 003.

use std::collections::HashSet;

use contract::evidence::network::{GraphLink, GraphNode, KnowledgeGraph};
use contract::evidence::starter::OWN_SOURCE;
use serde_json::{Map, json};

use super::statement::Statement;
use super::{Edges, Network, Ordered, rule};
use crate::contraindications::{NOT_INTERACTS, is_no_interaction};
use crate::graph::{Graph, NodeNumber};

impl Network {
    /// Something to show, with the documents behind each statement.
    pub fn shown(&self, graph: &Graph, title: &str, edges: &Edges) -> KnowledgeGraph {
        let id = |node: NodeNumber| graph.nodes().id(node).to_owned();
        let link = |statement: &Statement| {
            let edge = edges.of(graph, statement);
            let label = if edge.is_some_and(is_no_interaction) { NOT_INTERACTS } else { statement.predicate(graph) };
            let references = edge.iter().flat_map(|edge| &edge.evidence).filter_map(|it| it.reference.clone());
            GraphLink {
                source: id(statement.subject),
                target: id(statement.object),
                value: 1,
                label: label.to_owned(),
                evidence: references.collect(),
                retracted: edge.map(|edge| edges.retracted(&edge.id)).unwrap_or_default(),
                knowledge_source: statement.by(graph),
                verified: statement.verified(graph) == Some(true),
                severity: edge.and_then(|edge| self.severity(edge)),
                severity_by: edge.and_then(|edge| self.severity_by(edge)),
                rule: edge.filter(|edge| !self.is_capped(edge)).and_then(rule),
                capped_for: edge.iter().flat_map(|edge| self.capped_for(edge)).map(|it| id(*it)).collect(),
            }
        };
        let mut nodes: Vec<GraphNode> =
            self.nodes().into_iter().map(|(node, n_links)| self.node(graph, node, n_links)).collect();
        // The numbers of nodes differ from process to process; their ids do not.
        nodes.sort_by(|a, b| (!a.is_starting_node, &a.id).cmp(&(!b.is_starting_node, &b.id)));
        let mut metadata = Map::new();
        metadata.insert("title".to_owned(), json!(title));
        metadata.insert("source".to_owned(), json!(OWN_SOURCE));
        metadata.insert("version".to_owned(), json!(graph.version()));
        let Ordered { main, members, others } = self.ordered(graph, edges);
        let members = members.iter().flat_map(|it| std::iter::once(&it.statement).chain(&it.way));
        // A membership may lead to several statements.
        let mut seen = HashSet::new();
        let links = main.iter().chain(members).chain(&others).filter(|it| seen.insert(it.key(graph)));
        KnowledgeGraph { nodes, links: links.map(link).collect(), metadata }
    }

    fn node(&self, graph: &Graph, node: NodeNumber, n_links: u64) -> GraphNode {
        let id = graph.nodes().id(node).to_owned();
        let group = group(&id);
        GraphNode {
            name: graph.nodes().label(node).to_owned(),
            group,
            entity_type: entity_type(graph.nodes().kind(node)),
            val: n_links.max(1),
            is_starting_node: self.starts.contains(&node),
            id,
        }
    }
}

fn group(id: &str) -> u8 {
    match id.split_once(':').map_or("", |(prefix, _)| prefix) {
        "DRUGBANK" => 1,
        "NCBIGene" => 2,
        "MONDO" | "HP" | "DOID" => 3,
        "UMLS" => 4,
        "REACT" => 5,
        "NCIT" => 6,
        _ => 7,
    }
}

/// `chemical_entity` as `ChemicalEntity`, which is how Biolink and viewers write types.
fn entity_type(kind: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    };
    kind.split('_').map(capital).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_types_are_those_of_the_viewers() {
        assert_eq!(["DRUGBANK:DB1", "NCBIGene:2", "HP:3", "H1", "X:1"].map(group), [1, 2, 3, 7, 7]);
        assert_eq!(entity_type("chemical_entity"), "ChemicalEntity");
        assert_eq!(entity_type("herb"), "Herb");
    }
}
