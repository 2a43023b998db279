//! One POST of a revision with a handshake, as a conversation: a tool may ask the client something on the stream of the
//! answer, and the client answers in a POST of its own.
//!
//! Without sessions, the id of the question alone says where the answer belongs. It is random, and only whoever was asked
//! may answer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use contract::actor::Actor;
use contract::id::{ActorId, OrganisationId};
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::{OneshotTransport, Transport};
use tokio::sync::mpsc;
use uuid::Uuid;

/// Questions of one process that wait at a time.
const WAITING_MAX: usize = 1_000;
/// Questions of one call that wait at a time.
const ANSWERS_MAX: usize = 16;

#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    #[error("the client has gone")]
    Gone,
    #[error("too many questions wait for an answer")]
    Full,
}

/// The questions of this process that wait for an answer.
#[derive(Default)]
pub struct Waiting(Mutex<HashMap<String, Waiter>>);

struct Waiter {
    asked: (OrganisationId, ActorId),
    /// As the service counts its questions.
    id: RequestId,
    answers: mpsc::Sender<Box<ClientJsonRpcMessage>>,
}

impl Waiting {
    fn waiters(&self) -> std::sync::MutexGuard<'_, HashMap<String, Waiter>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn insert(&self, waiter: Waiter) -> Option<String> {
        let mut waiters = self.waiters();
        if waiters.len() >= WAITING_MAX {
            return None;
        }
        let id = Uuid::new_v4().to_string();
        waiters.insert(id.clone(), waiter);
        Some(id)
    }

    /// Hands an answer to the call that waits for it. `false` if none does, or somebody else was asked.
    pub fn deliver(&self, actor: &Actor, mut message: ClientJsonRpcMessage) -> bool {
        let id = match &mut message {
            JsonRpcMessage::Response(response) => &mut response.id,
            JsonRpcMessage::Error(error) => match &mut error.id {
                Some(id) => id,
                None => return false,
            },
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => return false,
        };
        let key = id.to_string();
        let mut waiters = self.waiters();
        let is_asked = |waiter: &Waiter| waiter.asked == (actor.organisation_id.clone(), actor.id.clone());
        if !waiters.get(&key).is_some_and(is_asked) {
            return false;
        }
        let Some(waiter) = waiters.remove(&key) else { return false };
        *id = waiter.id;
        waiter.answers.try_send(Box::new(message)).is_ok()
    }
}

/// The transport of one such POST.
pub struct Exchange {
    request: OneshotTransport<RoleServer>,
    asked: (OrganisationId, ActorId),
    waiting: Arc<Waiting>,
    /// Boxed: the channel is made with room for many, and hardly any call asks.
    sender: mpsc::Sender<Box<ClientJsonRpcMessage>>,
    answers: mpsc::Receiver<Box<ClientJsonRpcMessage>>,
    ids: Vec<String>,
}

impl Exchange {
    pub fn new(request: OneshotTransport<RoleServer>, actor: &Actor, waiting: Arc<Waiting>) -> Exchange {
        let (sender, answers) = mpsc::channel(ANSWERS_MAX);
        let asked = (actor.organisation_id.clone(), actor.id.clone());
        Exchange { request, asked, waiting, sender, answers, ids: Vec::new() }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let mut waiters = self.waiting.waiters();
        for id in &self.ids {
            waiters.remove(id);
        }
    }
}

impl Transport<RoleServer> for Exchange {
    type Error = ExchangeError;

    fn send(
        &mut self,
        mut item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), ExchangeError>> + Send + 'static {
        let mut is_full = false;
        if let JsonRpcMessage::Request(request) = &mut item {
            let waiter = Waiter { asked: self.asked.clone(), id: request.id.clone(), answers: self.sender.clone() };
            match self.waiting.insert(waiter) {
                Some(id) => {
                    self.ids.push(id.clone());
                    request.id = RequestId::String(id.into());
                }
                None => is_full = true,
            }
        }
        let sent = self.request.send(item);
        async move {
            if is_full {
                return Err(ExchangeError::Full);
            }
            sent.await.map_err(|_| ExchangeError::Gone)
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        tokio::select! {
            biased;
            Some(answer) = self.answers.recv() => Some(*answer),
            message = self.request.receive() => message,
        }
    }

    async fn close(&mut self) -> Result<(), ExchangeError> {
        self.request.close().await.map_err(|_| ExchangeError::Gone)
    }
}
