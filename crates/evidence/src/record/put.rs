//! Keeping a batch of records. What the record has already is left alone, and what does not fit is rejected by itself.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use contract::evidence::record::{Document, RecordKind};
use contract::evidence::starter::is_own_source;
use store::{Bulk, Conn, InList, Param, StoreError, Tx};

use super::batches::{self, Change};
use super::earlier::{Earlier, Newer};
use super::incoming::Content;
use super::owners::Owners;
use super::papers::{self, Paper, Papers};
use super::{Incoming, Sha256, read, sha256};

/// What became of a batch.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Kept {
    pub n_kept: u64,
    pub n_changed: u64,
    pub n_repeated: u64,
    pub n_deleted: u64,
    /// Documents that were there and are marked as retracted by this batch.
    pub n_marked: u64,
    pub rejected: Vec<Rejected>,
    /// The change number after the batch.
    pub version: i64,
    /// The manifest's hash, where anything changed.
    pub manifest_sha256: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Rejected {
    pub position: u64,
    pub id: String,
    pub reason: String,
}

/// Whether a batch may replace and withdraw what came with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StarterData {
    /// A warning must not vanish because a file happens to use the same id.
    Stays,
    MayChange,
}

/// Whether a batch may replace and withdraw nodes, edges and documents that another source brought, and change what is known
/// of sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherSources {
    /// Who happens to use the id of somebody else's record has not taken it back.
    Stay,
    MayChange,
}

/// What a batch may replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MayReplace {
    pub starter: StarterData,
    pub other_sources: OtherSources,
}

/// Documents from one to the next that a mark is followed over.
const GUARD_ROUNDS_MAX: usize = 20;

type Key<'a> = (RecordKind, &'a str);

static UPSERT: LazyLock<Bulk> = LazyLock::new(|| {
    let after = " ON CONFLICT (organisation_id, kind, id) DO UPDATE SET sha256 = excluded.sha256, body = excluded.body";
    Bulk::new("evidence_records (organisation_id, kind, id, sha256, body)", 5, after)
});

/// The hashes of records of one kind, by their ids.
pub(super) static FIND: LazyLock<InList> = LazyLock::new(|| {
    InList::new("SELECT id, sha256 FROM evidence_records WHERE organisation_id = $1 AND kind = $2 AND id IN", 2, "")
});

/// The same of the starter data, as they were loaded.
static FIND_STARTER: LazyLock<InList> = LazyLock::new(|| {
    let sql = "SELECT id, sha256 FROM evidence_starter_records WHERE organisation_id = $1 AND kind = $2 AND id IN";
    InList::new(sql, 2, "")
});

static DELETE: LazyLock<InList> = LazyLock::new(|| {
    InList::new("DELETE FROM evidence_records WHERE organisation_id = $1 AND kind = $2 AND id IN", 2, "")
});

/// Keeps what is new or other than before, in the order given, as one numbered batch.
pub async fn put(
    tx: &mut Tx<'_>,
    organisation_id: &str,
    incoming: &[Incoming],
    MayReplace { starter, other_sources }: MayReplace,
) -> Result<Kept, StoreError> {
    let known = read_known(tx, organisation_id, incoming).await?;
    let owners = match other_sources {
        OtherSources::Stay => Some(Owners::read(tx, organisation_id, incoming, &known).await?),
        OtherSources::MayChange => None,
    };
    let (fixed, guarded) = match starter {
        StarterData::Stays => (
            read_fixed(tx, organisation_id, incoming, &known).await?,
            read_guarded(tx, organisation_id, incoming).await?,
        ),
        StarterData::MayChange => Default::default(),
    };
    let papers = Papers::read(tx, organisation_id, incoming).await?;
    let earlier = Earlier::read(tx, organisation_id, incoming, &known).await?;
    let may_vouch = starter == StarterData::MayChange;
    let (changes, kept) = (Changes::default(), Kept::default());
    let mut desk = Desk { known, earlier, fixed, guarded, owners, may_vouch, papers, changes, kept };
    for record in incoming {
        desk.take(record)?;
    }
    let Desk { mut changes, mut papers, mut kept, .. } = desk;
    kept.n_marked += papers.spread(tx, organisation_id, &mut changes).await?;
    papers.write(tx, organisation_id).await?;
    write(tx, organisation_id, &changes).await?;
    let changes = changes.all().map(|(kind, id, content)| Change {
        kind,
        id: id.to_owned(),
        sha256: content.map(|content| hex::encode(content.sha256)),
    });
    let changes: Vec<Change> = changes.collect();
    (kept.version, kept.manifest_sha256) = batches::append(tx, organisation_id, &changes).await?;
    Ok(kept)
}

