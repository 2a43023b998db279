//! `materia tools` and `materia schema`: the operation table on paper.

use std::process::ExitCode;

use anyhow::bail;
use ops::Table;
use ops::operations::OPERATIONS;
use serde_json::json;

use super::print_lines;

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  materia tools\n  materia tools --json")]
pub struct ListArguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
#[command(after_help = "Example:\n  materia schema reserve_id_range")]
pub struct SchemaArguments {
    /// Name of the operation
    name: String,
}

pub fn list(arguments: &ListArguments) -> anyhow::Result<ExitCode> {
    if arguments.json {
        let tools: Vec<_> = OPERATIONS
            .iter()
            .map(|entry| json!({ "name": entry.name, "family": entry.family.name(), "about": entry.about }))
            .collect();
        print_lines([json!(tools).to_string()])?;
        return Ok(ExitCode::SUCCESS);
    }
    let width = OPERATIONS.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    print_lines(OPERATIONS.iter().map(|entry| {
        let kind = if entry.is_write { "write" } else { "read" };
        format!("{:width$}  {:5}  {:8}  {}", entry.name, kind, entry.family.name(), entry.about)
    }))?;
    Ok(ExitCode::SUCCESS)
}

pub fn schema(arguments: &SchemaArguments) -> anyhow::Result<ExitCode> {
    let table = Table::compile(OPERATIONS)?;
    let Some(tool) = table.find(&arguments.name) else {
        bail!("no operation `{}`; `materia tools` lists them", arguments.name);
    };
    let schemas = json!({ "input": *tool.input_schema, "output": *tool.output_schema });
    print_lines([serde_json::to_string_pretty(&schemas)?])?;
    Ok(ExitCode::SUCCESS)
}
