//! `cancel_job`: stop a job. One that has ended stays as it ended.

use contract::actor::Role;
use contract::error::OpError;
use contract::job::{CancelJob, Job};
use store::{Tx, jobs};

use super::{JOB, Owner, job};
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, ApplyError, Operation, Write};

impl Operation for CancelJob {
    const NAME: &'static str = "cancel_job";
    const ABOUT: &'static str = "Cancel one of your jobs. A change that it has already made stays.";
    const FAMILY: Family = Family::House;
    const ROLES: &'static [Role] = &Role::ALL;
    const IS_TOOL: bool = false;
    const SCOPE: Option<&'static str> = Some("job.run");

    type Output = Job;
}

impl Write for CancelJob {
    type Plan = Owner;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<Owner, OpError> {
        Ok(Owner::of(ctx))
    }

    async fn apply(&self, plan: &Owner, tx: &mut Tx<'_>) -> Result<Answer<Job>, ApplyError> {
        let row = plan.find(tx, &self.job_id).await?;
        jobs::cancel(tx, &row, plan.now_us).await?;
        let row = plan.find(tx, &self.job_id).await?;
        Ok(Answer::of(job(&row)?).touching(JOB, &row.job_id))
    }
}
