//! BM25 over the text index, for single words and for sets of synonyms.
//!
//! Where the words are in many entries, tantivy finds the candidates, and their scores are then summed anew in the order of the
//! query and in double precision: its own sums depend on where segments begin. Where they are in few, all are summed at once.

mod sums;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use tantivy::collector::TopDocs;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::Postings as _;
use tantivy::query::{BooleanQuery, BoostQuery, EnableScoring, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocId, DocSet, Executor, SegmentReader, TERMINATED, Term};

use super::index::{Allowed, Counted, Counts, SearchError, Snapshot, failed};

const K1: f64 = 1.2;
const B: f64 = 0.75;
/// Candidates beyond those that are wanted: tantivy sums in single precision and in another order for each segment, so those
/// about the last place may come in any order.
const CANDIDATES_MORE: usize = 16;
/// Up to so many occurrences of all words together are simply summed.
const SUMMED_MAX: u64 = 100_000;

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

/// The best `n_max` entries, in the order of the index. Which of several equal ones have the last places is chance.
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
    match singles {
        Some(terms) => search_words(snapshot, &terms, filter, n_max, SUMMED_MAX),
        None => Ok(best(search_sets(snapshot, clauses, filter.map(|(_, allowed)| allowed))?, n_max)),
    }
}

/// The `n_max` entries of the highest scores, in the order of the index.
fn best(mut found: Vec<Found>, n_max: usize) -> Vec<Found> {
    if found.len() > n_max {
        found.select_nth_unstable_by(n_max, |a, b| by_score(a, b).then(a.address.cmp(&b.address)));
        found.truncate(n_max);
    }
    found.sort_unstable_by_key(|one| one.address);
    found
}

/// The highest first.
fn by_score(a: &Found, b: &Found) -> Ordering {
    b.score.total_cmp(&a.score)
}

/// The best `n_max` entries, the best first: by score, those of equal score by the hash of their content, and those of equal
/// content by key: an order that does not depend on where an entry stands in the index.
pub(super) fn rank(snapshot: &Snapshot, mut found: Vec<Found>, n_max: usize) -> Result<Vec<Found>, SearchError> {
    if let Some(last) = n_max.checked_sub(1).filter(|last| *last < found.len()) {
        let (_, Found { score: least, .. }, _) = found.select_nth_unstable_by(last, by_score);
        let least = *least;
        found.retain(|one| one.score >= least);
    }
    let content = |one: &Found| snapshot.content(one.address);
    found.sort_unstable_by(|a, b| by_score(a, b).then_with(|| content(a).cmp(&content(b))));
    let mut n_ranked = 0;
    for same in found.chunk_by_mut(|a, b| a.score == b.score && content(a) == content(b)) {
        if n_ranked >= n_max {
            break;
        }
        n_ranked += same.len();
        order_by_key(snapshot, same)?;
    }
    found.truncate(n_max);
    Ok(found)
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
    filter: Option<(&dyn Query, &Allowed)>,
    n_max: usize,
    n_summed_max: u64,
) -> Result<Vec<Found>, SearchError> {
    let mut counts = Counts::new(snapshot);
    for (_, term) in terms {
        counts.add(term)?;
    }
    let fields: BTreeSet<Field> = terms.iter().map(|(clause, _)| clause.field).collect();
    let norms: BTreeMap<Field, Norms> = fields.into_iter().map(|field| (field, Norms::new(snapshot, field))).collect();
    let words = terms.iter().filter_map(|(clause, term)| {
        let counted = counts.find(term)?;
        let weight = Weight::new(snapshot, counted.n_entries, clause.weight);
        Some(SoughtWord { field: clause.field, counted, weight, norms: norms.get(&clause.field)? })
    });
    let words: Vec<SoughtWord<'_>> = words.collect();
    if words.iter().map(|word| word.counted.n_entries).sum::<u64>() <= n_summed_max {
        return sums::search(snapshot, &words, filter.map(|(_, allowed)| allowed), n_max);
    }
    let mut found = candidates(snapshot, &counts, terms, filter.map(|(query, _)| query), n_max)?;
    found.sort_unstable_by_key(|one| one.address);
    for same in found.chunk_by_mut(|a, b| a.address.segment_ord == b.address.segment_ord) {
        rescore(snapshot, &words, same)?;
    }
    Ok(best(found, n_max))
}

