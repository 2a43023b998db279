//! What this process knows of its log beyond the database: which checkpoint it signed last, which one lies beside the
//! database, and what speaks against the log as it is.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use contract::error::OpError;
use ledger::checkpoint::SignedCheckpoint;
use ledger::tree::TreeHead;
use serde::{Deserialize, Serialize};

use crate::doubts::Doubt;
use crate::held_doubts;

/// An event that waits longer than this for its place was forgotten, or nothing gets a place any more.
pub(crate) const SEQUENCED_WITHIN_US: i64 = 60_000_000;
/// An event of a long call is old when it comes. Only one that is still there at a later look waits.
const SEEN_AGAIN_AFTER_US: i64 = 5_000_000;

/// The store must have refused the sequencer for so long, and more than once, before it is believed to have stopped.
const STOPPED_AFTER_US: i64 = 3_000_000;

/// The log did not continue what was signed, and does again.
const ROLLED_BACK: &str = "ROLLED_BACK";

/// So many doubts are told by one process; whoever has to look has begun by then.
const TOLD_MAX: usize = 1_000;

/// How the log stands, as the owner's notary found it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum LogStanding {
    Fine,
    /// It does not continue what was signed.
    Contradicted {
        reason: String,
    },
    /// Events have waited too long for their place.
    Stalled {
        reason: String,
    },
    /// The store refuses what the sequencer writes: no event gets a place until somebody has looked.
    Stopped {
        reason: String,
    },
    /// It grows, but something was found that nobody has looked into yet.
    Doubted {
        reason: String,
    },
}

impl LogStanding {
    pub fn word(&self) -> &'static str {
        match self {
            LogStanding::Fine => "ok",
            LogStanding::Contradicted { .. } => "contradicted",
            LogStanding::Stalled { .. } => "stalled",
            LogStanding::Stopped { .. } => "stopped",
            LogStanding::Doubted { .. } => "doubted",
        }
    }
}

/// Why the log does not continue what was signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Contradiction {
    pub reason: String,
    /// Otherwise what was signed could not be read just now, and nobody can tell.
    pub is_certain: bool,
}

/// A signed checkpoint that was kept outside the database.
#[derive(Debug, Clone)]
pub struct KeptCheckpoint {
    /// Where it was kept, for a message.
    pub place: &'static str,
    pub note: String,
    /// Whether it was written into the table too.
    pub has_row: bool,
}

pub struct LogWatch {
    checkpoint_file: Option<PathBuf>,
    doubts_file: Option<PathBuf>,
    memory: Mutex<Memory>,
}

#[derive(Default)]
struct Memory {
    /// Size and text of the largest checkpoint that this process signed, or found to be right.
    signed: Option<(u64, String)>,
    /// The tree as this process last saw it. It may only grow.
    seen: Option<TreeHead>,
    contradiction: Option<Contradiction>,
    failing_since_us: Option<i64>,
    refusal: Option<Refusal>,
    /// The oldest event that waits, when it was first seen to wait, and for how long it does.
    waiting: Option<(String, i64, i64)>,
    /// Doubts that no event tells of yet.
    doubts: Vec<Doubt>,
    /// Some of them lie beside the database, until the log tells of them.
    is_holding: bool,
    /// What of them was told, so that none is told twice.
    told: HashSet<String>,
    /// The last doubt that something is wrong, of this process or an earlier one.
    doubted: Option<String>,
    /// This process saw, or wrote, whose log it is.
    is_claimed: bool,
    /// Witnesses that know of another history, each with its word.
    witnesses: BTreeMap<String, String>,
    /// Somebody said that the loss is meant.
    is_loss_accepted: bool,
}

/// The store answered, and refused what the sequencer wrote.
#[derive(Debug, Clone)]
struct Refusal {
    since_us: i64,
    is_repeated: bool,
    reason: String,
}

/// How a try to give events their places ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tried {
    Worked,
    /// Another process is at it.
    Elsewhere,
    /// The database is away, full or busy.
    Unavailable,
    Refused(String),
}

impl LogWatch {
    pub(crate) fn new(checkpoint_file: Option<PathBuf>) -> LogWatch {
        // Whoever draws them wants to see that nothing is wrong, not that nothing is known.
        metrics::gauge!("materia_log_contradicted").set(0.0);
        metrics::gauge!("materia_log_doubted").set(0.0);
        metrics::gauge!("materia_log_lag_seconds").set(0.0);
        metrics::gauge!("materia_log_stopped").set(0.0);
        let doubts_file = checkpoint_file.as_deref().map(held_doubts::file);
        let watch = LogWatch { checkpoint_file, doubts_file, memory: Mutex::default() };
        watch.take_up_doubts();
        watch
    }

