//! The index of one organisation: made from the record, then following it change by change.
//!
//! What is found does not depend on the way there: an index that grew and one that was rebuilt hold the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::evidence::record::{Document, Node, RecordKind};
use store::{Conn, StoreError};

use super::entry::{Entry, EntryRecord, key};
use super::gazetteer::Gazetteer;
use super::index::{Change, SearchError, Snapshot, State, TextIndex};
use super::words::has_thai;
use crate::record::{batches, read};
use crate::sealing::Seal;

/// Records read at a time while an index is made.
const PAGE: i64 = 500;
/// Changes that are taken before a commit: a work that is broken off goes on from there, in bounded memory.
const CHANGES_AT_ONCE: usize = 20_000;
/// Above this many changed names all documents are read again, instead of looking for those that hold one of them.
const CHANGED_NAMES_MAX: usize = 2_000;

#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    #[error("the record could not be read for the index")]
    Record(#[source] StoreError),
    #[error("the index could not be kept")]
    Index(#[source] SearchError),
    #[error("the names of the nodes are too many for one table")]
    Names(#[source] aho_corasick::BuildError),
    #[error("the work on the index broke off")]
    Broken(#[source] tokio::task::JoinError),
}

impl From<StoreError> for KeepError {
    fn from(error: StoreError) -> KeepError {
        KeepError::Record(error)
    }
}

impl From<SearchError> for KeepError {
    fn from(error: SearchError) -> KeepError {
        KeepError::Index(error)
    }
}

/// The index with what belongs to it.
pub struct Keep {
    index: TextIndex,
    state: State,
    /// Whether the record was found to be the one that the index was made from.
    is_checked: bool,
    /// Node → its names, for the gazetteer.
    names: BTreeMap<String, BTreeSet<String>>,
    gazetteer: Arc<Gazetteer>,
}

impl Keep {
    /// Opens the index of a folder, or one in memory where another process holds the folder's.
    pub fn open(folder: &Path, seal: &Seal) -> Result<Keep, KeepError> {
        let index = match TextIndex::open(folder, seal) {
            Ok(index) => index,
            Err(error) => {
                tracing::info!(error = %error, "The text index of the data folder cannot be used; making one in memory");
                TextIndex::in_memory()?
            }
        };
        Keep::with(index)
    }

    /// Makes an index in a folder of its own, whatever was there, and closes it: somebody who opens it finds it done.
    pub async fn make(folder: PathBuf, seal: Seal, conn: &mut Conn, organisation_id: &str) -> Result<(), KeepError> {
        let keep = blocking(move || {
            discard(&folder)?;
            Keep::with(TextIndex::open(&folder, &seal)?)
        });
        let keep = keep.await?.follow(conn, organisation_id).await?;
        blocking(move || keep.close()).await
    }

    /// Takes the place of the index in `folder`, which is closed, with the one in `made`, which is too.
    pub fn replace(folder: &Path, made: &Path) -> Result<(), KeepError> {
        discard(folder)?;
        let moved = std::fs::rename(made, folder);
        moved.map_err(|source| KeepError::Index(SearchError::Folder { path: folder.to_owned(), source }))
    }

    pub fn close(self) -> Result<(), KeepError> {
        Ok(self.index.close()?)
    }

    fn with(index: TextIndex) -> Result<Keep, KeepError> {
        let state = index.state()?;
        let mut keep = Keep { index, state, is_checked: false, names: BTreeMap::new(), gazetteer: Arc::default() };
        if keep.state.version > 0 {
            for entry in keep.index.snapshot()?.nodes()? {
                keep.names.insert(entry.id.clone(), names_of(&entry));
            }
            keep.renew_gazetteer()?;
        }
        Ok(keep)
    }

    pub fn version(&self) -> i64 {
        self.state.version
    }

    pub fn snapshot(&self) -> Result<Snapshot, KeepError> {
        Ok(self.index.snapshot()?)
    }

    pub fn gazetteer(&self) -> Arc<Gazetteer> {
        Arc::clone(&self.gazetteer)
    }

    /// Brings the index to the record's last change. Moves itself through a thread that may block.
    pub async fn follow(mut self, conn: &mut Conn, organisation_id: &str) -> Result<Keep, KeepError> {
        let latest = batches::latest(conn, organisation_id).await?;
        if !self.is_checked {
            // A folder may have been given another database, or an older one, since.
            let batch = batches::hash_of(conn, organisation_id, self.state.version).await?;
            if self.state.version > 0 && batch.as_deref() != Some(self.state.batch.as_str()) {
                return self.rebuild(conn, organisation_id, latest).await;
            }
            self.is_checked = true;
        }
        if latest == self.state.version {
            return Ok(self);
        }
        // A record that is behind its index was put back from a backup.
        if self.state.version == 0 || latest < self.state.version {
            return self.rebuild(conn, organisation_id, latest).await;
        }
        while self.state.version < latest {
            let mut changed: BTreeSet<(RecordKind, String)> = BTreeSet::new();
            let mut version = self.state.version;
            while version < latest && changed.len() < CHANGES_AT_ONCE {
                let page = batches::after(conn, organisation_id, version).await?;
                let Some(last) = page.last().map(|batch| batch.number) else { break };
                changed.extend(page.into_iter().flat_map(|batch| batch.changes).map(|change| (change.kind, change.id)));
                version = last;
            }
            if version == self.state.version {
                break;
            }
            let (nodes, documents) = changes(conn, organisation_id, &changed).await?;
            let is_much = self.note_names(&nodes).len() > CHANGED_NAMES_MAX;
            if is_much {
                return self.rebuild(conn, organisation_id, latest).await;
            }
            let state = state_at(conn, organisation_id, version).await?;
            self = blocking(move || self.take(nodes, documents, state)).await?;
        }
        Ok(self)
    }

    /// Makes everything anew. What changes meanwhile is followed afterwards: taking a change twice does no harm.
    pub async fn rebuild(mut self, conn: &mut Conn, organisation_id: &str, latest: i64) -> Result<Keep, KeepError> {
        self = blocking(move || {
            self.index.clear()?;
            self.names.clear();
            Ok(self)
        })
        .await?;
        let mut after = String::new();
        let mut nodes = Vec::new();
        loop {
            let page = read::page(conn, organisation_id, RecordKind::Node, &after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = last.id.clone();
            for stored in &page {
                let entry = Entry::of_node(&stored.parse::<Node>()?);
                self.names.insert(entry.id.clone(), names_of(&entry));
                nodes.push(Change::Put(Box::new(entry)));
            }
        }
        self = blocking(move || {
            self.renew_gazetteer()?;
            self.index.apply(&nodes, &self.gazetteer)?;
            Ok(self)
        })
        .await?;
        let mut after = String::new();
        loop {
            let page = read::page(conn, organisation_id, RecordKind::Document, &after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = last.id.clone();
            let entries = page.iter().map(|stored| Ok(Entry::of_document(&stored.parse::<Document>()?)));
            let entries: Vec<Change> =
                entries.map(|entry| Ok(Change::Put(Box::new(entry?)))).collect::<Result<_, StoreError>>()?;
            self = blocking(move || {
                self.index.apply(&entries, &self.gazetteer)?;
                Ok(self)
            })
            .await?;
        }
        let state = state_at(conn, organisation_id, latest).await?;
        blocking(move || {
            self.index.commit(&state)?;
            (self.state, self.is_checked) = (state, true);
            Ok(self)
        })
        .await
    }

    /// Names that nodes gained or lost by these changes.
    fn note_names(&self, nodes: &[Change]) -> BTreeSet<String> {
        let mut changed = BTreeSet::new();
        for change in nodes {
            let (id, now) = match change {
                Change::Put(entry) => (entry.id.clone(), names_of(entry)),
                Change::Delete(key) => {
                    (key.split_once(':').map_or(key.as_str(), |(_, id)| id).to_owned(), BTreeSet::new())
                }
            };
            let before = self.names.get(&id).cloned().unwrap_or_default();
            changed.extend(before.symmetric_difference(&now).cloned());
        }
        changed
    }

    fn take(mut self, nodes: Vec<Change>, mut documents: Vec<Change>, state: State) -> Result<Keep, KeepError> {
        let changed_names = self.note_names(&nodes);
        for change in &nodes {
            match change {
                Change::Put(entry) => drop(self.names.insert(entry.id.clone(), names_of(entry))),
                Change::Delete(key) => drop(self.names.remove(key.split_once(':').map_or(key.as_str(), |(_, id)| id))),
            }
        }
        if !changed_names.is_empty() {
            self.renew_gazetteer()?;
            // What holds a name that came or went names other nodes than before.
            let snapshot = self.index.snapshot()?;
            let mut seen: BTreeSet<String> = nodes.iter().chain(&documents).map(changed_key).collect();
            for name in &changed_names {
                for address in snapshot.holding(name, has_thai(name))? {
                    if seen.insert(snapshot.key(address)?) {
                        documents.push(Change::Put(Box::new(snapshot.entry(address)?)));
                    }
                }
            }
        }
        self.index.apply(&nodes, &self.gazetteer)?;
        self.index.apply(&documents, &self.gazetteer)?;
        self.index.commit(&state)?;
        self.state = state;
        Ok(self)
    }

    fn renew_gazetteer(&mut self) -> Result<(), KeepError> {
        let names =
            self.names.iter().flat_map(|(id, names)| names.iter().map(move |name| (name.as_str(), id.as_str())));
        self.gazetteer = Arc::new(Gazetteer::new(names).map_err(KeepError::Names)?);
        Ok(())
    }
}

fn discard(folder: &Path) -> Result<(), KeepError> {
    match std::fs::remove_dir_all(folder) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(KeepError::Index(SearchError::Folder { path: folder.to_owned(), source }))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

async fn state_at(conn: &mut Conn, organisation_id: &str, version: i64) -> Result<State, StoreError> {
    let batch = batches::hash_of(conn, organisation_id, version).await?.unwrap_or_default();
    Ok(State { version, batch })
}

fn changed_key(change: &Change) -> String {
    match change {
        Change::Put(entry) => entry.key(),
        Change::Delete(key) => key.clone(),
    }
}

fn names_of(entry: &Entry) -> BTreeSet<String> {
    entry.names.iter().map(|name| name.text.clone()).collect()
}

/// The changed nodes and documents as they are now.
async fn changes(
    conn: &mut Conn,
    organisation_id: &str,
    changed: &BTreeSet<(RecordKind, String)>,
) -> Result<(Vec<Change>, Vec<Change>), StoreError> {
    let ids = |kind: RecordKind| -> Vec<&str> {
        changed.iter().filter(|(one, _)| *one == kind).map(|(_, id)| id.as_str()).collect()
    };
    let (node_ids, document_ids) = (ids(RecordKind::Node), ids(RecordKind::Document));
    let gone = |record: EntryRecord, ids: &[&str]| -> BTreeMap<String, Change> {
        ids.iter().map(|id| ((*id).to_owned(), Change::Delete(key(record, id)))).collect()
    };
    let mut nodes = gone(EntryRecord::Node, &node_ids);
    for stored in read::find(conn, organisation_id, RecordKind::Node, &node_ids).await? {
        let entry = Entry::of_node(&stored.parse::<Node>()?);
        nodes.insert(stored.id, Change::Put(Box::new(entry)));
    }
    let mut documents = gone(EntryRecord::Document, &document_ids);
    for stored in read::find(conn, organisation_id, RecordKind::Document, &document_ids).await? {
        let entry = Entry::of_document(&stored.parse::<Document>()?);
        documents.insert(stored.id, Change::Put(Box::new(entry)));
    }
    Ok((nodes.into_values().collect(), documents.into_values().collect()))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, KeepError> + Send + 'static,
) -> Result<T, KeepError> {
    tokio::task::spawn_blocking(work).await.map_err(KeepError::Broken)?
}
