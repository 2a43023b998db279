//! Comparing the records with their batches. The log vouches for the hash of each batch; the batches in order say which
//! records there must be, and with what content.

use std::collections::{HashMap, HashSet};

use contract::canonical;
use store::{Conn, StoreError};

use super::batches::{self, Change};

/// The kind of a batch in events.
pub const BATCH: &str = "evidence_batch";

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
}

/// Where a page of records begins: after this organisation, kind and id.
pub type Place = (String, String, String);

pub async fn records_after(conn: &mut Conn, place: &Place) -> Result<Vec<FoundRecord>, StoreError> {
    let sql = "SELECT organisation_id, kind, id, sha256, body FROM evidence_records
        WHERE (organisation_id, kind, id) > ($1, $2, $3) ORDER BY organisation_id, kind, id LIMIT $4";
    let params = [(&place.0).into(), (&place.1).into(), (&place.2).into(), RECORDS_PAGE_MAX.into()];
    let rows = conn.fetch_all(sql, &params).await?;
    let found = rows.iter().map(|row| {
        let sha256 = canonical::digest(row.text(4)?.as_bytes());
        let is_mislabelled = row.bytes(3)? != sha256;
        Ok(FoundRecord { organisation_id: row.text(0)?, kind: row.text(1)?, id: row.text(2)?, sha256, is_mislabelled })
    });
    found.collect()
}

/// Sixteen bytes are enough to tell records apart, and millions of them fit into memory.
type Digest = [u8; 16];

/// What the batches say that there is.
#[derive(Debug, Default)]
pub struct Expected(HashMap<Digest, Digest>);

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
            match &change.sha256 {
                Some(sha256) => self.0.insert(key, content(sha256)),
                None => self.0.remove(&key),
            };
        }
    }

    /// How a record differs from what it must be. Each record is asked for once.
    pub fn settle(&mut self, record: &FoundRecord) -> Option<Difference> {
        match self.0.remove(&key(&record.organisation_id, &record.kind, &record.id)) {
            None => Some(Difference::Added),
            Some(expected) if expected != content(&hex::encode(record.sha256)) || record.is_mislabelled => {
                Some(Difference::Changed)
            }
            Some(_) => None,
        }
    }

    pub fn is_settled(&self) -> bool {
        self.0.is_empty()
    }

    /// Kind and id of what this batch kept and nobody could show. Each is told once.
    pub fn missing(&mut self, batch: &FoundBatch) -> Vec<(&'static str, String)> {
        let mut seen = HashSet::new();
        let kept = batch.changes.iter().filter(|change| {
            let key = key(&batch.organisation_id, change.kind.name(), &change.id);
            change.sha256.is_some() && self.0.contains_key(&key) && seen.insert(key)
        });
        let missing = kept.map(|change| (change.kind.name(), change.id.clone())).collect();
        self.0.retain(|key, _| !seen.contains(key));
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
