//! `describe_operation`: the contract of one operation, for people and programs that build against it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::OperationName;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DescribeOperation {
    /// Name of the operation, such as `reserve_id_range`.
    pub name: OperationName,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationDescription {
    pub name: String,
    pub family: String,
    pub about: String,
    pub is_read_only: bool,
    /// Roles that may call it.
    pub roles: Vec<String>,
    /// What a token or key that is limited to scopes needs beside a role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// JSON Schema (2020-12) of the input.
    pub input_schema: Map<String, Value>,
    /// JSON Schema (2020-12) of the output.
    pub output_schema: Map<String, Value>,
}
