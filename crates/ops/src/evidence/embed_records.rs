//! `embed_records`: bring the search index up to date and make the vectors of the next texts that have none of the model
//! in use. The house calls it until none is missing; what was made stays when it is interrupted.

use std::time::Duration;

use contract::actor::Role;
use contract::error::OpError;
use contract::evidence::search::{EmbedRecords, EmbedRecordsOutput};
use contract::model::ModelCard;
use evidence::search::embeddings::{self, Embedded};
use evidence::search::index::SearchError;
use store::Tx;

use super::hybrid_search::current;
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, ApplyError, Operation, Write};

const LIMIT_DEFAULT: u32 = 32;

pub struct Plan {
    organisation_id: String,
    version: u64,
    model: Option<ModelCard>,
    embedded: Vec<Embedded>,
    n_missing: usize,
}

impl Operation for EmbedRecords {
    const NAME: &'static str = "embed_records";
    const ABOUT: &'static str =
        "Bring the search index up to date and make the vectors of the next texts that have none of the model in use.";
    const FAMILY: Family = Family::Evidence;
    const ROLES: &'static [Role] = &[Role::Curator, Role::Admin];
    const SCOPE: Option<&'static str> = Some("evidence.write");
    const IS_TOOL: bool = false;
    const DEADLINE: Option<Duration> = Some(Duration::from_secs(300));

    type Output = EmbedRecordsOutput;
}

impl Write for EmbedRecords {
    type Plan = Plan;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<Plan, OpError> {
        let searches = &ctx.services().search;
        let current = current(ctx, None).await?;
        let mut plan = Plan {
            organisation_id: ctx.actor().organisation_id.to_string(),
            version: u64::try_from(current.version).unwrap_or_default(),
            model: searches.model().cloned(),
            embedded: Vec::new(),
            n_missing: 0,
        };
        let Some(model) = plan.model.clone() else { return Ok(plan) };
        let n_max = usize::try_from(self.limit.unwrap_or(LIMIT_DEFAULT)).unwrap_or(usize::MAX);
        let library = current.library;
        let looking = tokio::task::spawn_blocking(move || {
            let entries = library.without_vectors(&model, n_max)?;
            Ok::<_, SearchError>((entries, library.n_without_vectors(&model)))
        });
        let (entries, n_lacking) = looking.await.map_err(OpError::internal)?.map_err(OpError::internal)?;
        plan.embedded = searches.embed(&entries).await.map_err(OpError::internal)?;
        plan.n_missing = n_lacking.saturating_sub(plan.embedded.len());
        Ok(plan)
    }

    async fn apply(&self, plan: &Plan, tx: &mut Tx<'_>) -> Result<Answer<EmbedRecordsOutput>, ApplyError> {
        if let Some(model) = &plan.model {
            embeddings::insert(tx, &plan.organisation_id, &model.sha256, &plan.embedded).await?;
        }
        let wide = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        Ok(Answer::of(EmbedRecordsOutput {
            embedded: wide(plan.embedded.len()),
            missing: wide(plan.n_missing),
            version: plan.version,
            model: plan.model.as_ref().map(|model| model.name.clone()),
        }))
    }

    async fn settle(&self, plan: &Plan, ctx: &Context<'_>) {
        if plan.embedded.is_empty() {
            return;
        }
        if let Err(error) = ctx.services().search.add_vectors(&plan.organisation_id, &plan.embedded).await {
            // They are in the record; the next look at it finds them.
            tracing::warn!(error = %error, "New vectors could not be taken into the library");
        }
    }
}
