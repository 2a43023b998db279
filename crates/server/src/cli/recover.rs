//! `materia recover`: an operator's word that a rolled-back database is meant.

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use contract::canonical;
use ops::acceptance::Acceptance;
use ops::{Platform, held_doubts};

use super::{Place, must_be_there, print_lines};
use crate::assemble::{self, AssembleError};
use crate::auth::owner;
use crate::owner::HouseError;
use crate::owner::keys::replace;
use crate::owner::notary::{RollbackError, acceptance_file, checkpoint_file, head_file};
use crate::owner::witnesses::Standing;
use crate::settings::Settings;

#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  materia recover --accept-rollback --data ./demo\n\nUse this only after a restore that lost events on purpose, or after you have looked into what `materia audit verify` tells of \
    doubts. The checkpoint of a lost log is kept aside, so that an auditor can still see what was signed. Witnesses go on contradicting the log until whoever runs them \
    says `materia witness forget`."
)]
pub struct Arguments {
    /// Accept that events which were signed are gone
    #[arg(long)]
    accept_rollback: bool,
}

/// What there is to accept. Refuses where there is nothing: a checkpoint that is set aside protects nothing any more. Doubts
/// over a log that continues its checkpoint are accepted at once.
async fn find_rollback(place: &Place, settings: &Settings) -> anyhow::Result<Option<RollbackError>> {
    if !checkpoint_file(&place.data).exists() {
        must_be_there(place, settings)?;
    }
    match assemble::look(place.data.clone(), settings).await {
        Ok(house) => {
            let accepted = match house.platform() {
                Some(platform) => accept_doubts(&platform, settings).await,
                None => Ok(false),
            };
            let is_served = !house.is_owner();
            house.close().await?;
            if accepted? {
                return Ok(None);
            }
            if is_served {
                bail!("nothing was changed: a running process owns {}; stop it first", place.data.display());
            }
            bail!("nothing was rolled back: the log continues its last checkpoint, and nothing was changed");
        }
        Err(AssembleError::House(HouseError::Rollback(
            error @ (RollbackError::Shorter { .. }
            | RollbackError::Empty { .. }
            | RollbackError::Different { .. }
            | RollbackError::NothingKept
            | RollbackError::NoHead { .. }
            | RollbackError::OtherKey { .. }
            | RollbackError::Witness(_)),
        ))) => Ok(Some(error)),
        Err(error) => Err(error.into()),
    }
}

/// Says that somebody has looked into what earlier processes doubted. `false` where there is nothing of the kind.
async fn accept_doubts(platform: &Platform, settings: &Settings) -> anyhow::Result<bool> {
    if !platform.has_doubts().await? {
        return Ok(false);
    }
    let acceptance = Acceptance {
        call_id: uuid::Uuid::now_v7().to_string(),
        accepted_at_us: ops::Clock::system().now_us(),
        code: "DOUBTS".to_owned(),
        kept_size: None,
        found_size: None,
        checkpoint_sha256: None,
    };
    platform.record_acceptance(&owner(&settings.organisation_id), &acceptance).await?;
    print_lines([
        "The log continues its last checkpoint. What was doubted is accepted, and recorded as such.".to_owned()
    ])?;
    Ok(true)
}

/// What the log is to tell of it.
fn describe(found: &RollbackError, checkpoint: Option<&[u8]>) -> Acceptance {
    let (code, kept_size, found_size) = match found {
        RollbackError::Shorter { kept, found } => ("ROLLED_BACK", Some(*kept), Some(*found)),
        RollbackError::Empty { kept } => ("ROLLED_BACK", Some(*kept), Some(0)),
        RollbackError::Different { size } => ("OTHER_HISTORY", Some(*size), None),
        RollbackError::Witness(witness) => match &witness.standing {
            Standing::Ahead { known_size, found_size } => ("ROLLED_BACK", Some(*known_size), Some(*found_size)),
            Standing::Forked { size } => ("OTHER_HISTORY", Some(*size), None),
            Standing::Unknown | Standing::Cosigned { .. } | Standing::Unreachable { .. } | Standing::Refused { .. } => {
                ("OTHER_HISTORY", None, None)
            }
        },
        RollbackError::NothingKept => ("NOTHING_KEPT", None, None),
        RollbackError::NoHead { .. } => ("NO_HEAD", None, None),
        RollbackError::OtherKey { .. } => ("OTHER_KEY", None, None),
        RollbackError::Log(_) | RollbackError::Damaged(_) | RollbackError::File { .. } | RollbackError::OtherLog => {
            ("OTHER_HISTORY", None, None)
        }
    };
    Acceptance {
        call_id: uuid::Uuid::now_v7().to_string(),
        accepted_at_us: ops::Clock::system().now_us(),
        code: code.to_owned(),
        kept_size,
        found_size,
        checkpoint_sha256: checkpoint.map(|bytes| hex::encode(canonical::digest(bytes))),
    }
}

pub async fn run(place: &Place, arguments: &Arguments) -> anyhow::Result<ExitCode> {
    if !arguments.accept_rollback {
        bail!("nothing was changed: say --accept-rollback if the loss is meant");
    }
    let settings = Settings::read(&place.data, &place.flags())?;
    let Some(found) = find_rollback(place, &settings).await? else { return Ok(ExitCode::SUCCESS) };
    let checkpoint = std::fs::read(checkpoint_file(&place.data)).ok();
    let acceptance = describe(&found, checkpoint.as_deref());
    let accepted = acceptance_file(&place.data);
    replace(&accepted, &serde_json::to_string(&acceptance)?)
        .with_context(|| format!("could not write {}", accepted.display()))?;
    print_lines([
        "The next start records this as `accept_rollback`.".to_owned(),
        "Ids that were given out after the events that are there now will be given out again: tell whoever has them."
            .to_owned(),
    ])?;
    let path = checkpoint_file(&place.data);
    if path.exists() {
        let aside = path.with_extension(format!("checkpoint.{}", uuid::Uuid::now_v7()));
        std::fs::rename(&path, &aside).with_context(|| format!("could not move {}", path.display()))?;
        print_lines([format!("The last checkpoint of the lost log is kept as {}.", aside.display())])?;
    } else {
        print_lines(["There is no checkpoint to set aside; the next start compares nothing.".to_owned()])?;
    }
    // After the checkpoint, which would be refused without it.
    let head = head_file(&place.data);
    if head.exists() {
        std::fs::remove_file(&head).with_context(|| format!("could not remove {}", head.display()))?;
    }
    // The acceptance tells of what was refused.
    let doubts = held_doubts::file(&path);
    held_doubts::forget(&doubts).with_context(|| format!("could not remove {}", doubts.display()))?;
    Ok(ExitCode::SUCCESS)
}
