//! The one door. Authorise, validate, run, validate, stamp, record, answer: in this order, for every caller.

mod lines;
mod recording;

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use contract::actor::Actor;
use contract::audit::AuditBlock;
use contract::dialect::Dialect;
use contract::envelope::{Artifact, ResponseMetadata};
use contract::error::{Kind, OpError};
use contract::event::{Correlation, Outcome};
use contract::id::IdempotencyKey;
use evidence::sealing::Sealing;
use futures::FutureExt;
use ledger::keyring::Keyring;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::subject_keys::SubjectKeys;
use store::{EventQueue, Store};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use workflow::projection::Root;

use self::lines::log_started;
use crate::acting::Acting;
use crate::authorise;
use crate::clock::Clock;
use crate::context::{Progress, Services, Settings};
use crate::destroyed::Destroyed;
use crate::dialogue::Answers;
use crate::drive::Driven;
use crate::entry::Entry;
use crate::family::Family;
use crate::files::Files;
use crate::hashing::Hashing;
use crate::keys::known::KnownKeys;
use crate::keys::seals::Seals;
use crate::limits;
use crate::misses::Misses;
use crate::operation::{Record, store_error};
use crate::operations;
use crate::outlasting::{Left, Outlasting};
use crate::record::{Spent, Ticket, Unrecorded, correlate};
use crate::refusals::{self, RefusalCounter, Refused};
use crate::seal::Sealer;
use crate::table::{Table, TableError, Tool};
use crate::watch::{LogStanding, LogWatch};
use crate::witnesses::WitnessPolicy;

/// What the files of derived state are sealed for.
const DERIVED: &str = "materia derived v1";

/// How a call came here, where that matters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// From a page, a command line or a program that somebody wrote for it.
    #[default]
    Direct,
    /// From an MCP client, in which a model acts for a person.
    Mcp,
    /// From a server that approves a document, or stores one under an id of its own. Only believed of those who may
    /// approve.
    Approval,
}

/// A call as a surface hands it in. Strings in `input` are already within the limits of the strict parser.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub struct Call {
    pub operation: String,
    pub input: Value,
    #[serde(default)]
    pub correlation: Correlation,
    #[serde(default)]
    pub idempotency_key: Option<IdempotencyKey>,
    #[serde(default)]
    pub via: Via,
    /// For whom the caller acts, where it says so.
    #[serde(default)]
    pub acting: Option<Acting>,
    #[serde(default)]
    pub answers: Answers,
    #[serde(skip)]
    pub progress: Progress,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Success {
    pub output: Value,
    /// The output as text, where the door has it at hand. It had to be written for its hash.
    #[serde(skip)]
    pub text: Option<String>,
    #[serde(default)]
    pub artifacts: Vec<Artifact>,
    #[serde(default)]
    pub metadata: ResponseMetadata,
}

/// The answer to a call. It leaves only after the event is durable (writes) or queued (public reads).
#[derive(Debug, Serialize, Deserialize)]
pub struct Reply {
    pub call_id: Uuid,
    pub dialect: Dialect,
    pub result: Result<Success, OpError>,
    pub audit: AuditBlock,
}

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the operation table is wrong")]
    Table(#[source] TableError),
}

pub struct Options {
    pub entries: &'static [Entry],
    pub settings: Settings,
    pub services: Services,
    pub clock: Clock,
    /// The keys that sign checkpoints.
    pub keyring: Keyring,
    pub witness_policy: WitnessPolicy,
    /// Where documents stand as files.
    pub files: Root,
    /// Where the newest checkpoint is kept outside the database, if anywhere.
    pub checkpoint_file: Option<PathBuf>,
    /// Where it is remembered outside the database which keys were revoked, if anywhere.
    pub known_keys_file: Option<PathBuf>,
    /// Of the database: what encrypts and hashes what is about a patient.
    pub subject_keys: SubjectKeys,
    /// Where it is remembered outside the database whose keys were destroyed, if anywhere.
    pub destroyed_file: Option<PathBuf>,
}

