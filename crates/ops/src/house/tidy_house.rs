//! `tidy_house`: forget what has served its time.

use contract::actor::Role;
use contract::error::OpError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Tx, idempotency, jobs, request_states};

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
    pub n_request_states_deleted: u64,
    pub n_jobs_deleted: u64,
}

impl Operation for TidyHouse {
    const NAME: &'static str = "tidy_house";
    const ABOUT: &'static str =
        "Delete what has served its time: idempotency keys after a day, used request states, old jobs.";
    const FAMILY: Family = Family::House;
    const ROLES: &'static [Role] = &[Role::Admin];
    const SCOPE: Option<&'static str> = Some("house.admin");
    const IS_TOOL: bool = false;

    type Output = Tidied;
}

impl Write for TidyHouse {
    /// The time of the call.
    type Plan = i64;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<i64, OpError> {
        Ok(ctx.now_us())
    }

    async fn apply(&self, now_us: &i64, tx: &mut Tx<'_>) -> Result<Answer<Tidied>, ApplyError> {
        let kept_us = i64::try_from(IDEMPOTENCY_KEPT_FOR.as_micros()).unwrap_or(i64::MAX);
        Ok(Answer::of(Tidied {
            n_idempotency_keys_deleted: idempotency::delete_older_than(tx, now_us.saturating_sub(kept_us)).await?,
            n_request_states_deleted: request_states::delete_expired(tx, *now_us).await?,
            n_jobs_deleted: jobs::delete_expired(tx, *now_us).await?,
        }))
    }
}
