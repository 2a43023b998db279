//! Every occurrence of every word of a question, summed window by window. Where words are not in very many entries, that is
//! quicker than to find out which entries need not be looked at, and nothing has to be summed twice.

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::BlockSegmentPostings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocId, SegmentReader};

use super::{Found, SoughtWord, best};
use crate::search::index::{Allowed, SearchError, Snapshot, failed};

/// Entries that are summed together: their sums fit into the nearest cache.
const WINDOW: u32 = 2_048;

/// The best `n_max` entries, in the order of the index.
pub(super) fn search(
    snapshot: &Snapshot,
    words: &[SoughtWord<'_>],
    allowed: Option<&Allowed>,
    n_max: usize,
) -> Result<Vec<Found>, SearchError> {
    let mut top = Top::new(n_max);
    let mut sums = vec![0.0; WINDOW as usize];
    for (segment_ord, reader) in (0u32..).zip(snapshot.searcher().segment_readers()) {
        let mut lists = Vec::with_capacity(words.len());
        for word in words {
            lists.extend(List::open(reader, segment_ord, word)?);
        }
        let is_hidden = |address: DocAddress| {
            reader.is_deleted(address.doc_id) || allowed.is_some_and(|allowed| !allowed.has(address))
        };
        let mut next = lists.iter().filter_map(List::doc).min();
        while let Some(first) = next {
            lists.iter_mut().for_each(|list| list.add(first, &mut sums));
            for (doc_id, sum) in (first..).zip(&mut sums) {
                let (address, score) = (DocAddress { segment_ord, doc_id }, std::mem::take(sum));
                if score > top.least && !is_hidden(address) {
                    top.push(Found { address, score });
                }
            }
            next = lists.iter().filter_map(List::doc).min();
        }
    }
    Ok(best(top.found, n_max))
}

/// Where one word occurs in a segment.
struct List<'w> {
    postings: BlockSegmentPostings,
    /// Of the block, those that were summed.
    n_summed: usize,
    lengths: FieldNormReader,
    word: &'w SoughtWord<'w>,
}

impl<'w> List<'w> {
    fn open(
        reader: &SegmentReader,
        segment_ord: u32,
        word: &'w SoughtWord<'w>,
    ) -> Result<Option<List<'w>>, SearchError> {
        let Some(place) = word.counted.place(segment_ord) else { return Ok(None) };
        let lengths = reader.get_fieldnorms_reader(word.field).map_err(failed("reading lengths"))?;
        let index = reader.inverted_index(word.field).map_err(failed("reading words"))?;
        let postings = index.read_block_postings_from_terminfo(place, IndexRecordOption::WithFreqs);
        let postings = postings.map_err(|error| failed("reading a word")(error.into()))?;
        Ok(Some(List { postings, n_summed: 0, lengths, word }))
    }

    /// The next entry.
    fn doc(&self) -> Option<DocId> {
        self.postings.docs().get(self.n_summed).copied()
    }

    /// Adds what the word is worth to the sums, the first of which is that of the entry `first`.
    fn add(&mut self, first: DocId, sums: &mut [f64]) {
        while let Some(docs) = self.postings.docs().get(self.n_summed..).filter(|docs| !docs.is_empty()) {
            for doc in docs {
                let Some(sum) = sums.get_mut((doc - first) as usize) else { return };
                let norm = self.word.norms.of(self.lengths.fieldnorm_id(*doc));
                // Not from the list of frequencies: that is empty for a field that keeps none, where each is 1.
                *sum += self.word.weight.score(f64::from(self.postings.freq(self.n_summed)), norm);
                self.n_summed += 1;
            }
            self.postings.advance();
            self.n_summed = 0;
        }
    }
}

/// The best of all that came, and some more.
struct Top {
    found: Vec<Found>,
    n_max: usize,
    /// What is not better than this has no place any more. Of equal ones the first keep theirs.
    least: f64,
}

impl Top {
    fn new(n_max: usize) -> Top {
        Top { found: Vec::with_capacity(2 * n_max), n_max, least: 0.0 }
    }

    fn push(&mut self, one: Found) {
        self.found.push(one);
        if self.found.len() >= 2 * self.n_max {
            self.found = best(std::mem::take(&mut self.found), self.n_max);
            self.least = self.found.iter().map(|one| one.score).fold(f64::INFINITY, f64::min);
        }
    }
}
