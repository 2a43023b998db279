//! The language of these tests: one call a line, `actor operation input`, and what came back.

use std::sync::Arc;

use contract::actor::{Actor, ActorKind, Role};
use contract::id::{ActorId, IdempotencyKey, OrganisationId, ProjectId};
use ledger::key::LogSigner;
use ledger::keyring::Keyring;
use ops::{Call, Clock, Entry, Knowledge, Literature, Options, Platform, Remotes, Reply, Services, Settings};
use serde_json::Value;
use store::subject_keys::{MasterKey, SubjectKeys};
use store::{Store, Target};
use workflow::catalogue::LiveCatalogue;

/// Of every test, like the key of the log.
const MASTER_KEY: &str = "MASTER+KEY+63a253ec+0707070707070707070707070707070707070707070707070707070707070707";

/// 2026-02-04T19:00:00Z.
pub const START_US: i64 = 1_770_231_600_000_000;

pub struct Stage {
    pub platform: Platform,
    pub store: Store,
    pub clock: Clock,
    /// Where the documents stand as files.
    pub files: Arc<tempfile::TempDir>,
    target: Target,
    _folder: Option<tempfile::TempDir>,
}

/// The same key in every test.
pub fn keyring() -> Keyring {
    Keyring::new(LogSigner::generate("materia/test", [7; 32]).unwrap())
}

pub fn subject_keys() -> SubjectKeys {
    SubjectKeys::new(&MasterKey::parse(MASTER_KEY).unwrap())
}

pub fn settings() -> Settings {
    Settings {
        default_project_id: ProjectId::parse("default").unwrap(),
        call_deadline: std::time::Duration::from_secs(3),
        reservation_expires_after: std::time::Duration::from_secs(15 * 60),
        reservations_per_minute_max: 10,
        backup_folder: None,
        self_approval: ops::SelfApproval::Owner,
        agents_may_approve: false,
        approval_needs_hash: false,
        confirm_approval: false,
        research: std::collections::BTreeMap::new(),
        task_lease: Some(std::time::Duration::from_secs(60 * 60)),
        issuer_names: Vec::new(),
    }
}

async fn stage(
    target: Target,
    folder: Option<tempfile::TempDir>,
    files: Arc<tempfile::TempDir>,
    entries: &'static [Entry],
    settings: Settings,
    starter: Option<Arc<starter::Files>>,
    remotes: Remotes,
) -> Stage {
    let services = services(&files, starter, remotes);
    let stage = stage_with(target, files, entries, settings, services).await;
    Stage { _folder: folder, ..stage }
}

fn services(files: &tempfile::TempDir, starter: Option<Arc<starter::Files>>, remotes: Remotes) -> Services {
    Services {
        catalogue: LiveCatalogue::open(None).unwrap(),
        remotes,
        evidence: evidence::derived::Derived::new(files.path().join("evidence")),
        literature: None,
        knowledge: None,
        search: evidence::search::searches::Searches::new(files.path().join("search"), || Ok(None), Default::default),
        starter,
    }
}

async fn stage_with(
    target: Target,
    files: Arc<tempfile::TempDir>,
    entries: &'static [Entry],
    settings: Settings,
    services: Services,
) -> Stage {
    let options = store::Options {
        target: target.clone(),
        migrations: ops::migrations(),
        n_connections_max: 8,
        write_queue_max: 1024,
        batch_max: 256,
    };
    let store = Store::open(options).await.unwrap();
    let clock = Clock::manual(START_US);
    let root = workflow::projection::Root::new(files.path().join("artifacts"), "here".to_owned());
    let options = Options {
        entries,
        settings,
        services,
        clock: clock.clone(),
        keyring: keyring(),
        witness_policy: ops::WitnessPolicy::default(),
        files: root,
        checkpoint_file: Some(files.path().join("ledger.checkpoint")),
        known_keys_file: Some(files.path().join("keys.known")),
        subject_keys: subject_keys(),
        destroyed_file: Some(files.path().join("keys.destroyed")),
    };
    let platform = Platform::open(store.clone(), options).unwrap();
    Stage { platform, store, clock, files, target, _folder: None }
}

