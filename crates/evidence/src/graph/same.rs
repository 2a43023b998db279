//! Which nodes are one thing, and who says so: the record of a node by its other ids, or an edge.
//!
//! A name that two things share makes them no one thing, and neither does a code that the starter data give to two of theirs:
//! codes of diseases are broader than what they are given to.

use contract::evidence::starter::is_own_source;

use super::names::{self, NameHash};
use super::nodes::OtherId;
use super::words::index;
use super::{Direction, EdgeRef, Graph, NodeNumber, Nodes};

/// Nodes that one node is told to be. Nothing has more ids.
const SAME_MAX: usize = 500;

/// That two nodes are one thing, in the direction in which it is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Same {
    pub subject: NodeNumber,
    pub object: NodeNumber,
    pub said: Said,
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    Edge {
        predicate: u32,
        edge: EdgeRef,
    },
    /// The records of these nodes: of both where each has a third id, otherwise twice the same one.
    Records([NodeNumber; 2]),
}

impl Same {
    pub fn other(&self, node: NodeNumber) -> NodeNumber {
        if self.subject == node { self.object } else { self.subject }
    }
}

impl Nodes {
    /// Whether the record of a node says that it has this other id.
    pub(super) fn says_same(&self, node: NodeNumber, hash: NameHash) -> bool {
        self.same.get(index(node)).is_some_and(|same| same.iter().any(|it| it.hash == hash))
    }

    /// Whether several nodes have ids that differ in nothing but their case: then an id means what is written exactly so.
    fn is_shared(&self, hash: NameHash) -> bool {
        let with_id = self.with_hash(hash).filter(|node| self.is_there(*node) && self.id_hash(*node) == Some(hash));
        with_id.take(2).count() > 1
    }

    /// Whether a node is called by an id that is written exactly so, or says that it has it.
    fn has_exactly(&self, node: NodeNumber, id: OtherId) -> bool {
        let is_own = self.id_hash(node) == Some(id.hash) && names::hash_exactly(self.id(node)) == id.exact;
        is_own || self.same.get(index(node)).is_some_and(|same| same.contains(&id))
    }

    /// Whether somebody compared what the record of a node says with its source.
    pub fn is_verified(&self, node: NodeNumber) -> bool {
        self.verified.get(index(node)).copied().unwrap_or_default()
    }

    pub(super) fn id_hash(&self, node: NodeNumber) -> Option<NameHash> {
        self.id_hashes.get(index(node)).copied()
    }
}

impl Graph {
    /// What is said of a node being another one: first what is verified, then in the order of their ids.
    pub fn same(&self, node: NodeNumber) -> Vec<Same> {
        let mut found = self.same_by_records(node);
        for direction in [Direction::Out, Direction::In] {
            let hops = self.leads().same().iter().flat_map(|it| self.hops(node, direction, Some(*it)));
            found.extend(hops.filter(|hop| hop.end != node).map(|hop| {
                let (subject, object) = if direction == Direction::Out { (node, hop.end) } else { (hop.end, node) };
                Same { subject, object, said: Said::Edge { predicate: hop.predicate, edge: hop.edge } }
            }));
        }
        // However many others say something, what is verified is not cut off.
        found.sort_by_cached_key(|same| {
            (!self.same_is_verified(same.said), self.nodes().id(same.other(node)).to_owned())
        });
        found.truncate(SAME_MAX);
        found
    }

    fn same_by_records(&self, node: NodeNumber) -> Vec<Same> {
        let nodes = self.nodes();
        let own = nodes.id_hash(node).into_iter().filter(|_| nodes.is_there(node));
        let named = nodes.same.get(index(node)).into_iter().flatten();
        let mut found = Vec::new();
        let by_own = own.clone().filter(|_| !nodes.is_alone(node)).map(|hash| (hash, None));
        for (hash, exact) in by_own.chain(named.map(|id| (id.hash, Some(id.exact)))) {
            let is_shared = nodes.is_shared(hash);
            let others = nodes.with_hash(hash).filter(|other| *other != node && nodes.is_there(*other));
            let others = others.filter(|other| {
                // Making a hash costs more than all else here, and hardly any id is shared.
                let exact = || exact.unwrap_or_else(|| names::hash_exactly(nodes.id(node)));
                !is_shared || nodes.has_exactly(*other, OtherId { hash, exact: exact() })
            });
            found.extend(others.filter_map(|other| {
                let (subject, object, by) = if nodes.id_hash(other) == Some(hash) {
                    // Two ids that differ in nothing but their case are what one of them says, if any does.
                    nodes.says_same(node, hash).then_some((node, other, [node; 2]))?
                } else if !nodes.says_same(other, hash) {
                    return None;
                } else if own.clone().any(|own| own == hash) {
                    (other, node, [other; 2])
                } else {
                    (!self.are_own([node, other])).then_some((node, other, [node, other]))?
                };
                Some(Same { subject, object, said: Said::Records(by) })
            }));
        }
        found
    }

    fn are_own(&self, nodes: [NodeNumber; 2]) -> bool {
        nodes.iter().all(|node| is_own_source(self.sources().id(self.nodes().source(*node))))
    }

