//! `pubmed_search`: papers by terms, of PubMed where it may be asked, else of the record.

use contract::actor::Role;
use contract::envelope::{Artifact, Audience, Content};
use contract::error::OpError;
use contract::evidence::pubmed::{BIBLIOGRAPHY, PubmedSearch, SortBy};
use contract::evidence::record::{Document, RecordKind};
use evidence::import::Format;
use evidence::literature::{self, Query, QueryError};
use evidence::record::read;
use serde_json::{Value, json};

use super::{note_data_version, sources};
use crate::context::Context;
use crate::family::Family;
use crate::literature::LiteratureSearch;
use crate::operation::{Answer, Operation, Read, store_error};

/// Documents of the record that one call looks at.
const DOCUMENTS_MAX: u64 = 200_000;
const PAGE_MAX: i64 = 500;
const PAPER: &str = "paper";

impl Operation for PubmedSearch {
    const NAME: &'static str = "pubmed_search";
    const ABOUT: &'static str = "Search papers by words and phrases joined with AND, OR and NOT from left to right. Terms \
        in capitals are genes. Answers with abstracts and a bibliography.";
    const FAMILY: Family = Family::Evidence;
    const ROLES: &'static [Role] = &Role::ALL;

    type Output = Content;
}

/// What was found, and where.
struct Found {
    documents: Vec<Document>,
    /// How many match, shown or not; absent where that is not known.
    n_matching: Option<usize>,
    is_of_record: bool,
    /// Why the answer may lack papers.
    caution: Option<&'static str>,
}

impl Read for PubmedSearch {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<Content>, OpError> {
        let query = Query::parse(&self.terms).map_err(refusal)?;
        let text = query.text();
        let Found { documents, n_matching, is_of_record, caution } = find(self, &query, ctx).await?;
        let mut articles: Vec<String> = documents.iter().map(literature::article).collect();
        if articles.is_empty() {
            articles.push(nothing(is_of_record));
        }
        let shown = format!("# Search Results for: {text}\n\n{}", articles.join("\n\n"));
        let mut answer = Answer::of(Content::text(shown.trim_end().to_owned(), Audience::Model));
        if !documents.is_empty() {
            let entries = literature::bibliography(&documents);
            answer.artifacts.push(Artifact {
                id: None,
                kind: BIBLIOGRAPHY.to_owned(),
                title: "Bibliography".to_owned(),
                content: serde_json::to_string(&entries).map_err(OpError::internal)?,
                language: None,
            });
        }
        let found = match documents.len() {
            0 => "no paper found".to_owned(),
            1 => "1 paper found".to_owned(),
            n => format!("{n} papers found"),
        };
        let place = if is_of_record { "in the record" } else { "at PubMed" };
        // What is shown must not pass for all.
        let n_shown = documents.len();
        let found = match n_matching.filter(|n| *n > n_shown) {
            Some(n) => format!("{n_shown} of {n} papers found {place} are shown"),
            None => format!("{found} {place}"),
        };
        let caution = caution.map(|caution| format!("; {caution}")).unwrap_or_default();
        let metadata = [
            ("querySuccess", json!(true)),
            ("nodeCount", json!(documents.len())),
            ("message", json!(format!("{found}{caution}"))),
            ("licences", credits(&documents, is_of_record, ctx).await?),
        ];
        answer.metadata.extend(metadata.map(|(key, value)| (key.to_owned(), value)));
        if is_of_record {
            note_data_version(ctx, &mut answer.metadata).await?;
            return Ok(documents.iter().fold(answer, |answer, document| answer.touching("document", &document.id)));
        }
        Ok(answer)
    }
}

async fn find(wanted: &PubmedSearch, query: &Query, ctx: &Context<'_>) -> Result<Found, OpError> {
    let Some(library) = &ctx.services().literature else { return find_here(wanted, query, ctx, None).await };
    let search = LiteratureSearch { query: query.text(), n_max: wanted.max_results, sort_by: wanted.sort_by };
    match library.search(search).await {
        Ok(mut documents) => {
            if wanted.sort_by == SortBy::Title {
                documents.sort_by_cached_key(|document| document.title.to_lowercase());
            }
            Ok(Found { documents, n_matching: None, is_of_record: false, caution: None })
        }
        Err(error) => {
            tracing::warn!(error = %error, "PubMed did not answer; the record does");
            find_here(wanted, query, ctx, Some("PubMed itself could not be asked")).await
        }
    }
}

/// Who reads only the text must know it too.
fn nothing(is_of_record: bool) -> String {
    let place = if is_of_record { "in the local record" } else { "at PubMed" };
    format!("No paper was found {place}. That does not mean that there is none.")
}

async fn find_here(
    wanted: &PubmedSearch,
    query: &Query,
    ctx: &Context<'_>,
    mut caution: Option<&'static str>,
) -> Result<Found, OpError> {
    let organisation_id = ctx.actor().organisation_id.as_str();
    let n_max = usize::try_from(wanted.max_results).unwrap_or(usize::MAX);
    let mut reader = ctx.read().await?;
    let (mut found, mut after, mut n_seen, mut n_matching) = (Vec::new(), String::new(), 0_u64, 0);
    loop {
        let page = read::page(&mut reader, organisation_id, RecordKind::Document, &after, PAGE_MAX).await;
        let page = page.map_err(store_error)?;
        let Some(last) = page.last() else { break };
        after.clone_from(&last.id);
        n_seen += u64::try_from(page.len()).unwrap_or(u64::MAX);
        for stored in &page {
            let document: Document = stored.parse().map_err(store_error)?;
            // Not every paper has a PubMed number.
            if (document.kind == PAPER || document.ids.contains_key("pmid"))
                && let Some(score) = query.score(&document)
            {
                found.push((score, document));
                n_matching += 1;
            }
        }
        // The order is total, so what is beyond the limit now stays beyond it.
        literature::sort(&mut found, wanted.sort_by);
        found.truncate(n_max);
        if n_seen >= DOCUMENTS_MAX {
            caution = Some("only a part of the record was looked at; use hybrid_search");
            break;
        }
    }
    let documents = found.into_iter().map(|(_, document)| document).collect();
    Ok(Found { documents, n_matching: Some(n_matching), is_of_record: true, caution })
}

/// Whom the papers are from and on which terms.
async fn credits(documents: &[Document], is_of_record: bool, ctx: &Context<'_>) -> Result<Value, OpError> {
    if documents.is_empty() {
        return Ok(json!([]));
    }
    if !is_of_record {
        return Ok(json!([sources::credit(Format::Pubmed.source())]));
    }
    let doubted_by = documents.iter().filter_map(|document| document.doubt()?.source);
    let ids: Vec<String> = documents.iter().map(|document| document.source.clone()).chain(doubted_by).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    sources::credits(ctx, &ids).await
}

fn refusal(error: QueryError) -> OpError {
    let refusal = match error {
        QueryError::Empty { index } => OpError::invalid(format!("terms/{index}/term"), "letters or digits"),
        QueryError::Unread { index, ref fault } => OpError::invalid(format!("terms/{index}/term"), fault.to_string()),
        QueryError::BeginsWithNot => OpError::invalid("terms/0/operator", "AND or OR").received("NOT"),
    };
    refusal.with_source(error)
}
