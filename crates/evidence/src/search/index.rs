//! The text index: entries in, an unchanging view of them out.

mod counts;

pub(super) use counts::{Counted, Counts};

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::columnar::{Column, StrColumn};
use tantivy::directory::MmapDirectory;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, TantivyDocument, Value as _};
use tantivy::{DocAddress, DocSet, Index, IndexReader, IndexWriter, ReloadPolicy, Searcher, TERMINATED, Term};

use super::entry::{Entry, EntryRecord};
use super::gazetteer::Gazetteer;
use super::schema::{Fields, GRAMS, WORDS};
use super::sealed::{Sealed, SealedDirectory};
use super::words::{gram_analyzer, is_thai, thai_parts, word_analyzer, words};
use crate::sealing::Seal;

/// What the writer may keep in memory before it cuts a segment.
const WRITER_BYTES: usize = 64 << 20;
/// A text with more different names than this names nothing in particular.
const NAMES_MAX: usize = 2_000;
/// How entries are kept. An index in another form is made anew.
const FORM: &str = "form4";
/// What its seal says it is.
pub const WHAT: &str = "index";

#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error("could not make, move or remove the folder `{}`", path.display())]
    Folder { path: PathBuf, source: std::io::Error },
    #[error("could not remove the folder `{}`", path.display())]
    Remove { path: PathBuf, source: std::io::Error },
    #[error("the text index failed while {doing}")]
    Index { doing: &'static str, source: tantivy::TantivyError },
    #[error("an entry of the text index cannot be read")]
    Entry(#[source] serde_json::Error),
    #[error("the text index was asked for an entry that it does not hold")]
    Absent,
}

/// Names which step failed.
pub(super) fn failed(doing: &'static str) -> impl FnOnce(tantivy::TantivyError) -> SearchError {
    move |source| SearchError::Index { doing, source }
}

/// A change to the index.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    Put(Box<Entry>),
    /// By [`Entry::key`].
    Delete(String),
}

/// Which record an index was made from: its change number, and the hash of the batch of that number. Another database
/// may well be at the same number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    pub version: i64,
    pub batch: String,
}

impl State {
    fn parse(text: &str) -> Option<State> {
        let (version, batch) = text.strip_prefix(FORM)?.strip_prefix(' ')?.split_once(' ')?;
        Some(State { version: version.parse().ok()?, batch: batch.to_owned() })
    }

    fn print(&self) -> String {
        format!("{FORM} {} {}", self.version, self.batch)
    }
}

/// One index has one writer; [`Snapshot`]s are for everybody.
pub struct TextIndex {
    fields: Fields,
    writer: IndexWriter,
    reader: IndexReader,
}

impl std::fmt::Debug for TextIndex {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("TextIndex")
    }
}

impl TextIndex {
    /// An index without the house's seal is thrown away: other hands made it, or an earlier program did.
    pub fn open(folder: &Path, seal: &Seal) -> Result<TextIndex, SearchError> {
        let (schema, fields) = Fields::schema();
        let mut directory = sealed_folder(folder, seal)?;
        if directory.look() == Sealed::Others {
            tracing::warn!("The text index has no seal of this house, or not for this database: it is made anew");
            std::fs::remove_dir_all(folder)
                .map_err(|source| SearchError::Remove { path: folder.to_owned(), source })?;
            directory = sealed_folder(folder, seal)?;
        }
        let index = Index::open_or_create(directory, schema).map_err(failed("opening"))?;
        TextIndex::new(index, fields)
    }

    pub fn in_memory() -> Result<TextIndex, SearchError> {
        let (schema, fields) = Fields::schema();
        TextIndex::new(Index::create_in_ram(schema), fields)
    }

    fn new(index: Index, fields: Fields) -> Result<TextIndex, SearchError> {
        index.tokenizers().register(WORDS, word_analyzer());
        index.tokenizers().register(GRAMS, gram_analyzer());
        let writer = index.writer_with_num_threads(1, WRITER_BYTES).map_err(failed("opening its writer"))?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into();
        let reader = reader.map_err(failed("opening its reader"))?;
        Ok(TextIndex { fields, writer, reader })
    }

    /// What the last commit left.
    pub fn state(&self) -> Result<State, SearchError> {
        let metas = self.writer.index().load_metas().map_err(failed("reading its state"))?;
        Ok(metas.payload.as_deref().and_then(State::parse).unwrap_or_default())
    }

