//! Which starter data the record of an organisation has, and whether this program has others.

use contract::error::OpError;
use contract::evidence::record::{RecordKind, Source};
use contract::evidence::starter::OWN_SOURCE;
use contract::id::OrganisationId;
use evidence::record::read;
use starter::DataVersion;
use store::{Conn, StoreError};

use crate::door::Platform;
use crate::operation::store_error;

/// The version of the starter data in the record; it stands in their own source, which nobody else may write.
pub(crate) async fn stored_version(conn: &mut Conn, organisation_id: &str) -> Result<Option<String>, StoreError> {
    let stored = read::find_one(conn, organisation_id, RecordKind::Source, OWN_SOURCE).await?;
    Ok(stored.map(|stored| stored.parse::<Source>()).transpose()?.and_then(|source| source.version))
}

/// Whether the record was brought to newer data by a newer program.
pub(crate) fn is_newer(stored: &str, ours: &DataVersion) -> bool {
    DataVersion::parse(stored).is_some_and(|stored| ours.is_older_than(&stored))
}

impl Platform {
    /// Whether `load_starter_data` has something to do. It has no event: the call that follows has one.
    pub async fn is_starter_data_due(&self, organisation_id: &OrganisationId) -> Result<bool, OpError> {
        let Some(files) = &self.services().starter else { return Ok(false) };
        let Some(ours) = starter::data_version(files) else { return Ok(false) };
        let mut reader = self.store().read().await.map_err(store_error)?;
        let stored = stored_version(&mut reader, organisation_id.as_str()).await.map_err(store_error)?;
        Ok(stored.is_none_or(|stored| stored != ours.to_string() && !is_newer(&stored, &ours)))
    }
}
