//! New tasks.

use contract::id::TaskId;
use contract::workflow::tasks::{GeneratorInput, InputClass, NO_ARTIFACT_ID};
use store::{Param, StoreError, Tx};

use super::{TaskRow, TasksError, format_task_id};
use crate::audited::{self, AuditedRow};
use crate::ids::NUMBER_MAX;

/// A task to be put into the queue. Its inputs are resolved, and whoever made it has checked them.
#[derive(Debug, Clone)]
pub struct NewTask<'a> {
    pub organisation_id: &'a str,
    pub project_id: &'a str,
    /// Id of the document to generate.
    pub artifact_id: &'a str,
    pub generator: &'a str,
    /// Filled in by [`describe`] when absent.
    pub description: Option<&'a str>,
    pub inputs: &'a [GeneratorInput],
    /// Names of those whose documents are not here.
    pub unseen_inputs: &'a [String],
    /// The caller's word for the work on this task.
    pub correlation_id: Option<&'a str>,
    pub created_by: &'a str,
    pub created_at_us: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inserted {
    pub task_id: TaskId,
    /// The task as it is now.
    pub row: AuditedRow,
}

/// Puts a task at the end of the queue, unless its document is already in it.
pub async fn insert(tx: &mut Tx<'_>, new: &NewTask<'_>) -> Result<Inserted, TasksError> {
    let queued = tx
        .fetch_optional(
            "SELECT task_id FROM tasks WHERE organisation_id = $1 AND project_id = $2 AND artifact_id = $3 \
             AND status <> 'completed'",
            &[new.organisation_id.into(), new.project_id.into(), new.artifact_id.into()],
        )
        .await?;
    if queued.is_some() {
        return Err(TasksError::AlreadyQueued { artifact_id: new.artifact_id.to_owned() });
    }
    let number = advance(tx, new.organisation_id).await?;
    let task_id = format_task_id(number)?;
    let inputs = serde_json::to_string(new.inputs).map_err(|_| StoreError::other("inputs are not JSON"))?;
    let unseen = serde_json::to_string(new.unseen_inputs).map_err(|_| StoreError::other("names are not JSON"))?;
    let unseen = Some(unseen.as_str()).filter(|_| !new.unseen_inputs.is_empty());
    let described = describe(new.artifact_id, new.inputs);
    let has_mandatory_input = new.inputs.iter().any(|input| input.classification == InputClass::Mandatory);
    let row = tx
        .fetch_optional(
            with_columns!(
                "INSERT INTO tasks (organisation_id, task_id, task_number, project_id, artifact_id, generator, status, \
                 description, inputs_json, correlation_id, created_by, created_at_us, updated_at_us, \
                 has_mandatory_input, unseen_inputs) \
                 VALUES ($1, $2, $3, $4, $5, $6, 'pending', $7, $8, $9, $10, $11, $11, $12, $13) RETURNING",
                ""
            ),
            &[
                new.organisation_id.into(),
                task_id.as_str().into(),
                number.into(),
                new.project_id.into(),
                new.artifact_id.into(),
                new.generator.into(),
                new.description.unwrap_or(&described).into(),
                Param::Json(&inputs),
                new.correlation_id.into(),
                new.created_by.into(),
                new.created_at_us.into(),
                has_mandatory_input.into(),
                unseen.into(),
            ],
        )
        .await?
        .ok_or(StoreError::other("an inserted task did not come back"))?;
    insert_inputs(tx, new, &task_id).await?;
    let row = TaskRow::read(&row)?;
    Ok(Inserted { task_id, row: audited::task(&row.task) })
}

/// `Generate HLS-012 from PRD-006`: the first mandatory input, by its name where it has no id.
pub fn describe(artifact_id: &str, inputs: &[GeneratorInput]) -> String {
    match inputs.iter().find(|input| input.classification == InputClass::Mandatory) {
        Some(input) if input.artifact_id == NO_ARTIFACT_ID => format!("Generate {artifact_id} from {}", input.name),
        Some(input) => format!("Generate {artifact_id} from {}", input.artifact_id),
        None => format!("Generate {artifact_id}"),
    }
}

async fn advance(tx: &mut Tx<'_>, organisation_id: &str) -> Result<i64, TasksError> {
    let row = tx
        .fetch_optional(
            "INSERT INTO task_counters (organisation_id, last_task_number) VALUES ($1, 1) \
             ON CONFLICT (organisation_id) DO UPDATE SET last_task_number = task_counters.last_task_number + 1 \
             WHERE task_counters.last_task_number < $2 RETURNING last_task_number",
            &[organisation_id.into(), NUMBER_MAX.into()],
        )
        .await?;
    Ok(row.ok_or(TasksError::NoNumberLeft)?.int(0)?)
}

async fn insert_inputs(tx: &mut Tx<'_>, new: &NewTask<'_>, task_id: &TaskId) -> Result<(), StoreError> {
    for (position, input) in (0_i64..).zip(new.inputs) {
        tx.execute(
            "INSERT INTO task_inputs (organisation_id, task_id, position, artifact_id, classification) \
             VALUES ($1, $2, $3, $4, $5)",
            &[
                new.organisation_id.into(),
                task_id.as_str().into(),
                position.into(),
                input.artifact_id.as_str().into(),
                input.classification.name().into(),
            ],
        )
        .await?;
    }
    Ok(())
}
