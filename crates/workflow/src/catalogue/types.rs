//! Document types, generators and markers as the files describe them.

use std::collections::BTreeMap;

use contract::workflow::tasks::InputClass;
use schemars::JsonSchema;
use serde::Deserialize;

use super::CatalogueError;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentType {
    /// Such as `backlog_story`.
    pub name: String,
    /// Such as `US`; documents of a type without one have no ids.
    #[serde(default)]
    pub prefix: Option<String>,
    /// Folder and URI segment such as `backlog_stories`.
    pub folder: String,
    pub about: String,
    /// As it stands in a first heading, such as `Product Vision`.
    pub title: String,
    /// End of the file name of a document without an id, such as `business_research`.
    #[serde(default)]
    pub file_suffix: Option<String>,
    /// Metadata labels of the id, the preferred one first.
    #[serde(default)]
    pub id_labels: Vec<String>,
    /// Metadata labels of the parent, the nearest parent first.
    #[serde(default)]
    pub parent_labels: Vec<String>,
    #[serde(default)]
    pub parent_types: Vec<String>,
    /// From first to last; a new document has the first.
    pub statuses: Vec<String>,
    /// Statuses of an approved document; approval sets the first of them.
    pub approved_statuses: Vec<String>,
    pub checklist: String,
    #[serde(default)]
    pub generator: Option<String>,
    /// Headings under which open questions stand.
    #[serde(default)]
    pub question_sections: Vec<String>,
    #[serde(default)]
    pub decomposes_into: Vec<Decomposition>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Decomposition {
    pub artifact_type: String,
    pub numbering: Numbering,
}

/// Where the ids of sub-documents come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Numbering {
    /// The counter of their type.
    Reserved,
    /// There is one, and it has its parent's number.
    SameNumber,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Generator {
    /// Such as `hls-generator`.
    pub name: String,
    #[serde(default)]
    pub aliases: Vec<String>,
    /// The document type it makes.
    pub produces: String,
    pub inputs: Vec<InputRule>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InputRule {
    pub name: String,
    pub classification: InputClass,
    pub artifact_type: String,
    /// Of a group exactly one is given.
    #[serde(default)]
    pub exclusive_group: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Marker {
    /// Without its brackets, such as `REQUIRES SPIKE`.
    pub marker: String,
    pub sub_fields: Vec<String>,
    /// Document types whose questions may carry it.
    pub allowed_in: Vec<String>,
    /// Field → the only values it may have.
    #[serde(default)]
    pub valid_values: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub blocks_approval: bool,
}

impl DocumentType {
    pub fn first_status(&self) -> &str {
        self.statuses.first().map_or("", String::as_str)
    }

    /// What approval sets.
    pub fn approved_status(&self) -> &str {
        self.approved_statuses.first().map_or("", String::as_str)
    }

    pub fn is_approved(&self, status: &str) -> bool {
        self.approved_statuses.iter().any(|approved| approved == status)
    }

    /// Whether a status comes after the last approved one, as `Cancelled` and `Deprecated` do: what was approved once and
    /// counts no longer.
    pub fn is_withdrawn(&self, status: &str) -> bool {
        let mut after = self.statuses.iter().rev().take_while(|status| !self.is_approved(status));
        after.any(|withdrawn| withdrawn == status)
    }

    /// Whether a status is what somebody decided: that the document is approved, or that it counts no longer.
    pub fn is_decided(&self, status: &str) -> bool {
        self.is_approved(status) || self.is_withdrawn(status)
    }

    /// What an approved document may be moved to: the other statuses that it may have, and those that withdraw it. Nothing
    /// for one that is not approved, and for one without an id, whose author says whether it is finished.
    pub fn next_statuses(&self, status: &str) -> Vec<&str> {
        if self.prefix.is_none() || !self.is_approved(status) {
            return Vec::new();
        }
        let later = self.statuses.iter().map(String::as_str);
        later.filter(|it| *it != status && self.is_decided(it)).collect()
    }

    pub(super) fn wrong(&self, problem: impl Into<String>) -> CatalogueError {
        CatalogueError::Wrong { kind: "document type", name: self.name.clone(), problem: problem.into() }
    }

    pub(super) fn check(&self) -> Result<(), CatalogueError> {
        let is_word = |text: &str| {
            (1..=40).contains(&text.len())
                && text.starts_with(|c: char| c.is_ascii_lowercase())
                && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        };
        let is_prefix = |text: &str| (1..=10).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_uppercase());
        if !is_word(&self.name) {
            return Err(self.wrong("the name must be lower-case letters, digits and `_`"));
        }
        // `projects` and `organisations` are where the documents of others stand.
        if !is_word(&self.folder) || ["projects", "organisations", "metadata"].contains(&self.folder.as_str()) {
            return Err(self.wrong("the folder must be lower-case letters, digits and `_`, and not a reserved word"));
        }
        match (&self.prefix, &self.file_suffix) {
            (Some(prefix), None) if !is_prefix(prefix) => Err(self.wrong("the prefix must be 1 to 10 capital letters")),
            (Some(_), None) => Ok(()),
            (None, Some(suffix)) if is_word(suffix) => Ok(()),
            (_, _) => Err(self.wrong("it needs either a prefix or a file_suffix of lower-case letters")),
        }?;
        let is_known = |status: &String| self.statuses.contains(status) && status != self.first_status();
        if self.approved_statuses.is_empty() || !self.approved_statuses.iter().all(is_known) {
            return Err(self.wrong("approved_statuses must be some of the statuses, without the first"));
        }
        Ok(())
    }
}

impl Generator {
    pub fn mandatory(&self) -> impl Iterator<Item = &InputRule> {
        self.inputs.iter().filter(|input| input.classification == InputClass::Mandatory)
    }
}

impl From<&DocumentType> for contract::workflow::ArtifactType {
    fn from(kind: &DocumentType) -> Self {
        contract::workflow::ArtifactType {
            name: kind.name.clone(),
            prefix: kind.prefix.clone().unwrap_or_default(),
            folder: kind.folder.clone(),
            about: kind.about.clone(),
        }
    }
}
