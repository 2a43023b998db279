//! Reading in a thread of its own, sending batch by batch: at most two batches are held.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use contract::actor::Actor;
use contract::error::Kind;
use contract::evidence::record::{Record, Source};
use contract::evidence::records::{PutRecordsOutput, RECORDS_MAX, ReadRecordsOutput};
use contract::ledger::FoundEvents;
use evidence::import::{self, Brought, Format, Item, Options, Provider, Rejection};
use indicatif::{ProgressBar, ProgressStyle};
use ops::{Call, Success};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::files::{Opened, Pass};
use super::providers::{self, Providers};
use super::{Arguments, REJECTIONS_SHOWN_MAX, Totals, check_totals, refused, wanted_source};
use crate::cli::say;
use crate::owner::House;

/// Half of what a line to the owner of the data folder may be.
const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;
const BATCHES_AHEAD: usize = 1;
const TRIES_MAX: u32 = 6;

/// Records on their way, and the rejections between them.
#[derive(Default)]
struct Batch {
    records: Vec<Value>,
    /// Whose each of the records is, where the file says so.
    providers: Vec<Option<Provider>>,
    rejections: Vec<Rejection>,
    n_bytes: usize,
    /// Items of the file that are done with this batch.
    n_done: u64,
    /// Those of the records whose rule was left out.
    n_without_rule: u64,
}

impl Batch {
    /// Whether there is no room for one more record of this size.
    fn is_full(&self, n_bytes: usize) -> bool {
        let n_max = usize::try_from(RECORDS_MAX).unwrap_or(usize::MAX);
        let is_heavy = self.n_bytes > 0 && self.n_bytes + n_bytes > BATCH_BYTES_MAX;
        self.records.len() >= n_max || self.rejections.len() >= n_max || is_heavy
    }

    fn extend(&mut self, entry: Option<Entry>) {
        match entry {
            Some(Entry::Record(value, n_bytes, provider)) => {
                self.n_bytes += n_bytes;
                self.records.push(value);
                self.providers.push(provider);
            }
            Some(Entry::Rejected(rejection)) => self.rejections.push(rejection),
            None => {}
        }
    }
}

/// What goes into a batch: a record as JSON with its length and whose it is said to be, or why there is none.
enum Entry {
    Record(Value, usize, Option<Provider>),
    Rejected(Rejection),
}

impl Entry {
    fn new(item: Item) -> Entry {
        let record = match item {
            Item::Record(record) => record,
            Item::Rejected(rejection) => return Entry::Rejected(rejection),
        };
        match serde_json::to_value(&record) {
            Ok(value) => {
                let n_bytes = value.to_string().len();
                Entry::Record(value, n_bytes, Provider::of(&record))
            }
            Err(error) => Entry::Rejected(Rejection { at: "a record".to_owned(), reason: error.to_string() }),
        }
    }

    fn n_bytes(&self) -> usize {
        match self {
            Entry::Record(_, n_bytes, _) => *n_bytes,
            Entry::Rejected(_) => 0,
        }
    }
}

/// What the caller has said the files may replace.
#[derive(Debug, Clone, Copy)]
pub struct MayReplace {
    pub starter: bool,
    pub other_sources: bool,
}

pub struct Desk<'a> {
    house: &'a Arc<House>,
    actor: Actor,
    may_replace: MayReplace,
    pub providers: Providers,
    /// Of the records that name no provider.
    source_id: String,
    /// Whether a record that is there in the same words as another source's is repeated.
    pub may_be_of_others: bool,
    pub totals: Totals,
    /// The first ones, with their files.
    pub rejections: Vec<(String, Rejection)>,
    /// Of the pass that is under way.
    brought: Brought,
}

