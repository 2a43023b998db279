//! Seed 001: inputs and outputs of the operations on documents.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::checklists::ValidationType;
use crate::envelope::True;
use crate::id::{ArtifactTypeName, CorrelationId, ProjectId};

/// The longest document, in characters.
pub const CONTENT_CHARS_MAX: u32 = 500_000;
/// Shorter than this is no document.
pub const CONTENT_CHARS_MIN: usize = 100;
/// Documents on one page of a list.
pub const LISTED_MAX: u32 = 200;
/// The meaning of an approval that says nothing else.
pub const MEANING_DEFAULT: &str = "reviewed and approved";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValidateArtifact {
    /// The whole document as markdown.
    #[schemars(length(max = 500_000))]
    pub artifact_content: String,
    /// Id such as `PRD-006`; its prefix decides the checklist.
    #[schemars(length(max = 200))]
    pub artifact_id: String,
    /// Project whose documents are referred to; a server setting names the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// Correlation id of the work this belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<CorrelationId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ValidationResult {
    /// Every automated criterion is met.
    pub passed: bool,
    /// Such as `24/24`.
    pub automated_pass_rate: String,
    /// How many criteria the agent has to judge itself.
    pub agent_review_required: u32,
    pub results: Vec<CriterionResult>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CriterionResult {
    pub id: String,
    pub category: String,
    /// `null` where an agent or a person decides.
    pub passed: Option<bool>,
    pub validation_type: ValidationType,
    /// What was found, and which line to mend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires_agent_review: Option<True>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StoreArtifact {
    /// The whole document as markdown; id, type, version, status, parent and title are read from it.
    #[schemars(length(max = 500_000))]
    pub artifact_content: String,
    /// Only for documents without an id (research); else made from the title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 200))]
    pub file_name: Option<String>,
    /// Project of the document; a server setting names the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// Correlation id of the work this belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<CorrelationId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoredArtifact {
    pub success: True,
    /// `N/A` for documents without an id.
    pub artifact_id: String,
    pub storage_path: String,
    pub resource_uri: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApproveArtifact {
    /// Id such as `PRD-006`; its latest version is approved.
    #[schemars(length(max = 200))]
    pub artifact_id: String,
    /// SHA-256 of the content that was reviewed; any other content is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub content_sha256: Option<String>,
    /// What the approval means, as it is to be shown beside the approver's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 200))]
    pub meaning: Option<String>,
    /// Project of the document; a server setting names the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// Correlation id of the work this belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<CorrelationId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovedArtifact {
    pub success: True,
    pub artifact_id: String,
    pub old_status: String,
    pub new_status: String,
    pub artifact_path: String,
    /// Final ids of the documents to be written next.
    pub sub_artifacts_detected: Vec<String>,
    pub tasks_created: u32,
    pub task_ids: Vec<String>,
    pub placeholder_ids_replaced: u32,
    /// Placeholder → final id.
    pub id_mapping: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetArtifactStatus {
    /// Id such as `EPIC-006`, of a document that is approved.
    #[schemars(length(max = 200))]
    pub artifact_id: String,
    /// Another status of approved documents of its type, such as `In Progress`, or one that withdraws it, such as
    /// `Deprecated`.
    #[schemars(length(max = 40))]
    pub status: String,
    /// The latest unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 999))]
    pub version: Option<u32>,
    /// SHA-256 of the content that was read; any other content is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub content_sha256: Option<String>,
    /// Project of the document; a server setting names the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// Correlation id of the work this belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<CorrelationId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MovedArtifact {
    pub success: True,
    pub artifact_id: String,
    pub version: u32,
    /// The same as `status` where the document had it already.
    pub previous_status: String,
    pub status: String,
    pub artifact_path: String,
    pub resource_uri: String,
    /// Of the document with its status.
    pub content_sha256: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListArtifacts {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<ArtifactTypeName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 40))]
    pub status: Option<String>,
    /// Id of the parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 200))]
    pub parent_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// Documents on the page, 50 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
    /// `next_cursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 400))]
    pub cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedArtifacts {
    /// By type, id and version.
    pub artifacts: Vec<ArtifactMetadata>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What is known of a document without reading it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactMetadata {
    /// The id, or the file name of a document without one.
    pub id: String,
    #[serde(rename = "type")]
    pub artifact_type: String,
    pub version: u32,
    pub title: String,
    pub status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    pub file_path: String,
    pub resource_uri: String,
    pub content_sha256: String,
    pub size_bytes: u64,
    pub created_by: String,
    pub created_at: String,
    pub updated_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
}

/// Who approved, when and with what meaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    pub approved_by: String,
    pub approved_at: String,
    pub meaning: String,
    /// SHA-256 of the bytes that were reviewed.
    pub reviewed_sha256: String,
    // Or answered when asked about it. Absent of approvals by programs that did not keep it.
    /// Whether the approver named that hash; else it is that of the latest version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names_reviewed_hash: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadArtifact {
    /// `mcp://resources/artifacts/{folder}/{file}`; or give `artifact_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 500))]
    pub resource_uri: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 200))]
    pub artifact_id: Option<String>,
    /// The latest unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 999))]
    pub version: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactContent {
    pub artifact: ArtifactMetadata,
    /// Markdown.
    pub content: String,
    /// What `set_artifact_status` may make of its status.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next_statuses: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListArtifactRevisions {
    #[schemars(length(max = 200))]
    pub artifact_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactRevisions {
    /// Oldest first.
    pub revisions: Vec<ArtifactRevision>,
}

/// One state that a version of a document was in. Its bytes are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactRevision {
    pub version: u32,
    /// Counts within the version, from 1.
    pub revision: u32,
    pub status: String,
    pub cause: RevisionCause,
    pub content_sha256: String,
    pub size_bytes: u64,
    pub changed_by: String,
    pub changed_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meaning: Option<String>,
    // Of an approval, as there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names_reviewed_hash: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum RevisionCause {
    Stored,
    Approved,
    // To another status, after its approval.
    Moved,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiffArtifact {
    #[schemars(length(max = 200))]
    pub artifact_id: String,
    #[schemars(range(min = 1, max = 999))]
    pub from_version: u32,
    /// The last of the version unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 999))]
    pub from_revision: Option<u32>,
    /// The latest unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 999))]
    pub to_version: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 999))]
    pub to_revision: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDiff {
    pub from: ArtifactRevision,
    pub to: ArtifactRevision,
    pub n_lines_added: u32,
    pub n_lines_removed: u32,
    /// Unified, with three lines of context; empty where the two are the same.
    pub diff: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuideGeneration {
    /// Such as `prd-generator`.
    #[schemars(length(max = 100))]
    pub generator: String,
    /// Id of the document to write, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 200))]
    pub artifact_id: Option<String>,
    /// The document it is made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 200))]
    pub parent_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GenerationGuide {
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    fn check<T: Serialize + DeserializeOwned>(example: Value) {
        let typed: T = serde_json::from_value(example.clone()).unwrap();
        assert_eq!(serde_json::to_value(typed).unwrap(), example);
    }

    #[test]
    fn the_examples_of_seed_001_round_trip() {
        check::<ValidateArtifact>(json!({
            "artifact_content": "# PRD-006", "artifact_id": "PRD-006", "task_id": "abc-123-def-456"
        }));
        check::<ValidationResult>(json!({
            "passed": true,
            "automated_pass_rate": "24/24",
            "agent_review_required": 2,
            "results": [
                {"id": "CQ-01", "category": "content_quality", "passed": true, "validation_type": "automated",
                 "details": "Found 8/8 required sections"},
                {"id": "CQ-12", "category": "content_quality", "passed": null, "validation_type": "agent",
                 "requires_agent_review": true}
            ]
        }));
        check::<StoreArtifact>(json!({"artifact_content": "# EPIC-006", "task_id": "abc-123-def-456"}));
        check::<StoredArtifact>(json!({
            "success": true,
            "artifact_id": "EPIC-006",
            "storage_path": "artifacts/epics/EPIC-006_v1.md",
            "resource_uri": "mcp://resources/artifacts/epics/EPIC-006_v1.md"
        }));
        check::<ApproveArtifact>(json!({"artifact_id": "PRD-006", "task_id": "abc-123-def-456"}));
        check::<ApprovedArtifact>(json!({
            "success": true,
            "artifact_id": "PRD-006",
            "old_status": "Draft",
            "new_status": "Approved",
            "artifact_path": "artifacts/prds/PRD-006_v3.md",
            "sub_artifacts_detected": ["HLS-012", "HLS-013", "HLS-014"],
            "tasks_created": 3,
            "task_ids": ["TASK-012", "TASK-013", "TASK-014"],
            "placeholder_ids_replaced": 3,
            "id_mapping": {"HLS-AAA": "HLS-012", "HLS-BBB": "HLS-013", "HLS-CCC": "HLS-014"}
        }));
    }
}
