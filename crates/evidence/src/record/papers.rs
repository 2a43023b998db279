//! Papers under all their ids, and what is said against them.
//!
//! A retraction holds for the paper, whichever of its records tells of it: one that is marked stays marked when an older
//! or silent record of it comes, a notice marks the paper it is about whichever of the two comes first, and a full text is
//! marked with its record of PubMed. It outlives the record too: of a document that its source withdraws stays what it says
//! against papers ([`remains`]). Only who withdraws it in the name of no source takes that away.

mod desk;
mod key;
mod paper;
mod remains;
mod title;

pub use key::key;
pub use paper::{Paper, settle};
pub use title::marked_by_title;

pub(super) use desk::{Papers, with_mark};
pub(super) use remains::remains;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use contract::evidence::record::{Document, Edge, RecordKind, RetractedReference, Retraction};
use store::{Conn, InList, Row, StoreError};

use super::read;
use crate::network::quoted::ticked;

/// As documents are called that are one.
const PAPER: &str = "paper";

/// Above this many ids, reading everything that is said costs less than asking for each: few papers are retracted.
const ASKED_MAX: usize = 20_000;

static SAID: LazyLock<InList> = LazyLock::new(|| {
    let sql = "SELECT paper_id, document_id, retraction FROM evidence_retractions WHERE organisation_id = $1
        AND paper_id IN";
    InList::new(sql, 1, "")
});

/// The documents that are a paper, beside the one that is named by its id.
static DOCUMENTS: LazyLock<InList> = LazyLock::new(|| {
    let sql = "SELECT paper_id, document_id FROM evidence_paper_ids WHERE organisation_id = $1 AND paper_id IN";
    InList::new(sql, 1, "")
});

/// Papers by their keys, and the documents that may be them.
pub(super) async fn documents_by_key(
    conn: &mut Conn,
    organisation_id: &str,
    keys: &BTreeSet<&str>,
) -> Result<Vec<(String, String)>, StoreError> {
    let named = keys.iter().filter_map(|it| Some(((*it).to_owned(), key::document_id(it)?)));
    let mut found: Vec<(String, String)> = named.collect();
    let listed: Vec<&str> = keys.iter().copied().collect();
    for row in DOCUMENTS.fetch(conn, &[organisation_id.into()], &listed).await? {
        found.push((row.text(0)?, row.text(1)?));
    }
    Ok(found)
}

/// Ids of the documents that may be the paper that a reference names; none where it names no paper.
pub async fn named(conn: &mut Conn, organisation_id: &str, reference: &str) -> Result<Vec<String>, StoreError> {
    let Some(key) = key(reference) else { return Ok(Vec::new()) };
    let found = documents_by_key(conn, organisation_id, &BTreeSet::from([key.as_str()])).await?;
    Ok(found.into_iter().map(|(_, id)| id).collect())
}

/// The document of a paper, by any spelling of any of its ids: the one that is named by it, or else the first one that has it
/// among its ids.
pub async fn find(conn: &mut Conn, organisation_id: &str, reference: &str) -> Result<Option<Document>, StoreError> {
    let Some(key) = key(reference) else { return Ok(None) };
    let ids = named(conn, organisation_id, reference).await?;
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let stored = read::find(conn, organisation_id, RecordKind::Document, &ids).await?;
    let documents = stored.iter().map(|it| it.parse::<Document>()).collect::<Result<Vec<_>, StoreError>>()?;
    let named = key::document_id(&key);
    Ok(documents.into_iter().min_by_key(|it| (Some(&it.id) != named.as_ref(), it.kind != PAPER, it.id.clone())))
}

/// What is said against a paper, by the document that says it.
type Said = BTreeMap<String, Retraction>;

/// By paper: what is said against it.
async fn read_said(
    conn: &mut Conn,
    organisation_id: &str,
    keys: &BTreeSet<String>,
) -> Result<HashMap<String, Said>, StoreError> {
    let rows = if keys.len() > ASKED_MAX {
        let sql = "SELECT paper_id, document_id, retraction FROM evidence_retractions WHERE organisation_id = $1";
        conn.fetch_all(sql, &[organisation_id.into()]).await?
    } else {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        SAID.fetch(conn, &[organisation_id.into()], &keys).await?
    };
    let mut said: HashMap<String, Said> = HashMap::new();
    for row in rows {
        let (paper_id, document_id, retraction) = parse_said(&row)?;
        said.entry(paper_id).or_default().insert(document_id, retraction);
    }
    Ok(said)
}

