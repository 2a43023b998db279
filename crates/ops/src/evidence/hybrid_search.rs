//! `hybrid_search`: documents and nodes by words, by meaning and by the things they name (seed 002).

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use contract::actor::Role;
use contract::error::{Kind, OpError};
use contract::evidence::record::{Document, Node, RecordKind};
use contract::evidence::search::{
    HitRecord, HybridSearch, HybridSearchOutput, RetractionStatus, SearchFilters, SearchHit, SearchLang, Span,
};
use evidence::codes;
use evidence::record::read::{self, Stored};
use evidence::record::{batches, papers};
use evidence::search::entry::{Entry, EntryRecord, Standing};
use evidence::search::filter::{Filter, Unknown};
use evidence::search::hybrid::{Hit, Library, Mode, Reading};
use evidence::search::index::SearchError;
use evidence::search::keeping::KeepError;
use evidence::search::searches::Current;
use evidence::search::snippet::Snippet;
use evidence::search::words::script_language;
use serde_json::{Map, Value, json};
use store::StoreError;

use super::sources::{credits, own_terms, sources};
use super::{graph, note_data_version};
use crate::context::{Context, Settings};
use crate::family::Family;
use crate::limits::RETRY_AFTER_MS;
use crate::operation::{Answer, Operation, Read, store_error};

const TOP_K_DEFAULT: u32 = 10;
const SNIPPET_CHARS: usize = 240;
/// How long an answer waits for a change that it must know of.
const WAIT_MS: u64 = 2_000;
const LOOK_EVERY_MS: u64 = 50;
const NOTHING_FOUND: &str = "Nothing was found in the local record. That does not mean that there is nothing.";
/// The best of what is near still looks like an answer.
const NOTHING_KNOWN: &str = "No word or name of the query is known here. The hits are what is nearest by meaning, and may have \
    nothing to do with it.";

const OTHER_LANGUAGE: &str =
    "The embedding model does not know the language of the query: words and names alone were searched.";
const VECTORS_MISSING: &str = "Vectors are still being made: an answer may change until `vectors_missing` is gone.";

impl Operation for HybridSearch {
    const NAME: &'static str = "hybrid_search";
    const ABOUT: &'static str = "Search papers, passages and the nodes of the evidence graph by words and by meaning, in Thai and \
        English at once. Each hit names its source; `metadata` tells why it was found and under which licences.";
    const FAMILY: Family = Family::Evidence;
    const ROLES: &'static [Role] = &Role::ALL;
    const ALIASES: &'static [&'static str] = &["tool.hybrid_search"];
    const IS_STAMPED: bool = true;

    type Output = HybridSearchOutput;

    fn fill_defaults(&mut self, _settings: &Settings) {
        self.lang.get_or_insert(SearchLang::Th);
        self.top_k.get_or_insert(TOP_K_DEFAULT);
    }
}

