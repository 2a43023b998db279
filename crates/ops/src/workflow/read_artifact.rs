//! `read_artifact`: a document by its address or its id. Read from the record, never from a path.

use contract::actor::Role;
use contract::error::{Kind, OpError};
use contract::id::ProjectId;
use contract::workflow::artifacts::{ArtifactContent, ReadArtifact};
use workflow::address::Address;
use workflow::artifacts::{self, ArtifactRow};

use super::document::{Home, address_error, check_key, missing};
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, Operation, Read, store_error};

impl Operation for ReadArtifact {
    const NAME: &'static str = "read_artifact";
    const ABOUT: &'static str = "Read a document by its mcp:// address, or by its id and version.";
    const FAMILY: Family = Family::Workflow;
    const ROLES: &'static [Role] = &Role::ALL;
    // Agents reach it as a resource; a catalogue has room for so many tools.
    const IS_TOOL: bool = false;

    type Output = ArtifactContent;
}

impl Read for ReadArtifact {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<ArtifactContent>, OpError> {
        let (home, row) = match (&self.resource_uri, &self.artifact_id) {
            (Some(uri), None) => by_uri(ctx, uri).await?,
            (None, Some(id)) => by_id(self, ctx, id).await?,
            (_, _) => return Err(OpError::invalid("resource_uri", "either `resource_uri` or `artifact_id`")),
        };
        let mut reader = ctx.read().await?;
        let content = artifacts::read_content(&mut reader, &row.organisation_id, &row.content_sha256).await;
        let content = content.map_err(store_error)?;
        let artifact = row.metadata(&home.default_project_id);
        let catalogue = ctx.services().catalogue.current();
        let kind = catalogue.find_type(&row.artifact_type);
        let next_statuses = kind.map(|kind| kind.next_statuses(&row.status)).unwrap_or_default();
        let next_statuses = next_statuses.into_iter().map(str::to_owned).collect();
        let answer = Answer::of(ArtifactContent { artifact, content, next_statuses });
        Ok(answer.touching("artifact", format!("{}/{}/{}", row.project_id, row.key, row.version)))
    }
}

async fn by_id(asked: &ReadArtifact, ctx: &Context<'_>, id: &str) -> Result<(Home, ArtifactRow), OpError> {
    let key = check_key(id, "artifact_id", ReadArtifact::NAME)?;
    let home = Home::of(ctx, asked.project_id.as_ref());
    let mut reader = ctx.read().await?;
    let row = artifacts::find(&mut reader, home.place(), &key, asked.version).await.map_err(store_error)?;
    match row {
        Some(row) => Ok((home, row)),
        None => Err(missing(&mut reader, home.place(), &key, asked.version, None).await.map_err(store_error)?),
    }
}

async fn by_uri(ctx: &Context<'_>, uri: &str) -> Result<(Home, ArtifactRow), OpError> {
    let address = Address::parse_uri(uri).map_err(|error| address_error(&error, uri, ReadArtifact::NAME))?;
    let project_id = address.project_id.as_deref().map(ProjectId::parse).transpose();
    let project_id = project_id.map_err(|error| OpError::invalid("resource_uri", error.expected))?;
    let home = Home::of(ctx, project_id.as_ref());
    let mut reader = ctx.read().await?;
    let row = artifacts::find_at(&mut reader, home.place(), &address).await.map_err(store_error)?;
    drop(reader);
    match row {
        Some(row) => Ok((home, row)),
        None if ctx.files().is_planted(&home.organisation_id, &address).await => {
            tracing::warn!(
                tool_name = ReadArtifact::NAME,
                resource_name = uri,
                "A link was planted among the documents"
            );
            let mut error = OpError::new(Kind::Invalid, "Resource is no document of the record");
            error.details.more.insert("validation_failed".to_owned(), "link_check".into());
            Err(error)
        }
        None => Err(OpError::not_found(uri)),
    }
}
