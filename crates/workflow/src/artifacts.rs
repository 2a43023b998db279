//! Documents in the record: bytes by their hash, versions, revisions, and the files that are still to be written.
//!
//! A version of a document is stored once; other content under the same version is a conflict, never an overwrite.
//! A version changes by its approval, which keeps the bytes that were reviewed, and then only in its status.

/// The columns that [`ArtifactRow::read`] expects, between what goes before and after them.
macro_rules! with_columns {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            " organisation_id, project_id, artifact_key, version, artifact_type, has_id, folder, file_name, title, \
             status, parent_id, content_sha256, size_bytes, n_revisions, created_by, created_at_us, updated_at_us, \
             approved_by, approved_at_us, approval_meaning, reviewed_sha256, names_reviewed_hash ",
            $after
        )
    };
}

mod find;
mod outbox;
mod revisions;
mod rewrite;
mod store;
mod whole;

pub(crate) use find::read_kept;
pub use find::{
    Filter, find, find_approved, find_approved_keys, find_at, find_known, list, read_all, read_content, read_revisions,
};
pub use outbox::{Waiting, delete_written, read_waiting};
pub use revisions::{REVISIONS_MAX, find_revision, has_stored, list_earlier, list_revisions};
pub use rewrite::{ApprovalMark, MoveMark, mark_approved, mark_moved};
pub use store::{Met, NewArtifact, find_stored, insert};
pub use whole::{Whole, find_whole};

use ::store::{Row, StoreError};
use contract::time::rfc3339_ms;
use contract::workflow::artifacts::{Approval, ArtifactMetadata};
use contract::workflow::tasks::NO_ARTIFACT_ID;

use crate::address::Address;
use crate::metadata::{FIRST_VERSION_MAX, VERSION_MAX};

/// An organisation and a project: where a document is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    pub organisation_id: &'a str,
    pub project_id: &'a str,
}

#[derive(Debug, thiserror::Error)]
pub enum ArtifactsError {
    #[error(
        "{key} v{version} is already stored with other content; a new version of it is version {next_version}, another document needs an id of its own"
    )]
    OtherContent { key: String, version: u32, next_version: u32 },
    #[error("{key} v{version} comes too late; a new version of it is version {next_version}")]
    Outdated { key: String, version: u32, next_version: u32 },
    #[error("{key} v{version} leaves versions out; a new version of it is version {next_version}")]
    Ahead { key: String, version: u32, next_version: u32 },
    #[error("the first version of {key} is version 1 to {FIRST_VERSION_MAX}, not {version}")]
    FirstTooHigh { key: String, version: u32 },
    #[error("{key} has had its last version, {VERSION_MAX}; what follows needs an id of its own")]
    NoVersionLeft { key: String },
    #[error("could not reach the documents")]
    Store(#[from] StoreError),
}

/// A version of a document as the table has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactRow {
    pub organisation_id: String,
    pub project_id: String,
    /// The id, or the file name of a document without one.
    pub key: String,
    pub version: u32,
    pub artifact_type: String,
    pub has_id: bool,
    pub folder: String,
    pub file_name: String,
    pub title: String,
    pub status: String,
    pub parent_id: Option<String>,
    pub content_sha256: String,
    pub size_bytes: u64,
    pub n_revisions: u32,
    pub created_by: String,
    pub created_at_us: i64,
    pub updated_at_us: i64,
    pub approved: Option<Approved>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approved {
    pub by: String,
    pub at_us: i64,
    pub meaning: String,
    pub reviewed_sha256: String,
    /// Unknown of approvals by programs that did not keep it.
    pub names_reviewed_hash: Option<bool>,
}

impl ArtifactRow {
    fn read(row: &Row) -> Result<ArtifactRow, StoreError> {
        let approved = match (row.opt_text(17)?, row.opt_int(18)?, row.opt_text(19)?, row.opt_text(20)?) {
            (Some(by), Some(at_us), Some(meaning), Some(reviewed_sha256)) => {
                Some(Approved { by, at_us, meaning, reviewed_sha256, names_reviewed_hash: row.opt_bool(21)? })
            }
            (_, _, _, _) => None,
        };
        Ok(ArtifactRow {
            organisation_id: row.text(0)?,
            project_id: row.text(1)?,
            key: row.text(2)?,
            version: small(row.int(3)?)?,
            artifact_type: row.text(4)?,
            has_id: row.bool(5)?,
            folder: row.text(6)?,
            file_name: row.text(7)?,
            title: row.text(8)?,
            status: row.text(9)?,
            parent_id: row.opt_text(10)?,
            content_sha256: row.text(11)?,
            size_bytes: u64::try_from(row.int(12)?).unwrap_or(0),
            n_revisions: small(row.int(13)?)?,
            created_by: row.text(14)?,
            created_at_us: row.int(15)?,
            updated_at_us: row.int(16)?,
            approved,
        })
    }

    /// `N/A` for a document without an id.
    pub fn artifact_id(&self) -> &str {
        if self.has_id { &self.key } else { NO_ARTIFACT_ID }
    }

    pub fn address(&self, default_project_id: &str) -> Address {
        Address {
            project_id: (self.project_id != default_project_id).then(|| self.project_id.clone()),
            folder: self.folder.clone(),
            file_name: self.file_name.clone(),
        }
    }

    pub fn approval(&self) -> Option<Approval> {
        self.approved.as_ref().map(|approved| Approval {
            approved_by: approved.by.clone(),
            approved_at: rfc3339_ms(approved.at_us),
            meaning: approved.meaning.clone(),
            reviewed_sha256: approved.reviewed_sha256.clone(),
            names_reviewed_hash: approved.names_reviewed_hash,
        })
    }

    pub fn metadata(&self, default_project_id: &str) -> ArtifactMetadata {
        let address = self.address(default_project_id);
        ArtifactMetadata {
            id: self.key.clone(),
            artifact_type: self.artifact_type.clone(),
            version: self.version,
            title: self.title.clone(),
            status: self.status.clone(),
            parent_id: self.parent_id.clone(),
            file_path: address.path(),
            resource_uri: address.uri(),
            content_sha256: self.content_sha256.clone(),
            size_bytes: self.size_bytes,
            created_by: self.created_by.clone(),
            created_at: rfc3339_ms(self.created_at_us),
            updated_at: rfc3339_ms(self.updated_at_us),
            approval: self.approval(),
        }
    }
}

pub(crate) fn small(value: i64) -> Result<u32, StoreError> {
    u32::try_from(value).map_err(|_| StoreError::other("a kept number is out of range"))
}
