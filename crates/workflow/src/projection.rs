//! Files beside the record: each document as markdown with a JSON sidecar, below one root.
//!
//! The record is in SQL; files are a copy for people and programs that like files. A file is written whole or not at
//! all (temporary file, fsync, rename, fsync of the folder). No path is ever followed: each folder is opened from the
//! one above it and must not be a link, and a rename replaces whatever stands in the place of a file without opening it. A
//! new document's files may be on the disk before they have names: see [`Staged`].

mod staged;
mod strays;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use contract::canonical;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use serde::Serialize;

use crate::address::{Address, sidecar_name};
use crate::artifacts::ArtifactRow;

pub use staged::Staged;

/// A file larger than this is not one of ours.
const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;
const ORGANISATIONS: &str = "organisations";

#[derive(Debug, thiserror::Error)]
pub enum ProjectionError {
    #[error("`{place}` is a link or no folder")]
    NotAFolder { place: String },
    #[error("could not {step} `{place}`")]
    Io { step: &'static str, place: String, source: io::Error },
}

/// How a file compares with the record, the gravest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Found {
    Same,
    Missing,
    /// It is what the record was before: another server changed the record since.
    Old,
    /// Somebody changed it, or put something else in its place.
    Changed,
}

/// The root below which an organisation's files stand.
#[derive(Debug, Clone)]
pub struct Root {
    base: PathBuf,
    /// The organisation whose files stand at the root itself.
    home_organisation_id: String,
}

/// The sidecar of seed 001, with what proves the content and the approval.
#[derive(Debug, Serialize)]
struct Sidecar<'a> {
    artifact_id: &'a str,
    artifact_type: &'a str,
    version: u32,
    status: &'a str,
    parent_id: Option<&'a str>,
    title: &'a str,
    file_path: String,
    size_bytes: u64,
    content_sha256: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<contract::workflow::artifacts::Approval>,
}

impl Root {
    pub fn new(base: PathBuf, home_organisation_id: String) -> Root {
        Root { base, home_organisation_id }
    }

    /// The organisation whose house this is.
    pub fn home_organisation_id(&self) -> &str {
        &self.home_organisation_id
    }

    /// Writes a document and its sidecar. Returns after both will survive a crash.
    ///
    /// A file that is none of the `known` texts (SHA-256 in hex) was changed by other hands. It is kept under a name of
    /// its own, which is returned.
    pub fn write(
        &self,
        row: &ArtifactRow,
        address: &Address,
        content: &str,
        known: &[String],
    ) -> Result<Option<String>, ProjectionError> {
        let (folder, place) = self.make_folder_of(row, address)?;
        let kept = keep_edited(&folder, &place, &address.file_name, content.as_bytes(), known)?;
        write_both(&folder, &place, row, address, content)?;
        Ok(kept)
    }

    /// As [`Root::write`], if nothing stands in the document's place. Returns whether it was written.
    pub fn write_new(&self, row: &ArtifactRow, address: &Address, content: &str) -> Result<bool, ProjectionError> {
        let (folder, place) = self.make_folder_of(row, address)?;
        match rustix::fs::statat(&folder, address.file_name.as_str(), AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => write_both(&folder, &place, row, address, content).map(|()| true),
            Ok(_) => Ok(false),
            Err(error) => Err(failed("look at", &format!("{place}/{}", address.file_name), error.into())),
        }
    }

    fn make_folder_of(&self, row: &ArtifactRow, address: &Address) -> Result<(OwnedFd, String), ProjectionError> {
        let folder = self.open_folder(&row.organisation_id, address, Absent::Make)?;
        folder.ok_or_else(|| ProjectionError::NotAFolder { place: address.path() })
    }

    /// Refuses a place that leads through a link, before anything is stored there.
    pub fn check(&self, organisation_id: &str, address: &Address) -> Result<(), ProjectionError> {
        self.open_folder(organisation_id, address, Absent::Leave).map(|_| ())
    }

    /// Compares the file and its sidecar with the record, and with the states that the version was in before.
    pub fn compare(
        &self,
        row: &ArtifactRow,
        address: &Address,
        content: &str,
        earlier: &[ArtifactRow],
    ) -> Result<Found, ProjectionError> {
        let Some((folder, place)) = self.open_folder(&row.organisation_id, address, Absent::Leave)? else {
            return Ok(Found::Missing);
        };
        let document = compare_file(&folder, &place, &address.file_name, content.as_bytes(), |bytes| {
            let sha256 = hex::encode(canonical::digest(bytes));
            earlier.iter().any(|state| state.content_sha256 == sha256)
        })?;
        let expected = sidecar(row, address);
        let sidecar = compare_file(&folder, &place, &sidecar_name(&address.file_name), expected.as_bytes(), |bytes| {
            earlier.iter().any(|state| sidecar(state, address).as_bytes() == bytes)
        })?;
        Ok(document.max(sidecar))
    }

