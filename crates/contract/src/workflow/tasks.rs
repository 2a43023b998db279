//! Seed 001: tasks, their resolved generator inputs, and the inputs and outputs of the task operations.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::envelope::True;
use crate::id::{CorrelationId, ProjectId, TaskId};

/// The most tasks of one batch.
pub const TASKS_MAX: usize = 100;

/// Tasks on one page unless the caller says otherwise.
const PAGE_DEFAULT: u32 = 50;

/// The `artifact_id` of an input that has none: research has a file name only.
pub const NO_ARTIFACT_ID: &str = "N/A";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum TaskStatus {
    Pending,
    InProgress,
    Completed,
}

impl TaskStatus {
    pub const ALL: [TaskStatus; 3] = [TaskStatus::Pending, TaskStatus::InProgress, TaskStatus::Completed];

    pub fn name(self) -> &'static str {
        match self {
            TaskStatus::Pending => "pending",
            TaskStatus::InProgress => "in_progress",
            TaskStatus::Completed => "completed",
        }
    }

    pub fn parse(text: &str) -> Option<TaskStatus> {
        TaskStatus::ALL.into_iter().find(|status| status.name() == text)
    }
}

impl fmt::Display for TaskStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum InputClass {
    Mandatory,
    Recommended,
    Conditional,
}

impl InputClass {
    pub fn name(self) -> &'static str {
        match self {
            InputClass::Mandatory => "mandatory",
            InputClass::Recommended => "recommended",
            InputClass::Conditional => "conditional",
        }
    }
}

/// A resolved input of a generator, as a task keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorInput {
    /// Its name in the generator's configuration.
    pub name: String,
    pub classification: InputClass,
    pub artifact_type: String,
    /// `N/A` for research.
    pub artifact_id: String,
    pub resource_path: String,
    pub mcp_resource_uri: String,
    /// Status of the document when the task was made.
    pub status: String,
}

/// A generator input as a caller gives it. What is left out follows from the URI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GivenInput {
    /// Its name in the generator's configuration.
    #[schemars(length(min = 1, max = 64))]
    pub name: String,
    pub classification: InputClass,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub artifact_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub artifact_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 500))]
    pub resource_path: Option<String>,
    /// `mcp://resources/artifacts/{folder}/{file}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 500))]
    pub mcp_resource_uri: Option<String>,
    /// Another name of `mcp_resource_uri`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 500))]
    pub resource_uri: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 40))]
    pub status: Option<String>,
}

/// A task to be made: which document, by which generator, from what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskMetadata {
    /// Id of the document to generate, such as `HLS-012`.
    #[schemars(length(max = 20))]
    pub artifact_id: String,
    /// Such as `hls-generator`.
    #[schemars(length(min = 1, max = 100))]
    pub generator: String,
    /// Correlation id of the work on this task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<CorrelationId>,
    /// Every input, resolved.
    #[schemars(length(max = 50))]
    pub inputs: Vec<GivenInput>,
    /// `Generate HLS-012 from PRD-006` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 500))]
    pub description: Option<String>,
    /// Only `pending`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddTask {
    #[schemars(length(min = 1, max = 100))]
    pub tasks: Vec<TaskMetadata>,
    /// Project of the tasks; a server setting names the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// Correlation id of the work this belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<CorrelationId>,
}

/// As [`AddTask`], for tasks whose inputs somebody else has checked: the tracker knows no documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueTasks {
    pub project_id: ProjectId,
    #[schemars(length(min = 1, max = 100))]
    pub tasks: Vec<TaskMetadata>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueuedTasks {
    pub success: True,
    pub tasks_added: u64,
    /// In the order of the tasks.
    pub task_ids: Vec<TaskId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AddedTasks {
    pub success: True,
    pub tasks_added: u64,
    /// In the order of the tasks.
    pub task_ids: Vec<TaskId>,
    pub artifact_ids: Vec<String>,
}

/// A task of the queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    pub task_id: TaskId,
    pub project_id: String,
    pub artifact_id: String,
    pub generator: String,
    pub status: TaskStatus,
    pub description: String,
    pub inputs: Vec<GeneratorInput>,
    // Names of inputs. Where the document is not here, the caller's word is all there is.
    /// Not here; status as stated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen_inputs: Vec<String>,
    /// Came with the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    pub created_at: String,
    pub updated_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_notes: Option<String>,
    /// Who works on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_by: Option<String>,
    /// Others may claim it then, unless renewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_expires_at: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetNextTask {
    /// Project of the task; a server setting names the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    #[serde(default = "pending")]
    pub status_filter: TaskStatus,
    /// Take the task: it is in progress and nobody else gets it. Without this the call only looks.
    #[serde(default)]
    pub claim: bool,
    /// Correlation id of the work this belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<CorrelationId>,
}

fn pending() -> TaskStatus {
    TaskStatus::Pending
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NextTask {
    pub success: True,
    /// The oldest one, or null.
    pub task: Option<Task>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateTaskStatus {
    pub task_id: TaskId,
    /// `pending` needs `reset`. `in_progress` again, by who claimed it, renews the claim.
    pub status: TaskStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4000))]
    pub completion_notes: Option<String>,
    /// Take the task back to `pending`, whatever its status.
    #[serde(default)]
    pub reset: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UpdatedTask {
    pub success: True,
    pub updated_task: Task,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListTasks {
    /// Project of the tasks; a server setting names the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
    /// Only tasks with this document among their inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub depends_on: Option<String>,
    /// Only tasks without any mandatory input.
    #[serde(default)]
    pub missing_mandatory_inputs: bool,
    /// `next_cursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 20))]
    pub cursor: Option<String>,
    #[serde(default = "page_default")]
    #[schemars(range(min = 1, max = 200))]
    pub limit: u32,
}

fn page_default() -> u32 {
    PAGE_DEFAULT
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedTasks {
    pub success: True,
    /// Oldest first.
    pub tasks: Vec<Task>,
    /// How many are in this answer.
    pub count: u64,
    /// How many there are in all, on this page and others; a service elsewhere may not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
