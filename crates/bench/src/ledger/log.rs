//! A database with the house's tables, writers that insert events, and the notary that may follow them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use contract::actor::{Actor, ActorKind};
use contract::canonical;
use contract::event::{Correlation, Event, EventActor, Outcome};
use contract::time::rfc3339_us;
use ledger::key::LogSigner;
use ledger::keyring::Keyring;
use ops::operations::OPERATIONS;
use ops::{Call, Clock, Notary, Platform, WitnessPolicy};
use serde_json::{Value, json};
use server::settings::Settings;
use server::{assemble, auth};
use store::subject_keys::{MasterKey, SubjectKeys};
use store::{EventRow, Store, Target, log};
use tempfile::TempDir;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::figures::Latencies;
use crate::ids::Engine;
use crate::place;

/// As the server's notary.
const WORK_EVERY: Duration = Duration::from_millis(200);
const LOOK_EVERY: Duration = Duration::from_millis(25);

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sequencing {
    On,
    Off,
}

pub struct Turn {
    pub events_per_s: f64,
    /// From the commit of an event to its place in the tree.
    pub lags: Latencies,
}

pub struct Log {
    pub store: Store,
    platform: Platform,
    actor: Actor,
    _folder: TempDir,
}

impl Log {
    pub async fn open(engine: Engine) -> anyhow::Result<Log> {
        let folder = place::folder()?;
        let target = match engine {
            Engine::Sqlite => Target::Sqlite(folder.path().join("materia.db")),
            Engine::Postgres => Target::Postgres(testkit::postgres_url().await.url),
        };
        let store = Store::open(store::Options {
            target,
            migrations: ops::migrations(),
            n_connections_max: ops::limits::CONNECTIONS_MAX,
            write_queue_max: ops::limits::WRITE_QUEUE_MAX,
            batch_max: ops::limits::WRITE_BATCH_MAX,
        });
        let store = store.await.context("the database does not open")?;
        let settings = Settings::default();
        let options = ops::Options {
            entries: OPERATIONS,
            settings: settings.for_operations(),
            services: assemble::services(folder.path(), &settings).context("the document types cannot be read")?,
            clock: Clock::system(),
            keyring: Keyring::new(LogSigner::generate("bench.example/log", [7; 32]).context("a key")?),
            witness_policy: WitnessPolicy::default(),
            files: workflow::projection::Root::new(folder.path().join("artifacts"), "here".to_owned()),
            checkpoint_file: None,
            known_keys_file: None,
            subject_keys: SubjectKeys::new(&MasterKey::generate()?),
            destroyed_file: None,
        };
        let platform = Platform::open(store.clone(), options).context("the door does not open")?;
        Ok(Log { store, platform, actor: auth::owner(&settings.organisation_id), _folder: folder })
    }

