//! A house on SQLite with the generated graph in its record.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use contract::actor::Actor;
use contract::evidence::graph::QueryKg;
use contract::evidence::record::Record;
use evidence::graph::Graph;
use evidence::graph::live::{Graphs, snapshot_path};
use evidence::record::put::{self, MayReplace, OtherSources, StarterData};
use evidence::record::{Incoming, lane};
use evidence::sealing::Sealing;
use ledger::key::LogSigner;
use ledger::keyring::Keyring;
use ops::operations::OPERATIONS;
use ops::{Call, Clock, Platform, WitnessPolicy};
use serde_json::{Value, json};
use server::settings::Settings;
use server::{assemble, auth};
use store::subject_keys::{MasterKey, SubjectKeys};
use store::{Applied, Apply, Keep, Store, Target};
use tempfile::TempDir;

use super::generated::Generated;
use crate::figures::{print, rounded};
use crate::place;

/// Edges that go through the whole door; the others are put into the record in the same batches behind it.
const THROUGH_THE_DOOR: usize = 100_000;
const BATCH: usize = 1_000;
const ANYTHING: MayReplace = MayReplace { starter: StarterData::MayChange, other_sources: OtherSources::MayChange };

pub struct House {
    store: Store,
    platform: Platform,
    graphs: Graphs,
    actor: Actor,
    folder: TempDir,
}

impl House {
    pub async fn open() -> anyhow::Result<House> {
        let folder = place::folder()?;
        let store = Store::open(store::Options {
            target: Target::Sqlite(folder.path().join("materia.db")),
            migrations: ops::migrations(),
            n_connections_max: ops::limits::CONNECTIONS_MAX,
            write_queue_max: ops::limits::WRITE_QUEUE_MAX,
            batch_max: ops::limits::WRITE_BATCH_MAX,
        });
        let store = store.await.context("the database does not open")?;
        let settings = Settings::default();
        let services = assemble::services(folder.path(), &settings).context("the document types cannot be read")?;
        let derived = services.evidence.clone();
        let options = ops::Options {
            entries: OPERATIONS,
            settings: settings.for_operations(),
            services,
            clock: Clock::system(),
            keyring: Keyring::new(LogSigner::generate("bench.example/log", [7; 32]).context("a key")?),
            witness_policy: WitnessPolicy::default(),
            checkpoint_file: None,
            known_keys_file: None,
            subject_keys: SubjectKeys::new(&MasterKey::generate()?),
            destroyed_file: None,
            files: workflow::projection::Root::new(folder.path().join("artifacts"), "here".to_owned()),
        };
        let platform = Platform::open(store.clone(), options).context("the door does not open")?;
        let graphs = derived.graphs()?.clone();
        Ok(House { store, platform, graphs, actor: auth::owner(&settings.organisation_id), folder })
    }

    fn organisation_id(&self) -> &str {
        self.actor.organisation_id.as_str()
    }

    pub async fn graph(&self) -> anyhow::Result<Arc<Graph>> {
        Ok(self.graphs.graph(self.organisation_id(), None).await?)
    }

    /// Keeps all records, and answers how many edges a second went through the door.
    pub async fn fill(&self, generated: &Generated) -> anyhow::Result<f64> {
        let first: Vec<Record> = std::iter::once(Generated::source()).chain(generated.nodes()).collect();
        for batch in first.chunks(BATCH) {
            self.put_behind_the_door(batch).await?;
        }
        let edges: Vec<Record> = generated.records(0).collect();
        let (through, behind) = edges.split_at(THROUGH_THE_DOOR.min(edges.len()));
        let started = Instant::now();
        for batch in through.chunks(BATCH) {
            let records: Vec<Value> = batch.iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
            let call =
                Call { operation: "put_records".to_owned(), input: json!({ "records": records }), ..Call::default() };
            let answered = self.platform.call(&self.actor, call).await.result.map_err(|error| anyhow!("{error}"))?;
            anyhow::ensure!(answered.output["kept"] == batch.len(), "not all edges were kept");
        }
        let took = started.elapsed().as_secs_f64();
        for batch in behind.chunks(BATCH) {
            self.put_behind_the_door(batch).await?;
        }
        self.tell().await?;
        Ok(super::figure(through.len()) / took)
    }

    /// Adds edges over the same nodes, until there are so many.
    pub async fn add(&self, generated: &Generated, n_edges: usize) -> anyhow::Result<()> {
        let n_more = n_edges.saturating_sub(generated.edges.iter().map(Vec::len).sum());
        let more: Vec<Record> = generated.records(1).take(n_more).collect();
        for batch in more.chunks(BATCH) {
            self.put_behind_the_door(batch).await?;
        }
        self.tell().await
    }

    async fn put_behind_the_door(&self, batch: &[Record]) -> anyhow::Result<()> {
        let incoming: Result<Vec<Incoming>, _> =
            (0..).zip(batch).map(|(position, record)| Incoming::new(position, record)).collect();
        let (incoming, organisation_id) = (Arc::new(incoming?), self.organisation_id().to_owned());
        let in_lane = lane(&organisation_id);
        let apply: Apply<usize> = Box::new(move |tx| {
            let (incoming, organisation_id) = (Arc::clone(&incoming), organisation_id.clone());
            Box::pin(async move {
                let kept = put::put(tx, &organisation_id, &incoming, ANYTHING).await?;
                Ok(Applied { value: kept.rejected.len(), event: None, keep: Keep::Changes })
            })
        });
        let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
        let n_rejected = self.store.write(Some(in_lane), deadline, apply).await?;
        anyhow::ensure!(n_rejected == 0, "{n_rejected} records were rejected");
        Ok(())
    }

    /// Lets the graph know that the record was changed behind the door.
    async fn tell(&self) -> anyhow::Result<()> {
        let mut reader = self.store.read().await?;
        let version = evidence::record::batches::latest(&mut reader, self.organisation_id()).await?;
        self.graphs.note(self.organisation_id(), version);
        Ok(())
    }

    /// One question through the whole door.
    pub async fn call(&self, asked: &QueryKg) -> anyhow::Result<Duration> {
        let call = Call { operation: "query_kg".to_owned(), input: serde_json::to_value(asked)?, ..Call::default() };
        let started = Instant::now();
        self.platform.call(&self.actor, call).await.result.map_err(|error| anyhow!("{error}"))?;
        Ok(started.elapsed())
    }

    /// How long it takes until the first question can be answered, without and with a snapshot.
    pub async fn measure_start(&self) -> anyhow::Result<()> {
        let folder = self.folder.path().join("evidence");
        let path = snapshot_path(&folder, self.organisation_id());
        drop(std::fs::remove_file(&path));
        let (mut seconds, sealing) = (Vec::new(), Sealing::new(&[[7; 32]]));
        let mut n_edges = 0;
        for _ in 0..2 {
            let fresh = Graphs::new(self.store.clone(), folder.clone(), sealing.clone());
            let started = Instant::now();
            n_edges = fresh.graph(self.organisation_id(), None).await?.n_edges();
            seconds.push(started.elapsed().as_secs_f64());
            // It is kept in the background.
            while !path.is_file() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
        let snapshot_bytes = std::fs::metadata(&path).map_or(0, |it| it.len());
        print(&json!({
            "bench": "graph", "part": "start", "edges": n_edges, "read_all_s": seconds.first().copied().map(rounded),
            "snapshot_s": seconds.last().copied().map(rounded), "snapshot_bytes": snapshot_bytes,
        }))
    }
}
