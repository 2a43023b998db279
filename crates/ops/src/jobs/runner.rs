//! Carries jobs out: claims one, calls its operation through the door as whoever started it, writes down what came of it.
//!
//! A runner that dies leaves a lease that runs out, and the job is run again from the start. A write is not made twice:
//! the id of the job is its idempotency key.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use contract::actor::Actor;
use contract::canonical;
use contract::dialect::Dialect;
use contract::error::{Kind, OpError};
use contract::event::{Correlation, Outcome, Touched};
use contract::id::{CorrelationId, IdempotencyKey, JobId};
use contract::job::{JobEnding, JobState};
use serde_json::Value;
use store::jobs::{self, JobRow, Settled};
use store::{Applied, Apply, EventRow, Keep, Tx, WriteError};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{JOB, Step, find_job, parse, text};
use crate::context::{Progress, ProgressReport};
use crate::dialogue::{self, Answers};
use crate::door::{Call, Platform, Reply, Via};
use crate::doubts::Doubt;
use crate::hashing::Hashing;
use crate::limits::{JOB_LEASE, JOB_LOOK_EVERY, JOB_STARTS_MAX, JOBS_RUNNING_MAX};
use crate::operation::store_error;
use crate::record::{Ending, Spent, Ticket};

/// The operation of the event that says where a run has left its job. The call itself has its own event.
pub const RUN_JOB: &str = "run_job";

const WRITE_WITHIN: Duration = Duration::from_secs(10);
const PROGRESS_QUEUE_MAX: usize = 64;
/// Progress is written down no more often than this.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);
/// The lease is renewed after a third of it, so that two renewals may fail.
const RENEW_EVERY: Duration = Duration::from_secs(JOB_LEASE.as_secs() / 3);

