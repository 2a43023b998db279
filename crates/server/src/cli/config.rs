//! `materia config`: every setting with its value, its source and what it is.

use std::process::ExitCode;

use super::{Place, print_lines};
use crate::settings::explained::{Explained, explain};

pub fn run(place: &Place) -> anyhow::Result<ExitCode> {
    let (settings, found) = explain(&place.data, &place.flags());
    let width = |column: fn(&Explained) -> &String| {
        settings.iter().map(|setting| column(setting).chars().count()).max().unwrap_or(0)
    };
    let (names, values) = (width(|setting| &setting.name), width(|setting| &setting.value));
    let header = [
        format!("data folder: {}", place.data.display()),
        format!("change settings in {} or with MATERIA_<SETTING>", place.data.join("materia.toml").display()),
    ];
    let lines = settings.iter().flat_map(|Explained { name, value, source, about }| {
        [String::new(), format!("# {about}"), format!("{name:names$}  {value:values$}  {source}")]
    });
    print_lines(header.into_iter().chain(lines))?;
    found?;
    Ok(ExitCode::SUCCESS)
}