/// Entries that may be among the best, without their scores.
fn candidates(
    snapshot: &Snapshot,
    counts: &Counts<'_>,
    terms: &[(&Clause, &Term)],
    filter: Option<&dyn Query>,
    n_max: usize,
) -> Result<Vec<Found>, SearchError> {
    let wanted = terms.iter().map(|(clause, term)| -> (Occur, Box<dyn Query>) {
        let query = TermQuery::new((*term).clone(), IndexRecordOption::WithFreqs);
        if clause.weight == 1.0 {
            (Occur::Should, Box::new(query))
        } else {
            (Occur::Should, Box::new(BoostQuery::new(Box::new(query), clause.weight as f32)))
        }
    });
    let mut query: Box<dyn Query> = Box::new(BooleanQuery::new(wanted.collect()));
    if let Some(filter) = filter {
        let filter: Box<dyn Query> = Box::new(BoostQuery::new(filter.box_clone(), 0.0));
        query = Box::new(BooleanQuery::new(vec![(Occur::Must, query), (Occur::Must, filter)]));
    }
    let searcher = snapshot.searcher();
    let scoring = EnableScoring::enabled_from_statistics_provider(counts, searcher);
    let collector = TopDocs::with_limit(n_max.saturating_add(CANDIDATES_MORE)).order_by_score();
    let found = searcher.search_with_executor(&*query, &collector, &Executor::single_thread(), scoring);
    let found = found.map_err(failed("searching"))?;
    Ok(found.into_iter().map(|(_, address)| Found { address, score: 0.0 }).collect())
}

/// A word that was looked up, and what it is worth.
struct SoughtWord<'a> {
    field: Field,
    counted: &'a Counted,
    weight: Weight,
    norms: &'a Norms,
}

/// How a word weighs.
struct Weight(f64);

impl Weight {
    fn new(snapshot: &Snapshot, n_with: u64, weight: f64) -> Weight {
        let (n_all, n_with) = (snapshot.n_entries() as f64, n_with as f64);
        let idf = (1.0 + (n_all - n_with + 0.5) / (n_with + 0.5)).ln();
        Weight(weight * idf)
    }

    #[inline]
    fn score(&self, frequency: f64, norm: f64) -> f64 {
        let Weight(idf) = self;
        idf * frequency * (K1 + 1.0) / (frequency + norm)
    }
}

/// What the length of an entry does to the frequency of a word, for each length that the index tells apart.
struct Norms([f64; 256]);

impl Norms {
    fn new(snapshot: &Snapshot, field: Field) -> Norms {
        let average_length = snapshot.average_length(field);
        let mut norms = [0.0; 256];
        for (id, norm) in (0..=u8::MAX).zip(&mut norms) {
            let length = f64::from(FieldNormReader::id_to_fieldnorm(id));
            *norm = K1 * (1.0 - B + B * length / average_length);
        }
        Norms(norms)
    }

    #[inline]
    fn of(&self, id: u8) -> f64 {
        let Norms(norms) = self;
        norms.get(usize::from(id)).copied().unwrap_or(K1)
    }
}

