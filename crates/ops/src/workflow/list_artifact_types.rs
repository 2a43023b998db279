//! `list_artifact_types`: which document types there are.

use contract::actor::Role;
use contract::error::OpError;
use contract::workflow::{ArtifactTypes, ListArtifactTypes};

use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, Operation, Read};

impl Operation for ListArtifactTypes {
    const NAME: &'static str = "list_artifact_types";
    const ABOUT: &'static str = "List the document types with their names, id prefixes and folders.";
    const FAMILY: Family = Family::Workflow;
    const ROLES: &'static [Role] = &Role::ALL;

    type Output = ArtifactTypes;
}

impl Read for ListArtifactTypes {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<ArtifactTypes>, OpError> {
        let catalogue = ctx.services().catalogue.current();
        Ok(Answer::of(ArtifactTypes { artifact_types: catalogue.types().iter().map(Into::into).collect() }))
    }
}
