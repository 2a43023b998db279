//! The audit block of seed 002: hashes of what went in and out of a call.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AuditStatus {
    Ok,
    Error,
}

/// Hashes over canonical JSON (RFC 8785).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditBlock {
    /// SHA-256 of the input with its defaults.
    pub in_hash: String,
    /// SHA-256 of the output without its `audit` member.
    pub out_hash: String,
    // Wall time of the call. The name says it, and catalogues have little room.
    pub latency_ms: u64,
    /// The first 8 bytes of `in_hash` as an unsigned integer.
    pub seed: u64,
    pub status: AuditStatus,
}

/// The seed of an `in_hash`: its first 16 hex digits as an unsigned number, 0 if it has fewer.
pub fn seed(in_hash: &str) -> u64 {
    in_hash.get(..16).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_is_the_first_eight_bytes() {
        assert_eq!(seed("00000000000000ff1234"), 255);
        assert_eq!(seed("ffffffffffffffff0000"), u64::MAX);
        assert_eq!(seed("short"), 0);
    }

    #[test]
    fn the_example_of_seed_002_is_an_audit_block() {
        let text = r#"{"in_hash":"...","out_hash":"...","latency_ms":123,"seed":123,"status":"ok"}"#;
        let block: AuditBlock = serde_json::from_str(text).unwrap();
        assert_eq!((block.latency_ms, block.seed, block.status), (123, 123, AuditStatus::Ok));
    }
}