pub async fn on_sqlite(entries: &'static [Entry]) -> Stage {
    on_sqlite_with(entries, settings()).await
}

pub async fn on_sqlite_with(entries: &'static [Entry], settings: Settings) -> Stage {
    let folder = testkit::temp_dir();
    let target = Target::Sqlite(folder.path().join("materia.db"));
    stage(target, Some(folder), Arc::new(testkit::temp_dir()), entries, settings, None, Remotes::default()).await
}

/// For what is answered from memory: the graph, the index, the texts. What the engines may do in ways of their own, such as SQL
/// that no other test runs, pages and races, is tried on both.
pub async fn sqlite() -> Stage {
    on_sqlite(ops::operations::OPERATIONS).await
}

/// Where others give out ids or keep tasks.
pub async fn on_sqlite_with_remotes(entries: &'static [Entry], remotes: Remotes) -> Stage {
    let folder = testkit::temp_dir();
    let target = Target::Sqlite(folder.path().join("materia.db"));
    stage(target, Some(folder), Arc::new(testkit::temp_dir()), entries, settings(), None, remotes).await
}

pub async fn on_postgres(entries: &'static [Entry]) -> Stage {
    on_postgres_with(entries, settings()).await
}

pub async fn on_postgres_with(entries: &'static [Entry], settings: Settings) -> Stage {
    let target = Target::Postgres(testkit::postgres_url().await.url);
    stage(target, None, Arc::new(testkit::temp_dir()), entries, settings, None, Remotes::default()).await
}

/// `owner` may do everything; `author`, `viewer` and `agent` have the role of their name; `rival` is an owner elsewhere.
pub fn actor(name: &str) -> Actor {
    let roles = match name {
        "owner" | "second" | "rival" => Role::ALL.to_vec(),
        _ => Role::ALL.into_iter().filter(|role| role.name() == name).collect(),
    };
    let organisation = if name == "rival" { "elsewhere" } else { "here" };
    let organisation_id = OrganisationId::parse(organisation).unwrap();
    Actor::new(organisation_id, ActorId::parse(name).unwrap(), ActorKind::Human, roles)
}

impl Stage {
    /// Another process on the same database.
    pub async fn again(&self) -> Stage {
        let files = Arc::clone(&self.files);
        stage(self.target.clone(), None, files, ops::operations::OPERATIONS, settings(), None, Remotes::default()).await
    }

    /// Another house on the same database, with files of its own.
    pub async fn again_elsewhere(&self) -> Stage {
        let (files, entries) = (Arc::new(testkit::temp_dir()), ops::operations::OPERATIONS);
        stage(self.target.clone(), None, files, entries, settings(), None, Remotes::default()).await
    }

    /// Another process on the same database, with facts that come with it.
    pub async fn again_with(&self, starter: starter::Files) -> Stage {
        let (files, entries) = (Arc::new(testkit::temp_dir()), ops::operations::OPERATIONS);
        stage(self.target.clone(), None, files, entries, settings(), Some(Arc::new(starter)), Remotes::default()).await
    }

    /// Another process on the same database, which may ask others for papers and for statements.
    pub async fn again_asking(
        &self,
        literature: Option<Arc<dyn Literature>>,
        knowledge: Option<Arc<dyn Knowledge>>,
    ) -> Stage {
        let (files, entries) = (Arc::new(testkit::temp_dir()), ops::operations::OPERATIONS);
        let services = Services { literature, knowledge, ..services(&files, None, Remotes::default()) };
        stage_with(self.target.clone(), files, entries, settings(), services).await
    }

    pub async fn call(&self, name: &str, operation: &str, input: Value) -> Reply {
        self.call_as(&actor(name), operation, input).await
    }

