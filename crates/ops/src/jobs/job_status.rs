//! `job_status`: how far a job is, what it asks, and how it ended.

use contract::actor::Role;
use contract::error::OpError;
use contract::job::{Job, JobStatus};

use super::{JOB, Owner, job};
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, Operation, Read};

impl Operation for JobStatus {
    const NAME: &'static str = "job_status";
    const ABOUT: &'static str = "Show how far one of your jobs is, what it asks, and how it ended.";
    const FAMILY: Family = Family::House;
    const ROLES: &'static [Role] = &Role::ALL;

    type Output = Job;
}

impl Read for JobStatus {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<Job>, OpError> {
        let row = Owner::of(ctx).find(&mut *ctx.read().await?, &self.job_id).await?;
        Ok(Answer::of(job(&row)?).touching(JOB, &row.job_id))
    }
}
