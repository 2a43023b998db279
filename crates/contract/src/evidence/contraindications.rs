//! `find_contraindications`: what is recorded against taking a herb or a formulation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::record::{RetractedReference, SameAs, Strength};
use crate::detail::{Detail, LeftOut};

/// What is recorded against these herbs and formulations. Each is an id, or a name in any language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindContraindications {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), inner(length(min = 1, max = 500)))]
    pub herb_ids: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), inner(length(min = 1, max = 500)))]
    pub formulation_ids: Vec<String>,
    /// `brief` unless said: the gravest first, as many as a model can read at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    /// The `next_cursor` of a brief answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100))]
    pub cursor: Option<String>,
    /// A change number that the answer must know of, as `put_records` answered it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    pub min_version: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FindContraindicationsOutput {
    /// The strongest first.
    pub results: Vec<Contraindication>,
    /// Known here, but nothing is recorded against them. That is no statement that there is nothing.
    pub no_record: Vec<String>,
    /// Ingredients that nothing is recorded against here, or that are not here at all: what they may do is unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_covered: Vec<NotCovered>,
    /// There are more than are shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Of a brief answer: rows whose strength is low, or members of rows. Others are always there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// What the results do not tell, such as that a name means several things.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Contraindication {
    pub entity_id: String,
    #[serde(rename = "type")]
    pub kind: EntityKind,
    pub entity_label: String,
    /// The condition, person or drug that it does not go with.
    pub contraindication: String,
    pub contraindication_id: String,
    /// `contraindicated_in`, `interacts_with` …
    pub predicate: String,
    /// What the source says, or where it says so.
    pub evidence: String,
    /// Absent where the source does not say how strong; that is not the same as weak.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    /// Whether somebody compared it with its source.
    pub verified: bool,
    /// Documents and addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// References that do not stand: `retracted`, `expression of concern` …
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retracted: Vec<RetractedReference>,
    /// In a brief row, how much else is stated of the same pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_also: Option<usize>,
    /// What else is stated of the same pair.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<AlsoStated>,
    /// What is in it and has this recorded of it, a class of that, or the kind of herb.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inherited_from: Option<String>,
    /// What this is recorded of, where that is only said to be the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<SameAs<'static>>,
    /// Absent in a brief row, as `licence` is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub edge_id: String,
    pub source: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub licence: String,
}

// As `Contraindication` has it; that it is recorded of another node for the same thing is in the words of `evidence`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AlsoStated {
    pub predicate: String,
    pub evidence: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    pub verified: bool,
    pub references: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retracted: Vec<RetractedReference>,
    pub edge_id: String,
    pub source: String,
    pub licence: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotCovered {
    /// The formulation.
    pub entity_id: String,
    /// The id of the herb, or the name of what is no node here.
    pub ingredient: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum EntityKind {
    Herb,
    Formulation,
}

impl EntityKind {
    pub fn name(self) -> &'static str {
        match self {
            EntityKind::Herb => "herb",
            EntityKind::Formulation => "formulation",
        }
    }
}
