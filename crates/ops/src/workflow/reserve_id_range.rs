//! `reserve_id_range`: hold a contiguous range of ids until it is confirmed or expires.

use contract::actor::Role;
use contract::envelope::True;
use contract::error::OpError;
use contract::time::{parse_rfc3339_us, rfc3339_ms};
use contract::workflow::{ReserveIdRange, ReservedIdRange};
use serde_json::Value;
use store::Tx;
use uuid::Uuid;
use workflow::ids::{self, IdsElsewhere, ReserveOptions};

use super::approve_artifact::is_part_of_approval;
use super::{CounterPlan, NUMBERING_ROLES, tell_numbers, too_far_ahead};
use crate::context::{Context, Settings};
use crate::family::Family;
use crate::operation::{Answer, ApplyError, Ended, Operation, Write, refusal};
use crate::remote::Service;

/// The seed's 15 minutes.
const EXPIRES_AFTER_US: i64 = 15 * 60 * 1_000_000;

pub struct Plan {
    counter: CounterPlan,
    reserved_by: String,
    /// Made once, so that a repeated `apply` reserves under the same handle.
    reservation_id: Uuid,
    expires_after_us: i64,
    is_exempt: bool,
}

impl Operation for ReserveIdRange {
    const NAME: &'static str = "reserve_id_range";
    const ABOUT: &'static str = "Reserve 1 to 100 contiguous ids of a document type, such as HLS-012 to HLS-014. Confirm the \
         reservation before it expires; expired ids are not given out again.";
    const FAMILY: Family = Family::Workflow;
    const ROLES: &'static [Role] = NUMBERING_ROLES;
    const SCOPE: Option<&'static str> = Some("id.reserve");
    const SERVICE: Option<Service> = Some(Service::Ids);

    type Output = ReservedIdRange;

    const TELL: Option<fn(&Ended<'_>)> = Some(tell_numbers::<ReserveIdRange>);

    fn given_ids(&self, output: &Value) -> Option<(String, Vec<String>)> {
        let ids = output.get("reserved_ids")?.as_array()?.iter().filter_map(|id| id.as_str().map(str::to_owned));
        Some((self.project_id.as_ref()?.to_string(), ids.collect()))
    }

    fn done_elsewhere(&self, output: &Value, now_us: i64) -> Option<IdsElsewhere> {
        let (project_id, ids) = self.given_ids(output)?;
        let reservation_id = output.get("reservation_id")?.as_str()?.to_owned();
        // A service that does not say is taken to keep them as long as the seed has it.
        let told = output.get("expires_at").and_then(Value::as_str).and_then(parse_rfc3339_us);
        let expires_at_us = told.unwrap_or(now_us.saturating_add(EXPIRES_AFTER_US));
        Some(IdsElsewhere::Reserved { project_id, ids, reservation_id, expires_at_us })
    }

    fn fill_defaults(&mut self, settings: &Settings) {
        self.project_id.get_or_insert_with(|| settings.default_project_id.clone());
    }
}

impl Write for ReserveIdRange {
    type Plan = Plan;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<Plan, OpError> {
        if self.number.is_some() && self.count != 1 {
            return Err(OpError::invalid("count", "1 where `number` names the one that is wanted"));
        }
        let expires_after = ctx.settings().reservation_expires_after;
        let counter = CounterPlan::find(ctx, &self.artifact_type, self.project_id.as_ref())?;
        // Who may approve could reserve as often by approving here.
        let is_exempt = is_part_of_approval(ctx);
        if !is_exempt {
            let n_max = ctx.settings().reservations_per_minute_max;
            let mut reader = ctx.read().await?;
            let checked = ids::check_rate(&mut reader, &counter.counter(), n_max, ctx.now_us()).await;
            checked.map_err(refusal)?;
        }
        Ok(Plan {
            counter,
            reserved_by: ctx.reserver(),
            reservation_id: Uuid::new_v4(),
            expires_after_us: i64::try_from(expires_after.as_micros()).unwrap_or(i64::MAX),
            is_exempt,
        })
    }

    fn lane(&self, plan: &Plan) -> Option<String> {
        Some(plan.counter.counter().lane())
    }

    async fn apply(&self, plan: &Plan, tx: &mut Tx<'_>) -> Result<Answer<ReservedIdRange>, ApplyError> {
        let options = ReserveOptions {
            reserved_by: &plan.reserved_by,
            reservation_id: plan.reservation_id,
            expires_after_us: plan.expires_after_us,
            is_exempt: plan.is_exempt,
        };
        let (counter, now_us) = (plan.counter.counter(), plan.counter.now_us);
        let reserved = match self.number {
            Some(number) => {
                let reserved = ids::reserve_number(tx, &counter, number.into(), &options, now_us).await;
                reserved.map_err(|error| too_far_ahead("number", error))?
            }
            None => ids::reserve(tx, &counter, self.count, &options, now_us).await?,
        };
        let answer = Answer::of(ReservedIdRange {
            success: True,
            reservation_id: reserved.reservation_id,
            artifact_type: plan.counter.artifact_type.name.clone(),
            reserved_ids: reserved.reserved_ids,
            expires_at: Some(rfc3339_ms(reserved.expires_at_us)),
        });
        Ok(reserved.rows.into_iter().fold(answer, Answer::leaving))
    }
}
