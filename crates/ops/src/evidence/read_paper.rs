//! `read_paper`: a paper of PubMed from the record; served as `paper://pmid/{id}`.

use contract::actor::Role;
use contract::error::OpError;
use contract::evidence::record::{RecordKind, Source};
use contract::evidence::resources::{Paper, ReadPaper};
use evidence::details;
use evidence::record::{batches, papers, read};
use serde_json::json;

use super::note_data_version;
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, Operation, Read, store_error};

impl Operation for ReadPaper {
    const NAME: &'static str = "read_paper";
    const ABOUT: &'static str = "Read what is recorded of a paper: title, abstract, authors, journal, year, links, whether \
        it was retracted, and whose terms of use are stated.";
    const FAMILY: Family = Family::Evidence;
    const ROLES: &'static [Role] = &Role::ALL;
    // Agents reach it as a resource; a catalogue has room for so many tools.
    const IS_TOOL: bool = false;
    const RECORDED_AS: &'static str = "resource.paper.pmid";

    type Output = Paper;
}

impl Read for ReadPaper {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<Paper>, OpError> {
        let organisation_id = ctx.actor().organisation_id.as_str();
        let pmid = self.pmid.trim_start_matches("PMID:");
        let mut reader = ctx.read().await?;
        let found = papers::find(&mut reader, organisation_id, &details::paper_id(pmid)).await.map_err(store_error)?;
        let document = found.ok_or_else(|| OpError::not_found(format!("no paper with the PMID `{pmid}`")))?;
        let id = document.id.clone();
        let source = read::find_one(&mut reader, organisation_id, RecordKind::Source, &document.source).await;
        let source = source.map_err(store_error)?.map(|stored| stored.parse::<Source>()).transpose();
        let licence = source.map_err(store_error)?.map(|source| source.licence).unwrap_or_default();
        let version = batches::latest(&mut reader, organisation_id).await.map_err(store_error)?;
        let licences = json!([{ "source": document.source, "licence": licence }]);
        let mut answer = Answer::of(details::paper(pmid, document, &licence)).touching("document", id);
        answer.metadata.insert("version".to_owned(), json!(version));
        answer.metadata.insert("licences".to_owned(), licences);
        drop(reader);
        note_data_version(ctx, &mut answer.metadata).await?;
        Ok(answer)
    }
}
