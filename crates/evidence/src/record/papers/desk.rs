//! Papers of a batch while it is looked through: what is said against each, and whom it has to be told.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use contract::canonical;
use contract::evidence::record::{Document, RecordKind, Retraction};
use serde_json::{Map, Value};
use store::{Bulk, Conn, InList, Param, StoreError};

use super::paper::settle;
use super::{Paper, Said, documents_by_key, key, read_said};
use crate::record::Incoming;
use crate::record::incoming::Content;
use crate::record::put::Changes;
use crate::record::read;

/// Documents of the record that were marked before.
static MARKED: LazyLock<InList> = LazyLock::new(|| {
    let sql = "SELECT id, body FROM evidence_records WHERE organisation_id = $1 AND kind = 'document'
        AND body LIKE '%\"retraction\":{%' AND id IN";
    InList::new(sql, 1, "")
});

static FORGET_IDS: LazyLock<InList> = LazyLock::new(|| {
    InList::new("DELETE FROM evidence_paper_ids WHERE organisation_id = $1 AND document_id IN", 1, "")
});

static FORGET_SAID: LazyLock<InList> = LazyLock::new(|| {
    InList::new("DELETE FROM evidence_retractions WHERE organisation_id = $1 AND document_id IN", 1, "")
});

static INSERT_IDS: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::new("evidence_paper_ids (organisation_id, paper_id, document_id)", 3, " ON CONFLICT DO NOTHING")
});

static INSERT_SAID: LazyLock<Bulk> = LazyLock::new(|| {
    let after = " ON CONFLICT (organisation_id, paper_id, document_id) DO UPDATE SET retraction = excluded.retraction";
    Bulk::new("evidence_retractions (organisation_id, paper_id, document_id, retraction)", 4, after)
});

#[derive(Default)]
pub struct Papers {
    /// By document: how it is marked, as far as the batch went.
    marks: HashMap<String, Retraction>,
    said: HashMap<String, Said>,
    /// The papers that documents are named by, by the ids of the documents.
    named: HashMap<String, Paper>,
    /// What the batch says for the first time, and of which papers.
    news: BTreeMap<(String, String), Retraction>,
    /// Those of them that nobody has said anything of before.
    fresh: BTreeSet<(String, String)>,
    /// Documents of the batch that were kept or are there already.
    seen: BTreeMap<String, Paper>,
    withdrawn: BTreeSet<String>,
}

impl Papers {
    /// What the record knows of the papers of a batch.
    pub async fn read(conn: &mut Conn, organisation_id: &str, incoming: &[Incoming]) -> Result<Papers, StoreError> {
        let papers: Vec<&Paper> = incoming.iter().filter_map(|record| record.paper.as_deref()).collect();
        if papers.is_empty() {
            return Ok(Papers::default());
        }
        let own = papers.iter().flat_map(|paper| paper.keys.values());
        let others = papers.iter().flat_map(|paper| paper.says.iter().map(|(about, _)| about));
        let keys: BTreeSet<String> = own.chain(others).cloned().collect();
        let said = read_said(conn, organisation_id, &keys).await?;
        let ids: BTreeSet<&str> = papers.iter().map(|paper| paper.id.as_str()).collect();
        let listed: Vec<&str> = ids.iter().copied().collect();
        let mut marks = HashMap::new();
        for row in MARKED.fetch(conn, &[organisation_id.into()], &listed).await? {
            let id = row.text(0)?;
            marks.extend(parse(&row.text(1)?)?.doubt().map(|mark| (id, mark)));
        }
        let named = papers.iter().flat_map(|paper| others_named(paper));
        let named: BTreeSet<String> = named.filter(|id| !ids.contains(id.as_str())).collect();
        let named: Vec<&str> = named.iter().map(String::as_str).collect();
        let found = read::find(conn, organisation_id, RecordKind::Document, &named).await?;
        let named = found.iter().map(|it| Ok((it.id.clone(), Paper::of(&it.parse()?))));
        let named = named.collect::<Result<_, StoreError>>()?;
        Ok(Papers { marks, said, named, ..Papers::default() })
    }