/// Runs jobs until told to stop. Trouble is logged and tried again: jobs wait, nothing is lost.
pub async fn run(platform: Platform, stop: CancellationToken) {
    let runner = Arc::new(Runner { platform, runner_id: Uuid::new_v4().to_string() });
    let mut running = JoinSet::new();
    while !stop.is_cancelled() {
        while running.try_join_next().is_some() {}
        let claimed = if running.len() < JOBS_RUNNING_MAX { runner.claim().await } else { Ok(None) };
        match claimed {
            Ok(Some(job)) => {
                let (runner, stop) = (Arc::clone(&runner), stop.clone());
                running.spawn(async move { runner.carry_out(job, stop).await });
                continue;
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(error = %error, "Could not look for jobs; trying again"),
        }
        tokio::select! {
            () = tokio::time::sleep(JOB_LOOK_EVERY) => {}
            () = stop.cancelled() => {}
        }
    }
    while running.join_next().await.is_some() {}
}

struct Runner {
    platform: Platform,
    runner_id: String,
}

impl Runner {
    fn now_us(&self) -> i64 {
        self.platform.clock().now_us()
    }

    fn lease_until_us(&self) -> i64 {
        self.now_us().saturating_add(i64::try_from(JOB_LEASE.as_micros()).unwrap_or(i64::MAX))
    }

    async fn claim(&self) -> Result<Option<JobRow>, OpError> {
        let mut reader = self.platform.store().read().await.map_err(store_error)?;
        if !jobs::is_any_free(&mut reader, self.now_us()).await.map_err(store_error)? {
            return Ok(None);
        }
        drop(reader);
        let (runner_id, now_us, lease_until_us) = (self.runner_id.clone(), self.now_us(), self.lease_until_us());
        let apply: Apply<Option<JobRow>> = Box::new(move |tx: &mut Tx<'_>| {
            let runner_id = runner_id.clone();
            Box::pin(async move {
                let claimed = jobs::claim(tx, &runner_id, now_us, lease_until_us).await?;
                Ok(Applied { value: claimed, event: None, keep: Keep::Changes })
            })
        });
        self.write(apply).await
    }

    async fn write<T: Send + 'static>(&self, apply: Apply<T>) -> Result<T, OpError> {
        let lane = Some("jobs".to_owned());
        let written = self.platform.store().write(lane, Instant::now() + WRITE_WITHIN, apply).await;
        written.map_err(|error: WriteError| crate::drive::write_error(error))
    }

    /// Runs one job to its end, to a question, or until it is no longer ours.
    async fn carry_out(&self, job: JobRow, stop: CancellationToken) {
        let job = Arc::new(job);
        let is_ours = self.platform.seals().hold_job(&job);
        let prepared = if is_ours { self.prepare(&job) } else { Err(self.doubt(&job)) };
        let done = match prepared {
            Ok((actor, call, reports)) => self.follow(&job, &actor, call, reports, &stop).await,
            Err(error) => Some(ended(Uuid::nil(), crate::door::no_audit(), Err(error))),
        };
        let Some((state, questions, ending)) = done else { return };
        // Whom a row of other hands names did nothing. The doubt has an event.
        let event = if is_ours { self.event(&job, state, &questions, ending.as_deref()) } else { None };
        let (runner_id, now_us) = (self.runner_id.clone(), self.now_us());
        let settled = Arc::clone(&job);
        let apply: Apply<bool> = Box::new(move |tx: &mut Tx<'_>| {
            let (job, runner_id, questions) = (Arc::clone(&settled), runner_id.clone(), questions.clone());
            let (ending, event) = (ending.clone(), event.clone());
            Box::pin(async move {
                let settled = Settled { state: state.name(), questions: &questions, ending: ending.as_deref(), now_us };
                let is_ours = jobs::settle(tx, &job, &runner_id, &settled).await?;
                Ok(Applied { value: is_ours, event: event.filter(|_| is_ours), keep: Keep::Changes })
            })
        });
        match self.write(apply).await {
            Ok(true) => tracing::info!(job_id = job.job_id, state = state.name(), "A job went on"),
            Ok(false) => tracing::info!(job_id = job.job_id, "A job was cancelled, or taken over, while it ran"),
            // The lease runs out and the job is run again; an operation that has committed answers as it did.
            Err(error) => tracing::warn!(job_id = job.job_id, error = %error, "What came of a job was not kept"),
        }
    }

    /// The event of a settled run, as of a call by whoever started the job.
    fn event(&self, job: &JobRow, state: JobState, questions: &str, ending: Option<&str>) -> Option<EventRow> {
        let ticket = Ticket {
            call_id: Uuid::now_v7(),
            actor: parse(&job.actor).ok()?,
            operation: RUN_JOB,
            recorded_as: RUN_JOB,
            dialect: Dialect::Common,
            started: Instant::now(),
            started_us: self.now_us(),
            deadline: Instant::now(),
            correlation: Correlation { run_id: CorrelationId::parse(&job.job_id).ok(), ..Correlation::default() },
            names_task: false,
            idempotency_key: None,
            via: Via::default(),
            acting: None,
            progress: Progress::default(),
            answers: Answers::default(),
            spent: Spent::default(),
            hashing: Hashing::default(),
            is_admitted: AtomicBool::new(true),
        };
        let input: Value = parse(&job.input).ok()?;
        let touched = Touched::named(JOB, job.job_id.clone());
        let (_, event) = ticket.close(&Ending {
            in_hash: &canonical::hash(&input).ok()?,
            out_hash: &canonical::hash(&(state.name(), questions, ending)).ok()?,
            outcome: Outcome::Ok,
            code: None,
            objects: &[touched],
            kept_as: None,
        });
        Some(event)
    }

    /// Tells of a row that is not as the house wrote it.
    fn doubt(&self, job: &JobRow) -> OpError {
        // Whatever text other hands put there goes no further.
        let job_id = JobId::parse(&job.job_id).map_or_else(|_| "with no id".to_owned(), |job_id| format!("`{job_id}`"));
        let what = format!("job {job_id} had a row without a seal of this house: other hands wrote it");
        self.platform.doubt(Doubt::wrong("JOB_CHANGED", what));
        let message = "the job has no seal of this house: it was started before an upgrade, or other hands wrote it; start \
                       it again";
        OpError::conflict(message)
    }

    fn prepare(&self, job: &JobRow) -> Result<(Actor, Call, mpsc::Receiver<ProgressReport>), OpError> {
        if job.n_starts > JOB_STARTS_MAX {
            return Err(OpError::new(Kind::Internal, "the job was started several times and never ended"));
        }
        if job.expires_at_us < self.now_us() {
            return Err(OpError::conflict("the time of the job is over"));
        }
        if find_job(self.platform.table(), &job.operation).is_none() {
            return Err(OpError::conflict("the operation does not run as a job"));
        }
        let actor: Actor = parse(&job.actor)?;
        let input: Value = parse(&job.input)?;
        let answers = Answers { are_kept: true, ..parse(&job.answers)? };
        let (sender, reports) = mpsc::channel(PROGRESS_QUEUE_MAX);
        let mut call = Call { operation: job.operation.clone(), input, answers, ..Call::default() };
        call.idempotency_key = IdempotencyKey::parse(&job.job_id).ok();
        call.correlation.run_id = CorrelationId::parse(&job.job_id).ok();
        call.progress = Progress::to(sender);
        Ok((actor, call, reports))
    }

    /// Calls the operation and keeps the lease meanwhile. `None` if there is nothing to write down.
    async fn follow(
        &self,
        job: &Arc<JobRow>,
        actor: &Actor,
        call: Call,
        mut reports: mpsc::Receiver<ProgressReport>,
        stop: &CancellationToken,
    ) -> Option<Done> {
        let mut called = Box::pin(self.platform.call(actor, call));
        let mut step: Option<Step> = None;
        let mut renewed = Instant::now();
        let mut look = tokio::time::interval(JOB_LOOK_EVERY);
        loop {
            tokio::select! {
                reply = &mut called => return done(reply),
                Some(report) = reports.recv() => {
                    step = Some(Step { done: report.done, total: report.total, message: report.message });
                }
                () = stop.cancelled() => {
                    // Free for whoever owns the folder next.
                    self.renew(job, step.take(), 0).await;
                    return None;
                }
                _ = look.tick() => {
                    let is_due = renewed.elapsed() >= RENEW_EVERY;
                    let is_worth = step.is_some() && renewed.elapsed() >= PROGRESS_EVERY;
                    if is_due || is_worth {
                        renewed = Instant::now();
                        if !self.renew(job, step.take(), self.lease_until_us()).await {
                            return None;
                        }
                    } else if !self.is_wanted(job).await {
                        // Dropping the call stops it if it only reads; a change goes on to its end.
                        return None;
                    }
                }
            }
        }
    }

    async fn is_wanted(&self, job: &JobRow) -> bool {
        let Ok(mut reader) = self.platform.store().read().await else { return true };
        match jobs::find(&mut reader, &job.organisation_id, &job.actor_id, &job.job_id).await {
            Ok(found) => found.is_some_and(|found| found.state == jobs::WORKING),
            Err(_) => true,
        }
    }

    /// Whether the job is still ours. A store that does not answer leaves it so until the lease runs out.
    async fn renew(&self, job: &Arc<JobRow>, step: Option<Step>, lease_until_us: i64) -> bool {
        let (renewed, runner_id, now_us) = (Arc::clone(job), self.runner_id.clone(), self.now_us());
        let progress = step.and_then(|step| text(&step).ok());
        let apply: Apply<bool> = Box::new(move |tx: &mut Tx<'_>| {
            let (job, runner_id, progress) = (Arc::clone(&renewed), runner_id.clone(), progress.clone());
            Box::pin(async move {
                let is_ours = jobs::renew(tx, &job, &runner_id, progress.as_deref(), lease_until_us, now_us).await?;
                Ok(Applied { value: is_ours, event: None, keep: Keep::Changes })
            })
        });
        self.write(apply).await.unwrap_or(true)
    }
}

/// The next state, the questions and the ending, as the table keeps them.
type Done = (JobState, String, Option<String>);

fn done(reply: Reply) -> Option<Done> {
    match &reply.result {
        Err(error) if error.kind == Kind::Busy => None,
        Err(error) if error.kind == Kind::InputRequired => {
            let questions = text(&dialogue::questions(error).unwrap_or_default()).ok()?;
            Some((JobState::InputRequired, questions, None))
        }
        Ok(_) | Err(_) => Some(ended(reply.call_id, reply.audit, reply.result)),
    }
}

fn ended(call_id: Uuid, audit: contract::audit::AuditBlock, result: Result<crate::Success, OpError>) -> Done {
    let mut ending = JobEnding {
        call_id: call_id.to_string(),
        audit,
        output: None,
        artifacts: Vec::new(),
        metadata: contract::envelope::ResponseMetadata::new(),
        error: None,
    };
    match result {
        Ok(success) => {
            ending.output = Some(success.output);
            ending.artifacts = success.artifacts;
            ending.metadata = success.metadata;
        }
        Err(error) => ending.error = serde_json::to_value(&error).ok(),
    }
    (JobState::Ended, "{}".to_owned(), text(&ending).ok())
}
