//! Recomputing the log. Every difference is a problem with a place; the check goes on to the end.

use std::collections::{BTreeSet, HashMap};

use contract::event::Event;
use contract::ledger::Verification;
use contract::time::rfc3339_us;
use evidence::record::audited::{self as evidence_audited, Difference, Expected};
use ledger::checkpoint::SignedCheckpoint;
use ledger::hash::Hash;
use ledger::keyring::Keyring;
use ledger::policy::Policy;
use ledger::tree::{Frontier, Node, Subtree, TreeHead};
use store::log::{self, Leaf, Position, StoredCheckpoint, WaitingEvent};
use store::unreadable::{self, UnreadableRow};
use store::{Conn, StoreError, StoreErrorKind, idempotency, log_identity};
use workflow::audited::{self, AuditedRow, Found, FoundRow, Origin, Place};

use super::report::{Reader, Report, Whose};
use crate::context::Progress;
use crate::limits::IDEMPOTENCY_KEPT_FOR;
use crate::notary::CHECKPOINT_EVENTS_MAX;
use crate::watch::{KeptCheckpoint, SEQUENCED_WITHIN_US};
use crate::witnesses::WitnessPolicy;
use crate::{kept_answers, keys};

const PAGE: u32 = 1_000;
const KEYS_PAGE: i64 = 1_000;

/// Organisation, kind and id of an audited row.
type Key = (String, String, String);
/// The last event about each.
type LastEvents = HashMap<Key, Last>;

struct Last {
    /// The hash of the row after the event; `None` when it was deleted.
    sha256: Option<String>,
    call_id: String,
    time: String,
    /// Absent where no event says that it made the row.
    made: Option<Made>,
}

/// The call that made a row.
struct Made {
    by: String,
    time: String,
}

/// A call that left rows behind.
struct Caused {
    by: String,
    call_id: String,
    time: String,
}

impl Last {
    /// Does the row say of itself what the events say of it?
    fn agrees(&self, origin: &Origin) -> bool {
        let is_then = |at_us: Option<i64>, time: &str| at_us.is_none_or(|at_us| rfc3339_us(at_us) == time);
        let is_made = |made: &Made| {
            origin.made_by.as_ref().is_none_or(|by| *by == made.by) && is_then(origin.made_at_us, &made.time)
        };
        is_then(origin.changed_at_us, &self.time) && self.made.as_ref().is_none_or(is_made)
    }
}

/// An answer that must still be kept.
struct Promised {
    organisation_id: String,
    actor_id: String,
    operation: String,
    call_id: String,
}

/// A stretch of the log without a checkpoint.
#[derive(Default)]
struct Unsigned {
    n_events: u64,
    since_us: Option<i64>,
    /// How often a notary at work would have signed by the time.
    n_missed: u32,
}

/// A checkpoint is signed every minute; this much later it was due.
const SIGNED_WITHIN_US: i64 = 90_000_000;
/// A process that is killed leaves events unsigned, and a busy one signs late; so often neither happens.
const MISSED_MIN: u32 = 5;

impl Unsigned {
    fn note(&mut self, recorded_at_us: i64) {
        self.n_events += 1;
        match self.since_us {
            Some(since_us) if recorded_at_us.saturating_sub(since_us) <= SIGNED_WITHIN_US => {}
            Some(_) => {
                self.n_missed += 1;
                self.since_us = Some(recorded_at_us);
            }
            None => self.since_us = Some(recorded_at_us),
        }
    }

    /// Would a notary at work have signed in between?
    fn is_too_long(&self) -> bool {
        self.n_events > CHECKPOINT_EVENTS_MAX && self.n_missed >= MISSED_MIN
    }
}

