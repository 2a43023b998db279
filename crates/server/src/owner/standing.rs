//! How the house stands, for health, metrics and `materia doctor`: its database, its log, its witnesses.

use contract::error::OpError;
use ops::LogStanding;

use super::database::DatabaseStanding;
use super::witnesses::WitnessStanding;
use super::{House, guest};

impl House {
    /// How the database stands; guests ask the owner.
    pub async fn database_standing(&self) -> DatabaseStanding {
        match self.platform() {
            Some(platform) => DatabaseStanding::of(platform.ping().await),
            None => guest::database_standing(&self.options.folder)
                .await
                .unwrap_or_else(|error| DatabaseStanding::Unreachable { reason: error.to_string() }),
        }
    }

    /// What is damaged in the file of the database, if anything. Only its owner looks.
    pub async fn find_damage(&self) -> Result<Option<String>, OpError> {
        match self.platform() {
            Some(platform) => platform.find_damage().await,
            None => Ok(None),
        }
    }

    /// Settings of the database by which it may lose what it says it keeps. Only its owner looks.
    pub async fn find_laxity(&self) -> Result<Vec<String>, OpError> {
        match self.platform() {
            Some(platform) => platform.find_laxity().await,
            None => Ok(Vec::new()),
        }
    }

    /// How the witnesses stand to the log, as far as the owner knows.
    pub async fn witness_standings(&self) -> Vec<WitnessStanding> {
        let owned = || {
            let owned = self.owned.read().unwrap_or_else(std::sync::PoisonError::into_inner);
            owned.as_ref().map(|owned| owned.witnesses.standings())
        };
        match owned() {
            Some(standings) => standings,
            None => guest::witness_standings(&self.options.folder).await.unwrap_or_default(),
        }
    }

    /// How the log stands, as far as the owner's notary knows; nothing when the owner does not say.
    pub async fn log_standing(&self) -> Option<LogStanding> {
        match self.platform() {
            Some(platform) => Some(platform.log_standing()),
            None => guest::log_standing(&self.options.folder).await.ok(),
        }
    }
}
