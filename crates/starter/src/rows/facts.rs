//! Facts about herbs and formulations, and their monographs.

use std::fmt;

use contract::evidence::record::Strength;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Bilingual, Citation};

/// A statement about the herb or formulation of its file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FactRow {
    pub predicate: Predicate,
    pub object: String,
    pub strength: Option<Strength>,
    pub note: Option<Bilingual>,
    pub sources: Vec<Citation>,
    pub verified: bool,
    pub reviewed: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Predicate {
    Contains,
    Treats,
    /// Tried in people or in the laboratory, without a clear answer.
    StudiedFor,
    TraditionallyUsedFor,
    ContraindicatedIn,
    CautionedIn,
    InteractsWith,
}

impl Predicate {
    pub fn name(self) -> &'static str {
        match self {
            Predicate::Contains => "contains",
            Predicate::Treats => "treats",
            Predicate::StudiedFor => "studied_for",
            Predicate::TraditionallyUsedFor => "traditionally_used_for",
            Predicate::ContraindicatedIn => "contraindicated_in",
            Predicate::CautionedIn => "cautioned_in",
            Predicate::InteractsWith => "interacts_with",
        }
    }

    /// Says what speaks against taking it.
    pub fn is_against(self) -> bool {
        matches!(self, Predicate::ContraindicatedIn | Predicate::CautionedIn | Predicate::InteractsWith)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Monograph {
    pub en: Sections,
    pub th: Sections,
    pub sources: Vec<Citation>,
    pub verified: bool,
    pub reviewed: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sections {
    pub what: String,
    pub r#use: String,
    pub dose: String,
    pub safety: String,
    pub evidence: String,
}

impl Sections {
    /// By name, in the order of reading.
    pub fn all(&self) -> [(&'static str, &str); 5] {
        [
            ("what", &self.what),
            ("use", &self.r#use),
            ("dose", &self.dose),
            ("safety", &self.safety),
            ("evidence", &self.evidence),
        ]
    }

    pub fn find(&self, name: &str) -> Option<&str> {
        self.all().into_iter().find_map(|(section, text)| (section == name).then_some(text))
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
