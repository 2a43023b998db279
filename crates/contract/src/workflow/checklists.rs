//! Seed 001: checklists, one per document type, as files hold them and resources show them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Checklist {
    /// Document type such as `prd`.
    pub artifact_type: String,
    pub version: u32,
    pub criteria: Vec<Criterion>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum ValidationType {
    /// The server decides.
    Automated,
    /// Left to the agent that wrote the document.
    Agent,
    /// Left to a person.
    Manual,
}

/// From which version of a document on a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub enum AppliesTo {
    #[default]
    #[serde(rename = "all")]
    All,
    #[serde(rename = "v1")]
    First,
    #[serde(rename = "v2+")]
    Later,
}

/// What `references_valid` looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Relation {
    /// The parent is named by an id of the right type.
    Parent,
    /// The parent is stored and approved.
    ApprovedParent,
    /// Research in the metadata is stored and finalized.
    Research,
    /// Every document id in the text is stored or still to be given.
    Ids,
    /// Every `§ Title` and `#anchor` leads to a heading.
    Sections,
    /// Every citation (by `pattern`) has an entry in `required_sections`.
    Citations,
}

/// What of a section `template_sections` looks at, one after the other: items of its lists, rows of its tables, else its
/// paragraphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Entries {
    /// Every one matches `pattern`.
    Each,
    /// Those that match `pattern` are counted.
    Some,
}

/// The only values a marker's field may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpecialValidation {
    pub marker: String,
    pub field: String,
    pub valid_values: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// Such as `CQ-01`.
    pub id: String,
    /// `content_quality`, `traceability`, `consistency`, `open_questions_markers`, or a team's own.
    pub category: String,
    pub description: String,
    pub validation_type: ValidationType,
    /// `template_sections`, `id_format`, `no_placeholders`, `references_valid` or `marker_validation`. Text, because a
    /// kind that this version does not know fails the criterion and not the whole checklist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check_type: Option<String>,
    /// A regular expression (linear time, no look-around).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Expressions that must all match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub all_patterns: Vec<String>,
    /// Headings that must be there, and where the patterns are looked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_sections: Vec<String>,
    /// Subsections are those whose heading matches; the patterns then hold in each of them, and the counts count them.
    /// `id_format` with `unique`: each entry below such a heading has a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading_pattern: Option<String>,
    /// `template_sections`: the pattern is looked for in each entry of the sections and not in their whole text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<Entries>,
    /// `template_sections`: beginnings of words that name the columns of a table, or labels where there is none. Every row,
    /// or else every entry, says something for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_matches: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_matches: Option<u32>,
    /// `id_format`: the metadata field that must match, instead of the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// `id_format`: what matches may be defined once only. `template_sections`: matches that are the same count once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unique: bool,
    /// `references_valid`: what is looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation: Option<Relation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applies_to: Option<AppliesTo>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_markers: Vec<String>,
    /// Marker → the fields that go with it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub marker_sub_fields: BTreeMap<String, Vec<String>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prohibited_patterns: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub special_validations: Vec<SpecialValidation>,
    /// Kind of failure → text with `{question}`, `{missing_fields}` and `{value}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub error_message_templates: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadChecklist {
    /// Such as `prd_validation_v1`.
    #[schemars(length(max = 200))]
    pub checklist_id: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadTemplate {
    /// Document type such as `prd`.
    #[schemars(length(max = 200))]
    pub artifact_type: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Template {
    pub artifact_type: String,
    /// Markdown with what is to be filled in in brackets.
    pub content: String,
}