impl Read for HybridSearch {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<HybridSearchOutput>, OpError> {
        if !self.query.chars().any(char::is_alphanumeric) {
            return Err(OpError::invalid("query", "words to search for, with letters or digits"));
        }
        let filter = filter(self.filters.as_ref().unwrap_or(&SearchFilters::default()))?;
        let current = current(ctx, self.min_version).await?;
        let nothing_from = check_words(ctx, &current.library, &filter).await?;
        let searches = &ctx.services().search;
        let (library, query, model) = (current.library.clone(), self.query.clone(), searches.model().cloned());
        let mut reading = blocking(move || library.read(&query, model.as_ref())).await?;
        reading.ask_for(EntryRecord::Document, papers_of(ctx, &self.query).await?);
        reading.ask_for(EntryRecord::Node, nodes_of(ctx, &self.query).await?);
        let mut metadata = Map::new();
        metadata.insert("version".to_owned(), json!(current.version));
        note_data_version(ctx, &mut metadata).await?;
        let vector = match &reading.passage {
            Some(passage) => match searches.embed_question(passage).await {
                Ok(vector) => vector,
                // Words still find; what is missing is said.
                Err(error) => {
                    tracing::warn!(error = %error, "The embedding model failed; searching words alone");
                    metadata
                        .insert("message".to_owned(), json!("The embedding model failed: words alone were searched."));
                    None
                }
            },
            None => None,
        };
        say_what_was_searched(ctx, &reading, &current, vector.is_some(), &mut metadata);
        let n_hits = usize::try_from(self.top_k.unwrap_or(TOP_K_DEFAULT)).unwrap_or(usize::MAX);
        let lang = match self.lang {
            Some(SearchLang::En) => "en",
            Some(SearchLang::Auto) => script_language(&self.query),
            Some(SearchLang::Th) | None => "th",
        };
        let (library, without_retracted) = (current.library.clone(), filter.without_retracted);
        let (found, reading) = blocking(move || {
            let found = library.search(&reading, vector.as_deref(), &filter, Mode::Both, n_hits)?;
            let found = found.into_iter().map(|hit| Ok((library.entry(&hit)?, hit)));
            Ok((found.collect::<Result<Vec<(Entry, Hit)>, SearchError>>()?, reading))
        })
        .await?;
        let is_known = found
            .iter()
            .any(|(_, hit)| hit.reason.bm25.is_some() || hit.reason.is_asked || !hit.reason.entities.is_empty());
        let Compared { found, documents, n_left_out } = compared(ctx, found, current.version).await?;
        let (hits, reasons) = blocking(move || {
            let (library, mut hits, mut reasons) = (&current.library, Vec::new(), Vec::new());
            for (entry, hit) in found {
                let standing = library.standing(&entry)?;
                // A node stays in the index as it is when the paper that it stands for is withdrawn.
                let is_doubted = standing.as_ref().is_some_and(|it| it.status != RetractionStatus::NoneKnown);
                if without_retracted && is_doubted {
                    continue;
                }
                reasons.push(reason(&hit, &entry));
                hits.push(shown(&hit, entry, standing, &reading, lang));
            }
            Ok((hits, reasons))
        })
        .await?;
        if let Some(message) = nothing_from {
            metadata.insert("message".to_owned(), json!(message));
        }
        let sources = hits.iter().flat_map(|hit| std::iter::once(&hit.source).chain(&hit.retraction_source));
        let source_ids: Vec<&str> = sources.map(String::as_str).collect();
        let is_shown = |document: &Document| hits.iter().any(|hit: &SearchHit| hit.id == document.id);
        let documents: Vec<Document> = documents.into_iter().filter(is_shown).collect();
        let mut licences = credits(ctx, &source_ids).await?;
        licences.extend(own_terms(&documents));
        metadata.insert("licences".to_owned(), Value::Array(licences));
        metadata.insert("reasons".to_owned(), Value::Array(reasons));
        let note = if hits.is_empty() { Some(NOTHING_FOUND) } else { Some(NOTHING_KNOWN).filter(|_| !is_known) };
        let notes = note.map(str::to_owned).into_iter().chain(withdrawn(&documents)).chain(left_out(n_left_out));
        let notes: Vec<String> = notes.collect();
        let note = (!notes.is_empty()).then(|| notes.join(" "));
        metadata.extend(note.clone().map(|note| ("note".to_owned(), note.into())));
        let mut answer = Answer::of(HybridSearchOutput { hits, note });
        answer.metadata = metadata;
        Ok(answer)
    }
}

/// Documents of the paper that the whole query is an id of, in any spelling.
async fn papers_of(ctx: &Context<'_>, query: &str) -> Result<Vec<String>, OpError> {
    let reference = asked_paper(query);
    let mut reader = ctx.read().await?;
    papers::named(&mut reader, ctx.actor().organisation_id.as_str(), &reference).await.map_err(store_error)
}

/// As records write it what people type: a number alone is one of PubMed's, and a space stands for the colon.
fn asked_paper(query: &str) -> String {
    let query = query.trim();
    if !query.is_empty() && query.bytes().all(|byte| byte.is_ascii_digit()) {
        return format!("PMID:{query}");
    }
    match query.split_once(char::is_whitespace) {
        Some((kind, id)) if ["pmid", "pmcid", "doi"].iter().any(|known| kind.eq_ignore_ascii_case(known)) => {
            format!("{kind}:{}", id.trim())
        }
        Some(_) | None => query.to_owned(),
    }
}

/// Nodes that the whole query is the id of, in whatever case, or the code of ICD-10, with or without the dot. A code that several
/// things have is told of all of them.
async fn nodes_of(ctx: &Context<'_>, query: &str) -> Result<Vec<String>, OpError> {
    let graph = graph(ctx, None).await?;
    let by_id = graph.nodes().with_id(query);
    let found = codes::nodes(&graph, query).into_iter().chain(by_id);
    let ids: BTreeSet<&str> = found.map(|node| graph.nodes().id(node)).collect();
    Ok(ids.into_iter().map(str::to_owned).collect())
}

/// What was found, as the record has it.
struct Compared {
    found: Vec<(Entry, Hit)>,
    documents: Vec<Document>,
    /// Of which the index said other things than the record at the same change number.
    n_left_out: usize,
}

