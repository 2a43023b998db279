//! Operations on the record itself: keeping what importers and curators bring, and reading it back.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::record::{Record, RecordKind};

/// Records in one call.
pub const RECORDS_MAX: u32 = 1_000;

/// Keeps records, in the order given: an edge comes after its nodes, every record after its source. A record that does
/// not fit is rejected by itself and does not hold up the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PutRecords {
    /// Each has a member `record` (`source`, `node`, `edge`, `document` or `deletion`) beside those of its kind.
    #[schemars(length(min = 1, max = 1_000), schema_with = "described_records")]
    pub records: Vec<Map<String, Value>>,
    /// Lets records replace and withdraw what came with the program. Its warnings are then the caller's to keep.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replace_starter: bool,
    /// Lets records replace and withdraw those of other sources, warnings among them, and change the terms of sources.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replace_other_sources: bool,
}

/// Tells what the kinds are made of and still lets every object pass: one record that fits no kind is rejected by itself,
/// with the field that is wrong, and does not refuse the call. What everything fits comes first, so that checking a call
/// looks no further.
fn described_records(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {
            "anyOf": [
                { "type": "object", "description": "One that is none of the kinds below is rejected by itself, with a reason." },
                generator.subschema_for::<Record>(),
            ]
        }
    })
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PutRecordsOutput {
    /// New ones, and those whose content is another than before.
    pub kept: u64,
    /// The record has them like this already.
    pub repeated: u64,
    /// Those of the kept ones that were there before with other content.
    pub changed: u64,
    pub deleted: u64,
    pub rejected: Vec<RejectedRecord>,
    /// Documents that the record had already and that are now marked as retracted or doubted, by a notice of this call.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub marked: u64,
    /// The change number from which on answers know of this.
    pub version: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RejectedRecord {
    /// Place in the call, from 0.
    pub position: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub reason: String,
}

/// Reads records of one kind: those of the given ids, or all of them page by page in the order of their ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadRecords {
    pub kind: RecordKind,
    /// Those that are not there are left out of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1_000), inner(length(min = 1, max = 200)))]
    pub ids: Option<Vec<String>>,
    /// The `next_cursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 200))]
    pub cursor: Option<String>,
    /// 100 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000))]
    pub limit: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadRecordsOutput {
    /// As `put_records` takes them.
    pub records: Vec<Map<String, Value>>,
    /// Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The change number at the time of reading.
    pub version: u64,
}
