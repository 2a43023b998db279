//! Doubts: what a process found that speaks against the record, although it may have been put right a moment later. Each
//! becomes an event, so that it outlasts the process, until somebody says that they have looked: `accept_rollback`.

use std::collections::{HashMap, HashSet};

use contract::actor::ActorKind;
use contract::canonical;
use contract::error::OpError;
use contract::event::{Correlation, Event, EventActor, Outcome, Touched};
use contract::id::{ActorId, OrganisationId};
use contract::time::rfc3339_us;
use store::{EventRow, Param, Reader, Row};
use uuid::Uuid;

use crate::acceptance;
use crate::door::Platform;
use crate::operation::store_error;
use crate::record::{SCHEMA_VERSION, row};

/// What the event calls it.
pub(crate) const OPERATION: &str = "note_doubt";
/// The program itself.
const ACTOR: &str = "materia";
/// What an event about a doubt names.
const KIND: &str = "doubt";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Doubt {
    pub code: &'static str,
    /// Names and numbers, nothing of any content.
    pub what: String,
    /// Otherwise it may have a good reason.
    pub is_wrong: bool,
    /// What a verification found. While one of its kind is open, another is not recorded.
    pub finding: Option<Finding>,
}

/// One kind of problem that a verification found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub kind: String,
    /// The first of its kind, for the house's own auditors: it may name rows of other organisations.
    pub first: String,
}

impl Doubt {
    pub fn wrong(code: &'static str, what: String) -> Doubt {
        Doubt { code, what, is_wrong: true, finding: None }
    }

    pub fn worth_a_look(what: String) -> Doubt {
        Doubt { code: "WORTH_A_LOOK", what, is_wrong: false, finding: None }
    }

    pub fn found(what: String, finding: Finding) -> Doubt {
        Doubt { code: "FOUND_WRONG", what, is_wrong: true, finding: Some(finding) }
    }

    fn event(&self, organisation_id: &str, now_us: i64) -> Option<EventRow> {
        let finding = self.finding.as_ref().map(|finding| Touched::named(&finding.kind, &finding.first));
        let event = Event {
            call_id: Uuid::now_v7().to_string(),
            time: rfc3339_us(now_us),
            organisation_id: OrganisationId::parse(organisation_id).ok()?,
            actor: EventActor {
                id: ActorId::parse(ACTOR).ok()?,
                kind: ActorKind::Service,
                issuer: None,
                client_id: None,
                key_id: None,
            },
            operation: OPERATION.to_owned(),
            outcome: if self.is_wrong { Outcome::Conflict } else { Outcome::Ok },
            code: Some(self.code.to_owned()),
            count: None,
            in_hash: canonical::hash(&self.what).ok()?,
            out_hash: canonical::hash(&self.code).ok()?,
            hash_key: None,
            latency_ms: 0,
            objects: std::iter::once(Touched::named(KIND, &self.what)).chain(finding).collect(),
            kept_as: None,
            correlation: Correlation::default(),
            schema_version: SCHEMA_VERSION.to_owned(),
        };
        Some(row(&event, now_us))
    }
}

/// A doubt that an event tells of.
pub(crate) struct Told {
    pub what: String,
    pub is_wrong: bool,
    pub finding: Option<Finding>,
}

/// What an event says of doubts. Nobody calls an operation of these names: the door records such a call as `unknown`.
pub(crate) enum Said {
    Doubt(Told),
    /// Somebody has looked, and goes on with the record as it is.
    Accepted,
}

pub(crate) fn said(event: &Event) -> Option<Said> {
    match event.operation.as_str() {
        OPERATION if event.actor.id.as_str() == ACTOR => {
            let what = event.objects.first().map_or_else(String::new, |object| object.id.clone());
            let finding =
                event.objects.get(1).map(|object| Finding { kind: object.kind.clone(), first: object.id.clone() });
            Some(Said::Doubt(Told { what, is_wrong: event.outcome == Outcome::Conflict, finding }))
        }
        acceptance::OPERATION => Some(Said::Accepted),
        _ => None,
    }
}

/// Which doubts are looked for.
#[derive(Clone, Copy)]
enum Which {
    Wrong,
    All,
}

/// Whether somebody has accepted a doubt since: by its body and its place.
async fn is_accepted(reader: &mut Reader, doubt: &Row) -> Result<bool, OpError> {
    let number = |column: usize| doubt.int(column).map(Param::Int).map_err(store_error);
    // By their order in the log: the word of an acceptance may be older than the start that wrote it down.
    let sql = "SELECT 1 FROM events WHERE operation = $1 AND (commit_key, event_seq) > ($2, $3) LIMIT 1";
    let params = [Param::Text(acceptance::OPERATION), number(1)?, number(2)?];
    Ok(reader.fetch_optional(sql, &params).await.map_err(store_error)?.is_some())
}

