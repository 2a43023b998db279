//! Operations for auditors: the events of an organisation, and proofs about the log they are in.

mod audit_checkpoint;
mod audit_export;
mod audit_prove;
mod audit_search;
mod audit_verify;
pub(crate) mod check;
mod fhir;
pub(crate) mod report;

use contract::actor::Role;
use contract::error::OpError;
use ledger::checkpoint::{Checkpoint, SignedCheckpoint};
use ledger::key::LogVerifier;
use ledger::keyring::Keyring;
use store::{Conn, log};

use crate::context::Context;
use crate::notary;
use crate::operation::store_error;
use crate::watch::{Contradiction, KeptCheckpoint};

/// Who may look at the record.
const AUDIT_ROLES: &[Role] = &[Role::Auditor, Role::PrivacyOfficer, Role::Admin];

/// Where a checkpoint with enough cosignatures is looked for; witnesses are seldom further behind.
const CHECKPOINTS_LOOKED_AT: u32 = 64;

/// The newest checkpoint that enough witnesses cosigned.
async fn cosigned_checkpoint(conn: &mut Conn, ctx: &Context<'_>) -> Result<Option<SignedCheckpoint>, OpError> {
    let witness_policy = ctx.witness_policy();
    if witness_policy.is_empty() {
        return Ok(None);
    }
    let policy = witness_policy.with(ctx.keyring()).map_err(OpError::internal)?;
    let kept = log::newest_checkpoints(conn, CHECKPOINTS_LOOKED_AT).await.map_err(store_error)?;
    let parsed = kept.iter().filter_map(|kept| SignedCheckpoint::parse(kept.note.as_bytes()).ok());
    Ok(parsed.into_iter().find(|signed| policy.check(signed).is_ok()))
}

/// A signed checkpoint that covers a leaf: the newest cosigned one if it does, else the newest kept one, else one made now
/// for the whole log.
async fn checkpoint_over(conn: &mut Conn, ctx: &Context<'_>, n_leaves_min: u64) -> Result<SignedCheckpoint, OpError> {
    if let Some(cosigned) = cosigned_checkpoint(conn, ctx).await?
        && cosigned.unverified().size() >= n_leaves_min
    {
        return Ok(cosigned);
    }
    let kept = log::latest_checkpoint(conn).await.map_err(store_error)?;
    if let Some(kept) = kept.filter(|kept| kept.tree_size >= n_leaves_min) {
        return SignedCheckpoint::parse(kept.note.as_bytes()).map_err(OpError::internal);
    }
    sign_now(conn, ctx).await.map(|(_, signed)| signed)
}

/// The log as it is, signed, if it continues what was signed before.
async fn sign_now(conn: &mut Conn, ctx: &Context<'_>) -> Result<(log::LogState, SignedCheckpoint), OpError> {
    let kept = ctx.watch().kept();
    sign_continuing(conn, ctx, &kept).await
}

/// As [`sign_now`], where the log is of a moment that is held: what it must continue was read before that moment.
pub(crate) async fn sign_continuing(
    conn: &mut Conn,
    ctx: &Context<'_>,
    kept: &[KeptCheckpoint],
) -> Result<(log::LogState, SignedCheckpoint), OpError> {
    let found = notary::continued(conn, ctx.keyring(), kept).await.map_err(store_error)?;
    ctx.watch().note_contradiction(found.as_ref().err().cloned());
    let state = found.map_err(|Contradiction { reason, .. }| {
        OpError::conflict(format!("nothing is signed: {reason}; `materia audit verify` tells more"))
    })?;
    // It gets no row in `log_checkpoints`, and so no number.
    let signed = ctx.keyring().sign(checkpoint_of(ctx.keyring(), &state)?).map_err(OpError::internal)?;
    Ok((state, signed))
}

/// What is to be signed of the log as it is.
pub(crate) fn checkpoint_of(keyring: &Keyring, state: &log::LogState) -> Result<Checkpoint, OpError> {
    let head = state.frontier.head();
    Checkpoint::new(keyring.origin(), head.size, head.root).map_err(OpError::internal)
}

/// Those keys of the log, retired ones among them, that signed a checkpoint: who gets it can check it with them.
pub(crate) fn signing_keys(ctx: &Context<'_>, signed: &SignedCheckpoint) -> String {
    let keys = ctx.keyring().all_verifiers();
    let found = signed.note().signed_by(&keys).unwrap_or_default();
    let has_signed = |key: &&LogVerifier| found.iter().any(|(other, _)| *other == *key);
    keys.iter().filter(has_signed).map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// The verifier key under which the log is to be checked.
pub(crate) fn log_key(ctx: &Context<'_>) -> String {
    let keys: Vec<String> = ctx.keyring().verifiers().iter().map(ToString::to_string).collect();
    keys.join("\n")
}
