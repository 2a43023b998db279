//! What an operation is: typed input and output, who may call it, and its behaviour.

use std::future::Future;
use std::time::Duration;

use contract::actor::Role;
use contract::envelope::{Artifact, ResponseMetadata};
use contract::error::OpError;
use contract::event::Touched;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use store::{StoreError, StoreErrorKind, Tx};
use workflow::audited::{AuditedRow, Found};
use workflow::ids::IdsElsewhere;

use crate::context::{Context, Settings};
use crate::family::Family;
use crate::jobs::JobMode;
use crate::leaving::{Failed, Rows};
use crate::remote::Service;

/// How the calls of an operation are recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Record {
    /// The answer leaves before its event is stored, which follows within [`crate::limits::EVENT_FLUSH_EVERY`]: for public
    /// reads. Writes are always [`Record::Durable`].
    #[default]
    Queued,
    /// The answer leaves after its event is stored.
    Durable,
    /// As `Durable`, and nothing of input or output is kept in clear: hashes are keyed per patient, log lines hold neither
    /// fields nor messages, no answer is kept for repeated calls, and it never runs as a job.
    Patient,
}

/// The input type of an operation is the operation.
pub trait Operation: DeserializeOwned + Serialize + JsonSchema + Send + Sync + 'static {
    const NAME: &'static str;
    /// One or two sentences for people and for models that choose tools.
    const ABOUT: &'static str;
    const FAMILY: Family;
    /// Roles that may call it.
    const ROLES: &'static [Role];
    /// What a token or key that is limited to scopes needs beside a role.
    const SCOPE: Option<&'static str> = None;
    /// Other names that are understood on a call and never listed.
    const ALIASES: &'static [&'static str] = &[];
    /// Listed as an MCP tool. Operations that only serve a prompt are not.
    const IS_TOOL: bool = true;

    /// What events call it, where a seed has a word of its own.
    const RECORDED_AS: &'static str = Self::NAME;

    const RECORD: Record = Record::Queued;

    /// The audit block is a member of the output (seed 002), not only beside it.
    const IS_STAMPED: bool = false;

    /// Answers also while the database swallows events: what it found says why, and nobody could find out otherwise.
    const IS_TOLD_UNRECORDED: bool = false;

    /// The service that carries it out, where that may be another process.
    const SERVICE: Option<Service> = None;
    /// Input fields of earlier versions, with what is expected in their place.
    const RETIRED_FIELDS: &'static [(&'static str, &'static str)] = &[];

    /// Time for one call, where the setting is not the right one.
    const DEADLINE: Option<Duration> = None;

    /// Whether it runs as a job for those who can follow one.
    const JOB: JobMode = JobMode::Never;

    type Output: Serialize + JsonSchema + Send;

    /// An output in words, shorter than its JSON, where [`crate::rendering`] would say it worse.
    const TEXT: Option<fn(&Value) -> String> = None;

    /// The line of the log that tells of a success, where it says more than that.
    const TELL: Option<fn(&Ended<'_>)> = None;

    /// Asks what must be answered before a job is started. What comes up later is asked by the job itself.
    fn ask_first(&self, _ctx: &Context<'_>) -> Result<(), OpError> {
        Ok(())
    }

    /// The project and the ids that a service gave out, where none of them may be in use here. The service cannot know
    /// which ones are.
    fn given_ids(&self, _output: &Value) -> Option<(String, Vec<String>)> {
        None
    }

    /// What a service elsewhere did that says whose ids are, to be noted here.
    fn done_elsewhere(&self, _output: &Value, _now_us: i64) -> Option<IdsElsewhere> {
        None
    }

    /// The patient whom a call with [`Record::Patient`] is about, by the id that the record gave them.
    fn patient_id(&self) -> Option<String> {
        None
    }

    /// Rows that tell of a call which was refused before it ran, or of a read that failed. Of one that was told to try again
    /// there are none.
    fn rows_of_failure(_failed: &Failed<'_>) -> Option<Rows> {
        None
    }

    /// Fills in what the caller left out and a setting decides, before the input is hashed.
    fn fill_defaults(&mut self, _settings: &Settings) {}
}

/// What every line of the log about a finished call says.
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    pub call_id: uuid::Uuid,
    pub task_id: Option<&'a str>,
    pub duration_ms: u64,
}

/// A call that succeeded, for the line of the log that tells of it.
#[derive(Debug, Clone, Copy)]
pub struct Ended<'a> {
    pub told: Told<'a>,
    /// The project that the input names, else that of the setting.
    pub project_id: &'a str,
    pub output: &'a Value,
}

impl Ended<'_> {
    /// A text of the output.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.output.get(name).and_then(Value::as_str)
    }
}

