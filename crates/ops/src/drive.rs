//! The typed half of the door: from JSON to an operation and back, for reads and for writes.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use contract::audit::AuditBlock;
use contract::canonical;
use contract::envelope::{Artifact, ResponseMetadata};
use contract::error::{Kind, OpError};
use contract::event::{Outcome, Touched};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::subject_keys::Subject;
use store::{Applied, Keep, StoreError, StoreErrorKind, Tx, WriteError, idempotency};

use crate::context::Context;
use crate::dialogue::Dialogue;
use crate::door::{Inner, Success};
use crate::hashing::Hashing;
use crate::kept_answers;
use crate::leaving::Rows;
use crate::limits::RETRY_AFTER_MS;
use crate::operation::{Answer, ApplyError, Operation, Read, Record, Write, store_error};
use crate::record::{Ending, Ticket, error_hash};
use crate::remote::{Remote, forward};
use crate::table::Tool;
use crate::validate::{self, check_input};

pub(crate) type Drive = for<'a> fn(&'a Inner, &'a Arc<Tool>, &'a Arc<Ticket>, &'a Value) -> BoxFuture<'a, Driven>;

/// What came of an operation.
pub(crate) struct Driven {
    /// Hash of the input after defaults; of the input as it came where it was refused.
    pub in_hash: String,
    pub result: Result<Done, OpError>,
    pub outcome: Outcome,
    /// Present when the event is already committed together with the change.
    pub recorded: Option<AuditBlock>,
}

impl Driven {
    fn failed(in_hash: String, error: OpError) -> Driven {
        Driven { in_hash, outcome: error.kind.into(), result: Err(error), recorded: None }
    }
}

/// A checked output with its hash.
#[derive(Serialize, Deserialize)]
pub(crate) struct Done {
    pub output: Value,
    /// The output as text, where it was just made.
    #[serde(skip)]
    pub text: Option<String>,
    pub out_hash: String,
    /// Not kept for repeated calls: no event has their hash, and nobody could tell whether they were changed.
    #[serde(skip)]
    pub artifacts: Vec<Artifact>,
    #[serde(skip)]
    pub metadata: ResponseMetadata,
    pub objects: Vec<Touched>,
    /// Of a read: still to be stored.
    #[serde(skip)]
    pub rows: Vec<Rows>,
}

impl Done {
    /// Puts the audit block into the output. The hash was taken without it.
    pub fn stamp(&mut self, audit: &AuditBlock) {
        let Value::Object(members) = &mut self.output else { return };
        let is_only = members.is_empty();
        members.insert("audit".to_owned(), serde_json::to_value(audit).unwrap_or_default());
        // The text was written already; what it lacks is put in front.
        self.text = match (serde_json::to_string(audit), self.text.take()) {
            (Ok(block), Some(text)) => text.strip_prefix('{').map(|rest| {
                let comma = if is_only { "" } else { "," };
                format!("{{\"audit\":{block}{comma}{rest}")
            }),
            (_, _) => None,
        };
    }
}

impl From<Done> for Success {
    fn from(done: Done) -> Success {
        Success { output: done.output, text: done.text, artifacts: done.artifacts, metadata: done.metadata }
    }
}

/// The service elsewhere that carries the operation out for this caller, if one does.
fn find_remote<'a, T: Operation>(inner: &'a Inner, ticket: &Ticket) -> Option<&'a Arc<dyn Remote>> {
    inner.services.remotes.find(T::SERVICE?, &ticket.actor.organisation_id)
}

pub(crate) fn read<'a, T: Read>(
    inner: &'a Inner,
    tool: &'a Arc<Tool>,
    ticket: &'a Arc<Ticket>,
    input: &'a Value,
) -> BoxFuture<'a, Driven> {
    Box::pin(async move {
        let (operation, in_hash) = match admit::<T>(inner, tool, ticket, input).await {
            Ok(admitted) => admitted,
            Err(refused) => return *refused,
        };
        if let Some(remote) = find_remote::<T>(inner, ticket) {
            return forward(inner, &**remote, tool, ticket, &operation, in_hash).await;
        }
        let dialogue = match Dialogue::open(inner, ticket, &in_hash) {
            Ok(dialogue) => dialogue,
            Err(error) => return Driven::failed(in_hash, error),
        };
        if let Err(error) = dialogue.spend(inner, ticket).await {
            return Driven::failed(in_hash, error);
        }
        let context = context(inner, ticket, &dialogue);
        let mut answered = operation.run(&context).await;
        if answered.as_ref().is_err_and(has_lost_link) && ticket.started.elapsed() < RETRIED_WITHIN {
            // The server was restarted, or closed connections. Those that rest this long are tested before use.
            tokio::time::sleep(store::UNTESTED_REST_MAX + Duration::from_millis(20)).await;
            answered = operation.run(&context).await;
        }
        match answered.and_then(|answer| finish(tool, &ticket.hashing, answer)) {
            Ok(done) => Driven { in_hash, result: Ok(done), outcome: Outcome::Ok, recorded: None },
            Err(error) => {
                let error = dialogue.seal(inner, ticket, &in_hash, error);
                Driven::failed(in_hash, error)
            }
        }
    })
}

