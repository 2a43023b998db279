//! Services of seed 001 that live in another process: its tracker, its id registry. An operation of such a service
//! passes the door as every other one does, is recorded here, and is carried out there.

use std::fmt;
use std::sync::Arc;

use contract::canonical;
use contract::error::{Kind, OpError};
use contract::event::Outcome;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::drive::{Driven, finish};
use crate::operation::{Answer, Operation};
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
}

/// A service elsewhere. `server` speaks its protocol.
pub trait Remote: fmt::Debug + Send + Sync {
    /// The output of the operation, as the operation itself would have answered.
    fn call(&self, call: RemoteCall) -> BoxFuture<'_, Result<Value, OpError>>;
}

/// The services that are not here.
#[derive(Debug, Clone, Default)]
pub struct Remotes {
    pub tasks: Option<Arc<dyn Remote>>,
    pub ids: Option<Arc<dyn Remote>>,
}

impl Remotes {
    pub fn find(&self, service: Service) -> Option<&Arc<dyn Remote>> {
        match service {
            Service::Tasks => self.tasks.as_ref(),
            Service::Ids => self.ids.as_ref(),
        }
    }
}

/// What travels with every call that this one makes to a service.
#[derive(Debug, Clone)]
pub struct Journey {
    key: String,
    correlation_id: String,
}

impl Journey {
    pub(crate) fn of(ticket: &Ticket) -> Journey {
        let call_id = ticket.call_id.to_string();
        // Whoever calls the service is one actor there, so the keys of our callers must not meet.
        let key = match &ticket.idempotency_key {
            Some(key) => canonical::hash(&json!([ticket.actor.organisation_id, ticket.actor.id, key])).ok(),
            None => None,
        };
        let correlation_id = ticket.correlation.task_id.as_ref().map(ToString::to_string);
        Journey { key: key.unwrap_or_else(|| call_id.clone()), correlation_id: correlation_id.unwrap_or(call_id) }
    }

    pub fn call(&self, operation: &'static str, input: Value) -> RemoteCall {
        RemoteCall { operation, input, idempotency_key: self.key.clone(), correlation_id: self.correlation_id.clone() }
    }
}

/// Has the service carry out an operation whose input is checked already.
pub(crate) async fn forward<T: Operation>(
    remote: &dyn Remote,
    tool: &Tool,
    ticket: &Ticket,
    operation: &T,
    in_hash: String,
) -> Driven {
    let result = match serde_json::to_value(operation) {
        Ok(input) => {
            let call = Journey::of(ticket).call(T::NAME, input);
            let answered = tokio::time::timeout_at(ticket.deadline, remote.call(call)).await;
            answered.unwrap_or_else(|_| Err(OpError::timeout("the service took too long")))
        }
        Err(error) => Err(OpError::internal(error)),
    };
    let done = result.and_then(|output| {
        finish(tool, Answer::of(output)).map_err(|error| {
            OpError::new(Kind::Upstream, "the service answered something else than it should").with_source(error)
        })
    });
    match done {
        Ok(done) => Driven { in_hash, result: Ok(done), outcome: Outcome::Ok, recorded: None },
        Err(error) => Driven { in_hash, outcome: error.kind.into(), result: Err(error), recorded: None },
    }
}