impl<'a> Desk<'a> {
    pub fn new(house: &'a Arc<House>, actor: Actor, may_replace: MayReplace, providers: Providers) -> Desk<'a> {
        Desk {
            house,
            actor,
            may_replace,
            providers,
            source_id: String::new(),
            may_be_of_others: false,
            totals: Totals::default(),
            rejections: Vec::new(),
            brought: Brought::default(),
        }
    }

    /// The source as the record has it, or as it is to be. What a curator said about one that the caller names stays unless
    /// the caller says otherwise.
    pub async fn settle_source(&mut self, arguments: &Arguments) -> anyhow::Result<Source> {
        let unnamed = || providers::unnamed(arguments.format, arguments.title.as_ref(), arguments.licence.as_ref());
        let id = arguments.source.clone().unwrap_or_else(|| unnamed().id);
        let known = self.read_sources(&[&id]).await?.pop();
        let wanted = match &arguments.source {
            Some(id) => wanted_source(arguments, id, known.clone()),
            None => unnamed(),
        };
        self.source_id.clone_from(&wanted.id);
        if known.as_ref() == Some(&wanted) {
            return Ok(wanted);
        }
        let mut input = json!({ "records": [Record::Source(wanted.clone())] });
        // Papers of the library replace those of others without being asked, but terms change only where somebody says so.
        // The words of an importer are its own, and nobody else's may stand for them.
        let is_own = Format::own_source(&wanted.id).is_some();
        if let Some(members) = input.as_object_mut().filter(|_| arguments.replace_other_sources || is_own) {
            members.insert("replace_other_sources".to_owned(), true.into());
        }
        let (_, output): (_, PutRecordsOutput) = self.ask("put_records", &input).await?;
        if let Some(rejected) = output.rejected.first() {
            anyhow::bail!("the source cannot be kept: {}", rejected.reason);
        }
        if is_own && known.is_some() {
            say(format_args!(
                "the source `{}` was known in other words, and has those of the importer again",
                wanted.id
            ));
        }
        Ok(wanted)
    }

    async fn read_sources(&self, ids: &[&str]) -> anyhow::Result<Vec<Source>> {
        let (_, found): (_, ReadRecordsOutput) =
            self.ask("read_records", &json!({ "kind": "source", "ids": ids })).await?;
        let sources = found.records.into_iter().map(|mut members| {
            members.remove("record");
            serde_json::from_value(Value::Object(members)).context("the source cannot be read as what it is")
        });
        sources.collect()
    }

    /// Puts the sources that the file names into its records.
    async fn name_providers(&mut self, batch: &mut Batch) -> anyhow::Result<()> {
        for (record, provider) in batch.records.iter_mut().zip(mem::take(&mut batch.providers)) {
            let source_id = match provider {
                Some(provider) => self.source_of(provider).await?,
                None => None,
            };
            let source_id = source_id.unwrap_or_else(|| self.source_id.clone());
            if let Some(source) = record.as_object_mut().and_then(|members| members.get_mut("source")) {
                *source = source_id.into();
            }
        }
        Ok(())
    }

    /// Nothing where it can be none of its own.
    async fn source_of(&mut self, provider: Provider) -> anyhow::Result<Option<String>> {
        if let Some(candidates) = self.providers.unsettled(&provider) {
            let source_id = self.settle_provider(candidates).await?;
            let told = source_id.clone().unwrap_or_default();
            if self.providers.settle(provider.clone(), source_id) {
                say(format_args!(
                    "the file names `{}` as a provider: as a source of that name is the program's own or known otherwise, \
                         its records are kept apart as `{told}`",
                    provider.id
                ));
            }
        }
        Ok(self.providers.source(&provider).map(str::to_owned))
    }

    /// The first of the sources that is free, or is here just so. None where none of them can be kept.
    async fn settle_provider(&self, candidates: Vec<Source>) -> anyhow::Result<Option<String>> {
        let ids: Vec<&str> = candidates.iter().map(|source| source.id.as_str()).filter(|id| is_id(id)).collect();
        let known = if ids.is_empty() { Vec::new() } else { self.read_sources(&ids).await? };
        let is_free = |source: &Source| known.iter().all(|it| it.id != source.id || it == source);
        let chosen = candidates.into_iter().find(|source| is_id(&source.id) && is_free(source));
        let Some(source) = chosen else {
            say(format_args!("a provider that the file names cannot be a source: its records name that of the format"));
            return Ok(None);
        };
        if !known.contains(&source) {
            let input = json!({ "records": [Record::Source(source.clone())] });
            let (_, output): (_, PutRecordsOutput) = self.ask("put_records", &input).await?;
            if let Some(rejected) = output.rejected.first() {
                let reason = &rejected.reason;
                say(format_args!(
                    "a provider that the file names cannot be a source: {reason}; its records name that of the format"
                ));
                return Ok(None);
            }
        }
        Ok(Some(source.id))
    }

    /// Goes on where an earlier import of the file ended, if the record knows of it.
    pub async fn resume(&mut self, file: &mut Opened) -> anyhow::Result<()> {
        let Some(mark) = file.mark().cloned() else { return Ok(()) };
        let Some(call_id) = mark.call_id else { return Ok(()) };
        let (_, found): (_, FoundEvents) = self.ask("audit_search", &json!({ "call_id": call_id, "limit": 1 })).await?;
        if found.events.is_empty() {
            file.clear_mark();
        } else {
            say(format_args!("{}: goes on after {} records", file.name(), mark.totals.read));
            self.totals.add(mark.totals);
        }
        Ok(())
    }

    /// Begins to look at other records of the files.
    pub fn turn(&mut self) {
        self.brought = Brought::default();
    }

    pub async fn read(
        &mut self,
        format: Format,
        options: &Options,
        file: &mut Opened,
        pass: Pass,
    ) -> anyhow::Result<()> {
        let (stream, n_read) = file.read()?;
        let n_skipped = file.mark().and_then(|mark| mark.n_done.get(pass.index()).copied()).unwrap_or(0);
        let (sender, mut batches) = mpsc::channel(BATCHES_AHEAD);
        let reading = tokio::task::spawn_blocking({
            let options = options.clone();
            let mut brought = mem::take(&mut self.brought);
            move || {
                let outcome = cut(format, options, stream, pass, n_skipped, &mut brought, &sender);
                (brought, outcome)
            }
        });
        let bar = bar(file);
        while let Some(batch) = batches.recv().await {
            let n_done = batch.n_done;
            let (call_id, totals) = self.send(&file.name(), batch).await?;
            self.totals.add(totals);
            file.set_mark(|mark| {
                mark.call_id = call_id.or(mark.call_id);
                mark.totals.add(totals);
                if let Some(done) = mark.n_done.get_mut(pass.index()) {
                    *done = n_done;
                }
            })?;
            advance(&bar, &n_read);
        }
        bar.finish_and_clear();
        let (brought, outcome) = reading.await?;
        self.brought = brought;
        outcome.map_err(anyhow::Error::from)
    }

    async fn send(&mut self, file: &str, mut batch: Batch) -> anyhow::Result<(Option<Uuid>, Totals)> {
        self.name_providers(&mut batch).await?;
        let n_records = u64::try_from(batch.records.len())?;
        let n_rejected = u64::try_from(batch.rejections.len())?;
        let mut totals = Totals {
            read: n_records + n_rejected,
            rejected: n_rejected,
            without_rule: batch.n_without_rule,
            ..Totals::default()
        };
        let mut rejections = batch.rejections;
        let mut call_id = None;
        if n_records > 0 {
            let mut input = Map::from_iter([("records".to_owned(), Value::Array(batch.records))]);
            let MayReplace { starter, other_sources } = self.may_replace;
            let said = [("replace_starter", starter), ("replace_other_sources", other_sources)];
            input.extend(
                said.into_iter().filter(|(_, is_said)| *is_said).map(|(name, _)| (name.to_owned(), true.into())),
            );
            let input = Value::Object(input);
            let (id, mut output): (_, PutRecordsOutput) = self.ask("put_records", &input).await?;
            if self.may_be_of_others {
                self.take_repeated(&input, &mut output).await?;
            }
            call_id = Some(id);
            totals.kept = output.kept + output.deleted;
            totals.replaced = output.changed;
            totals.repeated = output.repeated;
            totals.rejected += u64::try_from(output.rejected.len())?;
            rejections.extend(output.rejected.into_iter().map(|rejected| {
                let at = rejected.id.unwrap_or_else(|| format!("record {}", rejected.position + 1));
                Rejection { at, reason: rejected.reason }
            }));
        }
        check_totals(totals)?;
        let room = REJECTIONS_SHOWN_MAX.saturating_sub(self.rejections.len());
        self.rejections.extend(rejections.into_iter().take(room).map(|rejection| (file.to_owned(), rejection)));
        Ok((call_id, totals))
    }

    /// One call, repeated while the house is busy: a batch that was kept already is only repeated.
    pub async fn ask<T: DeserializeOwned>(&self, operation: &str, input: &Value) -> anyhow::Result<(Uuid, T)> {
        let mut n_tries = 1;
        loop {
            let call = Call { operation: operation.to_owned(), input: input.clone(), ..Call::default() };
            let reply = self.house.call(&self.actor, call).await;
            match reply.result {
                Ok(Success { output, .. }) => {
                    let output = serde_json::from_value(output)
                        .with_context(|| format!("the answer of `{operation}` is not what was expected"))?;
                    return Ok((reply.call_id, output));
                }
                Err(error) if error.kind == Kind::Busy && n_tries < TRIES_MAX => {
                    let wait_ms = error.details.retry_after_ms.unwrap_or(1_000);
                    tokio::time::sleep(Duration::from_millis(wait_ms * u64::from(n_tries))).await;
                    n_tries += 1;
                }
                Err(error) => return Err(refused(&error)),
            }
        }
    }
}

/// Cuts a stream into batches until it ends, or nobody wants them any more. What came before an error is sent.
fn cut(
    format: Format,
    options: Options,
    stream: Box<dyn std::io::Read + Send>,
    pass: Pass,
    n_skipped: u64,
    brought: &mut Brought,
    sender: &mpsc::Sender<Batch>,
) -> Result<(), import::ImportError> {
    let mut batch = Batch::default();
    let mut outcome = Ok(());
    let mut items = import::open(format, options, stream)?;
    for n_done in 1_u64.. {
        let n_before = items.n_without_rule();
        let Some(item) = items.next() else { break };
        let n_without_rule = items.n_without_rule() - n_before;
        let item = match item {
            Ok(item) => item,
            Err(error) => {
                outcome = Err(error);
                break;
            }
        };
        // Those that are skipped were brought before the import broke off.
        let item = is_wanted(&item, pass).then(|| brought.settle(item));
        if n_done <= n_skipped {
            continue;
        }
        let entry = item.map(Entry::new);
        let n_bytes = entry.as_ref().map_or(0, Entry::n_bytes);
        // A closed channel means that sending failed, which is told there.
        if batch.is_full(n_bytes) && sender.blocking_send(mem::take(&mut batch)).is_err() {
            return outcome;
        }
        batch.n_done = n_done;
        if entry.is_some() {
            batch.n_without_rule += n_without_rule;
        }
        batch.extend(entry);
    }
    if batch.n_done > 0 {
        sender.blocking_send(batch).ok();
    }
    outcome
}

fn is_wanted(item: &Item, pass: Pass) -> bool {
    let is_edge = match item {
        Item::Record(record) => matches!(**record, Record::Edge(_)),
        Item::Rejected(_) => false,
    };
    match pass {
        Pass::All => true,
        Pass::AllButEdges => !is_edge,
        Pass::Edges => is_edge,
    }
}

/// What a source may be called.
fn is_id(text: &str) -> bool {
    (1..=100).contains(&text.chars().count()) && !text.chars().any(char::is_control)
}

/// Only a terminal shows it.
fn bar(file: &Opened) -> ProgressBar {
    let bar = if file.is_standard_input() { ProgressBar::no_length() } else { ProgressBar::new(file.size_bytes()) };
    let template = "{prefix} {bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style).with_prefix(file.name())
}

fn advance(bar: &ProgressBar, n_read: &AtomicU64) {
    bar.set_position(n_read.load(Ordering::Relaxed));
}
