//! Comparing the records with their batches. The log vouches for the hash of each batch; the batches in order say which
//! records there must be, and with what content.

mod paper_ids;
mod starter;

pub use paper_ids::{PaperIdDifference, PaperIds, without_document};
pub use starter::{StarterDifference, StarterRows};

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use contract::canonical;
use contract::evidence::record::{Document, RecordKind, Retraction};
use store::{Conn, StoreError};

use super::batches::{self, Change};
use super::papers;

/// The kind of a batch in events.
pub const BATCH: &str = "evidence_batch";
/// The kind of the list of what the starter data put. Its id is their version, and only the last one is compared.
pub const STARTER_LIST: &str = "starter_list";

const BATCHES_PAGE_MAX: i64 = 50;
const RECORDS_PAGE_MAX: i64 = 1_000;

/// A batch as the table has it now.
#[derive(Debug)]
pub struct FoundBatch {
    pub organisation_id: String,
    pub number: i64,
    /// Of the number and the manifest as they are.
    pub sha256: String,
    /// Nothing, where the manifest cannot be read any more.
    changes: Vec<Change>,
}

/// The next batches of all organisations after this one; begin with an empty organisation and 0.
pub async fn batches_after(conn: &mut Conn, organisation_id: &str, number: i64) -> Result<Vec<FoundBatch>, StoreError> {
    let sql = "SELECT organisation_id, batch_number, manifest FROM evidence_batches
        WHERE (organisation_id, batch_number) > ($1, $2) ORDER BY organisation_id, batch_number LIMIT $3";
    let rows = conn.fetch_all(sql, &[organisation_id.into(), number.into(), BATCHES_PAGE_MAX.into()]).await?;
    let found = rows.iter().map(|row| {
        let (organisation_id, number, manifest) = (row.text(0)?, row.int(1)?, row.text(2)?);
        let sha256 = batches::hash(number, &manifest);
        // A manifest that cannot be read has another hash than the log says, and is reported for that.
        let changes = batches::parse(&manifest).unwrap_or_default();
        Ok(FoundBatch { organisation_id, number, sha256, changes })
    });
    found.collect()
}

/// A record as the table has it now.
#[derive(Debug)]
pub struct FoundRecord {
    pub organisation_id: String,
    pub kind: String,
    pub id: String,
    sha256: [u8; 32],
    /// The hash that is kept beside the content is another one.
    is_mislabelled: bool,
    /// What it says against papers, by their keys.
    says: BTreeMap<String, Retraction>,
    /// The papers that `evidence_paper_ids` must name it for.
    paper_ids: BTreeSet<String>,
}

/// Where a page of records begins: after this organisation, kind and id.
pub type Place = (String, String, String);

pub async fn records_after(conn: &mut Conn, place: &Place) -> Result<Vec<FoundRecord>, StoreError> {
    let sql = "SELECT organisation_id, kind, id, sha256, body FROM evidence_records
        WHERE (organisation_id, kind, id) > ($1, $2, $3) ORDER BY organisation_id, kind, id LIMIT $4";
    let params = [(&place.0).into(), (&place.1).into(), (&place.2).into(), RECORDS_PAGE_MAX.into()];
    let rows = conn.fetch_all(sql, &params).await?;
    let found = rows.iter().map(|row| {
        let (kind, body) = (row.text(1)?, row.text(4)?);
        let sha256 = canonical::digest(body.as_bytes());
        let is_mislabelled = row.bytes(3)? != sha256;
        let (says, paper_ids) = (said_by(&kind, &body), paper_ids::stated(&kind, &body));
        Ok(FoundRecord {
            organisation_id: row.text(0)?,
            kind,
            id: row.text(2)?,
            sha256,
            is_mislabelled,
            says,
            paper_ids,
        })
    });
    found.collect()
}

/// Few documents say anything, and only those are parsed. One that cannot be is reported as changed.
fn said_by(kind: &str, body: &str) -> BTreeMap<String, Retraction> {
    let says_something = body.contains("\"retraction\":{") || body.contains("\"corrections\":");
    if kind != RecordKind::Document.name() || !says_something {
        return BTreeMap::new();
    }
    serde_json::from_str::<Document>(body).map(|document| papers::said_by(&document)).unwrap_or_default()
}

/// What `evidence_retractions` has, by organisation and document: what is said against which papers.
#[derive(Debug)]
pub struct Said {
    rows: HashMap<(String, String), BTreeMap<String, String>>,
    /// There were records before there was the table, and not all that they say is in it.
    is_younger: bool,
}

/// How a row of `evidence_retractions` differs from what the record says; each with the paper's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SaidDifference {
    Missing(String),
    Changed(String),
    Added(String),
    /// Missing or poorer, as it is where the records were there before the table.
    NotTakenOver(String),
    /// The document had another content once, which may have said so: that stays until it is withdrawn.
    SaidBefore(String),
}

/// Migrations of one program are applied together.
const TOGETHER_US: i64 = 60_000_000;

/// Whether there were records before there were tables of papers.
async fn is_papers_younger(conn: &mut Conn) -> Result<bool, StoreError> {
    let sql = "SELECT p.applied_at_us - r.applied_at_us FROM schema_migrations p, schema_migrations r
        WHERE p.name = 'evidence_papers' AND r.name = 'evidence_records'";
    let apart_us = conn.fetch_optional(sql, &[]).await?.map(|row| row.int(0)).transpose()?;
    Ok(apart_us.is_some_and(|apart_us| apart_us > TOGETHER_US))
}

