//! What a running operation may touch.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use contract::actor::Actor;
use contract::id::ProjectId;
use contract::question::{Answered, QuestionKind, Questions};
use evidence::derived::Derived;
use evidence::search::searches::Searches;
use ledger::keyring::Keyring;
use serde::{Deserialize, Serialize};
use store::subject_keys::{Subject, SubjectKeys};
use store::{EventQueue, Reader, Store, StoreError};
use tokio::sync::mpsc;
use workflow::catalogue::LiveCatalogue;

use crate::acting;
use crate::destroyed::Destroyed;
use crate::dialogue::{Ahead, Answers, Dialogue};
use crate::door::Via;
use crate::files::Files;
use crate::keys::known::KnownKeys;
use crate::keys::seals::Seals;
use crate::knowledge::Knowledge;
use crate::literature::Literature;
use crate::operation::{Told, store_error};
use crate::record::Ticket;
use crate::remote::{Journey, Remote, Remotes, Service};
use crate::seed_ids;
use crate::table::Table;
use crate::watch::LogWatch;
use crate::witnesses::WitnessPolicy;
use contract::error::OpError;

/// Settings that operations read.
#[derive(Debug, Clone)]
pub struct Settings {
    pub default_project_id: ProjectId,
    pub call_deadline: Duration,
    pub reservation_expires_after: Duration,
    pub reservations_per_minute_max: u32,
    /// Where backups are made; nowhere when absent.
    pub backup_folder: Option<PathBuf>,
    pub self_approval: SelfApproval,
    /// Whether an agent may approve documents.
    pub agents_may_approve: bool,
    /// Whether an approval must name the hash of what was reviewed.
    pub approval_needs_hash: bool,
    /// Ask the person behind a client, where it can ask, before a document is approved.
    pub confirm_approval: bool,
    /// Research type → file name of the document that generators get where nothing else is named.
    pub research: BTreeMap<String, String>,
    /// A claim of a task ends after this, unless it is renewed; never when absent.
    pub task_lease: Option<Duration>,
    /// Names of authorization servers. Their people are actors whose ids begin with one of these and a dot.
    pub issuer_names: Vec<String>,
}

/// Who may approve a document that they stored themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SelfApproval {
    Never,
    /// The owner of the house, who may be the only person there is.
    #[default]
    Owner,
    Anybody,
}

/// What the domains keep in memory, and who does what is not done here.
#[derive(Debug, Clone)]
pub struct Services {
    /// Document types, generators, checklists and templates.
    pub catalogue: LiveCatalogue,
    pub remotes: Remotes,
    /// What is derived from the evidence.
    pub evidence: Derived,
    /// PubMed itself, where it may be asked.
    pub literature: Option<Arc<dyn Literature>>,
    /// A server of the Translator network, where it may be asked.
    pub knowledge: Option<Arc<dyn Knowledge>>,
    /// The search over it.
    pub search: Searches,
    /// The facts that come with the program, where the house wants them.
    pub starter: Option<Arc<starter::Files>>,
}

/// A step of a long call, for clients that show one.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgressReport {
    pub done: f64,
    pub total: Option<f64>,
    pub message: String,
}

/// Where reports of progress go. A slow reader loses reports, never the call.
#[derive(Debug, Clone, Default)]
pub struct Progress(Option<mpsc::Sender<ProgressReport>>);

impl Progress {
    pub fn to(sender: mpsc::Sender<ProgressReport>) -> Progress {
        Progress(Some(sender))
    }

    pub fn report(&self, done: f64, total: Option<f64>, message: &str) {
        if let Some(sender) = &self.0 {
            // Full or closed: nobody reads fast enough, and the answer matters more than its progress.
            drop(sender.try_send(ProgressReport { done, total, message: message.to_owned() }));
        }
    }
}

/// Only [`crate::Platform::call`] can make one, so code that holds a `Context` has already been authorised, and its
/// event will be written.
pub struct Context<'a> {
    pub(crate) actor: &'a Actor,
    pub(crate) store: &'a Store,
    pub(crate) services: &'a Services,
    pub(crate) settings: &'a Settings,
    pub(crate) table: &'a Arc<Table>,
    pub(crate) progress: &'a Progress,
    pub(crate) keyring: &'a Keyring,
    pub(crate) seals: &'a Arc<Seals>,
    pub(crate) known_keys: &'a KnownKeys,
    pub(crate) dialogue: &'a Dialogue,
    pub(crate) witness_policy: &'a WitnessPolicy,
    pub(crate) files: &'a Files,
    pub(crate) watch: &'a LogWatch,
    pub(crate) subject_keys: &'a SubjectKeys,
    pub(crate) destroyed: &'a Destroyed,
    pub(crate) queue: &'a EventQueue,
    pub(crate) now_us: i64,
    pub(crate) ticket: &'a Ticket,
}