/// The records that a batch may change or stands on, as they are before it.
async fn read_known(
    conn: &mut Conn,
    organisation_id: &str,
    incoming: &[Incoming],
) -> Result<HashMap<(RecordKind, String), Sha256>, StoreError> {
    let mut wanted: BTreeMap<RecordKind, BTreeSet<&str>> = BTreeMap::new();
    for record in incoming {
        wanted.entry(record.kind).or_default().insert(&record.id);
        wanted.entry(RecordKind::Source).or_default().extend(record.source.as_deref());
        wanted.entry(RecordKind::Node).or_default().extend(record.ends.iter().flatten().map(String::as_str));
    }
    let mut known = HashMap::new();
    for (kind, ids) in wanted {
        let ids: Vec<&str> = ids.into_iter().collect();
        for row in FIND.fetch(conn, &[organisation_id.into(), kind.name().into()], &ids).await? {
            known.insert((kind, row.text(0)?), sha256(&row.bytes(1)?)?);
        }
    }
    Ok(known)
}

/// Those of the batch's records that are there as the starter data put them.
async fn read_fixed<'a>(
    conn: &mut Conn,
    organisation_id: &str,
    incoming: &'a [Incoming],
    known: &HashMap<(RecordKind, String), Sha256>,
) -> Result<BTreeSet<Key<'a>>, StoreError> {
    let mut wanted: BTreeMap<RecordKind, BTreeSet<&str>> = BTreeMap::new();
    for record in incoming {
        wanted.entry(record.kind).or_default().insert(&record.id);
    }
    let mut fixed = BTreeSet::new();
    for (kind, ids) in wanted {
        let listed: Vec<&str> = ids.iter().copied().collect();
        if kind == RecordKind::Document {
            // A document may carry a mark that it was not put with.
            let own = read_own_documents(conn, organisation_id, &listed).await?;
            fixed.extend(ids.into_iter().filter(|id| own.contains(*id)).map(|id| (kind, id)));
            continue;
        }
        for row in FIND_STARTER.fetch(conn, &[organisation_id.into(), kind.name().into()], &listed).await? {
            let key = (kind, row.text(0)?);
            if known.get(&key) == Some(&sha256(&row.bytes(1)?)?) {
                fixed.extend(ids.get(key.1.as_str()).map(|id| (kind, *id)));
            }
        }
    }
    Ok(fixed)
}

/// Those of the documents that are still the ones of the starter data.
async fn read_own_documents(
    conn: &mut Conn,
    organisation_id: &str,
    ids: &[&str],
) -> Result<BTreeSet<String>, StoreError> {
    let kind = RecordKind::Document;
    let rows = FIND_STARTER.fetch(conn, &[organisation_id.into(), kind.name().into()], ids).await?;
    let put: Vec<String> = rows.iter().map(|row| row.text(0)).collect::<Result<_, StoreError>>()?;
    let put: Vec<&str> = put.iter().map(String::as_str).collect();
    let mut own = BTreeSet::new();
    for stored in read::find(conn, organisation_id, kind, &put).await? {
        // Nobody else can name such a source.
        if is_own_source(&stored.parse::<Document>()?.source) {
            own.insert(stored.id);
        }
    }
    Ok(own)
}

