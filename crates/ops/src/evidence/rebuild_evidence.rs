//! `rebuild_evidence`: make the search index and the graph anew from the record. Those in use answer until that is done.
//! Vectors are not made again: `embed_records` makes those that are missing.

use std::time::Duration;

use contract::actor::Role;
use contract::error::OpError;
use contract::evidence::search::{RebuildEvidence, RebuildEvidenceOutput};
use store::Tx;

use super::graph_error;
use super::hybrid_search::{current, keep_error};
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, ApplyError, Operation, Write};

impl Operation for RebuildEvidence {
    const NAME: &'static str = "rebuild_evidence";
    const ABOUT: &'static str =
        "Make the search index and the graph anew from the record; those in use answer until that is done.";
    const FAMILY: Family = Family::Evidence;
    const ROLES: &'static [Role] = &[Role::Curator, Role::Admin];
    const SCOPE: Option<&'static str> = Some("evidence.write");
    const IS_TOOL: bool = false;
    const DEADLINE: Option<Duration> = Some(Duration::from_secs(300));

    type Output = RebuildEvidenceOutput;
}

/// A write, so that its event is stored before it is answered. What it makes is derived, and not in the record.
impl Write for RebuildEvidence {
    type Plan = RebuildEvidenceOutput;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<RebuildEvidenceOutput, OpError> {
        let organisation_id = ctx.actor().organisation_id.as_str();
        let reader = ctx.read().await?;
        ctx.services().search.rebuild(reader, organisation_id).await.map_err(keep_error)?;
        let graphs = ctx.services().evidence.graphs().map_err(graph_error)?;
        graphs.rebuild(organisation_id).await.map_err(graph_error)?;
        let version = current(ctx, None).await?.version;
        Ok(RebuildEvidenceOutput { version: u64::try_from(version).unwrap_or_default() })
    }

    async fn apply(
        &self,
        made: &RebuildEvidenceOutput,
        _tx: &mut Tx<'_>,
    ) -> Result<Answer<RebuildEvidenceOutput>, ApplyError> {
        Ok(Answer::of(made.clone()))
    }
}
