//! `materia rebuild`: make what is derived from the record anew.

use std::process::ExitCode;

use super::{Place, print_lines};
use crate::assemble;
use crate::settings::Settings;

pub async fn run(place: Place) -> anyhow::Result<ExitCode> {
    let settings = Settings::read(&place.data, &place.flags())?;
    let house = assemble::enter(place.data, &settings).await?;
    house.ping().await?;
    let report = match house.platform() {
        Some(platform) => Some(platform.files().check_all().await?),
        None => None,
    };
    house.close().await;
    let line = match report {
        Some(report) => format!(
            "{} documents compared with their files: {} written, {} changed by hand and left alone, {} failed",
            report.n_checked, report.n_written, report.n_changed, report.n_failed
        ),
        None => "A server runs on this folder; it compares the files with the record when it starts.".to_owned(),
    };
    print_lines([line])?;
    Ok(ExitCode::SUCCESS)
}
