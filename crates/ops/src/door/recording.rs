//! How a call is recorded before it is answered: its event, the rows it leaves, and what of it may leave.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use contract::error::OpError;
use contract::event::Outcome;
use serde_json::Value;
use store::EventRow;

use super::lines::log_ended;
use super::{Inner, Reply, public};
use crate::drive::{Driven, write_error};
use crate::leaving::{self, Failed, Rows};
use crate::limits;
use crate::operation::{Record, store_error};
use crate::record::{Ending, Ticket, error_hash};
use crate::refusals;
use crate::table::Tool;

/// An event that could not be stored.
struct NotKept {
    error: OpError,
    /// It is in the queue, which goes on trying.
    is_queued: bool,
}

impl Inner {
    /// Writes the event, unless the writer already did, and answers. A call that cannot be recorded is not answered.
    pub(super) async fn record(
        &self,
        ticket: &Arc<Ticket>,
        tool: Option<&Arc<Tool>>,
        input: &Value,
        driven: Driven,
    ) -> Reply {
        let Driven { in_hash, mut result, mut outcome, recorded } = driven;
        let audit = match recorded {
            Some(audit) => {
                self.record_unrecorded();
                audit
            }
            None => {
                let rows = match (&mut result, tool) {
                    (Ok(done), _) => std::mem::take(&mut done.rows),
                    (Err(error), Some(tool)) => self.rows_of_failure(ticket, tool, input, error),
                    (Err(_), None) => Vec::new(),
                };
                let (out_hash, code, objects) = match &result {
                    Ok(done) => (done.out_hash.clone(), None, done.objects.as_slice()),
                    Err(error) => (error_hash(ticket, error), Some(error.code()), [].as_slice()),
                };
                let ending = Ending { in_hash: &in_hash, out_hash: &out_hash, outcome, code, objects, kept_as: None };
                let (audit, event) = ticket.close(&ending);
                match self.keep(tool, outcome, event, &rows).await {
                    Ok(()) => self.record_unrecorded(),
                    Err(NotKept { error, is_queued }) => {
                        if !is_queued {
                            self.unrecorded.note_unrecorded(&ticket.actor, ticket.recorded_as);
                        }
                        // What could not be recorded did not succeed, whatever the operation said. Where it says itself
                        // that the store is not to be had, it says why.
                        let is_told = tool.is_some_and(|tool| tool.entry.is_told_unrecorded)
                            && self.queue.failure().is_some_and(|failure| failure.is_about_a_swallowed_event());
                        if outcome != Outcome::Busy && !is_told {
                            outcome = error.kind.into();
                            result = Err(error);
                        }
                    }
                }
                audit
            }
        };
        log_ended(ticket, tool.map(|tool| &**tool), input, &result, outcome, &self.settings);
        if let (Ok(done), true) = (&mut result, tool.is_some_and(|tool| tool.entry.is_stamped)) {
            done.stamp(&audit);
        }
        Reply {
            call_id: ticket.call_id,
            dialect: ticket.dialect,
            result: result.map(Into::into).map_err(|error| public(error, ticket.call_id)),
            audit,
        }
    }

    fn rows_of_failure(&self, ticket: &Ticket, tool: &Tool, input: &Value, error: &OpError) -> Vec<Rows> {
        let failed = Failed {
            call_id: ticket.call_id,
            actor: &ticket.actor,
            correlation: &ticket.correlation,
            started_us: ticket.started_us,
            latency_ms: ticket.latency_ms(),
            input,
            was_valid: ticket.is_admitted.load(Ordering::Relaxed),
            error,
            subject_keys: &self.subject_keys,
        };
        (tool.entry.rows_of_failure)(&failed).into_iter().collect()
    }

    /// Stores the event, with the rows that its call leaves.
    async fn keep(
        &self,
        tool: Option<&Arc<Tool>>,
        outcome: Outcome,
        event: EventRow,
        rows: &[Rows],
    ) -> Result<(), NotKept> {
        let record = tool.map_or(Record::Queued, |tool| tool.entry.record);
        let is_write = tool.is_some_and(|tool| tool.entry.is_write);
        let kept = if outcome == Outcome::Busy {
            // A store that did not take the change will not take its event either: it waits in the queue.
            self.push(event)
        } else if !rows.is_empty() {
            let committed = leaving::commit(&self.store, rows, &event).await;
            return committed.map_err(|error| self.keep_without_rows(outcome, event, write_error(error)));
        } else if record == Record::Queued {
            self.push(event)
        } else if is_write {
            self.store.append_events(vec![event]).await.map_err(store_error)
        } else {
            match self.push(event) {
                // All that wait are stored by one commit.
                Ok(()) => {
                    let flushed = self.queue.flush().await;
                    return flushed.map_err(|error| NotKept { error: self.told(store_error(error)), is_queued: true });
                }
                Err(error) => Err(error),
            }
        };
        kept.map_err(|error| NotKept { error: self.told(error), is_queued: false })
    }

    /// The event alone, where its rows could not be stored: the call is not answered, and the event waits in the queue. It
    /// says how the call went before that.
    fn keep_without_rows(&self, outcome: Outcome, event: EventRow, error: OpError) -> NotKept {
        let call_id = event.call_id.as_str();
        tracing::error!(call_id, outcome = outcome.name(), "The rows of a call could not be stored with its event");
        let is_queued = self.push(event).is_ok();
        NotKept { error: self.told(error), is_queued }
    }

    fn push(&self, event: EventRow) -> Result<(), OpError> {
        self.queue.try_push(event).map_err(|_| match self.queue.failure() {
            Some(error) => store_error(error),
            None => OpError::busy("the log cannot take more at the moment, try again", limits::RETRY_AFTER_MS),
        })
    }

    /// Where nothing is taken because a history was lost, trying again does not help.
    fn told(&self, error: OpError) -> OpError {
        self.watch.check_writes(self.clock.now_us()).err().unwrap_or(error)
    }

    /// Tells of the calls that could not be recorded, as soon as something can.
    pub(super) fn record_unrecorded(&self) {
        let now_us = self.clock.now_us();
        for refused in self.unrecorded.drain() {
            let is_kept = refusals::event(&refused, now_us).is_none_or(|event| self.queue.try_push(event).is_ok());
            if !is_kept {
                self.unrecorded.put_back(refused, refusals::NOT_RECORDED);
            }
        }
    }
}
