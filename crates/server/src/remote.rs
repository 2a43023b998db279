//! Task and id services of another server, over their own HTTP interfaces.

mod answers;
mod client;
mod wire;

use std::sync::Arc;

use contract::error::{Kind, OpError};
use futures::future::BoxFuture;
use ops::{Remote, RemoteCall, Remotes};
use serde_json::Value;
use workflow::catalogue::LiveCatalogue;

pub use client::RemoteError;
use client::{Answered, Client, Failure};

use crate::settings::Settings;

/// The services that the settings place elsewhere.
pub fn services(settings: &Settings, catalogue: &LiveCatalogue) -> Result<Remotes, RemoteError> {
    let remote = |name: &'static str, setting, url: &Option<String>, key: &Option<String>| match url {
        Some(url) => {
            let client = Client::new(setting, url, key.as_deref())?;
            Ok(Some(Arc::new(RemoteService { name, client, catalogue: catalogue.clone() }) as Arc<dyn Remote>))
        }
        None => Ok(None),
    };
    let tasks = remote("task", "tasks_url", &settings.tasks_url, &settings.tasks_key)?;
    let ids = remote("id", "ids_url", &settings.ids_url, &settings.ids_key)?;
    Ok(Remotes::of(settings.services_organisation_id().clone(), tasks, ids))
}

/// A service that the settings place elsewhere, and why it does not serve, if so.
pub struct Looked {
    pub setting: &'static str,
    pub problem: Option<String>,
}

/// Asks each of the services once whether it is there.
pub async fn look(settings: &Settings) -> Vec<Looked> {
    let mut looked = Vec::new();
    for (setting, url) in [("tasks_url", &settings.tasks_url), ("ids_url", &settings.ids_url)] {
        let Some(url) = url else { continue };
        let problem = match Client::new(setting, url, None) {
            Err(error) => Some(error.to_string()),
            Ok(client) => match client.look().await {
                Ok(status) if status.is_server_error() => Some(format!("it answers {}", status.as_u16())),
                Ok(_) => None,
                Err(Failure::Slow) => Some("it does not answer in time".to_owned()),
                Err(Failure::Unreachable(_) | Failure::Unreadable) => Some("it cannot be reached".to_owned()),
            },
        };
        looked.push(Looked { setting, problem });
    }
    looked
}

#[derive(Debug)]
struct RemoteService {
    name: &'static str,
    client: Client,
    catalogue: LiveCatalogue,
}

impl Remote for RemoteService {
    fn call(&self, call: RemoteCall) -> BoxFuture<'_, Result<Value, OpError>> {
        Box::pin(async move {
            let catalogue = self.catalogue.current();
            let request = wire::request(&call, &catalogue).ok_or_else(|| {
                OpError::internal(format!("`{}` is no operation of the {} service", call.operation, self.name))
            })?;
            match self.client.send(&request, &call).await {
                Ok(Answered { status, body, .. }) if status.is_success() => {
                    answers::check(&call, &body, &catalogue).map_err(|problem| self.upstream(&problem))?;
                    Ok(wire::output(call.operation, body, &catalogue))
                }
                Ok(answered) => Err(self.refusal(&answered)),
                Err(failure) => Err(self.failure(failure)),
            }
        })
    }
}

impl RemoteService {
    /// What the service said no to, as if we had. A refusal of our own key is not the caller's affair.
    fn refusal(&self, Answered { status, retry_after_ms, body }: &Answered) -> OpError {
        let detail = body.get("detail").and_then(Value::as_str).unwrap_or_default();
        let detail: String = detail.chars().filter(|c| !c.is_control()).take(wire::DETAIL_CHARS_MAX).collect();
        match status.as_u16() {
            400 => {
                let mut error = OpError::new(Kind::Invalid, detail);
                error.details.field = wire::field(body).map(str::to_owned);
                error
            }
            404 => OpError::not_found(detail),
            409 => OpError::conflict(detail),
            429 => OpError::rate_limited(detail, retry_after_ms.unwrap_or(ops::limits::RETRY_AFTER_MS)),
            401 | 403 => self.upstream("does not accept the key it was given"),
            status => self.upstream(&format!("answered {status}")),
        }
    }

    fn failure(&self, failure: Failure) -> OpError {
        match failure {
            Failure::Slow => OpError::timeout(format!("the {} service took too long", self.name)),
            Failure::Unreachable(error) => self.upstream("cannot be reached").with_source(error),
            Failure::Unreadable => self.upstream("answered something else than JSON, or too much of it"),
        }
    }

    fn upstream(&self, what: &str) -> OpError {
        OpError::new(Kind::Upstream, format!("the {} service {what}", self.name))
    }
}

/// A call with nothing remarkable about it.
#[cfg(test)]
fn plain_call(operation: &'static str, input: Value) -> RemoteCall {
    RemoteCall {
        operation,
        input,
        idempotency_key: "k".to_owned(),
        correlation_id: "c".to_owned(),
        via: ops::Via::Direct,
        acting: ops::acting::Acting::parse("default/kagent").expect("an actor"),
    }
}