impl Context<'_> {
    pub fn actor(&self) -> &Actor {
        self.actor
    }

    pub fn services(&self) -> &Services {
        self.services
    }

    pub fn settings(&self) -> &Settings {
        self.settings
    }

    pub fn table(&self) -> &Table {
        self.table
    }

    /// The keys that sign checkpoints.
    pub fn keyring(&self) -> &Keyring {
        self.keyring
    }

    /// What makes and checks the seals of API keys.
    pub(crate) fn seals(&self) -> &Arc<Seals> {
        self.seals
    }

    /// What is remembered of API keys beside the database.
    pub(crate) fn known_keys(&self) -> &KnownKeys {
        self.known_keys
    }

    /// Whether the caller could answer such a question.
    pub fn may_ask(&self, kind: QuestionKind) -> bool {
        self.dialogue.may_ask(kind)
    }

    /// The answers to these questions. Without them the call ends here and the caller is asked; only answers that come
    /// with the request state of that reply count, each state once.
    pub fn ask(&self, questions: Questions) -> Result<Answered, OpError> {
        self.dialogue.ask(questions, Ahead::Ignored)
    }

    /// As [`Context::ask`], but answers that a caller gives unasked count too: for what is merely missing, never for a
    /// consent.
    pub fn ask_unless_given(&self, questions: Questions) -> Result<Answered, OpError> {
        self.dialogue.ask(questions, Ahead::Taken)
    }

    /// What was answered up to here, for a job that goes on with it.
    pub(crate) fn answers_so_far(&self) -> Answers {
        self.dialogue.answers()
    }

    /// The keys of patients, requests, conversations and calls: what encrypts what is stored about them.
    pub fn subject_keys(&self) -> &SubjectKeys {
        self.subject_keys
    }

    /// Notes beside the database that the key of a subject was destroyed, so that an older backup does not bring it back. For
    /// `settle`, after [`store::subject_keys::destroy`] was committed.
    pub fn note_destroyed(&self, subject: &Subject) {
        self.destroyed.note(subject);
    }

    /// Who must have cosigned them.
    pub fn witness_policy(&self) -> &WitnessPolicy {
        self.witness_policy
    }

    /// What is known of the log beyond the database.
    pub(crate) fn watch(&self) -> &LogWatch {
        self.watch
    }

    /// Why events cannot be stored at present, while they cannot.
    pub(crate) fn events_failure(&self) -> Option<StoreError> {
        self.queue.failure()
    }

    /// The files beside the record.
    pub fn files(&self) -> &Files {
        self.files
    }

    /// The caller's word for the work that this call is part of.
    pub fn task_id(&self) -> Option<&str> {
        self.ticket.correlation.task_id.as_ref().map(|id| id.as_str())
    }

    /// The request that the call belongs to, as seed 004 names requests.
    pub fn request_id(&self) -> String {
        seed_ids::request_id(&self.ticket.correlation, self.ticket.call_id)
    }

    /// Who asked, as seed 004 names users.
    pub fn user_id(&self) -> String {
        seed_ids::user_id(&self.ticket.correlation, self.actor, self.subject_keys)
    }

    /// How the call came here.
    pub fn via(&self) -> Via {
        self.ticket.via
    }

    /// Whose the tasks are that this call takes.
    pub fn claimant(&self) -> String {
        acting::claimant(self.actor, self.ticket.acting.as_ref())
    }

    /// Whose the ids are that this call reserves. Those of an approval, or of a document that is stored, are the house's
    /// that asks: whoever approves or stores the same after a crash is given the same ones, and confirms them.
    pub fn reserver(&self) -> String {
        match self.ticket.via {
            Via::Approval => self.actor.id.to_string(),
            Via::Direct | Via::Mcp => self.claimant(),
        }
    }

    /// Whether whoever calls may take a task from somebody else, or back from where it was completed.
    pub fn may_take_back(&self) -> bool {
        acting::may_take_back(self.actor, self.ticket.acting.as_ref())
    }

    /// What a line of the log about this call says.
    pub fn told(&self) -> Told<'_> {
        let duration_ms = u64::try_from(self.ticket.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Told { call_id: self.ticket.call_id, task_id: self.task_id(), duration_ms }
    }

    pub fn progress(&self) -> &Progress {
        self.progress
    }

    /// The time of the call in microseconds since 1970.
    pub fn now_us(&self) -> i64 {
        self.now_us
    }

    /// The service elsewhere that does this for the caller's organisation; none where it is done here.
    pub fn find_remote(&self, service: Service) -> Option<&Arc<dyn Remote>> {
        self.services.remotes.find(service, &self.actor.organisation_id)
    }

    /// What goes with a call to a service elsewhere.
    pub fn journey(&self) -> Journey {
        Journey::of(self.ticket, self.keyring.origin())
    }

    /// A connection that can only read.
    pub async fn read(&self) -> Result<Reader, OpError> {
        self.store.read().await.map_err(store_error)
    }
}