struct Check<'t> {
    tree: Frontier,
    last: LastEvents,
    /// Answers that are kept for repeated calls, by the hash of their place.
    promised: HashMap<String, Promised>,
    /// Answers of calls since then are kept.
    promised_since_us: i64,
    /// Events since the last checkpoint.
    unsigned: Unsigned,
    /// Rows that could not be read are out of sight.
    is_set_aside: bool,
    report: Report<'t>,
    policy: Option<Policy>,
    /// Absent when the log has no witnesses.
    witnessed: Option<Witnessed>,
    /// Checkpoints from outside the database that the log has not come to yet.
    outside: Vec<(&'static str, TreeHead)>,
}

/// How far enough witnesses vouch for the log.
struct Witnessed {
    policy: Policy,
    n_cosignatures_min: usize,
    /// Over how many leaves the largest checkpoint is that they cosigned.
    size: Option<u64>,
    /// The oldest checkpoint beyond it.
    waiting_since_us: Option<i64>,
}

/// Whose signatures are believed, what is known from outside the database, and what time it is.
pub struct Trust<'a> {
    pub keyring: &'a Keyring,
    pub witness_policy: &'a WitnessPolicy,
    pub now_us: i64,
    /// Checkpoints that were kept outside the database.
    pub kept: &'a [KeptCheckpoint],
    /// What the log's own tables lacked when this process came.
    pub missing_at_start: &'a [String],
    /// This process saw, or wrote, whose log it is.
    pub is_claimed: bool,
    /// Witnesses that know of another history, each with its word.
    pub contradictions: &'a [(String, String)],
    pub reader: Reader<'a>,
}

/// A witness may be away for this long before it is missed.
const COSIGNED_WITHIN_US: i64 = 15 * 60 * 1_000_000;

/// Tables in which a row that cannot be read is named and set aside. Without `log_state` there is nothing to compare with.
const TABLES: [&str; 18] = [
    "api_keys",
    "artifact_contents",
    "artifact_revisions",
    "artifacts",
    "events",
    "evidence_batches",
    "evidence_records",
    "id_gaps",
    "id_registry",
    "id_reservations",
    "idempotency_keys",
    "log_checkpoints",
    "log_identity",
    "log_leaves",
    "log_nodes",
    "task_counters",
    "task_inputs",
    "tasks",
];

/// The tidying of the house may be a little ahead of the moment that is looked at.
const TIDIED_AHEAD_US: i64 = 60_000_000;

/// Recomputes the log. A table of the log that is too damaged for that is a problem of its own.
pub async fn whole_log(conn: &mut Conn, trust: &Trust<'_>, progress: &Progress) -> Result<Verification, StoreError> {
    let mut unreadable = Vec::new();
    let mut found = recompute(conn, trust, progress, &unreadable).await;
    if found.as_ref().is_err_and(|error| matches!(error.kind(), StoreErrorKind::Damaged { .. } | StoreErrorKind::Other))
    {
        unreadable = unreadable::set_aside(conn, &TABLES).await?;
        if !unreadable.is_empty() {
            found = recompute(conn, trust, progress, &unreadable).await;
        }
    }
    match found {
        Err(error) if matches!(error.kind(), StoreErrorKind::Damaged { .. }) => {
            let mut report = Report::to(trust.reader);
            add_unreadable(&mut report, &unreadable);
            let message = format!("{error}; nothing else was checked: restore a backup (`materia restore`)");
            report.add("table", Whose::Log, None, None, message);
            Ok(report.verification(Frontier::new().root().to_string()))
        }
        found => found,
    }
}

fn add_unreadable(report: &mut Report<'_>, rows: &[UnreadableRow]) {
    for row in rows {
        let whose = row.organisation_id.as_deref().map_or(Whose::Unknown, Whose::Organisation);
        report.add("row", whose, None, None, row.to_string());
    }
}