/// Papers of the starter data that a mark on a paper of the batch would reach, by the keys that the mark begins with. A
/// document with ids of two papers leads from one to the other, whether it is kept or of the batch.
async fn read_guarded(
    conn: &mut Conn,
    organisation_id: &str,
    incoming: &[Incoming],
) -> Result<HashMap<String, String>, StoreError> {
    let papers: Vec<&Paper> = incoming.iter().filter_map(|record| record.paper.as_deref()).collect();
    let asked: BTreeSet<String> =
        papers.iter().flat_map(|paper| paper.spoken_against(true)).map(str::to_owned).collect();
    let mut guarded = HashMap::new();
    // Where a mark begins, and where it has come to.
    let mut reached: BTreeSet<(String, String)> = asked.into_iter().map(|key| (key.clone(), key)).collect();
    let mut news = reached.clone();
    for _ in 0..GUARD_ROUNDS_MAX {
        if news.is_empty() {
            break;
        }
        let mut begun: HashMap<&str, Vec<&str>> = HashMap::new();
        news.iter().for_each(|(start, key)| begun.entry(key).or_default().push(start));
        let keys: BTreeSet<&str> = begun.keys().copied().collect();
        let named = papers::documents_by_key(conn, organisation_id, &keys).await?;
        let ids: BTreeSet<&str> = named.iter().map(|(_, id)| id.as_str()).collect();
        let ids: Vec<&str> = ids.into_iter().collect();
        let own = read_own_documents(conn, organisation_id, &ids).await?;
        let stored = read::find(conn, organisation_id, RecordKind::Document, &ids).await?;
        let stored = stored.iter().map(|it| Ok((it.id.clone(), Paper::of(&it.parse()?))));
        let stored: HashMap<String, Paper> = stored.collect::<Result<_, StoreError>>()?;
        let mut next = BTreeSet::new();
        let of_batch = papers.iter().flat_map(|paper| paper.keys.values().map(|key| (key.as_str(), *paper)));
        let of_record = named.iter().filter_map(|(key, id)| Some((key.as_str(), stored.get(id)?)));
        for (key, paper) in of_batch.chain(of_record) {
            for start in begun.get(key).into_iter().flatten() {
                if own.contains(&paper.id) {
                    guarded.insert((*start).to_owned(), paper.id.clone());
                }
                next.extend(paper.keys.values().map(|key| ((*start).to_owned(), key.clone())));
            }
        }
        news = next.difference(&reached).cloned().collect();
        reached.extend(news.iter().cloned());
    }
    Ok(guarded)
}

/// The last word of a batch on each record; `None` is a withdrawal.
#[derive(Default)]
pub(super) struct Changes<'a>(BTreeMap<RecordKind, BTreeMap<Cow<'a, str>, Option<Cow<'a, Content>>>>);

impl<'a> Changes<'a> {
    fn get(&self, kind: RecordKind, id: &str) -> Option<Option<&Content>> {
        self.0.get(&kind)?.get(id).map(Option::as_deref)
    }

    fn put(&mut self, kind: RecordKind, id: Cow<'a, str>, content: Option<Cow<'a, Content>>) {
        self.0.entry(kind).or_default().insert(id, content);
    }

    fn all(&self) -> impl Iterator<Item = (RecordKind, &str, Option<&Content>)> {
        let changes = self.0.iter().flat_map(|(kind, changes)| changes.iter().map(move |it| (*kind, it)));
        changes.map(|(kind, (id, content))| (kind, id.as_ref(), content.as_deref()))
    }

    pub(super) fn has_document(&self, id: &str) -> bool {
        self.get(RecordKind::Document, id).is_some()
    }

    /// What a document is to be; `None` also where it is withdrawn.
    pub(super) fn document(&self, id: &str) -> Option<&str> {
        self.get(RecordKind::Document, id).flatten().map(|content| content.body.as_str())
    }

    pub(super) fn put_document(&mut self, id: String, content: Content) {
        self.put(RecordKind::Document, Cow::Owned(id), Some(Cow::Owned(content)));
    }
}

