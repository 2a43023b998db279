//! `audit_checkpoint`: a signed statement of how long the log is and what its root is.

use contract::actor::Role;
use contract::error::OpError;
use contract::ledger::{AuditCheckpoint, LatestCheckpoint};
use ledger::checkpoint::SignedCheckpoint;
use store::Conn;

use super::{AUDIT_ROLES, cosigned_checkpoint, log_key, sign_now, signing_keys};
use crate::context::Context;
use crate::family::Family;
use crate::notary::NotaryError;
use crate::operation::{Answer, Operation, Read, store_error};
use crate::witnesses::{WitnessError, continuing};

impl Operation for AuditCheckpoint {
    const NAME: &'static str = "audit_checkpoint";
    const ABOUT: &'static str = "Get a signed checkpoint of the log as it is now. Keep it: any later log must be consistent with it, and \
         `since_size` gets the proof.";
    const FAMILY: Family = Family::Audit;
    const ROLES: &'static [Role] = AUDIT_ROLES;
    const SCOPE: Option<&'static str> = Some("audit.read");

    type Output = LatestCheckpoint;
}

impl Read for AuditCheckpoint {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<LatestCheckpoint>, OpError> {
        let mut conn = ctx.read().await?;
        let (state, checkpoint) = sign_now(&mut conn, ctx).await?;
        let cosigned = cosigned_checkpoint(&mut conn, ctx).await?;
        let consistency = match self.since_size {
            Some(old_size) => Some(continues(&mut conn, old_size, &checkpoint).await?),
            None => None,
        };
        Ok(Answer::of(LatestCheckpoint {
            checkpoint: checkpoint.to_string(),
            tree_size: state.frontier.size(),
            cosigned_log_key: cosigned.as_ref().map(|checkpoint| signing_keys(ctx, checkpoint)),
            cosigned_checkpoint: cosigned.map(|checkpoint| checkpoint.to_string()),
            log_key: log_key(ctx),
            consistency,
        }))
    }
}

/// That the log of the checkpoint continues the log of `old_size` events, in the words that witnesses read.
async fn continues(conn: &mut Conn, old_size: u64, checkpoint: &SignedCheckpoint) -> Result<String, OpError> {
    let size = checkpoint.unverified().size();
    if old_size > size {
        let expected = format!("the size of an earlier checkpoint, 0 to {size}");
        return Err(OpError::invalid("since_size", expected).received(old_size.to_string()));
    }
    let request = continuing(conn, old_size, checkpoint.clone()).await.map_err(|error| match error {
        WitnessError::Notary(NotaryError::Store(error)) => store_error(error),
        error => OpError::internal(error),
    })?;
    Ok(request.to_string())
}
