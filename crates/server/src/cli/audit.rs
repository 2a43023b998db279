//! `materia audit`: what auditors do at a terminal.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use contract::dialect;
use ledger::checkpoint::SignedCheckpoint;
use ledger::keyring::Keyring;
use ops::Call;
use serde_json::{Value, json};
use store::OpenError;

use super::{Place, after_closing, must_have_log, print_lines, say};
use crate::assemble::{self, AssembleError};
use crate::auth::owner;
use crate::owner::notary::{RollbackError, checkpoint_file};
use crate::owner::witnesses::{Standing, WitnessStanding};
use crate::owner::{House, HouseError, keys};
use crate::settings::Settings;
use crate::settings::witness::Witness;
use crate::telemetry;

#[derive(clap::Subcommand)]
#[command(
    after_help = "Examples:\n  materia audit verify\n  materia audit prove 01a1e0e3-f9fc-7058-a70a-e0d6a1d6531a --out ./proof\n  \
    materia audit export --format fhir > events.ndjson\n  materia audit checkpoint > materia.checkpoint\n  \
    materia audit rotate-key"
)]
pub enum Command {
    /// Recompute the whole log and compare every audited row with it; exit code 1 if anything was changed
    #[command(after_help = "Examples:\n  materia audit verify\n  materia audit verify --json")]
    Verify {
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write an event and a proof that it is in the log, for `materia-verify`
    #[command(after_help = "Example:\n  materia audit prove 01a1e0e3-f9fc-7058-a70a-e0d6a1d6531a --out ./proof\n\n\
        Who gets the folder needs only `materia-verify` and the log's key (`materia audit key`).")]
    Prove {
        /// The call, as its answer named it
        call_id: String,
        /// Folder for `event.json` and `event.tlog-proof`; without it, JSON on standard output
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Print the log, one event a line
    #[command(
        after_help = "Examples:\n  materia audit export > events.ndjson\n  materia audit export --format fhir --from 1000\n  \
        materia audit export --out ./log\n\n\
        A line of `ndjson` is {\"leaf_index\":N,\"event\":\"…\"}: `event` holds the exact bytes that were hashed, themselves \
        JSON. An event of another organisation is there by its hash alone, {\"leaf_index\":N,\"leaf_hash\":\"…\"}: the log has \
        one order over all of them. A line of `fhir` is an AuditEvent of FHIR R4."
    )]
    Export {
        #[arg(long, default_value = "ndjson", value_parser = ["ndjson", "fhir"])]
        format: String,
        /// First leaf
        #[arg(long, default_value_t = 0)]
        from: u64,
        /// Folder for `events.ndjson`, `log.checkpoint` and `log.key`: all that `materia-verify log` needs
        #[arg(long, value_name = "DIR", conflicts_with_all = ["from", "format"])]
        out: Option<PathBuf>,
    },
    /// Print a signed checkpoint of the log as it is now, or a proof that it continues an earlier one
    #[command(after_help = "Examples:\n  materia audit checkpoint > monday.checkpoint\n  \
        materia audit checkpoint --since monday.checkpoint > since-monday.proof\n  \
        materia-verify consistency --previous monday.checkpoint --proof since-monday.proof --key \"$(cat log.key)\"")]
    Checkpoint {
        /// An earlier checkpoint: prints the proof that the log of now continues it, for `materia-verify consistency`
        #[arg(long, value_name = "FILE")]
        since: Option<PathBuf>,
    },
    /// Print the key that checkpoints are verified with; two while keys overlap, the new one first
    #[command(after_help = "Example:\n  materia audit key > log.key")]
    Key,
    /// Make a new signing key; the old one signs too until `retire-key`, so that everybody can change over meanwhile
    #[command(
        after_help = "Example:\n  materia audit rotate-key\n\nBoth keys sign from the next start of each server on. Servers that share a database share the key file: copy it, \
        then restart them. Give the new key to witnesses (`materia witness trust`) and to whoever verifies, then run \
        `materia audit retire-key`. What the old key signed stays verifiable: its public half is kept."
    )]
    RotateKey,
    /// End the overlap: the old key signs no more and is deleted; its public half stays
    #[command(
        after_help = "Example:\n  materia audit retire-key\n\nRefused until a checkpoint carries both signatures."
    )]
    RetireKey,
}

