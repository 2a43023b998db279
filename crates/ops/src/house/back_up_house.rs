//! `back_up_house`: the whole record of one moment, into a new folder among the backups.

use std::fs::DirBuilder;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use contract::actor::{Credential, Role};
use contract::error::OpError;
use contract::time::rfc3339_ms;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::backup;

use crate::audit::{log_key, sign_continuing};
use crate::backup::{MANIFEST, Manifest, as_f64};
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, Operation, Read, store_error};

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackUpHouse {
    /// Name of the backup, which must be new.
    #[schemars(regex(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"))]
    pub name: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct BackedUp {
    pub name: String,
    pub n_tables: usize,
    pub n_rows: u64,
    /// Events that are in the log.
    pub tree_size: u64,
    /// Signed over them.
    pub checkpoint: String,
}

impl Operation for BackUpHouse {
    const NAME: &'static str = "back_up_house";
    const ABOUT: &'static str =
        "Write the whole record of one moment into a new folder among the backups, without the signing key.";
    const FAMILY: Family = Family::House;
    const ROLES: &'static [Role] = &[Role::Admin];
    const SCOPE: Option<&'static str> = Some("house.admin");
    const IS_TOOL: bool = false;
    const DEADLINE: Option<Duration> = Some(Duration::from_secs(6 * 60 * 60));

    type Output = BackedUp;
}

impl Read for BackUpHouse {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<BackedUp>, OpError> {
        // It holds every organisation's data, so no organisation's administrator may ask for it.
        if ctx.actor().credential != Credential::House {
            return Err(OpError::refused("only the house itself makes backups: `materia backup`, or its own token"));
        }
        let Some(backups) = &ctx.settings().backup_folder else {
            return Err(OpError::refused("this house has no folder for backups"));
        };
        let folder = backups.join(&self.name);
        make_folder(&folder)?;
        match write(ctx, &self.name, &folder).await {
            Ok(done) => Ok(Answer::of(done).touching("backup", &self.name)),
            Err(error) => {
                // Half a backup would be taken for a whole one.
                if let Err(error) = std::fs::remove_dir_all(&folder) {
                    tracing::warn!(error = %error, "An unfinished backup could not be removed");
                }
                Err(error)
            }
        }
    }
}

async fn write(ctx: &Context<'_>, name: &str, folder: &Path) -> Result<BackedUp, OpError> {
    let mut reader = ctx.read().await?;
    let kept = ctx.watch().kept();
    reader.hold_snapshot().await.map_err(store_error)?;
    let (state, checkpoint) = sign_continuing(&mut reader, ctx, &kept).await?;
    let report = |n_rows: u64| ctx.progress().report(as_f64(n_rows), None, "rows");
    let contents = backup::write(&mut reader, folder, report).await.map_err(OpError::internal)?;
    let manifest = Manifest::new(rfc3339_ms(ctx.now_us()), &checkpoint, log_key(ctx), contents);
    // Written last: a folder without it is not a backup.
    let text = serde_json::to_string_pretty(&manifest).map_err(OpError::internal)?;
    let opened = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(folder.join(MANIFEST));
    let mut file = opened.map_err(OpError::internal)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(OpError::internal)?;
    std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(OpError::internal)?;
    Ok(BackedUp {
        name: name.to_owned(),
        n_tables: manifest.contents.tables.len(),
        n_rows: manifest.n_rows(),
        tree_size: state.frontier.size(),
        checkpoint: manifest.checkpoint,
    })
}

fn make_folder(folder: &Path) -> Result<(), OpError> {
    let parent = folder.parent().unwrap_or(folder);
    let made = DirBuilder::new().recursive(true).mode(0o700).create(parent);
    match made.and_then(|()| DirBuilder::new().mode(0o700).create(folder)) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(OpError::conflict("there is a backup of this name already"))
        }
        Err(error) => Err(OpError::internal(error)),
    }
}