    /// Whether something other than a plain file of our own stands where a document would.
    pub fn is_planted(&self, organisation_id: &str, address: &Address) -> bool {
        match self.open_folder(organisation_id, address, Absent::Leave) {
            Err(ProjectionError::NotAFolder { .. }) => true,
            Err(ProjectionError::Io { .. }) | Ok(None) => false,
            Ok(Some((folder, _))) => {
                let found = rustix::fs::statat(&folder, address.file_name.as_str(), AtFlags::SYMLINK_NOFOLLOW);
                found.is_ok_and(|it| FileType::from_raw_mode(it.st_mode) != FileType::RegularFile || it.st_nlink > 1)
            }
        }
    }

    /// Opens the folder of an address from the root down. `None` where it is not there and need not be made.
    fn open_folder(
        &self,
        organisation_id: &str,
        address: &Address,
        absent: Absent,
    ) -> Result<Option<(OwnedFd, String)>, ProjectionError> {
        let is_guest = organisation_id != self.home_organisation_id;
        let organisation = is_guest.then_some([ORGANISATIONS, organisation_id]).into_iter().flatten();
        let names: Vec<&str> = organisation.chain(address.folders()).collect();
        // The row may have been written by other hands, and the answer to it must not be a file anywhere else.
        if !names.iter().chain([&address.file_name.as_str()]).all(|name| is_plain(name)) {
            return Err(ProjectionError::NotAFolder { place: "artifacts".to_owned() });
        }
        if absent == Absent::Make {
            std::fs::create_dir_all(&self.base).map_err(|source| failed("make", "artifacts", source))?;
        }
        // Whoever runs the server chose the root; it may be a link.
        let mut folder = match rustix::fs::openat(CWD, &self.base, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(failed("open", "artifacts", error.into())),
        };
        let mut place = "artifacts".to_owned();
        for name in names {
            let above = place.clone();
            place = format!("{place}/{name}");
            let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let opened = match rustix::fs::openat(&folder, name, flags, Mode::empty()) {
                Err(Errno::NOENT) if absent == Absent::Leave => return Ok(None),
                Err(Errno::NOENT) => make_folder(&folder, name, &above)
                    .and_then(|()| rustix::fs::openat(&folder, name, flags, Mode::empty()).map_err(Into::into)),
                opened => opened.map_err(Into::into),
            };
            folder = opened.map_err(|error| match Errno::from_io_error(&error) {
                Some(Errno::LOOP | Errno::NOTDIR) => ProjectionError::NotAFolder { place: place.clone() },
                _ => failed("open", &place, error),
            })?;
        }
        Ok(Some((folder, place)))
    }

    pub fn base(&self) -> &Path {
        &self.base
    }
}

