//! `audit_verify`: recompute the whole log and compare it with everything that was kept.

use std::time::Duration;

use contract::actor::Role;
use contract::error::OpError;
use contract::ledger::{AuditVerify, Verification};
use store::StoreError;
use store::log::{self, Position};

use super::AUDIT_ROLES;
use super::check::{self, SETTLED_WITHIN_US, Trust};
use super::report::Reader;
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, Operation, Read, store_error};

impl Operation for AuditVerify {
    const NAME: &'static str = "audit_verify";
    const ABOUT: &'static str = "Recompute the log from its events, compare it with its hashes and signed checkpoints, and compare \
         every audited row with the last event about it. Names what was changed.";
    const FAMILY: Family = Family::Audit;
    const ROLES: &'static [Role] = AUDIT_ROLES;
    const SCOPE: Option<&'static str> = Some("audit.read");
    const DEADLINE: Option<Duration> = Some(Duration::from_secs(900));
    const IS_TOLD_UNRECORDED: bool = true;

    type Output = Verification;
}

/// The sequencer looks every second, also after a failure.
const SEQUENCER_TURN: Duration = Duration::from_secs(2);

/// Which events the sequencer can have taken by the moment that is looked at. A transaction that ran for long may have
/// ended just before; events that waited for it get time for their place.
async fn settled(ctx: &Context<'_>) -> Result<Position, OpError> {
    let mut conn = ctx.read().await?;
    let settled_before = log::settled_before(&mut conn).await.map_err(store_error)?;
    let late_us = ctx.now_us().saturating_sub(SETTLED_WITHIN_US);
    // A table that is too damaged to look is for the check to name.
    let is_late = log::oldest_waiting(&mut conn, late_us).await.is_ok_and(|oldest| oldest.is_some());
    drop(conn);
    if is_late {
        tokio::time::sleep(SEQUENCER_TURN).await;
    }
    Ok(settled_before)
}

impl Read for AuditVerify {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<Verification>, OpError> {
        let settled_before = settled(ctx).await?;
        // Before the moment that is held below: the log may only have grown since.
        let mut kept = ctx.watch().kept();
        kept.extend(ctx.watch().kept_head());
        let revoked = ctx.known_keys().revoked();
        let mut conn = ctx.read().await?;
        // Others go on writing meanwhile; rows and events must be of one moment.
        conn.hold_snapshot().await.map_err(store_error)?;
        let home = ctx.files().home_organisation_id();
        let reader = match ctx.actor().organisation_id.as_str() {
            own if own == home => Reader::House { organisation_id: home },
            other => Reader::Organisation(other),
        };
        let trust = Trust {
            keyring: ctx.keyring(),
            witness_policy: ctx.witness_policy(),
            now_us: ctx.now_us(),
            settled_before,
            kept: &kept,
            doubts: &ctx.watch().doubts(),
            keys: Some((ctx.seals(), &revoked)),
            is_claimed: ctx.watch().is_claimed(),
            contradictions: &ctx.watch().contradicting_witnesses(),
            reader,
        };
        let verdict = check::whole_log(&mut conn, &trust, ctx.progress()).await.map_err(store_error)?;
        // Somebody could put it right a moment later. The notary records it; who sees a part of the log says nothing for all.
        if matches!(reader, Reader::House { .. }) {
            ctx.watch().note_found(verdict.doubts);
        }
        let mut verification = verdict.verification;
        if let Some(failure) = ctx.events_failure().filter(StoreError::is_about_a_swallowed_event) {
            verification.notes.push(format!("this verification could not be recorded: {failure}"));
        }
        Ok(Answer::of(verification))
    }
}
