//! Puts a house together from settings: document types, clock, operations.

use std::path::PathBuf;
use std::sync::Arc;

use ops::operations::OPERATIONS;
use ops::{Clock, Services};
use workflow::types::{ArtifactTypes, TypesError};

use crate::owner::{House, HouseError, HouseOptions};
use crate::remote::{self, RemoteError};
use crate::settings::Settings;

#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    #[error("the document types cannot be used")]
    Types(#[source] TypesError),
    #[error("the generators cannot be used")]
    Generators(#[source] serde_json::Error),
    #[error("a remote service cannot be used")]
    Remote(#[source] RemoteError),
    #[error("the data folder cannot be opened")]
    House(#[source] HouseError),
}

pub fn services(settings: &Settings) -> Result<Services, AssembleError> {
    let artifact_types = match &settings.workflow_types_file {
        Some(path) => ArtifactTypes::read(path),
        None => ArtifactTypes::built_in(),
    };
    let artifact_types = artifact_types.map_err(AssembleError::Types)?;
    let remotes = remote::services(settings, &artifact_types).map_err(AssembleError::Remote)?;
    let generators = workflow::generators::Generators::built_in().map_err(AssembleError::Generators)?;
    Ok(Services { artifact_types, generators, remotes })
}

/// The house of a data folder, as owner or as guest.
pub async fn enter(folder: PathBuf, settings: &Settings) -> Result<Arc<House>, AssembleError> {
    let options = HouseOptions {
        folder,
        database_url: settings.database_url.clone(),
        entries: OPERATIONS,
        settings: settings.for_operations(),
        services: services(settings)?,
        clock: Clock::system(),
        ledger_key_file: settings.ledger_key_file.clone(),
    };
    House::enter(options).await.map_err(AssembleError::House)
}
