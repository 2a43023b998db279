//! The rows of the files, as they are written. A member that is not named here is refused.

mod facts;
mod instruments;
mod interactions;
mod library;
mod questions;
mod things;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use facts::{FactRow, Monograph, Predicate, Sections};
pub use instruments::{Band, InstrumentFile, Loinc, RedFlag};
pub use interactions::{EvidenceLevel, InteractionKind, InteractionRow, Rule, Rules, Severity};
pub use library::{PaperRow, SourceKind, SourceRow, is_paper_id};
pub use questions::{Lang, Passage, QuestionKind, QuestionRow};
pub use things::{
    ClassRow, ConditionKind, ConditionRow, ConstituentRow, DrugRow, FormulationFile, HerbFile, Ingredient, Membership,
    SubstanceKind, SubstanceRow,
};

/// Where in a source a fact was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Citation {
    /// A row of `sources.json`, or the id of a paper of `papers.jsonl`.
    pub id: String,
    /// Page, section or row; may be left out for a paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// What every fact says of its origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin<'a> {
    pub sources: &'a [Citation],
    /// Somebody read that place of the source, and it says this.
    pub is_verified: bool,
    /// `YYYY-MM-DD`.
    pub reviewed: &'a str,
}

/// A row that states something, and says where that was read.
pub trait Stated {
    fn origin(&self) -> Origin<'_>;
}

/// The first name of each language is the one shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Names {
    #[serde(default)]
    pub th: Vec<String>,
    #[serde(default)]
    pub en: Vec<String>,
    /// Scientific names.
    #[serde(default)]
    pub la: Vec<String>,
}

/// The same in both languages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bilingual {
    pub en: String,
    pub th: String,
}

/// A name that rightly means several things.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AmbiguousName {
    pub name: String,
    pub ids: Vec<String>,
}

macro_rules! stated {
    ($($row:ty),*) => {
        $(impl Stated for $row {
            fn origin(&self) -> Origin<'_> {
                Origin { sources: &self.sources, is_verified: self.verified, reviewed: &self.reviewed }
            }
        })*
    };
}

stated!(
    DrugRow,
    SubstanceRow,
    HerbFile,
    FormulationFile,
    FactRow,
    Monograph,
    InteractionRow,
    InstrumentFile,
    Membership
);
