//! Operations of the artifact workflow (seed 001).

mod add_task;
mod approval_consent;
mod approval_elsewhere;
mod approve_artifact;
mod asked_tasks;
mod confirm_reservation;
mod delete_expired_reservations;
mod diff_artifact;
mod document;
mod elsewhere;
mod get_next_available_id;
mod get_next_task;
mod guide_generation;
pub mod guide_numbering;
mod list_artifact_revisions;
mod list_artifact_types;
mod list_artifacts;
mod list_tasks;
mod queue_tasks;
mod read_artifact;
mod read_checklist;
mod read_template;
mod reserve_id_range;
mod set_artifact_status;
mod store_artifact;
mod task_plan;
mod update_task_status;
mod validate_artifact;

use contract::actor::Role;
use contract::error::{Kind, OpError};
use contract::id::{ArtifactTypeName, ProjectId};
use contract::workflow::ArtifactType;
use serde_json::Value;
use workflow::ids::IdsError;

use crate::context::Context;
use crate::operation::{ApplyError, Ended, Operation};
use task_plan::TaskPlan;

/// Who may take ids and tasks: those who write documents, and those who write for them.
const NUMBERING_ROLES: &[Role] = &[Role::Author, Role::Curator, Role::Approver, Role::Admin, Role::Agent];

/// Of version 2 of the task metadata.
const V2_FIELDS: &[(&str, &str)] =
    &[("parent_id", "`inputs` with every resolved document in its place, as version 3 of the task metadata has it")];

/// A counter, owned: what the id operations plan with.
pub struct CounterPlan {
    organisation_id: String,
    artifact_type: ArtifactType,
    project_id: String,
    now_us: i64,
}

impl CounterPlan {
    fn find(
        ctx: &Context<'_>,
        artifact_type: &ArtifactTypeName,
        project_id: Option<&ProjectId>,
    ) -> Result<CounterPlan, OpError> {
        Ok(CounterPlan {
            organisation_id: ctx.actor().organisation_id.to_string(),
            artifact_type: find_type(ctx, artifact_type)?,
            project_id: project_id.unwrap_or(&ctx.settings().default_project_id).to_string(),
            now_us: ctx.now_us(),
        })
    }

    fn counter(&self) -> workflow::ids::Counter<'_> {
        workflow::ids::Counter {
            organisation_id: &self.organisation_id,
            prefix: &self.artifact_type.prefix,
            project_id: &self.project_id,
        }
    }
}

/// The log entry of seed 001 about ids that were given out. A field that the output does not have is left out.
fn tell_numbers<T: Operation>(ended: &Ended<'_>) {
    let ids = ended.output.get("reserved_ids").and_then(Value::as_array);
    let reserved_ids = ids.map(|ids| Value::from(ids.clone()).to_string());
    tracing::info!(
        event = format_args!("{}_invocation_completed", T::NAME),
        tool_name = T::NAME,
        call_id = %ended.told.call_id,
        task_id = ended.told.task_id,
        artifact_type = ended.text("artifact_type"),
        project_id = ended.project_id,
        next_id = ended.text("next_id"),
        count = ids.map(|ids| u64::try_from(ids.len()).unwrap_or(u64::MAX)),
        reserved_ids,
        reservation_id = ended.text("reservation_id"),
        expires_at = ended.text("expires_at"),
        success = true,
        duration_ms = ended.told.duration_ms,
    );
}

fn find_type(ctx: &Context<'_>, name: &ArtifactTypeName) -> Result<ArtifactType, OpError> {
    let catalogue = ctx.services().catalogue.current();
    let found = catalogue.find_type(name.as_str()).filter(|kind| kind.prefix.is_some());
    found.map(Into::into).ok_or_else(|| {
        OpError::invalid("artifact_type", format!("one of {}, or the name of such a type", catalogue.prefixes()))
            .received(name.as_str())
    })
}

/// As the error itself, with the field that named the number.
fn too_far_ahead(field: &str, error: IdsError) -> ApplyError {
    let IdsError::TooFarAhead { id, highest } = &error else { return error.into() };
    let mut refusal = OpError::new(Kind::Invalid, error.to_string());
    refusal.details.field = Some(field.to_owned());
    refusal.details.expected = Some(format!("at most {highest}, or an id from get_next_available_id"));
    refusal.received(id.as_str()).into()
}

impl From<IdsError> for ApplyError {
    fn from(error: IdsError) -> ApplyError {
        match error {
            IdsError::Store(error) => ApplyError::Store(error),
            IdsError::UnknownReservation => OpError::not_found(error.to_string()).into(),
            IdsError::TooFarAhead { .. } => too_far_ahead("artifact_id", error),
            IdsError::NoNumberLeft { .. } | IdsError::AlreadyConfirmed | IdsError::Given { .. } => {
                OpError::conflict(error.to_string()).into()
            }
            IdsError::TooManyReservations { retry_after_ms, .. } => {
                OpError::rate_limited(error.to_string(), retry_after_ms).into()
            }
        }
    }
}
