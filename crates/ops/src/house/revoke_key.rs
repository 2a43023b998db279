//! `revoke_key`: a key that opens nothing any more. Revoking it twice changes nothing.

use std::sync::Arc;

use contract::actor::Role;
use contract::error::OpError;
use contract::id::{KeyId, OrganisationId};
use contract::key::{RevokeKey, RevokedKey};
use contract::time::rfc3339_ms;
use store::{StoreError, Tx};

use crate::context::Context;
use crate::family::Family;
use crate::keys::seals::Seals;
use crate::keys::{self, KeyRecord};
use crate::operation::{Answer, ApplyError, Operation, Write};

pub struct Plan {
    organisation_id: OrganisationId,
    now_us: i64,
    seals: Arc<Seals>,
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
        let (organisation_id, seals) = (ctx.actor().organisation_id.clone(), Arc::clone(ctx.seals()));
        Ok(Plan { organisation_id, now_us: ctx.now_us(), seals })
    }

    async fn apply(&self, plan: &Plan, tx: &mut Tx<'_>) -> Result<Answer<RevokedKey>, ApplyError> {
        let before = read(tx, &self.key_id).await?;
        let revoked = keys::revoke(tx, &plan.organisation_id, &self.key_id, plan.now_us).await?;
        let (Some(before), Some(revoked_at_us), Some(record)) = (before, revoked, read(tx, &self.key_id).await?) else {
            return Err(OpError::not_found("no key of this id").into());
        };
        // Also where other hands changed the row: a revoked key lets nobody in, whatever else it says.
        keys::set_seal(tx, self.key_id.as_str(), &plan.seals.seal(&record)).await?;
        let output = RevokedKey { key_id: self.key_id.clone(), revoked_at: rfc3339_ms(revoked_at_us) };
        Ok(Answer::of(output).leaving(keys::audited(&record).after(keys::audited(&before))))
    }

    async fn settle(&self, _plan: &Plan, ctx: &Context<'_>) {
        ctx.known_keys().note_revoked(&self.key_id);
    }
}

async fn read(tx: &mut Tx<'_>, key_id: &KeyId) -> Result<Option<KeyRecord>, StoreError> {
    Ok(keys::find(tx, key_id.as_str()).await?.and_then(|key| key.record))
}