    /// An event as the door writes one.
    pub fn event(actor: &Actor) -> anyhow::Result<EventRow> {
        let recorded_at_us = Clock::system().now_us();
        let event = Event {
            call_id: Uuid::now_v7().to_string(),
            time: rfc3339_us(recorded_at_us),
            organisation_id: actor.organisation_id.clone(),
            actor: EventActor {
                id: actor.id.clone(),
                kind: ActorKind::Agent,
                issuer: None,
                client_id: None,
                key_id: None,
            },
            operation: "list_artifact_types".to_owned(),
            outcome: Outcome::Ok,
            code: None,
            count: None,
            in_hash: canonical::hash(&json!({})).context("a hash")?,
            out_hash: canonical::hash(&json!({ "artifact_types": [] })).context("a hash")?,
            hash_key: None,
            latency_ms: 1,
            objects: Vec::new(),
            kept_as: None,
            correlation: Correlation::default(),
            schema_version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        Ok(EventRow {
            call_id: event.call_id.clone(),
            organisation_id: event.organisation_id.to_string(),
            recorded_at_us,
            actor_id: event.actor.id.to_string(),
            operation: event.operation.clone(),
            outcome: event.outcome.name().to_owned(),
            body: canonical::text(&event).context("an event")?,
        })
    }

    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    pub async fn take_turn(&self, writers: usize, length: Duration, sequencing: Sequencing) -> anyhow::Result<Turn> {
        let n_written = Arc::new(AtomicU64::new(0));
        let stop = CancellationToken::new();
        let following = match sequencing {
            Sequencing::On => {
                Some((self.follow(stop.clone()), self.watch(Arc::clone(&n_written), stop.clone()).await?))
            }
            Sequencing::Off => None,
        };
        let started = Instant::now();
        let mut running = JoinSet::new();
        for _ in 0..writers {
            let (store, actor, n_written) = (self.store.clone(), self.actor.clone(), Arc::clone(&n_written));
            running.spawn(async move {
                while started.elapsed() < length {
                    store.append_events(vec![Log::event(&actor)?]).await?;
                    n_written.fetch_add(1, Ordering::SeqCst);
                }
                anyhow::Ok(())
            });
        }
        while let Some(ended) = running.join_next().await {
            ended.context("a writer panicked")??;
        }
        let elapsed = started.elapsed();
        stop.cancel();
        let mut lags = Latencies::default();
        if let Some((notary, watch)) = following {
            notary.await.context("the notary panicked")??;
            lags = watch.await.context("the watch panicked")??;
        }
        #[expect(clippy::cast_precision_loss, reason = "a rate does not need the last digit")]
        let n_written = n_written.load(Ordering::SeqCst) as f64;
        Ok(Turn { events_per_s: n_written / elapsed.as_secs_f64().max(1e-9), lags })
    }

    /// The notary, until told to stop and nothing waits.
    fn follow(&self, stop: CancellationToken) -> JoinHandle<anyhow::Result<()>> {
        let notary = Notary::new(self.platform.clone());
        tokio::spawn(async move {
            loop {
                notary.work().await?;
                tokio::select! {
                    () = tokio::time::sleep(WORK_EVERY) => {}
                    () = stop.cancelled() => break,
                }
            }
            notary.work().await?;
            Ok(())
        })
    }

    /// Measures how long what is written waits for its place.
    async fn watch(
        &self,
        n_written: Arc<AtomicU64>,
        stop: CancellationToken,
    ) -> anyhow::Result<JoinHandle<anyhow::Result<Latencies>>> {
        let size_before = self.size().await?;
        let store = self.store.clone();
        Ok(tokio::spawn(async move {
            let (mut lags, mut waiting) = (Latencies::default(), VecDeque::new());
            loop {
                let is_over = stop.is_cancelled();
                if !is_over {
                    waiting.push_back((n_written.load(Ordering::SeqCst), Instant::now()));
                }
                let size = log::read_state(&mut *store.read().await?).await?.frontier.size() - size_before;
                while let Some((_, noted)) = waiting.pop_front_if(|(n_written, _)| *n_written <= size) {
                    lags.push(noted.elapsed());
                }
                if is_over && waiting.is_empty() {
                    return Ok(lags);
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
        }))
    }

    pub async fn size(&self) -> anyhow::Result<u64> {
        Ok(log::read_state(&mut *self.store.read().await?).await?.frontier.size())
    }

    /// Gives everything its place and signs it.
    pub async fn settle(&self) -> anyhow::Result<()> {
        Notary::new(self.platform.clone()).finish().await?;
        Ok(())
    }

    /// `audit_verify` through the door.
    pub async fn verify(&self) -> anyhow::Result<Value> {
        let call = Call { operation: "audit_verify".to_owned(), input: json!({}), ..Call::default() };
        Ok(self.platform.call(&self.actor, call).await.result.context("the door refused")?.output)
    }

    /// Speed counts only for a log that is right.
    pub async fn check_whole(&self) -> anyhow::Result<()> {
        self.settle().await?;
        let found = self.verify().await?;
        ensure!(found.get("ok") == Some(&Value::Bool(true)), "the log does not verify: {found}");
        Ok(())
    }

    pub async fn close(self) -> anyhow::Result<()> {
        Ok(self.platform.close().await?)
    }
}
