//! Comparing `evidence_starter_records` with the batches. A record that has lost its row is nobody's: the next version of
//! the starter data leaves it as it is, and anybody may replace it.

use std::collections::HashMap;

use contract::evidence::record::RecordKind;
use store::{Conn, StoreError};

use super::{FoundBatch, FoundRecord};

/// Kind and id, in an organisation.
type Key = (String, String, String);

struct Row {
    sha256: String,
    /// A batch of the starter data kept the record with this content, or, as a document may be marked as retracted on its
    /// way, with any.
    is_known: bool,
}

/// What the table has, and what the batches of the starter data put.
pub struct StarterRows {
    rows: HashMap<Key, Row>,
    /// Nodes and edges that such a batch was the last to touch.
    put: HashMap<Key, String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StarterDifference {
    Missing,
    Changed,
}

impl StarterRows {
    pub async fn read(conn: &mut Conn) -> Result<StarterRows, StoreError> {
        let sql = "SELECT organisation_id, kind, id, sha256 FROM evidence_starter_records";
        let mut rows = HashMap::new();
        for row in conn.fetch_all(sql, &[]).await? {
            let key = (row.text(0)?, row.text(1)?, row.text(2)?);
            rows.insert(key, Row { sha256: hex::encode(row.bytes(3)?), is_known: false });
        }
        Ok(StarterRows { rows, put: HashMap::new() })
    }

    /// Batches of an organisation come in their order; some are those of the starter data.
    pub fn absorb(&mut self, batch: &FoundBatch, is_of_starter_data: bool) {
        if self.rows.is_empty() && self.put.is_empty() && !is_of_starter_data {
            return;
        }
        for change in &batch.changes {
            let key = (batch.organisation_id.clone(), change.kind.name().to_owned(), change.id.clone());
            if is_of_starter_data && let Some(row) = self.rows.get_mut(&key) {
                let is_document = change.kind == RecordKind::Document;
                row.is_known |= is_document || change.sha256.as_deref() == Some(&row.sha256);
            }
            match &change.sha256 {
                // A document may have been marked as retracted on its way, and a source stays when the set is done with it.
                Some(sha256) if is_of_starter_data && matches!(change.kind, RecordKind::Node | RecordKind::Edge) => {
                    self.put.insert(key, sha256.clone());
                }
                Some(_) | None => {
                    self.put.remove(&key);
                }
            }
        }
    }

    /// The hash of an organisation's rows, to be compared with the one that the last load told of.
    pub fn list_sha256(&self, organisation_id: &str) -> String {
        let rows = self.rows.iter().filter(|((of, _, _), _)| of == organisation_id);
        let list = rows.map(|((_, kind, id), row)| (kind.as_str(), id.as_str(), row.sha256.clone()));
        super::super::starter::list_sha256(list.collect())
    }

    /// How the row of a record differs from how the starter data put it. Each record is asked for once.
    pub fn settle(&mut self, record: &FoundRecord) -> Option<StarterDifference> {
        let key = (record.organisation_id.clone(), record.kind.clone(), record.id.clone());
        let put = self.put.remove(&key)?;
        match self.rows.get_mut(&key) {
            None => Some(StarterDifference::Missing),
            Some(row) if row.sha256 == put => None,
            Some(row) => {
                row.is_known = true;
                Some(StarterDifference::Changed)
            }
        }
    }

    /// Rows of records that no batch of the starter data ever kept so: organisation, kind and id. The next version of the
    /// set would withdraw those records as its own.
    pub fn unknown(self) -> impl Iterator<Item = Key> {
        self.rows.into_iter().filter(|(_, row)| !row.is_known).map(|(key, _)| key)
    }
}
