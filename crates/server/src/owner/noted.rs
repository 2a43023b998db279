//! What operators see of a call: a span at their collector, and a line for each that was slow.

use std::time::Duration;

use contract::error::Kind;
use ops::{Reply, Table};

use crate::telemetry::traces::{self, CallSpan, Side};

/// Notes calls where they are carried out, whoever made them, and where a process forwards them to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Noting {
    pub slow_call_after: Option<Duration>,
}

impl Noting {
    pub fn note(self, operation: &'static str, reply: &Reply, took: Duration, side: Side) {
        let (code, is_our_fault) = match &reply.result {
            Ok(_) => ("ok", false),
            Err(error) => (error.code(), error.kind == Kind::Internal),
        };
        traces::note(&CallSpan { operation, call_id: reply.call_id, code, is_our_fault, took, side });
        if self.slow_call_after.is_some_and(|slow| took >= slow) {
            let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
            metrics::counter!("materia_slow_calls_total", "operation" => operation).increment(1);
            tracing::warn!(tool_name = operation, call_id = %reply.call_id, duration_ms, "A call was slow");
        }
    }
}

/// The table's own word: a name that a caller made up goes nowhere.
pub(super) fn name(table: &Table, asked: &str) -> &'static str {
    table.find(asked).map_or("unknown", |tool| tool.entry.name)
}
