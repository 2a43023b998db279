//! Recomputing the log. Every difference is a problem with a place; the check goes on to the end.

use std::collections::HashMap;

use contract::event::Event;
use contract::ledger::{LogProblem, Verification};
use contract::time::rfc3339_us;
use evidence::record::audited::{self as evidence_audited, Difference, Expected};
use ledger::checkpoint::SignedCheckpoint;
use ledger::hash::Hash;
use ledger::keyring::Keyring;
use ledger::policy::Policy;
use ledger::tree::Frontier;
use store::log::{self, Leaf, StoredCheckpoint};
use store::{Conn, StoreError};
use workflow::audited::{self, AuditedRow, FoundRow, Place};

use crate::context::Progress;
use crate::keys;
use crate::witnesses::WitnessPolicy;

const PAGE: u32 = 1_000;
const KEYS_PAGE: i64 = 1_000;
const PROBLEMS_MAX: usize = 100;

/// Organisation, kind and id of an audited row, and its hash after the last event about it; `None` when it was deleted.
type LastHashes = HashMap<(String, String, String), Option<String>>;

struct Check {
    tree: Frontier,
    last: LastHashes,
    problems: Vec<LogProblem>,
    policy: Option<Policy>,
    /// Absent when the log has no witnesses.
    witnessed: Option<Witnessed>,
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

/// Whose signatures are believed, and what time it is.
pub struct Trust<'a> {
    pub keyring: &'a Keyring,
    pub witness_policy: &'a WitnessPolicy,
    pub now_us: i64,
}

/// A witness may be away for this long before it is missed.
const COSIGNED_WITHIN_US: i64 = 15 * 60 * 1_000_000;

