//! Puts a house together from settings: document types, clock, operations.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use evidence::derived::Derived;
use ops::operations::OPERATIONS;
use ops::{Clock, Services};
use workflow::catalogue::{CatalogueError, LiveCatalogue};
use workflow::projection::Root;

use crate::eutils::{self, EutilsError};
use crate::outbound::OutboundError;
use crate::owner::{House, HouseError, HouseOptions, StarterData};
use crate::remote::{self, RemoteError};
use crate::search;
use crate::settings::Settings;
use crate::trapi;

#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    #[error("the workflow folder cannot be used")]
    Catalogue(#[source] CatalogueError),
    #[error("a remote service cannot be used")]
    Remote(#[source] RemoteError),
    #[error("`trapi_url` cannot be used")]
    Trapi(#[source] OutboundError),
    #[error("PubMed cannot be asked")]
    Eutils(#[source] EutilsError),
    #[error("the data folder cannot be opened")]
    House(#[source] HouseError),
}

/// Where graphs are kept between starts, in the data folder.
pub const GRAPH_FOLDER: &str = "evidence";

pub fn services(folder: &Path, settings: &Settings) -> Result<Services, AssembleError> {
    let catalogue = LiveCatalogue::open(settings.workflow_folder.clone()).map_err(AssembleError::Catalogue)?;
    let remotes = remote::services(settings, &catalogue).map_err(AssembleError::Remote)?;
    let evidence = Derived::new(folder.join(GRAPH_FOLDER));
    let knowledge = trapi::knowledge(settings).map_err(AssembleError::Trapi)?;
    let literature = eutils::library(settings).map_err(AssembleError::Eutils)?;
    let search = search::searches(folder);
    let starter = settings.starter_data.then(|| Arc::new(starter::Files::embedded()));
    Ok(Services { catalogue, remotes, evidence, search, literature, knowledge, starter })
}

/// Where the documents of a data folder stand as files.
pub fn files(folder: &Path, settings: &Settings) -> Root {
    let base = settings.artifacts_base_dir.clone().unwrap_or_else(|| folder.join("artifacts"));
    Root::new(base, settings.organisation_id.to_string())
}

/// The house of a data folder, as owner or as guest, for those who ask about facts: they find the starter data there.
pub async fn enter(folder: PathBuf, settings: &Settings) -> Result<Arc<House>, AssembleError> {
    open(folder, settings, StarterData::Load).await
}

/// The house as it is, for those who only look at it or need no facts.
pub async fn look(folder: PathBuf, settings: &Settings) -> Result<Arc<House>, AssembleError> {
    open(folder, settings, StarterData::Leave).await
}

async fn open(folder: PathBuf, settings: &Settings, starter_data: StarterData) -> Result<Arc<House>, AssembleError> {
    let options = HouseOptions {
        files: files(&folder, settings),
        services: services(&folder, settings)?,
        folder,
        organisation_id: settings.organisation_id.clone(),
        starter_data,
        database_url: settings.database_url.clone(),
        entries: OPERATIONS,
        settings: settings.for_operations(),
        clock: Clock::system(),
        ledger_key_file: settings.ledger_key_file.clone(),
        witnesses: settings.witness.clone(),
        witness_cosignatures_min: settings.witness_cosignatures_min,
        slow_call_after: settings.slow_call_after(),
    };
    House::enter(options).await.map_err(AssembleError::House)
}