async fn write(conn: &mut Conn, organisation_id: &str, changes: &Changes<'_>) -> Result<(), StoreError> {
    let rows: Vec<(Key<'_>, &Content)> = changes.all().filter_map(|(kind, id, it)| Some(((kind, id), it?))).collect();
    UPSERT
        .insert(conn, &rows, |((kind, id), content), params| {
            params.extend([
                Param::Text(organisation_id),
                Param::Text(kind.name()),
                Param::Text(id),
                Param::Bytes(&content.sha256),
                Param::Text(&content.body),
            ]);
        })
        .await?;
    for kind in RecordKind::ALL {
        let gone = changes.all().filter(|(of, _, it)| *of == kind && it.is_none());
        let gone: Vec<&str> = gone.map(|(_, id, _)| id).collect();
        DELETE.execute(conn, &[organisation_id.into(), kind.name().into()], &gone).await?;
    }
    Ok(())
}

/// A batch while it is looked through.
struct Desk<'a> {
    known: HashMap<(RecordKind, String), Sha256>,
    earlier: Earlier,
    /// Those that stay as they are.
    fixed: BTreeSet<Key<'a>>,
    /// Papers of the starter data that are not to be marked, by the keys that they are named by.
    guarded: HashMap<String, String>,
    /// Who brought the records of the batch that were there; absent where anybody may replace them.
    owners: Option<Owners>,
    /// Whether a record may say that it was compared with its source.
    may_vouch: bool,
    papers: Papers,
    changes: Changes<'a>,
    kept: Kept,
}

impl<'a> Desk<'a> {
    /// The record's hash as it is after what the batch did so far.
    fn find(&self, kind: RecordKind, id: &str) -> Option<Sha256> {
        match self.changes.get(kind, id) {
            Some(change) => change.map(|content| content.sha256),
            None => self.known.get(&(kind, id.to_owned())).copied(),
        }
    }

    fn take(&mut self, record: &'a Incoming) -> Result<(), StoreError> {
        if record.kind == RecordKind::Document && record.content.is_none() {
            return self.withdraw(record);
        }
        match self.check(record).and_then(|()| self.content(record)) {
            Ok(content) => self.keep(record, content),
            Err(reason) => {
                self.reject(record, reason);
                Ok(())
            }
        }
    }

    /// Of a document that its source withdraws stays what it says against papers. Who withdraws it in the name of no source
    /// takes that back as well, as whoever put a false word there must be able to.
    fn withdraw(&mut self, record: &'a Incoming) -> Result<(), StoreError> {
        let body = self.earlier.body(&record.id, &self.changes).filter(|_| record.source.is_some());
        let left = body.map(papers::remains).transpose()?.flatten();
        let (before, after) = (self.find(record.kind, &record.id), left.as_ref().map(|(_, content)| content.sha256));
        let is_repeated = before == after;
        let checked = if is_repeated { Ok(()) } else { self.check_change(record, None) };
        if let Err(reason) = self.check(record).and(checked) {
            self.reject(record, reason);
            return Ok(());
        }
        match &left {
            Some((document, content)) => self.papers.note(&Paper::of(document), content)?,
            None => self.papers.withdraw(&record.id),
        }
        if is_repeated {
            self.kept.n_repeated += 1;
            return Ok(());
        }
        self.kept.n_deleted += 1;
        if left.is_none() {
            self.owners.iter_mut().for_each(|owners| owners.note(record));
        }
        self.changes.put(record.kind, Cow::Borrowed(&record.id), left.map(|(_, content)| Cow::Owned(content)));
        Ok(())
    }

    /// A record that is older than the one that is kept still speaks against its paper, as it would have by coming first.
    fn take_mark(&mut self, record: &Incoming, newer: Newer) -> Result<(), StoreError> {
        let mut told = newer.document.doubt();
        let said = record.paper.as_ref().and_then(|paper| paper.own.as_ref());
        if let Some(said) = said
            && papers::settle(&mut told, said)
            && let Some(told) = told
        {
            let content = papers::with_mark(&newer.body, &told)?;
            self.papers.note(&Paper::of(&newer.document), &content)?;
            self.kept.n_marked += 1;
            self.changes.put_document(record.id.clone(), content);
        }
        self.reject(record, newer.reason);
        Ok(())
    }

