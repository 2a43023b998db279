//! `read_template`: what a document of a type looks like before it is filled in.

use contract::actor::Role;
use contract::error::OpError;
use contract::id::ArtifactTypeName;
use contract::workflow::checklists::{ReadTemplate, Template};
use workflow::address::is_traversal;

use super::document::traversal;
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, Operation, Read};
use crate::summary;

impl Operation for ReadTemplate {
    const NAME: &'static str = "read_template";
    const ABOUT: &'static str = "Read the template of a document type such as prd.";
    const FAMILY: Family = Family::Workflow;
    const ROLES: &'static [Role] = &Role::ALL;
    const IS_TOOL: bool = false;

    type Output = Template;
}

impl Read for ReadTemplate {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<Template>, OpError> {
        let word = self.artifact_type.as_str();
        if is_traversal(word) || word.contains('/') {
            return Err(traversal(word, "artifact_type", Self::NAME));
        }
        let name = ArtifactTypeName::parse(word)
            .map_err(|error| OpError::invalid("artifact_type", error.expected).received(summary::cut(word)))?;
        let catalogue = ctx.services().catalogue.current();
        let found =
            catalogue.find_type(name.as_str()).and_then(|kind| Some((kind, catalogue.find_template(&kind.name)?)));
        let (kind, content) = found.ok_or_else(|| OpError::not_found(format!("mcp://resources/templates/{name}")))?;
        Ok(Answer::of(Template { artifact_type: kind.name.clone(), content: content.to_owned() }))
    }
}
