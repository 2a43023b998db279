//! Document types: names, id prefixes and folders, read from `data/workflow/types.json`.

use std::path::{Path, PathBuf};

use contract::workflow::ArtifactType;
use serde::Deserialize;

const BUILT_IN: &str = include_str!("../../../data/workflow/types.json");

#[derive(Debug, thiserror::Error)]
pub enum TypesError {
    #[error("could not read the document types in `{path}`")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("`{path}` does not describe document types")]
    Parse { path: PathBuf, source: serde_json::Error },
    #[error("document type `{name}`: {problem}")]
    Wrong { name: String, problem: &'static str },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    artifact_types: Vec<ArtifactType>,
}

/// Invariant: names and prefixes are unique, also against each other, whatever their case.
#[derive(Debug, Clone)]
pub struct ArtifactTypes(Vec<ArtifactType>);

impl ArtifactTypes {
    /// The types that ship with the program.
    pub fn built_in() -> Result<ArtifactTypes, TypesError> {
        Self::parse(Path::new("data/workflow/types.json"), BUILT_IN)
    }

    /// A team's own `types.json`.
    pub fn read(path: &Path) -> Result<ArtifactTypes, TypesError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| TypesError::Read { path: path.to_owned(), source })?;
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<ArtifactTypes, TypesError> {
        let file: File =
            serde_json::from_str(text).map_err(|source| TypesError::Parse { path: path.to_owned(), source })?;
        let mut seen = std::collections::BTreeSet::new();
        for kind in &file.artifact_types {
            let wrong = |problem| TypesError::Wrong { name: kind.name.clone(), problem };
            let is_prefix =
                (1..=10).contains(&kind.prefix.len()) && kind.prefix.bytes().all(|b| b.is_ascii_uppercase());
            if !is_prefix {
                return Err(wrong("the prefix must be 1 to 10 capital letters"));
            }
            let words = [kind.name.to_ascii_lowercase(), kind.prefix.to_ascii_lowercase()];
            // A type may be called as its prefix (`prd`, `PRD`).
            let is_new = if words[0] == words[1] {
                seen.insert(words[0].clone())
            } else {
                words.into_iter().all(|word| seen.insert(word))
            };
            if !is_new {
                return Err(wrong("name and prefix must be unique"));
            }
        }
        Ok(ArtifactTypes(file.artifact_types))
    }

    /// By name (`backlog_story`) or prefix (`US`), whatever the case.
    pub fn find(&self, word: &str) -> Option<&ArtifactType> {
        self.0.iter().find(|kind| kind.name.eq_ignore_ascii_case(word) || kind.prefix.eq_ignore_ascii_case(word))
    }

    pub fn all(&self) -> &[ArtifactType] {
        &self.0
    }

    /// The prefixes in the order of the file, for messages: `US, SPEC, …`.
    pub fn prefixes(&self) -> String {
        self.0.iter().map(|kind| kind.prefix.as_str()).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ten_types_of_the_seed_ship_in_its_order() {
        let types = ArtifactTypes::built_in().unwrap();
        assert_eq!(types.prefixes(), "US, SPEC, TASK, EPIC, PRD, HLS, VIS, INIT, SPIKE, ADR");
    }

    #[test]
    fn a_type_is_found_by_name_and_by_prefix() {
        let types = ArtifactTypes::built_in().unwrap();
        for word in ["backlog_story", "US", "us"] {
            assert_eq!(types.find(word).map(|kind| kind.prefix.as_str()), Some("US"));
        }
        assert!(types.find("poem").is_none());
    }

    #[test]
    fn a_file_with_a_repeated_prefix_is_refused() {
        let entry = |name: &str| format!(r#"{{"name":"{name}","prefix":"X","folder":"x","about":"x"}}"#);
        let text = format!(r#"{{"artifact_types":[{},{}]}}"#, entry("a"), entry("b"));
        let error = ArtifactTypes::parse(Path::new("types.json"), &text).unwrap_err();
        assert_eq!(error.to_string(), "document type `b`: name and prefix must be unique");
    }
}
