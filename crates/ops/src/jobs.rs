//! Operations about jobs, and the runner that carries jobs out.
//!
//! A job is a call of another operation that goes on after its caller was answered. It lives in the store: any process
//! tells how far it is, one process at a time runs it, and another goes on when that one dies. A row counts as the house wrote
//! it, by its seal: what other hands wrote is not run.

mod answer_job;
mod cancel_job;
mod job_status;
pub mod runner;
mod start_job;

use std::sync::Arc;

use contract::error::OpError;
use contract::id::JobId;
use contract::job::{Job, JobEnding, JobState};
use contract::time::rfc3339_ms;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use store::jobs::{self, JobRow};
use store::{Conn, StoreError};

use crate::operation::store_error;
use crate::table::{Table, Tool};

/// The kind of jobs in events.
pub(crate) const JOB: &str = "job";

/// Whether an operation runs as a job where the caller can follow one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobMode {
    /// Answers at once.
    Never,
    /// Runs as a job for callers who can follow one, and in the call for the others.
    Offered,
    /// Takes too long for any call.
    Required,
}

/// The operation of this name, if it runs as a job.
fn find_job<'a>(table: &'a Table, name: &str) -> Option<&'a Arc<Tool>> {
    table.find(name).filter(|tool| tool.entry.job != JobMode::Never)
}

/// What the seal of a job is over: all that decides what is run, as whom, and with whose word.
pub(crate) fn sealed(row: &JobRow) -> serde_json::Value {
    serde_json::json!({
        "organisation_id": row.organisation_id, "job_id": row.job_id, "actor_id": row.actor_id, "actor": row.actor,
        "operation": row.operation, "input": row.input, "answers": row.answers,
        // Microseconds do not fit the exact integers of JSON for ever; text does.
        "created_at_us": row.created_at_us.to_string(), "expires_at_us": row.expires_at_us.to_string(),
    })
}

/// The last step that a job reported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Step {
    done: f64,
    total: Option<f64>,
    message: String,
}

/// A caller's own job.
#[derive(Debug, Clone)]
pub struct Owner {
    organisation_id: String,
    actor_id: String,
    now_us: i64,
}

impl Owner {
    fn of(ctx: &crate::Context<'_>) -> Owner {
        Owner {
            organisation_id: ctx.actor().organisation_id.to_string(),
            actor_id: ctx.actor().id.to_string(),
            now_us: ctx.now_us(),
        }
    }

    /// Somebody else's job is not found, and neither is one whose time is over.
    async fn find(&self, conn: &mut Conn, job_id: &JobId) -> Result<JobRow, FindError> {
        let found = jobs::find(conn, &self.organisation_id, &self.actor_id, job_id.as_str()).await;
        let found = found.map_err(FindError::Store)?.filter(|job| job.expires_at_us >= self.now_us);
        found.ok_or_else(|| FindError::Refused(OpError::not_found(format!("no job `{job_id}`"))))
    }
}

enum FindError {
    Refused(OpError),
    Store(StoreError),
}

impl From<FindError> for OpError {
    fn from(error: FindError) -> OpError {
        match error {
            FindError::Refused(error) => error,
            FindError::Store(error) => store_error(error),
        }
    }
}

impl From<FindError> for crate::ApplyError {
    fn from(error: FindError) -> crate::ApplyError {
        match error {
            FindError::Refused(error) => error.into(),
            FindError::Store(error) => error.into(),
        }
    }
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, OpError> {
    serde_json::from_str(text).map_err(OpError::internal)
}

fn text<T: Serialize>(value: &T) -> Result<String, OpError> {
    serde_json::to_string(value).map_err(OpError::internal)
}

/// A row as its owner sees it.
fn job(row: &JobRow) -> Result<Job, OpError> {
    let step: Option<Step> = row.progress.as_deref().map(parse).transpose()?;
    let ending: Option<JobEnding> = row.ending.as_deref().map(parse).transpose()?;
    let state = [JobState::Working, JobState::InputRequired, JobState::Ended, JobState::Cancelled];
    let state = state.into_iter().find(|state| state.name() == row.state);
    Ok(Job {
        job_id: JobId::parse(&row.job_id).map_err(OpError::internal)?,
        operation: row.operation.clone(),
        state: state.ok_or_else(|| OpError::internal("a job in the table has a state that is none"))?,
        message: step.as_ref().map(|step| step.message.clone()),
        done: step.as_ref().map(|step| step.done),
        total: step.and_then(|step| step.total),
        questions: parse(&row.questions)?,
        created_at: rfc3339_ms(row.created_at_us),
        updated_at: rfc3339_ms(row.updated_at_us),
        expires_at: rfc3339_ms(row.expires_at_us),
        ending,
    })
}