/// Whether anything is said against any paper. Mostly nothing is, and then nobody needs to look further.
pub async fn is_any_doubted(conn: &mut Conn, organisation_id: &str) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM evidence_retractions WHERE organisation_id = $1 LIMIT 1";
    Ok(conn.fetch_optional(sql, &[organisation_id.into()]).await?.is_some())
}

/// Marks papers that are not of the record with what it knows against them.
pub async fn mark(conn: &mut Conn, organisation_id: &str, documents: &mut [Document]) -> Result<(), StoreError> {
    let papers: Vec<Paper> = documents.iter().map(Paper::of).collect();
    let keys: BTreeSet<String> = papers.iter().flat_map(|paper| paper.keys.values().cloned()).collect();
    let said = read_said(conn, organisation_id, &keys).await?;
    for (document, paper) in documents.iter_mut().zip(papers) {
        let mut told = paper.own;
        let said = paper.keys.values().filter_map(|key| said.get(key)).flat_map(BTreeMap::values);
        let n_news = said.filter(|retraction| settle(&mut told, retraction)).count();
        if n_news > 0 {
            document.retraction = told;
        }
    }
    Ok(())
}

/// What a document of the record says against papers, by their keys: what the table has of it.
pub(super) fn said_by(document: &Document) -> BTreeMap<String, Retraction> {
    let paper = Paper::of(document);
    let own = paper.keys.values().filter_map(|key| Some((key.clone(), paper.own.clone()?)));
    own.chain(paper.says.iter().cloned()).collect()
}

/// The ids of a document's paper that its own id does not say already: what the table has of it.
pub(super) fn listed_keys(document: &Document) -> BTreeSet<String> {
    let is_listed = |it: &String| key::document_id(it).as_ref() != Some(&document.id);
    Paper::of(document).keys.into_values().filter(is_listed).collect()
}

fn parse_said(row: &Row) -> Result<(String, String, Retraction), StoreError> {
    let retraction = serde_json::from_str(&row.text(2)?)
        .map_err(|_| StoreError::other("a retraction cannot be read as what it is"))?;
    Ok((row.text(0)?, row.text(1)?, retraction))
}

/// What is known against the documents that statements rest on, by the reference as the statements write it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Doubts(HashMap<String, Retraction>);

impl Doubts {
    pub async fn read<'e>(
        conn: &mut Conn,
        organisation_id: &str,
        edges: impl IntoIterator<Item = &'e Edge>,
    ) -> Result<Doubts, StoreError> {
        let references = edges.into_iter().flat_map(|edge| &edge.evidence).filter_map(|it| it.reference.as_deref());
        let keys: HashMap<&str, String> = references.map(|it| (it, key::of_reference(it))).collect();
        let asked: BTreeSet<String> = keys.values().cloned().collect();
        let said = read_said(conn, organisation_id, &asked).await?;
        let gravest = |key: &String| {
            let mut told = None;
            said.get(key)?.values().for_each(|retraction| {
                settle(&mut told, retraction);
            });
            told
        };
        Ok(Doubts(keys.into_iter().filter_map(|(it, key)| Some((it.to_owned(), gravest(&key)?))).collect()))
    }

    /// The references of a statement that do not stand, each once.
    pub fn of(&self, edge: &Edge) -> Vec<RetractedReference> {
        let mut told: Vec<RetractedReference> = Vec::new();
        for reference in edge.evidence.iter().filter_map(|it| it.reference.as_ref()) {
            if let Some(retraction) = self.0.get(reference)
                && !told.iter().any(|it| it.reference == *reference)
            {
                told.push(RetractedReference {
                    reference: reference.clone(),
                    status: retraction.words().to_owned(),
                    notice: retraction.notice.clone(),
                    source: retraction.source.clone(),
                });
            }
        }
        told
    }
}

/// In words: retracted: `PMID:1` (notice `PMID:2`, by `pubmed`). What sources wrote stands between backticks.
pub fn words(retracted: &[RetractedReference]) -> String {
    let one = |it: &RetractedReference| {
        let notice = it.notice.as_ref().map(|notice| format!("notice {}", ticked(notice)));
        let by = it.source.as_ref().map(|source| format!("by {}", ticked(source)));
        let why: Vec<String> = notice.into_iter().chain(by).collect();
        let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join(", ")) };
        format!("{}: {}{why}", it.status, ticked(&it.reference))
    };
    retracted.iter().map(one).collect::<Vec<_>>().join("; ")
}
