//! `diff_artifact`: what changed between two states of a document.

use contract::actor::Role;
use contract::error::OpError;
use contract::workflow::artifacts::{ArtifactDiff, DiffArtifact};
use workflow::{artifacts, diff};

use super::document::{Home, check_key, missing};
use crate::context::{Context, Settings};
use crate::family::Family;
use crate::operation::{Answer, Operation, Read, store_error};

impl Operation for DiffArtifact {
    const NAME: &'static str = "diff_artifact";
    const ABOUT: &'static str = "Show what changed between two versions or revisions of a document, as a unified diff.";
    const FAMILY: Family = Family::Workflow;
    const ROLES: &'static [Role] = &Role::ALL;
    const IS_TOOL: bool = false;

    type Output = ArtifactDiff;

    fn fill_defaults(&mut self, settings: &Settings) {
        self.project_id.get_or_insert_with(|| settings.default_project_id.clone());
    }
}

impl Read for DiffArtifact {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<ArtifactDiff>, OpError> {
        let key = check_key(&self.artifact_id, "artifact_id", Self::NAME)?;
        let home = Home::of(ctx, self.project_id.as_ref());
        let mut reader = ctx.read().await?;
        let mut states = Vec::new();
        for (version, revision) in [(Some(self.from_version), self.from_revision), (self.to_version, self.to_revision)]
        {
            let found = artifacts::find_revision(&mut reader, home.place(), &key, version, revision).await;
            let Some(found) = found.map_err(store_error)? else {
                let error = missing(&mut reader, home.place(), &key, version, revision).await;
                return Err(error.map_err(store_error)?);
            };
            let text = artifacts::read_content(&mut reader, &home.organisation_id, &found.content_sha256).await;
            states.push((found, text.map_err(store_error)?));
        }
        drop(reader);
        let (Some((to, new)), Some((from, old))) = (states.pop(), states.pop()) else {
            return Err(OpError::internal("two states were read"));
        };
        let found = tokio::task::spawn_blocking(move || diff::unified(&old, &new)).await.map_err(OpError::internal)?;
        Ok(Answer::of(ArtifactDiff {
            from,
            to,
            n_lines_added: found.n_lines_added,
            n_lines_removed: found.n_lines_removed,
            diff: found.text,
        })
        .touching("artifact", key))
    }
}
