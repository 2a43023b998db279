//! Keeps the files of documents as the record is.

use ops::Platform;

/// Writes files that are missing or old and tells of those that differ. The record needs neither.
pub async fn keep(platform: Platform, is_shared: bool) {
    let place = platform.files_place().await;
    match platform.files().check_all().await {
        Ok(report) if report == (ops::FilesReport { n_checked: report.n_checked, ..Default::default() }) => {}
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
