//! Files of a document that is being stored, on the disk before the commit and without a name: nobody sees them, and a crash
//! leaves nothing of them. After the commit they only get their names.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::FileExt as _;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use super::{Absent, ProjectionError, Root, sidecar, sync};
use crate::address::{Address, sidecar_name};
use crate::artifacts::ArtifactRow;

/// A document and its sidecar, written and waiting.
#[derive(Debug)]
pub struct Staged {
    folder: OwnedFd,
    /// Each with the name it will have.
    files: [(String, File); 2],
}

impl Root {
    /// Writes the files of a new document ahead. `None` where that cannot be done: they are written in the usual way then,
    /// which also tells what is wrong.
    pub fn stage(&self, row: &ArtifactRow, address: &Address, content: &str) -> Option<Staged> {
        let (folder, _) = self.open_folder(&row.organisation_id, address, Absent::Leave).ok()??;
        let is_free = matches!(
            rustix::fs::statat(&folder, address.file_name.as_str(), AtFlags::SYMLINK_NOFOLLOW),
            Err(Errno::NOENT)
        );
        if !is_free {
            return None;
        }
        let document = write_unnamed(&folder, content.as_bytes()).ok()?;
        let beside = write_unnamed(&folder, sidecar(row, address).as_bytes()).ok()?;
        document.sync_all().and_then(|()| beside.sync_all()).ok()?;
        let files = [(address.file_name.clone(), document), (sidecar_name(&address.file_name), beside)];
        Some(Staged { folder, files })
    }

    /// Returns after the names in the folder of an address will survive a crash.
    pub fn sync_folder(&self, organisation_id: &str, address: &Address) -> Result<(), ProjectionError> {
        match self.open_folder(organisation_id, address, Absent::Leave)? {
            Some((folder, place)) => sync(&folder, &place),
            None => Ok(()),
        }
    }
}

impl Staged {
    /// Gives the files their names, if nothing stands in their places. Returns whether it did. The names survive a crash
    /// only after [`Root::sync_folder`].
    pub fn put(self) -> bool {
        self.files.iter().all(|(name, file)| {
            // The only way to name a file by its descriptor that needs no privilege.
            let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
            rustix::fs::linkat(CWD, unnamed.as_str(), &self.folder, name.as_str(), AtFlags::SYMLINK_FOLLOW).is_ok()
        })
    }
}

fn write_unnamed(folder: &OwnedFd, bytes: &[u8]) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(folder, ".", flags, Mode::from_raw_mode(0o644))?);
    file.write_all_at(bytes, 0)?;
    Ok(file)
}
