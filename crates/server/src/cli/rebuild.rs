//! `materia rebuild`: make what is derived from the record anew.

use std::process::ExitCode;

use super::{Place, print_lines};
use crate::assemble;
use crate::settings::Settings;

pub async fn run(place: Place) -> anyhow::Result<ExitCode> {
    let settings = Settings::read(&place.data, &place.flags())?;
    let house = assemble::enter(place.data, &settings).await?;
    house.ping().await?;
    house.close().await;
    print_lines(["Nothing to rebuild: this version keeps no index or snapshot beside the record.".to_owned()])?;
    Ok(ExitCode::SUCCESS)
}