/// The scores of entries of one segment, word after word in the order of the question.
fn rescore(snapshot: &Snapshot, words: &[SoughtWord<'_>], found: &mut [Found]) -> Result<(), SearchError> {
    let Some(segment_ord) = found.first().map(|one| one.address.segment_ord) else { return Ok(()) };
    let reader = snapshot.searcher().segment_reader(segment_ord);
    for of_field in words.chunk_by(|a, b| a.field == b.field) {
        let Some(field) = of_field.first().map(|word| word.field) else { continue };
        let lengths = reader.get_fieldnorms_reader(field).map_err(failed("reading lengths"))?;
        let index = reader.inverted_index(field).map_err(failed("reading words"))?;
        for SoughtWord { counted, weight, norms, .. } in of_field {
            let Some(place) = counted.place(segment_ord) else { continue };
            let postings = index.read_postings_from_terminfo(place, IndexRecordOption::WithFreqs);
            let mut postings = postings.map_err(|error| failed("reading a word")(error.into()))?;
            for one in found.iter_mut() {
                let doc = one.address.doc_id;
                let here = if postings.doc() < doc { postings.seek(doc) } else { postings.doc() };
                if here == doc {
                    one.score += weight.score(f64::from(postings.term_freq()), norms.of(lengths.fieldnorm_id(doc)));
                }
            }
        }
    }
    Ok(())
}

fn search_sets(snapshot: &Snapshot, clauses: &[Clause], allowed: Option<&Allowed>) -> Result<Vec<Found>, SearchError> {
    let readers = snapshot.searcher().segment_readers();
    let mut scores: Vec<Vec<f64>> = readers.iter().map(|reader| vec![0.0; reader.max_doc() as usize]).collect();
    for clause in clauses {
        let segments = readers.iter().map(|reader| set_frequencies(reader, clause));
        let segments: Vec<Frequencies> = segments.collect::<Result<_, _>>()?;
        let n_with = segments.iter().map(|segment| segment.len() as u64).sum();
        let (weight, norms) = (Weight::new(snapshot, n_with, clause.weight), Norms::new(snapshot, clause.field));
        for ((reader, frequencies), scores) in readers.iter().zip(&segments).zip(&mut scores) {
            let lengths = reader.get_fieldnorms_reader(clause.field).map_err(failed("reading lengths"))?;
            for (doc, frequency) in frequencies {
                if let Some(sum) = scores.get_mut(*doc as usize) {
                    *sum += weight.score(f64::from(*frequency), norms.of(lengths.fieldnorm_id(*doc)));
                }
            }
        }
    }
    let mut found = Vec::new();
    for (segment_ord, scores) in (0u32..).zip(&scores) {
        let scored = (0u32..).zip(scores).filter(|(_, score)| **score > 0.0);
        let scored = scored.map(|(doc_id, score)| Found { address: DocAddress { segment_ord, doc_id }, score: *score });
        found.extend(scored.filter(|one| allowed.is_none_or(|allowed| allowed.has(one.address))));
    }
    Ok(found)
}

/// How often something occurs in the entries of a segment that hold it, in their order.
type Frequencies = Vec<(DocId, u32)>;

/// How often the set occurs in each entry: an alternative of several words as often as its rarest word.
fn set_frequencies(reader: &SegmentReader, clause: &Clause) -> Result<Frequencies, SearchError> {
    let mut sums = Frequencies::new();
    for alternative in &clause.alternatives {
        let mut words = alternative.iter();
        let Some(first) = words.next() else { continue };
        let mut together = term_frequencies(reader, first)?;
        for word in words {
            together = in_both(&together, &term_frequencies(reader, word)?);
        }
        sums = if sums.is_empty() { together } else { in_either(&sums, &together) };
    }
    Ok(sums)
}

fn in_both(a: &[(DocId, u32)], b: &[(DocId, u32)]) -> Frequencies {
    let mut rest = b.iter().peekable();
    let rarer = a.iter().filter_map(|(doc, frequency)| {
        while rest.next_if(|(other, _)| other < doc).is_some() {}
        rest.next_if(|(other, _)| other == doc).map(|(_, other)| (*doc, *frequency.min(other)))
    });
    rarer.collect()
}

fn in_either(a: &[(DocId, u32)], b: &[(DocId, u32)]) -> Frequencies {
    let mut sums = Frequencies::with_capacity(a.len() + b.len());
    let mut rest = b.iter().copied().peekable();
    for (doc, frequency) in a {
        while let Some(before) = rest.next_if(|(other, _)| other < doc) {
            sums.push(before);
        }
        let other = rest.next_if(|(other, _)| other == doc).map_or(0, |(_, other)| other);
        sums.push((*doc, frequency + other));
    }
    sums.extend(rest);
    sums
}

fn term_frequencies(reader: &SegmentReader, term: &Term) -> Result<Frequencies, SearchError> {
    let mut frequencies = Frequencies::new();
    let index = reader.inverted_index(term.field()).map_err(failed("reading words"))?;
    let postings = index.read_postings(term, IndexRecordOption::WithFreqs);
    let Some(mut postings) = postings.map_err(|error| failed("reading a word")(error.into()))? else {
        return Ok(frequencies);
    };
    let mut doc = postings.doc();
    while doc != TERMINATED {
        if !reader.is_deleted(doc) {
            frequencies.push((doc, postings.term_freq()));
        }
        doc = postings.advance();
    }
    Ok(frequencies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::entry::Entry;
    use crate::search::gazetteer::Gazetteer;
    use crate::search::index::{Change, State, TextIndex};

    #[test]
    fn frequencies_of_a_set_are_the_rarest_of_a_phrase_and_the_sum_of_alternatives() {
        let (a, b) = ([(1, 2), (3, 1), (7, 4)], [(0, 5), (3, 9), (7, 1), (8, 1)]);
        assert_eq!(in_both(&a, &b), [(3, 1), (7, 1)]);
        assert_eq!(in_either(&a, &b), [(0, 5), (1, 2), (3, 10), (7, 5), (8, 1)]);
        assert_eq!(in_both(&a, &[]), []);
        assert_eq!(in_either(&[], &b), b);
    }

    fn entry(number: usize, text: &str) -> Entry {
        let entry = serde_json::json!({
            "record": "document", "id": format!("D{number}"), "kind": "paper", "title": "", "text": text, "lang": "en",
            "source": "s", "year": null, "categories": [], "names": [], "retraction": null,
        });
        serde_json::from_value(entry).unwrap()
    }

    /// Entries of a few words each, in several segments, some of them deleted again.
    fn some_entries() -> Snapshot {
        let gazetteer = Gazetteer::default();
        let mut index = TextIndex::in_memory().unwrap();
        for part in 0..4 {
            let put = (part * 700..(part + 1) * 700).map(|number: usize| {
                let word = |of: usize| ["ginger", "warfarin", "bleeding", "turmeric", "rare"][(number * of) % 11 % 5];
                let text = (1..3 + number % 40).map(word).collect::<Vec<_>>().join(" ");
                Change::Put(Box::new(entry(number, &text)))
            });
            let deleted = (0..part * 700).step_by(9).map(|number| Change::Delete(entry(number, "").key()));
            index.apply(&put.chain(deleted).collect::<Vec<_>>(), &gazetteer).unwrap();
            index.commit(&State::default()).unwrap();
        }
        index.snapshot().unwrap()
    }

    #[test]
    fn sums_of_all_occurrences_are_the_scores_of_the_candidates() {
        let snapshot = some_entries();
        let body = snapshot.fields().body;
        let clauses =
            [("ginger", 1.0), ("rare", 0.1), ("bleed", 1.0)].map(|(word, weight)| Clause::word(body, word, weight));
        let terms: Vec<(&Clause, &Term)> = clauses.iter().map(|it| (it, it.single().unwrap())).collect();
        let held = TermQuery::new(Term::from_field_text(body, "turmer"), IndexRecordOption::Basic);
        let allowed = snapshot.matching(&held).unwrap();
        for filter in [None, Some((&held as &dyn Query, &allowed))] {
            let search = |n_max, n_summed_max| search_words(&snapshot, &terms, filter, n_max, n_summed_max).unwrap();
            let all = search(10_000, u64::MAX);
            assert!(all.len() > 500, "{}", all.len());
            assert_eq!(all, search(10_000, 0));
            // Which of several equal ones have the last places is chance.
            let scores = |found: Vec<Found>| {
                let mut scores: Vec<f64> = found.into_iter().map(|one| one.score).collect();
                scores.sort_by(f64::total_cmp);
                scores
            };
            assert_eq!(scores(search(50, u64::MAX)), scores(best(all, 50)));
        }
    }

    #[test]
    fn the_best_are_kept_in_the_order_of_the_index() {
        let found = |doc_id, score| Found { address: DocAddress { segment_ord: 0, doc_id }, score };
        let all = vec![found(0, 1.0), found(1, 3.0), found(2, 0.5), found(3, 2.0)];
        assert_eq!(best(all.clone(), 2), [found(1, 3.0), found(3, 2.0)]);
        assert_eq!(best(all.clone(), 9), all);
    }
}
