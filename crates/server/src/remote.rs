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
    pub problem: Option<Problem>,
}

pub struct Problem {
    pub what: String,
    pub advice: String,
}

/// Asks each of the services once for what it alone serves, and only to those who have its key. Nothing changes there.
pub async fn look(settings: &Settings) -> Vec<Looked> {
    let tasks = format!("/tasks?project={}&limit=1", settings.default_project_id);
    // No type is named, so that no id is taken: the service says so, and no other one does.
    let ids = "/ids/next".to_owned();
    let mut looked = Vec::new();
    for (name, setting, url, key, path) in [
        ("task", "tasks_url", &settings.tasks_url, &settings.tasks_key, tasks),
        ("id", "ids_url", &settings.ids_url, &settings.ids_key, ids),
    ] {
        let Some(url) = url else { continue };
        let running =
            || format!("is that server running, and is `{setting}` right? Until then calls for it are refused");
        let problem = match Client::new(setting, url, key.as_deref()) {
            Err(error) => Some(Problem { what: error.to_string(), advice: running() }),
            Ok(client) => match client.look(&path).await {
                Ok(answered) => judge(name, setting, &answered),
                Err(Failure::Slow) => {
                    Some(Problem { what: "it does not answer in time".to_owned(), advice: running() })
                }
                Err(Failure::Unreachable(_) | Failure::Unreadable) => {
                    Some(Problem { what: "it cannot be reached".to_owned(), advice: running() })
                }
            },
        };
        looked.push(Looked { setting, problem });
    }
    looked
}

/// What an answer to the question of [`look`] says of the service.
fn judge(name: &str, setting: &str, Answered { status, body, .. }: &Answered) -> Option<Problem> {
    let key = setting.replace("_url", "_key");
    let is_served = match name {
        "task" => body.get("tasks").is_some_and(Value::is_array),
        _ => status.as_u16() == 400,
    };
    let problem = |what: String, advice: String| Some(Problem { what, advice });
    match status.as_u16() {
        401 => problem(
            "it does not accept the key it was given".to_owned(),
            format!("set `{key}` to a key of that server"),
        ),
        403 => problem(
            "the key it was given may not use it".to_owned(),
            format!("give the key of `{key}` a role there that may queue tasks and reserve ids"),
        ),
        500.. => problem(format!("it answers {}", status.as_u16()), "look at the log of that server".to_owned()),
        _ if is_served => None,
        _ => problem(
            format!("what answers there is no {name} service"),
            format!("is `{setting}` the address of the {name} service, and not that of another port or server?"),
        ),
    }
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
            // What the service itself says no to. Where it does not say why, it is the key that it does not like.
            403 if !detail.is_empty() => OpError::refused(detail),
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
