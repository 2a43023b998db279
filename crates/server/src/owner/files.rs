//! Keeps the files of documents as the record is.

use ops::{FilesReport, Platform};
use store::StoreError;

use super::guest::GuestError;
use super::{House, guest};

#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    #[error("the files could not be compared with the record")]
    Record(#[source] StoreError),
    #[error("the owner of the data folder could not compare the files with the record: {0}")]
    Owner(String),
    #[error("the owner of the data folder could not be asked to compare the files with the record")]
    Guest(#[source] GuestError),
}

impl House {
    /// Compares the files of documents with the record; guests let the owner do it.
    pub async fn check_files(&self) -> Result<FilesReport, FilesError> {
        match self.platform() {
            Some(platform) => platform.files().check_all().await.map_err(FilesError::Record),
            None => {
                let told = guest::check_files(self.folder()).await.map_err(FilesError::Guest)?;
                told.map_err(FilesError::Owner)
            }
        }
    }
}

/// Writes files that are missing or old and tells of those that differ. The record needs neither.
pub async fn keep(platform: Platform, is_shared: bool) {
    let place = platform.files_place().await;
    match platform.files().check_all().await {
        Ok(report) if report == (FilesReport { n_checked: report.n_checked, ..Default::default() }) => {}
        Ok(report) => tracing::warn!(
            n_checked = report.n_checked,
            n_written = report.n_written,
            n_changed = report.n_changed,
            n_failed = report.n_failed,
            n_strays = report.n_strays,
            "Compared the files with the record"
        ),
        Err(error) => tracing::warn!(error = %error, "The files could not be compared with the record"),
    }
    // Only a database server has room for another house.
    if is_shared {
        platform.follow_files(place).await;
    }
}
