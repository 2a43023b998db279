//! `list_artifact_revisions`: every state that a document was in, and by whom it came to it.

use contract::actor::Role;
use contract::error::OpError;
use contract::workflow::artifacts::{ArtifactRevisions, ListArtifactRevisions};
use workflow::artifacts;

use super::document::{Home, check_key};
use crate::context::{Context, Settings};
use crate::family::Family;
use crate::operation::{Answer, Operation, Read, store_error};

impl Operation for ListArtifactRevisions {
    const NAME: &'static str = "list_artifact_revisions";
    const ABOUT: &'static str =
        "List every state that a document was in: who stored it, who approved it, when, and the hash of its bytes.";
    const FAMILY: Family = Family::Workflow;
    const ROLES: &'static [Role] = &Role::ALL;
    const IS_TOOL: bool = false;

    type Output = ArtifactRevisions;

    fn fill_defaults(&mut self, settings: &Settings) {
        self.project_id.get_or_insert_with(|| settings.default_project_id.clone());
    }
}

impl Read for ListArtifactRevisions {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<ArtifactRevisions>, OpError> {
        let key = check_key(&self.artifact_id, "artifact_id", Self::NAME)?;
        let home = Home::of(ctx, self.project_id.as_ref());
        let mut reader = ctx.read().await?;
        let revisions = artifacts::list_revisions(&mut reader, home.place(), &key).await.map_err(store_error)?;
        if revisions.is_empty() {
            return Err(OpError::not_found(key.clone()));
        }
        Ok(Answer::of(ArtifactRevisions { revisions }).touching("artifact", key))
    }
}
