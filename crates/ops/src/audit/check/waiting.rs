//! Events without a place in the log, and rows of the log's tables that its tree does not have.

use contract::event::Event;
use store::log::{self, Position, WaitingEvent};
use store::{Conn, StoreError};

use super::{Caused, Check};
use crate::audit::report::Whose;
use crate::watch::SEQUENCED_WITHIN_US;

/// A sequencer at work takes a settled event within a second. One that waits for this long is not taken.
pub(in crate::audit) const SETTLED_WITHIN_US: i64 = 10_000_000;

/// How far the sequencer has come, and how far it can go.
#[derive(Clone, Copy)]
pub(super) struct Places {
    pub(super) reached: Position,
    /// No event can stand behind it.
    pub(super) farthest: Position,
    pub(super) settled_before: Position,
}

/// Whether an event without a place is where it may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    Usual,
    /// The sequencer should have taken it.
    Late,
    /// The sequencer has gone past it.
    Passed,
    /// Nobody puts an event there.
    Planted,
}

impl Check<'_> {
    /// Rows of the log's tables that its tree does not have.
    pub(super) async fn beyond(&mut self, conn: &mut Conn, size: u64) -> Result<(), StoreError> {
        let found = log::count_beyond(conn, size).await?;
        for (table, n_rows) in [("log_leaves", found.n_leaves), ("log_nodes", found.n_nodes)] {
            if n_rows > 0 {
                let message = format!(
                    "{n_rows} rows of `{table}` are not of the {size} events that the log has: other hands added them, or set \
                     `log_state` back; they keep events out of the log until they are deleted"
                );
                self.report.add("table", Whose::Log, None, None, message);
            }
        }
        Ok(())
    }

    /// Events without a place in the tree. They have changed rows already. Returns how many there are.
    pub(super) async fn waiting(
        &mut self,
        conn: &mut Conn,
        places: Places,
        now_us: Option<i64>,
    ) -> Result<u64, StoreError> {
        let n_ahead = log::count_ahead(conn, places.reached).await?;
        if n_ahead > 0 {
            let message = format!(
                "{n_ahead} events of the log stand after the place that the sequencer has reached: `events` or `log_state` \
                 was changed, and no event gets a place any more"
            );
            self.report.add("order", Whose::Log, None, None, message);
        }
        let (mut n_waiting, mut n_late, mut position) = (0, 0_u64, Position::FIRST);
        loop {
            let waiting = log::read_waiting(conn, position).await?;
            let Some(last) = waiting.last() else { break };
            position = last.position;
            for event in waiting {
                n_waiting += 1;
                if self.waiting_event(event, places, now_us) == Wait::Late {
                    n_late += 1;
                }
            }
        }
        if n_late > 0 {
            let message = format!(
                "{n_late} events are recorded and get no place in the log, so that nothing vouches for them: see what \
                 `materia doctor` and the server's log say, and delete rows that are named here as added by other hands"
            );
            self.report.add_passing("order", Whose::Log, None, None, message);
        }
        Ok(n_waiting)
    }

    fn waiting_event(&mut self, waiting: WaitingEvent, places: Places, now_us: Option<i64>) -> Wait {
        let event = serde_json::from_str::<Event>(&waiting.body).ok();
        // An event is written at the end of its call, and says when it began.
        let took_us = event.as_ref().map_or(0, |event| event.latency_ms.saturating_mul(1_000));
        let written_us = waiting.recorded_at_us.saturating_add(i64::try_from(took_us).unwrap_or(i64::MAX));
        let is_settled = waiting.position < places.settled_before;
        let within_us = if is_settled { SETTLED_WITHIN_US } else { SEQUENCED_WITHIN_US };
        let waited_us = now_us.map_or(0, |now_us| now_us.saturating_sub(written_us));
        let (wait, what) = match waited_us {
            _ if waiting.position <= places.reached => {
                (Wait::Passed, Some("the event is not in the log, although later ones are".to_owned()))
            }
            _ if waiting.position > places.farthest => {
                let what = "the event stands where no call puts one: other hands added it; delete its row of `events`";
                (Wait::Planted, Some(what.to_owned()))
            }
            us if us > within_us => {
                (Wait::Late, Some(format!("the event is not in the log, {} s after its call", us / 1_000_000)))
            }
            _ => (Wait::Usual, None),
        };
        let organisation_id = waiting.organisation_id;
        if let Some(message) = what {
            let whose = Whose::Organisation(&organisation_id);
            let call_id = Some(waiting.call_id.as_str());
            match wait {
                // A sequencer in trouble; the standing of the log tells of it while it lasts.
                Wait::Usual | Wait::Late => self.report.add_passing("order", whose, None, call_id, message),
                Wait::Passed | Wait::Planted => self.report.add("order", whose, None, call_id, message),
            }
        }
        // What other hands wrote vouches for no row.
        let event = event.filter(|_| wait != Wait::Planted);
        if let Some(event) = &event {
            self.note_promise(waiting.recorded_at_us, event);
            self.note_doubt(None, event);
        }
        match event {
            Some(event) if wait == Wait::Passed => self.remember_passed(&organisation_id, event),
            Some(event) => self.remember(&organisation_id, None, event),
            None => {}
        }
        wait
    }

    /// An event that later ones were put before. Ids of calls are in the order of time.
    fn remember_passed(&mut self, organisation_id: &str, event: Event) {
        self.note_starter_data(organisation_id, &event);
        let call = Caused { by: event.actor.id.to_string(), call_id: event.call_id.clone(), time: event.time };
        for object in event.objects.into_iter().filter(|object| object.sha256.is_some() || object.is_deleted) {
            let key = (organisation_id.to_owned(), object.kind, object.id);
            if self.last.get(&key).is_none_or(|last| last.call_id < event.call_id) {
                self.set_last(key, object.sha256, object.is_created, &call);
            }
        }
    }
}
