//! `start_job`: let an operation go on after the answer.

use contract::actor::Role;
use contract::error::OpError;
use contract::job::{Job, JobState, StartJob};
use serde_json::Value;
use store::Tx;
use store::jobs::{self, JobRow};
use uuid::Uuid;

use super::{JOB, JobMode, find_job, job, text};
use crate::authorise;
use crate::context::Context;
use crate::family::Family;
use crate::limits::{JOB_KEPT_FOR, JOBS_OPEN_MAX, RETRY_AFTER_MS};
use crate::operation::{Answer, ApplyError, Operation, Write};
use crate::validate::check_input;

impl Operation for StartJob {
    const NAME: &'static str = "start_job";
    const ABOUT: &'static str =
        "Start an operation that takes long, such as an ingest, as a job. `job_status` tells how far it is.";
    const FAMILY: Family = Family::House;
    /// The operation that the job runs decides beside this who may.
    const ROLES: &'static [Role] = &Role::ALL;
    const SCOPE: Option<&'static str> = Some("job.run");

    type Output = Job;
}

impl Write for StartJob {
    type Plan = JobRow;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<JobRow, OpError> {
        let name = self.operation.as_str();
        let tool = find_job(ctx.table(), name).ok_or_else(|| {
            let jobs = ctx.table().all().iter().filter(|tool| tool.entry.job != JobMode::Never);
            let names: Vec<&str> = jobs.map(|tool| tool.entry.name).collect();
            let names = if names.is_empty() { "there is none".to_owned() } else { names.join(", ") };
            OpError::invalid("operation", format!("an operation that runs as a job: {names}")).received(name)
        })?;
        authorise::check(tool, ctx.actor())?;
        let input = Value::Object(self.input.clone());
        check_input(&tool.input, &input)?;
        (tool.entry.ask_first)(ctx, &input)?;
        let kept_us = i64::try_from(JOB_KEPT_FOR.as_micros()).unwrap_or(i64::MAX);
        let mut row = JobRow {
            organisation_id: ctx.actor().organisation_id.to_string(),
            job_id: Uuid::new_v4().to_string(),
            actor_id: ctx.actor().id.to_string(),
            actor: text(ctx.actor())?,
            operation: tool.entry.name.to_owned(),
            input: text(&input)?,
            answers: text(&ctx.answers_so_far())?,
            questions: "{}".to_owned(),
            state: JobState::Working.name().to_owned(),
            progress: None,
            ending: None,
            n_starts: 0,
            created_at_us: ctx.now_us(),
            updated_at_us: ctx.now_us(),
            expires_at_us: ctx.now_us().saturating_add(kept_us),
            seal: None,
        };
        row.seal = Some(ctx.seals().seal_job(&row));
        Ok(row)
    }

    async fn apply(&self, plan: &JobRow, tx: &mut Tx<'_>) -> Result<Answer<Job>, ApplyError> {
        if jobs::count_open(tx, &plan.organisation_id, &plan.actor_id).await? >= JOBS_OPEN_MAX {
            let message = format!("you have {JOBS_OPEN_MAX} jobs that have not ended; wait for one or cancel it");
            return Err(OpError::rate_limited(message, RETRY_AFTER_MS).into());
        }
        jobs::insert(tx, plan).await?;
        Ok(Answer::of(job(plan)?).touching(JOB, &plan.job_id))
    }
}
