//! Jobs: calls that go on after their caller was answered. Any process answers for them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::audit::AuditBlock;
use crate::envelope::{Artifact, ResponseMetadata};
use crate::id::{JobId, OperationName};
use crate::question::{Answered, Questions};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartJob {
    /// An operation that takes long, and so runs as a job; other operations are called as they are.
    pub operation: OperationName,
    /// The operation's own input.
    #[serde(default)]
    pub input: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobStatus {
    pub job_id: JobId,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelJob {
    pub job_id: JobId,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerJob {
    pub job_id: JobId,
    /// Answers by the keys of the job's questions. Keys that were not asked are ignored.
    pub answers: Answered,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Waits for its turn or runs.
    Working,
    /// Waits for answers.
    InputRequired,
    /// Ended; `output` or `error` tells how.
    Ended,
    Cancelled,
}

impl JobState {
    pub fn name(self) -> &'static str {
        match self {
            JobState::Working => "working",
            JobState::InputRequired => "input_required",
            JobState::Ended => "ended",
            JobState::Cancelled => "cancelled",
        }
    }
}

/// A job as its owner sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    pub job_id: JobId,
    pub operation: String,
    pub state: JobState,
    /// The last step that the job reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// Questions that wait for an answer, by their keys.
    #[serde(default, skip_serializing_if = "Questions::is_empty")]
    #[schemars(with = "Map<String, Value>")] // every family lists jobs, and lists must stay short
    pub questions: Questions,
    /// RFC 3339 in UTC, as the other times.
    pub created_at: String,
    pub updated_at: String,
    /// The job is forgotten after this.
    pub expires_at: String,
    /// How the call ended, once it did: `call_id`, `audit`, and `output` with what belongs to it, or `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub ending: Option<JobEnding>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobEnding {
    /// The call of the operation, as the log has it.
    pub call_id: String,
    pub audit: AuditBlock,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    #[serde(default, skip_serializing_if = "ResponseMetadata::is_empty")]
    pub metadata: ResponseMetadata,
    /// Kind, message and details of the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
}
