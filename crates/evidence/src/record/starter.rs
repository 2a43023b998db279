//! Keeping the starter data: a set of records that comes with the program and changes with it.
//!
//! What somebody else brought, changed or withdrew is theirs and stays as it is; what the set put earlier and nobody
//! touched follows the set. All of it happens in one transaction: a start that is killed has done nothing or everything.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use contract::canonical;
use contract::evidence::record::{Deletion, Record, RecordKind};
use store::{Bulk, Conn, Param, StoreError, Tx};

use super::put::{self, FIND, Kept, MayReplace, OtherSources, StarterData};
use super::{Incoming, Sha256, sha256};

/// What became of the set.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    pub kept: Kept,
    /// Records of the set that somebody else brought, changed or withdrew.
    pub n_left_alone: u64,
    /// Of the list of what the set put, as [`list_sha256`] makes it.
    pub list_sha256: String,
}

type Key = (RecordKind, String);

static INSERT: LazyLock<Bulk> =
    LazyLock::new(|| Bulk::new("evidence_starter_records (organisation_id, kind, id, sha256)", 4, ""));

/// Brings the record to this set.
pub async fn load(tx: &mut Tx<'_>, organisation_id: &str, set: &[Incoming]) -> Result<Loaded, StoreError> {
    let before = read_put_earlier(tx, organisation_id).await?;
    let now = read_now(tx, organisation_id, set, &before).await?;
    let mut loaded = Loaded::default();
    let mut after: BTreeMap<Key, Sha256> = BTreeMap::new();
    let mut incoming = Vec::new();
    for record in set {
        let Some(content) = &record.content else { continue };
        let key = (record.kind, record.id.clone());
        let (earlier, found) = (before.get(&key), now.get(&key));
        if found == Some(&content.sha256) || found == earlier {
            incoming.push(record.clone());
            after.insert(key, content.sha256);
        } else {
            loaded.n_left_alone += 1;
            // Remembered as it was put, so that it stays somebody else's.
            after.extend(earlier.map(|sha256| (key, *sha256)));
        }
    }
    // Edges before their nodes. A source stays: its licence belongs to what was taken from it.
    let gone = before.iter().filter(|(key, _)| !after.contains_key(*key) && key.0 != RecordKind::Source);
    let mut gone: Vec<&Key> = gone.filter(|(key, sha256)| now.get(*key) == Some(*sha256)).map(|(key, _)| key).collect();
    gone.sort_by(|a, b| b.cmp(a));
    for (position, (kind, id)) in (0..).zip(gone) {
        let deletion = Record::Deletion(Deletion { kind: *kind, id: id.clone(), source: None });
        incoming.extend(Incoming::new(position, &deletion));
    }
    // What is left alone is no longer among them.
    let may_replace = MayReplace { starter: StarterData::MayChange, other_sources: OtherSources::MayChange };
    loaded.kept = put::put(tx, organisation_id, &incoming, may_replace).await?;
    // An edge whose node somebody withdrew cannot be kept; what was put of it earlier is still ours.
    for rejected in &loaded.kept.rejected {
        loaded.n_left_alone += 1;
        let key = (RecordKind::Edge, rejected.id.clone());
        match before.get(&key) {
            Some(sha256) => after.insert(key, *sha256),
            None => after.remove(&key),
        };
    }
    remember(tx, organisation_id, &after).await?;
    let list = after.iter().map(|((kind, id), sha256)| (kind.name(), id.as_str(), hex::encode(sha256)));
    loaded.list_sha256 = list_sha256(list.collect());
    Ok(loaded)
}

/// The hash of the list in one order on every engine: kind, id and hash of each record.
pub(super) fn list_sha256(mut list: Vec<(&str, &str, String)>) -> String {
    list.sort_unstable();
    canonical::hash_text(&serde_json::json!(list).to_string())
}

async fn read_put_earlier(conn: &mut Conn, organisation_id: &str) -> Result<HashMap<Key, Sha256>, StoreError> {
    let sql = "SELECT kind, id, sha256 FROM evidence_starter_records WHERE organisation_id = $1";
    let rows = conn.fetch_all(sql, &[organisation_id.into()]).await?;
    let read = rows.iter().map(|row| {
        let kind =
            RecordKind::find(&row.text(0)?).ok_or(StoreError::other("a record of the starter data has no kind"))?;
        Ok(((kind, row.text(1)?), sha256(&row.bytes(2)?)?))
    });
    read.collect()
}

/// The hashes of what the record has now, of the new set and of the earlier one.
async fn read_now(
    conn: &mut Conn,
    organisation_id: &str,
    set: &[Incoming],
    before: &HashMap<Key, Sha256>,
) -> Result<HashMap<Key, Sha256>, StoreError> {
    let mut now = HashMap::new();
    for kind in RecordKind::ALL {
        let of_set = set.iter().filter(|record| record.kind == kind).map(|record| record.id.as_str());
        let of_before = before.keys().filter(|(of, _)| *of == kind).map(|(_, id)| id.as_str());
        let mut ids: Vec<&str> = of_set.chain(of_before).collect();
        ids.sort_unstable();
        ids.dedup();
        for row in FIND.fetch(conn, &[organisation_id.into(), kind.name().into()], &ids).await? {
            now.insert((kind, row.text(0)?), sha256(&row.bytes(1)?)?);
        }
    }
    Ok(now)
}

async fn remember(conn: &mut Conn, organisation_id: &str, after: &BTreeMap<Key, Sha256>) -> Result<(), StoreError> {
    let sql = "DELETE FROM evidence_starter_records WHERE organisation_id = $1";
    conn.execute(sql, &[organisation_id.into()]).await?;
    let rows: Vec<(&Key, &Sha256)> = after.iter().collect();
    INSERT
        .insert(conn, &rows, |((kind, id), sha256), params| {
            params.extend([
                Param::Text(organisation_id),
                Param::Text(kind.name()),
                Param::Text(id),
                Param::Bytes(sha256.as_slice()),
            ]);
        })
        .await
}