pub(crate) fn write<'a, T: Write>(
    inner: &'a Inner,
    tool: &'a Arc<Tool>,
    ticket: &'a Arc<Ticket>,
    input: &'a Value,
) -> BoxFuture<'a, Driven> {
    Box::pin(async move {
        let (operation, in_hash) = match admit::<T>(inner, tool, ticket, input).await {
            Ok(admitted) => admitted,
            Err(refused) => return *refused,
        };
        if let Err(error) = inner.watch.check_writes(inner.clock.now_us()) {
            return Driven::failed(in_hash, error);
        }
        if let Some(remote) = find_remote::<T>(inner, ticket) {
            return forward(inner, &**remote, tool, ticket, &operation, in_hash).await;
        }
        let dialogue = match Dialogue::open(inner, ticket, &in_hash) {
            Ok(dialogue) => Arc::new(dialogue),
            Err(error) => return Driven::failed(in_hash, error),
        };
        let context = context(inner, ticket, &dialogue);
        let prepared = tokio::time::timeout_at(ticket.deadline, operation.prepare(&context)).await;
        let plan = match prepared {
            Ok(Ok(plan)) => plan,
            Ok(Err(error)) => {
                // What the first call changed may be what stands in the way of this one.
                if let Some(repeated) = repeat::<T>(inner, ticket, &in_hash).await {
                    return repeated;
                }
                // The state is used up here too: an answer leads to one next step, not to several.
                let error = match dialogue.spend(inner, ticket).await {
                    Ok(()) => dialogue.seal(inner, ticket, &in_hash, error),
                    Err(spent) => spent,
                };
                return Driven::failed(in_hash, error);
            }
            Err(_) => return Driven::failed(in_hash, OpError::timeout("the call took too long")),
        };
        let lane = operation.lane(&plan);
        let change = Arc::new(Change {
            operation,
            plan,
            tool: Arc::clone(tool),
            ticket: Arc::clone(ticket),
            in_hash: in_hash.clone(),
            dialogue: Arc::clone(&dialogue),
        });
        let applied = Arc::clone(&change);
        let apply: store::Apply<Ended> = Box::new(move |tx| {
            let change = Arc::clone(&applied);
            Box::pin(async move { change.apply(tx).await })
        });
        let kind = store::Kind { word: T::NAME, at_us: ticket.started_us };
        match inner.store.write_as(Some(kind), lane, ticket.deadline, apply).await {
            Ok(Ended { result, outcome, audit }) => {
                match &result {
                    Ok(_) => change.operation.settle(&change.plan, &context).await,
                    Err(_) => change.operation.abandon(&change.plan, &context).await,
                }
                Driven { in_hash, result, outcome, recorded: Some(audit) }
            }
            Err(WriteError::Panicked) => Driven {
                in_hash,
                result: Err(OpError::internal("the operation panicked")),
                outcome: Outcome::Panicked,
                recorded: None,
            },
            Err(error) => Driven::failed(in_hash, write_error(error)),
        }
    })
}

