//! `answer_job`: answer what a job asks. It goes on once nothing is left to answer.

use std::sync::Arc;

use contract::actor::Role;
use contract::error::OpError;
use contract::job::{AnswerJob, Job, JobState};
use contract::question::Questions;
use store::{Tx, jobs};

use super::{JOB, Owner, job, parse, text};
use crate::context::Context;
use crate::dialogue::Answers;
use crate::family::Family;
use crate::keys::seals::Seals;
use crate::operation::{Answer, ApplyError, Operation, Write};

pub struct Plan {
    owner: Owner,
    seals: Arc<Seals>,
}

impl Operation for AnswerJob {
    const NAME: &'static str = "answer_job";
    const ABOUT: &'static str = "Answer the questions of one of your jobs, all at once or one after the other.";
    const FAMILY: Family = Family::House;
    const ROLES: &'static [Role] = &Role::ALL;
    const SCOPE: Option<&'static str> = Some("job.run");
    /// Questions are for people: a client shows them and answers by this, a model does not.
    const IS_TOOL: bool = false;

    type Output = Job;
}

impl Write for AnswerJob {
    type Plan = Plan;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<Plan, OpError> {
        Ok(Plan { owner: Owner::of(ctx), seals: Arc::clone(ctx.seals()) })
    }

    async fn apply(&self, plan: &Plan, tx: &mut Tx<'_>) -> Result<Answer<Job>, ApplyError> {
        let Plan { owner, seals } = plan;
        let mut row = owner.find(tx, &self.job_id).await?;
        let was_ours = seals.hold_job(&row);
        let mut questions: Questions = parse(&row.questions)?;
        let mut answers: Answers = parse(&row.answers)?;
        for (key, answer) in &self.answers {
            if questions.remove(key).is_some() {
                answers.given.insert(key.clone(), answer.clone());
            }
        }
        let state = if questions.is_empty() { JobState::Working } else { JobState::InputRequired };
        (row.answers, row.questions, row.state) = (text(&answers)?, text(&questions)?, state.name().to_owned());
        // The runner tells of a row that other hands changed: an answer does not make it ours.
        row.seal = was_ours.then(|| seals.seal_job(&row));
        jobs::answer(tx, &row, owner.now_us).await?;
        let row = owner.find(tx, &self.job_id).await?;
        Ok(Answer::of(job(&row)?).touching(JOB, &row.job_id))
    }
}
