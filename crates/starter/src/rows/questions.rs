//! Questions that evaluate search and answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A question with the passages that answer it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuestionRow {
    pub id: String,
    pub lang: Lang,
    pub question: String,
    pub answerable: bool,
    pub passages: Vec<Passage>,
    pub kind: QuestionKind,
    #[serde(default)]
    pub note: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Lang {
    Th,
    En,
}

impl Lang {
    pub const ALL: [Lang; 2] = [Lang::Th, Lang::En];

    pub fn name(self) -> &'static str {
        match self {
            Lang::Th => "th",
            Lang::En => "en",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Passage {
    /// `monograph:khing:en`, or the id of a paper.
    pub document: String,
    /// Of a monograph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum QuestionKind {
    Fact,
    Contraindication,
    Interaction,
    Conflict,
    Unanswerable,
}
