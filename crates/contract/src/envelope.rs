//! Shapes around an answer: the versioned envelope of seed 000 and the standard response of seed 003.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Seed 000: which versions produced an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VersionMetadata {
    pub mcp_server_version: String,
    pub run_version: String,
    pub prompt_version: String,
    /// RFC 3339 in UTC with milliseconds.
    pub timestamp: String,
}

/// Seed 000: the envelope of a successful clinic answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuccessEnvelope<T> {
    pub success: True,
    pub data: T,
    pub version: VersionMetadata,
}

/// The literal `true`: `success` of an answer that succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "bool", into = "bool")]
pub struct True;

impl TryFrom<bool> for True {
    type Error = &'static str;

    fn try_from(value: bool) -> Result<True, &'static str> {
        if value { Ok(True) } else { Err("expected `true`") }
    }
}

impl From<True> for bool {
    fn from(_: True) -> bool {
        true
    }
}

impl JsonSchema for True {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "True".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "boolean", "const": true })
    }
}

/// Seed 003: something to show beside the answer. `content` is a string, JSON-encoded where the type is structured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Artifact {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

/// Seed 003: an answer in words. Surfaces that have a place for content show it there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Content {
    pub content: Vec<ContentItem>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContentItem {
    #[serde(rename = "type")]
    pub kind: ContentKind,
    pub text: String,
    /// For the model that asked, not for the transcript.
    #[serde(default, rename = "forModel", skip_serializing_if = "std::ops::Not::not")]
    pub is_for_model: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum ContentKind {
    Text,
}

/// Whom a text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    Everybody,
    Model,
}

impl Content {
    pub fn text(text: String, audience: Audience) -> Content {
        let is_for_model = audience == Audience::Model;
        Content { content: vec![ContentItem { kind: ContentKind::Text, text, is_for_model }] }
    }
}

/// Seed 003: facts about the answer (`querySuccess`, `nodeCount`, `message`, and others).
pub type ResponseMetadata = Map<String, Value>;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_success_example_of_seed_000_round_trips() {
        let text = json!({
            "success": true,
            "data": { "patient_id": "123e4567-e89b-12d3-a456-426614174000" },
            "version": {
                "mcp_server_version": "0.1.0",
                "run_version": "run_1707069600000_abc123",
                "prompt_version": "v1",
                "timestamp": "2026-02-04T19:00:00.000Z"
            }
        });
        let envelope: SuccessEnvelope<Value> = serde_json::from_value(text.clone()).unwrap();
        assert_eq!(serde_json::to_value(envelope).unwrap(), text);
    }

    #[test]
    fn an_envelope_of_a_failure_is_no_success() {
        let version = json!({"mcp_server_version": "", "run_version": "", "prompt_version": "", "timestamp": ""});
        let text = json!({"success": false, "data": {}, "version": version});
        assert!(serde_json::from_value::<SuccessEnvelope<Value>>(text).is_err());
    }

    #[test]
    fn content_of_seed_003_says_whom_it_is_for_only_where_that_is_the_model() {
        let spoken = serde_json::to_value(Content::text("x".to_owned(), Audience::Model)).unwrap();
        assert_eq!(spoken, json!({"content": [{"type": "text", "text": "x", "forModel": true}]}));
        let plain = serde_json::to_value(Content::text("x".to_owned(), Audience::Everybody)).unwrap();
        assert_eq!(plain, json!({"content": [{"type": "text", "text": "x"}]}));
    }

    #[test]
    fn an_artifact_of_seed_003_round_trips() {
        let text = json!({"type": "application/vnd.bibliography", "title": "Bibliography", "content": "[]"});
        let artifact: Artifact = serde_json::from_value(text.clone()).unwrap();
        assert_eq!(serde_json::to_value(artifact).unwrap(), text);
    }
}
