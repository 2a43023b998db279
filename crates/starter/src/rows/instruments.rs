//! Questionnaires and how they are scored.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Bilingual, Citation, Names};

/// How the answers to a questionnaire are scored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InstrumentFile {
    pub id: String,
    pub names: Names,
    /// How many.
    pub items: u32,
    pub item_range: [i32; 2],
    /// Where items differ; one for each.
    #[serde(default)]
    pub item_ranges: Option<Vec<[i32; 2]>>,
    /// From 1.
    #[serde(default)]
    pub reversed_items: Vec<u32>,
    pub score_range: [i32; 2],
    pub bands: Vec<Band>,
    /// Where they differ by sex.
    #[serde(default)]
    pub bands_by_sex: Option<BTreeMap<String, Vec<Band>>>,
    #[serde(default)]
    pub bands_note: Option<Bilingual>,
    #[serde(default)]
    pub red_flags: Vec<RedFlag>,
    pub loinc: Loinc,
    /// Only where the wording may be shown.
    pub item_texts: Option<Vec<Bilingual>>,
    pub licence: String,
    pub sources: Vec<Citation>,
    pub verified: bool,
    pub reviewed: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Band {
    pub min: i32,
    pub max: i32,
    pub id: String,
    pub names: Names,
}

/// An answer that matters whatever the score is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedFlag {
    /// From 1.
    pub item: u32,
    pub at_least: i32,
    pub id: String,
    pub meaning: Bilingual,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Loinc {
    pub panel: Option<String>,
    pub total: Option<String>,
    #[serde(default)]
    pub items: Option<Vec<String>>,
}
