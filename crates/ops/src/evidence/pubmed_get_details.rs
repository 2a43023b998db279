//! `pubmed_get_details`: one paper with its abstract, of the record or of PubMed where it may be asked.

use contract::actor::Role;
use contract::envelope::{Audience, Content};
use contract::error::OpError;
use contract::evidence::pubmed::PubmedGetDetails;
use contract::evidence::record::{Document, RecordKind};
use evidence::import::Format;
use evidence::literature::{self, Credit};
use evidence::record::read;

use super::note_data_version;
use super::sources::sources;
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, Operation, Read, store_error};

impl Operation for PubmedGetDetails {
    const NAME: &'static str = "pubmed_get_details";
    const ABOUT: &'static str = "Read one paper by its PubMed number: title, authors, journal, abstract, links, and \
        whether it was retracted.";
    const FAMILY: Family = Family::Evidence;
    const ROLES: &'static [Role] = &Role::ALL;

    type Output = Content;
}

impl Read for PubmedGetDetails {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<Content>, OpError> {
        let pmid = self.pmid.trim_start_matches("PMID:").trim_start_matches('0');
        let id = format!("PMID:{pmid}");
        let organisation_id = ctx.actor().organisation_id.as_str();
        let stored = {
            let mut reader = ctx.read().await?;
            let found = read::find_one(&mut reader, organisation_id, RecordKind::Document, &id).await;
            found.map_err(store_error)?
        };
        if let Some(stored) = stored {
            let document: Document = stored.parse().map_err(store_error)?;
            let credit = sources(ctx, &[&document.source]).await?.into_values().next().map(Credit::from);
            let text = literature::details(&document, credit.as_ref());
            let mut answer = Answer::of(Content::text(text, Audience::Everybody)).touching("document", id);
            note_data_version(ctx, &mut answer.metadata).await?;
            return Ok(answer);
        }
        let elsewhere = match &ctx.services().literature {
            Some(library) if !pmid.is_empty() => library.find(pmid).await?,
            Some(_) | None => None,
        };
        match elsewhere {
            Some(document) => {
                let credit = Credit::from(Format::Pubmed.source());
                let text = literature::details(&document, Some(&credit));
                Ok(Answer::of(Content::text(text, Audience::Everybody)))
            }
            None => Err(OpError::not_found(format!("no paper with the PubMed number `{}` is known", self.pmid))),
        }
    }
}
