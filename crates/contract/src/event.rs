//! One event per call: what the log keeps. No content of any input or output, only hashes and ids.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::{Actor, ActorKind, Credential};
use crate::id::{ActorId, CorrelationId, KeyId, OrganisationId};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Ok,
    /// The input was wrong.
    Invalid,
    /// The caller may not, or is not known.
    Denied,
    NotFound,
    Conflict,
    Busy,
    /// The operation asked the caller back.
    InputRequired,
    Upstream,
    Timeout,
    Failed,
    /// The operation panicked and was stopped.
    Panicked,
    /// The caller went away before the answer.
    Cancelled,
}

impl Outcome {
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Invalid => "invalid",
            Outcome::Denied => "denied",
            Outcome::NotFound => "not_found",
            Outcome::Conflict => "conflict",
            Outcome::Busy => "busy",
            Outcome::InputRequired => "input_required",
            Outcome::Upstream => "upstream",
            Outcome::Timeout => "timeout",
            Outcome::Failed => "failed",
            Outcome::Panicked => "panicked",
            Outcome::Cancelled => "cancelled",
        }
    }
}

impl From<crate::error::Kind> for Outcome {
    fn from(kind: crate::error::Kind) -> Outcome {
        use crate::error::Kind;
        match kind {
            Kind::Invalid => Outcome::Invalid,
            Kind::NotFound => Outcome::NotFound,
            Kind::Conflict => Outcome::Conflict,
            Kind::Refused => Outcome::Denied,
            Kind::Busy => Outcome::Busy,
            Kind::InputRequired => Outcome::InputRequired,
            Kind::Upstream => Outcome::Upstream,
            Kind::Timeout => Outcome::Timeout,
            Kind::Internal => Outcome::Failed,
        }
    }
}

/// The caller's own ids for the work this call is part of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Correlation {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<CorrelationId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<CorrelationId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<CorrelationId>,
    /// Who asked, as seed 004 names users: `anon_` and letters that tell nobody's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<CorrelationId>,
    /// The id of the JSON-RPC message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<CorrelationId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<CorrelationId>,
}

/// A thing the call created, changed or read, by id and content hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Touched {
    #[serde(rename = "type")]
    pub kind: String,
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The hash of the thing as the call found it, where it changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_sha256: Option<String>,
    /// The thing was not there before this call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_created: bool,
    /// The thing is gone after this call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_deleted: bool,
}

impl Touched {
    /// A thing by its name alone.
    pub fn named(kind: impl Into<String>, id: impl Into<String>) -> Touched {
        let (sha256, before_sha256) = (None, None);
        Touched { kind: kind.into(), id: id.into(), sha256, before_sha256, is_created: false, is_deleted: false }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventActor {
    pub id: ActorId,
    pub kind: ActorKind,
    /// The authorization server whose token was shown, and the client it was issued to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// The API key that was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<KeyId>,
}

impl From<&Actor> for EventActor {
    fn from(actor: &Actor) -> EventActor {
        let (issuer, client_id, key_id) = match actor.credential.clone() {
            Credential::House => (None, None, None),
            Credential::Key { key_id } => (None, None, Some(key_id)),
            Credential::Token { issuer, client_id } => (Some(issuer), client_id, None),
        };
        EventActor { id: actor.id.clone(), kind: actor.kind, issuer, client_id, key_id }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// UUIDv7 of the call.
    pub call_id: String,
    /// RFC 3339 in UTC with microseconds.
    pub time: String,
    pub organisation_id: OrganisationId,
    pub actor: EventActor,
    pub operation: String,
    pub outcome: Outcome,
    /// The code of the error, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// How many like this one were folded into it (refusals before authentication).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    pub in_hash: String,
    pub out_hash: String,
    /// Whose key the two hashes are made with, such as `patient/` and an id, where they are no plain SHA-256.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash_key: Option<String>,
    pub latency_ms: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<Touched>,
    /// Hash of organisation, actor, operation and idempotency key, where the answer is kept under them for repeated calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_as: Option<String>,
    #[serde(default)]
    pub correlation: Correlation,
    /// Version of the program whose schemas were used.
    pub schema_version: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_outcome_is_its_json() {
        for outcome in [Outcome::Ok, Outcome::Denied, Outcome::NotFound, Outcome::Panicked, Outcome::Cancelled] {
            assert_eq!(serde_json::to_value(outcome).unwrap(), outcome.name());
        }
    }
}
