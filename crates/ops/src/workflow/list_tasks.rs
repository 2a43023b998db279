//! `list_tasks`: the tasks of a project by status or by their inputs, oldest first.

use contract::actor::Role;
use contract::envelope::True;
use contract::error::OpError;
use contract::workflow::tasks::{ListTasks, ListedTasks};
use workflow::tasks::{self, Filter};

use super::TaskPlan;
use crate::context::{Context, Settings};
use crate::family::Family;
use crate::operation::{Answer, Operation, Read, store_error};
use crate::remote::Service;

impl Operation for ListTasks {
    const NAME: &'static str = "list_tasks";
    const ABOUT: &'static str = "List the tasks of a project by status, by a document they depend on, or those without a mandatory \
         input, oldest first.";
    const FAMILY: Family = Family::Workflow;
    const ROLES: &'static [Role] = &Role::ALL;
    const IS_TOOL: bool = false;
    const SERVICE: Option<Service> = Some(Service::Tasks);

    type Output = ListedTasks;

    fn fill_defaults(&mut self, settings: &Settings) {
        self.project_id.get_or_insert_with(|| settings.default_project_id.clone());
    }
}

impl Read for ListTasks {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<ListedTasks>, OpError> {
        let plan = TaskPlan::new(ctx, self.project_id.as_ref());
        let after = match &self.cursor {
            Some(cursor) => cursor.parse().map_err(|_| OpError::invalid("cursor", "the `next_cursor` of a page"))?,
            None => 0,
        };
        let filter = Filter {
            status: self.status,
            depends_on: self.depends_on.as_deref(),
            is_missing_mandatory: self.missing_mandatory_inputs,
            after,
            n_max: self.limit,
        };
        let mut conn = ctx.read().await?;
        let (tasks, next) =
            tasks::list(&mut conn, &plan.organisation_id, &plan.project_id, &filter).await.map_err(store_error)?;
        let counted = tasks::count(&mut conn, &plan.organisation_id, &plan.project_id, &filter).await;
        let total = Some(counted.map_err(store_error)?);
        let count = u64::try_from(tasks.len()).unwrap_or(u64::MAX);
        let next_cursor = next.map(|number| number.to_string());
        Ok(Answer::of(ListedTasks { success: True, tasks, count, total, next_cursor }))
    }
}
