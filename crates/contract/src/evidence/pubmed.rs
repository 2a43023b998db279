//! The PubMed tools of seed 003.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::record::RetractionKind;

/// Papers that hold the terms, read from left to right as PubMed does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PubmedSearch {
    #[schemars(length(min = 1, max = 20))]
    pub terms: Vec<SearchTerm>,
    #[serde(default = "max_results_default")]
    #[schemars(range(min = 1, max = 100))]
    pub max_results: u32,
    #[serde(default)]
    pub sort_by: SortBy,
}

fn max_results_default() -> u32 {
    10
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchTerm {
    /// A word or a phrase; all capitals (`TP53`) mean a gene; `herb*` is any word that begins so. May end with a field:
    /// `[ti] [tiab] [au] [ta] [mh] [dp]`.
    #[schemars(length(min = 1, max = 300))]
    pub term: String,
    /// How it joins what stands before it. The first one joins nothing and is not `NOT`.
    #[serde(default)]
    pub operator: Operator,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(inline)]
pub enum Operator {
    #[default]
    And,
    Or,
    Not,
}

impl Operator {
    pub fn name(self) -> &'static str {
        match self {
            Operator::And => "AND",
            Operator::Or => "OR",
            Operator::Not => "NOT",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum SortBy {
    #[default]
    Relevance,
    PubDate,
    FirstAuthor,
    Journal,
    Title,
}

/// One paper with its abstract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PubmedGetDetails {
    /// `24790635`, `PMC1` or `10.1/x`.
    #[schemars(
        length(min = 1, max = 200),
        regex(pattern = r"^((PMID:)?[0-9]+|(PMCID:)?PMC[0-9]+|(DOI:)?10\.[0-9.]+/\S+)$")
    )]
    pub pmid: String,
}

/// An entry of the artifact `application/vnd.bibliography`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BibliographyEntry {
    /// `Last I`.
    pub authors: Vec<String>,
    pub year: Option<i32>,
    pub title: String,
    pub journal: String,
    /// Empty where PubMed has no such paper; `id` names it then.
    pub pmid: String,
    /// The id here of a paper without a PubMed number, such as `DOI:10.1/x`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Present once the paper was retracted, or doubted by its publisher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retraction: Option<RetractionKind>,
    /// The source that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retraction_source: Option<String>,
    /// Its source took the record back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withdrawn: bool,
}

pub const BIBLIOGRAPHY: &str = "application/vnd.bibliography";
