//! Records in the formats of others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Documents as citations, or nodes and edges as KGX: those of the given ids, or all of them page by page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportRecords {
    pub format: ExportFormat,
    /// One that is not there is an error that names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1_000), inner(length(min = 1, max = 200)))]
    pub ids: Option<Vec<String>>,
    /// Of KGX: only these nodes with their edges, and the nodes at the other ends. One that is not there is an error that
    /// names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1_000), inner(length(min = 1, max = 200)))]
    pub around: Option<Vec<String>>,
    /// The `next_cursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 200))]
    pub cursor: Option<String>,
    #[serde(default = "limit_default")]
    #[schemars(range(min = 1, max = 1_000))]
    pub limit: u32,
}

fn limit_default() -> u32 {
    100
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum ExportFormat {
    Bibtex,
    Ris,
    /// A JSON array a page.
    CslJson,
    /// A JSON object a line.
    KgxNodes,
    /// A JSON object a line.
    KgxEdges,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExportedRecords {
    pub content: String,
    pub media_type: String,
    pub n_records: u64,
    /// Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
