//! `pubmed_get_details`: one paper with its abstract, of the record or of PubMed where it may be asked.

use contract::actor::Role;
use contract::envelope::{Audience, Content};
use contract::error::OpError;
use contract::evidence::pubmed::PubmedGetDetails;
use evidence::details;
use evidence::import::Format;
use evidence::literature::{self, Credit};
use evidence::record::papers;

use super::note_data_version;
use super::sources::sources;
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, Operation, Read, store_error};

/// PubMed has no longer numbers.
const PMID_DIGITS_MAX: usize = 8;

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
        if let Some(document) = found {
            let credit = sources(ctx, &[&document.source]).await?.into_values().next().map(Credit::from);
            let text = literature::details(&document, credit.as_ref());
            let mut answer = Answer::of(Content::text(text, Audience::Everybody)).touching("document", document.id);
            note_data_version(ctx, &mut answer.metadata).await?;
            return Ok(answer);
        }
        let elsewhere = match (&ctx.services().literature, pmid) {
            (Some(library), Some(pmid)) if (1..=PMID_DIGITS_MAX).contains(&pmid.len()) => library.find(pmid).await?,
            (Some(_) | None, _) => None,
        };
        match elsewhere {
            Some(mut document) => {
                // What is retracted is known here, whoever tells of the paper.
                let mut reader = ctx.read().await?;
                let marked = papers::mark(&mut reader, organisation_id, std::slice::from_mut(&mut document)).await;
                marked.map_err(store_error)?;
                let credit = Credit::from(Format::Pubmed.source());
                let text = literature::details(&document, Some(&credit));
                Ok(Answer::of(Content::text(text, Audience::Everybody)))
            }
            None => {
                let what = if pmid.is_some() { "PubMed number" } else { "id" };
                Err(OpError::not_found(format!("no paper with the {what} `{}` is known", self.pmid)))
            }
        }
    }
}
