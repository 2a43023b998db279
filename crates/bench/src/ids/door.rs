//! The house in this process, opened as the server opens it, and clients that call its door.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use contract::actor::Actor;
use ops::{Call, Platform};
use serde_json::{Value, json};
use server::owner::House;
use server::settings::Settings;
use server::{assemble, auth, telemetry};
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::{Client, Engine, Turn, gather};
use crate::figures::Latencies;
use crate::place;

pub struct Door {
    house: Arc<House>,
    platform: Platform,
    actor: Actor,
    _folder: TempDir,
}

/// Log lines are formatted as in the server, and thrown away.
pub fn start_telemetry() {
    let logs = tracing_subscriber::fmt().json().flatten_event(true).with_current_span(false).with_span_list(false);
    let logs = logs.with_target(false).with_max_level(tracing_subscriber::filter::LevelFilter::INFO);
    // Fails only when a subscriber is there already.
    drop(logs.with_writer(std::io::sink).try_init());
    telemetry::start_metrics();
}

impl Door {
    pub async fn open(engine: Engine) -> anyhow::Result<Door> {
        let folder = place::folder()?;
        let database_url = match engine {
            Engine::Sqlite => None,
            Engine::Postgres => Some(testkit::postgres_url().await.url),
        };
        let settings = Settings { database_url, ..Settings::default() };
        let house = assemble::enter(folder.path().to_owned(), &settings).await.context("the house does not open")?;
        let platform = house.platform().context("somebody else owns the folder")?;
        Ok(Door { house, platform, actor: auth::owner(&settings.organisation_id), _folder: folder })
    }

    pub async fn take_turn(&self, clients: usize, length: Duration) -> anyhow::Result<Turn> {
        let before = self.platform.store_stats();
        let started = Instant::now();
        let mut running = JoinSet::new();
        for client in 0..clients {
            let (platform, actor) = (self.platform.clone(), self.actor.clone());
            running.spawn(async move { take_ids(&platform, &actor, client, started + length).await });
        }
        let mut turn = gather(started, running).await?;
        let after = self.platform.store_stats();
        turn.n_commits = after.n_commits - before.n_commits;
        turn.n_applies = after.n_applies - before.n_applies;
        Ok(turn)
    }

    pub async fn close(self) -> anyhow::Result<()> {
        drop(self.platform);
        Ok(self.house.close().await?)
    }
}

async fn take_ids(platform: &Platform, actor: &Actor, client: usize, until: Instant) -> anyhow::Result<Client> {
    let (mut latencies, mut numbers) = (Latencies::default(), Vec::new());
    let input =
        json!({ "artifact_type": "backlog_story", "project_id": "bench", "task_id": format!("client-{client}") });
    while Instant::now() < until {
        let call = Call { operation: "get_next_available_id".to_owned(), input: input.clone(), ..Call::default() };
        let asked = Instant::now();
        let reply = platform.call(actor, call).await;
        latencies.push(asked.elapsed());
        let output = reply.result.context("the door refused")?.output;
        let id = output.get("next_id").and_then(Value::as_str).unwrap_or_default();
        let number = id.strip_prefix("US-").and_then(|number| number.parse().ok());
        numbers.push(number.with_context(|| format!("`{id}` is no id"))?);
    }
    Ok((latencies, numbers))
}
