//! `approve_artifact`: give a document its approval, its placeholders their ids, and each document that comes next a
//! task.

use std::sync::{Arc, Mutex, PoisonError};

use contract::actor::{ActorKind, Credential, Role};
use contract::envelope::True;
use contract::error::{Kind, OpError};
use contract::workflow::artifacts::{ApproveArtifact, ApprovedArtifact, MEANING_DEFAULT};
use serde_json::Value;
use store::Tx;
use uuid::Uuid;
use workflow::approval::{self, ApprovalError, Given, Lacking, Outcome, Request};
use workflow::catalogue::Catalogue;
use workflow::{artifacts, metadata, tasks};

use super::document::{Home, check_key};
use super::{approval_consent, approval_elsewhere, elsewhere};
use crate::context::{Context, SelfApproval, Settings};
use crate::door::Via;
use crate::family::Family;
use crate::operation::{Answer, ApplyError, Ended, Operation, Told, Write, refusal, store_error};

/// An agent prepares; a person decides.
pub const APPROVING_ROLES: &[Role] = &[Role::Approver, Role::Admin];

/// Whether a call is made for an approval elsewhere. Who may not approve is not believed.
pub fn is_part_of_approval(ctx: &Context<'_>) -> bool {
    ctx.via() == Via::Approval && ctx.actor().roles.iter().any(|role| APPROVING_ROLES.contains(role))
}

/// Types that one document may be cut into.
const RESERVATIONS_MAX: usize = 8;

pub struct Plan {
    catalogue: Arc<Catalogue>,
    request: Request,
    /// What the last run of `apply` did, for the files and the log.
    outcome: Mutex<Option<Outcome>>,
}

impl Operation for ApproveArtifact {
    const NAME: &'static str = "approve_artifact";
    const ABOUT: &'static str = "Approve the latest version of a document: placeholders such as HLS-AAA get final ids, the status changes, and \
         a task with resolved inputs is queued for each document that comes next. Needs a person.";
    const FAMILY: Family = Family::Workflow;
    const ROLES: &'static [Role] = APPROVING_ROLES;
    const SCOPE: Option<&'static str> = Some("artifact.approve");
    /// `settle` writes the line, as it knows the reservation.
    const TELL: Option<fn(&Ended<'_>)> = Some(|_| ());

    type Output = ApprovedArtifact;

    fn fill_defaults(&mut self, settings: &Settings) {
        self.project_id.get_or_insert_with(|| settings.default_project_id.clone());
        self.meaning.get_or_insert_with(|| MEANING_DEFAULT.to_owned());
    }
}

impl Write for ApproveArtifact {
    type Plan = Plan;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<Plan, OpError> {
        let artifact_id = check_key(&self.artifact_id, "artifact_id", Self::NAME)?;
        let (actor, settings) = (ctx.actor(), ctx.settings());
        // It is shown beside a name, on terminals too.
        if self.meaning.as_ref().is_some_and(|meaning| meaning.chars().any(metadata::is_invisible)) {
            return Err(OpError::invalid("meaning", "one line of text, without characters that cannot be seen"));
        }
        if actor.kind == ActorKind::Agent && !settings.agents_may_approve {
            return Err(OpError::refused("an agent may not approve documents"));
        }
        if settings.approval_needs_hash && self.content_sha256.is_none() {
            return Err(OpError::conflict(
                "here an approval names the SHA-256 of what was reviewed; give it as `content_sha256`, on the command line \
                 as `--sha256` (`materia artifact show` tells it)",
            ));
        }
        let home = Home::of(ctx, self.project_id.as_ref());
        let mut reader = ctx.read().await?;
        let found = artifacts::find(&mut reader, home.place(), &artifact_id, None).await.map_err(store_error)?;
        drop(reader);
        let catalogue = ctx.services().catalogue.current();
        // What names no document may be anything, and is not for the log.
        if found.is_some() || catalogue.type_of_id(&artifact_id).is_some() {
            tracing::info!(
                event = "approval_workflow_started",
                tool_name = Self::NAME,
                task_id = ctx.task_id(),
                artifact_id = artifact_id.as_str(),
            );
        }
        if let Some(row) = &found {
            ctx.files().check(&home.organisation_id, &row.address(&home.default_project_id)).await?;
        }
        // An admin whom the house itself knows may be the only person there is.
        let is_owner = actor.credential == Credential::House && actor.roles.contains(&Role::Admin);
        let mut request = Request {
            organisation_id: home.organisation_id,
            project_id: home.project_id,
            default_project_id: home.default_project_id,
            artifact_id,
            content_sha256: self.content_sha256.clone(),
            names_reviewed_hash: self.content_sha256.is_some(),
            meaning: self.meaning.clone().unwrap_or_else(|| MEANING_DEFAULT.to_owned()),
            approved_by: actor.id.to_string(),
            approved_at_us: ctx.now_us(),
            may_approve_own: match settings.self_approval {
                SelfApproval::Never => false,
                SelfApproval::Owner => is_owner,
                SelfApproval::Anybody => true,
            },
            correlation_id: ctx.task_id().map(str::to_owned),
            reservation_ids: (0..RESERVATIONS_MAX).map(|_| Uuid::new_v4()).collect(),
            reservation_expires_after_us: i64::try_from(settings.reservation_expires_after.as_micros())
                .unwrap_or(i64::MAX),
            research: settings.research.clone(),
            given: Given::default(),
        };
        if let Some(row) = found.filter(|_| settings.confirm_approval) {
            // Nobody is asked to approve what cannot be approved.
            let mut reader = ctx.read().await?;
            approval::preview(&mut reader, &catalogue, &request).await.map_err(refusal)?;
            drop(reader);
            request.names_reviewed_hash |= approval_consent::ask(ctx, &row)?;
            // What is approved is what they were asked about.
            request.content_sha256.get_or_insert(row.content_sha256);
        }
        approval_elsewhere::prepare(ctx, &catalogue, &mut request).await?;
        Ok(Plan { catalogue, request, outcome: Mutex::default() })
    }

