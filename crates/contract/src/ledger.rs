//! Operations for auditors: find events, prove them, verify the log, export it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::{Event, Outcome};
use crate::id::{ActorId, CorrelationId, OperationName};

/// Events on one page.
pub const EVENTS_MAX: u32 = 200;

fn events_default() -> u32 {
    50
}

/// Every condition that is given must hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditSearch {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<CorrelationId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_id: Option<ActorId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<OperationName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Any of `task_id`, `run_id`, `request_id`, `message_id` and `conversation_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<CorrelationId>,
    /// RFC 3339; events at or after this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 40))]
    pub from: Option<String>,
    /// RFC 3339; events before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 40))]
    pub to: Option<String>,
    /// `next_cursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 80))]
    pub cursor: Option<String>,
    #[serde(default = "events_default")]
    #[schemars(range(min = 1, max = 200))]
    pub limit: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundEvents {
    /// Newest first.
    pub events: Vec<FoundEvent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundEvent {
    /// Place in the log; absent for at most a second after the call.
    pub leaf_index: Option<u64>,
    pub event: Event,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditProve {
    pub call_id: CorrelationId,
}

/// Everything somebody needs to check, without us, that the event is in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventProof {
    pub call_id: String,
    pub leaf_index: u64,
    /// The exact bytes of the leaf.
    pub event_json: String,
    /// `c2sp.org/tlog-proof@v1`.
    pub proof: String,
    /// Signed note that commits to the event.
    pub checkpoint: String,
    /// Verifier keys of the log that the checkpoint is signed by, one a line.
    pub log_key: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditVerify {}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    pub ok: bool,
    pub tree_size: u64,
    pub root_hash: String,
    pub n_events_checked: u64,
    /// Recorded, and not yet in the log: it takes them in within a second.
    #[serde(default)]
    pub n_events_waiting: u64,
    pub n_objects_checked: u64,
    /// So many leaves are vouched for by the witnesses that the settings ask for; absent without witnesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cosigned_size: Option<u64>,
    /// The first hundred of those that the caller may see.
    pub problems: Vec<LogProblem>,
    /// All of them, also those that are not shown.
    #[serde(default)]
    pub n_problems: u64,
    /// What is not wrong by itself, and worth a look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Problems with the rows and events of other organisations; the house's own auditors see them among the others.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_problems_elsewhere: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogProblem {
    /// `leaf`, `order`, `root`, `checkpoint`, `witness`, `object`, `column`, `table`, `trigger`.
    pub kind: String,
    /// Whose event or row it is, where it is somebody's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organisation_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaf_index: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExportFormat {
    /// `{"leaf_index":…,"event":"…"}`, what `materia-verify` reads.
    Ndjson,
    /// FHIR R4 AuditEvent.
    Fhir,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditExport {
    pub format: ExportFormat,
    #[serde(default)]
    pub from_index: u64,
    #[serde(default = "lines_default")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: u32,
}

fn lines_default() -> u32 {
    500
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExportedEvents {
    pub lines: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_index: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditCheckpoint {
    /// The size of an earlier checkpoint: the answer then proves that the log of now continues it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    pub since_size: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LatestCheckpoint {
    /// Signed note of the whole log as it is now.
    pub checkpoint: String,
    pub tree_size: u64,
    /// The newest checkpoint that enough witnesses cosigned, if the log has witnesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cosigned_checkpoint: Option<String>,
    /// Verifier keys that the cosigned checkpoint is signed by, one a line; older ones after a change of keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cosigned_log_key: Option<String>,
    /// Verifier key of the log.
    pub log_key: String,
    /// Where `since_size` was given: `old SIZE`, the hashes of the proof, an empty line and the checkpoint, as C2SP
    /// tlog-witness writes them. `materia-verify consistency` reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consistency: Option<String>,
}
