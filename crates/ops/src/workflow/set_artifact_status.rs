//! `set_artifact_status`: move an approved document to another status, or withdraw it.

use std::sync::{Arc, Mutex, PoisonError};

use contract::actor::Role;
use contract::envelope::True;
use contract::error::{Kind, OpError};
use contract::workflow::artifacts::{MovedArtifact, SetArtifactStatus};
use store::Tx;
use workflow::artifacts::{self, ArtifactRow};
use workflow::catalogue::Catalogue;
use workflow::status::{self, Request, StatusError};
use workflow::tasks;

use super::NUMBERING_ROLES;
use super::document::{Home, MAY_NOT_WITHDRAW, check_key, may_withdraw, missing};
use crate::context::{Context, Settings};
use crate::family::Family;
use crate::operation::{Answer, ApplyError, Operation, Write, store_error};
use crate::summary;

pub struct Plan {
    catalogue: Arc<Catalogue>,
    request: Request,
    default_project_id: String,
    /// What the last run of `apply` left, for the files.
    moved: Mutex<Option<ArtifactRow>>,
}

impl Operation for SetArtifactStatus {
    const NAME: &'static str = "set_artifact_status";
    const ABOUT: &'static str = "Move an approved document to another status of its type, such as In Progress or Completed, and back; or \
         withdraw it, which needs a person.";
    const FAMILY: Family = Family::Workflow;
    const ROLES: &'static [Role] = NUMBERING_ROLES;
    const SCOPE: Option<&'static str> = Some("artifact.write");
    // A catalogue has room for so many tools.
    const IS_TOOL: bool = false;

    type Output = MovedArtifact;

    fn fill_defaults(&mut self, settings: &Settings) {
        self.project_id.get_or_insert_with(|| settings.default_project_id.clone());
    }
}

impl Write for SetArtifactStatus {
    type Plan = Plan;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<Plan, OpError> {
        let artifact_id = check_key(&self.artifact_id, "artifact_id", Self::NAME)?;
        let home = Home::of(ctx, self.project_id.as_ref());
        let mut reader = ctx.read().await?;
        let found =
            artifacts::find(&mut reader, home.place(), &artifact_id, self.version).await.map_err(store_error)?;
        let Some(row) = found else {
            let error = missing(&mut reader, home.place(), &artifact_id, self.version, None).await;
            return Err(error.map_err(store_error)?);
        };
        drop(reader);
        ctx.files().check(&home.organisation_id, &row.address(&home.default_project_id)).await?;
        let request = Request {
            organisation_id: home.organisation_id,
            project_id: home.project_id,
            artifact_id,
            // What is the latest by then was not meant.
            version: Some(row.version),
            status: self.status.clone(),
            content_sha256: self.content_sha256.clone(),
            moved_by: ctx.actor().id.to_string(),
            moved_at_us: ctx.now_us(),
            may_withdraw: may_withdraw(ctx),
        };
        let catalogue = ctx.services().catalogue.current();
        Ok(Plan { catalogue, request, default_project_id: home.default_project_id, moved: Mutex::default() })
    }

    fn lane(&self, plan: &Plan) -> Option<String> {
        // Moves and approvals of a document go one after the other.
        Some(tasks::lane(&plan.request.organisation_id))
    }

    async fn apply(&self, plan: &Plan, tx: &mut Tx<'_>) -> Result<Answer<MovedArtifact>, ApplyError> {
        let outcome = status::set(tx, &plan.catalogue, &plan.request).await?;
        let row = outcome.row;
        let address = row.address(&plan.default_project_id);
        let mut answer = Answer::of(MovedArtifact {
            success: True,
            artifact_id: row.key.clone(),
            version: row.version,
            previous_status: outcome.old_status,
            status: row.status.clone(),
            artifact_path: address.path(),
            resource_uri: address.uri(),
            content_sha256: row.content_sha256.clone(),
        });
        if outcome.rows.is_empty() {
            answer = answer.touching("artifact", format!("{}/{}/{}", row.project_id, row.key, row.version));
        }
        *plan.moved.lock().unwrap_or_else(PoisonError::into_inner) = Some(row);
        Ok(outcome.rows.into_iter().fold(answer, Answer::leaving))
    }

    async fn settle(&self, plan: &Plan, ctx: &Context<'_>) {
        let moved = plan.moved.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(row) = moved {
            ctx.files().write(&row).await;
        }
    }
}

impl From<StatusError> for ApplyError {
    fn from(error: StatusError) -> ApplyError {
        let message = error.to_string();
        let of_field = |kind: Kind, field: &str, received: &str, expected: String| {
            let mut refusal = OpError::new(kind, message.clone());
            refusal.details.field = Some(field.to_owned());
            refusal.details.expected = Some(expected);
            refusal.received(summary::cut(received))
        };
        match error {
            StatusError::Store(error) => return ApplyError::Store(error),
            StatusError::NotFound { .. } => OpError::not_found(message).verbatim(),
            StatusError::WithoutId { key } => {
                of_field(Kind::Invalid, "artifact_id", &key, "the id of a document such as `EPIC-006`".to_owned())
            }
            StatusError::NotApproved { id, expected, .. } => {
                of_field(Kind::Conflict, "artifact_id", &id, format!("a document with one of the statuses {expected}"))
            }
            StatusError::WrongStatus { received, expected } => {
                of_field(Kind::Invalid, "status", &received, format!("one of {expected}"))
            }
            StatusError::OtherContent { received, found, .. } => {
                of_field(Kind::Conflict, "content_sha256", &received, found)
            }
            StatusError::MayNotWithdraw => OpError::refused(MAY_NOT_WITHDRAW),
            StatusError::NoStateLeft { id, .. } => {
                of_field(Kind::Conflict, "artifact_id", &id, "a document with fewer states".to_owned())
            }
        }
        .into()
    }
}