impl Platform {
    /// Tells of a doubt, once in a process.
    pub(crate) fn doubt(&self, doubt: Doubt) {
        if !self.watch().doubt(&doubt) {
            return;
        }
        let event = doubt.event(self.files().home_organisation_id(), self.clock().now_us());
        if event.is_none_or(|event| self.queue().try_push(event).is_err()) {
            self.watch().put_back(vec![doubt]);
        }
    }

    /// Writes down what was found when this process came. What cannot be written is told by this process alone.
    pub async fn record_doubts(&self) {
        let doubts = self.watch().take_doubts();
        if doubts.is_empty() {
            return;
        }
        let news = self.without_known(doubts).await;
        let (home, now_us) = (self.files().home_organisation_id().to_owned(), self.clock().now_us());
        let events: Vec<EventRow> = news.iter().filter_map(|doubt| doubt.event(&home, now_us)).collect();
        let written = if events.is_empty() { Ok(()) } else { self.store().append_events(events).await };
        if let Err(error) = written {
            tracing::error!(error = %error, "Doubts could not be recorded; the next start may not know of them");
            self.watch().put_back(news);
        } else {
            self.watch().forget_held();
        }
    }

    /// Leaves out what a verification found of a kind that the log tells of already.
    async fn without_known(&self, doubts: Vec<Doubt>) -> Vec<Doubt> {
        let mut known = HashSet::new();
        if doubts.iter().any(|doubt| doubt.finding.is_some()) {
            match self.open_kinds().await {
                Ok(open) => known = open,
                Err(error) => tracing::warn!(error = %error, "Earlier doubts could not be looked for"),
            }
        }
        let is_news = |doubt: &Doubt| doubt.finding.as_ref().is_none_or(|finding| known.insert(finding.kind.clone()));
        let (news, _): (Vec<Doubt>, Vec<Doubt>) = doubts.into_iter().partition(is_news);
        news
    }

    /// The kinds of findings that nobody has accepted.
    async fn open_kinds(&self) -> Result<HashSet<String>, OpError> {
        let home = self.files().home_organisation_id().to_owned();
        let mut reader = self.store().read().await.map_err(store_error)?;
        let sql = "SELECT body, commit_key, event_seq FROM events WHERE organisation_id = $1 AND actor_id = $2 \
                   AND operation = $3 ORDER BY recorded_at_us DESC LIMIT 1000";
        let params = [Param::Text(&home), Param::Text(ACTOR), Param::Text(OPERATION)];
        let rows = reader.fetch_all(sql, &params).await.map_err(store_error)?;
        let mut newest = HashMap::new();
        for row in rows {
            let event: Option<Event> = serde_json::from_str(&row.text(0).map_err(store_error)?).ok();
            if let Some(Said::Doubt(Told { finding: Some(finding), .. })) = event.as_ref().and_then(said) {
                newest.entry(finding.kind).or_insert(row);
            }
        }
        let mut open = HashSet::new();
        for (kind, row) in newest {
            if !is_accepted(&mut reader, &row).await? {
                open.insert(kind);
            }
        }
        Ok(open)
    }

    /// The newest doubt that nobody has accepted, of those that something is wrong, or of all.
    async fn find_doubt(&self, which: Which) -> Result<Option<String>, OpError> {
        let home = self.files().home_organisation_id().to_owned();
        let mut reader = self.store().read().await.map_err(store_error)?;
        // By the index over actors: the program itself has few events.
        let sql = "SELECT body, commit_key, event_seq FROM events WHERE organisation_id = $1 AND actor_id = $2 \
                   AND operation = $3 AND (outcome = 'conflict' OR $4 = 'all') ORDER BY recorded_at_us DESC LIMIT 1";
        let which = match which {
            Which::Wrong => "wrong",
            Which::All => "all",
        };
        let params = [Param::Text(&home), Param::Text(ACTOR), Param::Text(OPERATION), Param::Text(which)];
        let Some(found) = reader.fetch_optional(sql, &params).await.map_err(store_error)? else { return Ok(None) };
        if is_accepted(&mut reader, &found).await? {
            return Ok(None);
        }
        let body = found.text(0).map_err(store_error)?;
        let event: Option<Event> = serde_json::from_str(&body).ok();
        Ok(event.as_ref().and_then(said).and_then(|said| match said {
            Said::Doubt(told) => Some(told.what),
            Said::Accepted => None,
        }))
    }

    /// Whether the log tells of doubts that nobody has accepted.
    pub async fn has_doubts(&self) -> Result<bool, OpError> {
        Ok(self.find_doubt(Which::All).await?.is_some())
    }

    /// Has the standing of the log tell of a doubt of an earlier process.
    pub async fn recall_doubt(&self) {
        match self.find_doubt(Which::Wrong).await {
            Ok(doubt) => self.watch().recall_doubt(doubt),
            Err(error) => tracing::warn!(error = %error, "Earlier doubts could not be looked for"),
        }
    }
}
