//! Puts a house together from settings: document types, clock, operations.

use std::path::PathBuf;
use std::sync::Arc;

use ops::operations::OPERATIONS;
use ops::{Clock, Services};
use workflow::types::{ArtifactTypes, TypesError};

use crate::owner::{House, HouseError, HouseOptions};
use crate::settings::Settings;

#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    #[error("the document types cannot be used")]
    Types(#[source] TypesError),
    #[error("the data folder cannot be opened")]
    House(#[source] HouseError),
}

pub fn services(settings: &Settings) -> Result<Services, TypesError> {
    let artifact_types = match &settings.workflow_types_file {
        Some(path) => ArtifactTypes::read(path)?,
        None => ArtifactTypes::built_in()?,
    };
    Ok(Services { artifact_types })
}

/// The house of a data folder, as owner or as guest.
pub async fn enter(folder: PathBuf, settings: &Settings) -> Result<Arc<House>, AssembleError> {
    let options = HouseOptions {
        folder,
        database_url: settings.database_url.clone(),
        entries: OPERATIONS,
        settings: settings.for_operations(),
        services: services(settings).map_err(AssembleError::Types)?,
        clock: Clock::system(),
        ledger_key_file: settings.ledger_key_file.clone(),
        witnesses: settings.witness.clone(),
        witness_cosignatures_min: settings.witness_cosignatures_min,
        slow_call_after: settings.slow_call_after(),
    };
    House::enter(options).await.map_err(AssembleError::House)
}
