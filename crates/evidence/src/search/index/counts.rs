//! In how many entries words are, counted exactly.

use std::collections::HashMap;

use tantivy::postings::TermInfo;
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet as _, InvertedIndexReader, SegmentReader, TERMINATED, Term};

use super::{SearchError, Snapshot, View, failed};

impl View {
    pub(super) fn count(&self, term: &Term) -> tantivy::Result<Counted> {
        let mut counted = Counted { n_entries: 0, places: Vec::with_capacity(self.segments.len()) };
        for (reader, view) in self.searcher.segment_readers().iter().zip(&self.segments) {
            let index = reader.inverted_index(term.field())?;
            let place = index.get_term_info(term)?;
            match &place {
                Some(place) if view.has_deletes => {
                    let mut postings = index.read_postings_from_terminfo(place, IndexRecordOption::Basic)?;
                    while postings.doc() != TERMINATED {
                        counted.n_entries += u64::from(!reader.is_deleted(postings.doc()));
                        postings.advance();
                    }
                }
                Some(place) => counted.n_entries += u64::from(place.doc_freq),
                None => {}
            }
            counted.places.push(place);
        }
        Ok(counted)
    }

    pub(super) fn n_tokens(&self, field: Field) -> tantivy::Result<u64> {
        if field == self.fields.body {
            Ok(self.n_words)
        } else if field == self.fields.grams {
            Ok(self.n_grams)
        } else if field == self.fields.entities {
            Ok(self.n_entities)
        } else {
            self.searcher.total_num_tokens(field)
        }
    }
}

impl Snapshot {
    /// Whether any entry has this word in its text.
    pub fn knows(&self, word: &str) -> Result<bool, SearchError> {
        let Snapshot(view) = self;
        let fields = self.fields();
        for (reader, segment) in view.searcher.segment_readers().iter().zip(&view.segments) {
            let index = reader.inverted_index(fields.body).map_err(failed("reading words"))?;
            let term = Term::from_field_text(fields.body, word);
            let place = index.get_term_info(&term).map_err(|error| failed("reading a word")(error.into()))?;
            if let Some(place) = place
                && (!segment.has_deletes || is_held(reader, &index, &place)?)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether an entry of a segment that was not deleted holds a term.
pub(super) fn is_held(
    reader: &SegmentReader,
    index: &InvertedIndexReader,
    place: &TermInfo,
) -> Result<bool, SearchError> {
    if !reader.has_deletes() {
        return Ok(true);
    }
    let postings = index.read_postings_from_terminfo(place, IndexRecordOption::Basic);
    let mut postings = postings.map_err(|error| failed("reading a word")(error.into()))?;
    while postings.doc() != TERMINATED && reader.is_deleted(postings.doc()) {
        postings.advance();
    }
    Ok(postings.doc() != TERMINATED)
}

/// A word that was looked up: in how many entries it is, and where each segment keeps them.
pub(in crate::search) struct Counted {
    pub n_entries: u64,
    places: Vec<Option<TermInfo>>,
}

impl Counted {
    pub fn place(&self, segment_ord: u32) -> Option<&TermInfo> {
        self.places.get(segment_ord as usize)?.as_ref()
    }
}

/// The words of one question, each looked up once.
///
/// tantivy counts deleted entries until a merge, and estimates lengths after one. Here both are exact, so that an index
/// that grew and one that was rebuilt give the same scores.
pub(in crate::search) struct Counts<'a> {
    view: &'a View,
    words: HashMap<&'a Term, Counted>,
}

impl<'a> Counts<'a> {
    pub fn new(snapshot: &'a Snapshot) -> Counts<'a> {
        Counts { view: &snapshot.0, words: HashMap::new() }
    }

    pub fn add(&mut self, term: &'a Term) -> Result<(), SearchError> {
        self.words.insert(term, self.view.count(term).map_err(failed("counting a word"))?);
        Ok(())
    }

    pub fn find(&self, term: &Term) -> Option<&Counted> {
        self.words.get(term)
    }
}

impl Bm25StatisticsProvider for Counts<'_> {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        self.view.n_tokens(field)
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.view.n_docs)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        match self.find(term) {
            Some(counted) => Ok(counted.n_entries),
            None => Ok(self.view.count(term)?.n_entries),
        }
    }
}
