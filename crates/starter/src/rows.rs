//! The rows of the files, as they are written. A member that is not named here is refused.

use std::collections::BTreeMap;
use std::fmt;

use contract::evidence::record::Strength;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceRow {
    pub id: String,
    pub title: String,
    pub publisher: String,
    pub year: Option<i32>,
    /// The terms of the source itself, in a few words.
    pub licence: String,
    pub uri: Option<String>,
    pub kind: SourceKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum SourceKind {
    Book,
    Label,
    List,
    Review,
    Database,
    Guideline,
    Web,
}

/// A paper that was seen in a real record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PaperRow {
    /// `PMID:…`, or `DOI:…` where the record has no number of PubMed.
    pub id: String,
    pub title: String,
    /// `Last I`.
    pub authors: Vec<String>,
    pub journal: String,
    pub year: Option<i32>,
    pub doi: Option<String>,
    /// Our own words on what the abstract reports.
    pub summary: Option<Bilingual>,
    pub reviewed: String,
}

impl PaperRow {
    pub fn pmid(&self) -> Option<&str> {
        self.id.strip_prefix(PMID)
    }

    /// Where the record of the paper stands.
    pub fn uri(&self) -> String {
        match (self.pmid(), self.id.strip_prefix(DOI)) {
            (Some(pmid), _) => format!("https://pubmed.ncbi.nlm.nih.gov/{pmid}/"),
            (None, doi) => format!("https://doi.org/{}", doi.unwrap_or(&self.id)),
        }
    }
}

const PMID: &str = "PMID:";
const DOI: &str = "DOI:";

/// Whether an id is that of a paper.
pub fn is_paper_id(id: &str) -> bool {
    id.starts_with(PMID) || id.starts_with(DOI)
}

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

/// A name that rightly means several things.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AmbiguousName {
    pub name: String,
    pub ids: Vec<String>,
}

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

/// A question with the passages that answer it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuestionRow {
    pub id: String,
    pub lang: Lang,
    pub question: String,
    pub answerable: bool,
    pub passages: Vec<Passage>,
    pub kind: QuestionKind,
    #[serde(default)]
    pub note: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Lang {
    Th,
    En,
}

impl Lang {
    pub const ALL: [Lang; 2] = [Lang::Th, Lang::En];

    pub fn name(self) -> &'static str {
        match self {
            Lang::Th => "th",
            Lang::En => "en",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Passage {
    /// `monograph:khing:en`, or the id of a paper.
    pub document: String,
    /// Of a monograph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum QuestionKind {
    Fact,
    Contraindication,
    Interaction,
    Conflict,
    Unanswerable,
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
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

macro_rules! stated {
    ($($row:ty),*) => {
        $(impl Stated for $row {
            fn origin(&self) -> Origin<'_> {
                Origin { sources: &self.sources, is_verified: self.verified, reviewed: &self.reviewed }
            }
        })*
    };
}

stated!(DrugRow, SubstanceRow, HerbFile, FormulationFile, FactRow, Monograph, InteractionRow, InstrumentFile);
