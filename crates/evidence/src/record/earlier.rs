//! The documents of a batch as the record has them: what a withdrawal leaves of them, and which of two records of a paper was
//! revised later.

use std::collections::{BTreeSet, HashMap};

use contract::evidence::record::{Document, RecordKind};
use serde_json::Value;
use store::{Conn, StoreError};

use super::put::Changes;
use super::{Incoming, Sha256, read};

const PAPER: &str = "paper";

/// Their bodies, by their ids.
pub(super) struct Earlier(HashMap<String, String>);

/// A document that was revised later than the one that comes.
pub(super) struct Newer {
    pub document: Document,
    pub body: String,
    /// Why the one that comes is not kept.
    pub reason: String,
}

impl Earlier {
    /// Few documents of a batch are other than the record has them, and only those are read.
    pub async fn read(
        conn: &mut Conn,
        organisation_id: &str,
        incoming: &[Incoming],
        known: &HashMap<(RecordKind, String), Sha256>,
    ) -> Result<Earlier, StoreError> {
        let is_asked = |record: &&Incoming| {
            let before = known.get(&(record.kind, record.id.clone()));
            match &record.content {
                None => before.is_some() && record.source.is_some(),
                Some(content) => before.is_some_and(|before| *before != content.sha256),
            }
        };
        let asked = incoming.iter().filter(|record| record.kind == RecordKind::Document).filter(is_asked);
        let ids: BTreeSet<&str> = asked.map(|record| record.id.as_str()).collect();
        let ids: Vec<&str> = ids.into_iter().collect();
        let stored = read::find(conn, organisation_id, RecordKind::Document, &ids).await?;
        Ok(Earlier(stored.into_iter().map(|it| (it.id, it.body)).collect()))
    }

    /// The document as it is after what the batch did so far.
    pub fn body<'s>(&'s self, id: &str, changes: &'s Changes<'_>) -> Option<&'s str> {
        if changes.has_document(id) { changes.document(id) } else { self.0.get(id).map(String::as_str) }
    }

    /// What the record has of the same source and of a later version or day, whichever file came first.
    pub fn newer(&self, record: &Incoming, changes: &Changes<'_>) -> Result<Option<Newer>, StoreError> {
        let Some(content) = record.content.as_ref().filter(|_| record.paper.is_some()) else { return Ok(None) };
        // Most of what is not of a library says neither, and need not be parsed.
        let is_dated = |body: &&str| body.contains("\"revised\":") || body.contains("\"version\":");
        let Some(body) = self.body(&record.id, changes).filter(is_dated) else { return Ok(None) };
        let parse = |body: &str| -> Result<Document, StoreError> {
            serde_json::from_str(body).map_err(|_| StoreError::other("a document cannot be read as what it is"))
        };
        let (document, coming) = (parse(body)?, parse(&content.body)?);
        if document.source != coming.source || document.kind != PAPER || coming.kind != PAPER {
            return Ok(None);
        }
        let (known, other) = (Revision::of(&document), Revision::of(&coming));
        let reason = known.why_later_than(&other);
        Ok(reason.map(|reason| Newer { body: body.to_owned(), document, reason }))
    }
}

/// When a record was revised, as its source says, and of which version of the paper it is. The later day counts; of one day, or
/// where neither says it, the later version. A record with a day and one without replace each other.
struct Revision {
    day: Option<[u32; 3]>,
    version: u64,
}

impl Revision {
    fn of(document: &Document) -> Revision {
        let text = document.attributes.get("revised").and_then(Value::as_str);
        let version = document.attributes.get("version").and_then(Value::as_u64).unwrap_or(1);
        Revision { day: text.and_then(day), version }
    }

    /// Why a record of this one counts and not the other; `None` where the other is as late.
    fn why_later_than(&self, other: &Revision) -> Option<String> {
        if let Some((known, coming)) = self.day.zip(other.day).filter(|(known, coming)| known != coming) {
            return (known > coming).then(|| {
                format!(
                    "`attributes/revised`: a record of it that was revised {} is kept, and this one was revised {}; the later \
                     one counts",
                    words(known),
                    words(coming)
                )
            });
        }
        let (known, coming) = (self.version, other.version);
        (known > coming && self.day == other.day).then(|| {
            format!(
                "`attributes/version`: version {known} of it is kept, and this one is version {coming}; the later one counts"
            )
        })
    }
}

fn day(text: &str) -> Option<[u32; 3]> {
    let mut parts = text.split('-').map(|part| part.parse::<u32>().ok());
    Some([parts.next()??, parts.next().flatten().unwrap_or(0), parts.next().flatten().unwrap_or(0)])
}

fn words([year, month, day]: [u32; 3]) -> String {
    match (month, day) {
        (0, _) => format!("in {year:04}"),
        (month, 0) => format!("in {year:04}-{month:02}"),
        (month, day) => format!("on {year:04}-{month:02}-{day:02}"),
    }
}