pub async fn run(place: Place, command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::RotateKey => return change_key(&place, rotate),
        Command::RetireKey => return change_key(&place, retire),
        Command::Verify { .. }
        | Command::Prove { .. }
        | Command::Export { .. }
        | Command::Checkpoint { .. }
        | Command::Key => {}
    }
    let mut settings = Settings::read(&place.data, &place.flags())?;
    if std::env::var_os("MATERIA_LOG").is_none() {
        "off".clone_into(&mut settings.log);
    }
    telemetry::start(&settings.log, settings.log_format);
    must_have_log(&place, &settings).await?;
    let key_file = key_file(&place, &settings);
    let house = match assemble::look(place.data, &settings).await {
        Ok(house) => house,
        // Found to be wrong, not impossible to check.
        Err(error) => match (&command, wrong(&error)) {
            (Command::Verify { json }, Some(problem)) => return tell(*json, problem),
            (_, _) => return Err(error.into()),
        },
    };
    let result = answer(&house, &settings, &key_file, command).await;
    let closed = house.close().await;
    result.map(|code| after_closing(closed, code))
}

fn key_file(place: &Place, settings: &Settings) -> PathBuf {
    settings.ledger_key_file.clone().unwrap_or_else(|| place.data.join("ledger.key"))
}

/// What is wrong with a record that cannot even be opened, if that is why: its kind and what to say. Where nobody could
/// look, nothing was found.
fn wrong(error: &AssembleError) -> Option<(&'static str, String)> {
    let AssembleError::House(error) = error else { return None };
    let damaged = |what: String| Some(("table", format!("{what}; restore a backup (`materia restore`)")));
    match error {
        HouseError::Rollback(RollbackError::Damaged(error)) => damaged(error.to_string()),
        HouseError::Rollback(
            error @ (RollbackError::Shorter { .. }
            | RollbackError::Empty { .. }
            | RollbackError::Different { .. }
            | RollbackError::NothingKept
            | RollbackError::NoHead { .. }
            | RollbackError::OtherKey { .. }
            | RollbackError::OtherLog
            | RollbackError::Witness(_)),
        ) => Some(("checkpoint", error.to_string())),
        HouseError::Store(opening) => match opening {
            OpenError::Connect { error } | OpenError::ReadMigrations { error } | OpenError::Migrate { error, .. }
                if error.is_damage() =>
            {
                damaged(format!("{opening}: {error}"))
            }
            OpenError::ReadEvents { error } if error.is_damage() => damaged(opening.to_string()),
            OpenError::ChangedMigration { .. } | OpenError::Damaged { .. } => damaged(opening.to_string()),
            OpenError::Connect { .. }
            | OpenError::Unreachable { .. }
            | OpenError::ReadMigrations { .. }
            | OpenError::ReadEvents { .. }
            | OpenError::Migrate { .. }
            | OpenError::CreateFile { .. }
            | OpenError::ParseUrl { .. }
            | OpenError::SqliteTooOld { .. }
            | OpenError::SchemaTooNew { .. }
            | OpenError::DuplicateMigration { .. } => None,
        },
        HouseError::Rollback(RollbackError::Log(_) | RollbackError::File { .. })
        | HouseError::Folder { .. }
        | HouseError::Table(_)
        | HouseError::Platform(_)
        | HouseError::Key(_)
        | HouseError::Witnesses(_)
        | HouseError::OtherDatabase
        | HouseError::Guest(_)
        | HouseError::Destroyed(_)
        | HouseError::Socket { .. } => None,
    }
}