    /// Takes changes; they are seen after the next [`TextIndex::commit`].
    pub fn apply(&mut self, changes: &[Change], gazetteer: &Gazetteer) -> Result<(), SearchError> {
        for change in changes {
            let key = match change {
                Change::Put(entry) => entry.key(),
                Change::Delete(key) => key.clone(),
            };
            self.writer.delete_term(Term::from_field_text(self.fields.key, &key));
            if let Change::Put(entry) = change {
                let document = self.document(entry, gazetteer)?;
                self.writer.add_document(document).map_err(failed("taking an entry"))?;
            }
        }
        Ok(())
    }

    pub fn commit(&mut self, state: &State) -> Result<(), SearchError> {
        let mut commit = self.writer.prepare_commit().map_err(failed("preparing a commit"))?;
        commit.set_payload(&state.print());
        commit.commit().map_err(failed("committing"))?;
        self.reader.reload().map_err(failed("looking at a commit"))
    }

    /// Forgets everything, for a rebuild.
    pub fn clear(&mut self) -> Result<(), SearchError> {
        self.writer.delete_all_documents().map_err(failed("clearing"))?;
        self.commit(&State::default())
    }

    /// Ends the writer after what it still does: nothing is written to the folder any more.
    pub fn close(self) -> Result<(), SearchError> {
        self.writer.wait_merging_threads().map_err(failed("closing"))
    }

    pub fn snapshot(&self) -> Result<Snapshot, SearchError> {
        Snapshot::new(self.reader.searcher(), self.fields)
    }

    fn document(&self, entry: &Entry, gazetteer: &Gazetteer) -> Result<TantivyDocument, SearchError> {
        let fields = &self.fields;
        let body = entry.passage();
        let grams = format!("{} {}", entry.title, thai_parts(&entry.text));
        let mut document = TantivyDocument::default();
        document.add_text(fields.key, entry.key());
        document.add_text(fields.entry, serde_json::to_string(entry).map_err(SearchError::Entry)?);
        document.add_u64(fields.n_words, count(words(&mut word_analyzer(), &body).len()));
        document.add_u64(fields.n_grams, count(words(&mut gram_analyzer(), &grams).len()));
        for id in gazetteer.find(&body) {
            document.add_text(fields.entities, id);
        }
        if let Some(id) = &entry.about {
            document.add_text(fields.entities, about(id));
        }
        for name in capitalised(&body) {
            document.add_text(fields.names, name);
        }
        document.add_text(fields.body, body);
        document.add_text(fields.grams, grams);
        document.add_text(fields.record, entry.record.name());
        document.add_text(fields.kind, &entry.kind);
        document.add_text(fields.lang, &entry.lang);
        document.add_text(fields.source, &entry.source);
        entry.categories.iter().for_each(|category| document.add_text(fields.category, category));
        document.add_text(fields.retraction, if entry.retraction.is_some() { "retracted" } else { "none" });
        if let Some(year) = entry.year {
            document.add_i64(fields.year, i64::from(year));
        }
        document.add_u64(fields.content, entry.content_hash().short());
        Ok(document)
    }
}

fn sealed_folder(folder: &Path, seal: &Seal) -> Result<SealedDirectory, SearchError> {
    std::fs::create_dir_all(folder).map_err(|source| SearchError::Folder { path: folder.to_owned(), source })?;
    let directory = MmapDirectory::open(folder).map_err(|error| failed("opening its folder")(error.into()))?;
    Ok(SealedDirectory::new(directory, seal.clone()))
}

