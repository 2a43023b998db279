//! Subscriptions to resources. A subscriber reads the resource through the door at the start and whenever the change feed
//! names it, and hears of it when the answer is another one.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use contract::dialect::Dialect;
use ops::Call;
use ops::feed::Change;
use ops::resources::Resource;
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

/// Changes often come one after the other: one look serves all of those that come within this time.
const SETTLES_WITHIN: Duration = Duration::from_millis(300);

/// One resource that somebody follows.
struct Followed {
    resource: &'static Resource,
    input: Value,
    /// Hash of the last answer.
    out_hash: String,
}

/// Resources that somebody follows, and the changes that may concern them.
pub struct Following {
    resources: HashMap<String, Followed>,
    changes: broadcast::Receiver<Arc<Change>>,
    handler: Handler,
    /// Addresses that a change concerns and nobody has looked at since, and when that is due.
    concerned: BTreeSet<String>,
    look_at: Option<Instant>,
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
            resources.insert(uri.clone(), Followed { resource, input, out_hash });
        }
        let handler = self.clone();
        Ok(Following { resources, changes, handler, concerned: BTreeSet::new(), look_at: None })
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
            let Some(uri) = changed else { return Ok(()) };
            if context.sink().notify_resource_updated(uri).await.is_err() {
                return Ok(());
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
            let Some(uri) = changed else { return };
            let param = rmcp::model::ResourceUpdatedNotificationParam::new(uri);
            if peer.notify_resource_updated(param).await.is_err() {
                return;
            }
        }
    }
}

impl Following {
    /// Waits for a change: an address whose answer is another one now. `None` when the house is gone. Whoever breaks off
    /// the wait and begins it anew misses nothing.
    pub async fn next(&mut self) -> Option<String> {
        loop {
            match self.look_at {
                None => {
                    let change = self.changes.recv().await;
                    self.note(change)?;
                    continue;
                }
                Some(look_at) => tokio::select! {
                    change = self.changes.recv() => {
                        self.note(change)?;
                        continue;
                    }
                    () = tokio::time::sleep_until(look_at) => {}
                },
            }
            let Some(uri) = self.concerned.first().cloned() else {
                self.look_at = None;
                continue;
            };
            let followed = self.resources.get(&uri)?;
            // What is gone, or no longer for this caller, has changed too.
            let out_hash = self.handler.look(followed.resource.operation, &followed.input).await.unwrap_or_default();
            self.concerned.remove(&uri);
            let followed = self.resources.get_mut(&uri)?;
            if out_hash != followed.out_hash {
                followed.out_hash = out_hash;
                return Some(uri);
            }
        }
    }

    /// Takes in what changed; `None` when nothing more can.
    fn note(&mut self, change: Result<Arc<Change>, RecvError>) -> Option<()> {
        let is_concerned = |followed: &Followed| match &change {
            Ok(change) => {
                change.organisation_id == self.handler.actor.organisation_id.as_str()
                    && change.things.iter().any(|thing| (followed.resource.rests_on)(&followed.input, thing))
            }
            // Too much happened meanwhile to know what: look at everything.
            Err(_) => true,
        };
        let concerned = self.resources.iter().filter(|(_, followed)| is_concerned(followed));
        self.concerned.extend(concerned.map(|(uri, _)| uri.clone()));
        if !self.concerned.is_empty() {
            self.look_at.get_or_insert_with(|| Instant::now() + SETTLES_WITHIN);
        }
        (!matches!(change, Err(RecvError::Closed))).then_some(())
    }
}
