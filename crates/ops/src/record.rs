//! The record of one call: its ticket, its audit block and its event.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use contract::actor::Actor;
use contract::audit::{AuditBlock, AuditStatus, seed};
use contract::canonical;
use contract::dialect::{self, Dialect};
use contract::error::OpError;
use contract::event::{Correlation, Event, EventActor, Outcome, Touched};
use contract::id::{CorrelationId, IdempotencyKey};
use contract::time::rfc3339_us;
use serde_json::Value;
use store::{EventRow, StoreError};
use tokio::time::Instant;
use uuid::Uuid;

use crate::acting::Acting;
use crate::context::Progress;
use crate::dialogue::Answers;
use crate::door::Via;
use crate::hashing::Hashing;
use crate::summary::{self, Fields};

pub(crate) const SCHEMA_VERSION: &str = env!("CARGO_PKG_VERSION");

/// What an event calls a request state that its call used up.
pub(crate) const REQUEST_STATE: &str = "request_state";

/// Everything about a call that does not change while it runs, and what it used up.
pub(crate) struct Ticket {
    pub call_id: Uuid,
    pub actor: Actor,
    pub operation: &'static str,
    /// What the event calls it.
    pub recorded_as: &'static str,
    /// In which its errors are written.
    pub dialect: Dialect,
    pub started: Instant,
    pub started_us: i64,
    pub deadline: Instant,
    pub correlation: Correlation,
    /// The task in `correlation` is one of the record that the input names, not the caller's word for the work.
    pub names_task: bool,
    pub idempotency_key: Option<IdempotencyKey>,
    pub via: Via,
    pub acting: Option<Acting>,
    pub progress: Progress,
    pub answers: Answers,
    /// The request state that the call used up.
    pub spent: Spent,
    pub hashing: Hashing,
    /// The input was as its schema wants it.
    pub is_admitted: AtomicBool,
}

/// The request state that a call used up, if it did: the log tells of it, so that a second use shows.
#[derive(Default)]
pub(crate) struct Spent(Mutex<Option<String>>);

impl Spent {
    /// The last word counts: a write may be tried several times.
    pub fn note(&self, state_id: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = state_id;
    }

    fn object(&self) -> Option<Touched> {
        let state_id = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        Some(Touched::named(REQUEST_STATE, state_id))
    }
}

/// How a call ended, as far as the log cares.
pub(crate) struct Ending<'a> {
    pub in_hash: &'a str,
    /// Hash of the output or of the error body.
    pub out_hash: &'a str,
    pub outcome: Outcome,
    pub code: Option<&'static str>,
    pub objects: &'a [Touched],
    /// Where the answer is kept for repeated calls: [`crate::kept_answers::place_hash`].
    pub kept_as: Option<&'a str>,
}

impl Ticket {
    /// The caller's word for the work, for a log line. What is longer than a UUID may be a key, and what names a task may
    /// be anything until the task was found.
    pub fn told_task_id(&self, is_found: bool) -> Option<&str> {
        let id = self.correlation.task_id.as_ref().filter(|_| is_found || !self.names_task);
        id.map(|id| id.as_str()).filter(|id| id.len() <= summary::ID_BYTES_MAX)
    }

    pub fn latency_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// The audit block and the event of one call agree in every figure.
    pub fn close(&self, ending: &Ending<'_>) -> (AuditBlock, EventRow) {
        let status = if ending.outcome == Outcome::Ok { AuditStatus::Ok } else { AuditStatus::Error };
        let audit = AuditBlock {
            in_hash: ending.in_hash.to_owned(),
            out_hash: ending.out_hash.to_owned(),
            latency_ms: self.latency_ms(),
            seed: seed(ending.in_hash),
            status,
        };
        let mut correlation = self.correlation.clone();
        if self.names_task && matches!(ending.outcome, Outcome::NotFound | Outcome::Invalid) {
            correlation.task_id = None;
        }
        let event = Event {
            call_id: self.call_id.to_string(),
            time: rfc3339_us(self.started_us),
            organisation_id: self.actor.organisation_id.clone(),
            actor: EventActor::from(&self.actor),
            operation: self.recorded_as.to_owned(),
            outcome: ending.outcome,
            code: ending.code.map(str::to_owned),
            count: None,
            in_hash: audit.in_hash.clone(),
            out_hash: audit.out_hash.clone(),
            hash_key: self.hashing.key_name().map(str::to_owned),
            latency_ms: audit.latency_ms,
            objects: ending.objects.iter().cloned().chain(self.spent.object()).collect(),
            kept_as: ending.kept_as.map(str::to_owned),
            correlation,
            schema_version: SCHEMA_VERSION.to_owned(),
        };
        (audit, row(&event, self.started_us))
    }
}

/// An event as the store keeps it: a few columns to search by, and the exact canonical bytes.
pub(crate) fn row(event: &Event, recorded_at_us: i64) -> EventRow {
    EventRow {
        call_id: event.call_id.clone(),
        organisation_id: event.organisation_id.to_string(),
        recorded_at_us,
        actor_id: event.actor.id.to_string(),
        operation: event.operation.clone(),
        outcome: event.outcome.name().to_owned(),
        // Every member is text or a small integer, so a canonical form always exists.
        body: canonical::text(event).unwrap_or_default(),
    }
}

/// What was answered before its event was stored, and then the event could not be.
#[derive(Debug, thiserror::Error)]
#[error("not all that was done could be recorded; `materia doctor` says what is wrong with the database")]
pub struct Unrecorded(#[source] pub(crate) StoreError);

/// Hash of an error as its dialect writes it, so that the log can be matched with what the caller saw.
pub(crate) fn error_hash(ticket: &Ticket, error: &OpError) -> String {
    ticket.hashing.of(&dialect::body(ticket.dialect, error, None))
}

/// The caller's correlation ids: those given beside the call, else those among the input's own fields that are as the
/// schema wants them. With them, whether the task is one of the record that the input names.
///
/// Where both name a task, the input's is the task, and the other one is kept as the run's.
pub(crate) fn correlate(beside: Correlation, input: &Value, fields: Option<&Fields>) -> (Correlation, bool) {
    let field = |name: &str| {
        let value = input.get(name).filter(|value| fields.is_some_and(|fields| fields.fits(name, value)))?;
        CorrelationId::parse(value.as_str()?).ok()
    };
    let in_input = field("task_id");
    let is_record = fields.is_some_and(|fields| !fields.is_correlation_id("task_id"));
    let names_task = is_record && (in_input.is_some() || beside.task_id.is_none());
    let mut correlation = Correlation {
        task_id: in_input.or_else(|| beside.task_id.clone()),
        run_id: beside.run_id.or_else(|| field("run_id")),
        request_id: beside.request_id.or_else(|| field("request_id")),
        conversation_id: beside.conversation_id.or_else(|| field("conversation_id")),
        user_id: beside.user_id,
        message_id: beside.message_id,
    };
    let other = beside.task_id.filter(|id| correlation.task_id.as_ref() != Some(id));
    let Correlation { run_id, conversation_id, .. } = &mut correlation;
    if let Some(free) = [run_id, conversation_id].into_iter().find(|place| place.is_none()) {
        *free = other;
    }
    (correlation, names_task)
}