    fn lane(&self, plan: &Plan) -> Option<String> {
        Some(tasks::lane(&plan.request.organisation_id))
    }

    async fn apply(&self, plan: &Plan, tx: &mut Tx<'_>) -> Result<Answer<ApprovedArtifact>, ApplyError> {
        let outcome = approval::approve(tx, &plan.catalogue, &plan.request).await?;
        let answer = Answer::of(ApprovedArtifact {
            success: True,
            artifact_id: outcome.row.key.clone(),
            old_status: outcome.old_status.clone(),
            new_status: outcome.row.status.clone(),
            artifact_path: outcome.row.address(&plan.request.default_project_id).path(),
            sub_artifacts_detected: outcome.sub_artifacts.clone(),
            tasks_created: u32::try_from(outcome.task_ids.len()).unwrap_or(u32::MAX),
            task_ids: outcome.task_ids.clone(),
            placeholder_ids_replaced: u32::try_from(outcome.id_mapping.len()).unwrap_or(u32::MAX),
            id_mapping: outcome.id_mapping.clone(),
        });
        let answer = outcome.rows.iter().cloned().fold(answer, Answer::leaving);
        *plan.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        Ok(answer)
    }

    async fn settle(&self, plan: &Plan, ctx: &Context<'_>) {
        let outcome = plan.outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(outcome) = outcome {
            let is_confirmed = elsewhere::confirm(ctx, &plan.request.given.reservation_ids).await;
            log_stages(&outcome, ctx.task_id(), is_confirmed);
            tell(&outcome, &ctx.told());
            ctx.files().write(&outcome.row).await;
        }
    }

