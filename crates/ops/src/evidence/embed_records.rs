//! `embed_records`: bring the search index up to date and make the vectors of the next texts that have none of the model
//! in use. The house calls it until none is missing; what was made stays when it is interrupted.

use std::collections::HashSet;
use std::time::Duration;

use contract::actor::Role;
use contract::error::OpError;
use contract::evidence::search::{EmbedRecords, EmbedRecordsOutput};
use contract::model::ModelCard;
use evidence::search::embeddings::{self, Embedded, Place};
use evidence::search::hybrid::Library;
use evidence::search::index::SearchError;
use store::Tx;

use super::hybrid_search::current;
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, ApplyError, Operation, Write, store_error};

const LIMIT_DEFAULT: u32 = 32;
const FORGOTTEN_MAX: usize = 1_000;

pub struct Plan {
    organisation_id: String,
    version: u64,
    model: Option<ModelCard>,
    embedded: Vec<Embedded>,
    n_missing: usize,
    stale: Vec<Place>,
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
            stale: Vec::new(),
        };
        if self.forget {
            plan.stale = stale(ctx, current.library.clone()).await?;
        }
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
        embeddings::delete(tx, &plan.organisation_id, &plan.stale).await?;
        let wide = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        Ok(Answer::of(EmbedRecordsOutput {
            embedded: wide(plan.embedded.len()),
            missing: wide(plan.n_missing),
            forgotten: (!plan.stale.is_empty()).then(|| wide(plan.stale.len())),
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

/// Vectors in the record that nothing in the library is made of.
async fn stale(ctx: &Context<'_>, library: Library) -> Result<Vec<Place>, OpError> {
    let known = tokio::task::spawn_blocking(move || {
        library.snapshot().contents().into_iter().map(|(_, content)| content).collect::<HashSet<u64>>()
    });
    let known = known.await.map_err(OpError::internal)?;
    let mut reader = ctx.read().await?;
    let organisation_id = ctx.actor().organisation_id.as_str();
    let found = embeddings::find_stale(&mut reader, organisation_id, |short| known.contains(&short), FORGOTTEN_MAX);
    found.await.map_err(store_error)
}