impl Said {
    pub async fn read(conn: &mut Conn) -> Result<Said, StoreError> {
        let is_younger = is_papers_younger(conn).await?;
        let sql = "SELECT organisation_id, document_id, paper_id, retraction FROM evidence_retractions";
        let mut rows: HashMap<(String, String), BTreeMap<String, String>> = HashMap::new();
        for row in conn.fetch_all(sql, &[]).await? {
            rows.entry((row.text(0)?, row.text(1)?)).or_default().insert(row.text(2)?, row.text(3)?);
        }
        Ok(Said { rows, is_younger })
    }

    /// How the rows of a document differ from what it says. Each document is asked for once.
    pub fn settle(&mut self, record: &FoundRecord, expected: &Expected) -> Vec<SaidDifference> {
        if record.kind != RecordKind::Document.name() {
            return Vec::new();
        }
        let mut rows = self.rows.remove(&(record.organisation_id.clone(), record.id.clone())).unwrap_or_default();
        let mut found = Vec::new();
        for (paper_id, retraction) in &record.says {
            let row = rows.remove(paper_id);
            // Whose word it is, the record tells as well, and rows of old do not.
            let unsigned = Retraction { source: None, ..retraction.clone() };
            let is_alike = |row: &String| {
                [retraction, &unsigned].into_iter().any(|it| canonical::text(it).is_ok_and(|text| text == *row))
            };
            if row.as_ref().is_some_and(is_alike) {
                continue;
            }
            let is_poorer = |row: &String| {
                let bare = Retraction { kind: retraction.kind, extent: None, notice: None, source: None };
                canonical::text(&bare).is_ok_and(|bare| bare == *row)
            };
            found.push(match row {
                None if self.is_younger => SaidDifference::NotTakenOver(paper_id.clone()),
                Some(row) if self.is_younger && is_poorer(&row) => SaidDifference::NotTakenOver(paper_id.clone()),
                None => SaidDifference::Missing(paper_id.clone()),
                Some(_) => SaidDifference::Changed(paper_id.clone()),
            });
        }
        let had_others = expected.changed.contains(&key(&record.organisation_id, &record.kind, &record.id));
        let rest = rows.into_keys();
        found
            .extend(rest.map(|it| if had_others { SaidDifference::SaidBefore(it) } else { SaidDifference::Added(it) }));
        found
    }

    /// Rows of documents that are not there: organisation, document and paper.
    pub fn rest(self) -> impl Iterator<Item = (String, String, String)> {
        self.rows.into_iter().flat_map(|((organisation_id, document_id), papers)| {
            papers.into_keys().map(move |paper_id| (organisation_id.clone(), document_id.clone(), paper_id))
        })
    }
}

/// Sixteen bytes are enough to tell records apart, and millions of them fit into memory.
type Digest = [u8; 16];

/// What the batches say that there is.
#[derive(Debug, Default)]
pub struct Expected {
    contents: HashMap<Digest, Digest>,
    /// Documents that had another content since they came.
    changed: HashSet<Digest>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    Changed,
    Added,
}

impl Expected {
    /// Batches of an organisation come in their order.
    pub fn absorb(&mut self, batch: &FoundBatch) {
        for change in &batch.changes {
            let key = key(&batch.organisation_id, change.kind.name(), &change.id);
            let before = match &change.sha256 {
                Some(sha256) => self.contents.insert(key, content(sha256)),
                None => self.contents.remove(&key),
            };
            if change.sha256.is_none() {
                self.changed.remove(&key);
            } else if before.is_some() && change.kind == RecordKind::Document {
                self.changed.insert(key);
            }
        }
    }

    /// How a record differs from what it must be. Each record is asked for once.
    pub fn settle(&mut self, record: &FoundRecord) -> Option<Difference> {
        match self.contents.remove(&key(&record.organisation_id, &record.kind, &record.id)) {
            None => Some(Difference::Added),
            Some(expected) if expected != content(&hex::encode(record.sha256)) || record.is_mislabelled => {
                Some(Difference::Changed)
            }
            Some(_) => None,
        }
    }

    pub fn is_settled(&self) -> bool {
        self.contents.is_empty()
    }

    /// Kind and id of what this batch kept and nobody could show. Each is told once.
    pub fn missing(&mut self, batch: &FoundBatch) -> Vec<(&'static str, String)> {
        let mut seen = HashSet::new();
        let kept = batch.changes.iter().filter(|change| {
            let key = key(&batch.organisation_id, change.kind.name(), &change.id);
            change.sha256.is_some() && self.contents.contains_key(&key) && seen.insert(key)
        });
        let missing = kept.map(|change| (change.kind.name(), change.id.clone())).collect();
        self.contents.retain(|key, _| !seen.contains(key));
        missing
    }
}

fn key(organisation_id: &str, kind: &str, id: &str) -> Digest {
    // None of the three has a control character in it.
    short(canonical::digest(format!("{organisation_id}\n{kind}\n{id}").as_bytes()))
}

fn content(sha256: &str) -> Digest {
    short(canonical::digest(sha256.as_bytes()))
}

fn short(digest: [u8; 32]) -> Digest {
    let [first @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] = digest;
    first
}
