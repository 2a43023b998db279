//! Follows the change feed, so that files here are as new as what another server on the same database wrote.

use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::time::Duration;

use contract::error::OpError;
use store::StoreError;
use workflow::artifacts::{self, Place, Waiting};

use super::{Inner, Key, Known, Whose};
use crate::door::Platform;
use crate::feed::Changes;

const LOOK_EVERY: Duration = Duration::from_secs(1);
/// What was forgotten is compared once more, which harms nothing.
const REVISIONS_MAX: usize = 50_000;

/// Where the files of this process have come to in the feed.
#[derive(Debug, Clone, Copy, Default)]
pub struct FilesPlace {
    next_index: Option<u64>,
}

impl Platform {
    /// Where the feed ends now. What changes later is found by [`Platform::follow_files`].
    pub async fn files_place(&self) -> FilesPlace {
        // Without an answer the first look asks again.
        FilesPlace { next_index: self.changes_from(None).await.ok().map(|changes| changes.next_index) }
    }

    /// Writes the files of what other servers change, for ever. Where no other server can be it need not be called.
    pub async fn follow_files(&self, mut place: FilesPlace) {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            if let Err(error) = self.renew_files(&mut place).await {
                tracing::debug!(error = %error, "The change feed could not be read; trying again");
            }
        }
    }

    /// One look at the feed.
    pub async fn renew_files(&self, place: &mut FilesPlace) -> Result<(), OpError> {
        let Changes { next_index, changes } = self.changes_from(place.next_index).await?;
        let mut changed: BTreeMap<(String, String, u32), Vec<String>> = BTreeMap::new();
        for change in changes {
            let documents = change.things.iter().filter(|thing| thing.kind == ARTIFACT);
            for (project_id, key, version) in documents.filter_map(|thing| parse_document(&thing.id)) {
                let place = (change.organisation_id.clone(), project_id.to_owned(), version);
                changed.entry(place).or_default().push(key.to_owned());
            }
        }
        for ((organisation_id, project_id, version), keys) in changed {
            let place = Place { organisation_id: &organisation_id, project_id: &project_id };
            self.files().inner.renew(place, version, &keys).await.map_err(crate::operation::store_error)?;
        }
        place.next_index = Some(next_index);
        Ok(())
    }
}

/// The kind of documents in events.
pub(crate) const ARTIFACT: &str = "artifact";

/// `default/PRD-006/1`.
pub(crate) fn parse_document(id: &str) -> Option<(&str, &str, u32)> {
    let mut parts = id.split('/');
    let (project_id, key, version) = (parts.next()?, parts.next()?, parts.next()?);
    version.parse().ok().filter(|_| parts.next().is_none()).map(|version| (project_id, key, version))
}

impl Inner {
    pub(super) fn remember(&self, key: Key, revision: u32) {
        let mut revisions = self.revisions.lock().unwrap_or_else(PoisonError::into_inner);
        if revisions.len() >= REVISIONS_MAX {
            revisions.clear();
        }
        revisions.insert(key, revision);
    }

    fn remembers(&self, key: &Key, revision: u32) -> bool {
        self.revisions.lock().unwrap_or_else(PoisonError::into_inner).get(key) == Some(&revision)
    }

    /// Writes the files of those documents that were not written here since they changed.
    async fn renew(&self, place: Place<'_>, version: u32, keys: &[String]) -> Result<(), StoreError> {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let mut reader = self.store.read().await?;
        let found = artifacts::read_revisions(&mut reader, place, version, &keys).await?;
        drop(reader);
        for (key, revision) in found {
            let (organisation_id, project_id) = (place.organisation_id.to_owned(), place.project_id.to_owned());
            if !self.remembers(&(organisation_id.clone(), project_id.clone(), key.clone(), version), revision) {
                // The list of what is to be written is for whoever changed it: their own files may be behind.
                let waiting = Waiting { organisation_id, project_id, key, version, revision };
                self.put(Known::Row(waiting), Whose::Others).await;
            }
        }
        Ok(())
    }
}