pub async fn whole_log(conn: &mut Conn, trust: &Trust<'_>, progress: &Progress) -> Result<Verification, StoreError> {
    let state = log::read_state(conn).await?;
    let size = state.frontier.size();
    let mut check = Check {
        tree: Frontier::new(),
        last: HashMap::new(),
        problems: Vec::new(),
        policy: Policy::new(trust.keyring.all_verifiers(), Vec::new(), 0).ok(),
        witnessed: witnessed(trust),
    };
    let mut checkpoints = Checkpoints::default();
    while check.tree.size() < size {
        let leaves = log::read_leaves(conn, check.tree.size(), PAGE).await?;
        if leaves.is_empty() {
            check.report("order", Some(check.tree.size()), None, "the log ends before its kept size".to_owned());
            break;
        }
        for leaf in leaves.iter().filter(|leaf| leaf.leaf_index < size) {
            check.leaf(leaf);
            while let Some(kept) = checkpoints.at(conn, check.tree.size()).await? {
                check.checkpoint(&kept);
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a progress bar does not need the last digit")]
        progress.report(check.tree.size() as f64, Some(size as f64), "leaves");
    }
    if check.tree.root() != state.frontier.root() {
        check.report("root", None, None, "the kept right edge of the tree is not that of the events".to_owned());
    }
    for kept in checkpoints.rest(conn).await? {
        let message = format!("a checkpoint was signed over {} leaves, but the log has {size}", kept.tree_size);
        check.report("checkpoint", None, None, message);
    }
    let n_waiting = log::count_waiting(conn).await?;
    // Those of the last moments are on their way; more than that were put in, or their leaves taken out, by hand.
    if n_waiting > WAITING_MAX {
        check.report("order", None, None, format!("{n_waiting} events are not in the log"));
    }
    // What waits for its place has changed rows already.
    let mut position = state.position();
    loop {
        let waiting = log::read_waiting(conn, position).await?;
        let Some((last, _, _)) = waiting.last() else { break };
        position = *last;
        for (_, organisation_id, body) in &waiting {
            if let Ok(event) = serde_json::from_str::<Event>(body) {
                check.remember(organisation_id, event);
            }
        }
    }
    let n_objects_checked = check.objects(conn).await?;
    check.cosignatures(trust.now_us);
    Ok(Verification {
        ok: check.problems.is_empty(),
        tree_size: size,
        root_hash: check.tree.root().to_string(),
        n_events_checked: check.tree.size(),
        n_objects_checked,
        cosigned_size: check.witnessed.and_then(|witnessed| witnessed.size),
        problems: check.problems,
    })
}

/// Events that may be committed and not yet sequenced while others go on calling.
const WAITING_MAX: u64 = 50_000;

impl Check {
    fn report(&mut self, kind: &str, leaf_index: Option<u64>, call_id: Option<&str>, message: String) {
        if self.problems.len() < PROBLEMS_MAX {
            let call_id = call_id.map(str::to_owned);
            self.problems.push(LogProblem { kind: kind.to_owned(), leaf_index, call_id, message });
        }
    }

    fn leaf(&mut self, leaf: &Leaf) {
        let (index, call_id) = (leaf.leaf_index, leaf.call_id.as_str());
        if index != self.tree.size() {
            let message = format!("leaf {} is missing", self.tree.size());
            self.report("order", Some(self.tree.size()), None, message);
        }
        let Some(stored) = &leaf.event else {
            self.report("leaf", Some(index), Some(call_id), "the event is gone".to_owned());
            self.tree.push(leaf.leaf_hash);
            return;
        };
        let hash = Hash::leaf(stored.body.as_bytes());
        if hash != leaf.leaf_hash {
            self.report("leaf", Some(index), Some(call_id), "the event was changed".to_owned());
        }
        self.tree.push(hash);
        let Ok(event) = serde_json::from_str::<Event>(&stored.body) else {
            self.report("leaf", Some(index), Some(call_id), "the event cannot be read".to_owned());
            return;
        };
        let columns_agree = event.call_id == call_id
            && event.organisation_id.as_str() == stored.organisation_id
            && event.actor.id.as_str() == stored.actor_id
            && event.operation == stored.operation
            && event.outcome.name() == stored.outcome
            && event.time == rfc3339_us(stored.recorded_at_us);
        if !columns_agree {
            let message = "the columns of the event differ from its content".to_owned();
            self.report("column", Some(index), Some(call_id), message);
        }
        self.remember(&stored.organisation_id, event);
    }

    fn remember(&mut self, organisation_id: &str, event: Event) {
        for object in event.objects.into_iter().filter(|object| object.sha256.is_some() || object.is_deleted) {
            self.last.insert((organisation_id.to_owned(), object.kind, object.id), object.sha256);
        }
    }

    fn checkpoint(&mut self, kept: &StoredCheckpoint) {
        let place = format!("the checkpoint over {} leaves", kept.tree_size);
        let signed = match SignedCheckpoint::parse(kept.note.as_bytes()) {
            Ok(signed) => signed,
            Err(error) => {
                self.report("checkpoint", None, None, format!("{place} cannot be read: {error}"));
                return;
            }
        };
        if let Some(Err(error)) = self.policy.as_ref().map(|policy| policy.check(&signed)) {
            self.report("checkpoint", None, None, format!("{place} is not signed by this log: {error}"));
        }
        if let Some(witnessed) = &mut self.witnessed {
            witnessed.note(&signed, kept);
        }
        let head = signed.unverified().head();
        if head.size != self.tree.size() || head.root != self.tree.root() {
            self.report("checkpoint", None, None, format!("{place} commits to other events"));
        }
    }

    /// What witnesses should have cosigned by now.
    fn cosignatures(&mut self, now_us: i64) {
        let Some(witnessed) = &self.witnessed else { return };
        let is_missed = |since_us: i64| now_us.saturating_sub(since_us) > COSIGNED_WITHIN_US;
        if witnessed.n_cosignatures_min > 0 && witnessed.waiting_since_us.is_some_and(is_missed) {
            let size = witnessed.size.map_or("nothing".to_owned(), |size| format!("only the first {size} leaves"));
            let message =
                format!("{} witnesses must vouch for the log, but vouch for {size}", witnessed.n_cosignatures_min);
            self.report("witness", None, None, message);
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
        n_checked += self.evidence(conn).await?;
        let gone: Vec<_> = self.last.drain().filter(|(_, hash)| hash.is_some()).map(|(key, _)| key).collect();
        for (_, kind, id) in gone {
            self.report("object", None, None, format!("{kind} `{id}` was deleted by other hands"));
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
                let row = AuditedRow { kind: evidence_audited::BATCH, id, sha256 };
                self.object(FoundRow { organisation_id: batch.organisation_id, row });
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
                        self.report("object", None, None, format!("{kind} `{id}` was changed by other hands"));
                    }
                    Some(Difference::Added) => {
                        self.report("object", None, None, format!("no event tells of {kind} `{id}`"));
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
            for (kind, id) in batches.iter().flat_map(|batch| expected.missing(batch)) {
                self.report("object", None, None, format!("{kind} `{id}` was deleted by other hands"));
            }
        }
        Ok(())
    }

    fn object(&mut self, found: FoundRow) {
        let FoundRow { organisation_id, row } = found;
        let key = (organisation_id, row.kind.to_owned(), row.id.clone());
        match self.last.remove(&key) {
            Some(expected) if expected == row.sha256 => {}
            Some(_) => {
                self.report("object", None, None, format!("{} `{}` was changed by other hands", row.kind, row.id))
            }
            None => self.report("object", None, None, format!("no event tells of {} `{}`", row.kind, row.id)),
        }
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