    /// Takes up what an earlier process could not record.
    fn take_up_doubts(&self) {
        let held = match self.doubts_file.as_deref().map(held_doubts::read) {
            Some(Ok(held)) => held,
            Some(Err(error)) => {
                tracing::error!(error = %error, "Doubts of an earlier process could not be read beside the database");
                return;
            }
            None => return,
        };
        let mut memory = self.memory();
        memory.is_holding = !held.is_empty();
        memory.told.extend(held.iter().cloned());
        drop(memory);
        self.put_back(held.into_iter().map(|what| Doubt::wrong(ROLLED_BACK, what)).collect());
    }

    /// Keeps a doubt that cannot be recorded while the log is not the right one; beside the database for the next process.
    fn hold(&self, doubt: Doubt) {
        if !self.doubt(&doubt) {
            return;
        }
        if let Some(Err(error)) = self.doubts_file.as_deref().map(|file| held_doubts::add(file, &doubt.what)) {
            tracing::warn!(error = %error, "A doubt could not be kept beside the database");
        }
        let mut memory = self.memory();
        memory.doubts.push(doubt);
        memory.is_holding = true;
    }

    /// Keeps what a verification found until the log tells of it.
    pub(crate) fn note_found(&self, doubts: Vec<Doubt>) {
        doubts.into_iter().for_each(|doubt| self.hold(doubt));
    }

    pub(crate) fn is_holding(&self) -> bool {
        self.memory().is_holding
    }

    /// The log tells of all of them.
    pub(crate) fn forget_held(&self) {
        let mut memory = self.memory();
        if !memory.is_holding || !memory.doubts.is_empty() {
            return;
        }
        memory.is_holding = false;
        drop(memory);
        if let Some(Err(error)) = self.doubts_file.as_deref().map(held_doubts::forget) {
            tracing::warn!(error = %error, "Doubts that were recorded still lie beside the database");
        }
    }

    /// What the log must continue. To be read before the log is: it may only have grown since.
    pub(crate) fn kept(&self) -> Vec<KeptCheckpoint> {
        let mut kept = Vec::new();
        if let Some((_, note)) = &self.memory().signed {
            kept.push(KeptCheckpoint {
                place: "the last checkpoint that was signed here",
                note: note.clone(),
                has_row: true,
            });
        }
        let place = "the checkpoint kept beside the database";
        match self.checkpoint_file.as_ref().map(std::fs::read_to_string) {
            Some(Ok(note)) => kept.push(KeptCheckpoint { place, note, has_row: true }),
            Some(Err(error)) if error.kind() != std::io::ErrorKind::NotFound => {
                // Unreadable is not the same as absent: nothing is signed until somebody has looked.
                kept.push(KeptCheckpoint { place, note: String::new(), has_row: true });
            }
            Some(Err(_)) | None => {}
        }
        kept
    }

    /// The head of the log that lies beside the database, if it is there whole: it is written often and not synced.
    pub(crate) fn kept_head(&self) -> Option<KeptCheckpoint> {
        let note = std::fs::read_to_string(self.checkpoint_file.as_ref()?.with_extension("head")).ok()?;
        SignedCheckpoint::parse(note.as_bytes()).ok()?;
        Some(KeptCheckpoint { place: "the head kept beside the database", note, has_row: false })
    }

    /// Remembers a checkpoint that was signed, or found to be one of this log.
    pub fn remember(&self, size: u64, note: &str) {
        let mut memory = self.memory();
        if memory.signed.as_ref().is_none_or(|(known, _)| *known <= size) {
            memory.signed = Some((size, note.to_owned()));
        }
    }

    /// The text of the largest checkpoint that was signed here, or found to be one of this log.
    pub fn newest(&self) -> Option<String> {
        self.memory().signed.as_ref().map(|(_, note)| note.clone())
    }

    /// Whether a checkpoint over so many events, or more, is remembered.
    pub(crate) fn remembers(&self, size: u64) -> bool {
        self.memory().signed.as_ref().is_some_and(|(known, _)| *known >= size)
    }

    pub(crate) fn see(&self, head: TreeHead) {
        self.memory().seen = Some(head);
    }

    pub(crate) fn seen(&self) -> Option<TreeHead> {
        self.memory().seen
    }

    /// Something of the log's own tables was missing when this process came. Work goes on, and an auditor is told.
    pub(crate) fn note_missing_at_start(&self, what: String) {
        tracing::error!(what, "The tables of the log lack something that was there");
        self.put_back(vec![Doubt::wrong("TABLE_CHANGED", what)]);
    }

    /// An event came that no process of this house can have written.
    pub(crate) fn note_added(&self, what: String) {
        tracing::error!(what, "Other hands added an event");
        self.put_back(vec![Doubt::wrong("EVENT_ADDED", what)]);
    }

