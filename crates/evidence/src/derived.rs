//! What is derived from the record and kept in memory or beside the database. All of it can be thrown away and rebuilt.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use store::Store;

use crate::graph::GraphError;
use crate::graph::live::Graphs;
use crate::sealing::Sealing;

/// Shared by all calls of a process. Cloning it is cheap.
#[derive(Clone)]
pub struct Derived(Arc<Inner>);

struct Inner {
    folder: PathBuf,
    /// Organisation → the newest change number that this process has heard of.
    heard: Mutex<HashMap<String, i64>>,
    graphs: OnceLock<Graphs>,
}

impl fmt::Debug for Derived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Derived").field("folder", &self.0.folder).finish_non_exhaustive()
    }
}

impl Derived {
    /// `folder` is where files of derived state stand. It is made when something is first kept there.
    pub fn new(folder: PathBuf) -> Derived {
        Derived(Arc::new(Inner { folder, heard: Mutex::default(), graphs: OnceLock::new() }))
    }

    /// Gives it the record to follow and what seals its files, once, and begins to read what organisations already have.
    pub fn attach(&self, store: Store, sealing: Sealing) {
        let graphs = self.0.graphs.get_or_init(|| Graphs::new(store, self.0.folder.clone(), sealing)).clone();
        tokio::spawn(async move {
            if let Err(error) = graphs.warm().await {
                tracing::warn!(error = %error, "The graph could not be read yet; the first question will try again");
            }
        });
    }

    pub fn folder(&self) -> &Path {
        &self.0.folder
    }

    pub fn graphs(&self) -> Result<&Graphs, GraphError> {
        self.0.graphs.get().ok_or(GraphError::Unavailable("it has no record to follow"))
    }

    /// Tells that the record of an organisation is at this change number.
    pub fn note(&self, organisation_id: &str, version: i64) {
        let mut heard = self.0.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = heard.entry(organisation_id.to_owned()).or_insert(version);
        *newest = version.max(*newest);
        drop(heard);
        if let Some(graphs) = self.0.graphs.get() {
            graphs.note(organisation_id, version);
        }
    }

    /// The newest change number of an organisation that this process has heard of.
    pub fn heard(&self, organisation_id: &str) -> Option<i64> {
        self.0.heard.lock().unwrap_or_else(PoisonError::into_inner).get(organisation_id).copied()
    }

    /// Stops what runs in the background.
    pub fn close(&self) {
        if let Some(graphs) = self.0.graphs.get() {
            graphs.close();
        }
    }
}
