//! `materia recover`: an operator's word that a rolled-back database is meant.

use std::process::ExitCode;

use anyhow::{Context as _, bail};

use super::{Place, must_be_there, print_lines};
use crate::assemble::{self, AssembleError};
use crate::owner::HouseError;
use crate::owner::keys::replace;
use crate::owner::notary::{RollbackError, acceptance_file, checkpoint_file};
use crate::settings::Settings;

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

/// Refuses where there is nothing to accept: a checkpoint that is set aside protects nothing any more.
async fn check_rolled_back(place: &Place, settings: &Settings) -> anyhow::Result<()> {
    if !checkpoint_file(&place.data).exists() {
        must_be_there(place, settings)?;
    }
    match assemble::look(place.data.clone(), settings).await {
        Ok(house) => {
            let is_served = !house.is_owner();
            house.close().await;
            if is_served {
                bail!("nothing was changed: a running process owns {}; stop it first", place.data.display());
            }
            bail!("nothing was rolled back: the log continues its last checkpoint, and nothing was changed");
        }
        Err(AssembleError::House(HouseError::Rollback(
            RollbackError::Shorter { .. }
            | RollbackError::Empty { .. }
            | RollbackError::Different { .. }
            | RollbackError::OtherKey { .. }
            | RollbackError::Witness(_),
        ))) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

pub async fn run(place: &Place, arguments: &Arguments) -> anyhow::Result<ExitCode> {
    if !arguments.accept_rollback {
        bail!("nothing was changed: say --accept-rollback if the loss is meant");
    }
    let settings = Settings::read(&place.data, &place.flags())?;
    check_rolled_back(place, &settings).await?;
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
