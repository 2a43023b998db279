//! `audit_checkpoint`: a signed statement of how long the log is and what its root is.

use contract::actor::Role;
use contract::error::OpError;
use contract::ledger::{AuditCheckpoint, LatestCheckpoint};

use super::{AUDIT_ROLES, cosigned_checkpoint, log_key, sign_now, signing_keys};
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, Operation, Read};

impl Operation for AuditCheckpoint {
    const NAME: &'static str = "audit_checkpoint";
    const ABOUT: &'static str =
        "Get a signed checkpoint of the log as it is now. Keep it: any later log must be consistent with it.";
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
        Ok(Answer::of(LatestCheckpoint {
            checkpoint: checkpoint.to_string(),
            tree_size: state.frontier.size(),
            cosigned_log_key: cosigned.as_ref().map(|checkpoint| signing_keys(ctx, checkpoint)),
            cosigned_checkpoint: cosigned.map(|checkpoint| checkpoint.to_string()),
            log_key: log_key(ctx),
        }))
    }
}
