//! `materia recover`: an operator's word that a rolled-back database is meant.

use std::process::ExitCode;

use anyhow::{Context as _, bail};

use super::{Place, print_lines};
use crate::owner::keys::replace;
use crate::owner::notary::{acceptance_file, checkpoint_file};

#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  materia recover --accept-rollback --data ./demo\n\nUse this only after a restore that lost events on purpose. The checkpoint of the lost log is kept \
    aside, so that an auditor can still see what was signed. Witnesses go on contradicting the log until whoever runs them \
    says `materia witness forget`."
)]
pub struct Arguments {
    /// Accept that events which were signed are gone
    #[arg(long)]
    accept_rollback: bool,
}

pub fn run(place: &Place, arguments: &Arguments) -> anyhow::Result<ExitCode> {
    if !arguments.accept_rollback {
        bail!("nothing was changed: say --accept-rollback if the loss is meant");
    }
    let accepted = acceptance_file(&place.data);
    let line = format!("accepted by `materia recover` {}\n", env!("CARGO_PKG_VERSION"));
    replace(&accepted, &line).with_context(|| format!("could not write {}", accepted.display()))?;
    let path = checkpoint_file(&place.data);
    if !path.exists() {
        print_lines(["There is no checkpoint to set aside; the next start compares nothing.".to_owned()])?;
        return Ok(ExitCode::SUCCESS);
    }
    let aside = path.with_extension(format!("checkpoint.{}", uuid::Uuid::now_v7()));
    std::fs::rename(&path, &aside).with_context(|| format!("could not move {}", path.display()))?;
    print_lines([format!("The last checkpoint of the lost log is kept as {}.", aside.display())])?;
    Ok(ExitCode::SUCCESS)
}
