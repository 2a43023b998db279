//! `update_task_status`: start, renew, complete or reset a task.

use contract::actor::Role;
use contract::envelope::True;
use contract::error::OpError;
use contract::workflow::tasks::{TaskStatus, UpdateTaskStatus, UpdatedTask};
use store::Tx;
use workflow::tasks::{self, Change};

use super::{NUMBERING_ROLES, TaskPlan};
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, ApplyError, Operation, Write};
use crate::remote::Service;

impl Operation for UpdateTaskStatus {
    const NAME: &'static str = "update_task_status";
    const ABOUT: &'static str =
        "Move a task from pending to in_progress to completed. Going back to pending needs reset.";
    const FAMILY: Family = Family::Workflow;
    const ROLES: &'static [Role] = NUMBERING_ROLES;
    const SCOPE: Option<&'static str> = Some("task.write");
    const SERVICE: Option<Service> = Some(Service::Tasks);

    type Output = UpdatedTask;
}

impl Write for UpdateTaskStatus {
    type Plan = TaskPlan;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<TaskPlan, OpError> {
        if self.reset && self.status != TaskStatus::Pending {
            return Err(OpError::invalid("status", "pending, where reset is true").received(self.status.name()));
        }
        Ok(TaskPlan::new(ctx, None))
    }

    fn lane(&self, plan: &TaskPlan) -> Option<String> {
        Some(tasks::lane(&plan.organisation_id))
    }

    async fn apply(&self, plan: &TaskPlan, tx: &mut Tx<'_>) -> Result<Answer<UpdatedTask>, ApplyError> {
        let change = Change {
            organisation_id: &plan.organisation_id,
            actor_id: &plan.claimant,
            task_id: &self.task_id,
            status: self.status,
            is_reset: self.reset,
            may_take_back: plan.may_take_back,
            completion_notes: self.completion_notes.as_deref(),
            lease_us: plan.lease_us,
            now_us: plan.now_us,
        };
        let (updated_task, row) = tasks::change_status(tx, &change).await?;
        Ok(Answer::of(UpdatedTask { success: True, updated_task }).leaving(row))
    }
}
