//! `audit_prove`: a proof that one event is in the log, checkable without us.

use contract::actor::Role;
use contract::error::OpError;
use contract::ledger::{AuditProve, EventProof};
use ledger::proof::{inclusion_proof, subtrees_for_inclusion};
use ledger::proof_file::ProofFile;
use store::log;

use super::{AUDIT_ROLES, checkpoint_over, signing_keys};
use crate::context::Context;
use crate::family::Family;
use crate::limits::RETRY_AFTER_MS;
use crate::operation::{Answer, Operation, Read, store_error};

impl Operation for AuditProve {
    const NAME: &'static str = "audit_prove";
    const ABOUT: &'static str = "Prove that the event of a call is in the log: its exact bytes, an inclusion proof and a signed \
         checkpoint, for `materia-verify` or any other reader of the C2SP formats.";
    const FAMILY: Family = Family::Audit;
    const ROLES: &'static [Role] = AUDIT_ROLES;
    const SCOPE: Option<&'static str> = Some("audit.read");

    type Output = EventProof;
}

impl Read for AuditProve {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<EventProof>, OpError> {
        let mut conn = ctx.read().await?;
        let organisation_id = ctx.actor().organisation_id.as_str();
        let found = log::find_event(&mut conn, organisation_id, self.call_id.as_str()).await.map_err(store_error)?;
        let Some((leaf_index, event_json)) = found else {
            return Err(OpError::not_found(format!("no event of a call `{}`", self.call_id)));
        };
        let Some(leaf_index) = leaf_index else {
            return Err(OpError::busy("the event is not in the log yet, try again in a second", RETRY_AFTER_MS));
        };
        let checkpoint = checkpoint_over(&mut conn, ctx, leaf_index + 1).await?;
        let size = checkpoint.unverified().size();
        let wanted = subtrees_for_inclusion(leaf_index, size).map_err(OpError::internal)?;
        let hashes = log::subtree_hashes(&mut conn, &wanted).await.map_err(store_error)?;
        let path = inclusion_proof(leaf_index, size, |subtree| hashes.get(&subtree).copied());
        let (note, log_key) = (checkpoint.to_string(), signing_keys(ctx, &checkpoint));
        let proof = ProofFile::new(leaf_index, path.map_err(OpError::internal)?, checkpoint);
        Ok(Answer::of(EventProof {
            call_id: self.call_id.to_string(),
            leaf_index,
            event_json,
            proof: proof.map_err(OpError::internal)?.to_string(),
            checkpoint: note,
            log_key,
        }))
    }
}
