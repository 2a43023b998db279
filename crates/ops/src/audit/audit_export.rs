//! `audit_export`: the log, page by page, as NDJSON or FHIR R4 AuditEvent.
//!
//! A log has one order over all organisations, so the NDJSON of one organisation shows the leaves of others only by
//! their hash.

use contract::actor::Role;
use contract::error::OpError;
use contract::event::Event;
use contract::ledger::{AuditExport, ExportFormat, ExportedEvents};
use serde_json::json;
use store::log::{self, Leaf};

use super::{AUDIT_ROLES, fhir};
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, Operation, Read, store_error};

impl Operation for AuditExport {
    const NAME: &'static str = "audit_export";
    const ABOUT: &'static str =
        "Export the log from a leaf on, as NDJSON for verification or as FHIR R4 AuditEvent resources.";
    const FAMILY: Family = Family::Audit;
    const ROLES: &'static [Role] = AUDIT_ROLES;
    const SCOPE: Option<&'static str> = Some("audit.read");

    type Output = ExportedEvents;
}

impl Read for AuditExport {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<ExportedEvents>, OpError> {
        let mut conn = ctx.read().await?;
        let leaves = log::read_leaves(&mut conn, self.from_index, self.limit).await.map_err(store_error)?;
        let is_full = leaves.len() == usize::try_from(self.limit).unwrap_or(usize::MAX);
        let next_index = leaves.last().filter(|_| is_full).map(|last| last.leaf_index + 1);
        let organisation_id = ctx.actor().organisation_id.as_str();
        let is_write = |name: &str| ctx.table().find(name).is_some_and(|tool| tool.entry.is_write);
        let lines = leaves.iter().flat_map(|leaf| lines(self.format, leaf, organisation_id, is_write)).collect();
        Ok(Answer::of(ExportedEvents { lines, next_index }))
    }
}

fn lines(format: ExportFormat, leaf: &Leaf, organisation_id: &str, is_write: impl Fn(&str) -> bool) -> Vec<String> {
    let own = leaf.event.as_ref().filter(|event| event.organisation_id == organisation_id);
    match (format, own) {
        (ExportFormat::Ndjson, Some(event)) => {
            vec![json!({ "leaf_index": leaf.leaf_index, "event": event.body }).to_string()]
        }
        (ExportFormat::Ndjson, None) => {
            vec![json!({ "leaf_index": leaf.leaf_index, "leaf_hash": leaf.leaf_hash.to_string() }).to_string()]
        }
        (ExportFormat::Fhir, Some(event)) => {
            let Ok(event) = serde_json::from_str::<Event>(&event.body) else { return Vec::new() };
            let resources = fhir::audit_events(&event, is_write(&event.operation));
            resources.iter().map(ToString::to_string).collect()
        }
        (ExportFormat::Fhir, None) => Vec::new(),
    }
}
