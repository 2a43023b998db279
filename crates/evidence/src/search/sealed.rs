//! The folder of a text index whose list of segments counts only with the house's seal.
//!
//! tantivy writes `meta.json` with every commit and every merge, and whatever it does not name is not read. So the seal
//! stands there, behind the list and written together with it. What the segments hold is not sealed: hashing all of it
//! would make every start as slow as the index is large. Whoever shows an entry compares it with the record.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};

use crate::sealing::{SEAL_BYTES, Seal};

const META: &str = "meta.json";

#[derive(Debug, Clone)]
pub(super) struct SealedDirectory {
    inner: MmapDirectory,
    seal: Seal,
}

/// How the list of segments of a folder was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sealed {
    Nothing,
    Ours,
    Others,
}

impl SealedDirectory {
    pub fn new(inner: MmapDirectory, seal: Seal) -> SealedDirectory {
        SealedDirectory { inner, seal }
    }

    pub fn look(&self) -> Sealed {
        match self.inner.atomic_read(Path::new(META)) {
            Ok(bytes) if self.content(&bytes).is_some() => Sealed::Ours,
            Err(OpenReadError::FileDoesNotExist(_)) => Sealed::Nothing,
            Ok(_) | Err(_) => Sealed::Others,
        }
    }

    fn content<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let (content, sealed) = bytes.split_at_checked(bytes.len().checked_sub(SEAL_BYTES)?)?;
        self.seal.holds(content, sealed).then_some(content)
    }
}

fn is_meta(path: &Path) -> bool {
    path == Path::new(META)
}

fn unsealed(path: &Path) -> OpenReadError {
    let error = io::Error::new(io::ErrorKind::InvalidData, "it has no seal of this house");
    OpenReadError::IoError { io_error: Arc::new(error), filepath: PathBuf::from(path) }
}

impl Directory for SealedDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.inner.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.inner.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.inner.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.inner.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let bytes = self.inner.atomic_read(path)?;
        if !is_meta(path) {
            return Ok(bytes);
        }
        self.content(&bytes).map(<[u8]>::to_vec).ok_or_else(|| unsealed(path))
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        if !is_meta(path) {
            return self.inner.atomic_write(path, data);
        }
        self.inner.atomic_write(path, &[data, &self.seal.make(data)].concat())
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.inner.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        self.inner.acquire_lock(lock)
    }

    fn watch(&self, watch_callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.inner.watch(watch_callback)
    }
}
