//! Recomputing the log. Every difference is a problem with a place; the check goes on to the end.

mod checkpoints;
mod histories;
mod rows;
mod waiting;

pub(super) use waiting::SETTLED_WITHIN_US;

use std::collections::{BTreeMap, HashMap, HashSet};

use contract::event::Event;
use contract::ledger::Verification;
use contract::time::rfc3339_us;
use evidence::record::audited::STARTER_LIST;
use ledger::hash::Hash;
use ledger::key::KeyId;
use ledger::keyring::Keyring;
use ledger::policy::Policy;
use ledger::tree::{Frontier, Node, Subtree, TreeHead};
use store::damage;
use store::log::{self, Leaf, Position};
use store::schema::{self, Difference};
use store::triggers::{self, Trigger};
use store::unreadable::{self, UnreadableRow};
use store::{Conn, StoreError};
use workflow::audited::Origin;

use self::checkpoints::{Checkpoints, Numbers, Unsigned, Witnessed, asked, witnessed};
use self::histories::Histories;
use self::rows::Promised;
use self::waiting::Places;
use super::report::{Reader, Report, Verdict, Whose};
use crate::context::Progress;
use crate::doubts::{self, Doubt, Said, Told};
use crate::keys::known::Revoked;
use crate::keys::seals::Seals;
use crate::limits::IDEMPOTENCY_KEPT_FOR;
use crate::watch::KeptCheckpoint;
use crate::witnesses::WitnessPolicy;

const PAGE: u32 = 1_000;

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

/// A doubt that the log tells of.
struct OpenDoubt {
    told: Told,
    leaf_index: Option<u64>,
    call_id: String,
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

struct Check<'t> {
    tree: Frontier,
    /// The index that the next leaf should have: the size of the tree, unless leaves are missing.
    next_index: u64,
    /// Of the row of the last leaf's event: leaves have the order of commits.
    last_position: Position,
    /// Leaves are missing, so that no subtree from there on can be computed.
    has_gap: bool,
    last: LastEvents,
    histories: Histories,
    /// Answers that are kept for repeated calls, by the hash of their place.
    promised: HashMap<String, Promised>,
    /// Answers of calls since then are kept.
    promised_since_us: i64,
    /// Batches of the evidence, by organisation and id, that the starter data put.
    starter_batches: HashSet<(String, String)>,
    /// Request states that were used, by organisation.
    used_states: HashSet<(String, String)>,
    /// The hash of the list of what they put, by organisation, as the last load left it.
    starter_lists: BTreeMap<String, String>,
    /// Events since the last checkpoint.
    unsigned: Unsigned,
    /// Which checkpoints were met.
    numbers: Numbers,
    /// Rows that could not be read are out of sight.
    is_set_aside: bool,
    report: Report<'t>,
    /// What is not wrong by itself.
    notes: Vec<String>,
    /// Doubts that the log tells of and nobody has accepted yet.
    doubts: Vec<OpenDoubt>,
    /// Witnesses that are not asked any more, each with the size of the largest checkpoint that it cosigned.
    forgotten: BTreeMap<String, u64>,
    /// Whose signatures a checkpoint may carry.
    asked: Vec<(String, KeyId)>,
    policy: Option<Policy>,
    /// Absent when the log has no witnesses.
    witnessed: Option<Witnessed>,
    /// Checkpoints from outside the database that the log has not come to yet.
    outside: Vec<(&'static str, TreeHead)>,
}

/// Whose signatures are believed, what is known from outside the database, and what time it is.
pub struct Trust<'a> {
    pub keyring: &'a Keyring,
    pub witness_policy: &'a WitnessPolicy,
    pub now_us: i64,
    /// Events before this place were settled a moment ago: a sequencer at work has taken them since.
    pub settled_before: Position,
    /// Checkpoints that were kept outside the database.
    pub kept: &'a [KeptCheckpoint],
    /// What this process found and no event tells of yet.
    pub doubts: &'a [Doubt],
    /// What tells rows of the house's keys from others, and which were revoked before the moment that is looked at; absent
    /// where a backup is, which may be older than seals.
    pub keys: Option<(&'a Seals, &'a Revoked)>,
    /// This process saw, or wrote, whose log it is.
    pub is_claimed: bool,
    /// Witnesses that know of another history, each with its word.
    pub contradictions: &'a [(String, String)],
    pub reader: Reader<'a>,
}