pub(crate) struct Inner {
    pub store: Store,
    pub services: Services,
    pub settings: Settings,
    pub table: Arc<Table>,
    pub keyring: Keyring,
    pub sealer: Sealer,
    pub seals: Arc<Seals>,
    pub known_keys: KnownKeys,
    pub witness_policy: WitnessPolicy,
    pub files: Files,
    pub watch: LogWatch,
    pub subject_keys: SubjectKeys,
    pub destroyed: Destroyed,
    pub(crate) clock: Clock,
    queue: EventQueue,
    misses: Misses,
    /// Calls whose events the queue did not take, until there is room for one that tells of all.
    unrecorded: RefusalCounter,
}

#[derive(Clone)]
pub struct Platform(Arc<Inner>);

impl Platform {
    pub fn open(store: Store, options: Options) -> Result<Platform, OpenError> {
        let table = Arc::new(Table::compile(options.entries).map_err(OpenError::Table)?);
        let queue = EventQueue::start(store.clone(), limits::EVENT_QUEUE_MAX, limits::EVENT_FLUSH_EVERY);
        let default_project_id = options.settings.default_project_id.to_string();
        let sealing = Sealing::new(&options.keyring.secrets(DERIVED));
        options.services.evidence.attach(store.clone(), sealing.clone());
        options.services.search.attach(sealing);
        let files = Files::start(store.clone(), options.files, default_project_id);
        let seals = Arc::new(Seals::new(&options.keyring));
        let inner = Inner {
            store,
            services: options.services,
            settings: options.settings,
            table,
            sealer: Sealer::new(&options.keyring),
            known_keys: KnownKeys::open(options.known_keys_file, Arc::clone(&seals)),
            seals,
            keyring: options.keyring,
            witness_policy: options.witness_policy,
            files,
            watch: LogWatch::new(options.checkpoint_file),
            subject_keys: options.subject_keys,
            destroyed: Destroyed::new(options.destroyed_file),
            clock: options.clock,
            queue,
            misses: Misses::default(),
            unrecorded: RefusalCounter::default(),
        };
        Ok(Platform(Arc::new(inner)))
    }

