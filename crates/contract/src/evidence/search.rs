//! `hybrid_search` of seed 002, and the making of the vectors that it reads.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::record::RetractionKind;

// Documents and nodes by words, by meaning and by the things they name. The tool says so itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HybridSearch {
    /// A question, or words; Thai, English or both.
    #[schemars(length(min = 1, max = 2_000))]
    pub query: String,
    /// The language in which nodes are named in the answer; `auto` takes that of the query. Hits of
    /// every language are found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "th"))]
    pub lang: Option<SearchLang>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filters: Option<SearchFilters>,
    /// Hits at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100), extend("default" = 10))]
    pub top_k: Option<u32>,
    /// The change number that the answer must know of, as `put_records` told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    pub min_version: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum SearchLang {
    Th,
    En,
    Auto,
}

/// Every condition must hold; of the values of one list, any. A word that nothing in the record has is refused.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchFilters {
    /// `paper`, `chunk`, `herb` …
    #[serde(default, rename = "type", deserialize_with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Words")]
    pub kinds: Vec<String>,
    /// Ids of sources.
    #[serde(default, rename = "source", deserialize_with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Words")]
    pub sources: Vec<String>,
    /// Of a node, any of its categories.
    #[serde(default, rename = "category", deserialize_with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Words")]
    pub categories: Vec<String>,
    /// In which letters the text is written.
    #[serde(default, rename = "lang", deserialize_with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Langs")]
    pub langs: Vec<TextLang>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 9_999))]
    pub year_from: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 9_999))]
    pub year_to: Option<i32>,
    /// Leaves out papers that were retracted or doubted by their publisher.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_retracted: bool,
}

// One word, or a list of them, as in `query_kg`; but an empty list was always taken here.
#[derive(JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
#[expect(dead_code, reason = "it is read as a list; this says what it may look like")]
enum Words {
    One(#[schemars(length(min = 1, max = 100))] String),
    More(#[schemars(length(max = 50), inner(length(min = 1, max = 100)))] Vec<String>),
}

#[derive(JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
#[expect(dead_code, reason = "as above")]
enum Langs {
    One(TextLang),
    More(#[schemars(length(max = 2))] Vec<TextLang>),
}

fn one_or_more<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMore<T> {
        One(T),
        More(Vec<T>),
    }
    Ok(match OneOrMore::deserialize(deserializer)? {
        OneOrMore::One(one) => vec![one],
        OneOrMore::More(more) => more,
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum TextLang {
    Th,
    En,
}

impl TextLang {
    pub fn name(self) -> &'static str {
        match self {
            TextLang::Th => "th",
            TextLang::En => "en",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HybridSearchOutput {
    /// The best first.
    pub hits: Vec<SearchHit>,
    /// What the hits do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchHit {
    pub id: String,
    /// Whether it is a document or a node of the graph: both may use the same ids.
    pub record: HitRecord,
    /// `herb`, `paper`, `chunk` …
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    /// A part of the text, cut between words.
    pub snippet: String,
    /// Where the snippet holds what was searched for.
    pub matches: Vec<Span>,
    #[schemars(range(min = 0, max = 1))]
    pub score: f64,
    /// The id of its source.
    pub source: String,
    /// Whether somebody compared it with its source.
    #[serde(default)]
    pub verified: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i32>,
    /// Whose words the text is, where it is not the authors' abstract: `materia` for a summary of our own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abstract_by: Option<String>,
    /// On every document, and on every node that stands for a paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retraction: Option<RetractionStatus>,
    // The source that says so, where a paper was retracted or is doubted. Catalogues have no room for a description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retraction_source: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum HitRecord {
    Document,
    Node,
}

/// Characters of a text, from `start` to before `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Span {
    pub start: u64,
    pub end: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum RetractionStatus {
    /// The record knows of none.
    NoneKnown,
    Retracted,
    ExpressionOfConcern,
}

impl From<Option<RetractionKind>> for RetractionStatus {
    fn from(kind: Option<RetractionKind>) -> RetractionStatus {
        match kind {
            None => RetractionStatus::NoneKnown,
            Some(RetractionKind::Retracted) => RetractionStatus::Retracted,
            Some(RetractionKind::ExpressionOfConcern) => RetractionStatus::ExpressionOfConcern,
        }
    }
}

/// Makes the search index and the graph anew from the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RebuildEvidence {}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RebuildEvidenceOutput {
    /// The change number that the index is at.
    pub version: u64,
}

/// Brings the index up to date and makes the vectors of the next texts that have none of the model in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmbedRecords {
    /// Texts in this call; 32 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub limit: Option<u32>,
    /// Also deletes vectors that nothing uses any more, a thousand in a call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forget: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EmbedRecordsOutput {
    pub embedded: u64,
    /// Texts that still have none.
    pub missing: u64,
    /// Vectors that were deleted; absent where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forgotten: Option<u64>,
    /// The change number that the index is at.
    pub version: u64,
    /// Absent where no model is in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}