/// Tables in which a row that cannot be read is named and set aside. Without `log_state` there is nothing to compare with.
const TABLES: [&str; 21] = [
    "api_keys",
    "artifact_contents",
    "artifact_revisions",
    "artifacts",
    "events",
    "evidence_batches",
    "evidence_paper_ids",
    "evidence_records",
    "evidence_retractions",
    "evidence_starter_records",
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

/// What was found before the log was recomputed.
#[derive(Default)]
struct Before {
    unreadable: Vec<UnreadableRow>,
    /// What the schema has that the migrations do not make, or the other way round; each with the kind of problem.
    schema: Vec<(&'static str, String)>,
    /// What is damaged below the rows.
    damage: Vec<String>,
}

impl Before {
    fn report(&self, report: &mut Report<'_>) {
        add_unreadable(report, &self.unreadable);
        for (kind, message) in &self.schema {
            report.add(kind, Whose::Log, None, None, message.clone());
        }
        for damage in &self.damage {
            let message =
                format!("the database is damaged: {damage}; rows may be hidden: restore a backup (`materia restore`)");
            report.add("damage", Whose::Log, None, None, message);
        }
    }
}

/// Recomputes the log. A database that is too damaged for that is a problem of its own.
pub async fn whole_log(conn: &mut Conn, trust: &Trust<'_>, progress: &Progress) -> Result<Verdict, StoreError> {
    let mut before = Before::default();
    match look(conn, trust, progress, &mut before).await {
        Err(error) if error.is_damage() => {
            let mut report = Report::to(trust.reader);
            before.report(&mut report);
            // What our own code says of a value holds none of it.
            let cause = std::error::Error::source(&error).filter(|_| error.is_about_a_value());
            let cause = cause.map_or(String::new(), |cause| format!(": {cause}"));
            let message = format!("{error}{cause}; nothing else was checked: restore a backup (`materia restore`)");
            report.add("table", Whose::Log, None, None, message);
            Ok(report.verdict(Frontier::new().root().to_string()))
        }
        found => found,
    }
}

async fn look(
    conn: &mut Conn,
    trust: &Trust<'_>,
    progress: &Progress,
    before: &mut Before,
) -> Result<Verdict, StoreError> {
    // First, since a statement that fails over a table that is gone is the last one of its moment.
    before.schema = find_schema_problems(conn).await?;
    // What was just restored has no old indexes.
    if !matches!(trust.reader, Reader::Restorer) {
        before.damage = damage::find(conn, &TABLES).await?;
    }
    let found = recompute(conn, trust, progress, before).await;
    if !found.as_ref().is_err_and(StoreError::is_damage) {
        return found;
    }
    before.unreadable = unreadable::set_aside(conn, &TABLES).await?;
    if before.unreadable.is_empty() { found } else { recompute(conn, trust, progress, before).await }
}

/// Whatever the database does by itself, and tables that are not as the migrations make them. A trigger can swallow events
/// or change rows behind them; what a constraint kept out, or one takes away, no row tells.
async fn find_schema_problems(conn: &mut Conn) -> Result<Vec<(&'static str, String)>, StoreError> {
    let triggers = triggers::find_all(conn).await?.into_iter().map(|Trigger { kind, name, table }| {
        ("trigger", format!("other hands gave `{table}` the {kind} `{name}`: the schema has none; drop it"))
    });
    let differences = schema::differences(conn, &crate::migrations()).await?.into_iter();
    let differences = differences.map(|Difference { table, what }| {
        ("table", format!("the table `{table}` is not as this program makes it: {what}"))
    });
    Ok(triggers.chain(differences).collect())
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
    before: &Before,
) -> Result<Verdict, StoreError> {
    let state = log::read_state(conn).await?;
    let size = state.frontier.size();
    let kept_for_us = i64::try_from(IDEMPOTENCY_KEPT_FOR.as_micros()).unwrap_or(i64::MAX);
    let mut check = Check {
        tree: Frontier::new(),
        next_index: 0,
        last_position: Position::FIRST,
        has_gap: false,
        last: HashMap::new(),
        histories: Histories::default(),
        promised: HashMap::new(),
        promised_since_us: trust.now_us.saturating_sub(kept_for_us).saturating_add(TIDIED_AHEAD_US),
        starter_batches: HashSet::new(),
        used_states: HashSet::new(),
        starter_lists: BTreeMap::new(),
        unsigned: Unsigned::default(),
        numbers: Numbers::default(),
        is_set_aside: !before.unreadable.is_empty(),
        report: Report::to(trust.reader),
        notes: Vec::new(),
        doubts: Vec::new(),
        forgotten: BTreeMap::new(),
        asked: asked(trust),
        policy: Policy::new(trust.keyring.all_verifiers(), Vec::new(), 0).ok(),
        witnessed: witnessed(trust),
        outside: Vec::new(),
    };
    before.report(&mut check.report);
    check.take_in(trust.kept);
    let mut checkpoints = Checkpoints::default();
    while check.next_index < size {
        let leaves = log::read_leaves(conn, check.next_index, PAGE).await?;
        if leaves.is_empty() {
            let message = "the log ends before its kept size".to_owned();
            check.report.add("order", Whose::Log, Some(check.next_index), None, message);
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
            while let Some(kept) = checkpoints.at(conn, check.next_index).await? {
                check.end_unsigned(trust.reader);
                check.checkpoint(&kept, trust.reader);
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a progress bar does not need the last digit")]
        progress.report(check.next_index as f64, Some(size as f64), "leaves");
    }
    if check.tree.root() != state.frontier.root() {
        let message = "the kept right edge of the tree is not that of the events".to_owned();
        check.report.add("root", Whose::Log, None, None, message);
    }
    if log::last_position(conn, size).await?.is_some_and(|last| last != state.position()) {
        let message = "`log_state` names another event as the last one of the log than its last leaf does".to_owned();
        check.report.add("table", Whose::Log, None, None, message);
    }
    check.end_unsigned(trust.reader);
    check.own_tables(conn, trust, size).await?;
    // A backup may be of a house that was in trouble, and is restored all the same; the house that it becomes says so.
    if !matches!(trust.reader, Reader::Restorer) {
        check.beyond(conn, size).await?;
    }
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
    let reached = state.position();
    let places = Places { reached, farthest: log::farthest(conn, reached), settled_before: trust.settled_before };
    let n_waiting = check.waiting(conn, places, now_us).await?;
    let n_objects_checked = check.objects(conn, trust).await?;
    check.cosignatures(trust);
    check.open_doubts(trust);
    let root_hash = check.tree.root().to_string();
    let Verdict { verification, doubts } = check.report.verdict(root_hash);
    let verification = Verification {
        tree_size: size,
        n_events_checked: check.tree.size(),
        n_events_waiting: n_waiting,
        n_objects_checked,
        cosigned_size: check.witnessed.and_then(|witnessed| witnessed.size),
        notes: check.notes,
        ..verification
    };
    Ok(Verdict { verification, doubts })
}

impl Check<'_> {
    /// Takes a leaf into the tree and answers the subtrees that it completes.
    fn leaf(&mut self, leaf: &Leaf) -> Vec<Node> {
        let (index, call_id) = (leaf.leaf_index, leaf.call_id.as_str());
        if index != self.next_index {
            let missing = self.next_index;
            let message = match index.saturating_sub(1) {
                last if last > missing => format!("leaves {missing} to {last} are missing"),
                _ => format!("leaf {missing} is missing"),
            };
            self.report.add("order", Whose::Log, Some(missing), None, message);
            self.has_gap = true;
        }
        self.next_index = index.saturating_add(1);
        let Some(stored) = &leaf.event else {
            let message = if self.is_set_aside { "the event is gone or cannot be read" } else { "the event is gone" };
            let message = message.to_owned();
            self.report.add("leaf", Whose::Unknown, Some(index), Some(call_id), message);
            return self.tree.append(leaf.leaf_hash);
        };
        let whose = Whose::Organisation(&stored.organisation_id);
        if std::mem::replace(&mut self.last_position, stored.position) >= stored.position {
            let message = "this event or the one before it has another place in `events` than in the log".to_owned();
            self.report.add("order", whose, Some(index), Some(call_id), message);
        }
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
        self.note_doubt(Some(index), &event);
        self.remember(&stored.organisation_id, Some(index), event);
        completed
    }

    /// Notes what an earlier process doubted, and that somebody accepted it.
    fn note_doubt(&mut self, leaf_index: Option<u64>, event: &Event) {
        match doubts::said(event) {
            Some(Said::Doubt(told)) => {
                let (call_id, time) = (event.call_id.clone(), event.time.clone());
                self.doubts.push(OpenDoubt { told, leaf_index, call_id, time });
            }
            Some(Said::Accepted) => self.doubts.clear(),
            None => {}
        }
    }

    /// Tells of the doubts that nobody has accepted.
    fn open_doubts(&mut self, trust: &Trust<'_>) {
        for OpenDoubt { told, leaf_index, call_id, time } in std::mem::take(&mut self.doubts) {
            let Told { what, is_wrong, finding } = told;
            let first = finding.filter(|_| matches!(trust.reader, Reader::House { .. }));
            let first = first.map_or(String::new(), |finding| format!(", the first: {}", finding.first));
            let message = format!(
                "{what}{first} (found at {time}; `materia recover --accept-rollback` ends this once somebody has looked into it)"
            );
            // A backup may be of a house that was in trouble once, and is restored all the same.
            if is_wrong && !matches!(trust.reader, Reader::Restorer) {
                self.report.add_passing("doubt", Whose::Log, leaf_index, Some(&call_id), message);
            } else {
                self.notes.push(message);
            }
        }
        for doubt in trust.doubts {
            if doubt.is_wrong {
                let kind = if doubt.finding.is_some() { "doubt" } else { "table" };
                self.report.add_passing(kind, Whose::Log, None, None, doubt.what.clone());
            } else {
                self.notes.push(doubt.what.clone());
            }
        }
    }

    fn node(&mut self, node: Node, kept: Option<Hash>) {
        if kept != Some(node.hash) && !self.has_gap {
            let Subtree { level, index } = node.subtree;
            let message = format!("the hash of subtree {index} of level {level} in `log_nodes` is gone or changed");
            self.report.add("root", Whose::Log, None, None, message);
        }
    }

    /// Notes how an event left its rows, and whether it found them as the event before left them.
    fn remember(&mut self, organisation_id: &str, leaf_index: Option<u64>, event: Event) {
        self.note_starter_data(organisation_id, &event);
        self.note_used_states(organisation_id, leaf_index, &event);
        let call = Caused { by: event.actor.id.to_string(), call_id: event.call_id.clone(), time: event.time };
        let objects = event.objects.into_iter().filter(|object| object.kind != STARTER_LIST);
        for object in objects.filter(|object| object.sha256.is_some() || object.is_deleted) {
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
            self.histories.note(&key, object.sha256.as_deref(), &call);
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
}
