//! MCP tasks over jobs: the extension's methods are calls of the job operations.

use contract::error::{Kind, OpError};
use contract::job::{Job, JobEnding, JobState};
use ops::{Answers, Call, JobMode, Reply, Success, Tool};
use rmcp::RoleServer;
use rmcp::model::{
    ClientCapabilities, CreateTaskResult, DetailedTask, ErrorData, GetTaskResult, InputResponses, JsonObject, Task,
    TaskPayload, TaskStatus,
};
use rmcp::service::RequestContext;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::asking;
use super::handler::Handler;
use super::lifted;
use super::results::{Text, failure, protocol_error, success};

/// How often a client should ask how far a task is.
const POLL_EVERY_MS: u64 = 1_000;

/// What `tools/call` becomes, for a client with these capabilities.
pub enum Path {
    Call,
    Task,
}

/// Whether a call of this tool becomes a task. A tool that takes too long for any call is refused to who cannot follow.
pub fn path(tool: &Tool, context: &RequestContext<RoleServer>) -> Result<Path, ErrorData> {
    let may_follow = || context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks());
    match tool.entry.job {
        JobMode::Never => Ok(Path::Call),
        JobMode::Offered | JobMode::Required if may_follow() => Ok(Path::Task),
        JobMode::Offered => Ok(Path::Call),
        JobMode::Required => {
            let required = ClientCapabilities::builder().enable_tasks().build();
            Err(ErrorData::missing_required_client_capability(required))
        }
    }
}

/// The call that starts the job.
pub fn start(operation: &str, input: Map<String, Value>, answers: Answers) -> Call {
    let input = json!({ "operation": operation, "input": input });
    Call { operation: "start_job".to_owned(), input, answers, ..Call::default() }
}

pub fn created(job: &Value) -> Result<CreateTaskResult, ErrorData> {
    Ok(CreateTaskResult::new(task(&parse(job)?)))
}

fn parse(job: &Value) -> Result<Job, ErrorData> {
    serde_json::from_value(job.clone()).map_err(|_| ErrorData::internal_error("a job has another form", None))
}

fn task(job: &Job) -> Task {
    let mut task = Task::new(job.job_id.as_str(), TaskStatus::Working, &job.created_at, &job.updated_at);
    task.status_message = job.message.clone();
    task.ttl_ms = u64::try_from(ops::limits::JOB_KEPT_FOR.as_millis()).ok();
    task.poll_interval_ms = Some(POLL_EVERY_MS);
    task
}

impl Handler {
    /// Calls one of the job operations. An id that is none is as unknown as any other.
    async fn call_job(&self, operation: &str, input: Value) -> Result<Value, ErrorData> {
        let call = Call { operation: operation.to_owned(), input, ..Call::default() };
        let reply = self.house.call(&self.actor, call).await;
        match reply.result {
            Ok(success) => Ok(success.output),
            Err(error) if matches!(error.kind, Kind::NotFound | Kind::Invalid) => {
                Err(ErrorData::invalid_params("no task of this id", None))
            }
            Err(error) => Err(protocol_error(reply.dialect, &error)),
        }
    }

    pub(super) async fn read_task(&self, task_id: &str) -> Result<GetTaskResult, ErrorData> {
        let job = parse(&self.call_job("job_status", json!({ "job_id": task_id })).await?)?;
        let payload = match (job.state, &job.ending) {
            (JobState::Working, _) | (JobState::Ended, None) => TaskPayload::Working,
            (JobState::InputRequired, _) => {
                TaskPayload::InputRequired { input_requests: asking::input_requests(&job.questions)? }
            }
            (JobState::Cancelled, _) => TaskPayload::Cancelled,
            (JobState::Ended, Some(ending)) => self.ended(&job, ending),
        };
        Ok(GetTaskResult::new(DetailedTask::new(task(&job), payload)))
    }

    /// What `tools/call` would have answered. A fault of ours is the protocol's `failed`; a tool that could not do its work
    /// has completed with an error.
    fn ended(&self, job: &Job, ending: &JobEnding) -> TaskPayload {
        let tool = self.house.table().find(&job.operation);
        let dialect = tool.map(|tool| tool.entry.family.dialect());
        let error: Option<OpError> = ending.error.clone().and_then(|error| serde_json::from_value(error).ok());
        let mut reply = Reply {
            call_id: Uuid::parse_str(&ending.call_id).unwrap_or_default(),
            dialect: dialect.unwrap_or(contract::dialect::Dialect::Common),
            result: Err(OpError::timeout(String::new())),
            audit: ending.audit.clone(),
        };
        let result = match error {
            None => {
                let done = Success {
                    output: ending.output.clone().unwrap_or_default(),
                    text: None,
                    artifacts: ending.artifacts.clone(),
                    metadata: ending.metadata.clone(),
                };
                Ok(success(reply, done, Text::Words(tool.and_then(|tool| tool.entry.text))))
            }
            Some(error) if error.kind == Kind::Internal => Err(protocol_error(reply.dialect, &error)),
            Some(error) => {
                reply.result = Err(OpError::new(error.kind, String::new()));
                failure(reply, &error)
            }
        };
        match result {
            Ok(result) => TaskPayload::Completed { result: lifted::members(result) },
            Err(error) => TaskPayload::Failed { error: object(&error) },
        }
    }

    pub(super) async fn answer_task(&self, task_id: &str, answers: InputResponses) -> Result<(), ErrorData> {
        self.call_job("answer_job", json!({ "job_id": task_id, "answers": answers })).await.map(drop)
    }

    pub(super) async fn stop_task(&self, task_id: &str) -> Result<(), ErrorData> {
        self.call_job("cancel_job", json!({ "job_id": task_id })).await.map(drop)
    }
}

fn object(error: &ErrorData) -> JsonObject {
    match serde_json::to_value(error) {
        Ok(Value::Object(members)) => members,
        Ok(_) | Err(_) => JsonObject::new(),
    }
}
