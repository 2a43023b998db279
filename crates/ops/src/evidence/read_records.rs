//! `read_records`: records as they were brought, by id or page by page. For exports, indexes and curators.

use contract::actor::Role;
use contract::error::OpError;
use contract::evidence::records::{ReadRecords, ReadRecordsOutput};
use evidence::record::{batches, read};

use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, Operation, Read, store_error};

const LIMIT_DEFAULT: u32 = 100;

impl Operation for ReadRecords {
    const NAME: &'static str = "read_records";
    const ABOUT: &'static str = "Read sources, nodes, edges or documents of the evidence as they were brought, by their \
        ids or page by page.";
    const FAMILY: Family = Family::Evidence;
    const ROLES: &'static [Role] = &Role::ALL;
    // Agents ask the graph and the search; whole records are for programs.
    const IS_TOOL: bool = false;

    type Output = ReadRecordsOutput;
}

impl Read for ReadRecords {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<ReadRecordsOutput>, OpError> {
        let organisation_id = ctx.actor().organisation_id.as_str();
        let limit = self.limit.unwrap_or(LIMIT_DEFAULT);
        let n_max = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut reader = ctx.read().await?;
        let version = batches::latest(&mut reader, organisation_id).await.map_err(store_error)?;
        let (records, next_cursor) = match &self.ids {
            Some(ids) => {
                let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
                let found = read::find(&mut reader, organisation_id, self.kind, &ids).await;
                let mut found = found.map_err(store_error)?;
                found.sort_by(|a, b| a.id.cmp(&b.id));
                found.dedup_by(|a, b| a.id == b.id);
                (found, None)
            }
            None => {
                let after = self.cursor.as_deref().unwrap_or_default();
                let page = read::page(&mut reader, organisation_id, self.kind, after, i64::from(limit) + 1).await;
                let mut page = page.map_err(store_error)?;
                let is_more = page.len() > n_max;
                page.truncate(n_max);
                let last = page.last().filter(|_| is_more).map(|last| last.id.clone());
                (page, last)
            }
        };
        let records = records.iter().map(|stored| stored.tagged()).collect::<Result<_, _>>().map_err(store_error)?;
        let version = u64::try_from(version).unwrap_or(0);
        Ok(Answer::of(ReadRecordsOutput { records, next_cursor, version }))
    }
}