fn tell(is_json: bool, (kind, message): (&'static str, String)) -> anyhow::Result<ExitCode> {
    if is_json {
        let problem = json!({ "kind": kind, "message": message });
        let found = json!({ "ok": false, "n_events_checked": 0, "n_problems": 1, "problems": [problem] });
        print_lines([found.to_string()])?;
    } else {
        print_lines([format!("WRONG  {kind}: {message}")])?;
    }
    Ok(ExitCode::FAILURE)
}

/// Changes the key file. It is read when a server starts.
fn change_key(
    place: &Place,
    change: fn(Keyring, &Path) -> anyhow::Result<(Keyring, String)>,
) -> anyhow::Result<ExitCode> {
    let settings = Settings::read(&place.data, &place.flags())?;
    let path = key_file(place, &settings);
    if !path.exists() {
        bail!("there is no key in {}: this folder has no log yet", path.display());
    }
    let found = keys::read(&path)?;
    let (keyring, told) = change(found.keyring, &place.data)?;
    let changed = keys::KeyFile { keyring, ..found };
    keys::write(&path, &changed)?;
    let shown = changed.keyring.verifiers().into_iter().map(|key| key.to_string());
    let restart = format!("Written to {}; restart the servers that use it.", path.display());
    print_lines(std::iter::once(told).chain(shown).chain([restart]))?;
    Ok(ExitCode::SUCCESS)
}

fn rotate(keyring: Keyring, _data: &Path) -> anyhow::Result<(Keyring, String)> {
    let new = keys::new_signer(keyring.origin())?;
    Ok((keyring.rotate(new)?, "Two keys sign from the next start on, the new one and the old one:".to_owned()))
}

fn retire(keyring: Keyring, data: &Path) -> anyhow::Result<(Keyring, String)> {
    if !keyring.is_overlapping() {
        bail!("there is one key only; `materia audit rotate-key` makes the next one");
    }
    if !is_signed_by_all(&keyring, data) {
        bail!(
            "no checkpoint in {} carries both signatures yet: whoever trusts the old key could not tell that the new one \
             continues the same log. Start the server again if it ran when the key was made; with the next events, within a \
             minute or when it stops, both keys sign",
            data.display()
        );
    }
    Ok((keyring.retire(), "One key signs from the next start on:".to_owned()))
}

/// Whether the newest checkpoint of the data folder is signed by every key that signs.
fn is_signed_by_all(keyring: &Keyring, data: &Path) -> bool {
    let keys = keyring.verifiers();
    let note = std::fs::read(checkpoint_file(data)).unwrap_or_default();
    let Ok(signed) = SignedCheckpoint::parse(&note) else { return false };
    signed.note().signed_by(&keys).is_ok_and(|found| found.len() == keys.len())
}

/// The keys of the file, and those that a running server signs with: it reads the file when it starts.
fn all_keys(key_file: &Path, of_server: &str) -> Vec<String> {
    let of_file = keys::find(key_file).ok().flatten().map(|keys| keys.keyring.verifiers()).unwrap_or_default();
    let mut all: Vec<String> = of_file.iter().map(ToString::to_string).collect();
    let others: Vec<String> = of_server.lines().map(str::to_owned).filter(|key| !all.contains(key)).collect();
    all.extend(others);
    all
}

/// Where nobody outside was asked, the log may be whole and older than it was.
fn unheard_line(witness: &WitnessStanding) -> Option<String> {
    let why = match &witness.standing {
        Standing::Unreachable { reason } | Standing::Refused { reason } => reason.as_str(),
        Standing::Unknown => "it was not asked yet",
        Standing::Cosigned { .. } | Standing::Ahead { .. } | Standing::Forked { .. } => return None,
    };
    Some(format!("NOTE   the witness `{}` vouches for nothing of this: {why}", witness.name))
}

async fn answer(house: &House, settings: &Settings, key_file: &Path, command: Command) -> anyhow::Result<ExitCode> {
    let call = async |operation: &str, input: Value| -> anyhow::Result<Value> {
        let call = Call { operation: operation.to_owned(), input, ..Call::default() };
        let reply = house.call(&owner(&settings.organisation_id), call).await;
        match reply.result {
            Ok(success) => Ok(success.output),
            Err(error) => bail!("{}", dialect::common(&error)),
        }
    };
    match command {
        Command::Verify { json } => {
            let found = call("audit_verify", json!({})).await?;
            let is_fine = found.get("ok") == Some(&Value::Bool(true));
            if json {
                print_lines([found.to_string()])?;
            } else {
                let unheard = house.witness_standings().await;
                print_lines(report(&found).into_iter().chain(unheard.iter().filter_map(unheard_line)))?;
            }
            return Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        Command::Prove { call_id, out } => {
            let proof = call("audit_prove", json!({ "call_id": call_id })).await?;
            say_uncosigned(&text(&proof, "checkpoint"), settings);
            let Some(folder) = out else {
                print_lines([proof.to_string()])?;
                return Ok(ExitCode::SUCCESS);
            };
            std::fs::create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
            for (file, content) in
                [("event.json", text(&proof, "event_json")), ("event.tlog-proof", text(&proof, "proof"))]
            {
                let path = folder.join(file);
                std::fs::write(&path, content).with_context(|| format!("could not write {}", path.display()))?;
            }
            print_lines([
                format!("wrote event.json and event.tlog-proof to {}", folder.display()),
                format!(
                    "verify with: materia-verify proof --event {0}/event.json --proof {0}/event.tlog-proof --key '{1}'{2}",
                    folder.display(),
                    text(&proof, "log_key").lines().next().unwrap_or_default(),
                    witness_arguments(
                        cosigners(&text(&proof, "checkpoint"), settings),
                        settings.witness_cosignatures_min
                    )
                ),
            ])?;
        }
        Command::Export { format, from, out: None } => {
            let mut next = Some(from);
            while let Some(from_index) = next {
                let page = call("audit_export", json!({ "format": format, "from_index": from_index })).await?;
                print_lines(lines(&page))?;
                next = page.get("next_index").and_then(Value::as_u64);
            }
        }
        Command::Export { out: Some(folder), .. } => {
            let checkpoint = call("audit_checkpoint", json!({})).await?;
            // What witnesses vouch for is worth more than the last minute.
            let (note, log_key, witnesses) = match checkpoint.get("cosigned_checkpoint").and_then(Value::as_str) {
                Some(note) => (note.to_owned(), text(&checkpoint, "cosigned_log_key"), settings.witness.as_slice()),
                None => (text(&checkpoint, "checkpoint"), text(&checkpoint, "log_key"), [].as_slice()),
            };
            let mut left = SignedCheckpoint::parse(note.as_bytes())?.unverified().size();
            let tree_size = checkpoint.get("tree_size").and_then(Value::as_u64).unwrap_or(left);
            let n_uncosigned = tree_size.saturating_sub(left);
            std::fs::create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
            let mut events = String::new();
            let mut from_index = 0;
            // The export itself is an event, so the log grows meanwhile; what the checkpoint covers is enough.
            while left > 0 {
                let page = call("audit_export", json!({ "format": "ndjson", "from_index": from_index })).await?;
                let page: Vec<String> = lines(&page).take(usize::try_from(left)?).collect();
                if page.is_empty() {
                    bail!("the log ended before its checkpoint; run `materia audit verify`");
                }
                let n_lines = u64::try_from(page.len())?;
                (left, from_index) = (left - n_lines, from_index + n_lines);
                events.extend(page.into_iter().flat_map(|line| [line, "\n".to_owned()]));
            }
            let keys: String = log_key.lines().map(|key| format!(" --key '{key}'")).collect();
            let log_key = format!("{log_key}\n");
            for (file, content) in [("events.ndjson", events), ("log.checkpoint", note), ("log.key", log_key)] {
                let path = folder.join(file);
                std::fs::write(&path, content).with_context(|| format!("could not write {}", path.display()))?;
            }
            let shown = folder.display();
            let waiting = format!("{n_uncosigned} newer events wait for a cosignature and are not in it");
            let verify = format!(
                "verify with: materia-verify log --events {shown}/events.ndjson --checkpoint \
                 {shown}/log.checkpoint{keys}{}",
                witness_arguments(witnesses, settings.witness_cosignatures_min)
            );
            print_lines(
                std::iter::once(format!("wrote events.ndjson, log.checkpoint and log.key to {shown}"))
                    .chain(Some(waiting).filter(|_| n_uncosigned > 0))
                    .chain([verify]),
            )?;
        }
        Command::Checkpoint { since: None } => {
            let checkpoint = call("audit_checkpoint", json!({})).await?;
            let note = text(&checkpoint, newest_name(&checkpoint));
            say_uncosigned(&note, settings);
            print_lines([note.trim_end().to_owned()])?;
        }
        Command::Checkpoint { since: Some(path) } => {
            let earlier = std::fs::read(&path).with_context(|| format!("could not read {}", path.display()))?;
            let earlier =
                SignedCheckpoint::parse(&earlier).with_context(|| format!("{} is not a checkpoint", path.display()))?;
            let since_size = earlier.unverified().size();
            let checkpoint = call("audit_checkpoint", json!({ "since_size": since_size })).await?;
            print_lines([text(&checkpoint, "consistency").trim_end().to_owned()])?;
        }
        // Changed before anything was opened.
        Command::RotateKey | Command::RetireKey => {}
        Command::Key => {
            let checkpoint = call("audit_checkpoint", json!({})).await?;
            print_lines(all_keys(key_file, &text(&checkpoint, "log_key")))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Which of the two checkpoints of an answer to print: the one that witnesses vouch for, where it is as new as the other.
fn newest_name(answer: &Value) -> &'static str {
    let size =
        |name: &str| SignedCheckpoint::parse(text(answer, name).as_bytes()).map(|signed| signed.unverified().size());
    match (size("cosigned_checkpoint"), size("checkpoint")) {
        (Ok(cosigned), Ok(own)) if cosigned >= own => "cosigned_checkpoint",
        (_, _) => "checkpoint",
    }
}

/// The witnesses to ask for, if enough of them cosigned the checkpoint.
fn cosigners<'s>(note: &str, settings: &'s Settings) -> &'s [Witness] {
    let Ok(signed) = SignedCheckpoint::parse(note.as_bytes()) else { return &[] };
    let keys: Vec<_> = settings.witness.iter().filter_map(|witness| witness.verifier().ok()).collect();
    let n_cosigned = signed.note().signed_by(&keys).map_or(0, |found| found.len());
    let n_wanted = settings.witness_cosignatures_min.unwrap_or(settings.witness.len());
    if n_cosigned >= n_wanted { &settings.witness } else { &[] }
}

/// Says beside the answer that the witnesses do not vouch for it yet, and when to ask again.
fn say_uncosigned(note: &str, settings: &Settings) {
    if !settings.witness.is_empty() && cosigners(note, settings).is_empty() {
        say("This checkpoint is not cosigned yet: witnesses cosign within about a minute. Ask again then.");
    }
}

fn witness_arguments(witnesses: &[Witness], n_cosignatures_min: Option<usize>) -> String {
    let keys: String = witnesses.iter().map(|witness| format!(" --witness '{}'", witness.key)).collect();
    match n_cosignatures_min {
        Some(n_min) if !witnesses.is_empty() => format!("{keys} --threshold {n_min}"),
        Some(_) | None => keys,
    }
}

fn lines(page: &Value) -> impl Iterator<Item = String> + use<> {
    let lines = page.get("lines").and_then(Value::as_array).cloned().unwrap_or_default();
    lines.into_iter().filter_map(|line| line.as_str().map(str::to_owned))
}

fn report(found: &Value) -> Vec<String> {
    let number = |name: &str| found.get(name).and_then(Value::as_u64).unwrap_or(0);
    let mut lines = vec![format!(
        "{} events and {} audited rows checked, root {}",
        number("n_events_checked"),
        number("n_objects_checked"),
        text(found, "root_hash")
    )];
    if number("n_events_waiting") > 0 {
        lines.push(format!("{} events are recorded and wait for their place in it.", number("n_events_waiting")));
    }
    if let Some(size) = found.get("cosigned_size").and_then(Value::as_u64) {
        lines.push(format!("The witnesses vouch for the first {size} of them."));
    }
    let problems = found.get("problems").and_then(Value::as_array).cloned().unwrap_or_default();
    if found.get("ok") == Some(&Value::Bool(true)) {
        lines.push("The log is whole.".to_owned());
    }
    lines.extend(problems.iter().map(|problem| {
        let place =
            match (problem.get("leaf_index").and_then(Value::as_u64), problem.get("call_id").and_then(Value::as_str)) {
                (Some(index), Some(call)) => format!(" at leaf {index} (call {call})"),
                (Some(index), None) => format!(" at leaf {index}"),
                (None, Some(call)) => format!(" (call {call})"),
                (None, None) => String::new(),
            };
        format!("WRONG  {}{place}: {}", text(problem, "kind"), text(problem, "message"))
    }));
    let notes = found.get("notes").and_then(Value::as_array).into_iter().flatten();
    lines.extend(notes.filter_map(Value::as_str).map(|note| format!("NOTE   {note}")));
    let n_shown = u64::try_from(problems.len()).unwrap_or(u64::MAX);
    let n_hidden = number("n_problems").saturating_sub(n_shown);
    if n_hidden > 0 {
        lines.push(format!("These are the first {n_shown} of {} problems.", number("n_problems")));
    }
    lines
}