    /// What is to be kept: a paper with all that is known against it.
    fn content(&self, record: &'a Incoming) -> Result<Option<Cow<'a, Content>>, String> {
        match (&record.paper, &record.content) {
            (Some(paper), Some(content)) => self.papers.marked(paper, content).map(Some),
            (None, Some(content)) => Ok(Some(Cow::Borrowed(content))),
            (_, None) => Ok(None),
        }
    }

    fn keep(&mut self, record: &'a Incoming, content: Option<Cow<'a, Content>>) -> Result<(), StoreError> {
        let before = self.find(record.kind, &record.id);
        let after = content.as_ref().map(|content| content.sha256);
        if before != after
            && let Err(reason) = self.check_change(record, content.as_deref())
        {
            self.reject(record, reason);
            return Ok(());
        }
        if before != after
            && let Some(newer) = self.earlier.newer(record, &self.changes)?
        {
            return self.take_mark(record, newer);
        }
        if let (Some(paper), Some(content)) = (&record.paper, &content) {
            self.papers.note(paper, content)?;
        }
        match (before, after) {
            (before, after) if before == after => {
                self.kept.n_repeated += 1;
                return Ok(());
            }
            (_, None) => self.kept.n_deleted += 1,
            (None, Some(_)) => self.kept.n_kept += 1,
            (Some(_), Some(_)) => {
                self.kept.n_kept += 1;
                self.kept.n_changed += 1;
            }
        }
        self.changes.put(record.kind, Cow::Borrowed(&record.id), content);
        self.owners.iter_mut().for_each(|owners| owners.note(record));
        Ok(())
    }

    /// Whether the record may become another than it is.
    fn check_change(&self, record: &Incoming, content: Option<&Content>) -> Result<(), String> {
        if record.claims_verified && !self.may_vouch {
            let reason = "`qualifiers/verified`: expected to be absent or false, as only what comes with the program was compared with \
                its source by us; call it otherwise, such as `verified_by_source`";
            return Err(reason.to_owned());
        }
        if self.fixed.contains(&(record.kind, record.id.as_str())) {
            return Err(format!(
                "`id`: `{}` came with the program and stays as it is; use an id of your own, or say `replace_starter`",
                record.id
            ));
        }
        if let Some(owners) = &self.owners {
            owners.check(record)?;
            self.check_terms(record)?;
        }
        let is_marked = content.is_some_and(Content::is_marked);
        let mut spoken_against = record.paper.iter().flat_map(|paper| paper.spoken_against(is_marked));
        if let Some(id) = spoken_against.find_map(|key| self.guarded.get(key)) {
            return Err(format!(
                "`retraction`: `{id}` came with the program and is not marked by others; say `replace_starter` where it was retracted"
            ));
        }
        Ok(())
    }

    /// Answers name the terms that a source has now, so they are those under which its records came.
    fn check_terms(&self, record: &Incoming) -> Result<(), String> {
        if record.kind == RecordKind::Source && self.find(RecordKind::Source, &record.id).is_some() {
            return Err(format!(
                "`id`: the source `{}` is known with another licence, title or address and stays as it is; use an id of your \
                 own, or say `replace_other_sources`",
                record.id
            ));
        }
        Ok(())
    }

    fn reject(&mut self, record: &Incoming, reason: String) {
        self.kept.rejected.push(Rejected { position: record.position, id: record.id.clone(), reason });
    }

    fn check(&self, record: &Incoming) -> Result<(), String> {
        if record.kind == RecordKind::Source && record.content.is_none() {
            return Err("a source stays: its licence belongs to what was taken from it".to_owned());
        }
        if let Some(source) = record.source.as_deref().filter(|id| self.find(RecordKind::Source, id).is_none()) {
            return Err(format!("`source`: no source `{source}` is known"));
        }
        let ends = record.ends.iter().flatten().zip(["subject", "object"]);
        for (id, field) in ends {
            if self.find(RecordKind::Node, id).is_none() {
                return Err(format!("`{field}`: no node `{id}` is known"));
            }
        }
        match &record.paper {
            Some(paper) => self.papers.check(paper),
            None => Ok(()),
        }
    }
}
