//! What was signed over the log: checkpoints in the database, beside it and at witnesses.

use std::collections::{BTreeSet, VecDeque};

use ledger::checkpoint::SignedCheckpoint;
use ledger::key::KeyId;
use ledger::policy::Policy;
use ledger::tree::TreeHead;
use store::log::{self, StoredCheckpoint};
use store::{Conn, StoreError, log_identity};

use super::{Check, PAGE, Trust};
use crate::audit::report::{Reader, Whose};
use crate::notary::CHECKPOINT_EVENTS_MAX;
use crate::watch::KeptCheckpoint;

/// A stretch of the log without a checkpoint.
#[derive(Default)]
pub(super) struct Unsigned {
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
    pub(super) fn note(&mut self, recorded_at_us: i64) {
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

/// The numbers of the checkpoints that were met. Each is signed, so that a hole shows wherever it is.
#[derive(Default)]
pub(super) struct Numbers {
    last: u64,
    /// Programs that gave no numbers have signed the first ones.
    is_begun: bool,
    /// That a backup has a hole was told.
    is_told: bool,
}

impl Numbers {
    /// One whose number cannot be believed stands for the one that is due.
    fn pass(&mut self) {
        self.last = self.last.saturating_add(1);
    }

    /// What is wrong with the next one. After a hole they are counted on from there, so that it is told once.
    fn meet(&mut self, number: Option<u64>) -> Option<String> {
        let due = self.last.saturating_add(1);
        let wrong = match number {
            Some(number) if number > due => {
                Some(format!("has the number {number}, but number {due} comes next: `log_checkpoints` lacks rows"))
            }
            Some(number) if number < due => {
                Some(format!("has the number {number}, but number {due} comes next: other hands added rows before it"))
            }
            None if self.is_begun => Some(
                "has no number, but those before it have: other hands added it, or an older program signed it"
                    .to_owned(),
            ),
            Some(_) | None => None,
        };
        self.last = number.unwrap_or(due);
        self.is_begun |= number.is_some();
        wrong
    }
}

/// How far enough witnesses vouch for the log.
pub(super) struct Witnessed {
    policy: Policy,
    n_cosignatures_min: usize,
    /// Over how many leaves the largest checkpoint is that they cosigned.
    pub(super) size: Option<u64>,
    /// The oldest checkpoint beyond it.
    waiting_since_us: Option<i64>,
}

/// A witness may be away for this long before it is missed.
const COSIGNED_WITHIN_US: i64 = 15 * 60 * 1_000_000;

impl Check<'_> {
    /// A stretch without a checkpoint ends. A backup may be of a house that was in trouble once, and is restored all the same.
    pub(super) fn end_unsigned(&mut self, reader: Reader<'_>) {
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
    pub(super) async fn own_tables(&mut self, conn: &mut Conn, trust: &Trust<'_>, size: u64) -> Result<(), StoreError> {
        let parsed = trust
            .kept
            .iter()
            .filter(|kept| kept.has_row)
            .filter_map(|kept| SignedCheckpoint::parse(kept.note.as_bytes()).ok());
        let sizes: BTreeSet<u64> = parsed.map(|signed| signed.unverified().size()).collect();
        for known in sizes.into_iter().filter(|known| (1..=size).contains(known)) {
            if log::find_checkpoint(conn, known).await?.is_none() {
                let message =
                    format!("the checkpoint over {known} events, which was signed, is not in `log_checkpoints`");
                self.report.add("checkpoint", Whose::Log, None, None, message);
            }
        }
        let n_empty = log::count_empty_checkpoints(conn).await?;
        if n_empty > 0 {
            let message = format!("{n_empty} rows of `log_checkpoints` are over no events: other hands added them");
            self.report.add("checkpoint", Whose::Log, None, None, message);
        }
        for table in log::tables_with_others(conn).await? {
            let message = format!("`{table}` has rows that are not of this program: other hands added them");
            self.report.add("table", Whose::Log, None, None, message);
        }
        if trust.is_claimed && log_identity::find(conn).await?.is_none() {
            let message = "whose log this is, is missing from `log_identity`".to_owned();
            self.report.add("identity", Whose::Log, None, None, message);
        }
        Ok(())
    }

    /// Checkpoints from outside, which the log is to meet.
    pub(super) fn take_in(&mut self, kept: &[KeptCheckpoint]) {
        for KeptCheckpoint { place, note, .. } in kept {
            let message = format!("{place} cannot be read or is not signed by this log");
            let is_ours =
                |signed: &SignedCheckpoint| self.policy.as_ref().is_some_and(|policy| policy.check(signed).is_ok());
            match SignedCheckpoint::parse(note.as_bytes()) {
                Ok(signed) if is_ours(&signed) => self.outside.push((*place, signed.unverified().head())),
                Ok(_) => self.report.add("checkpoint", Whose::Log, None, None, message),
                // The disk may have failed just now.
                Err(_) => self.report.add_passing("checkpoint", Whose::Log, None, None, message),
            }
        }
        self.meet_outside();
    }

    pub(super) fn meet_outside(&mut self) {
        let size = self.next_index;
        let met: Vec<_> = self.outside.extract_if(.., |(_, head)| head.size <= size).collect();
        for (place, TreeHead { size, .. }) in met.iter().filter(|(_, head)| head.root != self.tree.root()) {
            let message = format!("{place} is over {size} events that are not the first {size} of the log");
            self.report.add("checkpoint", Whose::Log, None, None, message);
        }
    }

    pub(super) fn checkpoint(&mut self, kept: &StoredCheckpoint, reader: Reader<'_>) {
        let place = format!("the checkpoint over {} leaves", kept.tree_size);
        let signed = match SignedCheckpoint::parse(kept.note.as_bytes()) {
            Ok(signed) => signed,
            Err(error) => {
                self.numbers.pass();
                self.report.add("checkpoint", Whose::Log, None, None, format!("{place} cannot be read: {error}"));
                return;
            }
        };
        let wrong = match self.policy.as_ref().map(|policy| policy.check(&signed)) {
            Some(Err(error)) => {
                self.numbers.pass();
                Some(format!("is not signed by this log: {error}"))
            }
            Some(Ok(_)) | None => match (self.numbers.meet(signed.unverified().number()), reader) {
                // A backup may be of a house that lost some once, and is restored all the same.
                (Some(wrong), Reader::Restorer) => {
                    self.note_of_backup(format!("{place} {wrong}"));
                    None
                }
                (wrong, _) => wrong,
            },
        };
        if let Some(wrong) = wrong {
            self.report.add("checkpoint", Whose::Log, None, None, format!("{place} {wrong}"));
        }
        if let Some(witnessed) = &mut self.witnessed {
            witnessed.note(&signed, kept);
        }
        self.note_forgotten(&signed, kept.tree_size);
        let head = signed.unverified().head();
        if head.size != self.tree.size() || head.root != self.tree.root() {
            self.report.add("checkpoint", Whose::Log, None, None, format!("{place} commits to other events"));
        }
    }

    /// Notes whose cosignatures a checkpoint carries beside those of the log and of the witnesses that are asked. Who is
    /// not asked has no key here, so that nobody can tell whether they hold; that they are there is worth a word.
    fn note_forgotten(&mut self, signed: &SignedCheckpoint, size: u64) {
        for signature in signed.note().signatures() {
            let by = (signature.name(), signature.id());
            if !self.asked.iter().any(|(name, id)| (name.as_str(), *id) == by) {
                self.forgotten.insert(signature.name().to_owned(), size);
            }
        }
    }

    /// Says once that the checkpoints of a backup are not all there: the first hole is enough to ask for another backup.
    fn note_of_backup(&mut self, what: String) {
        if !self.numbers.is_told {
            self.numbers.is_told = true;
            self.notes.push(what);
        }
    }

    /// What witnesses say against the log, and what they should have cosigned by now.
    pub(super) fn cosignatures(&mut self, trust: &Trust<'_>) {
        for (name, word) in trust.contradictions {
            self.report.add_passing("witness", Whose::Log, None, None, format!("the witness `{name}` {word}"));
        }
        // A backup is looked at without its witnesses.
        for (name, size) in std::mem::take(&mut self.forgotten) {
            if !matches!(trust.reader, Reader::Restorer) {
                self.notes.push(format!(
                    "checkpoints up to {size} events carry cosignatures of `{name}`, which is no witness of the settings: unless \
                     somebody took it out on purpose, put `[[witness]]` back and it tells whether the log was rolled back"
                ));
            }
        }
        let Some(witnessed) = &self.witnessed else { return };
        let is_missed = |since_us: i64| trust.now_us.saturating_sub(since_us) > COSIGNED_WITHIN_US;
        if witnessed.n_cosignatures_min > 0 && witnessed.waiting_since_us.is_some_and(is_missed) {
            let size = witnessed.size.map_or("nothing".to_owned(), |size| format!("only the first {size} leaves"));
            let message =
                format!("{} witnesses must vouch for the log, but vouch for {size}", witnessed.n_cosignatures_min);
            self.report.add_passing("witness", Whose::Log, None, None, message);
        }
    }
}

/// Whose signatures a checkpoint may carry: the log's own keys, and the witnesses that are asked.
pub(super) fn asked(trust: &Trust<'_>) -> Vec<(String, KeyId)> {
    let log = trust.keyring.all_verifiers().into_iter().map(|key| (key.name().to_owned(), key.id()));
    let witnesses = trust.witness_policy.witnesses.iter().map(|key| (key.name().to_owned(), key.id()));
    log.chain(witnesses).collect()
}

pub(super) fn witnessed(trust: &Trust<'_>) -> Option<Witnessed> {
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
pub(super) struct Checkpoints {
    ahead: VecDeque<StoredCheckpoint>,
    read_to: u64,
    is_read: bool,
}

impl Checkpoints {
    /// The next one, if it is over this many leaves, or over fewer where leaves are missing.
    pub(super) async fn at(&mut self, conn: &mut Conn, size: u64) -> Result<Option<StoredCheckpoint>, StoreError> {
        if self.ahead.is_empty() && !self.is_read {
            self.ahead = log::checkpoints_after(conn, self.read_to, PAGE).await?.into();
            self.is_read = self.ahead.is_empty();
            self.read_to = self.ahead.back().map_or(self.read_to, |last| last.tree_size);
        }
        match self.ahead.front() {
            Some(next) if next.tree_size <= size => Ok(self.ahead.pop_front()),
            Some(_) | None => Ok(None),
        }
    }

    pub(super) async fn rest(mut self, conn: &mut Conn) -> Result<Vec<StoredCheckpoint>, StoreError> {
        if !self.is_read {
            self.ahead.extend(log::checkpoints_after(conn, self.read_to, PAGE).await?);
        }
        Ok(self.ahead.into())
    }
}