/// Whether a name is that of something in a folder, and no way out of it.
fn is_plain(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\0'])
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Absent {
    Make,
    Leave,
}

fn failed(step: &'static str, place: &str, source: io::Error) -> ProjectionError {
    ProjectionError::Io { step, place: place.to_owned(), source }
}

fn make_folder(above: &OwnedFd, name: &str, place: &str) -> io::Result<()> {
    match rustix::fs::mkdirat(above, name, Mode::from_raw_mode(0o755)) {
        Ok(()) => sync(above, place).map_err(io::Error::other),
        // Another document of the folder came first.
        Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn write_both(
    folder: &OwnedFd,
    place: &str,
    row: &ArtifactRow,
    address: &Address,
    content: &str,
) -> Result<(), ProjectionError> {
    let (document, sidecar_name) = (address.file_name.as_str(), sidecar_name(&address.file_name));
    let names = [document, sidecar_name.as_str()];
    let files = [
        write_aside(folder, place, document, content.as_bytes())?,
        write_aside(folder, place, &sidecar_name, sidecar(row, address).as_bytes())?,
    ];
    // Both are there before either is waited for: the disk takes them in one go.
    for (file, name) in files.iter().zip(names) {
        if let Err(error) = file.sync_all() {
            give_back(folder, name);
            return Err(failed("write", &format!("{place}/{name}"), error));
        }
    }
    for name in names {
        rustix::fs::renameat(folder, aside(name).as_str(), folder, name)
            .map_err(|error| failed("rename", &format!("{place}/{name}"), error.into()))?;
    }
    sync(folder, place)
}

/// Where a file is written before it takes its place.
fn aside(name: &str) -> String {
    format!(".{name}.tmp")
}

/// Writes a file beside its place, not yet on the disk.
fn write_aside(folder: &OwnedFd, place: &str, name: &str, bytes: &[u8]) -> Result<File, ProjectionError> {
    let temporary = aside(name);
    let path = format!("{place}/{name}");
    // One that a crash left behind; nothing else has such a name.
    match rustix::fs::unlinkat(folder, temporary.as_str(), AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(failed("remove the temporary file of", &path, error.into())),
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let written = rustix::fs::openat(folder, temporary.as_str(), flags, Mode::from_raw_mode(0o644))
        .map_err(io::Error::from)
        .and_then(|file| {
            let mut file = File::from(file);
            file.write_all(bytes).map(|()| file)
        });
    written.map_err(|error| {
        give_back(folder, name);
        failed("write", &path, error)
    })
}

/// Gives back the place of what could not be written, as on a full disk; if even that fails, the next write removes it.
fn give_back(folder: &OwnedFd, name: &str) {
    if rustix::fs::unlinkat(folder, aside(name).as_str(), AtFlags::empty()).is_err() {
        tracing::debug!("A temporary file could not be removed");
    }
}

fn sync(folder: &OwnedFd, place: &str) -> Result<(), ProjectionError> {
    rustix::fs::fsync(folder).map_err(|error| failed("sync", place, error.into()))
}

/// Gives a file of unknown text a second name, `PRD-006_v1.edited-0a1b2c3d.md`, before the first is written over. A link
/// rather than a copy: it is there whole or not at all, however large it is.
fn keep_edited(
    folder: &OwnedFd,
    place: &str,
    name: &str,
    content: &[u8],
    known: &[String],
) -> Result<Option<String>, ProjectionError> {
    let Content::Bytes(bytes) = read_file(folder, place, name)? else { return Ok(None) };
    let sha256 = hex::encode(canonical::digest(&bytes));
    if bytes == content || known.contains(&sha256) {
        return Ok(None);
    }
    let stem = name.strip_suffix(".md").unwrap_or(name);
    let kept = format!("{stem}.edited-{}.md", sha256.get(..8).unwrap_or_default());
    match rustix::fs::linkat(folder, name, folder, kept.as_str(), AtFlags::empty()) {
        // The same text was kept before.
        Ok(()) | Err(Errno::EXIST) => Ok(Some(format!("{place}/{kept}"))),
        Err(error) => Err(failed("keep", &format!("{place}/{name}"), error.into())),
    }
}

/// What stands in the place of a file.
enum Content {
    Missing,
    /// A link, a folder or a pipe.
    Foreign,
    /// Of a file that is too large for one of ours, its beginning.
    Bytes(Vec<u8>),
}

fn compare_file(
    folder: &OwnedFd,
    place: &str,
    name: &str,
    expected: &[u8],
    is_old: impl Fn(&[u8]) -> bool,
) -> Result<Found, ProjectionError> {
    Ok(match read_file(folder, place, name)? {
        Content::Missing => Found::Missing,
        Content::Bytes(bytes) if bytes == expected => Found::Same,
        Content::Bytes(bytes) if is_old(&bytes) => Found::Old,
        Content::Bytes(_) | Content::Foreign => Found::Changed,
    })
}

fn read_file(folder: &OwnedFd, place: &str, name: &str) -> Result<Content, ProjectionError> {
    // A FIFO would wait for a writer for ever.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Ok(Content::Missing),
        Err(Errno::LOOP) => return Ok(Content::Foreign),
        Err(error) => return Err(failed("open", &format!("{place}/{name}"), error.into())),
    };
    let wrong = |error| failed("read", &format!("{place}/{name}"), error);
    if !file.metadata().map_err(wrong)?.is_file() {
        return Ok(Content::Foreign);
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(wrong)?;
    Ok(Content::Bytes(bytes))
}

fn sidecar(row: &ArtifactRow, address: &Address) -> String {
    let sidecar = Sidecar {
        artifact_id: row.artifact_id(),
        artifact_type: &row.artifact_type,
        version: row.version,
        status: &row.status,
        parent_id: row.parent_id.as_deref(),
        title: &row.title,
        file_path: address.path(),
        size_bytes: row.size_bytes,
        content_sha256: &row.content_sha256,
        approval: row.approval(),
    };
    // Text and small numbers only: there is always a JSON form.
    serde_json::to_string_pretty(&sidecar).map(|text| format!("{text}\n")).unwrap_or_default()
}
