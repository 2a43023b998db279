//! `load_starter_data`: the facts that come with the program.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The source of what is nobody else's, and the one that carries the version of the whole set.
pub const OWN_SOURCE: &str = "materia";
/// How the ids of all other sources of the set begin.
pub const SOURCE_PREFIX: &str = "materia:";

/// Whether a source is one of the starter data, whichever version.
pub fn is_own_source(id: &str) -> bool {
    id == OWN_SOURCE || id.starts_with(SOURCE_PREFIX)
}

/// Brings the starter data of the caller's organisation to those of this program. What somebody else brought, changed or
/// withdrew stays as it is, and so do newer starter data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadStarterData {}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoadStarterDataOutput {
    /// The data that the record has now.
    pub data_version: String,
    /// New ones, and those whose content is another than before.
    pub kept: u64,
    /// The record has them like this already.
    pub repeated: u64,
    /// Those of the kept ones that were there before with other content.
    pub changed: u64,
    /// Of earlier starter data, and not of these.
    pub deleted: u64,
    /// Somebody else brought, changed or withdrew them.
    pub left_alone: u64,
    /// The change number from which on answers know of this.
    pub version: u64,
}
