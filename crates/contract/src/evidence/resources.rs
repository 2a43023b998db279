//! What is read by address: `kg://herb/{id}`, `kg://node/{curie}`, `paper://pmid/{id}`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::record::{Name, RetractedReference, Retraction, SameAs, Strength};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadHerb {
    /// The id, or a name in any language that only one herb has.
    #[schemars(length(min = 1, max = 500))]
    pub id: String,
}

/// A herb with its relations, as seed 002 has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Herb {
    pub id: String,
    /// The first name in each language.
    pub names: BTreeMap<String, String>,
    pub parts: Vec<String>,
    pub constituents: Vec<Constituent>,
    pub indications: Vec<Indication>,
    /// Whom all this is from.
    pub sources: Vec<String>,
    /// What the rest does not tell, such as that something is both an indication and warned of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Constituent {
    pub id: String,
    pub name: String,
    /// Whether somebody compared it with its source.
    pub verified: bool,
    /// Who says that the herb contains it, in the order of their ids.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Documents behind it that were retracted or are doubted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retracted: Vec<RetractedReference>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Indication {
    /// Empty where the source gives none.
    #[serde(rename = "icdCode")]
    pub icd_code: String,
    pub description: String,
    /// Whether somebody compared it with its source.
    pub verified: bool,
    /// Who says that the herb is used for it, in the order of their ids.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Documents behind it that were retracted or are doubted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retracted: Vec<RetractedReference>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadNode {
    /// The id, or a name in any language that only one node has.
    #[schemars(length(min = 1, max = 500))]
    pub curie: String,
}

/// A node with what is said of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeDetails {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub categories: Vec<String>,
    pub label: String,
    pub names: Vec<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same_as: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, Value>,
    pub source: String,
    pub licence: String,
    pub relations: Vec<Relation>,
    /// Of those there are, which may be more than are shown.
    pub n_relations: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Relation {
    pub predicate: String,
    /// The edge points from the other node to this one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reverse: bool,
    pub id: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub label: String,
    pub edge_id: String,
    pub source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    /// The node that it is recorded of, where that is another one for the same thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<SameAs<'static>>,
    /// An interaction that nobody may overlook, by a rule of its source.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub critical: bool,
    /// Whether somebody compared it with its source.
    pub verified: bool,
    /// Documents behind it that were retracted or are doubted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retracted: Vec<RetractedReference>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadPaper {
    /// `24790635`, or `PMID:24790635`.
    #[schemars(regex(pattern = r"^(PMID:)?[1-9][0-9]{0,7}$"))]
    pub pmid: String,
}

/// A paper of PubMed, as seed 002 has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Paper {
    pub pmid: String,
    pub title: String,
    #[serde(rename = "abstract")]
    pub text: String,
    pub authors: Vec<String>,
    /// Empty where the record has none.
    pub journal: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i32>,
    pub links: Vec<String>,
    /// Present once it was retracted, or doubted by its publisher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retraction: Option<Retraction>,
    /// Its source took the record back: nothing is left but what is known against papers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withdrawn: bool,
    pub source: String,
    /// On which terms this may be used; `licence_of` says what.
    pub licence: String,
    pub licence_of: LicenceOf,
    /// The terms of the paper itself, where its record states them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper_licence: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum LicenceOf {
    /// A summary in our own words, which stands in for the abstract. The paper is its authors' or publisher's.
    Summary,
    /// The record of the paper, as its source gives it out. The paper may be under other terms.
    Record,
}
