//! `pubmed_search`: papers by terms, of PubMed where it may be asked, else of the record.

use contract::actor::Role;
use contract::envelope::{Artifact, Audience, Content};
use contract::error::OpError;
use contract::evidence::pubmed::{BIBLIOGRAPHY, PubmedSearch, SortBy};
use contract::evidence::record::{Document, RecordKind};
use evidence::import::Format;
use evidence::literature::{self, FoundPapers, Query, QueryError};
use evidence::record::{papers, read};
use serde_json::{Value, json};

use super::{note_data_version, sources};
use crate::context::Context;
use crate::family::Family;
use crate::literature::{LiteratureFound, LiteratureSearch};
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
    n_matching: Option<u64>,
    is_of_record: bool,
    /// Why the answer may lack papers.
    caution: Option<String>,
    /// That PubMed left out terms of the query.
    not_searched: Option<String>,
}

impl Found {
    /// How many were found, and that it is not all where it is not: what is shown must not pass for that.
    fn message(&self) -> String {
        let place = if self.is_of_record { "in the record" } else { "at PubMed" };
        let n_shown = self.documents.len();
        let found = match (self.n_more(), n_shown) {
            (Some(n), _) => format!("{n_shown} of {n} papers found {place} are shown"),
            (None, 0) => format!("no paper found {place}"),
            (None, 1) => format!("1 paper found {place}"),
            (None, n) => format!("{n} papers found {place}"),
        };
        let cautions: String =
            self.not_searched.iter().chain(&self.caution).map(|caution| format!("; {caution}")).collect();
        format!("{found}{cautions}")
    }

    /// How many there are, where that is more than are shown.
    fn n_more(&self) -> Option<u64> {
        let n_shown = u64::try_from(self.documents.len()).unwrap_or(u64::MAX);
        self.n_matching.filter(|n| *n > n_shown)
    }
}

impl Read for PubmedSearch {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<Content>, OpError> {
        let query = Query::parse(&self.terms).map_err(refusal)?;
        let text = query.text();
        let found = find(self, &query, ctx).await?;
        let message = found.message();
        let mut articles: Vec<String> = found.documents.iter().map(literature::article).collect();
        if articles.is_empty() {
            articles.push(nothing(found.is_of_record));
        }
        // Who reads only the text must know it too.
        if found.n_more().is_some() || found.caution.is_some() {
            articles.push(format!("({message})"));
        }
        // Before the papers: none of them may pass for one that holds all terms.
        articles.splice(0..0, found.not_searched.iter().map(|caution| format!("({caution})")));
        let is_as_asked = found.not_searched.is_none() && found.caution.is_none();
        let Found { documents, is_of_record, .. } = found;
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
        let metadata = [
            ("querySuccess", json!(is_as_asked)),
            ("nodeCount", json!(documents.len())),
            ("message", json!(message)),
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
        Ok(LiteratureFound { mut documents, n_matching, not_sent, not_searched, read_as }) => {
            // What is retracted is known here, whoever tells of the paper.
            let mut reader = ctx.read().await?;
            let organisation_id = ctx.actor().organisation_id.as_str();
            papers::mark(&mut reader, organisation_id, &mut documents).await.map_err(store_error)?;
            if wanted.sort_by == SortBy::Title {
                documents.sort_by_cached_key(|document| document.title.to_lowercase());
            }
            let caution = (!not_sent.is_empty()).then(|| format!("PubMed did not send {}", not_sent.join(", ")));
            let not_searched =
                (!not_searched.is_empty()).then(|| literature::not_searched(&not_searched, read_as.as_deref()));
            Ok(Found { documents, n_matching, is_of_record: false, caution, not_searched })
        }
        Err(error) => {
            tracing::warn!(error = %error, "PubMed did not answer; the record does");
            find_here(wanted, query, ctx, Some("PubMed itself could not be asked".to_owned())).await
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
    mut caution: Option<String>,
) -> Result<Found, OpError> {
    let organisation_id = ctx.actor().organisation_id.as_str();
    let n_max = usize::try_from(wanted.max_results).unwrap_or(usize::MAX);
    let mut reader = ctx.read().await?;
    let (mut found, mut after, mut n_seen) = (FoundPapers::default(), String::new(), 0_u64);
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
                found.add(score, document);
            }
        }
        // The order is total, so what is beyond the limit now stays beyond it.
        found.cut(wanted.sort_by, n_max);
        if n_seen >= DOCUMENTS_MAX {
            caution = Some("only a part of the record was looked at; use hybrid_search".to_owned());
            break;
        }
    }
    let n_matching = u64::try_from(found.n_papers()).ok();
    Ok(Found { documents: found.into_documents(), n_matching, is_of_record: true, caution, not_searched: None })
}

/// Whom the papers are from and on which terms.
async fn credits(documents: &[Document], is_of_record: bool, ctx: &Context<'_>) -> Result<Value, OpError> {
    if documents.is_empty() {
        return Ok(json!([]));
    }
    let doubted_by = documents.iter().filter_map(|document| document.doubt()?.source);
    let mut ids: Vec<String> = documents.iter().map(|document| document.source.clone()).chain(doubted_by).collect();
    let mut told = Vec::new();
    if !is_of_record {
        let pubmed = Format::Pubmed.source();
        ids.retain(|id| *id != pubmed.id);
        told.push(sources::credit(pubmed));
    }
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    told.extend(sources::credits(ctx, &ids).await?);
    told.extend(sources::own_terms(documents));
    Ok(Value::Array(told))
}

fn refusal(error: QueryError) -> OpError {
    let refusal = match error {
        QueryError::Empty { index } => OpError::invalid(format!("terms/{index}/term"), "letters or digits"),
        QueryError::Unread { index, ref fault } => OpError::invalid(format!("terms/{index}/term"), fault.to_string()),
        QueryError::BeginsWithNot => OpError::invalid("terms/0/operator", "AND or OR").received("NOT"),
    };
    refusal.with_source(error)
}