/// Beside the ids themselves, and never one of them: an id has no line break.
fn about(id: &str) -> String {
    format!("about\n{id}")
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Latin words that begin with a capital letter, in small letters, each once.
fn capitalised(text: &str) -> std::collections::BTreeSet<String> {
    let words = text.split(|letter: char| !letter.is_alphabetic() || is_thai(letter));
    let capital = words.filter(|word| word.len() > 2 && word.chars().next().is_some_and(char::is_uppercase));
    capital.map(str::to_lowercase).take(NAMES_MAX).collect()
}

/// The index as it was at one commit, with exact statistics.
#[derive(Clone)]
pub struct Snapshot(Arc<View>);

struct View {
    searcher: Searcher,
    fields: Fields,
    segments: Vec<SegmentView>,
    n_docs: u64,
    n_words: u64,
    n_grams: u64,
    n_entities: u64,
    has_thai: bool,
    has_latin: bool,
}

struct SegmentView {
    has_deletes: bool,
    content: Column<u64>,
}

impl Snapshot {
    fn new(searcher: Searcher, fields: Fields) -> Result<Snapshot, SearchError> {
        let (mut n_words, mut n_grams, mut n_entities) = (0, 0, 0);
        let mut segments = Vec::new();
        for reader in searcher.segment_readers() {
            let column = |name| reader.fast_fields().u64(name).map_err(failed("reading a column"));
            let (words, grams, content) = (column("n_words")?, column("n_grams")?, column("content")?);
            let entities = reader.get_fieldnorms_reader(fields.entities).map_err(failed("reading lengths"))?;
            for document in reader.doc_ids_alive() {
                n_words += words.first(document).unwrap_or_default();
                n_grams += grams.first(document).unwrap_or_default();
                // Rounded as every score rounds it, and so the same in whichever segment the entry stands.
                n_entities += u64::from(entities.fieldnorm(document));
            }
            segments.push(SegmentView { has_deletes: reader.has_deletes(), content });
        }
        let n_docs = searcher.num_docs();
        let (has_thai, has_latin) = (false, false);
        let mut view = View { searcher, fields, segments, n_docs, n_words, n_grams, n_entities, has_thai, has_latin };
        let holds = |lang: &str| -> Result<bool, SearchError> {
            let counted = view.count(&Term::from_field_text(fields.lang, lang)).map_err(failed("counting"))?;
            Ok(counted.n_entries > 0)
        };
        (view.has_thai, view.has_latin) = (holds("th")?, holds("en")?);
        Ok(Snapshot(Arc::new(view)))
    }

    pub fn n_entries(&self) -> u64 {
        self.0.n_docs
    }

    /// Whether anything in it is mostly written in that language's letters.
    pub fn holds(&self, lang: &str) -> bool {
        if lang == "th" { self.0.has_thai } else { self.0.has_latin }
    }

    pub fn searcher(&self) -> &Searcher {
        &self.0.searcher
    }

    pub(super) fn fields(&self) -> &Fields {
        &self.0.fields
    }

    /// How many entries hold a term.
    pub(super) fn n_with(&self, term: &Term) -> Result<u64, SearchError> {
        Ok(self.0.count(term).map_err(failed("counting a word"))?.n_entries)
    }

    /// The average number of words of an entry in this field.
    pub(super) fn average_length(&self, field: Field) -> f64 {
        let total = self.0.n_tokens(field).unwrap_or_default();
        if self.0.n_docs == 0 { 1.0 } else { (total as f64 / self.0.n_docs as f64).max(1.0) }
    }

    /// Every entry with the short hash of its content, in the order of the segments.
    pub fn contents(&self) -> Vec<(DocAddress, u64)> {
        let mut all = Vec::new();
        for ((segment_ord, view), reader) in (0u32..).zip(&self.0.segments).zip(self.0.searcher.segment_readers()) {
            for doc_id in reader.doc_ids_alive() {
                let short = view.content.first(doc_id).unwrap_or_default();
                all.push((DocAddress { segment_ord, doc_id }, short));
            }
        }
        all
    }

    /// The short hash of an entry's content.
    pub(super) fn content(&self, address: DocAddress) -> u64 {
        let view = self.0.segments.get(address.segment_ord as usize);
        view.and_then(|view| view.content.first(address.doc_id)).unwrap_or_default()
    }

    pub fn key(&self, address: DocAddress) -> Result<String, SearchError> {
        let reader = self.0.searcher.segment_reader(address.segment_ord);
        let column = reader.fast_fields().str("key").map_err(failed("reading the keys"))?.ok_or(SearchError::Absent)?;
        let ord = column.term_ords(address.doc_id).next().ok_or(SearchError::Absent)?;
        let mut key = String::new();
        column.ord_to_str(ord, &mut key).map_err(|error| failed("reading a key")(error.into()))?;
        Ok(key)
    }

    /// In which letters each entry is written.
    pub(super) fn langs(&self) -> Langs {
        let readers = self.0.searcher.segment_readers().iter();
        Langs(readers.map(|reader| reader.fast_fields().str("lang").ok().flatten()).collect())
    }

    pub fn entry(&self, address: DocAddress) -> Result<Entry, SearchError> {
        let document: TantivyDocument = self.0.searcher.doc(address).map_err(failed("reading an entry"))?;
        let text =
            document.get_first(self.0.fields.entry).and_then(|value| value.as_str()).ok_or(SearchError::Absent)?;
        serde_json::from_str(text).map_err(SearchError::Entry)
    }

    /// Where an entry is, by its key.
    pub fn find(&self, key: &str) -> Result<Option<DocAddress>, SearchError> {
        let term = Term::from_field_text(self.0.fields.key, key);
        let query = TermQuery::new(term, IndexRecordOption::Basic);
        let found = self.0.searcher.search(&query, &tantivy::collector::DocSetCollector);
        Ok(found.map_err(failed("finding an entry"))?.into_iter().min())
    }

    /// All nodes of the index.
    pub(super) fn nodes(&self) -> Result<Vec<Entry>, SearchError> {
        let term = Term::from_field_text(self.0.fields.record, EntryRecord::Node.name());
        let allowed = self.matching(&TermQuery::new(term, IndexRecordOption::Basic))?;
        allowed.addresses().map(|address| self.entry(address)).collect()
    }

    /// The documents that are about a node as a whole.
    pub(super) fn about(&self, id: &str) -> Result<Vec<DocAddress>, SearchError> {
        self.naming(&about(id))
    }

    /// The entries that name a node.
    pub(super) fn naming(&self, id: &str) -> Result<Vec<DocAddress>, SearchError> {
        let term = Term::from_field_text(self.0.fields.entities, id);
        Ok(self.matching(&TermQuery::new(term, IndexRecordOption::Basic))?.addresses().collect())
    }

    /// The entries that may hold a name: all of its words, or of its threes of Thai letters, occur in them.
    pub(super) fn holding(&self, name: &str, is_thai: bool) -> Result<Vec<DocAddress>, SearchError> {
        let fields = &self.0.fields;
        let (field, found) = if is_thai {
            (fields.grams, words(&mut gram_analyzer(), &thai_parts(name)))
        } else {
            (fields.body, words(&mut word_analyzer(), name))
        };
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let all = found.into_iter().map(|word| -> (Occur, Box<dyn Query>) {
            let term = Term::from_field_text(field, &word.term);
            (Occur::Must, Box::new(TermQuery::new(term, IndexRecordOption::Basic)))
        });
        Ok(self.matching(&BooleanQuery::new(all.collect()))?.addresses().collect())
    }

    /// All terms of a field that an entry holds, for tables that are made from them.
    pub(super) fn terms(&self, field: Field) -> Result<std::collections::BTreeSet<String>, SearchError> {
        let mut all = std::collections::BTreeSet::new();
        for reader in self.0.searcher.segment_readers() {
            let index = reader.inverted_index(field).map_err(failed("reading terms"))?;
            let mut stream = index.terms().stream().map_err(|error| failed("reading terms")(error.into()))?;
            while stream.advance() {
                let Ok(term) = std::str::from_utf8(stream.key()) else { continue };
                // What the last entry of a word was deleted from keeps the word until a merge.
                if !all.contains(term) && counts::is_held(reader, &index, stream.value())? {
                    all.insert(term.to_owned());
                }
            }
        }
        Ok(all)
    }

    /// The entries that fulfil a condition, one set per segment.
    pub fn matching(&self, condition: &dyn Query) -> Result<Allowed, SearchError> {
        let mut segments = Vec::new();
        let weight = condition.weight(tantivy::query::EnableScoring::disabled_from_searcher(&self.0.searcher));
        let weight = weight.map_err(failed("preparing a filter"))?;
        for reader in self.0.searcher.segment_readers() {
            let mut allowed = vec![false; reader.max_doc() as usize];
            let mut scorer = weight.scorer(reader, 1.0).map_err(failed("filtering"))?;
            let mut doc = scorer.doc();
            while doc != TERMINATED {
                if let (Some(place), false) = (allowed.get_mut(doc as usize), reader.is_deleted(doc)) {
                    *place = true;
                }
                doc = scorer.advance();
            }
            segments.push(allowed);
        }
        Ok(Allowed(segments))
    }
}

/// The languages of entries, from their column.
pub(super) struct Langs(Vec<Option<StrColumn>>);

impl Langs {
    pub fn of(&self, address: DocAddress) -> Option<&'static str> {
        let column = self.0.get(address.segment_ord as usize)?.as_ref()?;
        let mut lang = String::new();
        let ord = column.term_ords(address.doc_id).next()?;
        column.ord_to_str(ord, &mut lang).ok()?;
        ["th", "en"].into_iter().find(|known| *known == lang)
    }
}

/// Which entries a filter lets through.
pub struct Allowed(Vec<Vec<bool>>);

impl Allowed {
    pub fn has(&self, address: DocAddress) -> bool {
        let segment = self.0.get(address.segment_ord as usize);
        segment.and_then(|segment| segment.get(address.doc_id as usize)).copied().unwrap_or(false)
    }

    fn addresses(&self) -> impl Iterator<Item = DocAddress> {
        (0u32..).zip(&self.0).flat_map(|(segment_ord, segment)| {
            let allowed = (0u32..).zip(segment).filter(|(_, allowed)| **allowed);
            allowed.map(move |(doc_id, _)| DocAddress { segment_ord, doc_id })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_in_another_form_is_of_no_record() {
        let state = State { version: 7, batch: "ab12".to_owned() };
        assert_eq!(State::parse(&state.print()), Some(state));
        assert_eq!(State::parse("7 ab12"), None);
        assert_eq!(State::parse("form1 7 ab12"), None);
    }
}
