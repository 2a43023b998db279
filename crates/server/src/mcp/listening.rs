//! Subscriptions to resources. A subscriber reads the resource through the door at the start and whenever the change feed
//! names it, and hears of it when the answer is another one.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use contract::dialect::Dialect;
use ops::Call;
use ops::feed::Change;
use rmcp::RoleServer;
use rmcp::model::{ErrorData, SubscriptionFilter};
use rmcp::service::{Peer, SubscriptionContext};
use serde_json::Value;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::backlog::input_ended;
use super::handler::Handler;
use super::results::{no_resource, protocol_error};

/// Resources that one request may follow.
const RESOURCES_MAX: usize = 100;
/// How soon a subscription notices that its connection is gone.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// One resource that somebody follows.
struct Followed {
    operation: &'static str,
    input: Value,
    /// Hash of the last answer.
    out_hash: String,
}

/// Resources that somebody follows, and the changes that may concern them.
pub struct Following {
    resources: HashMap<String, Followed>,
    changes: broadcast::Receiver<Arc<Change>>,
    handler: Handler,
}

impl Handler {
    /// The part of a wish that can be granted: known resources. The lists of tools and prompts never change.
    pub(super) fn grantable(&self, requested: &SubscriptionFilter) -> SubscriptionFilter {
        let uris = requested.resource_subscriptions.iter().flatten();
        let known = uris.filter(|uri| self.find_resource(uri).is_some()).take(RESOURCES_MAX);
        SubscriptionFilter::builder().resource_subscriptions(known).build()
    }

    /// Begins to follow resources. Each is read once, so that who may not read it may not follow it either.
    pub async fn follow(&self, uris: &[String]) -> Result<Following, ErrorData> {
        // Before the first look, or a change in between would be missed.
        let changes = self.house.changes().await.map_err(|error| protocol_error(Dialect::Common, &error))?;
        let mut resources = HashMap::new();
        for uri in uris {
            let found = self.find_resource(uri);
            let (resource, input) = found.ok_or_else(|| no_resource(uri))?;
            let out_hash = self.look(resource.operation, &input).await?;
            resources.insert(uri.clone(), Followed { operation: resource.operation, input, out_hash });
        }
        Ok(Following { resources, changes, handler: self.clone() })
    }

    async fn look(&self, operation: &str, input: &Value) -> Result<String, ErrorData> {
        let call = Call { operation: operation.to_owned(), input: input.clone(), ..Call::default() };
        let reply = self.house.call(&self.actor, call).await;
        reply.result.map(|_| reply.audit.out_hash).map_err(|error| protocol_error(reply.dialect, &error))
    }

    /// Serves one `subscriptions/listen` until its client or its time ends it.
    pub(super) async fn serve_listener(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let uris = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        let end = self.listens_for.map(|listens_for| Instant::now() + listens_for);
        let time_is_over = async {
            match end {
                Some(end) => tokio::time::sleep_until(end).await,
                None => std::future::pending().await,
            }
        };
        let is_over = async {
            tokio::select! {
                () = time_is_over => {}
                () = input_ended(&context.request_context().extensions) => {}
                () = context.cancelled() => {}
            }
        };
        tokio::pin!(is_over);
        let mut following = self.follow(&uris).await?;
        loop {
            let changed = tokio::select! {
                changed = following.next() => changed,
                () = &mut is_over => return Ok(()),
            };
            let Some(uris) = changed else { return Ok(()) };
            for uri in uris {
                if context.sink().notify_resource_updated(uri).await.is_err() {
                    return Ok(());
                }
            }
        }
    }

    /// Tells a client of the older revisions what changed, for as long as its connection lasts.
    pub(super) async fn tell(mut following: Following, peer: Peer<RoleServer>, stop: CancellationToken) {
        let mut look = tokio::time::interval(LOOK_EVERY);
        loop {
            let changed = tokio::select! {
                changed = following.next() => changed,
                () = stop.cancelled() => return,
                _ = look.tick() => if peer.is_transport_closed() { return } else { continue },
            };
            let Some(uris) = changed else { return };
            for uri in uris {
                let param = rmcp::model::ResourceUpdatedNotificationParam::new(uri);
                if peer.notify_resource_updated(param).await.is_err() {
                    return;
                }
            }
        }
    }
}

impl Following {
    /// Waits for changes: the addresses whose answer is another one now. `None` when the house is gone.
    pub async fn next(&mut self) -> Option<Vec<String>> {
        loop {
            let named: Vec<String> = match self.changes.recv().await {
                Ok(change) => self.named_by(&change),
                // Too much happened meanwhile to know what: look at everything.
                Err(RecvError::Lagged(_)) => self.resources.keys().cloned().collect(),
                Err(RecvError::Closed) => return None,
            };
            let mut changed = Vec::new();
            for uri in named {
                let Some(followed) = self.resources.get_mut(&uri) else { continue };
                // What is gone, or no longer for this caller, has changed too.
                let out_hash = self.handler.look(followed.operation, &followed.input).await.unwrap_or_default();
                if out_hash != followed.out_hash {
                    followed.out_hash = out_hash;
                    changed.push(uri);
                }
            }
            if !changed.is_empty() {
                return Some(changed);
            }
        }
    }

    fn named_by(&self, change: &Change) -> Vec<String> {
        if change.organisation_id != self.handler.actor.organisation_id.as_str() {
            return Vec::new();
        }
        let is_named = |followed: &Followed| {
            let values = followed.input.as_object().into_iter().flat_map(|members| members.values());
            values.filter_map(Value::as_str).any(|value| change.ids.iter().any(|id| id == value))
        };
        self.resources.iter().filter(|(_, followed)| is_named(followed)).map(|(uri, _)| uri.clone()).collect()
    }
}
