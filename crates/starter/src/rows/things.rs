//! Conditions, constituents, classes, drugs, other substances, herbs and formulations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Bilingual, Citation, FactRow, Monograph, Names};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConditionRow {
    pub id: String,
    pub kind: ConditionKind,
    pub names: Names,
    /// With the dot.
    #[serde(default)]
    pub icd10: Vec<String>,
    /// Of the Thai block U50–U77, without the dot.
    #[serde(default)]
    pub ttm_codes: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum ConditionKind {
    Disease,
    Symptom,
    State,
    Age,
    Allergy,
    UsageLimit,
}

impl ConditionKind {
    pub fn name(self) -> &'static str {
        match self {
            ConditionKind::Disease => "disease",
            ConditionKind::Symptom => "symptom",
            ConditionKind::State => "state",
            ConditionKind::Age => "age",
            ConditionKind::Allergy => "allergy",
            ConditionKind::UsageLimit => "usage_limit",
        }
    }

    /// What somebody takes something for.
    pub fn is_indication(self) -> bool {
        matches!(self, ConditionKind::Disease | ConditionKind::Symptom)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstituentRow {
    pub id: String,
    pub names: Names,
    /// What it is chemically.
    pub class: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassRow {
    pub id: String,
    pub names: Names,
    /// The classes that this one belongs to.
    #[serde(default)]
    pub broader: Vec<String>,
    /// Where it was read of some of them that they are broader. What is not listed was compared with no source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memberships: Vec<Membership>,
}

/// Where it was read that something belongs to a class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Membership {
    /// One of those that the row names.
    pub class: String,
    pub sources: Vec<Citation>,
    pub verified: bool,
    pub reviewed: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DrugRow {
    pub id: String,
    pub names: Names,
    #[serde(default)]
    pub brands: Vec<String>,
    #[serde(default)]
    pub misspellings: Vec<String>,
    pub drugbank: Option<String>,
    pub classes: Vec<String>,
    /// Where it was read of some of the classes that the drug is in them. What is not listed was compared with no source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memberships: Vec<Membership>,
    /// Of a combination: the drugs in it. What is known of each of them holds for the whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ingredients: Vec<String>,
    pub sources: Vec<Citation>,
    pub verified: bool,
    pub reviewed: String,
}

/// A plant or food that the set has interactions of, and no monograph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubstanceRow {
    pub id: String,
    pub names: Names,
    pub kind: SubstanceKind,
    pub sources: Vec<Citation>,
    pub verified: bool,
    pub reviewed: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum SubstanceKind {
    Herb,
    Food,
}

impl SubstanceKind {
    pub fn name(self) -> &'static str {
        match self {
            SubstanceKind::Herb => "herb",
            SubstanceKind::Food => "food",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HerbFile {
    pub id: String,
    pub names: Names,
    pub family: String,
    pub parts: Vec<Bilingual>,
    pub sources: Vec<Citation>,
    pub verified: bool,
    pub reviewed: String,
    pub facts: Vec<FactRow>,
    pub monograph: Monograph,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FormulationFile {
    pub id: String,
    pub names: Names,
    pub sources: Vec<Citation>,
    pub verified: bool,
    pub reviewed: String,
    pub herbs: Vec<Ingredient>,
    /// What is in it beside plants of this data set.
    #[serde(default)]
    pub other_ingredients: Vec<Bilingual>,
    pub facts: Vec<FactRow>,
    pub monograph: Monograph,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ingredient {
    pub id: String,
    #[serde(default)]
    pub part: Option<String>,
}
