//! What the operations on documents share: where a document is looked for, and which names are refused.

use std::collections::BTreeSet;

use contract::actor::ActorKind;
use contract::error::{Kind, OpError};
use contract::id::ProjectId;
use store::{Conn, StoreError};
use workflow::address::{AddressError, is_traversal};
use workflow::artifacts::{self, ArtifactsError, Place};
use workflow::metadata::{FIRST_VERSION_MAX, MetadataError};

use crate::context::Context;
use crate::operation::ApplyError;
use crate::summary;

/// An organisation and a project, owned.
#[derive(Debug, Clone)]
pub struct Home {
    pub organisation_id: String,
    pub project_id: String,
    pub default_project_id: String,
}

impl Home {
    pub fn of(ctx: &Context<'_>, project_id: Option<&ProjectId>) -> Home {
        let default_project_id = ctx.settings().default_project_id.to_string();
        Home {
            organisation_id: ctx.actor().organisation_id.to_string(),
            project_id: project_id.map_or_else(|| default_project_id.clone(), ToString::to_string),
            default_project_id,
        }
    }

    pub fn place(&self) -> Place<'_> {
        Place { organisation_id: &self.organisation_id, project_id: &self.project_id }
    }
}

/// An id or file name that names one document: `PRD-006`, `AI_business_research`, or the latter as its file is called.
pub fn check_key(text: &str, field: &str, tool_name: &str) -> Result<String, OpError> {
    let text = text.strip_suffix(".md").unwrap_or(text);
    if is_traversal(text) || text.contains('/') {
        return Err(traversal(text, field, tool_name));
    }
    let is_plain = (1..=128).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if is_plain {
        return Ok(text.to_owned());
    }
    Err(OpError::invalid(field, "the id of a document such as `PRD-006`, or the file name of one without")
        .received(summary::cut(text)))
}

/// Why an approved document is not withdrawn.
pub const MAY_NOT_WITHDRAW: &str = "an agent may not withdraw an approved document";

/// To withdraw a document decides over it as its approval did.
pub fn may_withdraw(ctx: &Context<'_>) -> bool {
    ctx.actor().kind != ActorKind::Agent || ctx.settings().agents_may_approve
}

/// What is missing of a document: all of it, the version or the revision that was named; and what there is instead.
pub async fn missing(
    conn: &mut Conn,
    place: Place<'_>,
    key: &str,
    version: Option<u32>,
    revision: Option<u32>,
) -> Result<OpError, StoreError> {
    let revisions = artifacts::list_revisions(conn, place, key).await?;
    let versions: BTreeSet<u32> = revisions.iter().map(|it| it.version).collect();
    let Some(latest) = versions.last().copied() else { return Ok(OpError::not_found(key)) };
    let version = version.unwrap_or(latest);
    let (field, wanted, owner, known) = match versions.contains(&version) {
        false => ("version", version, key.to_owned(), versions),
        true => {
            let of_version = revisions.iter().filter(|it| it.version == version).map(|it| it.revision);
            ("revision", revision.unwrap_or(0), format!("{key} v{version}"), of_version.collect())
        }
    };
    let known = ranges(&known);
    let mut error = OpError::not_found(format!("{owner} has no {field} {wanted}; it has {known}")).received(wanted);
    error.details.field = Some(field.to_owned());
    error.details.expected = Some(format!("one of {known}"));
    Ok(error)
}

/// `1 to 3, 5`.
fn ranges(numbers: &BTreeSet<u32>) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            Some(_) | None => ranges.push((*number, *number)),
        }
    }
    let shown = ranges.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first} to {last}"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// Somebody tries to leave the root: the words of seed 001, and a warning in the log that has the name, as it asks.
pub fn traversal(name: &str, field: &str, tool_name: &str) -> OpError {
    let shown = summary::cut(name);
    tracing::warn!(tool_name, field, resource_name = shown, "Path traversal attempt detected");
    let mut error = OpError::new(Kind::Invalid, "Resource name contains path traversal");
    error.details.field = Some(field.to_owned());
    error.details.more.insert("resource_name".to_owned(), shown.into());
    error.details.more.insert("validation_failed".to_owned(), "path_traversal_check".into());
    error
}

pub fn address_error(error: &AddressError, uri: &str, tool_name: &str) -> OpError {
    match error {
        AddressError::Traversal => traversal(uri, "resource_uri", tool_name),
        AddressError::Form => {
            let mut refusal = OpError::new(Kind::Invalid, format!("`resource_uri`: {error}"));
            refusal.details.field = Some("resource_uri".to_owned());
            refusal.received(summary::cut(uri))
        }
    }
}

pub fn metadata_error(error: MetadataError, tool_name: &str) -> OpError {
    let message = error.to_string();
    match error {
        MetadataError::Traversal { field, received } => traversal(&received, field, tool_name),
        MetadataError::Contradiction { field, first, second } => {
            let mut refusal = OpError::new(Kind::Invalid, message);
            refusal.details.field = Some(field.to_owned());
            refusal.details.expected = Some(format!("one value, in line {} or in line {}", first.0, second.0));
            refusal.received(second.1)
        }
        MetadataError::Missing { field, expected } => {
            let mut refusal = OpError::new(Kind::Invalid, message);
            refusal.details.field = Some(field.to_owned());
            refusal.details.expected = Some(expected);
            refusal
        }
        MetadataError::Wrong { field, received, expected } => OpError::invalid(field, expected).received(received),
    }
}

fn wrong_version(message: String, version: u32, expected: String) -> OpError {
    let mut refusal = OpError::new(Kind::Invalid, message);
    refusal.details.field = Some("Version".to_owned());
    refusal.details.expected = Some(expected);
    refusal.received(version)
}

impl From<ArtifactsError> for ApplyError {
    fn from(error: ArtifactsError) -> ApplyError {
        let message = error.to_string();
        match error {
            ArtifactsError::Store(error) => ApplyError::Store(error),
            ArtifactsError::OtherContent { next_version, .. } | ArtifactsError::Outdated { next_version, .. } => {
                let mut refusal = OpError::conflict(message);
                refusal.details.more.insert("next_version".to_owned(), next_version.into());
                refusal.into()
            }
            ArtifactsError::Ahead { version, next_version, .. } => {
                let mut refusal = wrong_version(message, version, next_version.to_string());
                refusal.details.more.insert("next_version".to_owned(), next_version.into());
                refusal.into()
            }
            ArtifactsError::FirstTooHigh { version, .. } => {
                wrong_version(message, version, format!("1 to {FIRST_VERSION_MAX}")).into()
            }
            ArtifactsError::NoVersionLeft { .. } => OpError::conflict(message).into(),
        }
    }
}
