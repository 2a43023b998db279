//! `get_next_task`: the oldest task of a project, to look at or to take.

use contract::actor::Role;
use contract::envelope::True;
use contract::error::OpError;
use contract::workflow::tasks::{GetNextTask, NextTask, TaskStatus};
use store::Tx;
use workflow::tasks::{self, Claimant};

use super::{NUMBERING_ROLES, TaskPlan};
use crate::context::{Context, Settings};
use crate::family::Family;
use crate::operation::{Answer, ApplyError, Operation, Write};
use crate::remote::Service;

impl Operation for GetNextTask {
    const NAME: &'static str = "get_next_task";
    const ABOUT: &'static str = "Get the oldest pending task of a project with its resolved inputs. With claim it is yours: nobody \
         else gets it until you complete it or your claim runs out.";
    const FAMILY: Family = Family::Workflow;
    const ROLES: &'static [Role] = NUMBERING_ROLES;
    const SCOPE: Option<&'static str> = Some("task.write");
    const SERVICE: Option<Service> = Some(Service::Tasks);

    type Output = NextTask;

    fn fill_defaults(&mut self, settings: &Settings) {
        self.project_id.get_or_insert_with(|| settings.default_project_id.clone());
    }
}

impl Write for GetNextTask {
    type Plan = TaskPlan;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<TaskPlan, OpError> {
        if self.claim && self.status_filter != TaskStatus::Pending {
            return Err(OpError::invalid("status_filter", "pending, as only a pending task can be claimed")
                .received(self.status_filter.name()));
        }
        Ok(TaskPlan::new(ctx, self.project_id.as_ref()))
    }

    /// Who only looks shares the commit of those who claim.
    fn lane(&self, plan: &TaskPlan) -> Option<String> {
        Some(tasks::lane(&plan.organisation_id))
    }

    async fn apply(&self, plan: &TaskPlan, tx: &mut Tx<'_>) -> Result<Answer<NextTask>, ApplyError> {
        let (organisation_id, project_id) = (plan.organisation_id.as_str(), plan.project_id.as_str());
        let (task, row) = if self.claim {
            let claimant = Claimant {
                organisation_id,
                project_id,
                actor_id: &plan.claimant,
                lease_us: plan.lease_us,
                now_us: plan.now_us,
            };
            tasks::claim_next(tx, &claimant).await?.unzip()
        } else {
            (tasks::find_next(tx, organisation_id, project_id, self.status_filter, plan.now_us).await?, None)
        };
        let none = || format!("No {} tasks in project {project_id}", self.status_filter);
        let message = task.is_none().then(none);
        let answer = Answer::of(NextTask { success: True, task, message });
        Ok(row.into_iter().fold(answer, Answer::leaving))
    }
}
