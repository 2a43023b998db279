//! `list_keys`: the API keys of the caller's organisation, without anything that would open a door.

use contract::actor::Role;
use contract::error::OpError;
use contract::key::{ListKeys, ListedKey, ListedKeys};
use contract::time::rfc3339_ms;

use crate::context::Context;
use crate::family::Family;
use crate::keys::{self, KeyRecord};
use crate::operation::{Answer, Operation, Read, store_error};

impl Operation for ListKeys {
    const NAME: &'static str = "list_keys";
    const ABOUT: &'static str = "List the API keys of your organisation, those in force first.";
    const FAMILY: Family = Family::House;
    const ROLES: &'static [Role] = &[Role::Admin];
    const SCOPE: Option<&'static str> = Some("key.admin");
    const IS_TOOL: bool = false;

    type Output = ListedKeys;
}

impl Read for ListKeys {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<ListedKeys>, OpError> {
        let mut reader = ctx.read().await?;
        let records = keys::of(&mut reader, &ctx.actor().organisation_id).await.map_err(store_error)?;
        Ok(Answer::of(ListedKeys { keys: records.into_iter().map(listed).collect() }))
    }
}

fn listed(record: KeyRecord) -> ListedKey {
    ListedKey {
        key_id: record.key_id,
        actor_id: record.actor_id,
        roles: record.roles,
        scopes: record.scopes,
        created_at: rfc3339_ms(record.created_at_us),
        expires_at: record.expires_at_us.map(rfc3339_ms),
        revoked_at: record.revoked_at_us.map(rfc3339_ms),
    }
}
