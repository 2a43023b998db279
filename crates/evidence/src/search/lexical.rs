//! BM25 over the text index, for single words and for sets of synonyms.
//!
//! tantivy finds the candidates; their scores are then summed anew in the order of the query and in double precision:
//! its own sums depend on where segments begin.

use std::collections::{BTreeMap, HashMap};

use tantivy::collector::TopDocs;
use tantivy::postings::Postings as _;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocId, DocSet, SegmentReader, TERMINATED, Term};

use super::index::{Allowed, SearchError, Snapshot, failed};

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// An entry that a list holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    pub address: DocAddress,
    pub score: f64,
}

/// What one part of a query asks for: any of its alternatives, each of which is one or more words that all must occur.
/// Alternatives count as one word (Pirkola): their frequencies are summed, and what is rare is the whole set.
#[derive(Debug, Clone, PartialEq)]
pub struct Clause {
    pub field: Field,
    pub alternatives: Vec<Vec<Term>>,
    pub weight: f64,
}

impl Clause {
    pub fn word(field: Field, word: &str, weight: f64) -> Clause {
        Clause { field, alternatives: vec![vec![Term::from_field_text(field, word)]], weight }
    }

    fn single(&self) -> Option<&Term> {
        match self.alternatives.as_slice() {
            [words] => match words.as_slice() {
                [term] => Some(term),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The best `n_max` entries, best first; equal ones always in the same order.
pub fn search(
    snapshot: &Snapshot,
    clauses: &[Clause],
    filter: Option<(&dyn Query, &Allowed)>,
    n_max: usize,
) -> Result<Vec<Found>, SearchError> {
    if clauses.is_empty() || n_max == 0 {
        return Ok(Vec::new());
    }
    let singles: Option<Vec<(&Clause, &Term)>> =
        clauses.iter().map(|clause| Some((clause, clause.single()?))).collect();
    let mut found = match singles {
        Some(terms) => search_words(snapshot, &terms, filter.map(|(query, _)| query), n_max)?,
        None => search_sets(snapshot, clauses, filter.map(|(_, allowed)| allowed))?,
    };
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    order_ties(snapshot, &mut found, n_max)?;
    found.truncate(n_max);
    Ok(found)
}

/// Sorts entries of equal score by the hash of their content, as far as the first `n_max` places are concerned, and those
/// of equal content by key: an order that does not depend on where an entry stands in the index.
pub(super) fn order_ties(snapshot: &Snapshot, found: &mut [Found], n_max: usize) -> Result<(), SearchError> {
    let mut start = 0;
    let mut rest = found;
    while start < n_max {
        let Some(score) = rest.first().map(|first| first.score) else { break };
        let n_equal = rest.iter().take_while(|one| one.score == score).count();
        let (equal, others) = rest.split_at_mut(n_equal);
        if n_equal > 1 {
            equal.sort_by_cached_key(|one| snapshot.content(one.address));
            for same in equal.chunk_by_mut(|a, b| snapshot.content(a.address) == snapshot.content(b.address)) {
                order_by_key(snapshot, same)?;
            }
        }
        start += n_equal;
        rest = others;
    }
    Ok(())
}

/// Keys are slow to read: each one is unpacked from a dictionary.
fn order_by_key(snapshot: &Snapshot, same: &mut [Found]) -> Result<(), SearchError> {
    if same.len() < 2 {
        return Ok(());
    }
    let mut keyed = Vec::with_capacity(same.len());
    for one in same.iter() {
        keyed.push((snapshot.key(one.address)?, *one));
    }
    keyed.sort_by(|(a, _), (b, _)| a.cmp(b));
    same.iter_mut().zip(keyed).for_each(|(place, (_, one))| *place = one);
    Ok(())
}

fn search_words(
    snapshot: &Snapshot,
    terms: &[(&Clause, &Term)],
    filter: Option<&dyn Query>,
    n_max: usize,
) -> Result<Vec<Found>, SearchError> {
    let mut wanted: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    for (clause, term) in terms {
        let query = TermQuery::new((*term).clone(), IndexRecordOption::WithFreqs);
        if clause.weight == 1.0 {
            wanted.push((Occur::Should, Box::new(query)));
        } else {
            wanted.push((Occur::Should, Box::new(BoostQuery::new(Box::new(query), clause.weight as f32))));
        }
    }
    let mut query: Box<dyn Query> = Box::new(BooleanQuery::new(wanted));
    if let Some(filter) = filter {
        let filter: Box<dyn Query> = Box::new(BoostQuery::new(filter.box_clone(), 0.0));
        query = Box::new(BooleanQuery::new(vec![(Occur::Must, query), (Occur::Must, filter)]));
    }
    let searcher = snapshot.searcher();
    let scoring = tantivy::query::EnableScoring::enabled_from_statistics_provider(snapshot.statistics(), searcher);
    let collector = TopDocs::with_limit(n_max).order_by_score();
    let executor = tantivy::Executor::single_thread();
    let best = searcher.search_with_executor(&*query, &collector, &executor, scoring).map_err(failed("searching"))?;
    let candidates: Vec<DocAddress> = best.into_iter().map(|(_, address)| address).collect();
    rescore(snapshot, terms, &candidates)
}

/// How a word weighs, and how long its field is on the average.
struct Weight {
    idf: f64,
    average_length: f64,
}

impl Weight {
    fn new(snapshot: &Snapshot, field: Field, n_with: u64, weight: f64) -> Weight {
        let (n_all, n_with) = (snapshot.n_entries() as f64, n_with as f64);
        let idf = (1.0 + (n_all - n_with + 0.5) / (n_with + 0.5)).ln();
        Weight { idf: weight * idf, average_length: snapshot.average_length(field) }
    }

    fn score(&self, frequency: f64, length: u32) -> f64 {
        let norm = K1 * (1.0 - B + B * f64::from(length) / self.average_length);
        self.idf * frequency * (K1 + 1.0) / (frequency + norm)
    }
}

fn rescore(
    snapshot: &Snapshot,
    terms: &[(&Clause, &Term)],
    candidates: &[DocAddress],
) -> Result<Vec<Found>, SearchError> {
    let mut by_segment: BTreeMap<u32, Vec<DocId>> = BTreeMap::new();
    for address in candidates {
        by_segment.entry(address.segment_ord).or_default().push(address.doc_id);
    }
    let mut scores: BTreeMap<DocAddress, f64> = candidates.iter().map(|address| (*address, 0.0)).collect();
    by_segment.values_mut().for_each(|docs| docs.sort_unstable());
    for (clause, term) in terms {
        let n_with = snapshot.statistics().doc_freq(term).map_err(failed("counting a word"))?;
        let weight = Weight::new(snapshot, clause.field, n_with, clause.weight);
        for (segment_ord, docs) in &by_segment {
            let reader = snapshot.searcher().segment_reader(*segment_ord);
            let lengths = reader.get_fieldnorms_reader(clause.field).map_err(failed("reading lengths"))?;
            let index = reader.inverted_index(clause.field).map_err(failed("reading words"))?;
            let postings = index.read_postings(term, IndexRecordOption::WithFreqs);
            let Some(mut postings) = postings.map_err(|error| failed("reading a word")(error.into()))? else {
                continue;
            };
            for doc in docs {
                let here = if postings.doc() < *doc { postings.seek(*doc) } else { postings.doc() };
                if here == *doc {
                    let score = weight.score(f64::from(postings.term_freq()), lengths.fieldnorm(*doc));
                    let address = DocAddress { segment_ord: *segment_ord, doc_id: *doc };
                    scores.entry(address).and_modify(|sum| *sum += score);
                }
            }
        }
    }
    Ok(scores.into_iter().map(|(address, score)| Found { address, score }).collect())
}

fn search_sets(snapshot: &Snapshot, clauses: &[Clause], allowed: Option<&Allowed>) -> Result<Vec<Found>, SearchError> {
    let mut scores: HashMap<DocAddress, f64> = HashMap::new();
    for clause in clauses {
        let frequencies = set_frequencies(snapshot, clause)?;
        let weight = Weight::new(snapshot, clause.field, frequencies.len() as u64, clause.weight);
        for (address, frequency) in frequencies {
            if allowed.is_some_and(|allowed| !allowed.has(address)) {
                continue;
            }
            let reader = snapshot.searcher().segment_reader(address.segment_ord);
            let lengths = reader.get_fieldnorms_reader(clause.field).map_err(failed("reading lengths"))?;
            *scores.entry(address).or_default() +=
                weight.score(f64::from(frequency), lengths.fieldnorm(address.doc_id));
        }
    }
    Ok(scores.into_iter().map(|(address, score)| Found { address, score }).collect())
}

/// How often the set occurs in each entry: an alternative of several words as often as its rarest word.
fn set_frequencies(snapshot: &Snapshot, clause: &Clause) -> Result<BTreeMap<DocAddress, u32>, SearchError> {
    let mut sums = BTreeMap::new();
    for (segment_ord, reader) in (0u32..).zip(snapshot.searcher().segment_readers()) {
        for alternative in &clause.alternatives {
            let mut words = alternative.iter();
            let Some(first) = words.next() else { continue };
            let mut together = term_frequencies(reader, first)?;
            for word in words {
                let other = term_frequencies(reader, word)?;
                together.retain(|doc, frequency| match other.get(doc) {
                    Some(rarer) => {
                        *frequency = (*frequency).min(*rarer);
                        true
                    }
                    None => false,
                });
            }
            for (doc_id, frequency) in together {
                *sums.entry(DocAddress { segment_ord, doc_id }).or_default() += frequency;
            }
        }
    }
    Ok(sums)
}

fn term_frequencies(reader: &SegmentReader, term: &Term) -> Result<BTreeMap<DocId, u32>, SearchError> {
    let mut frequencies = BTreeMap::new();
    let index = reader.inverted_index(term.field()).map_err(failed("reading words"))?;
    let postings = index.read_postings(term, IndexRecordOption::WithFreqs);
    let Some(mut postings) = postings.map_err(|error| failed("reading a word")(error.into()))? else {
        return Ok(frequencies);
    };
    let mut doc = postings.doc();
    while doc != TERMINATED {
        if !reader.is_deleted(doc) {
            frequencies.insert(doc, postings.term_freq());
        }
        doc = postings.advance();
    }
    Ok(frequencies)
}