    /// Something is not as in a house that was left alone, though it may have a good reason.
    pub(crate) fn note(&self, what: String) {
        tracing::warn!(what, "The log is worth a look");
        self.put_back(vec![Doubt::worth_a_look(what)]);
    }

    /// Doubts that no event tells of yet.
    pub(crate) fn doubts(&self) -> Vec<Doubt> {
        self.memory().doubts.clone()
    }

    /// Takes them, for whoever writes their events.
    pub(crate) fn take_doubts(&self) -> Vec<Doubt> {
        std::mem::take(&mut self.memory().doubts)
    }

    pub(crate) fn put_back(&self, doubts: Vec<Doubt>) {
        let mut memory = self.memory();
        if let Some(wrong) = doubts.iter().rev().find(|doubt| doubt.is_wrong) {
            memory.set_doubted(wrong.what.clone());
        }
        memory.doubts.extend(doubts);
    }

    /// Whether the doubt is news in this process. Health shows it from here on.
    pub(crate) fn doubt(&self, doubt: &Doubt) -> bool {
        let mut memory = self.memory();
        if memory.told.len() >= TOLD_MAX || !memory.told.insert(doubt.what.clone()) {
            return false;
        }
        if doubt.is_wrong {
            memory.set_doubted(doubt.what.clone());
        }
        drop(memory);
        tracing::error!(code = doubt.code, what = doubt.what, "The record was changed by other hands");
        true
    }

    /// A doubt of an earlier process that nobody has accepted; nothing takes back what this process found itself.
    pub(crate) fn recall_doubt(&self, doubt: Option<String>) {
        let mut memory = self.memory();
        if let Some(doubt) = memory.doubted.take().or(doubt) {
            memory.set_doubted(doubt);
        }
    }

    pub(crate) fn note_claimed(&self) {
        self.memory().is_claimed = true;
    }

    pub(crate) fn is_claimed(&self) -> bool {
        self.memory().is_claimed
    }

    /// Whether the log must be compared at once: it is shorter than what was signed, or it was wrong at the last look.
    pub(crate) fn is_doubtful(&self, size: u64) -> bool {
        let memory = self.memory();
        memory.contradiction.is_some() || memory.signed.as_ref().is_some_and(|(signed, _)| *signed > size)
    }

    pub(crate) fn note_contradiction(&self, found: Option<Contradiction>) {
        let before = self.change(|memory| std::mem::replace(&mut memory.contradiction, found.clone()));
        let is_certain = |contradiction: &&Contradiction| contradiction.is_certain;
        if let Some(certain) = found.as_ref().filter(is_certain)
            && before.as_ref().filter(is_certain).is_none()
        {
            self.hold(Doubt::wrong(ROLLED_BACK, certain.reason.clone()));
        }
        match found {
            Some(Contradiction { reason, .. }) if before.is_none() => {
                tracing::error!(reason, "The log does not continue what was signed; no checkpoint is signed over it");
            }
            None if before.is_some() => tracing::info!("The log continues what was signed again"),
            Some(_) | None => {}
        }
    }

    /// Whether events could be given their places at the last try.
    pub(crate) fn note_sequencing(&self, tried: Tried, now_us: i64) {
        let mut memory = self.memory();
        let was_stopped = memory.stopped(now_us).is_some();
        memory.failing_since_us = match tried {
            Tried::Worked | Tried::Elsewhere => None,
            Tried::Unavailable | Tried::Refused(_) => Some(memory.failing_since_us.unwrap_or(now_us)),
        };
        memory.refusal = match (tried, memory.refusal.take()) {
            (Tried::Worked, _) => None,
            (Tried::Elsewhere | Tried::Unavailable, known) => known,
            (Tried::Refused(reason), Some(known)) => Some(Refusal { is_repeated: true, reason, ..known }),
            (Tried::Refused(reason), None) => Some(Refusal { since_us: now_us, is_repeated: false, reason }),
        };
        let stopped = memory.stopped(now_us);
        drop(memory);
        metrics::gauge!("materia_log_stopped").set(if stopped.is_some() { 1.0 } else { 0.0 });
        match stopped {
            Some(reason) if !was_stopped => tracing::error!(reason, "The log takes no events; nothing is written"),
            None if was_stopped => tracing::info!("The log takes events again"),
            Some(_) | None => {}
        }
        self.show_lag(now_us);
    }

    /// The oldest event that waits too long, by its call, and since when.
    pub(crate) fn note_waiting(&self, oldest: Option<(String, i64)>, now_us: i64) {
        let mut memory = self.memory();
        memory.waiting = oldest.map(|(call_id, since_us)| match memory.waiting.take() {
            Some((known, seen_us, _)) if known == call_id => (known, seen_us, since_us),
            Some(_) | None => (call_id, now_us, since_us),
        });
        drop(memory);
        self.show_lag(now_us);
    }

