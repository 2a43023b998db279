//! `pubmed_get_details`: one paper with its abstract, of the record or of PubMed where it may be asked.

use contract::actor::Role;
use contract::envelope::{Audience, Content};
use contract::error::OpError;
use contract::evidence::pubmed::PubmedGetDetails;
use contract::evidence::record::Document;
use evidence::details;
use evidence::import::Format;
use evidence::literature::{self, Credit};
use evidence::record::papers;

use super::sources::sources;
use super::{note, note_data_version};
use crate::context::Context;
use crate::family::Family;
use crate::literature::PaperId;
use crate::operation::{Answer, Operation, Read, store_error};

const NOT_ASKED: &str = "PubMed could not be asked what speaks against this paper: this is what the record says alone.";
const NOT_SENT: &str = "PubMed was asked what speaks against this paper, and sent no paper with its id.";
const NOTHING_THERE: &str = "PubMed was asked, and marks nothing against this paper.";

impl Operation for PubmedGetDetails {
    const NAME: &'static str = "pubmed_get_details";
    const ABOUT: &'static str = "Read one paper by PMID, PMCID or DOI: title, authors, journal, abstract, links, whether it \
        was retracted.";
    const FAMILY: Family = Family::Evidence;
    const ROLES: &'static [Role] = &Role::ALL;

    type Output = Content;
}

impl Read for PubmedGetDetails {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<Content>, OpError> {
        let is_number = |id: &&str| id.bytes().all(|byte| byte.is_ascii_digit());
        let pmid = Some(self.pmid.trim_start_matches("PMID:").trim_start_matches('0')).filter(is_number);
        let reference = pmid.map_or_else(|| self.pmid.clone(), details::paper_id);
        let organisation_id = ctx.actor().organisation_id.as_str();
        let found = {
            let mut reader = ctx.read().await?;
            papers::find(&mut reader, organisation_id, &reference).await.map_err(store_error)?
        };
        if let Some(mut document) = found {
            let remarks: Vec<String> = said_elsewhere(ctx, &mut document).await.into_iter().collect();
            let credit = sources(ctx, &[&document.source]).await?.into_values().next().map(Credit::from);
            let text = literature::details(&document, credit.as_ref(), &remarks);
            let mut answer = Answer::of(Content::text(text, Audience::Everybody)).touching("document", document.id);
            note_data_version(ctx, &mut answer.metadata).await?;
            note(&mut answer.metadata, &remarks);
            return Ok(answer);
        }
        let elsewhere = match (&ctx.services().literature, PaperId::parse(&reference)) {
            (Some(library), Some(id)) => library.find(&id).await?,
            (Some(_) | None, _) => None,
        };
        match elsewhere {
            Some(mut document) => {
                // What is retracted is known here, whoever tells of the paper.
                let mut reader = ctx.read().await?;
                let marked = papers::mark(&mut reader, organisation_id, std::slice::from_mut(&mut document)).await;
                marked.map_err(store_error)?;
                let credit = Credit::from(Format::Pubmed.source());
                let text = literature::details(&document, Some(&credit), &[]);
                Ok(Answer::of(Content::text(text, Audience::Everybody)))
            }
            None => {
                let what = if pmid.is_some() { "PubMed number" } else { "id" };
                Err(OpError::not_found(format!("no paper with the {what} `{}` is known", self.pmid)))
            }
        }
    }
}

/// What PubMed says against a paper of the record, where it may be asked: retractions are known there first. The graver word
/// becomes the paper's mark, and what PubMed says is told in any case.
async fn said_elsewhere(ctx: &Context<'_>, document: &mut Document) -> Option<String> {
    let library = ctx.services().literature.as_ref()?;
    let id = PaperId::of(document)?;
    let theirs = match library.find(&id).await {
        Ok(Some(theirs)) => theirs,
        Ok(None) => return Some(NOT_SENT.to_owned()),
        Err(error) => {
            tracing::warn!(error = %error, "PubMed did not answer; the record does");
            return Some(NOT_ASKED.to_owned());
        }
    };
    if let Some(doubt) = theirs.doubt() {
        let mut told = document.doubt();
        papers::settle(&mut told, &doubt);
        document.retraction = told;
    }
    let told = literature::spoken_against(&theirs);
    Some(told.map_or_else(|| NOTHING_THERE.to_owned(), |told| format!("PubMed was asked, and says: {told}")))
}
