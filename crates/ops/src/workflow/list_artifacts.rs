//! `list_artifacts`: what is known of the documents of a project, without reading them.

use std::collections::BTreeSet;

use contract::actor::Role;
use contract::error::OpError;
use contract::workflow::artifacts::{LISTED_MAX, ListArtifacts, ListedArtifacts};
use workflow::artifacts::{self, Filter};

use super::document::Home;
use crate::context::{Context, Settings};
use crate::family::Family;
use crate::operation::{Answer, Operation, Read, store_error};

const LISTED_DEFAULT: u32 = 50;

impl Operation for ListArtifacts {
    const NAME: &'static str = "list_artifacts";
    const ABOUT: &'static str =
        "List documents by type, status and parent: id, title, version, path and hash, without their content.";
    const FAMILY: Family = Family::Workflow;
    const ROLES: &'static [Role] = &Role::ALL;
    // Agents reach it as a resource; a catalogue has room for so many tools.
    const IS_TOOL: bool = false;

    type Output = ListedArtifacts;

    fn fill_defaults(&mut self, settings: &Settings) {
        self.project_id.get_or_insert_with(|| settings.default_project_id.clone());
    }
}

impl Read for ListArtifacts {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<ListedArtifacts>, OpError> {
        let home = Home::of(ctx, self.project_id.as_ref());
        let catalogue = ctx.services().catalogue.current();
        let kind = match &self.artifact_type {
            None => None,
            Some(word) => Some(catalogue.find_type(word.as_str()).ok_or_else(|| {
                OpError::invalid("artifact_type", "the name or prefix of a document type").received(word.as_str())
            })?),
        };
        if let Some(status) = &self.status {
            let kinds = || catalogue.types().iter().filter(|one| kind.is_none_or(|kind| kind.name == one.name));
            let known: BTreeSet<&str> = kinds().flat_map(|kind| kind.statuses.iter().map(String::as_str)).collect();
            if !known.contains(status.as_str()) {
                let expected = known.into_iter().collect::<Vec<_>>().join(", ");
                return Err(OpError::invalid("status", format!("one of {expected}")).received(status.as_str()));
            }
        }
        let filter = Filter {
            artifact_type: kind.map(|kind| kind.name.as_str()),
            status: self.status.as_deref(),
            parent_id: self.parent_id.as_deref(),
        };
        let after = match &self.cursor {
            None => (String::new(), String::new(), 0),
            Some(cursor) => parse_cursor(cursor)
                .ok_or_else(|| OpError::invalid("cursor", "the `next_cursor` of the page before"))?,
        };
        let limit = self.limit.unwrap_or(LISTED_DEFAULT).min(LISTED_MAX);
        let mut reader = ctx.read().await?;
        let rows = artifacts::list(&mut reader, home.place(), filter, (&after.0, &after.1, after.2), limit + 1);
        let mut rows = rows.await.map_err(store_error)?;
        let is_more = rows.len() > usize::try_from(limit).unwrap_or(usize::MAX);
        rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        let last = rows.last().filter(|_| is_more);
        let next_cursor = last.map(|row| format!("{}/{}/{}", row.artifact_type, row.key, row.version));
        let artifacts = rows.iter().map(|row| row.metadata(&home.default_project_id)).collect();
        Ok(Answer::of(ListedArtifacts { artifacts, next_cursor }))
    }
}

/// Type, key and version; none of them has a slash.
fn parse_cursor(cursor: &str) -> Option<(String, String, u32)> {
    let mut parts = cursor.split('/');
    let found = (parts.next()?.to_owned(), parts.next()?.to_owned(), parts.next()?.parse().ok()?);
    parts.next().is_none().then_some(found)
}
