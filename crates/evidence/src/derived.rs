//! What is derived from the record and kept in memory or beside the database. All of it can be thrown away and rebuilt.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Shared by all calls of a process. Cloning it is cheap.
#[derive(Debug, Clone)]
pub struct Derived(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    /// Organisation → the newest change number that this process has heard of.
    heard: Mutex<HashMap<String, i64>>,
}

impl Derived {
    /// `folder` is where files of derived state stand. It is made when something is first kept there.
    pub fn new(folder: PathBuf) -> Derived {
        Derived(Arc::new(Inner { folder, heard: Mutex::default() }))
    }

    pub fn folder(&self) -> &Path {
        &self.0.folder
    }

    /// Tells that the record of an organisation is at this change number.
    pub fn note(&self, organisation_id: &str, version: i64) {
        let mut heard = self.0.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = heard.entry(organisation_id.to_owned()).or_insert(version);
        *newest = version.max(*newest);
    }

    /// The newest change number of an organisation that this process has heard of.
    pub fn heard(&self, organisation_id: &str) -> Option<i64> {
        self.0.heard.lock().unwrap_or_else(PoisonError::into_inner).get(organisation_id).copied()
    }
}
