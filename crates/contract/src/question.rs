//! What an operation asks back before it goes on.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Questions by a key that the operation chose; answers come under the same key.
pub type Questions = BTreeMap<String, Question>;
pub type Answered = BTreeMap<String, Value>;

/// What kind of answer a question wants. Not every caller can give every kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    Form,
    ModelText,
    Roots,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Question {
    /// Fields for a person. The answer is `{action, content}`: `accept` with content that fits the schema, `decline`
    /// or `cancel`.
    Form {
        message: String,
        /// An object with flat properties.
        schema: Map<String, Value>,
    },
    /// A text by the model of the caller. The answer is a message: `{role, content, model}`.
    ModelText { prompt: String, n_tokens_max: u32 },
    /// The folders that the caller works in. The answer is `{roots: [...]}`.
    Roots {},
}

impl Question {
    pub fn kind(&self) -> QuestionKind {
        match self {
            Question::Form { .. } => QuestionKind::Form,
            Question::ModelText { .. } => QuestionKind::ModelText,
            Question::Roots {} => QuestionKind::Roots,
        }
    }
}

/// What a person did with a form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum FormAnswer {
    Accept { content: Map<String, Value> },
    Decline {},
    Cancel {},
}
