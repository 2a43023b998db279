//! `query_kg`: paths through the graph.

mod paths;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::record::{RetractedReference, SameAs, Strength};
use crate::detail::{Detail, LeftOut};

pub use paths::{Paths, Step, StepSame, StepVia, Text};

pub const DEPTH_MAX: u32 = 6;
pub const DEPTH_DEFAULT: u32 = 3;
pub const PATHS_MAX: u32 = 1_000;
pub const PATHS_DEFAULT: u32 = 100;

// Paths from a node: along a pattern, or wherever edges lead. The tool says so itself, and catalogues have little room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueryKg {
    pub start: Start,
    /// Such as `herb -contains-> constituent -treats-> indication`; `*` is any type, or any predicate but denials
    /// (`not_…`); `<-p-` goes against the edge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2_000))]
    pub pattern: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filters: Option<KgFilters>,
    /// Hops of a path at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 6), extend("default" = DEPTH_DEFAULT))]
    pub max_depth: Option<u32>,
    /// Paths at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000), extend("default" = PATHS_DEFAULT))]
    pub limit: Option<u32>,
    /// Only counts the paths, all of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub count: bool,
    /// A change number that the answer must know of, as `put_records` answered it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    pub min_version: Option<u64>,
    /// `brief` unless said: the gravest first, as many as a model can read at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    /// The `next_cursor` of a brief answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100))]
    pub cursor: Option<String>,
    /// Only checks the question and whether somebody answers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// `herb`, `constituent`, `indication`, any other category, or `*`.
    #[serde(rename = "type")]
    #[schemars(length(min = 1, max = 100))]
    pub kind: String,
    /// The id, or a name in any language that only one such node has.
    #[schemars(length(min = 1, max = 500))]
    pub id: String,
}

/// What may be on a path after its start. Absent members let everything pass.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KgFilters {
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<OneOrMore>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicate: Option<OneOrMore>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<OneOrMore>,
    /// At least this strong. What nobody stated the strength of does not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
}

// One word, or a list of them. Catalogues have no room to say what the schema says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum OneOrMore {
    One(#[schemars(length(min = 1, max = 200))] String),
    More(#[schemars(length(min = 1, max = 100), inner(length(min = 1, max = 200)))] Vec<String>),
}

impl OneOrMore {
    pub fn list(&self) -> Vec<String> {
        match self {
            OneOrMore::One(word) => vec![word.clone()],
            OneOrMore::More(words) => words.clone(),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QueryKgOutput {
    /// In the order of predicate and id, hop by hop; without a pattern the shorter ones first.
    // Where there are more than are shown, those of which every hop is verified come first; without a pattern the others keep up
    // to half of the places. Catalogues have no room to say so.
    #[schemars(with = "Vec<Vec<PathNode<'static>>>")]
    pub paths: Paths,
    /// Where counting was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// There are more paths than are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncated>,
    /// Of a brief answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// What the paths do not tell: few or none do not mean that there is nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Truncated {
    /// `limit` was reached.
    Limit,
    /// Given up after very many edges; a narrower question finds more.
    Work,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PathNode<'a> {
    pub id: &'a str,
    #[serde(rename = "type")]
    pub kind: &'a str,
    pub label: &'a str,
    /// What was asked for, where this start is only said to be the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<SameAs<'a>>,
    /// How the path came here from the node before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<Via<'a>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Via<'a> {
    pub predicate: &'a str,
    /// The edge points to the node before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reverse: bool,
    /// The edge that says so; the first one where there are several.
    pub edge_id: &'a str,
    pub source: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    /// Nobody may overlook it, by a rule of its source.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub critical: bool,
    /// Critical, but nobody verified the way there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub capped: bool,
    /// Whether somebody compared it with its source.
    pub verified: bool,
    // Documents behind it that were retracted or are doubted.
    #[serde(default, skip_serializing_if = "<[RetractedReference]>::is_empty")]
    #[schemars(with = "Vec<RetractedReference>")]
    pub retracted: &'a [RetractedReference],
}
