//! `queue_tasks`: put tasks into the queue whose inputs somebody else has resolved and checked. The tracker's own door:
//! it may stand where no documents are. Of a document that is here, only its own status counts.

use contract::actor::Role;
use contract::envelope::True;
use contract::error::OpError;
use contract::workflow::tasks::{QueueTasks, QueuedTasks};
use serde_json::Value;
use store::Tx;
use workflow::ids::IdsElsewhere;
use workflow::tasks::check::CheckedTask;
use workflow::tasks::{self, Absent};

use super::approve_artifact::is_part_of_approval;
use super::task_plan::{TaskPlan, check_form, check_inputs, insert_all};
use super::{NUMBERING_ROLES, V2_FIELDS};
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, ApplyError, Operation, Write};
use crate::remote::Service;

/// Before every complaint of the tracker about a batch.
const PREFIX: &str = "Task validation failed: ";

pub struct Plan {
    place: TaskPlan,
    tasks: Vec<CheckedTask>,
}

impl Operation for QueueTasks {
    const NAME: &'static str = "queue_tasks";
    const ABOUT: &'static str = "Put tasks into the queue whose inputs are resolved and checked, all or none.";
    const FAMILY: Family = Family::Workflow;
    const ROLES: &'static [Role] = NUMBERING_ROLES;
    const SCOPE: Option<&'static str> = Some("task.write");
    const SERVICE: Option<Service> = Some(Service::Tasks);
    const IS_TOOL: bool = false;
    const RETIRED_FIELDS: &'static [(&'static str, &'static str)] = V2_FIELDS;

    type Output = QueuedTasks;

    fn done_elsewhere(&self, _output: &Value, _now_us: i64) -> Option<IdsElsewhere> {
        let ids = self.tasks.iter().map(|task| task.artifact_id.clone()).collect();
        Some(IdsElsewhere::HandedOn { project_id: self.project_id.to_string(), ids })
    }
}

impl Write for QueueTasks {
    type Plan = Plan;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<Plan, OpError> {
        let place = TaskPlan::new(ctx, Some(&self.project_id));
        let mut tasks = check_form(ctx, &self.tasks, PREFIX)?;
        // The document that an approval is about becomes approved only after its tasks are queued.
        if is_part_of_approval(ctx) {
            for task in &mut tasks {
                task.unseen_inputs = task.inputs.iter().map(|input| input.name.clone()).collect();
            }
        } else {
            tasks = check_inputs(ctx, &place, tasks, Absent::Believed, PREFIX).await?;
        }
        Ok(Plan { place, tasks })
    }

    fn lane(&self, plan: &Plan) -> Option<String> {
        Some(tasks::lane(&plan.place.organisation_id))
    }

    async fn apply(&self, plan: &Plan, tx: &mut Tx<'_>) -> Result<Answer<QueuedTasks>, ApplyError> {
        let (task_ids, rows) = insert_all(tx, &plan.place, &plan.tasks).await?;
        let tasks_added = u64::try_from(task_ids.len()).unwrap_or(u64::MAX);
        let answer = Answer::of(QueuedTasks { success: True, tasks_added, task_ids });
        Ok(rows.into_iter().fold(answer, Answer::leaving))
    }
}