/// Answers a call that cannot be prepared as the first one with its idempotency key was answered, where there was one.
async fn repeat<T: Write>(inner: &Inner, ticket: &Arc<Ticket>, in_hash: &str) -> Option<Driven> {
    let key = ticket.idempotency_key.as_ref()?;
    let actor = &ticket.actor;
    let mut reader = inner.store.read().await.ok()?;
    let kept =
        idempotency::find(&mut reader, actor.organisation_id.as_str(), actor.id.as_str(), T::NAME, key.as_str()).await;
    drop(reader);
    kept.ok()??;
    let first = Arc::new((Arc::clone(ticket), in_hash.to_owned()));
    let apply: store::Apply<Option<Ended>> = Box::new(move |tx| {
        let first = Arc::clone(&first);
        Box::pin(async move {
            let (ticket, in_hash) = &*first;
            let result = match find_kept::<T>(tx, ticket, in_hash).await {
                // It was forgotten since.
                Ok(None) => return Ok(Applied { value: None, event: None, keep: Keep::Nothing }),
                Ok(Some(done)) => Ok(done),
                Err(ApplyError::Store(error)) => return Err(error),
                Err(ApplyError::Refused(error)) => Err(error),
            };
            let Applied { value, event, keep } = close(ticket, in_hash, result, None);
            Ok(Applied { value: Some(value), event, keep })
        })
    });
    let in_hash = in_hash.to_owned();
    match inner.store.write(None, ticket.deadline, apply).await {
        Ok(ended) => {
            ended.map(|Ended { result, outcome, audit }| Driven { in_hash, result, outcome, recorded: Some(audit) })
        }
        Err(error) => Some(Driven::failed(in_hash, write_error(error))),
    }
}

pub(crate) fn write_error(error: WriteError) -> OpError {
    match error {
        WriteError::Expired => OpError::timeout("the call waited too long for its turn"),
        WriteError::QueueFull => OpError::busy("too many writes are waiting, try again", RETRY_AFTER_MS),
        WriteError::Panicked => OpError::internal("the operation panicked"),
        WriteError::Store(error) => store_error(error),
    }
}

/// A read that failed later than this waited for a database that is not there.
const RETRIED_WITHIN: Duration = Duration::from_secs(1);

/// Did the link to the database break? A read may be run again; it has changed nothing.
fn has_lost_link(error: &OpError) -> bool {
    let mut causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    let is_lost = |error: &StoreError| matches!(error.kind(), StoreErrorKind::Unavailable);
    causes.any(|cause| cause.downcast_ref::<StoreError>().is_some_and(is_lost))
}

fn context<'a>(inner: &'a Inner, ticket: &'a Ticket, dialogue: &'a Dialogue) -> Context<'a> {
    Context {
        actor: &ticket.actor,
        store: &inner.store,
        services: &inner.services,
        settings: &inner.settings,
        table: &inner.table,
        progress: &ticket.progress,
        keyring: &inner.keyring,
        seals: &inner.seals,
        known_keys: &inner.known_keys,
        dialogue,
        witness_policy: &inner.witness_policy,
        files: &inner.files,
        watch: &inner.watch,
        subject_keys: &inner.subject_keys,
        destroyed: &inner.destroyed,
        queue: inner.queue(),
        ticket,
        now_us: ticket.started_us,
    }
}

/// Checks an input against its schema and its type, and hashes it with its defaults filled in.
async fn admit<T: Operation>(
    inner: &Inner,
    tool: &Tool,
    ticket: &Ticket,
    input: &Value,
) -> Result<(T, String), Box<Driven>> {
    let refuse = |error: OpError| Box::new(Driven::failed(ticket.hashing.of(input), error));
    check_input(&tool.input, input).map_err(|error| refuse(retired::<T>(input).unwrap_or(error)))?;
    let mut operation: T = match T::deserialize(input) {
        Ok(operation) => operation,
        Err(error) => return Err(refuse(misfit::<T>(input, &error))),
    };
    operation.fill_defaults(&inner.settings);
    ticket.is_admitted.store(true, Ordering::Relaxed);
    if let (Record::Patient, Some(patient_id)) = (T::RECORD, operation.patient_id()) {
        let patient = Subject::patient(ticket.actor.organisation_id.as_str(), &patient_id);
        let (keys, store) = (&inner.subject_keys, &inner.store);
        let found = if tool.entry.is_write {
            let (now_us, deadline) = (ticket.started_us, ticket.deadline);
            ticket.hashing.find_or_make_patient(keys, store, &patient, now_us, deadline).await
        } else {
            ticket.hashing.find_patient(keys, store, &patient).await
        };
        found.map_err(refuse)?;
    }
    match ticket.hashing.of_serialized(&operation) {
        Ok(in_hash) => Ok((operation, in_hash)),
        Err(error) => Err(refuse(OpError::internal(error))),
    }
}

