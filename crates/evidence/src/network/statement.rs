//! One statement of an answer: an edge, or that two nodes are one thing by the word of their records.

use std::borrow::Cow;

use contract::evidence::checked::Checked;
use contract::evidence::starter::is_own_source;

use super::quoted;
use crate::graph::{Direction, EdgeRef, Graph, Hop, NodeNumber, Said, Same};

/// How it is called that two nodes are one thing.
const SAME_AS: &str = "same_as";

/// Ids of variants, of which there are more than anybody can look at.
const LEFT_OUT: &str = "CAID:";

/// From its subject to its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Statement {
    pub subject: NodeNumber,
    pub object: NodeNumber,
    said: Said,
}

impl From<Same> for Statement {
    fn from(Same { subject, object, said }: Same) -> Statement {
        Statement { subject, object, said }
    }
}

impl Statement {
    pub fn new(node: NodeNumber, direction: Direction, hop: Hop) -> Statement {
        let (subject, object) = if direction == Direction::Out { (node, hop.end) } else { (hop.end, node) };
        Statement { subject, object, said: Said::Edge { predicate: hop.predicate, edge: hop.edge } }
    }

    pub fn other(&self, node: NodeNumber) -> NodeNumber {
        if self.subject == node { self.object } else { self.subject }
    }

    fn edge(&self) -> Option<EdgeRef> {
        match self.said {
            Said::Edge { edge, .. } => Some(edge),
            Said::Records(_) => None,
        }
    }

    /// Of an edge.
    pub fn edge_id<'g>(&self, graph: &'g Graph) -> Option<&'g str> {
        self.edge().map(|edge| graph.edge_id(edge))
    }

    /// What tells it from others.
    pub fn key<'g>(&self, graph: &'g Graph) -> Cow<'g, str> {
        match self.edge_id(graph) {
            Some(id) => Cow::Borrowed(id),
            None => {
                let mut ids = [self.subject, self.object].map(|node| graph.nodes().id(node));
                ids.sort_unstable();
                // No id has a control character in it.
                Cow::Owned(ids.join("\n"))
            }
        }
    }

    pub fn predicate_number(&self) -> Option<u32> {
        match self.said {
            Said::Edge { predicate, .. } => Some(predicate),
            Said::Records(_) => None,
        }
    }

    pub fn predicate<'g>(&self, graph: &'g Graph) -> &'g str {
        self.predicate_number().map_or(SAME_AS, |predicate| graph.predicates().text(predicate))
    }

    /// Each once.
    pub fn sources(&self, graph: &Graph) -> Vec<u32> {
        graph.said_by(self.said)
    }

    /// Whose word it is.
    pub fn by(&self, graph: &Graph) -> String {
        let sources = self.sources(graph);
        sources.iter().map(|source| graph.sources().id(*source)).collect::<Vec<_>>().join(", ")
    }

    /// The same, where a model reads it.
    pub fn told_by(&self, graph: &Graph) -> String {
        let sources = self.sources(graph);
        sources.iter().map(|source| quoted::word(graph.sources().id(*source))).collect::<Vec<_>>().join(", ")
    }

    pub fn is_own(&self, graph: &Graph) -> bool {
        self.sources(graph).iter().all(|source| is_own_source(graph.sources().id(*source)))
    }

    pub fn verified(&self, graph: &Graph) -> Option<bool> {
        match self.said {
            Said::Edge { edge, .. } => graph.edge_verified(edge),
            Said::Records(_) => Some(graph.same_is_verified(self.said)),
        }
    }

    pub fn is_critical(&self, graph: &Graph) -> bool {
        self.edge().is_some_and(|edge| graph.edge_is_critical(edge))
    }

    /// What may not be cut off comes first: what somebody verified, and of that what is gravest. Identities are few, and nothing
    /// can be understood without them.
    pub fn weight(&self, graph: &Graph) -> (bool, u8) {
        self.edge().map_or((true, u8::MAX), |edge| {
            let edge = graph.edge(edge);
            (edge.verified() == Some(true), edge.gravity())
        })
    }

    /// Whether it says that two nodes are one thing.
    pub fn is_same(&self, graph: &Graph) -> bool {
        self.predicate_number().is_none_or(|predicate| graph.leads().same().contains(&predicate))
    }

    /// Whether what is said of one of its ends holds for the other.
    pub fn leads(&self, graph: &Graph) -> bool {
        self.predicate_number().is_none_or(|predicate| graph.leads().contains(predicate))
    }

    /// How well it is checked that it leads on.
    pub fn checked(&self, graph: &Graph) -> Checked {
        let verified = self.verified(graph);
        if self.is_same(graph) { Checked::of_identity(verified == Some(true)) } else { verified.into() }
    }
}

/// The edges of a node in both directions.
pub(super) fn statements_of(graph: &Graph, node: NodeNumber) -> Vec<Statement> {
    let of = |direction: Direction| {
        let hops = graph.hops(node, direction, None).into_iter();
        hops.map(move |hop| Statement::new(node, direction, hop))
    };
    let is_shown = |it: &Statement| !graph.nodes().id(it.other(node)).starts_with(LEFT_OUT);
    of(Direction::Out).chain(of(Direction::In)).filter(is_shown).collect()
}