/// Compares what the index says with the record: its files lie beside the database, and only what the record says is
/// shown. An index that differs was changed by other hands, and is made anew.
async fn compared(ctx: &Context<'_>, found: Vec<(Entry, Hit)>, version: i64) -> Result<Compared, OpError> {
    let organisation_id = ctx.actor().organisation_id.as_str();
    let ids = |record: EntryRecord| -> Vec<&str> {
        found.iter().filter(|(entry, _)| entry.record == record).map(|(entry, _)| entry.id.as_str()).collect()
    };
    let mut reader = ctx.read().await?;
    let read = async {
        let of_documents = ids(EntryRecord::Document);
        let documents = read::find(&mut reader, organisation_id, RecordKind::Document, &of_documents).await?;
        let nodes = read::find(&mut reader, organisation_id, RecordKind::Node, &ids(EntryRecord::Node)).await?;
        // Asked last: if it is still the one of the index, so was the record before.
        Ok((documents, nodes, batches::latest(&mut reader, organisation_id).await?))
    };
    let (documents, nodes, latest) = read.await.map_err(store_error)?;
    let documents = documents.iter().map(Stored::parse).collect::<Result<Vec<Document>, StoreError>>();
    let nodes = nodes.iter().map(Stored::parse).collect::<Result<Vec<Node>, StoreError>>();
    let (documents, nodes) = (documents.map_err(store_error)?, nodes.map_err(store_error)?);
    let entries = documents.iter().map(Entry::of_document).chain(nodes.iter().map(Entry::of_node));
    let mut entries: HashMap<String, Entry> = entries.map(|entry| (entry.key(), entry)).collect();
    let n_found = found.len();
    let is_same_version = latest == version;
    let found = found.into_iter().filter_map(|(indexed, hit)| {
        let entry = entries.remove(&indexed.key())?;
        (entry == indexed || !is_same_version).then_some((entry, hit))
    });
    let found: Vec<(Entry, Hit)> = found.collect();
    let n_left_out = if is_same_version { n_found - found.len() } else { 0 };
    if n_left_out > 0 {
        tracing::warn!(
            search.n_left_out = n_left_out,
            "The text index says other things than the record; making it anew"
        );
        ctx.services().search.renew(reader, organisation_id);
    }
    Ok(Compared { found, documents, n_left_out })
}

fn left_out(n_left_out: usize) -> Option<String> {
    let hits = if n_left_out == 1 { "hit was" } else { "hits were" };
    (n_left_out > 0).then(|| {
        format!(
            "{n_left_out} {hits} left out: the search index says other things of them than the record, and is being made \
             anew. Ask again."
        )
    })
}

/// That sources took back some of the documents, in words.
fn withdrawn(documents: &[Document]) -> Option<String> {
    let ids = documents.iter().filter(|document| document.is_withdrawn()).map(|document| format!("`{}`", document.id));
    let ids: Vec<String> = ids.collect();
    (!ids.is_empty()).then(|| format!("Withdrawn by its source: {}.", ids.join(", ")))
}

/// The library at the record's last change, or at least at the one that the caller knows of.
pub(super) async fn current(ctx: &Context<'_>, min_version: Option<u64>) -> Result<Current, OpError> {
    let wanted = i64::try_from(min_version.unwrap_or_default()).unwrap_or(i64::MAX);
    let organisation_id = ctx.actor().organisation_id.as_str();
    let mut waited_ms = 0;
    loop {
        let reader = ctx.read().await?;
        let current = ctx.services().search.current(reader, organisation_id).await.map_err(keep_error)?;
        if current.version >= wanted {
            return Ok(current);
        }
        if waited_ms >= WAIT_MS {
            let message = format!("the record is at version {}, not yet at {wanted}", current.version);
            return Err(OpError::busy(message, RETRY_AFTER_MS));
        }
        tokio::time::sleep(Duration::from_millis(LOOK_EVERY_MS)).await;
        waited_ms += LOOK_EVERY_MS;
    }
}

