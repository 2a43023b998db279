//! Seed 003: parts of the graph as something to show, and the tools that answer with them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::record::RetractedReference;

/// The media type of a [`KnowledgeGraph`].
pub const KNOWLEDGE_GRAPH: &str = "application/vnd.knowledge-graph";

// Everything that is said of a thing, in both directions. The tool says so itself, and catalogues have little room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KgGetEverything {
    /// Such as `DRUGBANK:DB00682`; a name in any language will do where only one node has it.
    #[schemars(length(min = 1, max = 500))]
    pub curie: String,
}

// How several things hang together: what is said between them, and what two or more of them have in common. As above.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KgNetworkNeighborhood {
    #[schemars(length(min = 2, max = 50), inner(length(min = 1, max = 500)))]
    pub curies: Vec<String>,
}

/// Both ends of every link are among the nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnowledgeGraph {
    pub nodes: Vec<GraphNode>,
    pub links: Vec<GraphLink>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GraphNode {
    pub id: String,
    pub name: String,
    /// By the prefix of the id: 1 drug, 2 gene, 3 disease, 4 UMLS, 5 pathway, 6 NCI thesaurus, 7 everything else.
    pub group: u8,
    #[serde(rename = "entityType")]
    pub entity_type: String,
    /// How many links it has, for its size.
    pub val: u64,
    #[serde(rename = "isStartingNode", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_starting_node: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GraphLink {
    pub source: String,
    pub target: String,
    pub value: u64,
    /// The predicate.
    pub label: String,
    /// Documents and addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// Those of them that were retracted or are doubted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retracted: Vec<RetractedReference>,
    #[serde(rename = "knowledgeSource")]
    pub knowledge_source: String,
    /// Whether somebody compared it with its source.
    pub verified: bool,
    /// Of an interaction whose source grades it: `minor`, `moderate`, `major`, `critical`, `unknown` or `none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// The source that grades it so, where that is its word alone; absent where `rule` does, or nobody grades it so.
    #[serde(rename = "severityBy", default, skip_serializing_if = "Option::is_none")]
    pub severity_by: Option<String>,
    /// The rule by which it is critical.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Things that it reaches only by a class or ingredient that nobody verified: of them it is `major`, whatever
    /// `severity` says of others.
    #[serde(rename = "cappedFor", default, skip_serializing_if = "Vec::is_empty")]
    pub capped_for: Vec<String>,
}
