//! `delete_expired_reservations`: forget reservations nobody confirmed. Their ids stay used.

use contract::actor::Role;
use contract::envelope::True;
use contract::error::OpError;
use contract::workflow::{DeleteExpiredReservations, DeletedReservations};
use store::Tx;
use workflow::ids;

use super::NUMBERING_ROLES;
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, ApplyError, Operation, Write};
use crate::remote::Service;

pub struct Plan {
    organisation_id: String,
    now_us: i64,
}

impl Operation for DeleteExpiredReservations {
    const NAME: &'static str = "delete_expired_reservations";
    const ABOUT: &'static str = "Delete the reservations that expired unconfirmed. Their ids are not given out again.";
    const FAMILY: Family = Family::Workflow;
    const ROLES: &'static [Role] = NUMBERING_ROLES;
    const SCOPE: Option<&'static str> = Some("id.reserve");
    const SERVICE: Option<Service> = Some(Service::Ids);

    type Output = DeletedReservations;
}

impl Write for DeleteExpiredReservations {
    type Plan = Plan;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<Plan, OpError> {
        Ok(Plan { organisation_id: ctx.actor().organisation_id.to_string(), now_us: ctx.now_us() })
    }

    async fn apply(&self, plan: &Plan, tx: &mut Tx<'_>) -> Result<Answer<DeletedReservations>, ApplyError> {
        let deleted = ids::delete_expired(tx, &plan.organisation_id, plan.now_us).await?;
        let deleted_count = u64::try_from(deleted.len()).unwrap_or(u64::MAX);
        let answer = Answer::of(DeletedReservations { success: True, deleted_count });
        Ok(deleted.into_iter().fold(answer, Answer::leaving))
    }
}