    /// Whether somebody compared it with its source. Nobody but the starter data can say so.
    pub fn same_is_verified(&self, said: Said) -> bool {
        match said {
            Said::Edge { edge, .. } => self.edge_verified(edge) == Some(true),
            Said::Records(by) => by.iter().all(|node| self.nodes().is_verified(*node)),
        }
    }

    /// Whose word it is, each source once.
    pub fn said_by(&self, said: Said) -> Vec<u32> {
        match said {
            Said::Edge { edge, .. } => vec![self.edge_source(edge)],
            Said::Records(by) => {
                let [one, other] = by.map(|node| self.nodes().source(node));
                if one == other { vec![one] } else { vec![one, other] }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::changes::{Changes, EdgeHead};
    use crate::graph::snapshot;
    use contract::evidence::record::{Node, Record};
    use serde_json::json;

    fn seal() -> crate::sealing::Seal {
        crate::sealing::Sealing::new(&[[7; 32]]).of(snapshot::WHAT, &crate::sealing::Subject::default())
    }

    fn node(id: &str, source: &str, same_as: &[&str], is_verified: bool) -> Node {
        let node = json!({"id": id, "categories": ["drug"], "names": [{"text": id, "lang": "en"}], "same_as": same_as,
            "attributes": {"verified": is_verified}, "source": source});
        serde_json::from_value(node).unwrap()
    }

    /// What is said of a node: the other one, who says so, and whether that is verified.
    fn told(graph: &Graph, id: &str) -> Vec<(String, String, bool)> {
        let number = graph.nodes().find(id).unwrap();
        let told = graph.same(number).into_iter().map(|same| {
            let by: Vec<&str> = graph.said_by(same.said).iter().map(|it| graph.sources().id(*it)).collect();
            (graph.nodes().id(same.other(number)).to_owned(), by.join(", "), graph.same_is_verified(same.said))
        });
        told.collect()
    }

    fn told_as(told: &[(&str, &str, bool)]) -> Vec<(String, String, bool)> {
        told.iter().map(|(id, by, is_verified)| ((*id).to_owned(), (*by).to_owned(), *is_verified)).collect()
    }

    #[test]
    fn other_ids_make_one_thing_and_only_what_we_verified_is_verified() {
        let nodes = [
            node("warfarin", "materia:names", &["BANK:1"], true),
            node("doubtful", "materia:names", &["BANK:2"], false),
            node("dizziness", "materia", &["ICD:R42"], true),
            node("vertigo", "materia", &["ICD:R42"], true),
            node("BANK:1", "bank", &[], true),
            node("BANK:2", "bank", &[], true),
            node("MY:7", "mine", &["warfarin"], true),
            node("MY:8", "mine", &["X:1"], true),
            node("YOUR:8", "yours", &["X:1"], false),
        ];
        let mut graph = Graph::of(&nodes.map(Record::Node)).unwrap();
        let edge =
            json!({"id": "e", "subject": "MY:8", "predicate": "exact_match", "object": "MY:7", "source": "mine"});
        let edges = vec![serde_json::from_str::<EdgeHead<'_>>(&edge.to_string()).unwrap().into_owned()];
        graph.apply(&Changes { edges, version: 1, ..Changes::default() });
        let path = testkit::temp_dir().path().join("graph");
        snapshot::write(&path, &graph.compacted().unwrap(), "batch", &seal()).unwrap();
        let read = snapshot::read(&path, &seal()).unwrap().0;
        for graph in [&graph, &read] {
            let of_warfarin = [("BANK:1", "materia:names", true), ("MY:7", "mine", false)];
            assert_eq!(told(graph, "warfarin"), told_as(&of_warfarin));
            assert_eq!(told(graph, "BANK:1"), told_as(&[("warfarin", "materia:names", true)]));
            assert_eq!(told(graph, "BANK:2"), told_as(&[("doubtful", "materia:names", false)]));
            assert_eq!(told(graph, "dizziness"), []);
            assert_eq!(told(graph, "MY:8"), told_as(&[("MY:7", "mine", false), ("YOUR:8", "mine, yours", false)]));
            assert_eq!(told(graph, "MY:7"), told_as(&[("MY:8", "mine", false), ("warfarin", "mine", false)]));
        }
        let cased = [
            node("AA:x1", "mine", &[], false),
            node("aa:X1", "yours", &[], false),
            node("T:1", "theirs", &["AA:x1"], false),
            node("T:2", "theirs", &["bb:y1"], false),
            node("BB:Y1", "theirs", &[], false),
        ];
        let cased = Graph::of(&cased.map(Record::Node)).unwrap();
        assert_eq!(told(&cased, "T:1"), told_as(&[("AA:x1", "theirs", false)]));
        assert_eq!(told(&cased, "AA:x1"), told_as(&[("T:1", "theirs", false)]));
        assert_eq!(told(&cased, "aa:X1"), []);
        assert_eq!(told(&cased, "T:2"), told_as(&[("BB:Y1", "theirs", false)]));
        let gone_nodes = vec!["warfarin".to_owned()];
        graph.apply(&Changes { gone_nodes, version: 2, ..Changes::default() });
        assert_eq!(told(&graph, "BANK:1"), []);
    }
}