    pub fn table(&self) -> &Arc<Table> {
        &self.0.table
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    pub(crate) fn keyring(&self) -> &Keyring {
        &self.0.keyring
    }

    pub(crate) fn seals(&self) -> &Arc<Seals> {
        &self.0.seals
    }

    pub(crate) fn known_keys(&self) -> &KnownKeys {
        &self.0.known_keys
    }

    pub(crate) fn queue(&self) -> &EventQueue {
        &self.0.queue
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// What is known of the log beyond the database.
    pub fn watch(&self) -> &LogWatch {
        &self.0.watch
    }

    /// How the log stands, as the notary found it.
    pub fn log_standing(&self) -> LogStanding {
        self.0.watch.standing(self.0.clock.now_us())
    }

    /// Destroys again the keys of subjects that an older backup brought back. How many that were.
    pub async fn keep_destroyed(&self) -> Result<u64, OpError> {
        self.0.destroyed.reconcile(&self.0.store, self.0.clock.now_us()).await
    }

    /// The time by which things expire, in microseconds since 1970.
    pub fn now_us(&self) -> i64 {
        self.0.clock.now_us()
    }

    /// What keeps the record.
    pub fn engine(&self) -> store::Engine {
        self.0.store.engine()
    }

    /// Commits and applies so far, for benchmarks and metrics.
    pub fn store_stats(&self) -> store::Stats {
        self.0.store.stats()
    }

    /// Does the database answer? How the log stands tells why one that lost its history takes no writes.
    pub async fn ping(&self) -> Result<(), OpError> {
        let answered = match self.log_standing() {
            LogStanding::Contradicted { .. } => self.0.store.ping_reader().await,
            LogStanding::Fine
            | LogStanding::Doubted { .. }
            | LogStanding::Stalled { .. }
            | LogStanding::Stopped { .. } => self.0.store.ping().await,
        };
        answered.map_err(store_error)
    }

    /// What is damaged in the file of the database, if anything.
    pub async fn find_damage(&self) -> Result<Option<String>, OpError> {
        self.0.store.find_damage().await.map_err(store_error)
    }

    /// Settings of the database by which it may lose what it says it keeps.
    pub async fn find_laxity(&self) -> Result<Vec<String>, OpError> {
        self.0.store.find_laxity().await.map_err(store_error)
    }

    /// Runs one call. It outlasts its caller: one that goes away stops a read, which is then recorded as cancelled, and
    /// never stops a write half way.
    pub async fn call(&self, actor: &Actor, call: Call) -> Reply {
        let gone = CancellationToken::new();
        let (inner, actor, watched) = (Arc::clone(&self.0), actor.clone(), gone.clone());
        let started = Instant::now();
        let call_id = Uuid::now_v7();
        let work = async move { inner.conduct(call_id, started, actor, call, watched).await };
        match Outlasting::new(AssertUnwindSafe(work).catch_unwind(), Left::Told(gone)).await {
            Ok(reply) => reply,
            // Operations have a guard of their own: this was the door itself.
            Err(_panic) => {
                let error = OpError::internal("the door panicked");
                Reply { call_id, dialect: Dialect::Common, result: Err(error), audit: no_audit() }
            }
        }
    }

    /// Records requests that were refused before anybody was authenticated, one event per source and reason.
    pub async fn record_refusals(&self, refused: &[Refused]) {
        self.0.record_unrecorded();
        let now_us = self.0.clock.now_us();
        for refused in refused {
            let Some(event) = refusals::event(refused, now_us) else { continue };
            refusals::warn(refused, &event.call_id);
            if self.0.queue.try_push(event).is_err() {
                tracing::error!("An event of refused requests was lost: the event queue is full");
            }
        }
    }

    /// Writes the events that are queued.
    pub async fn flush(&self) {
        self.0.record_unrecorded();
        if let Err(error) = self.0.queue.flush().await {
            tracing::error!(error = %error, "Queued events could not be written yet");
        }
    }

    /// What the domains keep in memory.
    pub fn services(&self) -> &Services {
        &self.0.services
    }

    /// The files beside the record, for whoever mends and compares them.
    pub fn files(&self) -> &Files {
        &self.0.files
    }

    /// Writes what is queued and lets go of the store.
    pub async fn close(&self) -> Result<(), Unrecorded> {
        self.0.record_unrecorded();
        self.0.services.evidence.close();
        self.0.files.close().await;
        let closed = self.0.queue.close().await.map_err(Unrecorded);
        if let Err(error) = &closed {
            tracing::error!(error = %error.0, "The last events could not be written");
        }
        self.0.store.close().await;
        closed
    }
}

pub(crate) fn no_audit() -> AuditBlock {
    AuditBlock {
        in_hash: String::new(),
        out_hash: String::new(),
        latency_ms: 0,
        seed: 0,
        status: contract::audit::AuditStatus::Error,
    }
}

impl Inner {
    pub fn queue(&self) -> &EventQueue {
        &self.queue
    }

    async fn conduct(
        &self,
        call_id: Uuid,
        started: Instant,
        actor: Actor,
        call: Call,
        gone: CancellationToken,
    ) -> Reply {
        let tool = self.table.find(&call.operation);
        let is_about_patient = tool.is_some_and(|tool| tool.entry.record == Record::Patient);
        // What an input about a patient says stays out of the event.
        let told = tool.map(|tool| &tool.fields).filter(|_| !is_about_patient);
        let (correlation, names_task) = correlate(call.correlation, &call.input, told);
        let started_us = self.clock.now_us();
        let deadline = started + tool.and_then(|tool| tool.entry.deadline).unwrap_or(self.settings.call_deadline);
        let (hashing, problem) = if is_about_patient {
            let organisation_id = actor.organisation_id.as_str();
            Hashing::keyed(&self.subject_keys, &self.store, organisation_id, started_us, deadline).await
        } else {
            (Hashing::default(), None)
        };
        let ticket = Arc::new(Ticket {
            call_id,
            actor,
            operation: tool.map_or("unknown", |tool| tool.entry.name),
            recorded_as: tool.map_or("unknown", |tool| tool.entry.recorded_as),
            dialect: tool.map_or(Dialect::Common, |tool| tool.entry.family.dialect()),
            started,
            started_us,
            deadline,
            correlation,
            names_task,
            idempotency_key: call.idempotency_key,
            via: call.via,
            acting: call.acting,
            progress: call.progress,
            answers: call.answers,
            spent: Spent::default(),
            hashing,
            is_admitted: AtomicBool::new(false),
        });
        let Some(tool) = tool else {
            let error = match operations::replacement(&call.operation) {
                Some(replacement) => OpError::not_found(format!("this operation is no more; call {replacement}")),
                None => {
                    let meant = Table::similar(&call.operation, self.table.all());
                    let meant = meant.map(|name| format!("did you mean `{name}`? ")).unwrap_or_default();
                    OpError::not_found(format!(
                        "no operation of this name; {meant}`materia tools` and `/api` list them"
                    ))
                }
            };
            return self.record(&ticket, None, &call.input, failed(&ticket, &call.input, error)).await;
        };
        if let Err(error) = authorise::check(tool, &ticket.actor).and_then(|()| problem.map_or(Ok(()), Err)) {
            return self.record(&ticket, Some(tool), &call.input, failed(&ticket, &call.input, error)).await;
        }
        let caller = || format!("{}/{}", ticket.actor.organisation_id, ticket.actor.id);
        if let Some(wait_ms) = self.misses.wait_ms(caller(), tool.entry.name, ticket.started_us) {
            let seconds = wait_ms.div_ceil(1_000);
            let message = format!("too many calls for what is not there; this operation answers again in {seconds} s");
            let error = OpError::rate_limited(message, wait_ms);
            return self.record(&ticket, Some(tool), &call.input, failed(&ticket, &call.input, error)).await;
        }
        log_started(&ticket, tool, &call.input);
        let driven = self.run(tool, &ticket, &call.input, &gone).await;
        // Names of the evidence are no handles: whoever guesses one learns nothing, and a list of herbs may have many
        // that nobody recorded.
        if driven.outcome == Outcome::NotFound && tool.entry.family != Family::Evidence {
            self.misses.note(caller(), tool.entry.name, ticket.started_us);
        }
        self.record(&ticket, Some(tool), &call.input, driven).await
    }

    /// Runs the operation behind a panic guard. A read also ends at the deadline and when its caller is gone; a
    /// write watches its own deadline up to the point where it must not be stopped.
    async fn run(&self, tool: &Arc<Tool>, ticket: &Arc<Ticket>, input: &Value, gone: &CancellationToken) -> Driven {
        let driven = AssertUnwindSafe((tool.entry.drive)(self, tool, ticket, input)).catch_unwind();
        let ended = |outcome: Outcome, error: OpError| Driven {
            in_hash: ticket.hashing.of(input),
            result: Err(error),
            outcome,
            recorded: None,
        };
        let finished = if tool.entry.is_write {
            driven.await
        } else {
            tokio::select! {
                biased;
                finished = driven => finished,
                () = gone.cancelled() => return ended(Outcome::Cancelled, OpError::timeout("the caller went away")),
                () = tokio::time::sleep_until(ticket.deadline) => {
                    let seconds = ticket.deadline.duration_since(ticket.started).as_secs_f64();
                    return ended(Outcome::Timeout, OpError::timeout(format!("the call took longer than {seconds} s")));
                }
            }
        };
        finished.unwrap_or_else(|_| ended(Outcome::Panicked, OpError::internal("the operation panicked")))
    }
}

fn failed(ticket: &Ticket, input: &Value, error: OpError) -> Driven {
    let in_hash = ticket.hashing.of(input);
    Driven { in_hash, outcome: error.kind.into(), result: Err(error), recorded: None }
}

/// An internal error leaves with nothing but the id under which the log tells more.
fn public(mut error: OpError, call_id: Uuid) -> OpError {
    if error.kind == Kind::Internal {
        error.message = format!("something went wrong on our side; the log has more under call {call_id}");
    }
    error
}