/// Looks and answers. Its event goes through the queue.
pub trait Read: Operation {
    fn run(&self, ctx: &Context<'_>) -> impl Future<Output = Result<Answer<Self::Output>, OpError>> + Send;
}

/// Changes something. `prepare` may take its time; `apply` is short, only SQL, and repeatable: after a lost race the
/// door runs it again on a fresh transaction.
pub trait Write: Operation {
    /// Whether the output is kept for repeated calls with the same idempotency key. One that holds a secret is not: a
    /// repeated call is told that it was carried out, and what it made.
    const KEEPS_OUTPUT: bool = true;

    type Plan: Send + Sync + 'static;

    fn prepare(&self, ctx: &Context<'_>) -> impl Future<Output = Result<Self::Plan, OpError>> + Send;

    fn apply(
        &self,
        plan: &Self::Plan,
        tx: &mut Tx<'_>,
    ) -> impl Future<Output = Result<Answer<Self::Output>, ApplyError>> + Send;

    /// Runs after the commit and before the answer, for what follows from the change and can be made anew from it.
    fn settle(&self, _plan: &Self::Plan, _ctx: &Context<'_>) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// Runs where the change was refused after `prepare` had others do something that is now to be given back.
    fn abandon(&self, _plan: &Self::Plan, _ctx: &Context<'_>) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// Calls of one lane may share a transaction, and run one after the other.
    fn lane(&self, _plan: &Self::Plan) -> Option<String> {
        None
    }
}

/// An output with what goes beside it.
pub struct Answer<T> {
    pub output: T,
    pub artifacts: Vec<Artifact>,
    pub metadata: ResponseMetadata,
    pub objects: Vec<Touched>,
    /// Committed with the event.
    pub rows: Vec<Rows>,
}

impl<T> Answer<T> {
    pub fn of(output: T) -> Answer<T> {
        Answer {
            output,
            artifacts: Vec::new(),
            metadata: ResponseMetadata::new(),
            objects: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Names a thing that the call created, changed or read.
    pub fn touching(mut self, kind: &str, id: impl Into<String>) -> Answer<T> {
        self.objects.push(Touched::named(kind, id));
        self
    }

    /// Leaves rows that are committed with the event of the call.
    pub fn leaving_rows(mut self, rows: Rows) -> Answer<T> {
        self.rows.push(rows);
        self
    }

    /// Names a row of an audited table as the call left it, so that a change by other hands shows.
    pub fn leaving(mut self, row: AuditedRow) -> Answer<T> {
        let (is_created, before_sha256) = match row.found {
            Found::Nothing => (true, None),
            Found::Row(sha256) => (false, sha256),
        };
        self.objects.push(Touched {
            kind: row.kind.to_owned(),
            id: row.id,
            is_deleted: row.sha256.is_none(),
            sha256: row.sha256,
            before_sha256,
            is_created,
        });
        self
    }
}

/// A store error is apart, since the store knows which ones are worth another try.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    #[error("the operation refused")]
    Refused(#[source] OpError),
    #[error("the store failed")]
    Store(#[source] StoreError),
}

impl From<OpError> for ApplyError {
    fn from(error: OpError) -> ApplyError {
        ApplyError::Refused(error)
    }
}

impl From<StoreError> for ApplyError {
    fn from(error: StoreError) -> ApplyError {
        ApplyError::Store(error)
    }
}

/// What `apply` would refuse, as the caller sees it who is refused before.
pub(crate) fn refusal(error: impl Into<ApplyError>) -> OpError {
    match error.into() {
        ApplyError::Refused(error) => error,
        ApplyError::Store(error) => store_error(error),
    }
}

/// A store error as the caller sees it.
pub(crate) fn store_error(error: StoreError) -> OpError {
    if error.is_about_another_file() {
        let message = "nothing is read or written: the file of the database was replaced or removed under this process; put \
                       it back";
        return OpError::conflict(message).with_source(error);
    }
    if error.is_about_a_swallowed_event() {
        let message = "the database swallows events, so that nothing can be recorded: other hands gave it a trigger or a rule; \
                       `materia audit verify` names it";
        return OpError::conflict(message).with_source(error);
    }
    let message = match error.kind() {
        StoreErrorKind::Unavailable => "the store is not reachable, try again",
        StoreErrorKind::DiskFull => "the disk of the database is full; nothing is stored until there is room on it",
        StoreErrorKind::Serialization | StoreErrorKind::UniqueViolation { .. } => "too many callers at once, try again",
        StoreErrorKind::Damaged { .. } | StoreErrorKind::Broken { .. } | StoreErrorKind::Other => {
            return OpError::internal(error);
        }
    };
    OpError::busy(message, crate::limits::RETRY_AFTER_MS).with_source(error)
}
