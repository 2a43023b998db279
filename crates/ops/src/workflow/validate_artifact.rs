//! `validate_artifact`: a document against the checklist of its type.

use contract::actor::Role;
use contract::error::{Kind, OpError};
use contract::workflow::artifacts::{ValidateArtifact, ValidationResult};
use workflow::approval::{self, Bearer};
use workflow::artifacts;
use workflow::markdown::Document;
use workflow::metadata::{check_line_ends, find_parent};
use workflow::validation::{Subject, mentioned};

use super::document::{Home, check_key, metadata_error};
use crate::context::{Context, Settings};
use crate::family::Family;
use crate::operation::{Answer, Operation, Read, store_error};

impl Operation for ValidateArtifact {
    const NAME: &'static str = "validate_artifact";
    const ABOUT: &'static str = "Check a document against the checklist of its type before storing it. Each failed criterion says which line \
         to mend; criteria with requires_agent_review are yours to judge.";
    const FAMILY: Family = Family::Workflow;
    const ROLES: &'static [Role] = &Role::ALL;

    type Output = ValidationResult;

    fn fill_defaults(&mut self, settings: &Settings) {
        self.project_id.get_or_insert_with(|| settings.default_project_id.clone());
    }
}

impl Read for ValidateArtifact {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<ValidationResult>, OpError> {
        let id = check_key(&self.artifact_id, "artifact_id", Self::NAME)?;
        check_line_ends(&self.artifact_content).map_err(|error| metadata_error(error, Self::NAME))?;
        let catalogue = ctx.services().catalogue.current();
        let by_file =
            || catalogue.types().iter().find(|kind| kind.file_suffix.as_ref().is_some_and(|it| id.ends_with(it)));
        let Some(kind) = catalogue.type_of_id(&id).or_else(by_file) else {
            let mut error = OpError::new(Kind::Invalid, format!("Invalid artifact ID format: {id}"));
            error.details.field = Some("artifact_id".to_owned());
            error.details.expected = Some(format!("an id such as `PRD-006`, of one of {}", catalogue.prefixes()));
            return Err(error.received(id));
        };
        let checklist = catalogue
            .find_checklist(&kind.checklist)
            .ok_or_else(|| OpError::not_found(format!("mcp://resources/validation/{}", kind.checklist)))?;
        let home = Home::of(ctx, self.project_id.as_ref());
        let names = mentioned(&catalogue, &self.artifact_content);
        let mut reader = ctx.read().await?;
        let known = artifacts::find_known(&mut reader, home.place(), &names).await.map_err(store_error)?;
        let parent_id = find_parent(&catalogue, kind, &Document::parse(&self.artifact_content)).ok().flatten();
        let bearer = Bearer {
            place: home.place(),
            key: &id,
            artifact_type: &kind.name,
            parent_id: parent_id.as_deref(),
            content: &self.artifact_content,
        };
        // As when it is stored: one that names no parent yet may still name the right one.
        let owner = match bearer.parent_id {
            Some(_) => approval::find_maker(&mut reader, &catalogue, bearer).await.map_err(store_error)?,
            None => None,
        };
        drop(reader);
        let subject = Subject::read(&catalogue, kind, &id, &self.artifact_content, &known);
        let result = subject.given_by(owner.as_deref()).validate(checklist);
        tracing::info!(
            event = "artifact_validated",
            tool_name = Self::NAME,
            task_id = ctx.task_id(),
            artifact_id = id.as_str(),
            checklist_id = kind.checklist,
            automated_pass_rate = result.automated_pass_rate,
            agent_review_count = result.agent_review_required,
            passed = result.passed,
        );
        Ok(Answer::of(result).touching("artifact", id))
    }
}
