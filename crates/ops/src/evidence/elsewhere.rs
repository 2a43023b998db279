//! What another server says of things, together with what is recorded here.

use std::sync::Arc;

use contract::error::{Kind, OpError};
use contract::evidence::record::Edge;
use evidence::graph::Graph;
use evidence::resolve::Unresolved;

use super::look;
use crate::context::Context;

const NOT_ASKED: &str = "The TRAPI endpoint could not be asked: this is what is recorded here alone.";

/// The record, and what was said elsewhere.
pub struct Joined {
    pub graph: Arc<Graph>,
    pub said: Elsewhere,
}

pub enum Elsewhere {
    /// Nobody is to be asked.
    Nobody,
    /// The edges that the record does not have.
    Edges(Vec<Edge>),
    NoAnswer,
}

/// Asks about things by their ids, where somebody is to be asked.
pub async fn join(ctx: &Context<'_>, graph: Arc<Graph>, curies: &[String]) -> Result<Joined, OpError> {
    let Some(knowledge) = &ctx.services().knowledge else { return Ok(Joined { graph, said: Elsewhere::Nobody }) };
    match knowledge.about(curies).await {
        Ok(records) => {
            let (graph, edges) = look(ctx, &graph, move |graph| graph.joined(records)).await?;
            Ok(Joined { graph: Arc::new(graph), said: Elsewhere::Edges(edges) })
        }
        Err(error) => {
            tracing::warn!(error = %error, "The TRAPI endpoint did not answer; the record does");
            Ok(Joined { graph, said: Elsewhere::NoAnswer })
        }
    }
}

impl Elsewhere {
    /// That something is missing, in words.
    pub fn note(&self) -> Option<String> {
        matches!(self, Elsewhere::NoAnswer).then(|| NOT_ASKED.to_owned())
    }

    /// A name that means nothing here, or several things. What is unknown here may be known to whoever did not answer.
    pub fn unresolved(&self, field: &str, error: &Unresolved) -> OpError {
        if matches!((self, error), (Elsewhere::NoAnswer, Unresolved::Unknown { .. })) {
            let message = format!("{error}, and the TRAPI endpoint could not be asked");
            return OpError::new(Kind::Upstream, message).advising(&error.advice());
        }
        super::unresolved(field, error)
    }

    /// Where what is told is from.
    pub fn place(&self) -> &'static str {
        match self {
            Elsewhere::Nobody | Elsewhere::NoAnswer => "in the record",
            Elsewhere::Edges(_) => "in the record and at the TRAPI endpoint",
        }
    }

    pub fn into_edges(self) -> Vec<Edge> {
        match self {
            Elsewhere::Edges(edges) => edges,
            Elsewhere::Nobody | Elsewhere::NoAnswer => Vec::new(),
        }
    }
}
