//! The owner lock: a data folder belongs to one process at a time.
//!
//! The kernel frees the lock when the process dies, so a crash never leaves a folder locked.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

/// Proof of owning a data folder, until dropped.
#[derive(Debug)]
pub struct OwnerLock {
    _file: File,
}

#[derive(Debug, thiserror::Error)]
pub enum OwnerError {
    #[error("could not create the data folder `{path}`", path = path.display())]
    CreateFolder {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("could not open the lock file `{path}`", path = path.display())]
    OpenFile {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("could not lock `{path}`", path = path.display())]
    Lock {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
}

impl OwnerLock {
    /// `None` if another process owns the folder. Creates the folder if it is absent.
    pub fn try_acquire(dir: &Path) -> Result<Option<OwnerLock>, OwnerError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .map_err(|error| OwnerError::CreateFolder { path: dir.to_owned(), error })?;
        let path = dir.join("owner.lock");
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let file = match opened {
            Ok(file) => file,
            Err(error) => return Err(OwnerError::OpenFile { path, error }),
        };
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(OwnerLock { _file: file })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(OwnerError::Lock { path, error: error.into() }),
        }
    }
}