    pub async fn call_as(&self, actor: &Actor, operation: &str, input: Value) -> Reply {
        let call = Call { operation: operation.to_owned(), input, ..Call::default() };
        self.platform.call(actor, call).await
    }

    pub async fn call_with_key(&self, name: &str, operation: &str, input: Value, key: &str) -> Reply {
        let idempotency_key = Some(IdempotencyKey::parse(key).unwrap());
        let call = Call { operation: operation.to_owned(), input, idempotency_key, ..Call::default() };
        self.platform.call(&actor(name), call).await
    }

    /// `actor operation outcome` of every event, in the order of the calls.
    pub async fn events(&self) -> Vec<String> {
        self.bodies().await.iter().map(shown_event).collect()
    }

    /// The events themselves, those of reads included.
    pub async fn bodies(&self) -> Vec<Value> {
        self.platform.flush().await;
        let mut reader = self.store.read().await.unwrap();
        let rows = reader.fetch_all("SELECT body FROM events ORDER BY call_id", &[]).await.unwrap();
        rows.iter().map(|row| serde_json::from_str(&row.text(0).unwrap()).unwrap()).collect()
    }

    /// As [`Stage::events`], for calls that nobody waited for: looks again until there are so many.
    pub async fn events_when(&self, n: usize) -> Vec<String> {
        for _ in 0..200 {
            let events = self.events().await;
            if events.len() >= n {
                return events;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        self.events().await
    }
}

fn shown_event(body: &Value) -> String {
    let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    format!("event {} {} {}", text("/actor/id"), text("/operation"), text("/outcome"))
}

/// Runs a script on both engines and compares what came back with what was expected.
///
/// `key=K` before the input sends an idempotency key; `+15m` on a line of its own moves the clock; `$reservation` in an
/// input stands for the handle answered last. Handles in answers are shown as `<uuid>`.
pub async fn check(script: &str, expected: &str) {
    let lines = |text: &str| text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    for stage in [on_sqlite(ops::operations::OPERATIONS).await, on_postgres(ops::operations::OPERATIONS).await] {
        let found = run(&stage, script).await;
        assert_eq!(found, lines(expected), "on {:?}", stage.store.engine());
    }
}

async fn run(stage: &Stage, script: &str) -> String {
    let mut told = Vec::new();
    let mut reservation = String::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(minutes) = line.strip_prefix('+').and_then(|rest| rest.strip_suffix('m')) {
            stage.clock.set_us(stage.clock.now_us() + minutes.parse::<i64>().unwrap() * 60_000_000);
            continue;
        }
        let (name, rest) = line.split_once(' ').unwrap();
        let (operation, rest) = rest.split_once(' ').unwrap();
        let input: &str = rest.trim_start_matches(|c| c != '{');
        let input: Value = serde_json::from_str(&input.replace("$reservation", &reservation)).unwrap();
        let reply = match rest.strip_prefix("key=").and_then(|rest| rest.split(' ').next()) {
            Some(key) => stage.call_with_key(name, operation, input, key).await,
            None => stage.call(name, operation, input).await,
        };
        match &reply.result {
            Ok(success) => {
                if let Some(id) = success.output.get("reservation_id").and_then(Value::as_str) {
                    reservation = id.to_owned();
                }
                told.push(
                    success
                        .output
                        .to_string()
                        .replace(&reservation, if reservation.is_empty() { "" } else { "<uuid>" }),
                );
            }
            Err(error) => told.push(format!("{}: {}", error.code(), error.message)),
        }
    }
    told.extend(stage.events().await);
    told.join("\n")
}

/// Many tasks at once.
pub async fn together<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    n: usize,
    task: impl Fn(usize) -> F,
) -> Vec<T> {
    let running: Vec<_> = (0..n).map(|index| tokio::spawn(task(index))).collect();
    let mut results = Vec::new();
    for task in running {
        results.push(task.await.unwrap());
    }
    results
}

pub fn shared(stage: Stage) -> Arc<Stage> {
    Arc::new(stage)
}
