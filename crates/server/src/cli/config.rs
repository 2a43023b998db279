//! `materia config`: every setting with its value and source.

use std::process::ExitCode;

use super::{Place, print_lines};
use crate::settings::Settings;

pub fn run(place: &Place) -> anyhow::Result<ExitCode> {
    let rows = Settings::explain(&place.data, &place.flags())?;
    let width = |column: fn(&(String, String, String)) -> &String| {
        rows.iter().map(|row| column(row).chars().count()).max().unwrap_or(0)
    };
    let (names, values) = (width(|row| &row.0), width(|row| &row.1));
    let header = [
        format!("data folder: {}", place.data.display()),
        format!("change settings in {} or with MATERIA_<SETTING>", place.data.join("materia.toml").display()),
        String::new(),
    ];
    let lines = rows.iter().map(|(name, value, source)| format!("{name:names$}  {value:values$}  {source}"));
    print_lines(header.into_iter().chain(lines))?;
    Ok(ExitCode::SUCCESS)
}
