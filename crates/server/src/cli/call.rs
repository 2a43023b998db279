//! `materia call`: one call through the door.

use std::io::Read as _;
use std::process::ExitCode;

use anyhow::Context as _;
use contract::dialect;
use contract::error::OpError;
use contract::id::IdempotencyKey;
use contract::strict::{self, Limits};
use ops::Call;

use super::{Place, after_closing, print_answer, say};
use crate::assemble;
use crate::auth::owner;
use crate::settings::Settings;
use crate::telemetry;

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  materia call list_artifact_types '{}'\n  \
    materia call get_next_available_id '{\"artifact_type\":\"backlog_story\",\"project_id\":\"demo\"}'\n  \
    echo '{\"artifact_type\":\"hls\",\"count\":3}' | materia call reserve_id_range -\n\n\
    The output goes to standard output, an error to standard error. Exit code 0: it succeeded; 1: the operation \
    refused or failed, and says why; 2: the call was not made, as the data folder, the settings or the arguments are wrong; \
    3: it succeeded, and its answer could not be written; 4: it was answered, and could not be \
    recorded.")]
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
    telemetry::start(&settings.log, settings.log_format);
    let text = read_input(&arguments.input)?;
    let input = match strict::parse(&text, Limits::DEFAULT) {
        Ok(input) => input,
        Err(problem) => return refuse(place, &settings, &problem.into()).await,
    };
    let idempotency_key =
        arguments.idempotency_key.as_deref().map(IdempotencyKey::parse).transpose().context("--idempotency-key")?;
    let house = place.enter(&settings).await?;
    let call = Call { operation: arguments.operation, input, idempotency_key, ..Call::default() };
    let reply = house.call(&owner(&settings.organisation_id), call).await;
    let closed = house.close().await;
    let code = match reply.result {
        Ok(success) => {
            let whole = arguments.full.then(|| serde_json::to_string(&success)).transpose()?;
            print_answer(reply.call_id, [whole.unwrap_or_else(|| success.output.to_string())])
        }
        Err(error) => {
            say(dialect::body(reply.dialect, &error, Some(&reply.audit)));
            ExitCode::FAILURE
        }
    };
    Ok(after_closing(closed, code))
}

/// The input as bytes, and no more of them than the parser takes and one: whatever is wrong with it, the parser says.
fn read_input(given: &str) -> anyhow::Result<Vec<u8>> {
    if given != "-" {
        return Ok(given.as_bytes().to_vec());
    }
    let mut text = Vec::new();
    let bytes_max = u64::try_from(Limits::DEFAULT.bytes_max)? + 1;
    std::io::stdin().take(bytes_max).read_to_end(&mut text).context("could not read standard input")?;
    Ok(text)
}

/// What is no call is refused and recorded, as it is over every other protocol.
async fn refuse(place: Place, settings: &Settings, error: &OpError) -> anyhow::Result<ExitCode> {
    say(dialect::common(error));
    let house = assemble::look(place.data, settings).await?;
    house.refusals().note_of(&owner(&settings.organisation_id), "BODY");
    Ok(after_closing(house.close().await, ExitCode::FAILURE))
}
