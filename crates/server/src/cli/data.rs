//! `materia data`: is the starter data set whole?

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use starter::{Count, Files, Report, check};

use super::print_lines;
use super::table;

#[derive(clap::Args)]
#[command(after_help = "Example:\n  materia data check")]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check every fact: its form, what it refers to, its source and its names
    #[command(after_help = "Examples:\n  materia data check\n  materia data check --dir ./data --json\n\n\
        The exit code is 1 if anything is wrong.")]
    Check(CheckArguments),
}

#[derive(clap::Args)]
struct CheckArguments {
    /// A folder of the same form [default: the data that this program was built with]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let Command::Check(arguments) = &arguments.command;
    let files = match &arguments.dir {
        Some(folder) => Files::read(folder)?,
        None => Files::embedded(),
    };
    let report = check::check(&files);
    if arguments.json {
        print_lines([serde_json::to_string(&report)?])?;
    } else {
        print_lines(shown(&report))?;
    }
    Ok(if report.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn shown(report: &Report) -> Vec<String> {
    let row = |count: &Count| {
        let share = count.share_verified().map_or("-".to_owned(), |share| format!("{share} %"));
        [count.kind.replace('_', " "), count.n.to_string(), share]
    };
    let mut lines = vec![format!("data version {}", report.data_version.as_deref().unwrap_or("unknown"))];
    lines.extend(table::lines(["kind", "count", "verified"], report.counts.iter().map(row)));
    match report.problems.len() {
        0 => lines.push("no problems".to_owned()),
        n => {
            lines.extend(report.problems.iter().map(ToString::to_string));
            lines.push(if n == 1 { "1 problem".to_owned() } else { format!("{n} problems") });
        }
    }
    lines
}