async fn recompute(
    conn: &mut Conn,
    trust: &Trust<'_>,
    progress: &Progress,
    unreadable: &[UnreadableRow],
) -> Result<Verification, StoreError> {
    let state = log::read_state(conn).await?;
    let size = state.frontier.size();
    let kept_for_us = i64::try_from(IDEMPOTENCY_KEPT_FOR.as_micros()).unwrap_or(i64::MAX);
    let mut check = Check {
        tree: Frontier::new(),
        last: HashMap::new(),
        promised: HashMap::new(),
        promised_since_us: trust.now_us.saturating_sub(kept_for_us).saturating_add(TIDIED_AHEAD_US),
        unsigned: Unsigned::default(),
        is_set_aside: !unreadable.is_empty(),
        report: Report::to(trust.reader),
        policy: Policy::new(trust.keyring.all_verifiers(), Vec::new(), 0).ok(),
        witnessed: witnessed(trust),
        outside: Vec::new(),
    };
    add_unreadable(&mut check.report, unreadable);
    check.take_in(trust.kept);
    let mut checkpoints = Checkpoints::default();
    while check.tree.size() < size {
        let leaves = log::read_leaves(conn, check.tree.size(), PAGE).await?;
        if leaves.is_empty() {
            let message = "the log ends before its kept size".to_owned();
            check.report.add("order", Whose::Log, Some(check.tree.size()), None, message);
            break;
        }
        for leaf in leaves.iter().filter(|leaf| leaf.leaf_index < size) {
            for node in check.leaf(leaf).into_iter().filter(|node| log::is_kept_level(node.subtree.level)) {
                let kept = log::find_node(conn, node.subtree).await?;
                check.node(node, kept);
            }
            check.meet_outside();
            if let Some(event) = &leaf.event {
                check.unsigned.note(event.recorded_at_us);
            }
            while let Some(kept) = checkpoints.at(conn, check.tree.size()).await? {
                check.end_unsigned(trust.reader);
                check.checkpoint(&kept);
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a progress bar does not need the last digit")]
        progress.report(check.tree.size() as f64, Some(size as f64), "leaves");
    }
    if check.tree.root() != state.frontier.root() {
        let message = "the kept right edge of the tree is not that of the events".to_owned();
        check.report.add("root", Whose::Log, None, None, message);
    }
    check.end_unsigned(trust.reader);
    check.own_tables(conn, trust, size).await?;
    for (place, head) in std::mem::take(&mut check.outside) {
        let message = format!("{place} is over {} events, but the log has {size}", head.size);
        check.report.add("checkpoint", Whose::Log, None, None, message);
    }
    for kept in checkpoints.rest(conn).await? {
        let message = format!("a checkpoint was signed over {} leaves, but the log has {size}", kept.tree_size);
        check.report.add("checkpoint", Whose::Log, None, None, message);
    }
    // In a backup events wait for the house that it is restored to.
    let now_us = Some(trust.now_us).filter(|_| !matches!(trust.reader, Reader::Restorer));
    let n_waiting = check.waiting(conn, state.position(), now_us).await?;
    let n_objects_checked = check.objects(conn).await?;
    check.cosignatures(trust);
    let root_hash = check.tree.root().to_string();
    Ok(Verification {
        tree_size: size,
        n_events_checked: check.tree.size(),
        n_events_waiting: n_waiting,
        n_objects_checked,
        cosigned_size: check.witnessed.and_then(|witnessed| witnessed.size),
        ..check.report.verification(root_hash)
    })
}

impl Check<'_> {
    /// A stretch without a checkpoint ends. A backup may be of a house that was in trouble once, and is restored all the same.
    fn end_unsigned(&mut self, reader: Reader<'_>) {
        let stretch = std::mem::take(&mut self.unsigned);
        if stretch.is_too_long() && !matches!(reader, Reader::Restorer) {
            let (n_events, size) = (stretch.n_events, self.tree.size());
            let message = format!(
                "no checkpoint is kept between the leaves {} and {size}, where several were due: `log_checkpoints` lacks rows",
                size.saturating_sub(n_events)
            );
            self.report.add("checkpoint", Whose::Log, None, None, message);
        }
    }

    /// What the tables of the log lack: checkpoints that are known from outside, and whose log it is.
    async fn own_tables(&mut self, conn: &mut Conn, trust: &Trust<'_>, size: u64) -> Result<(), StoreError> {
        let parsed = trust.kept.iter().filter_map(|kept| SignedCheckpoint::parse(kept.note.as_bytes()).ok());
        let sizes: BTreeSet<u64> = parsed.map(|signed| signed.unverified().size()).collect();
        for known in sizes.into_iter().filter(|known| (1..=size).contains(known)) {
            if log::find_checkpoint(conn, known).await?.is_none() {
                let message =
                    format!("the checkpoint over {known} events, which was signed, is not in `log_checkpoints`");
                self.report.add("checkpoint", Whose::Log, None, None, message);
            }
        }
        if trust.is_claimed && log_identity::find(conn).await?.is_none() {
            let message = "whose log this is, is missing from `log_identity`".to_owned();
            self.report.add("identity", Whose::Log, None, None, message);
        }
        for what in trust.missing_at_start {
            self.report.add("table", Whose::Log, None, None, what.clone());
        }
        Ok(())
    }

    /// Checkpoints from outside, which the log is to meet.
    fn take_in(&mut self, kept: &[KeptCheckpoint]) {
        for KeptCheckpoint { place, note } in kept {
            let signed = SignedCheckpoint::parse(note.as_bytes()).ok();
            let is_ours =
                |signed: &SignedCheckpoint| self.policy.as_ref().is_some_and(|policy| policy.check(signed).is_ok());
            match signed.filter(is_ours) {
                Some(signed) => self.outside.push((*place, signed.unverified().head())),
                None => {
                    let message = format!("{place} cannot be read or is not signed by this log");
                    self.report.add("checkpoint", Whose::Log, None, None, message);
                }
            }
        }
        self.meet_outside();
    }

    fn meet_outside(&mut self) {
        let size = self.tree.size();
        let met: Vec<_> = self.outside.extract_if(.., |(_, head)| head.size == size).collect();
        for (place, _) in met.iter().filter(|(_, head)| head.root != self.tree.root()) {
            let message = format!("{place} is over {size} events that are not the first {size} of the log");
            self.report.add("checkpoint", Whose::Log, None, None, message);
        }
    }

    /// Takes a leaf into the tree and answers the subtrees that it completes.
    fn leaf(&mut self, leaf: &Leaf) -> Vec<Node> {
        let (index, call_id) = (leaf.leaf_index, leaf.call_id.as_str());
        if index != self.tree.size() {
            let message = format!("leaf {} is missing", self.tree.size());
            self.report.add("order", Whose::Log, Some(self.tree.size()), None, message);
        }
        let Some(stored) = &leaf.event else {
            let message = if self.is_set_aside { "the event is gone or cannot be read" } else { "the event is gone" };
            let message = message.to_owned();
            self.report.add("leaf", Whose::Unknown, Some(index), Some(call_id), message);
            return self.tree.append(leaf.leaf_hash);
        };
        let whose = Whose::Organisation(&stored.organisation_id);
        let hash = Hash::leaf(stored.body.as_bytes());
        if hash != leaf.leaf_hash {
            self.report.add("leaf", whose, Some(index), Some(call_id), "the event was changed".to_owned());
        }
        let completed = self.tree.append(hash);
        let Ok(event) = serde_json::from_str::<Event>(&stored.body) else {
            self.report.add("leaf", whose, Some(index), Some(call_id), "the event cannot be read".to_owned());
            return completed;
        };
        let columns_agree = event.call_id == call_id
            && event.organisation_id.as_str() == stored.organisation_id
            && event.actor.id.as_str() == stored.actor_id
            && event.operation == stored.operation
            && event.outcome.name() == stored.outcome
            && event.time == rfc3339_us(stored.recorded_at_us);
        if !columns_agree {
            let message = "the columns of the event differ from its content".to_owned();
            self.report.add("column", whose, Some(index), Some(call_id), message);
        }
        self.note_promise(stored.recorded_at_us, &event);
        self.remember(&stored.organisation_id, Some(index), event);
        completed
    }

    /// Notes that the answer of a call is kept, while it must be.
    fn note_promise(&mut self, recorded_at_us: i64, event: &Event) {
        let Some(kept_as) = event.kept_as.as_ref().filter(|_| recorded_at_us >= self.promised_since_us) else { return };
        let promised = Promised {
            organisation_id: event.organisation_id.to_string(),
            actor_id: event.actor.id.to_string(),
            operation: event.operation.clone(),
            call_id: event.call_id.clone(),
        };
        self.promised.insert(kept_as.clone(), promised);
    }

    fn node(&mut self, node: Node, kept: Option<Hash>) {
        if kept != Some(node.hash) {
            let Subtree { level, index } = node.subtree;
            let message = format!("the hash of subtree {index} of level {level} in `log_nodes` is gone or changed");
            self.report.add("root", Whose::Log, None, None, message);
        }
    }

    /// Notes how an event left its rows, and whether it found them as the event before left them.
    fn remember(&mut self, organisation_id: &str, leaf_index: Option<u64>, event: Event) {
        let call = Caused { by: event.actor.id.to_string(), call_id: event.call_id.clone(), time: event.time };
        for object in event.objects.into_iter().filter(|object| object.sha256.is_some() || object.is_deleted) {
            let key = (organisation_id.to_owned(), object.kind, object.id);
            let known = self.last.get(&key).and_then(|last| last.sha256.as_deref());
            let found = match (&object.before_sha256, known) {
                (Some(before), Some(known)) if before != known => Some("found it changed by other hands"),
                (Some(_), None) => Some("found it, but no event before tells of it"),
                (None, Some(_)) if object.is_created => Some("made it anew: it was deleted by other hands"),
                (Some(_), Some(_)) | (None, _) => None,
            };
            if let Some(found) = found {
                let message = format!("{} `{}`: the call {found}", key.1, key.2);
                let whose = Whose::Organisation(organisation_id);
                self.report.add("object", whose, leaf_index, Some(&event.call_id), message);
            }
            self.set_last(key, object.sha256, object.is_created, &call);
        }
    }

    fn set_last(&mut self, key: Key, sha256: Option<String>, is_created: bool, call: &Caused) {
        let made = if is_created {
            Some(Made { by: call.by.clone(), time: call.time.clone() })
        } else {
            self.last.remove(&key).and_then(|last| last.made)
        };
        let (call_id, time) = (call.call_id.clone(), call.time.clone());
        self.last.insert(key, Last { sha256, call_id, time, made });
    }

    /// Events without a place in the tree. They have changed rows already. Returns how many there are.
    async fn waiting(&mut self, conn: &mut Conn, reached: Position, now_us: Option<i64>) -> Result<u64, StoreError> {
        let n_ahead = log::count_ahead(conn, reached).await?;
        if n_ahead > 0 {
            let message = format!(
                "{n_ahead} events of the log stand after the place that the sequencer has reached: `events` or `log_state` \
                 was changed, and no event gets a place any more"
            );
            self.report.add("order", Whose::Log, None, None, message);
        }
        let (mut n_waiting, mut position) = (0, Position::default());
        loop {
            let waiting = log::read_waiting(conn, position).await?;
            let Some(last) = waiting.last() else { return Ok(n_waiting) };
            position = last.position;
            for event in waiting {
                n_waiting += 1;
                self.waiting_event(event, reached, now_us);
            }
        }
    }

    fn waiting_event(&mut self, waiting: WaitingEvent, reached: Position, now_us: Option<i64>) {
        let event = serde_json::from_str::<Event>(&waiting.body).ok();
        // An event is written at the end of its call, and says when it began.
        let took_us = event.as_ref().map_or(0, |event| event.latency_ms.saturating_mul(1_000));
        let written_us = waiting.recorded_at_us.saturating_add(i64::try_from(took_us).unwrap_or(i64::MAX));
        let is_passed = waiting.position <= reached;
        let what = match now_us.map_or(0, |now_us| now_us.saturating_sub(written_us)) {
            _ if is_passed => Some("the event is not in the log, although later ones are".to_owned()),
            us if us > SEQUENCED_WITHIN_US => {
                Some(format!("the event is not in the log, {} s after its call", us / 1_000_000))
            }
            _ => None,
        };
        let organisation_id = waiting.organisation_id;
        if let Some(message) = what {
            let whose = Whose::Organisation(&organisation_id);
            self.report.add("order", whose, None, Some(&waiting.call_id), message);
        }
        if let Some(event) = &event {
            self.note_promise(waiting.recorded_at_us, event);
        }
        match event {
            Some(event) if is_passed => self.remember_passed(&organisation_id, event),
            Some(event) => self.remember(&organisation_id, None, event),
            None => {}
        }
    }

    /// An event that later ones were put before. Ids of calls are in the order of time.
    fn remember_passed(&mut self, organisation_id: &str, event: Event) {
        let call = Caused { by: event.actor.id.to_string(), call_id: event.call_id.clone(), time: event.time };
        for object in event.objects.into_iter().filter(|object| object.sha256.is_some() || object.is_deleted) {
            let key = (organisation_id.to_owned(), object.kind, object.id);
            if self.last.get(&key).is_none_or(|last| last.call_id < event.call_id) {
                self.set_last(key, object.sha256, object.is_created, &call);
            }
        }
    }

    fn checkpoint(&mut self, kept: &StoredCheckpoint) {
        let place = format!("the checkpoint over {} leaves", kept.tree_size);
        let signed = match SignedCheckpoint::parse(kept.note.as_bytes()) {
            Ok(signed) => signed,
            Err(error) => {
                self.report.add("checkpoint", Whose::Log, None, None, format!("{place} cannot be read: {error}"));
                return;
            }
        };
        if let Some(Err(error)) = self.policy.as_ref().map(|policy| policy.check(&signed)) {
            self.report.add(
                "checkpoint",
                Whose::Log,
                None,
                None,
                format!("{place} is not signed by this log: {error}"),
            );
        }
        if let Some(witnessed) = &mut self.witnessed {
            witnessed.note(&signed, kept);
        }
        let head = signed.unverified().head();
        if head.size != self.tree.size() || head.root != self.tree.root() {
            self.report.add("checkpoint", Whose::Log, None, None, format!("{place} commits to other events"));
        }
    }

    /// What witnesses say against the log, and what they should have cosigned by now.
    fn cosignatures(&mut self, trust: &Trust<'_>) {
        for (name, word) in trust.contradictions {
            self.report.add("witness", Whose::Log, None, None, format!("the witness `{name}` {word}"));
        }
        let Some(witnessed) = &self.witnessed else { return };
        let is_missed = |since_us: i64| trust.now_us.saturating_sub(since_us) > COSIGNED_WITHIN_US;
        if witnessed.n_cosignatures_min > 0 && witnessed.waiting_since_us.is_some_and(is_missed) {
            let size = witnessed.size.map_or("nothing".to_owned(), |size| format!("only the first {size} leaves"));
            let message =
                format!("{} witnesses must vouch for the log, but vouch for {size}", witnessed.n_cosignatures_min);
            self.report.add("witness", Whose::Log, None, None, message);
        }
    }

    /// Compares the audited tables with what the events say of them. Returns how many rows were looked at.
    async fn objects(&mut self, conn: &mut Conn) -> Result<u64, StoreError> {
        let mut n_checked = 0;
        let mut place = Some(Place::default());
        while let Some(now) = place {
            let (rows, next) = audited::read_page(conn, now).await?;
            for found in rows {
                n_checked += 1;
                self.object(found);
            }
            place = next;
        }
        let mut after = String::new();
        loop {
            let found = keys::read_page(conn, &after, KEYS_PAGE).await?;
            let Some(last) = found.last() else { break };
            after = last.row.id.clone();
            for found in found {
                n_checked += 1;
                self.object(found);
            }
        }
        n_checked += self.kept_answers(conn).await?;
        n_checked += self.evidence(conn).await?;
        let (wrong, n_hashed) = audited::derived::check(conn).await?;
        n_checked += n_hashed;
        for wrong in wrong {
            self.report.add("object", Whose::Organisation(&wrong.organisation_id), None, None, wrong.what);
        }
        let gone: Vec<_> = self.last.drain().filter(|(_, last)| last.sha256.is_some()).map(|(key, _)| key).collect();
        for (organisation_id, kind, id) in gone {
            let how = if self.is_set_aside {
                "was deleted by other hands or cannot be read"
            } else {
                "was deleted by other hands"
            };
            let message = format!("{kind} `{id}` {how}");
            self.report.add("object", Whose::Organisation(&organisation_id), None, None, message);
        }
        Ok(n_checked)
    }

    /// Compares the answers that repeated calls would get with the events of the first ones.
    async fn kept_answers(&mut self, conn: &mut Conn) -> Result<u64, StoreError> {
        let mut n_checked = 0;
        let mut after = idempotency::Place::default();
        loop {
            let page = idempotency::read_page(conn, &after, KEYS_PAGE).await?;
            let Some((last, _)) = page.last() else { break };
            after = last.clone();
            for (place, kept) in &page {
                n_checked += 1;
                let place @ [organisation_id, actor_id, operation, _] = place.each_ref().map(String::as_str);
                self.promised.remove(&kept_answers::place_hash(place));
                if !kept_answers::is_told(conn, place, kept).await? {
                    let message = format!("a kept answer of `{operation}` to `{actor_id}` was changed by other hands");
                    self.report.add("object", Whose::Organisation(organisation_id), None, None, message);
                }
            }
        }
        for promised in std::mem::take(&mut self.promised).into_values() {
            let Promised { organisation_id, actor_id, operation, call_id } = promised;
            let message = format!("the kept answer of `{operation}` to `{actor_id}` is gone before its time");
            self.report.add("object", Whose::Organisation(&organisation_id), None, Some(&call_id), message);
        }
        Ok(n_checked)
    }

    /// Compares the records of the evidence with their batches, and the batches with the log.
    async fn evidence(&mut self, conn: &mut Conn) -> Result<u64, StoreError> {
        let mut n_checked = 0;
        let mut expected = Expected::default();
        let mut place = (String::new(), 0);
        loop {
            let batches = evidence_audited::batches_after(conn, &place.0, place.1).await?;
            let Some(last) = batches.last() else { break };
            place = (last.organisation_id.clone(), last.number);
            for batch in batches {
                n_checked += 1;
                expected.absorb(&batch);
                let (id, sha256) = (batch.number.to_string(), Some(batch.sha256));
                let row = AuditedRow { kind: evidence_audited::BATCH, id, sha256, found: Found::Nothing };
                let origin = Origin::default();
                self.object(FoundRow { organisation_id: batch.organisation_id, row, origin });
            }
        }
        let mut place = evidence_audited::Place::default();
        loop {
            let records = evidence_audited::records_after(conn, &place).await?;
            let Some(last) = records.last() else { break };
            place = (last.organisation_id.clone(), last.kind.clone(), last.id.clone());
            for record in records {
                n_checked += 1;
                let (kind, id) = (&record.kind, &record.id);
                match expected.settle(&record) {
                    None => {}
                    Some(Difference::Changed) => {
                        let message = format!("{kind} `{id}` was changed by other hands");
                        self.report.add("object", Whose::Organisation(&record.organisation_id), None, None, message);
                    }
                    Some(Difference::Added) => {
                        let message = format!("no event tells of {kind} `{id}`");
                        self.report.add("object", Whose::Organisation(&record.organisation_id), None, None, message);
                    }
                }
            }
        }
        self.missing_evidence(conn, expected).await?;
        Ok(n_checked)
    }

    /// Names the records that no row was found for; only the batches still know what they were called.
    async fn missing_evidence(&mut self, conn: &mut Conn, mut expected: Expected) -> Result<(), StoreError> {
        let mut place = (String::new(), 0);
        while !expected.is_settled() {
            let batches = evidence_audited::batches_after(conn, &place.0, place.1).await?;
            let Some(last) = batches.last() else { break };
            place = (last.organisation_id.clone(), last.number);
            for batch in &batches {
                for (kind, id) in expected.missing(batch) {
                    let message = format!("{kind} `{id}` was deleted by other hands");
                    self.report.add("object", Whose::Organisation(&batch.organisation_id), None, None, message);
                }
            }
        }
        Ok(())
    }

    fn object(&mut self, found: FoundRow) {
        let FoundRow { organisation_id, row, origin } = found;
        let key = (organisation_id, row.kind.to_owned(), row.id.clone());
        let message = match self.last.remove(&key) {
            Some(last) if last.sha256 == row.sha256 && last.agrees(&origin) => return,
            Some(_) => format!("{} `{}` was changed by other hands", row.kind, row.id),
            None => format!("no event tells of {} `{}`", row.kind, row.id),
        };
        self.report.add("object", Whose::Organisation(&key.0), None, None, message);
    }
}

fn witnessed(trust: &Trust<'_>) -> Option<Witnessed> {
    let witness_policy = trust.witness_policy;
    let policy = witness_policy.with(trust.keyring).ok().filter(|_| !witness_policy.is_empty())?;
    let n_cosignatures_min = witness_policy.n_cosignatures_min;
    Some(Witnessed { policy, n_cosignatures_min, size: None, waiting_since_us: None })
}

impl Witnessed {
    /// Checkpoints come smallest first; a cosigned one vouches for all before it.
    fn note(&mut self, signed: &SignedCheckpoint, kept: &StoredCheckpoint) {
        if self.policy.check(signed).is_ok() {
            self.size = Some(kept.tree_size);
            self.waiting_since_us = None;
        } else {
            self.waiting_since_us.get_or_insert(kept.created_at_us);
        }
    }
}

/// The kept checkpoints, read ahead page by page in the order of their sizes.
#[derive(Default)]
struct Checkpoints {
    ahead: std::collections::VecDeque<StoredCheckpoint>,
    read_to: u64,
    is_read: bool,
}

impl Checkpoints {
    /// The next one, if it is over exactly this many leaves.
    async fn at(&mut self, conn: &mut Conn, size: u64) -> Result<Option<StoredCheckpoint>, StoreError> {
        if self.ahead.is_empty() && !self.is_read {
            self.ahead = log::checkpoints_after(conn, self.read_to, PAGE).await?.into();
            self.is_read = self.ahead.is_empty();
            self.read_to = self.ahead.back().map_or(self.read_to, |last| last.tree_size);
        }
        match self.ahead.front() {
            Some(next) if next.tree_size == size => Ok(self.ahead.pop_front()),
            Some(_) | None => Ok(None),
        }
    }

    async fn rest(mut self, conn: &mut Conn) -> Result<Vec<StoredCheckpoint>, StoreError> {
        if !self.is_read {
            self.ahead.extend(log::checkpoints_after(conn, self.read_to, PAGE).await?);
        }
        Ok(self.ahead.into())
    }
}