/// Our own types say what they expect. What the library says by itself may repeat the value.
fn misfit<T: Operation>(input: &Value, error: &serde_json::Error) -> OpError {
    const LIBRARY: [&str; 5] = ["invalid ", "unknown ", "missing ", "duplicate ", "data did not"];
    let text = error.to_string();
    let field = misfit_path::<T>(input);
    if LIBRARY.iter().any(|start| text.starts_with(start)) {
        return OpError::invalid(field, "values that fit the schema");
    }
    match text.strip_prefix("expected ") {
        Some(expected) => {
            let refusal = OpError::invalid(field.as_str(), expected);
            match input.pointer(&format!("/{field}")) {
                Some(value) => refusal.received(validate::shortened(value)),
                None => refusal,
            }
        }
        None => OpError::new(Kind::Invalid, text),
    }
}

/// Where in an input the value is that its type refuses, as far as that can be told.
fn misfit_path<T: Operation>(input: &Value) -> String {
    let Err(error) = serde_path_to_error::deserialize::<_, T>(input) else { return "input".to_owned() };
    let path = validate::path(error.path());
    if path.is_empty() { "input".to_owned() } else { path }
}

/// Whoever still sends a field of an earlier version is told what replaced it.
fn retired<T: Operation>(input: &Value) -> Option<OpError> {
    fn has(value: &Value, name: &str) -> bool {
        match value {
            Value::Object(members) => members.iter().any(|(member, value)| member == name || has(value, name)),
            Value::Array(items) => items.iter().any(|item| has(item, name)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
    }
    let (name, replacement) = T::RETIRED_FIELDS.iter().find(|(name, _)| has(input, name))?;
    Some(OpError::invalid(*name, *replacement))
}

/// Checks an output against its schema and hashes it.
pub(crate) fn finish<T: Serialize>(tool: &Tool, hashing: &Hashing, answer: Answer<T>) -> Result<Done, OpError> {
    let output = serde_json::to_value(&answer.output).map_err(OpError::internal)?;
    if let Some(error) = tool.output.iter_errors(&output).next() {
        // The path and the rule, not the value: an output may hold what no log may.
        let rule = error.schema_path().to_string();
        return Err(OpError::internal(format!("the output of `{}` breaks `{rule}`", tool.entry.name)));
    }
    let text = canonical::text_of(&output);
    let has_audit = output.get("audit").is_some();
    // What is keyed is hashed as a whole: no operation about a patient puts the block into its output itself.
    let is_whole = !has_audit || !hashing.is_plain();
    let out_hash = if is_whole { hashing.text(&text) } else { kept_answers::hash_of(&output) };
    let Answer { artifacts, metadata, objects, rows, .. } = answer;
    Ok(Done { output, text: Some(text), out_hash, artifacts, metadata, objects, rows })
}

/// Whether the answer is kept for repeated calls. One about a patient would lie there in clear.
const fn keeps_output<T: Write>() -> bool {
    match T::RECORD {
        Record::Queued | Record::Durable => T::KEEPS_OUTPUT,
        Record::Patient => false,
    }
}

/// What a repeated call is told whose first answer was not kept: that it was carried out, and what it made.
fn shown_once(objects: &str) -> OpError {
    let objects: Vec<Touched> = serde_json::from_str(objects).unwrap_or_default();
    let made: Vec<String> = objects.iter().map(|object| format!("{} `{}`", object.kind, object.id)).collect();
    OpError::conflict(format!("already carried out: {}; its answer was shown once and is not kept", made.join(", ")))
}

/// What a repeated call names: the things of the first one, without their hashes, since it changed none of them. The rows
/// may have gone on since, and a hash in an event says how a row is after it.
fn untouched(objects: Vec<Touched>) -> Vec<Touched> {
    objects.into_iter().map(|object| Touched::named(object.kind, object.id)).collect()
}

/// One write on its way through the writer. Repeatable: nothing in it changes from one try to the next.
struct Change<T: Write> {
    operation: T,
    plan: T::Plan,
    tool: Arc<Tool>,
    ticket: Arc<Ticket>,
    in_hash: String,
    dialogue: Arc<Dialogue>,
}

struct Ended {
    result: Result<Done, OpError>,
    outcome: Outcome,
    audit: AuditBlock,
}

/// What a write leaves: its result, and the event that tells of it.
fn close(ticket: &Ticket, in_hash: &str, result: Result<Done, OpError>, kept_as: Option<&str>) -> Applied<Ended> {
    let (outcome, code, keep) = match &result {
        Ok(_) => (Outcome::Ok, None, Keep::Changes),
        Err(error) => (error.kind.into(), Some(error.code()), Keep::Nothing),
    };
    let (out_hash, objects) = match &result {
        Ok(done) => (done.out_hash.clone(), done.objects.as_slice()),
        Err(error) => (error_hash(ticket, error), [].as_slice()),
    };
    let ending = Ending { in_hash, out_hash: &out_hash, outcome, code, objects, kept_as };
    let (audit, event) = ticket.close(&ending);
    Applied { value: Ended { result, outcome, audit }, event: Some(event), keep }
}

/// The answer that was kept for the idempotency key of a call, if one was.
async fn find_kept<T: Write>(tx: &mut Tx<'_>, ticket: &Ticket, in_hash: &str) -> Result<Option<Done>, ApplyError> {
    let Some(key) = &ticket.idempotency_key else { return Ok(None) };
    let (organisation_id, actor_id) = (ticket.actor.organisation_id.as_str(), ticket.actor.id.as_str());
    let place = [organisation_id, actor_id, T::NAME, key.as_str()];
    let found = idempotency::find(tx, organisation_id, actor_id, T::NAME, key.as_str()).await?;
    let Some(kept) = found else { return Ok(None) };
    let is_told = kept_answers::is_told(tx, place, &kept).await?;
    let stored = kept.stored;
    if stored.in_hash != in_hash {
        return Err(OpError::conflict("the idempotency key was used with another input").into());
    }
    // The first call may be in the same batch; then this one is applied again after its event was stored.
    if !is_told {
        let message = "the answer that was kept for this idempotency key is not the one that the log tells of; \
            `audit_verify` finds what was changed by other hands";
        return Err(OpError::conflict(message).into());
    }
    if !keeps_output::<T>() {
        return Err(shown_once(&stored.output).into());
    }
    let done: Done = serde_json::from_str(&stored.output).map_err(OpError::internal)?;
    Ok(Some(Done { objects: untouched(done.objects), ..done }))
}

impl<T: Write> Change<T> {
    async fn apply(&self, tx: &mut Tx<'_>) -> Result<Applied<Ended>, StoreError> {
        let (result, kept_as) = match self.change(tx).await {
            Ok((done, kept_as)) => (Ok(done), kept_as),
            Err(ApplyError::Store(error)) => return Err(error),
            Err(ApplyError::Refused(error)) => {
                // Rolled back with the rest.
                self.ticket.spent.note(None);
                (Err(error), None)
            }
        };
        Ok(close(&self.ticket, &self.in_hash, result, kept_as.as_deref()))
    }

    /// Applies the change, or answers as the first call with the same idempotency key did. With it, where the answer was
    /// kept, if it was.
    async fn change(&self, tx: &mut Tx<'_>) -> Result<(Done, Option<String>), ApplyError> {
        let Some(key) = &self.ticket.idempotency_key else { return Ok((self.run(tx).await?, None)) };
        if let Some(done) = find_kept::<T>(tx, &self.ticket, &self.in_hash).await? {
            return Ok((done, None));
        }
        let actor = &self.ticket.actor;
        let (organisation_id, actor_id) = (actor.organisation_id.as_str(), actor.id.as_str());
        let place = [organisation_id, actor_id, T::NAME, key.as_str()];
        let done = self.run(tx).await?;
        let output =
            if keeps_output::<T>() { serde_json::to_string(&done) } else { serde_json::to_string(&done.objects) };
        let output = output.map_err(OpError::internal)?;
        let stored = idempotency::Stored { in_hash: self.in_hash.clone(), output };
        let recorded_at_us = self.ticket.started_us;
        idempotency::insert(tx, organisation_id, actor_id, T::NAME, key.as_str(), &stored, recorded_at_us).await?;
        Ok((done, Some(kept_answers::place_hash(place))))
    }

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Done, ApplyError> {
        self.dialogue.spend_in(tx, &self.ticket).await?;
        let answer = self.operation.apply(&self.plan, tx).await?;
        for insert in &answer.rows {
            insert(tx).await?;
        }
        Ok(finish(&self.tool, &self.ticket.hashing, answer)?)
    }
}
