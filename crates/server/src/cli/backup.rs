//! `materia backup` and `materia restore`.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use contract::dialect;
use ops::backup::{Manifest, RestoreError, Restored, restore};
use ops::{Call, Progress, ProgressReport};
use serde_json::{Value, json};
use store::OwnerLock;
use tokio::sync::mpsc;

use super::{Place, after_closing, must_have_log, print_lines, say};
use crate::assemble::{self, AssembleError};
use crate::auth::owner;
use crate::owner::{HouseError, keys, notary, store_options};
use crate::settings::Settings;
use crate::telemetry;

const REPORTS_MAX: usize = 64;

#[derive(clap::Args)]
#[command(
    after_help = "The backup is a folder of its own: every table of one moment as lines of JSON with their SHA-256, and a signed \
    checkpoint of the log. The server goes on serving meanwhile. It restores into SQLite and PostgreSQL alike.\n\nNot in it, on purpose:\n  \
    ledger.key     keep a copy apart: who holds both the key and the record could rewrite history\n  \
    token          a restored folder makes its own\n  \
    materia.toml   may hold a password\n  \
    files made from the record: they are made again\n\nExamples:\n  materia backup /mnt/backups/monday\n  \
    materia backup /mnt/backups/monday --json"
)]
pub struct BackupArguments {
    /// Folder to make; it must not be there yet
    folder: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
#[command(
    after_help = "Restores into an empty database and refuses any other. What was restored is verified against the checkpoint of the \
    backup, event by event and row by row, then against the last checkpoint of the data folder and against the witnesses. \
    Where those know of later events, the server does not start before `materia recover --accept-rollback`.\n\nExamples:\n  \
    materia restore /mnt/backups/monday --data ./restored --key /mnt/keys/ledger.key\n  \
    materia restore /mnt/backups/monday --database-url postgres://materia@db/restored"
)]
pub struct RestoreArguments {
    /// Folder of the backup
    folder: PathBuf,
    /// The key file (`ledger.key`), copied into the data folder if that has none
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub async fn back_up(place: Place, arguments: BackupArguments) -> anyhow::Result<ExitCode> {
    let settings = quiet_settings(&place)?;
    must_have_log(&place, &settings).await?;
    if arguments.folder.exists() {
        bail!("{} is there already; a backup overwrites nothing", arguments.folder.display());
    }
    // Not made: where a disk is missing, a folder in its place would fill another one.
    let parent = arguments.folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !parent.is_dir() {
        bail!("there is no folder {} to make the backup in; make it first (mkdir -p)", parent.display());
    }
    let house = assemble::look(place.data, &settings).await?;
    let backups = house.backup_folder();
    let (progress, shown) = show_progress();
    let name = format!("backup-{}", uuid::Uuid::now_v7());
    let call =
        Call { operation: "back_up_house".to_owned(), input: json!({ "name": name }), progress, ..Call::default() };
    let reply = house.call(&owner(&settings.organisation_id), call).await;
    let closed = house.close().await;
    shown.await.ok();
    let output = match reply.result {
        Ok(success) => success.output,
        Err(error) => bail!("{}", dialect::common(&error)),
    };
    let made = backups.join(&name);
    if let Err(error) = move_folder(&made, &arguments.folder) {
        // Nobody would look for it where it was made, if it is still there.
        std::fs::remove_dir_all(&made).ok();
        return Err(error.context("the backup was taken away again"));
    }
    if arguments.json {
        print_lines([output.to_string()])?;
    } else {
        let number = |name: &str| output.get(name).and_then(Value::as_u64).unwrap_or(0);
        print_lines([
            format!("{} rows, {} events, in {}", number("n_rows"), number("tree_size"), arguments.folder.display()),
            "The keys are not in it: keep a copy of `ledger.key` apart.".to_owned(),
        ])?;
    }
    Ok(after_closing(closed, ExitCode::SUCCESS))
}

pub async fn put_back(place: Place, arguments: RestoreArguments) -> anyhow::Result<ExitCode> {
    let settings = quiet_settings(&place)?;
    let manifest = Manifest::read(&arguments.folder)?;
    let lock = OwnerLock::try_acquire(&place.data)?;
    if lock.is_none() {
        bail!("a running process owns {}; stop it first", place.data.display());
    }
    let key_file = settings.ledger_key_file.clone().unwrap_or_else(|| place.data.join("ledger.key"));
    let had_key = key_file.exists();
    if let Some(given) = &arguments.key {
        if !given.exists() {
            bail!("there is no key in {}", given.display());
        }
        let given_keys = keys::read(given).with_context(|| format!("could not use {}", given.display()))?;
        if had_key && std::fs::read(given)? != std::fs::read(&key_file)? {
            bail!(
                "{} has another key than {}; leave --key out, or move that file away",
                key_file.display(),
                given.display()
            );
        }
        if !had_key {
            keys::write(&key_file, &given_keys)?;
        }
    }
    if !key_file.exists() {
        bail!("the log's signing key is not part of a backup; put it into {} or give --key FILE", key_file.display());
    }
    let keys = keys::read(&key_file)?;
    // Before anything is written: nobody could read what is encrypted in it.
    let is_encrypted = manifest.contents.tables.iter().any(|table| table.name == "subject_keys" && table.n_rows > 0);
    if is_encrypted && keys.master.is_none() {
        if !had_key {
            std::fs::remove_file(&key_file).with_context(|| format!("could not remove {}", key_file.display()))?;
        }
        bail!(
            "the key file has no master key (the line MASTER+KEY+…), and the backup holds what is encrypted under one; give the whole file"
        );
    }
    let keyring = keys.keyring;
    let options = store_options(&place.data, settings.database_url.as_deref());
    let (progress, shown) = show_progress();
    let now_us = ops::Clock::system().now_us();
    let restored = restore(&options, &arguments.folder, &keyring, now_us, &progress).await;
    drop(progress);
    shown.await.ok();
    if restored.is_err() && !had_key {
        // A key that did not fit must not be there for the next try.
        std::fs::remove_file(&key_file).with_context(|| format!("could not remove {}", key_file.display()))?;
    }
    let Restored { n_rows, verification: found, checkpoint } = match restored {
        Ok(restored) => restored,
        Err(RestoreError::Wrong(found)) => {
            print_lines([serde_json::to_string(&found)?])?;
            return Err(RestoreError::Wrong(found).into());
        }
        Err(error) => return Err(error.into()),
    };
    keys::forget_seals(&place.data)?;
    let checkpoint_file = notary::checkpoint_file(&place.data);
    if let Some(checkpoint) = checkpoint.filter(|_| !checkpoint_file.exists()) {
        // Without them the next start would wonder where they went. It is the head of what there is as well.
        let head_file = notary::head_file(&place.data);
        if !head_file.exists() {
            keys::replace(&head_file, &checkpoint)?;
        }
        keys::replace(&checkpoint_file, &checkpoint)?;
    }
    drop(lock);
    // The last checkpoint beside the database, and the witnesses, may know of more than the backup holds.
    let doubt = match assemble::look(place.data, &settings).await {
        Ok(house) => {
            let standings = house.witness_standings().await;
            house.close().await?;
            standings
                .into_iter()
                .find(|witness| witness.standing.word() != "ok")
                .map(|witness| format!("the witness {} {}", witness.name, witness.standing))
        }
        Err(AssembleError::House(error @ HouseError::Rollback(_))) => Some(format!("{:#}", anyhow::Error::from(error))),
        Err(error) => return Err(error.into()),
    };
    if arguments.json {
        let told = json!({ "restored": true, "created_at": manifest.created_at, "tree_size": found.tree_size,
            "n_rows": n_rows, "n_objects_checked": found.n_objects_checked, "notes": found.notes, "doubt": doubt });
        print_lines([told.to_string()])?;
    } else {
        print_lines([
            format!("{n_rows} rows of {} are restored.", manifest.created_at),
            format!("{} events and {} audited rows verify.", found.n_events_checked, found.n_objects_checked),
        ])?;
        print_lines(found.notes.iter().map(|note| format!("NOTE {note}")))?;
        print_lines(doubt.iter().map(|doubt| format!("BUT {doubt}")))?;
    }
    Ok(if doubt.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn quiet_settings(place: &Place) -> anyhow::Result<Settings> {
    let mut settings = Settings::read(&place.data, &place.flags())?;
    if std::env::var_os("MATERIA_LOG").is_none() {
        "off".clone_into(&mut settings.log);
    }
    telemetry::start(&settings.log, settings.log_format);
    Ok(settings)
}

/// Shows on a terminal how far it is; elsewhere nothing.
fn show_progress() -> (Progress, tokio::task::JoinHandle<()>) {
    let (sender, mut reports) = mpsc::channel::<ProgressReport>(REPORTS_MAX);
    let is_terminal = std::io::stderr().is_terminal();
    let showing = tokio::spawn(async move {
        let mut is_shown = false;
        while let Some(report) = reports.recv().await {
            if is_terminal {
                let total = report.total.map_or(String::new(), |total| format!(" of {total}"));
                eprint!("\r{}{total} {}   ", report.done, report.message);
                // A terminal that cannot be written to has nobody who waits for it.
                std::io::stderr().flush().ok();
                is_shown = true;
            }
        }
        if is_shown {
            say("");
        }
    });
    (Progress::to(sender), showing)
}

/// Moves a folder of files, to another disk if need be.
fn move_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    let shown = || format!("could not move the backup from {} to {}", from.display(), to.display());
    match std::fs::rename(from, to) {
        Err(error) if error.kind() == std::io::ErrorKind::CrossesDevices => {}
        renamed => return renamed.with_context(shown),
    }
    std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), 0o700).create(to).with_context(shown)?;
    if let Err(error) = copy_files(from, to) {
        // Half a backup would be taken for a whole one.
        std::fs::remove_dir_all(to).ok();
        return Err(error).with_context(shown);
    }
    std::fs::remove_dir_all(from).with_context(shown)
}

fn copy_files(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let copy = to.join(entry.file_name());
        std::fs::copy(entry.path(), &copy)?;
        std::fs::File::open(&copy)?.sync_all()?;
    }
    std::fs::File::open(to)?.sync_all()
}