    async fn abandon(&self, plan: &Plan, ctx: &Context<'_>) {
        approval_elsewhere::give_back(ctx, &plan.request).await;
    }
}

/// The stages of seed 001 after the first, told once and only of what is committed.
fn log_stages(outcome: &Outcome, task_id: Option<&str>, is_confirmed: bool) {
    let artifact_id = outcome.row.key.as_str();
    let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    macro_rules! stage {
        ($event:literal $(, $field:ident = $value:expr)*) => {
            tracing::info!(event = $event, tool_name = "approve_artifact", task_id, artifact_id $(, $field = $value)*)
        };
    }
    stage!("approval_prerequisites_validated");
    stage!("sub_artifacts_detected", sub_artifacts_count = count(outcome.sub_artifacts.len()));
    stage!("id_range_reserved", reservation_id = outcome.reservation_ids.join(", "));
    stage!("placeholders_replaced", placeholder_ids_replaced = count(outcome.id_mapping.len()));
    stage!("artifact_status_updated", old_status = outcome.old_status, new_status = outcome.row.status);
    for Lacking { generator, input_name } in &outcome.lacking {
        tracing::warn!(
            event = "recommended_input_missing",
            tool_name = ApproveArtifact::NAME,
            task_id,
            artifact_id,
            generator,
            input_name,
            "No document, or more than one, fits a recommended input; its tasks do without it"
        );
    }
    stage!("generator_inputs_resolved", inputs_count = count(outcome.n_inputs));
    stage!("tasks_created", tasks_created = count(outcome.task_ids.len()));
    if is_confirmed {
        stage!("id_reservation_confirmed", reservation_id = outcome.reservation_ids.join(", "));
    }
    stage!("approval_workflow_completed", approved_by = outcome.row.approved.as_ref().map(|it| it.by.as_str()));
}

/// The log entry of seed 001.
fn tell(outcome: &Outcome, told: &Told<'_>) {
    let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    let json = |value: Result<Value, serde_json::Error>| value.unwrap_or_default().to_string();
    let id_mapping = json(serde_json::to_value(&outcome.id_mapping));
    let sub_artifacts = json(serde_json::to_value(&outcome.sub_artifacts));
    let task_ids = json(serde_json::to_value(&outcome.task_ids));
    tracing::info!(
        event = "approve_artifact_invocation_completed",
        tool_name = ApproveArtifact::NAME,
        call_id = %told.call_id,
        task_id = told.task_id,
        artifact_id = outcome.row.key.as_str(),
        old_status = outcome.old_status.as_str(),
        new_status = outcome.row.status.as_str(),
        placeholder_ids_replaced = count(outcome.id_mapping.len()),
        id_mapping,
        reservation_id = outcome.reservation_ids.join(", "),
        sub_artifacts_detected = sub_artifacts,
        tasks_created = count(outcome.task_ids.len()),
        task_ids,
        success = true,
        duration_ms = told.duration_ms,
    );
}

impl From<ApprovalError> for ApplyError {
    fn from(error: ApprovalError) -> ApplyError {
        let message = error.to_string();
        match error {
            ApprovalError::Store(error) => ApplyError::Store(error),
            ApprovalError::Ids(error) => error.into(),
            ApprovalError::NotFound { .. } => OpError::not_found(message).verbatim().into(),
            ApprovalError::OwnDocument => OpError::refused(message).into(),
            ApprovalError::WrongParent { id, expected, .. } => {
                let mut refusal = OpError::new(Kind::Invalid, message);
                refusal.details.field = Some("parent_id".to_owned());
                refusal.details.expected = Some(format!("an id of type {expected}"));
                refusal.received(id).into()
            }
            ApprovalError::AlreadyApproved { .. }
            | ApprovalError::StoredFinished { .. }
            | ApprovalError::NoParent { .. }
            | ApprovalError::OtherStatus { .. }
            | ApprovalError::ParentNotApproved { .. }
            | ApprovalError::OtherFamily { .. }
            | ApprovalError::OpenQuestions { .. }
            | ApprovalError::ParentCycle { .. }
            | ApprovalError::OtherContent { .. }
            | ApprovalError::ForeignPlaceholder { .. }
            | ApprovalError::HiddenPlaceholder { .. }
            | ApprovalError::Unnumbered { .. }
            | ApprovalError::OneForTwo { .. }
            | ApprovalError::TemplateToken { .. }
            | ApprovalError::SecondOfOne { .. }
            | ApprovalError::IdOfOther { .. }
            | ApprovalError::Unshown { .. }
            | ApprovalError::OddId { .. }
            | ApprovalError::GivenToOther { .. }
            | ApprovalError::KeptForOther { .. }
            | ApprovalError::MissingInput { .. }
            | ApprovalError::AmbiguousInput { .. }
            | ApprovalError::IdTaken { .. }
            | ApprovalError::TakenBack { .. }
            | ApprovalError::StillClaimed { .. }
            | ApprovalError::NoFreeId { .. }
            | ApprovalError::AlreadyQueued { .. } => OpError::conflict(message).into(),
        }
    }
}
