//! Services of seed 001 that live in another process: its tracker, its id registry. An operation of such a service
//! passes the door as every other one does, is recorded here, and is carried out there.

mod seen;

use std::fmt;
use std::sync::Arc;

use contract::canonical;
use contract::error::{Kind, OpError};
use contract::event::Outcome;
use contract::id::OrganisationId;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use store::{Applied, Apply, Keep};
use workflow::approval;
use workflow::artifacts::Place;
use workflow::ids;

use crate::acting::{self, Acting};
use crate::door::{Inner, Via};
use crate::drive::{Driven, finish, write_error};
use crate::operation::{Answer, Operation, store_error};
use crate::record::Ticket;
use crate::table::Tool;

/// Which service carries out an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    Tasks,
    Ids,
}

/// A call on its way to a service.
#[derive(Debug, Clone)]
pub struct RemoteCall {
    pub operation: &'static str,
    pub input: Value,
    /// The same for every attempt, so that an answer that got lost does not carry the call out twice.
    pub idempotency_key: String,
    pub correlation_id: String,
    pub via: Via,
    pub acting: Acting,
}

/// How often a service is asked for ids where those it gives are in use here.
const ROUNDS_MAX: u32 = 100;

/// A service elsewhere. `server` speaks its protocol.
pub trait Remote: fmt::Debug + Send + Sync {
    /// The output of the operation, as the operation itself would have answered.
    fn call(&self, call: RemoteCall) -> BoxFuture<'_, Result<Value, OpError>>;
}

/// The services that are not here. They know all of this house by one key and keep what it has as one organisation's, so
/// they belong to one organisation here: what is of any other stays in the record.
#[derive(Debug, Clone, Default)]
pub struct Remotes {
    organisation_id: Option<OrganisationId>,
    tasks: Option<Arc<dyn Remote>>,
    ids: Option<Arc<dyn Remote>>,
}

impl Remotes {
    pub fn of(
        organisation_id: OrganisationId,
        tasks: Option<Arc<dyn Remote>>,
        ids: Option<Arc<dyn Remote>>,
    ) -> Remotes {
        Remotes { organisation_id: Some(organisation_id), tasks, ids }
    }

    /// Who carries out what an actor of the organisation asks of a service; nobody where that is done here.
    pub fn find(&self, service: Service, organisation_id: &OrganisationId) -> Option<&Arc<dyn Remote>> {
        if self.organisation_id.as_ref() != Some(organisation_id) {
            return None;
        }
        match service {
            Service::Tasks => self.tasks.as_ref(),
            Service::Ids => self.ids.as_ref(),
        }
    }

    /// Whose services they are.
    pub fn organisation_id(&self) -> Option<&OrganisationId> {
        self.organisation_id.as_ref()
    }
}

/// What travels with every call that this one makes to a service.
#[derive(Debug, Clone)]
pub struct Journey {
    key: String,
    correlation_id: String,
    acting: Acting,
}

impl Journey {
    /// `house` is the name of its log: servers that share a record share it, and nobody else has it.
    pub(crate) fn of(ticket: &Ticket, house: &str) -> Journey {
        let call_id = ticket.call_id.to_string();
        // Whoever calls the service is one actor there, as may be another house with the same key, so the keys of all their
        // callers must not meet.
        let key = match &ticket.idempotency_key {
            Some(key) => canonical::hash(&json!([house, ticket.actor.organisation_id, ticket.actor.id, key])).ok(),
            None => None,
        };
        let correlation_id = ticket.correlation.task_id.as_ref().map(ToString::to_string);
        Journey {
            key: key.unwrap_or_else(|| call_id.clone()),
            correlation_id: correlation_id.unwrap_or(call_id),
            acting: Acting::of(&ticket.actor, ticket.acting.as_ref()),
        }
    }

    pub fn call(&self, operation: &'static str, input: Value) -> RemoteCall {
        RemoteCall {
            operation,
            input,
            idempotency_key: self.key.clone(),
            correlation_id: self.correlation_id.clone(),
            via: Via::Direct,
            acting: self.acting.clone(),
        }
    }
}

/// Has the service carry out an operation whose input is checked already.
pub(crate) async fn forward<T: Operation>(
    inner: &Inner,
    remote: &dyn Remote,
    tool: &Tool,
    ticket: &Ticket,
    operation: &T,
    in_hash: String,
) -> Driven {
    let asked = tokio::time::timeout_at(ticket.deadline, ask(inner, remote, ticket, operation)).await;
    let mut result = asked.unwrap_or_else(|_| Err(OpError::timeout("the service took too long")));
    if let (Some(Service::Tasks), Ok(output)) = (T::SERVICE, &mut result)
        && let Err(error) = seen::mark(inner, ticket, output).await
    {
        result = Err(error);
    }
    let done = result.and_then(|output| {
        finish(tool, &ticket.hashing, Answer::of(output)).map_err(|error| {
            OpError::new(Kind::Upstream, "the service answered something else than it should").with_source(error)
        })
    });
    match done {
        Ok(done) => Driven { in_hash, result: Ok(done), outcome: Outcome::Ok, recorded: None },
        Err(error) => Driven { in_hash, outcome: error.kind.into(), result: Err(error), recorded: None },
    }
}

/// Notes whose the ids are that a service gave, before the caller has them.
async fn note<T: Operation>(inner: &Inner, ticket: &Ticket, operation: &T, output: &Value) -> Result<(), OpError> {
    let now_us = inner.clock.now_us();
    let Some(done) = operation.done_elsewhere(output, now_us) else { return Ok(()) };
    let organisation_id = ticket.actor.organisation_id.to_string();
    let kept = (organisation_id, acting::claimant(&ticket.actor, ticket.acting.as_ref()), done);
    let apply: Apply<()> = Box::new(move |tx| {
        let (organisation_id, caller, done) = kept.clone();
        Box::pin(async move {
            ids::note_elsewhere(tx, &organisation_id, &caller, &done, now_us).await?;
            Ok(Applied { value: (), event: None, keep: Keep::Changes })
        })
    });
    inner.store.write(None, ticket.deadline, apply).await.map_err(write_error)
}

/// Asks until the service gives ids that are not in use here. What it gave before is never used: its counter has passed
/// it.
async fn ask<T: Operation>(
    inner: &Inner,
    remote: &dyn Remote,
    ticket: &Ticket,
    operation: &T,
) -> Result<Value, OpError> {
    let input = serde_json::to_value(operation).map_err(OpError::internal)?;
    let journey = Journey::of(ticket, inner.keyring.origin());
    for round in 0..ROUNDS_MAX {
        let mut call = journey.call(T::NAME, input.clone());
        if round > 0 {
            call.idempotency_key = canonical::hash(&json!([call.idempotency_key, round])).map_err(OpError::internal)?;
        }
        let output = remote.call(call).await?;
        let Some((project_id, ids)) = operation.given_ids(&output) else {
            note(inner, ticket, operation, &output).await?;
            return Ok(output);
        };
        let place = Place { organisation_id: ticket.actor.organisation_id.as_str(), project_id: &project_id };
        let mut reader = inner.store.read().await.map_err(store_error)?;
        let mut is_free = true;
        for id in &ids {
            is_free &= !approval::is_known(&mut reader, place, id).await.map_err(store_error)?;
        }
        drop(reader);
        if is_free {
            note(inner, ticket, operation, &output).await?;
            return Ok(output);
        }
    }
    let problem = format!("the id service gave ids that are in use here, {ROUNDS_MAX} times in a row; ask again");
    Err(OpError::new(Kind::Upstream, problem))
}
