//! Interactions, and the rules for their gravity.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Bilingual, Citation};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InteractionRow {
    /// Both ids in alphabetical order, with `__` between them.
    pub id: String,
    pub a: String,
    pub b: String,
    pub kind: InteractionKind,
    pub severity: Severity,
    /// The rule that makes it critical.
    pub rule: Option<String>,
    pub mechanism: Option<Bilingual>,
    pub effect: Bilingual,
    pub action: Bilingual,
    pub evidence_level: EvidenceLevel,
    pub sources: Vec<Citation>,
    pub verified: bool,
    pub reviewed: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum InteractionKind {
    DrugDrug,
    HerbDrug,
    DrugFood,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Severity {
    /// A source says that there is no interaction.
    None,
    Unknown,
    Minor,
    Moderate,
    Major,
    /// Only under the rule of `rules.json`.
    Critical,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum EvidenceLevel {
    Label,
    List,
    Trial,
    CaseReport,
    Review,
    InVitro,
    Theoretical,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// When an interaction may be called critical.
    pub critical: Rule,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub id: String,
    pub en: String,
    pub th: String,
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Severity::None => "none",
            Severity::Unknown => "unknown",
            Severity::Minor => "minor",
            Severity::Moderate => "moderate",
            Severity::Major => "major",
            Severity::Critical => "critical",
        }
    }
}
