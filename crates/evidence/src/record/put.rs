//! Keeping a batch of records. What the record has already is left alone, and what does not fit is rejected by itself.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use contract::evidence::record::RecordKind;
use store::{Bulk, Conn, InList, Param, StoreError, Tx};

use super::batches::{self, Change};
use super::incoming::Content;
use super::{Incoming, Sha256, sha256};

/// What became of a batch.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Kept {
    pub n_kept: u64,
    pub n_changed: u64,
    pub n_repeated: u64,
    pub n_deleted: u64,
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
    starter: StarterData,
) -> Result<Kept, StoreError> {
    let known = read_known(tx, organisation_id, incoming).await?;
    let fixed = match starter {
        StarterData::Stays => read_fixed(tx, organisation_id, incoming, &known).await?,
        StarterData::MayChange => BTreeSet::new(),
    };
    let mut desk = Desk { known, fixed, may_vouch: starter == StarterData::MayChange, ..Desk::default() };
    for record in incoming {
        desk.take(record);
    }
    let Desk { changes, mut kept, .. } = desk;
    write(tx, organisation_id, &changes).await?;
    let changes: Vec<Change> = changes
        .iter()
        .map(|((kind, id), content)| Change {
            kind: *kind,
            id: (*id).to_owned(),
            sha256: content.map(|content| hex::encode(content.sha256)),
        })
        .collect();
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

/// Those of the batch's records that are there as the starter data put them. A paper is none of them unless it is to be
/// withdrawn: an imported one says more than our own summary.
async fn read_fixed<'a>(
    conn: &mut Conn,
    organisation_id: &str,
    incoming: &'a [Incoming],
    known: &HashMap<(RecordKind, String), Sha256>,
) -> Result<BTreeSet<Key<'a>>, StoreError> {
    let mut wanted: BTreeMap<RecordKind, BTreeSet<&str>> = BTreeMap::new();
    for record in incoming.iter().filter(|record| !record.is_paper() || record.content.is_none()) {
        wanted.entry(record.kind).or_default().insert(&record.id);
    }
    let mut fixed = BTreeSet::new();
    for (kind, ids) in wanted {
        let listed: Vec<&str> = ids.iter().copied().collect();
        for row in FIND_STARTER.fetch(conn, &[organisation_id.into(), kind.name().into()], &listed).await? {
            let key = (kind, row.text(0)?);
            if known.get(&key) == Some(&sha256(&row.bytes(1)?)?) {
                fixed.extend(ids.get(key.1.as_str()).map(|id| (kind, *id)));
            }
        }
    }
    Ok(fixed)
}

async fn write(
    conn: &mut Conn,
    organisation_id: &str,
    changes: &BTreeMap<Key<'_>, Option<&Content>>,
) -> Result<(), StoreError> {
    let rows: Vec<(Key<'_>, &Content)> = changes.iter().filter_map(|(key, it)| Some((*key, (*it)?))).collect();
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
        let gone: Vec<&str> =
            changes.iter().filter(|((of, _), it)| *of == kind && it.is_none()).map(|((_, id), _)| *id).collect();
        DELETE.execute(conn, &[organisation_id.into(), kind.name().into()], &gone).await?;
    }
    Ok(())
}

/// A batch while it is looked through.
#[derive(Default)]
struct Desk<'a> {
    known: HashMap<(RecordKind, String), Sha256>,
    /// Those that stay as they are.
    fixed: BTreeSet<Key<'a>>,
    /// Whether a record may say that it was compared with its source.
    may_vouch: bool,
    /// The last word on each record; `None` is a withdrawal.
    changes: BTreeMap<Key<'a>, Option<&'a Content>>,
    kept: Kept,
}

impl<'a> Desk<'a> {
    /// The record's hash as it is after what the batch did so far.
    fn find(&self, kind: RecordKind, id: &str) -> Option<Sha256> {
        match self.changes.get(&(kind, id)) {
            Some(change) => change.map(|content| content.sha256),
            None => self.known.get(&(kind, id.to_owned())).copied(),
        }
    }

    fn take(&mut self, record: &'a Incoming) {
        if let Err(reason) = self.check(record) {
            return self.reject(record, reason);
        }
        let before = self.find(record.kind, &record.id);
        let after = record.content.as_ref().map(|content| content.sha256);
        if before == after {
            self.kept.n_repeated += 1;
            return;
        }
        if record.claims_verified && !self.may_vouch {
            let reason = "`qualifiers/verified`: expected to be absent or false, as only what comes with the program was compared with \
                its source by us; call it otherwise, such as `verified_by_source`";
            return self.reject(record, reason.to_owned());
        }
        if self.fixed.contains(&(record.kind, record.id.as_str())) {
            let reason = format!(
                "`id`: `{}` came with the program and stays as it is; use an id of your own, or say `replace_starter`",
                record.id
            );
            return self.reject(record, reason);
        }
        match (before, after) {
            (_, None) => self.kept.n_deleted += 1,
            (None, Some(_)) => self.kept.n_kept += 1,
            (Some(_), Some(_)) => {
                self.kept.n_kept += 1;
                self.kept.n_changed += 1;
            }
        }
        self.changes.insert((record.kind, &record.id), record.content.as_ref());
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
        Ok(())
    }
}
