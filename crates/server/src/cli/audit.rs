//! `materia audit`: what auditors do at a terminal.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use contract::dialect;
use ops::Call;
use serde_json::{Value, json};

use super::{Place, print_lines};
use crate::assemble;
use crate::auth::owner;
use crate::owner::House;
use crate::settings::Settings;
use crate::telemetry;

#[derive(clap::Subcommand)]
#[command(
    after_help = "Examples:\n  materia audit verify\n  materia audit prove 01a1e0e3-f9fc-7058-a70a-e0d6a1d6531a --out ./proof\n  \
    materia audit export --format fhir > events.ndjson\n  materia audit checkpoint > materia.checkpoint"
)]
pub enum Command {
    /// Recompute the whole log and compare every audited row with it; exit code 1 if anything was changed
    Verify {
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write an event and a proof that it is in the log, for `materia-verify`
    Prove {
        /// The call, as its answer named it
        call_id: String,
        /// Folder for `event.json` and `event.tlog-proof`; without it, JSON on standard output
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Print the log, one event a line
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
    /// Print a signed checkpoint of the log as it is now
    Checkpoint,
    /// Print the key that checkpoints are verified with
    Key,
}

pub async fn run(place: Place, command: Command) -> anyhow::Result<ExitCode> {
    let mut settings = Settings::read(&place.data, &place.flags())?;
    if std::env::var_os("MATERIA_LOG").is_none() {
        "off".clone_into(&mut settings.log);
    }
    telemetry::start(&settings.log);
    let house = assemble::enter(place.data, &settings).await?;
    let result = answer(&house, &settings, command).await;
    house.close().await;
    result
}

async fn answer(house: &House, settings: &Settings, command: Command) -> anyhow::Result<ExitCode> {
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
                print_lines(report(&found))?;
            }
            return Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        Command::Prove { call_id, out } => {
            let proof = call("audit_prove", json!({ "call_id": call_id })).await?;
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
                    "verify with: materia-verify proof --event {0}/event.json --proof {0}/event.tlog-proof --key '{1}'",
                    folder.display(),
                    text(&proof, "log_key").lines().next().unwrap_or_default()
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
            let mut left = checkpoint.get("tree_size").and_then(Value::as_u64).unwrap_or(0);
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
            let key = text(&checkpoint, "log_key").lines().next().unwrap_or_default().to_owned();
            for (file, content) in [
                ("events.ndjson", events),
                ("log.checkpoint", text(&checkpoint, "checkpoint")),
                ("log.key", key.clone()),
            ] {
                let path = folder.join(file);
                std::fs::write(&path, content).with_context(|| format!("could not write {}", path.display()))?;
            }
            let shown = folder.display();
            print_lines([
                format!("wrote events.ndjson, log.checkpoint and log.key to {shown}"),
                format!(
                    "verify with: materia-verify log --events {shown}/events.ndjson --checkpoint {shown}/log.checkpoint --key '{key}'"
                ),
            ])?;
        }
        Command::Checkpoint => {
            let checkpoint = call("audit_checkpoint", json!({})).await?;
            print_lines([text(&checkpoint, "checkpoint").trim_end().to_owned()])?;
        }
        Command::Key => {
            let checkpoint = call("audit_checkpoint", json!({})).await?;
            print_lines([text(&checkpoint, "log_key")])?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
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
    let problems = found.get("problems").and_then(Value::as_array).cloned().unwrap_or_default();
    if problems.is_empty() {
        lines.push("The log is whole.".to_owned());
    }
    lines.extend(problems.iter().map(|problem| {
        let place =
            match (problem.get("leaf_index").and_then(Value::as_u64), problem.get("call_id").and_then(Value::as_str)) {
                (Some(index), Some(call)) => format!(" at leaf {index} (call {call})"),
                (Some(index), None) => format!(" at leaf {index}"),
                (None, _) => String::new(),
            };
        format!("WRONG  {}{place}: {}", text(problem, "kind"), text(problem, "message"))
    }));
    lines
}
