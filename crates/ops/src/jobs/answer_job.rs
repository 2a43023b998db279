//! `answer_job`: answer what a job asks. It goes on once nothing is left to answer.

use contract::actor::Role;
use contract::error::OpError;
use contract::job::{AnswerJob, Job, JobState};
use contract::question::Questions;
use store::{Tx, jobs};

use super::{Owner, job, parse, text};
use crate::context::Context;
use crate::dialogue::Answers;
use crate::family::Family;
use crate::operation::{Answer, ApplyError, Operation, Write};

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
    type Plan = Owner;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<Owner, OpError> {
        Ok(Owner::of(ctx))
    }

    async fn apply(&self, plan: &Owner, tx: &mut Tx<'_>) -> Result<Answer<Job>, ApplyError> {
        let row = plan.find(tx, &self.job_id).await?;
        let mut questions: Questions = parse(&row.questions)?;
        let mut answers: Answers = parse(&row.answers)?;
        for (key, answer) in &self.answers {
            if questions.remove(key).is_some() {
                answers.given.insert(key.clone(), answer.clone());
            }
        }
        let state = if questions.is_empty() { JobState::Working } else { JobState::InputRequired };
        jobs::answer(tx, &row, &text(&answers)?, &text(&questions)?, state.name(), plan.now_us).await?;
        let row = plan.find(tx, &self.job_id).await?;
        Ok(Answer::of(job(&row)?).touching("job", &row.job_id))
    }
}