    /// Whether the document has an id of a paper that is somebody else's.
    pub fn check(&self, paper: &Paper) -> Result<(), String> {
        let named = others_named(paper).filter_map(|id| self.seen.get(&id).or_else(|| self.named.get(&id)));
        named.filter_map(|named| paper.contradiction(named)).next().map_or(Ok(()), Err)
    }

    /// The content with all that is known against the paper.
    pub fn marked<'a>(&self, paper: &Paper, content: &'a Content) -> Result<Cow<'a, Content>, String> {
        let mut told = paper.own.clone();
        let said = paper.keys.values().filter_map(|key| self.said.get(key)).flat_map(BTreeMap::values);
        for retraction in self.marks.get(&paper.id).into_iter().chain(said) {
            settle(&mut told, retraction);
        }
        match told {
            Some(told) if paper.own.as_ref() != Some(&told) => {
                Ok(Cow::Owned(with_mark(&content.body, &told).map_err(|error| error.to_string())?))
            }
            Some(_) | None => Ok(Cow::Borrowed(content)),
        }
    }

    /// Notes a document that is in the record now, with its mark.
    pub fn note(&mut self, paper: &Paper, content: &Content) -> Result<(), StoreError> {
        let mut paper = paper.clone();
        paper.own = if content.is_marked() { parse(&content.body)?.doubt() } else { None };
        if self.seen.contains_key(&paper.id) {
            self.unsay(&paper.id);
        }
        for (about, retraction) in &paper.says {
            self.say(about, &paper.id, retraction);
        }
        self.mark(&paper);
        self.seen.insert(paper.id.clone(), paper);
        Ok(())
    }

    /// What a document says of its own paper holds for all documents of it.
    fn mark(&mut self, paper: &Paper) {
        if let Some(retraction) = &paper.own {
            self.marks.insert(paper.id.clone(), retraction.clone());
            for about in paper.keys.values() {
                self.say(about, &paper.id, retraction);
            }
        }
    }

    fn say(&mut self, about: &str, document_id: &str, retraction: &Retraction) {
        let known = self.said.entry(about.to_owned()).or_default();
        if known.get(document_id) != Some(retraction) {
            if !known.contains_key(document_id) {
                self.fresh.insert((about.to_owned(), document_id.to_owned()));
            }
            known.insert(document_id.to_owned(), retraction.clone());
            self.news.insert((about.to_owned(), document_id.to_owned()), retraction.clone());
        }
    }

    /// A document that comes twice in a batch is kept as it came last: what it only said before was never in the record.
    fn unsay(&mut self, document_id: &str) {
        for key in self.fresh.extract_if(.., |(_, by)| by == document_id) {
            self.news.remove(&key);
            if let Some(said) = self.said.get_mut(&key.0) {
                said.remove(document_id);
            }
        }
    }

    /// With a paper goes what it says.
    pub fn withdraw(&mut self, document_id: &str) {
        self.marks.remove(document_id);
        self.seen.remove(document_id);
        self.named.remove(document_id);
        self.said.values_mut().for_each(|said| {
            said.remove(document_id);
        });
        self.news.retain(|(_, by), _| by != document_id);
        self.withdrawn.insert(document_id.to_owned());
    }

    /// Marks the documents that the batch's news are about, and those that are the same papers. Answers how many of them
    /// are not of the batch.
    pub async fn spread(
        &mut self,
        conn: &mut Conn,
        organisation_id: &str,
        changes: &mut Changes<'_>,
    ) -> Result<u64, StoreError> {
        let mut marked = BTreeSet::new();
        let mut keys: BTreeSet<String> = self.news.keys().map(|(about, _)| about.clone()).collect();
        // Every round makes a mark graver or adds a notice, and both end.
        while !keys.is_empty() {
            let (ids, before) = (self.documents_of(conn, organisation_id, &keys).await?, self.news.clone());
            let unread: Vec<&str> = ids.iter().map(String::as_str).filter(|id| !changes.has_document(id)).collect();
            let stored = read::find(conn, organisation_id, RecordKind::Document, &unread).await?;
            let stored: HashMap<String, String> = stored.into_iter().map(|it| (it.id, it.body)).collect();
            for id in ids {
                let Some(body) = changes.document(&id).or_else(|| stored.get(&id).map(String::as_str)) else {
                    continue;
                };
                let mut paper = Paper::of(&parse(body)?);
                let mut told = paper.own.clone();
                let said = paper.keys.values().filter_map(|key| self.said.get(key)).flat_map(BTreeMap::values);
                let n_news = said.filter(|retraction| settle(&mut told, retraction)).count();
                if let (Some(told), true) = (told, n_news > 0) {
                    let content = with_mark(body, &told)?;
                    paper.own = Some(told);
                    self.mark(&paper);
                    if !self.seen.contains_key(&id) {
                        marked.insert(id.clone());
                    }
                    changes.put_document(id, content);
                }
            }
            let is_new = |(key, retraction): &(&(String, String), &Retraction)| before.get(*key) != Some(*retraction);
            keys = self.news.iter().filter(is_new).map(|((about, _), _)| about.clone()).collect();
        }
        Ok(u64::try_from(marked.len()).unwrap_or(u64::MAX))
    }

    async fn documents_of(
        &self,
        conn: &mut Conn,
        organisation_id: &str,
        keys: &BTreeSet<String>,
    ) -> Result<BTreeSet<String>, StoreError> {
        let listed: BTreeSet<&str> = keys.iter().map(String::as_str).collect();
        let named = documents_by_key(conn, organisation_id, &listed).await?;
        let mut ids: BTreeSet<String> = named.into_iter().map(|(_, id)| id).collect();
        let of_batch = self.seen.values().filter(|paper| paper.keys.values().any(|key| keys.contains(key)));
        ids.extend(of_batch.map(|paper| paper.id.clone()));
        Ok(ids)
    }

    pub async fn write(&self, conn: &mut Conn, organisation_id: &str) -> Result<(), StoreError> {
        let withdrawn: Vec<&str> = self.withdrawn.iter().map(String::as_str).collect();
        FORGET_SAID.execute(conn, &[organisation_id.into()], &withdrawn).await?;
        FORGET_IDS.execute(conn, &[organisation_id.into()], &withdrawn).await?;
        let ids = self.seen.values().flat_map(|paper| paper.keys.values().map(move |key| (key, &paper.id)));
        let ids: Vec<(&String, &String)> =
            ids.filter(|(key, id)| key::document_id(key).as_ref() != Some(*id)).collect();
        INSERT_IDS
            .insert(conn, &ids, |(key, id), params| {
                params.extend([Param::Text(organisation_id), Param::Text(key), Param::Text(id)]);
            })
            .await?;
        let news = self.news.iter().map(|((about, by), retraction)| Ok((about, by, canonical::text(retraction)?)));
        let news: Vec<(&String, &String, String)> =
            news.collect::<Result<_, canonical::CanonicalError>>().map_err(unwritable)?;
        INSERT_SAID
            .insert(conn, &news, |(about, by, retraction), params| {
                let texts = [organisation_id, about.as_str(), by.as_str(), retraction.as_str()];
                params.extend(texts.map(Param::Text));
            })
            .await
    }
}

/// The documents that are named by an id that this paper has too.
fn others_named(paper: &Paper) -> impl Iterator<Item = String> + '_ {
    paper.keys.values().filter_map(|it| key::document_id(it)).filter(|id| *id != paper.id)
}

fn parse(body: &str) -> Result<Document, StoreError> {
    serde_json::from_str(body).map_err(|_| StoreError::other("a document cannot be read as what it is"))
}

/// Names whose word the mark is where that is not the document's own.
pub fn with_mark(body: &str, retraction: &Retraction) -> Result<Content, StoreError> {
    let mut members: Map<String, Value> =
        serde_json::from_str(body).map_err(|_| StoreError::other("a document cannot be read as what it is"))?;
    let own = members.get("source").and_then(Value::as_str);
    let source = retraction.source.clone().filter(|source| own != Some(source));
    let retraction = Retraction { source, ..retraction.clone() };
    let retraction =
        serde_json::to_value(retraction).map_err(|_| StoreError::other("a retraction cannot be written"))?;
    members.insert("retraction".to_owned(), retraction);
    Ok(Content::of(canonical::text_of(&Value::Object(members))))
}

fn unwritable(_: canonical::CanonicalError) -> StoreError {
    StoreError::other("a retraction cannot be written")
}
