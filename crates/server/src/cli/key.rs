//! `materia key`: make, list and revoke API keys, through the door as the owner of the data folder.

use std::process::ExitCode;

use contract::dialect;
use contract::id::OrganisationId;
use contract::key::{CreatedKey, ListedKey, ListedKeys, RevokedKey};
use ops::Call;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{Place, after_closing, must_be_there, print_answer, say, table};
use crate::assemble;
use crate::auth::owner;
use crate::settings::Settings;
use crate::telemetry;

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  materia key create --actor intake-agent --role agent\n  \
    materia key create --actor reporter --role author --scope id.reserve --expires-in-days 90\n  \
    materia key list\n  materia key revoke 0f3a5c7e9b1d2f40")]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Organisation of the keys [default: the setting `organisation_id`]
    #[arg(long, global = true, value_name = "ID")]
    organisation: Option<String>,
    /// Print the operation's output as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Make a key and print it, this once
    Create(CreateArguments),
    /// List the keys, those in force first
    #[command(after_help = "Examples:\n  materia key list\n  materia key list --organisation clinic-a --json")]
    List,
    /// Revoke a key; servers refuse it within seconds
    #[command(after_help = "Example:\n  materia key revoke 0f3a5c7e9b1d2f40")]
    Revoke {
        /// Id of the key, as `materia key list` shows it
        key_id: String,
    },
}

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  materia key create --actor intake-agent --role agent\n  \
    materia key create --actor reporter --role author --scope id.reserve --expires-in-days 90")]
struct CreateArguments {
    /// Who calls with the key, as events will show it
    #[arg(long = "actor", value_name = "ID")]
    actor_id: String,
    /// viewer, clinician, author, curator, approver, auditor, privacy_officer, admin or agent; may be repeated
    #[arg(long = "role", value_name = "ROLE", required = true)]
    roles: Vec<String>,
    /// Limits the key, as in `id.reserve` or `user/Observation.rs`; may be repeated
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
    /// 1 to 3650; without it the key does not expire
    #[arg(long, value_name = "DAYS")]
    expires_in_days: Option<u32>,
}

pub async fn run(place: Place, arguments: Arguments) -> anyhow::Result<ExitCode> {
    let mut settings = Settings::read(&place.data, &place.flags())?;
    if std::env::var_os("MATERIA_LOG").is_none() {
        "off".clone_into(&mut settings.log);
    }
    telemetry::start(&settings.log, settings.log_format);
    if matches!(arguments.command, Command::List) {
        must_be_there(&place, &settings)?;
    }
    let organisation_id = match &arguments.organisation {
        Some(id) => OrganisationId::parse(id)?,
        None => settings.organisation_id.clone(),
    };
    let (operation, input) = match &arguments.command {
        Command::Create(wanted) => ("create_key", create_input(wanted)),
        Command::List => ("list_keys", json!({})),
        Command::Revoke { key_id } => ("revoke_key", json!({ "key_id": key_id })),
    };
    let house = assemble::look(place.data, &settings).await?;
    let call = Call { operation: operation.to_owned(), input, ..Call::default() };
    let reply = house.call(&owner(&organisation_id), call).await;
    let closed = house.close().await;
    let code = match reply.result {
        Ok(success) if arguments.json => print_answer(reply.call_id, [success.output.to_string()]),
        Ok(success) => print_answer(reply.call_id, shown(&arguments.command, success.output)?),
        Err(error) => {
            say(dialect::body(reply.dialect, &error, Some(&reply.audit)));
            ExitCode::FAILURE
        }
    };
    Ok(after_closing(closed, code))
}

fn create_input(wanted: &CreateArguments) -> Value {
    let mut input =
        Map::from_iter([("actor_id".to_owned(), json!(wanted.actor_id)), ("roles".to_owned(), json!(wanted.roles))]);
    if !wanted.scopes.is_empty() {
        input.insert("scopes".to_owned(), json!(wanted.scopes));
    }
    if let Some(days) = wanted.expires_in_days {
        input.insert("expires_in_days".to_owned(), json!(days));
    }
    Value::Object(input)
}

/// The output for people.
fn shown(command: &Command, output: Value) -> anyhow::Result<Vec<String>> {
    Ok(match command {
        Command::Create(_) => {
            let created: CreatedKey = read(output)?;
            vec![
                format!("key      {}", created.key.as_str()),
                format!("id       {}", created.key_id),
                format!("actor    {}", created.actor_id),
                format!("expires  {}", created.expires_at.as_deref().unwrap_or("never")),
                String::new(),
                "Keep the key now: it is not shown again. Send it as `Authorization: Bearer KEY`.".to_owned(),
            ]
        }
        Command::List => list(&read::<ListedKeys>(output)?.keys),
        Command::Revoke { .. } => {
            let revoked: RevokedKey = read(output)?;
            vec![format!("key {} is revoked since {}", revoked.key_id, revoked.revoked_at)]
        }
    })
}

fn read<T: DeserializeOwned>(output: Value) -> anyhow::Result<T> {
    Ok(serde_json::from_value(output)?)
}

fn list(keys: &[ListedKey]) -> Vec<String> {
    if keys.is_empty() {
        return vec!["No keys. `materia key create` makes one.".to_owned()];
    }
    let words = |items: Vec<String>| if items.is_empty() { "-".to_owned() } else { items.join(",") };
    let rows = keys.iter().map(|key| {
        let time = |time: &Option<String>| time.clone().unwrap_or_else(|| "-".to_owned());
        [
            key.key_id.to_string(),
            key.actor_id.to_string(),
            words(key.roles.iter().map(|role| role.name().to_owned()).collect()),
            words(key.scopes.iter().map(ToString::to_string).collect()),
            key.created_at.clone(),
            time(&key.expires_at),
            time(&key.revoked_at),
        ]
    });
    table::lines(["ID", "ACTOR", "ROLES", "SCOPES", "CREATED", "EXPIRES", "REVOKED"], rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_listed_in_columns_for_people() {
        let keys = serde_json::from_value::<Vec<ListedKey>>(json!([
            {"key_id": "a1", "actor_id": "robot", "roles": ["agent"], "scopes": ["id.reserve", "audit.read"],
             "created_at": "2026-02-04T19:00:00.000Z"},
            {"key_id": "b2", "actor_id": "x", "roles": ["viewer"], "scopes": [],
             "created_at": "2026-02-04T19:00:00.000Z", "revoked_at": "2026-02-05T19:00:00.000Z"},
        ]));
        assert_eq!(
            list(&keys.unwrap()),
            [
                "ID  ACTOR  ROLES   SCOPES                 CREATED                   EXPIRES  REVOKED",
                "a1  robot  agent   id.reserve,audit.read  2026-02-04T19:00:00.000Z  -        -",
                "b2  x      viewer  -                      2026-02-04T19:00:00.000Z  -        2026-02-05T19:00:00.000Z",
            ]
        );
    }
}