    #[expect(clippy::cast_precision_loss, reason = "a gauge does not need the last digit")]
    fn show_lag(&self, now_us: i64) {
        let since_us = self.memory().stalled_since_us(now_us);
        let lag_us = since_us.map_or(0, |since_us| now_us.saturating_sub(since_us));
        metrics::gauge!("materia_log_lag_seconds").set(lag_us as f64 / 1e6);
    }

    /// A witness that knows of another history says so; one that agrees again is forgotten.
    pub fn note_witness(&self, name: &str, contradiction: Option<String>) {
        self.change(|memory| match contradiction {
            Some(word) => memory.witnesses.insert(name.to_owned(), word),
            None => memory.witnesses.remove(name),
        });
    }

    /// Witnesses that know of another history, each with its word.
    pub(crate) fn contradicting_witnesses(&self) -> Vec<(String, String)> {
        self.memory().witnesses.iter().map(|(name, word)| (name.clone(), word.clone())).collect()
    }

    /// Whether somebody said that what the witnesses miss was lost on purpose.
    pub fn accept_loss(&self, is_accepted: bool) {
        self.change(|memory| memory.is_loss_accepted = is_accepted);
    }

    /// Why nothing may be written: a number that is given out over a lost history may have been given out before, and
    /// nothing vouches for an event that gets no place.
    pub(crate) fn check_writes(&self, now_us: i64) -> Result<(), OpError> {
        let memory = self.memory();
        if let Some(Contradiction { reason, .. }) = memory.objections().find(|objection| objection.is_certain) {
            return Err(OpError::conflict(format!(
                "nothing is written: {reason}; restore what was lost, or stop the server and run \
                 `materia recover --accept-rollback`"
            )));
        }
        match memory.stopped(now_us) {
            Some(reason) => Err(OpError::conflict(format!(
                "nothing is written: {reason}; `materia audit verify` names what is in the way"
            ))),
            None => Ok(()),
        }
    }

    pub fn standing(&self, now_us: i64) -> LogStanding {
        let memory = self.memory();
        if let Some(Contradiction { reason, .. }) = memory.objections().next() {
            return LogStanding::Contradicted { reason };
        }
        if let Some(reason) = memory.stopped(now_us) {
            return LogStanding::Stopped { reason };
        }
        let stalled_us = memory.stalled_since_us(now_us).map(|since_us| now_us.saturating_sub(since_us));
        match (stalled_us, &memory.waiting) {
            (Some(us), Some((call_id, _, _))) if us > SEQUENCED_WITHIN_US => LogStanding::Stalled {
                reason: format!("the event of call {call_id} has waited {} s for its place", us / 1_000_000),
            },
            (Some(us), _) if us > SEQUENCED_WITHIN_US => LogStanding::Stalled {
                reason: format!("events could not be given their places for {} s", us / 1_000_000),
            },
            (_, _) => match &memory.doubted {
                Some(reason) => LogStanding::Doubted { reason: reason.clone() },
                None => LogStanding::Fine,
            },
        }
    }

    /// Changes what is known of contradictions, and shows it.
    fn change<T>(&self, change: impl FnOnce(&mut Memory) -> T) -> T {
        let mut memory = self.memory();
        let changed = change(&mut memory);
        metrics::gauge!("materia_log_contradicted").set(if memory.objections().next().is_some() { 1.0 } else { 0.0 });
        changed
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory {
    fn set_doubted(&mut self, what: String) {
        self.doubted = Some(what);
        metrics::gauge!("materia_log_doubted").set(1.0);
    }

    /// What speaks against the log: it does not continue what was signed, or a witness knows of another history.
    fn objections(&self) -> impl Iterator<Item = Contradiction> {
        let witnesses = self
            .witnesses
            .iter()
            .filter(|_| !self.is_loss_accepted)
            .map(|(name, word)| Contradiction { reason: format!("the witness `{name}` {word}"), is_certain: true });
        self.contradiction.iter().cloned().chain(witnesses)
    }

    /// Why no event gets a place.
    fn stopped(&self, now_us: i64) -> Option<String> {
        let refusal = self.refusal.as_ref()?;
        let is_long = now_us.saturating_sub(refusal.since_us) >= STOPPED_AFTER_US;
        (refusal.is_repeated && is_long).then(|| format!("events get no place in the log: {}", refusal.reason))
    }

    fn stalled_since_us(&self, now_us: i64) -> Option<i64> {
        let waiting = self.waiting.as_ref();
        let waiting = waiting.filter(|(_, seen_us, _)| now_us.saturating_sub(*seen_us) >= SEEN_AGAIN_AFTER_US);
        [self.failing_since_us, waiting.map(|(_, _, since_us)| *since_us)].into_iter().flatten().min()
    }
}
