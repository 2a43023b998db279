//! `materia lexicon`: Thai-English dictionaries for search across both languages.

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use evidence::search::lexicon::files::PAIRS;

use super::models::AT_NEXT_START;
use super::{Place, print_lines};
use crate::lexica::{self, OFFERS};
use crate::search::LEXICA_FOLDER;

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  materia lexicon list\n  materia lexicon pull\n  materia lexicon pull lexitron\n\n\
    A running server reads them at its next start."
)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Dictionaries that can be pulled, with their terms
    #[command(after_help = "Example:\n  materia lexicon list")]
    List,
    /// Get dictionaries from package registries; all of them unless named
    #[command(after_help = "Examples:\n  materia lexicon pull\n  materia lexicon pull lexitron")]
    Pull { names: Vec<String> },
}

pub async fn run(place: Place, arguments: Arguments) -> anyhow::Result<ExitCode> {
    let folder = place.data.join(LEXICA_FOLDER);
    match arguments.command {
        Command::List => {
            let mut lines = Vec::new();
            for offer in OFFERS {
                let state = if folder.join(offer.name).join(PAIRS).is_file() { "here" } else { "to pull" };
                lines.push(format!("{:<16} {state:<8} {}", offer.name, offer.about));
                lines.push(format!("{:25} {}", "", offer.licence));
                let packages =
                    offer.packages.iter().map(|one| format!("{} `{}` {}", one.registry.name(), one.name, one.version));
                lines.push(format!("{:25} {}", "", packages.collect::<Vec<_>>().join(", ")));
            }
            print_lines(lines)?;
        }
        Command::Pull { names } => {
            if let Some(unknown) = names.iter().find(|name| OFFERS.iter().all(|offer| offer.name != **name)) {
                bail!("no lexicon `{unknown}`; `materia lexicon list` shows them");
            }
            for offer in OFFERS.iter().filter(|offer| names.is_empty() || names.iter().any(|name| name == offer.name)) {
                let n_pairs =
                    lexica::pull(offer, &folder).await.with_context(|| format!("could not pull `{}`", offer.name))?;
                print_lines([
                    format!("{}: {n_pairs} pairs", offer.name),
                    format!("  Licence: {}", offer.licence),
                    format!("  {}", offer.notice),
                ])?;
            }
            lexica::tidy(&folder)?;
            print_lines([AT_NEXT_START.to_owned()])?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
