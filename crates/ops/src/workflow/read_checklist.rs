//! `read_checklist`: the criteria that documents of a type are held against.

use contract::actor::Role;
use contract::error::OpError;
use contract::workflow::checklists::{Checklist, ReadChecklist};
use workflow::address::is_traversal;
use workflow::catalogue::is_checklist_id;

use super::document::traversal;
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, Operation, Read};
use crate::summary;

impl Operation for ReadChecklist {
    const NAME: &'static str = "read_checklist";
    const ABOUT: &'static str = "Read a checklist such as prd_validation_v1.";
    const FAMILY: Family = Family::Workflow;
    const ROLES: &'static [Role] = &Role::ALL;
    const IS_TOOL: bool = false;

    type Output = Checklist;
}

impl Read for ReadChecklist {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<Checklist>, OpError> {
        let id = self.checklist_id.as_str();
        if is_traversal(id) || id.contains('/') {
            return Err(traversal(id, "checklist_id", Self::NAME));
        }
        if !is_checklist_id(id) {
            let expected = "the id of a checklist such as `prd_validation_v1`";
            return Err(OpError::invalid("checklist_id", expected).received(summary::cut(id)));
        }
        let catalogue = ctx.services().catalogue.current();
        let found = catalogue
            .find_checklist(id)
            .ok_or_else(|| OpError::not_found(format!("mcp://resources/validation/{id}")))?;
        Ok(Answer::of(found.checklist.clone()))
    }
}
