//! `add_task`: put tasks into the queue after checking everything about them, their inputs' documents included.

use contract::actor::Role;
use contract::envelope::True;
use contract::error::{Kind, OpError};
use contract::workflow::tasks::{AddTask, AddedTasks, GivenInput, QueueTasks, QueuedTasks, TaskMetadata};
use store::Tx;
use workflow::tasks;
use workflow::tasks::check::CheckedTask;

use super::task_plan::{TaskPlan, check_form, check_inputs, insert_all};
use super::{NUMBERING_ROLES, V2_FIELDS};
use crate::context::{Context, Settings};
use crate::family::Family;
use crate::operation::{Answer, ApplyError, Operation, Write};

pub enum Plan {
    Here {
        place: TaskPlan,
        tasks: Vec<CheckedTask>,
    },
    /// The tracker is elsewhere and has them already. A repeated call reaches it under the same key.
    Elsewhere(QueuedTasks),
}

impl Operation for AddTask {
    const NAME: &'static str = "add_task";
    const ABOUT: &'static str = "Add 1 to 100 tasks with resolved generator inputs. Every mandatory input must be there, stored and \
         approved; all tasks are added or none.";
    const FAMILY: Family = Family::Workflow;
    const ROLES: &'static [Role] = NUMBERING_ROLES;
    const SCOPE: Option<&'static str> = Some("task.write");
    const RETIRED_FIELDS: &'static [(&'static str, &'static str)] = V2_FIELDS;

    type Output = AddedTasks;

    fn fill_defaults(&mut self, settings: &Settings) {
        self.project_id.get_or_insert_with(|| settings.default_project_id.clone());
    }
}

impl Write for AddTask {
    type Plan = Plan;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<Plan, OpError> {
        let tasks = check_inputs(ctx, check_form(ctx, &self.tasks, "")?).await?;
        let Some(tracker) = &ctx.services().remotes.tasks else {
            return Ok(Plan::Here { place: TaskPlan::new(ctx, self.project_id.as_ref()), tasks });
        };
        let batch = QueueTasks {
            project_id: self.project_id.clone().unwrap_or_else(|| ctx.settings().default_project_id.clone()),
            tasks: self.tasks.iter().zip(tasks).map(|(given, checked)| resolved(given, checked)).collect(),
        };
        let input = serde_json::to_value(batch).map_err(OpError::internal)?;
        let output = tracker.call(ctx.journey().call(QueueTasks::NAME, input)).await?;
        let queued = serde_json::from_value(output).map_err(|error| {
            OpError::new(Kind::Upstream, "the task service answered something else than it should").with_source(error)
        })?;
        Ok(Plan::Elsewhere(queued))
    }

    fn lane(&self, plan: &Plan) -> Option<String> {
        match plan {
            Plan::Here { place, .. } => Some(tasks::lane(&place.organisation_id)),
            Plan::Elsewhere(_) => None,
        }
    }

    async fn apply(&self, plan: &Plan, tx: &mut Tx<'_>) -> Result<Answer<AddedTasks>, ApplyError> {
        let (task_ids, rows) = match plan {
            Plan::Here { place, tasks } => insert_all(tx, place, tasks).await?,
            Plan::Elsewhere(queued) => (queued.task_ids.clone(), Vec::new()),
        };
        let answer = Answer::of(AddedTasks {
            success: True,
            tasks_added: u64::try_from(task_ids.len()).unwrap_or(u64::MAX),
            task_ids,
            artifact_ids: self.tasks.iter().map(|task| task.artifact_id.clone()).collect(),
        });
        Ok(rows.into_iter().fold(answer, Answer::leaving))
    }
}

/// A task as the tracker gets it: with every input written out.
fn resolved(given: &TaskMetadata, checked: CheckedTask) -> TaskMetadata {
    let inputs = checked.inputs.into_iter().map(|input| GivenInput {
        name: input.name,
        classification: input.classification,
        artifact_type: Some(input.artifact_type),
        artifact_id: Some(input.artifact_id),
        resource_path: Some(input.resource_path),
        mcp_resource_uri: Some(input.mcp_resource_uri),
        resource_uri: None,
        status: Some(input.status),
    });
    TaskMetadata { generator: checked.generator, inputs: inputs.collect(), ..given.clone() }
}
