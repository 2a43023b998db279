//! `add_task`: put tasks into the queue after checking everything about them, their inputs' documents included.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use contract::actor::Role;
use contract::envelope::True;
use contract::error::{Kind, OpError};
use contract::id::TaskId;
use contract::workflow::tasks::{AddTask, AddedTasks, GivenInput, InputClass, QueueTasks, QueuedTasks, TaskMetadata};
use serde_json::Value;
use store::Tx;
use workflow::ids::IdsElsewhere;
use workflow::tasks::check::CheckedTask;
use workflow::tasks::{self, Absent};

use super::task_plan::{TaskPlan, check_form, check_holders, check_inputs, check_unfinished, insert_all};
use super::{NUMBERING_ROLES, V2_FIELDS};
use crate::context::{Context, Settings};
use crate::family::Family;
use crate::operation::{Answer, ApplyError, Ended, Operation, Told, Write, refusal};
use crate::remote::Service;

pub struct Plan {
    place: TaskPlan,
    tasks: Vec<CheckedTask>,
    /// Where the tracker is elsewhere, it has them already. A repeated call reaches it under the same key.
    queued: Option<QueuedTasks>,
    /// What the last run of `apply` gave out, for the log.
    task_ids: Mutex<Vec<TaskId>>,
}

impl Operation for AddTask {
    const NAME: &'static str = "add_task";
    const ABOUT: &'static str = "Add 1 to 100 tasks with resolved generator inputs. Every mandatory input must be there, stored and \
         approved; all tasks are added or none.";
    const FAMILY: Family = Family::Workflow;
    const ROLES: &'static [Role] = NUMBERING_ROLES;
    const SCOPE: Option<&'static str> = Some("task.write");
    const RETIRED_FIELDS: &'static [(&'static str, &'static str)] = V2_FIELDS;
    /// `settle` writes the line, as it knows the inputs.
    const TELL: Option<fn(&Ended<'_>)> = Some(|_| ());

    type Output = AddedTasks;

    fn fill_defaults(&mut self, settings: &Settings) {
        self.project_id.get_or_insert_with(|| settings.default_project_id.clone());
    }
}

impl Write for AddTask {
    type Plan = Plan;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<Plan, OpError> {
        let place = TaskPlan::new(ctx, self.project_id.as_ref());
        let tasks = check_inputs(ctx, &place, check_form(ctx, &self.tasks, "")?, Absent::Refused, "").await?;
        check_unfinished(ctx, &place, &tasks).await?;
        let Some(tracker) = ctx.find_remote(Service::Tasks) else {
            return Ok(Plan { place, tasks, queued: None, task_ids: Mutex::default() });
        };
        let mut reader = ctx.read().await?;
        check_holders(&mut reader, &place, &tasks).await.map_err(refusal)?;
        drop(reader);
        let batch = QueueTasks {
            project_id: self.project_id.clone().unwrap_or_else(|| ctx.settings().default_project_id.clone()),
            tasks: self.tasks.iter().zip(&tasks).map(|(given, checked)| resolved(given, checked)).collect(),
        };
        let input = serde_json::to_value(batch).map_err(OpError::internal)?;
        let output = tracker.call(ctx.journey().call(QueueTasks::NAME, input)).await?;
        let queued = serde_json::from_value(output).map_err(|error| {
            OpError::new(Kind::Upstream, "the task service answered something else than it should").with_source(error)
        })?;
        Ok(Plan { place, tasks, queued: Some(queued), task_ids: Mutex::default() })
    }

    fn lane(&self, plan: &Plan) -> Option<String> {
        plan.queued.is_none().then(|| tasks::lane(&plan.place.organisation_id))
    }

    async fn apply(&self, plan: &Plan, tx: &mut Tx<'_>) -> Result<Answer<AddedTasks>, ApplyError> {
        let (task_ids, rows) = match &plan.queued {
            None => insert_all(tx, &plan.place, &plan.tasks).await?,
            Some(queued) => {
                let ids = plan.tasks.iter().map(|task| task.artifact_id.clone()).collect();
                let handed_on = IdsElsewhere::HandedOn { project_id: plan.place.project_id.clone(), ids };
                plan.place.note_elsewhere(tx, &handed_on).await?;
                (queued.task_ids.clone(), Vec::new())
            }
        };
        plan.task_ids.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&task_ids);
        let answer = Answer::of(AddedTasks {
            success: True,
            tasks_added: u64::try_from(task_ids.len()).unwrap_or(u64::MAX),
            task_ids,
            artifact_ids: self.tasks.iter().map(|task| task.artifact_id.clone()).collect(),
        });
        Ok(rows.into_iter().fold(answer, Answer::leaving))
    }

    async fn settle(&self, plan: &Plan, ctx: &Context<'_>) {
        let task_ids = std::mem::take(&mut *plan.task_ids.lock().unwrap_or_else(PoisonError::into_inner));
        tell(&ctx.told(), &plan.tasks, &task_ids);
    }
}

/// The log entry of seed 001.
fn tell(told: &Told<'_>, tasks: &[CheckedTask], task_ids: &[TaskId]) {
    let task_ids = Value::from(task_ids.iter().map(TaskId::as_str).collect::<Vec<&str>>()).to_string();
    let texts = |of: fn(&CheckedTask) -> &str| Value::from(tasks.iter().map(of).collect::<Vec<&str>>()).to_string();
    let count = |class: InputClass| {
        let inputs = tasks.iter().flat_map(|task| &task.inputs).filter(|input| input.classification == class);
        let distinct: BTreeSet<&str> = inputs.map(|input| input.mcp_resource_uri.as_str()).collect();
        u64::try_from(distinct.len()).unwrap_or(u64::MAX)
    };
    tracing::info!(
        event = "add_task_invocation_completed",
        tool_name = AddTask::NAME,
        call_id = %told.call_id,
        task_id = told.task_id,
        tasks_added = u64::try_from(tasks.len()).unwrap_or(u64::MAX),
        artifact_ids = texts(|task| &task.artifact_id),
        generators = texts(|task| &task.generator),
        task_ids,
        inputs_validated = true,
        mandatory_inputs_count = count(InputClass::Mandatory),
        recommended_inputs_count = count(InputClass::Recommended),
        success = true,
        duration_ms = told.duration_ms,
    );
}

/// A task as the tracker gets it: with every input written out.
fn resolved(given: &TaskMetadata, checked: &CheckedTask) -> TaskMetadata {
    let inputs = checked.inputs.iter().cloned().map(|input| GivenInput {
        name: input.name,
        classification: input.classification,
        artifact_type: Some(input.artifact_type),
        artifact_id: Some(input.artifact_id),
        resource_path: Some(input.resource_path),
        mcp_resource_uri: Some(input.mcp_resource_uri),
        resource_uri: None,
        status: Some(input.status),
    });
    TaskMetadata { generator: checked.generator.clone(), inputs: inputs.collect(), ..given.clone() }
}