pub(super) fn keep_error(error: KeepError) -> OpError {
    match error {
        KeepError::Record(error) => store_error(error),
        KeepError::Index(_) | KeepError::Names(_) | KeepError::Broken(_) => OpError::internal(error),
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SearchError> + Send + 'static,
) -> Result<T, OpError> {
    let done = tokio::task::spawn_blocking(work).await.map_err(OpError::internal)?;
    done.map_err(OpError::internal)
}

fn filter(filters: &SearchFilters) -> Result<Filter, OpError> {
    if let (Some(from), Some(to)) = (filters.year_from, filters.year_to)
        && from > to
    {
        return Err(OpError::invalid("filters/year_to", "a year not before `year_from`"));
    }
    Ok(Filter {
        kinds: filters.kinds.clone(),
        sources: filters.sources.clone(),
        categories: filters.categories.clone(),
        langs: filters.langs.iter().map(|lang| lang.name().to_owned()).collect(),
        year_from: filters.year_from,
        year_to: filters.year_to,
        without_retracted: filters.without_retracted,
    })
}

/// That none is in use, and why.
fn without_model(fault: Option<&str>) -> String {
    let why = match fault {
        Some(fault) => format!("The embedding model that was chosen cannot be used ({fault})"),
        None => "No embedding model is in use".to_owned(),
    };
    let advice = match fault {
        Some(_) => "`materia doctor` tells more; `materia models use` chooses another one",
        None => "`materia models pull` gets one",
    };
    format!("{why}: words and names alone were searched. {advice} for the server's next start.")
}

fn say_what_was_searched(
    ctx: &Context<'_>,
    reading: &Reading,
    current: &Current,
    has_vector: bool,
    metadata: &mut Map<String, Value>,
) {
    let searches = &ctx.services().search;
    let model = searches.model().map(|model| model.name.clone());
    metadata.insert("vectors".to_owned(), json!(has_vector));
    metadata.insert("lexicon".to_owned(), json!(searches.has_lexicon()));
    let message = match (&model, has_vector) {
        (None, _) => Some(without_model(searches.model_fault())),
        (Some(_), false) if reading.passage.is_none() => Some(OTHER_LANGUAGE.to_owned()),
        (Some(_), true) if current.n_lacking > 0 => Some(VECTORS_MISSING.to_owned()),
        (Some(_), _) => None,
    };
    if current.n_lacking > 0 {
        metadata.insert("vectors_missing".to_owned(), json!(current.n_lacking));
    }
    metadata.insert("model".to_owned(), json!(model));
    if let Some(message) = message {
        metadata.entry("message").or_insert_with(|| json!(message));
    }
}

/// Words that nothing has are mistakes, as in `query_kg`. A source that is recorded is none, even where nothing of it can be
/// searched: that is told in the answer.
async fn check_words(ctx: &Context<'_>, library: &Library, filter: &Filter) -> Result<Option<String>, OpError> {
    if [&filter.kinds, &filter.sources, &filter.categories].into_iter().all(Vec::is_empty) {
        return Ok(None);
    }
    let (library, filter) = (library.clone(), filter.clone());
    let unknown = blocking(move || filter.unknown(library.snapshot())).await?;
    let of_sources = unknown.iter().filter(|one| one.what == "source").map(|one| one.word.as_str());
    let of_sources: Vec<&str> = of_sources.collect();
    let recorded = sources(ctx, &of_sources).await?;
    let is_mistake = |one: &&Unknown| one.what != "source" || !recorded.contains_key(&one.word);
    if let Some(mistake) = unknown.iter().find(is_mistake) {
        let message = format!("`{}`: {mistake}", mistake.field);
        let mut refusal = OpError::new(Kind::Invalid, message).advising(&mistake.advice());
        refusal.details.field = Some(mistake.field.to_owned());
        return Err(refusal);
    }
    let each: Vec<String> = of_sources.iter().map(|id| format!("`{id}`")).collect();
    Ok((!each.is_empty()).then(|| format!("Nothing that can be searched is from the source {}.", each.join(" or "))))
}

fn reason(hit: &Hit, entry: &Entry) -> Value {
    let mut reason = json!({
        "id": entry.id,
        "bm25": hit.reason.bm25,
        "vector": hit.reason.vector,
        "entity": hit.reason.entities,
    });
    if let Some(members) = reason.as_object_mut().filter(|_| hit.reason.is_asked) {
        members.insert("by_id".to_owned(), json!(true));
    }
    reason
}

fn shown(hit: &Hit, entry: Entry, standing: Option<Standing>, reading: &Reading, lang: &str) -> SearchHit {
    // A node is called by its name in the reader's language, where it has one there.
    let named = entry.names.iter().find(|name| name.lang == lang).map(|name| name.text.clone());
    let title = named.unwrap_or_else(|| entry.title.clone());
    let text = if entry.text.is_empty() { &entry.title } else { &entry.text };
    let snippet = Snippet::cut(text, &reading.terms, SNIPPET_CHARS);
    let wide = |place: usize| u64::try_from(place).unwrap_or(u64::MAX);
    let matches = snippet.matches.iter().map(|(start, end)| Span { start: wide(*start), end: wide(*end) }).collect();
    SearchHit {
        id: entry.id,
        record: match entry.record {
            EntryRecord::Document => HitRecord::Document,
            EntryRecord::Node => HitRecord::Node,
        },
        kind: entry.kind,
        title,
        snippet: snippet.text,
        matches,
        score: hit.score,
        source: entry.source,
        verified: entry.is_verified,
        year: entry.year,
        abstract_by: entry.abstract_by,
        retraction: standing.as_ref().map(|standing| standing.status),
        retraction_source: standing.and_then(|standing| standing.source),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_type_for_a_paper_is_its_id() {
        for (query, expected) in [
            (" 24 ", "PMID:24"),
            ("PMID 24", "PMID:24"),
            ("pmid  24", "pmid:24"),
            ("PMID: 24", "PMID: 24"),
            ("doi 10.1/a", "doi:10.1/a"),
            ("ginger 24", "ginger 24"),
        ] {
            assert_eq!(asked_paper(query), expected, "{query}");
        }
    }
}
