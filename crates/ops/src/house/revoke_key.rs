//! `revoke_key`: a key that opens nothing any more. Revoking it twice changes nothing.

use contract::actor::Role;
use contract::error::OpError;
use contract::id::OrganisationId;
use contract::key::{RevokeKey, RevokedKey};
use contract::time::rfc3339_ms;
use store::Tx;

use crate::context::Context;
use crate::family::Family;
use crate::keys;
use crate::operation::{Answer, ApplyError, Operation, Write};

pub struct Plan {
    organisation_id: OrganisationId,
    now_us: i64,
}

impl Operation for RevokeKey {
    const NAME: &'static str = "revoke_key";
    const ABOUT: &'static str = "Revoke an API key of your organisation. Servers refuse it within seconds.";
    const FAMILY: Family = Family::House;
    const ROLES: &'static [Role] = &[Role::Admin];
    const SCOPE: Option<&'static str> = Some("key.admin");
    const IS_TOOL: bool = false;

    type Output = RevokedKey;
}

impl Write for RevokeKey {
    type Plan = Plan;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<Plan, OpError> {
        Ok(Plan { organisation_id: ctx.actor().organisation_id.clone(), now_us: ctx.now_us() })
    }

    async fn apply(&self, plan: &Plan, tx: &mut Tx<'_>) -> Result<Answer<RevokedKey>, ApplyError> {
        let before = keys::find(tx, &self.key_id).await?;
        let revoked = keys::revoke(tx, &plan.organisation_id, &self.key_id, plan.now_us).await?;
        let (Some(before), Some(revoked_at_us), Some(record)) = (before, revoked, keys::find(tx, &self.key_id).await?)
        else {
            return Err(OpError::not_found("no key of this id").into());
        };
        let output = RevokedKey { key_id: self.key_id.clone(), revoked_at: rfc3339_ms(revoked_at_us) };
        Ok(Answer::of(output).leaving(keys::audited(&record).after(keys::audited(&before))))
    }
}
