//! Whose keys were destroyed, remembered beside the database: a backup that is older than that would bring the keys back, and
//! what was erased could be read again.
//!
//! One subject a line, as a JSON array of organisation, kind and id. Lines are only added, by whoever erased: what is missing in
//! a database is not taken for erased, or who can write to that could have a good backup erased as well.

use std::collections::HashSet;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use contract::error::OpError;
use store::subject_keys::{self, Subject, SubjectKind};
use store::{Applied, Keep, Store, StoreError};
use tokio::time::Instant;

use crate::drive::write_error;
use crate::limits::RECORD_WITHIN;
use crate::operation::store_error;

/// Subjects of one transaction.
const CHUNK: usize = 200;

pub(crate) struct Destroyed {
    file: Option<PathBuf>,
}

impl Destroyed {
    pub fn new(file: Option<PathBuf>) -> Destroyed {
        Destroyed { file }
    }

    pub fn note(&self, subject: &Subject) {
        if let Err(error) = self.append(subject) {
            tracing::error!(error = %error, "That a key was destroyed could not be noted beside the database");
        }
    }

    /// Destroys again what the file names and the database still has. How many that were.
    pub async fn reconcile(&self, store: &Store, now_us: i64) -> Result<u64, OpError> {
        let noted = self.read().map_err(OpError::internal)?;
        let mut reader = store.read().await.map_err(store_error)?;
        let in_database = subject_keys::read_destroyed(&mut reader).await.map_err(store_error)?;
        drop(reader);
        let in_database: HashSet<Subject> = in_database.into_iter().collect();
        let to_destroy: Vec<Subject> = noted.iter().filter(|subject| !in_database.contains(subject)).cloned().collect();
        let mut n_destroyed = 0;
        for chunk in to_destroy.chunks(CHUNK) {
            n_destroyed += destroy(store, chunk, now_us).await?;
        }
        Ok(n_destroyed)
    }

    fn read(&self) -> io::Result<Vec<Subject>> {
        let Some(file) = &self.file else { return Ok(Vec::new()) };
        match std::fs::read(file) {
            Ok(bytes) => Ok(bytes.split(|byte| *byte == b'\n').filter_map(parse).collect()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn append(&self, subject: &Subject) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        // The line break goes first: a line that a crash cut stays a line of its own.
        let line = format!("\n{}", line(subject));
        let mut file = std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(file)?;
        file.write_all(line.as_bytes())?;
        file.sync_all()
    }
}

fn line(subject: &Subject) -> String {
    serde_json::json!([subject.organisation_id, subject.kind.name(), subject.id]).to_string()
}

/// A line that a crash cut, or a disk spoiled, costs no other.
fn parse(line: &[u8]) -> Option<Subject> {
    let (organisation_id, kind, id): (String, String, String) = serde_json::from_slice(line).ok()?;
    Some(Subject { organisation_id, kind: SubjectKind::parse(&kind)?, id })
}

async fn destroy(store: &Store, subjects: &[Subject], now_us: i64) -> Result<u64, OpError> {
    let subjects = subjects.to_vec();
    let apply: store::Apply<u64> = Box::new(move |tx| {
        let subjects = subjects.clone();
        Box::pin(async move {
            let mut value = 0;
            for subject in &subjects {
                value += u64::from(subject_keys::destroy(tx, subject, now_us).await?);
            }
            Ok::<_, StoreError>(Applied { value, event: None, keep: Keep::Changes })
        })
    });
    store.write(None, Instant::now() + RECORD_WITHIN, apply).await.map_err(write_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_read_back_and_a_torn_one_costs_no_other() {
        let folder = testkit::temp_dir();
        let destroyed = Destroyed::new(Some(folder.path().join("keys.destroyed")));
        let (first, second) = (Subject::patient("here", "a\n\"b"), Subject::patient("here", "c"));
        destroyed.note(&first);
        let mut file = std::fs::OpenOptions::new().append(true).open(folder.path().join("keys.destroyed")).unwrap();
        file.write_all(b"\n[\"here\",\"pat\xe0\xb8").unwrap();
        destroyed.note(&second);
        assert_eq!(destroyed.read().unwrap(), [first, second]);
    }
}
