//! `tidy_house`: forget what has served its time.

use contract::actor::Role;
use contract::error::OpError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Tx, idempotency};

use crate::context::Context;
use crate::family::Family;
use crate::limits::IDEMPOTENCY_KEPT_FOR;
use crate::operation::{Answer, ApplyError, Operation, Write};

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TidyHouse {}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Tidied {
    pub n_idempotency_keys_deleted: u64,
}

impl Operation for TidyHouse {
    const NAME: &'static str = "tidy_house";
    const ABOUT: &'static str = "Delete idempotency keys that are older than a day.";
    const FAMILY: Family = Family::House;
    const ROLES: &'static [Role] = &[Role::Admin];
    const SCOPE: Option<&'static str> = Some("house.admin");
    const IS_TOOL: bool = false;

    type Output = Tidied;
}

impl Write for TidyHouse {
    /// Keys recorded before this are deleted.
    type Plan = i64;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<i64, OpError> {
        let kept_us = i64::try_from(IDEMPOTENCY_KEPT_FOR.as_micros()).unwrap_or(i64::MAX);
        Ok(ctx.now_us().saturating_sub(kept_us))
    }

    async fn apply(&self, plan: &i64, tx: &mut Tx<'_>) -> Result<Answer<Tidied>, ApplyError> {
        let n_idempotency_keys_deleted = idempotency::delete_older_than(tx, *plan).await?;
        Ok(Answer::of(Tidied { n_idempotency_keys_deleted }))
    }
}
