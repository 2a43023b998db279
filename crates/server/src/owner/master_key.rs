//! The master key of a database: made with its first key file, or at the first start of a version that has one, and held
//! against the database at every start.

use std::path::Path;

use store::subject_keys::{self, MasterKey, Subject, SubjectKeys};
use store::{Applied, Keep, Store};
use tokio::time::Instant;

use super::OWNER_WITHIN;
use super::keys::{self, KeyFile, KeyFileError};

/// Only the master key of a database opens this key, which every start looks for. No organisation has this name.
fn known_subject() -> Subject {
    Subject::organisation("")
}

/// The keys of the database under the master key of the file, which gets one if neither has any.
pub async fn find_or_make(path: &Path, file: &mut KeyFile, store: &Store) -> Result<SubjectKeys, KeyFileError> {
    if file.master.is_none() {
        let mut reader = store.read().await.map_err(KeyFileError::Master)?;
        if subject_keys::is_any(&mut reader).await.map_err(KeyFileError::Master)? {
            return Err(KeyFileError::NoMaster { path: path.to_owned() });
        }
        drop(reader);
        file.master = Some(MasterKey::generate().map_err(KeyFileError::Master)?);
        keys::write(path, file)?;
    }
    let master = file.master.as_ref().ok_or_else(|| KeyFileError::NoMaster { path: path.to_owned() })?;
    Ok(SubjectKeys::new(master))
}

/// Refuses a master key that does not open what is in the database. The first server leaves a key there that the others must
/// open: two of them that share a database share the file.
pub async fn check(path: &Path, subject_keys: &SubjectKeys, store: &Store, now_us: i64) -> Result<(), KeyFileError> {
    let keys = subject_keys.clone();
    let apply: store::Apply<()> = Box::new(move |tx| {
        let keys = keys.clone();
        Box::pin(async move {
            keys.find_or_make(tx, &known_subject(), now_us).await?;
            Ok(Applied { value: (), event: None, keep: Keep::Changes })
        })
    });
    let mut reader = store.read().await.map_err(KeyFileError::Master)?;
    let found = subject_keys.find(&mut reader, &known_subject()).await;
    drop(reader);
    let checked = match found {
        Ok(subject_keys::Found::Nothing) => {
            let written = store.write(None, Instant::now() + OWNER_WITHIN, apply).await;
            written.map_err(|error| match error {
                store::WriteError::Store(error) => error,
                store::WriteError::Expired | store::WriteError::QueueFull | store::WriteError::Panicked => {
                    store::StoreError::other("the database did not take a key in time")
                }
            })
        }
        Ok(subject_keys::Found::Key(_) | subject_keys::Found::Destroyed) => Ok(()),
        Err(error) => Err(error),
    };
    checked.map_err(|error| {
        if matches!(error.kind(), store::StoreErrorKind::Damaged { .. }) {
            KeyFileError::OtherMaster { path: path.to_owned() }
        } else {
            KeyFileError::Master(error)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owner::store_options;

    async fn start(key_file: &Path, store: &Store) -> Result<(), KeyFileError> {
        let mut file = keys::read(key_file)?;
        let subject_keys = find_or_make(key_file, &mut file, store).await?;
        check(key_file, &subject_keys, store, 1).await
    }

    #[tokio::test]
    async fn a_database_is_opened_with_its_own_master_key_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (ours, theirs) = (folder.path().join("ledger.key"), folder.path().join("other.key"));
        let store = Store::open(store_options(folder.path(), None)).await.unwrap();
        // A file of a version that had no master key gets one, once.
        let made = keys::make(&ours).unwrap();
        keys::write(&ours, &KeyFile { master: None, ..made }).unwrap();
        start(&ours, &store).await.unwrap();
        let text = std::fs::read_to_string(&ours).unwrap();
        start(&ours, &store).await.unwrap();
        assert_eq!(std::fs::read_to_string(&ours).unwrap(), text);
        keys::make(&theirs).unwrap();
        assert!(matches!(start(&theirs, &store).await, Err(KeyFileError::OtherMaster { .. })));
        let file = keys::read(&ours).unwrap();
        keys::write(&ours, &KeyFile { master: None, ..file }).unwrap();
        assert!(matches!(start(&ours, &store).await, Err(KeyFileError::NoMaster { .. })));
        std::fs::write(&ours, text).unwrap();
        start(&ours, &store).await.unwrap();
        store.close().await;
    }
}
