//! Comparing `evidence_paper_ids` with the documents. Who takes a row away keeps a retraction from a document of the paper.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use contract::evidence::record::{Document, RecordKind};
use store::{Conn, InList, StoreError};

use super::super::papers;
use super::{Expected, FoundRecord, is_papers_younger, key};

static BY_DOCUMENT: LazyLock<InList> = LazyLock::new(|| {
    let sql = "SELECT document_id, paper_id FROM evidence_paper_ids WHERE organisation_id = $1 AND document_id IN";
    InList::new(sql, 1, "")
});

/// Rows without a document that are named; the rest is of the same kind.
const ORPHANS_MAX: i64 = 100;

/// How the rows of a document differ from its ids; each with the paper's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaperIdDifference {
    Missing(String),
    Added(String),
    /// Missing, as it is where the document was there before the table.
    NotTakenOver,
    /// The document had another content once, which may have had that id.
    HadBefore,
}

/// The ids by which other documents find this one, if it is a paper. One that cannot be read is reported as changed.
pub(super) fn stated(kind: &str, body: &str) -> BTreeSet<String> {
    if kind != RecordKind::Document.name() {
        return BTreeSet::new();
    }
    serde_json::from_str::<Document>(body).map(|document| papers::listed_keys(&document)).unwrap_or_default()
}

/// What the table has of some documents.
#[derive(Debug)]
pub struct PaperIds {
    rows: HashMap<(String, String), BTreeSet<String>>,
    is_younger: bool,
}

impl PaperIds {
    /// Of one page of records.
    pub async fn read(conn: &mut Conn, records: &[FoundRecord]) -> Result<PaperIds, StoreError> {
        let mut documents: HashMap<&str, Vec<&str>> = HashMap::new();
        for record in records.iter().filter(|record| record.kind == RecordKind::Document.name()) {
            documents.entry(&record.organisation_id).or_default().push(&record.id);
        }
        let mut rows: HashMap<(String, String), BTreeSet<String>> = HashMap::new();
        for (organisation_id, ids) in documents {
            for row in BY_DOCUMENT.fetch(conn, &[organisation_id.into()], &ids).await? {
                rows.entry((organisation_id.to_owned(), row.text(0)?)).or_default().insert(row.text(1)?);
            }
        }
        Ok(PaperIds { rows, is_younger: is_papers_younger(conn).await? })
    }

    /// Each document is asked for once.
    pub fn settle(&mut self, record: &FoundRecord, expected: &Expected) -> Vec<PaperIdDifference> {
        let rows = self.rows.remove(&(record.organisation_id.clone(), record.id.clone())).unwrap_or_default();
        let missing = record.paper_ids.difference(&rows).map(|paper_id| match self.is_younger {
            true => PaperIdDifference::NotTakenOver,
            false => PaperIdDifference::Missing(paper_id.clone()),
        });
        let had_others = expected.changed.contains(&key(&record.organisation_id, &record.kind, &record.id));
        let added = rows.difference(&record.paper_ids).map(|paper_id| match had_others {
            true => PaperIdDifference::HadBefore,
            false => PaperIdDifference::Added(paper_id.clone()),
        });
        missing.chain(added).collect()
    }
}

/// Rows of documents that are not there: organisation, document and paper.
pub async fn without_document(conn: &mut Conn) -> Result<Vec<(String, String, String)>, StoreError> {
    let sql =
        "SELECT p.organisation_id, p.document_id, p.paper_id FROM evidence_paper_ids p LEFT JOIN evidence_records r
        ON r.organisation_id = p.organisation_id AND r.kind = 'document' AND r.id = p.document_id
        WHERE r.id IS NULL ORDER BY p.organisation_id, p.document_id, p.paper_id LIMIT $1";
    let rows = conn.fetch_all(sql, &[ORPHANS_MAX.into()]).await?;
    rows.iter().map(|row| Ok((row.text(0)?, row.text(1)?, row.text(2)?))).collect()
}
