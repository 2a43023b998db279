//! `confirm_reservation`: keep a reserved range for good.

use contract::actor::Role;
use contract::envelope::True;
use contract::error::OpError;
use contract::workflow::{ConfirmReservation, ConfirmedReservation};
use serde_json::Value;
use store::Tx;
use workflow::ids::{self, IdsElsewhere};

use super::NUMBERING_ROLES;
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, ApplyError, Operation, Write};
use crate::remote::Service;

pub struct Plan {
    organisation_id: String,
    reserved_by: String,
    now_us: i64,
}

impl Operation for ConfirmReservation {
    const NAME: &'static str = "confirm_reservation";
    const ABOUT: &'static str = "Confirm a reservation that you made with reserve_id_range, before it expires.";
    const FAMILY: Family = Family::Workflow;
    const ROLES: &'static [Role] = NUMBERING_ROLES;
    const SCOPE: Option<&'static str> = Some("id.reserve");
    const SERVICE: Option<Service> = Some(Service::Ids);

    type Output = ConfirmedReservation;

    fn done_elsewhere(&self, _output: &Value, _now_us: i64) -> Option<IdsElsewhere> {
        Some(IdsElsewhere::Confirmed { reservation_id: self.reservation_id.clone() })
    }
}

impl Write for ConfirmReservation {
    type Plan = Plan;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<Plan, OpError> {
        Ok(Plan {
            organisation_id: ctx.actor().organisation_id.to_string(),
            reserved_by: ctx.reserver(),
            now_us: ctx.now_us(),
        })
    }

    async fn apply(&self, plan: &Plan, tx: &mut Tx<'_>) -> Result<Answer<ConfirmedReservation>, ApplyError> {
        let row = ids::confirm(tx, &plan.organisation_id, &plan.reserved_by, &self.reservation_id, plan.now_us).await?;
        let output =
            ConfirmedReservation { success: True, reservation_id: self.reservation_id.clone(), confirmed: True };
        Ok(Answer::of(output).leaving(row))
    }
}
