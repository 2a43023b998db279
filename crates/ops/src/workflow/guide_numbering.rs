//! `guide_numbering`: the prompt that tells an agent how to number new documents.

use contract::actor::Role;
use contract::error::OpError;
use contract::id::ArtifactTypeName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::find_type;
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, Operation, Read};

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuideNumbering {
    /// Type of the documents to be numbered.
    pub artifact_type: ArtifactTypeName,
    /// How many documents there will be, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Guide {
    pub text: String,
}

impl Operation for GuideNumbering {
    const NAME: &'static str = "guide_numbering";
    const ABOUT: &'static str = "Explain how to number new documents of a type so that no two ever share an id.";
    const FAMILY: Family = Family::Workflow;
    const ROLES: &'static [Role] = &Role::ALL;
    const IS_TOOL: bool = false;

    type Output = Guide;
}

impl Read for GuideNumbering {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<Guide>, OpError> {
        let kind = find_type(ctx, &self.artifact_type)?;
        let (name, prefix) = (&kind.name, &kind.prefix);
        let text = match self.count.as_deref().map(str::parse::<u32>) {
            None | Some(Ok(1)) => format!(
                "Call get_next_available_id with artifact_type `{name}`. Use the id it answers ({prefix}-nnn) as it is; \
                 never make one up and never use one twice."
            ),
            Some(Ok(count @ 2..=100)) => format!(
                "Call reserve_id_range with artifact_type `{name}` and count {count}. Use the ids it answers in their \
                 order, then call confirm_reservation with the reservation_id before it expires (15 minutes unless the \
                 server is set otherwise). If it expired, reserve anew: the old ids are not given out again."
            ),
            Some(_) => return Err(OpError::invalid("count", "a whole number from 1 to 100")),
        };
        Ok(Answer::of(Guide { text }))
    }
}
