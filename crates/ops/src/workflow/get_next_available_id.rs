//! `get_next_available_id`: take the next id of a type in a project.

use contract::actor::Role;
use contract::envelope::True;
use contract::error::OpError;
use contract::workflow::{GetNextAvailableId, NextAvailableId};
use serde_json::Value;
use store::Tx;
use workflow::ids;

use super::{CounterPlan, NUMBERING_ROLES, tell_numbers};
use crate::context::{Context, Settings};
use crate::family::Family;
use crate::operation::{Answer, ApplyError, Ended, Operation, Write};
use crate::remote::Service;

impl Operation for GetNextAvailableId {
    const NAME: &'static str = "get_next_available_id";
    const ABOUT: &'static str = "Take the next free id of a document type in a project, such as US-071. No call is ever given \
         the same id again.";
    const FAMILY: Family = Family::Workflow;
    const ROLES: &'static [Role] = NUMBERING_ROLES;
    const SCOPE: Option<&'static str> = Some("id.reserve");
    const SERVICE: Option<Service> = Some(Service::Ids);

    type Output = NextAvailableId;

    const TELL: Option<fn(&Ended<'_>)> = Some(tell_numbers::<GetNextAvailableId>);

    fn given_ids(&self, output: &Value) -> Option<(String, Vec<String>)> {
        let id = output.get("next_id")?.as_str()?.to_owned();
        Some((self.project_id.as_ref()?.to_string(), vec![id]))
    }

    fn fill_defaults(&mut self, settings: &Settings) {
        self.project_id.get_or_insert_with(|| settings.default_project_id.clone());
    }
}

impl Write for GetNextAvailableId {
    type Plan = CounterPlan;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<CounterPlan, OpError> {
        CounterPlan::find(ctx, &self.artifact_type, self.project_id.as_ref())
    }

    fn lane(&self, plan: &CounterPlan) -> Option<String> {
        Some(plan.counter().lane())
    }

    async fn apply(&self, plan: &CounterPlan, tx: &mut Tx<'_>) -> Result<Answer<NextAvailableId>, ApplyError> {
        let (next_id, counter) = ids::take_next(tx, &plan.counter(), plan.now_us).await?;
        let output =
            NextAvailableId { success: True, artifact_type: plan.artifact_type.name.clone(), next_id: next_id.clone() };
        Ok(Answer::of(output).touching("id", next_id).leaving(counter))
    }
}
