//! Operations over the evidence (seed 002).

mod brief;
mod elsewhere;
mod embed_records;
mod export_records;
mod find_contraindications;
mod hybrid_search;
mod kg_get_everything;
mod kg_network_neighborhood;
mod load_starter_data;
mod pubmed_get_details;
mod pubmed_search;
mod put_records;
mod query_kg;
mod read_herb;
mod read_node;
mod read_paper;
mod read_records;
mod rebuild_evidence;
mod sources;

use std::sync::Arc;

use contract::envelope::{Artifact, Audience, Content, ResponseMetadata};
use contract::error::{Kind, OpError};
use contract::evidence::network::KNOWLEDGE_GRAPH;
use contract::evidence::record::{Node, RecordKind};
use contract::evidence::starter::OWN_SOURCE;
use contract::id::OrganisationId;
use evidence::graph::{Graph, GraphError, NodeNumber};
use evidence::network::Network;
use evidence::paths;
use evidence::record::read;
use evidence::resolve::Unresolved;
use serde_json::{Value, json};
use store::Conn;

use self::elsewhere::Joined;
use crate::Platform;
use crate::context::Context;
use crate::limits::RETRY_AFTER_MS;
use crate::operation::{Answer, store_error};
use crate::starter_data::stored_version;

impl Platform {
    /// Brings the text index to the record's last change, however long that takes. It is derived, so it has no event.
    pub async fn index_records(&self, organisation_id: &OrganisationId) -> Result<(), OpError> {
        let reader = self.store().read().await.map_err(store_error)?;
        let current = self.services().search.current(reader, organisation_id.as_str()).await;
        current.map(drop).map_err(hybrid_search::keep_error)
    }
}

/// Which starter data an answer knows of; absent where there are none.
const DATA_VERSION: &str = "data_version";

/// As [`provenance`] says it, for answers that do not come from the graph.
async fn note_data_version(ctx: &Context<'_>, metadata: &mut ResponseMetadata) -> Result<(), OpError> {
    let mut reader = ctx.read().await?;
    let version = stored_version(&mut reader, ctx.actor().organisation_id.as_str()).await.map_err(store_error)?;
    metadata.extend(version.map(|version| (DATA_VERSION.to_owned(), json!(version))));
    Ok(())
}

/// The graph of the caller's organisation, with change `version_min` where one is named.
async fn graph(ctx: &Context<'_>, version_min: Option<u64>) -> Result<Arc<Graph>, OpError> {
    let organisation_id = ctx.actor().organisation_id.as_str();
    let version_min = version_min.map(|version| i64::try_from(version).unwrap_or(i64::MAX));
    let graphs = ctx.services().evidence.graphs().map_err(graph_error)?;
    graphs.graph(organisation_id, version_min).await.map_err(graph_error)
}

/// Looks at the graph in the pool for long work: of a large class much is to be looked at.
async fn look<T: Send + 'static>(
    ctx: &Context<'_>,
    graph: &Arc<Graph>,
    look: impl FnOnce(&Graph) -> T + Send + 'static,
) -> Result<T, OpError> {
    let graphs = ctx.services().evidence.graphs().map_err(graph_error)?;
    let graph = Arc::clone(graph);
    graphs.work(move |_| look(&graph)).await.map_err(graph_error)
}

fn graph_error(error: GraphError) -> OpError {
    match error {
        GraphError::Store(error) => store_error(error),
        GraphError::Behind(_) | GraphError::Unavailable(_) => OpError::busy(error.to_string(), RETRY_AFTER_MS),
        GraphError::TooLarge => OpError::internal(error),
    }
}

/// A name that means nothing here, or several things, with the field it came in.
fn unresolved(field: &str, error: &Unresolved) -> OpError {
    let kind = match error {
        Unresolved::Unknown { .. } | Unresolved::OtherKind { .. } => Kind::NotFound,
        Unresolved::Ambiguous { .. } => Kind::Invalid,
    };
    let mut refusal = OpError::new(kind, error.to_string()).advising(&error.advice());
    refusal.details.field = Some(field.to_owned());
    refusal
}

/// What an answer was computed from, and under which licences it may be used.
fn provenance(graph: &Graph, licences: Vec<(String, String)>) -> ResponseMetadata {
    let licences: Vec<Value> =
        licences.into_iter().map(|(source, licence)| json!({ "source": source, "licence": licence })).collect();
    let mut metadata = ResponseMetadata::new();
    metadata.insert("version".to_owned(), json!(graph.version()));
    metadata.insert("licences".to_owned(), Value::Array(licences));
    if let Some(version) = graph.sources().version(OWN_SOURCE) {
        metadata.insert(DATA_VERSION.to_owned(), json!(version));
    }
    metadata
}

fn provenance_of(graph: &Graph, sources: impl IntoIterator<Item = u32>) -> ResponseMetadata {
    provenance(graph, paths::licences(graph, sources))
}

/// The record of a node that the graph knows.
async fn node_record(ctx: &Context<'_>, conn: &mut Conn, graph: &Graph, node: NodeNumber) -> Result<Node, OpError> {
    let (organisation_id, id) = (ctx.actor().organisation_id.as_str(), graph.nodes().id(node));
    let stored = read::find_one(conn, organisation_id, RecordKind::Node, id).await.map_err(store_error)?;
    let stored = stored.ok_or_else(|| OpError::not_found(format!("`{id}` was withdrawn a moment ago")))?;
    stored.parse().map_err(store_error)
}

/// Says beside an answer what its question left open.
fn note(metadata: &mut ResponseMetadata, notes: &[String]) {
    if !notes.is_empty() {
        metadata.insert("note".to_owned(), json!(notes.join(" ")));
    }
}

/// A part of the graph in the standard answer of seed 003: in words for the model, and as something to look at.
async fn show_network(
    ctx: &Context<'_>,
    Joined { graph, said }: Joined,
    network: &Network,
    title: &str,
    mut notes: Vec<String>,
) -> Result<Answer<Content>, OpError> {
    notes.extend(said.notes());
    let (is_answered, told) = (said.is_answered(), said.told(network.n_statements));
    let mut reader = ctx.read().await?;
    let organisation_id = ctx.actor().organisation_id.as_str();
    let edges = network.edges(&mut reader, organisation_id, &graph, said.into_edges()).await.map_err(store_error)?;
    let mut answer = Answer::of(Content::text(network.text(&graph, title, &edges, &notes), Audience::Model));
    if !network.is_empty() {
        let shown = network.shown(&graph, title, &edges);
        answer.artifacts.push(Artifact {
            id: None,
            kind: KNOWLEDGE_GRAPH.to_owned(),
            title: format!("Knowledge Graph: {title}"),
            content: serde_json::to_string(&shown).map_err(OpError::internal)?,
            language: None,
        });
    }
    let message = match (network.n_statements, network.n_unknown_pairs()) {
        (0, _) | (_, 0) => told,
        (_, n_pairs) => format!("{told}; of {n_pairs} of the pairs, none"),
    };
    answer.metadata = provenance_of(&graph, network.sources(&graph));
    let facts = [
        ("querySuccess", json!(is_answered)),
        ("nodeCount", json!(network.n_nodes())),
        ("edgeCount", json!(network.n_statements)),
        ("message", json!(message)),
    ];
    answer.metadata.extend(facts.map(|(name, fact)| (name.to_owned(), fact)));
    note(&mut answer.metadata, &notes);
    Ok(answer)
}
