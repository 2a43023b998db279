//! `materia call`: one call through the door.

use std::io::Read as _;
use std::process::ExitCode;

use anyhow::Context as _;
use contract::dialect;
use contract::id::IdempotencyKey;
use contract::strict::{self, Limits};
use ops::Call;

use super::{Place, print_lines, say};
use crate::assemble;
use crate::auth::owner;
use crate::settings::Settings;
use crate::telemetry;

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  materia call list_artifact_types '{}'\n  \
    materia call get_next_available_id '{\"artifact_type\":\"backlog_story\",\"project_id\":\"demo\"}'\n  \
    echo '{\"artifact_type\":\"hls\",\"count\":3}' | materia call reserve_id_range -\n\n\
    The output goes to standard output, an error to standard error. Exit code 0: it succeeded; 1: the operation \
    refused or failed, and says why; 2: the call was not made, as the data folder, the settings or the arguments are wrong.")]
pub struct Arguments {
    /// Name of the operation; `materia tools` lists them
    operation: String,
    /// Input as JSON, or `-` to read it from standard input
    #[arg(default_value = "{}")]
    input: String,
    /// A repeated write with the same key answers as the first one did
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Print the whole answer: `output`, `artifacts`, and the `metadata` that say why, from when and under which licences
    #[arg(long)]
    full: bool,
}

pub async fn run(place: Place, arguments: Arguments) -> anyhow::Result<ExitCode> {
    let mut settings = Settings::read(&place.data, &place.flags())?;
    if std::env::var_os("MATERIA_LOG").is_none() {
        // The error itself is printed; the log line about it would only repeat it.
        "off".clone_into(&mut settings.log);
    }
    telemetry::start(&settings.log);
    let text = match arguments.input.as_str() {
        "-" => {
            let mut text = String::new();
            let bytes_max = u64::try_from(Limits::DEFAULT.bytes_max)? + 1;
            std::io::stdin().take(bytes_max).read_to_string(&mut text).context("could not read standard input")?;
            text
        }
        given => given.to_owned(),
    };
    let input = match strict::parse(text.as_bytes(), Limits::DEFAULT) {
        Ok(input) => input,
        Err(error) => {
            say(dialect::common(&error.into()));
            return Ok(ExitCode::FAILURE);
        }
    };
    let idempotency_key =
        arguments.idempotency_key.as_deref().map(IdempotencyKey::parse).transpose().context("--idempotency-key")?;
    let house = assemble::enter(place.data, &settings).await?;
    let call = Call { operation: arguments.operation, input, idempotency_key, ..Call::default() };
    let reply = house.call(&owner(&settings.organisation_id), call).await;
    house.close().await;
    match reply.result {
        Ok(success) => {
            let whole = arguments.full.then(|| serde_json::to_string(&success)).transpose()?;
            print_lines([whole.unwrap_or_else(|| success.output.to_string())])?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            say(dialect::body(reply.dialect, &error, Some(&reply.audit)));
            Ok(ExitCode::FAILURE)
        }
    }
}
