//! Seed 001: inputs and outputs of the id operations; those of documents and tasks in files of their own.

pub mod artifacts;
pub mod checklists;
pub mod tasks;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::envelope::True;
use crate::id::{ArtifactTypeName, CorrelationId, ProjectId};

/// The most ids one reservation may hold.
pub const RESERVED_IDS_MAX: u32 = 100;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetNextAvailableId {
    /// Document type (`backlog_story`) or id prefix (`US`).
    pub artifact_type: ArtifactTypeName,
    /// Project whose counter is used; a server setting names the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// Correlation id of the work this belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<CorrelationId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NextAvailableId {
    pub success: True,
    pub artifact_type: String,
    /// The id, now taken: no other call will get it.
    pub next_id: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReserveIdRange {
    /// Document type (`hls`) or id prefix (`HLS`).
    pub artifact_type: ArtifactTypeName,
    /// How many ids, 1 to 100.
    #[schemars(range(min = 1, max = 100))]
    pub count: u32,
    /// The one number that is wanted, with a `count` of 1; a conflict if anybody was given it before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 999_999_999))]
    pub number: Option<u32>,
    /// Project whose counter is used; a server setting names the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// Correlation id of the work this belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<CorrelationId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReservedIdRange {
    pub success: True,
    /// Handle for `confirm_reservation`.
    pub reservation_id: String,
    pub artifact_type: String,
    /// Contiguous, in order; never given to anybody else, even after the reservation expired.
    pub reserved_ids: Vec<String>,
    /// RFC 3339 in UTC; confirm before this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmReservation {
    /// The handle that `reserve_id_range` answered.
    #[schemars(length(min = 1, max = 64))]
    pub reservation_id: String,
    /// Correlation id of the work this belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<CorrelationId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfirmedReservation {
    pub success: True,
    pub reservation_id: String,
    pub confirmed: True,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteExpiredReservations {
    /// Correlation id of the work this belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<CorrelationId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeletedReservations {
    pub success: True,
    pub deleted_count: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListArtifactTypes {}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactTypes {
    pub artifact_types: Vec<ArtifactType>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactType {
    /// Name such as `backlog_story`.
    pub name: String,
    /// Id prefix such as `US`; empty for documents without ids, such as research.
    pub prefix: String,
    /// Folder and URI segment such as `backlog_stories`.
    pub folder: String,
    /// One line on what a document of this type is for.
    pub about: String,
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
        check::<GetNextAvailableId>(json!({
            "artifact_type": "backlog_story", "project_id": "ai-agent-mcp-server", "task_id": "abc-123-def-456"
        }));
        check::<NextAvailableId>(json!({"success": true, "artifact_type": "backlog_story", "next_id": "US-071"}));
        check::<ReserveIdRange>(json!({
            "artifact_type": "hls", "count": 3, "project_id": "ai-agent-mcp-server", "task_id": "abc-123-def-456"
        }));
        check::<ReservedIdRange>(json!({
            "success": true,
            "reservation_id": "abc-123-def-456",
            "artifact_type": "hls",
            "reserved_ids": ["HLS-012", "HLS-013", "HLS-014"]
        }));
    }

    #[test]
    fn an_unknown_field_is_refused() {
        let extra = json!({"artifact_type": "hls", "count": 3, "colour": "red"});
        let error = serde_json::from_value::<ReserveIdRange>(extra).unwrap_err();
        assert!(error.to_string().contains("unknown field `colour`"), "{error}");
    }
}
