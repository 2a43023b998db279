//! One question, several ways to read it, one list of hits.
//!
//! Words (with the nodes that they name), their translations, and vectors each give a list; the lists are fused, the best
//! two hits correct the question's vector, and the lists are fused again. No weight here was set on a test set.

mod subjects;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use contract::character::is_invisible;
use contract::model::ModelCard;
use tantivy::query::Query;
use tantivy::{DocAddress, Term};

use super::entry::{Entry, EntryRecord, Standing, key};
use super::filter::Filter;
use super::fusion::{DEPTH, Stretched, highest};
use super::gazetteer::Gazetteer;
use super::index::{Allowed, SearchError, Snapshot};
use super::lexical::{self, Clause, Found, rank};
use super::lexicon::sound::SoundTable;
use super::lexicon::{Lexicon, Translation, is_english_stop_word};
use super::spelling::Spelt;
use super::vectors::{Links, Vectors};
use super::words::{gram_analyzer, has_thai, script_language, thai_parts, word_analyzer, words};
use crate::graph::names::APOSTROPHES;

/// The share of vectors in the first fusion.
const VECTORS: f64 = 0.45;
/// Their share once the best hits have corrected the question.
const VECTORS_AFTER_FEEDBACK: f64 = 0.5;
/// Their share where the model reads a gloss and not the question itself.
const VECTORS_OF_GLOSS: f64 = 0.4;
/// The best hits that correct the question, and how much of it stays.
const FEEDBACK_HITS: usize = 2;
const FEEDBACK_KEEPS: f32 = 0.6;
/// What three letters weigh beside whole words.
const GRAMS: f64 = 0.1;
/// What a named node weighs beside its words, which count as well.
const ENTITIES: f64 = 1.0;
/// Categories of nodes that stand for papers, ours and Biolink's.
const PAPER_CATEGORIES: [&str; 4] = ["paper", "publication", "article", "journal_article"];
/// Words of a question that count; a whole document is no question.
const WORDS_MAX: usize = 256;

/// Everything that a search reads. Nothing in it changes; another state is another one.
#[derive(Clone)]
pub struct Library {
    snapshot: Snapshot,
    vectors: Arc<Vectors>,
    links: Arc<Links>,
    gazetteer: Arc<Gazetteer>,
    lexicon: Arc<Lexicon>,
    sounds: Arc<OnceLock<SoundTable>>,
}

/// Which lists count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Words,
    Vectors,
    Both,
}

/// A question as it was understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    native: Vec<Clause>,
    translated: Vec<Clause>,
    /// What the model is to embed; `None` where it would not understand it.
    pub passage: Option<String>,
    is_gloss: bool,
    entities: BTreeSet<String>,
    /// The nodes that the whole question is a name of.
    subjects: BTreeSet<String>,
    /// Keys of the entries that the whole question is an id of.
    asked: BTreeSet<String>,
    /// As its letters say.
    lang: &'static str,
    /// Terms that a snippet shows.
    pub terms: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub address: DocAddress,
    /// 0…1, rounded.
    pub score: f64,
    pub reason: Reason,
}

/// What each list says of a hit, 0…1; `None` where it is not in the list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reason {
    pub bm25: Option<f64>,
    pub vector: Option<f64>,
    /// Nodes that both the question and the hit name.
    pub entities: Vec<String>,
    /// The question is an id of it.
    pub is_asked: bool,
}

impl Reading {
    /// The question is an id of these documents or nodes too, as the record knows.
    pub fn ask_for(&mut self, record: EntryRecord, ids: impl IntoIterator<Item = String>) {
        // Who asks by a name that is also the id of the thing wants what is about it.
        let is_subject = |id: &String| record == EntryRecord::Node && self.subjects.contains(id);
        let ids = ids.into_iter().filter(|id| !is_subject(id));
        self.asked.extend(ids.map(|id| key(record, &id)));
    }
}

impl Library {
    pub fn new(snapshot: Snapshot, vectors: Arc<Vectors>, gazetteer: Arc<Gazetteer>, lexicon: Arc<Lexicon>) -> Library {
        let links = Arc::new(vectors.link(&snapshot));
        Library { snapshot, vectors, links, gazetteer, lexicon, sounds: Arc::default() }
    }

    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    pub fn n_with_vectors(&self) -> usize {
        self.links.n_entries()
    }

    /// Entries in a language of the model that have no vector yet.
    pub fn without_vectors(&self, model: &ModelCard, n_max: usize) -> Result<Vec<Entry>, SearchError> {
        let mut entries = Vec::new();
        for address in self.lacking(model).take(n_max) {
            entries.push(self.snapshot.entry(address)?);
        }
        Ok(entries)
    }

    pub fn n_without_vectors(&self, model: &ModelCard) -> usize {
        self.lacking(model).count()
    }

    fn lacking(&self, model: &ModelCard) -> impl Iterator<Item = DocAddress> {
        let langs = self.snapshot.langs();
        let entries = self.snapshot.contents().into_iter();
        let lacking = entries.filter(|(_, content)| !self.vectors.has(*content)).map(|(address, _)| address);
        lacking.filter(move |address| langs.of(*address).is_some_and(|lang| model.speaks(lang)))
    }

    pub fn read(&self, question: &str, model: Option<&ModelCard>) -> Result<Reading, SearchError> {
        let question = question.replace(APOSTROPHES, "'").replace(is_invisible, "");
        let question: &str = &Spelt::new(&question).text;
        let fields = *self.snapshot.fields();
        let mut native = Vec::new();
        let own: BTreeSet<String> =
            words(&mut word_analyzer(), question).into_iter().take(WORDS_MAX).map(|word| word.term).collect();
        native.extend(own.iter().map(|word| Clause::word(fields.body, word, 1.0)));
        if has_thai(question) {
            let grams = words(&mut gram_analyzer(), &thai_parts(question));
            let grams: BTreeSet<String> = grams.into_iter().take(WORDS_MAX).map(|gram| gram.term).collect();
            native.extend(grams.iter().map(|gram| Clause::word(fields.grams, gram, GRAMS)));
        }
        let entities: BTreeSet<String> = self.gazetteer.find(question).into_iter().map(str::to_owned).collect();
        native.extend(entities.iter().map(|id| Clause::word(fields.entities, id, ENTITIES)));
        let subjects = self.gazetteer.named(question.trim());
        // A name of the graph is known in every language; a dictionary would only guess at it.
        let translation = if subjects.is_empty() {
            self.translate(&self.gazetteer.without_names(question))?
        } else {
            Translation::default()
        };
        let translated = self.translated_clauses(question, &translation, &entities);
        let lang = script_language(question);
        let (passage, is_gloss) = match model {
            Some(card) if card.speaks(lang) => (Some(question.to_owned()), false),
            Some(card) if card.speaks("en") && !translation.gloss.is_empty() => (Some(translation.gloss.clone()), true),
            _ => (None, false),
        };
        // A snippet full of marked `of` and `the` shows nothing.
        let says_something = |word: &String| !is_english_stop_word(word) && !self.lexicon.is_stop_word(word);
        let telling: BTreeSet<String> = own.iter().filter(|word| says_something(word)).cloned().collect();
        let mut terms = if telling.is_empty() { own } else { telling };
        for phrase in translation.sets.iter().flatten() {
            terms.extend(words(&mut word_analyzer(), phrase).into_iter().map(|word| word.term));
        }
        let asked = BTreeSet::new();
        let mut reading = Reading { native, translated, passage, is_gloss, entities, subjects, asked, lang, terms };
        for record in [EntryRecord::Document, EntryRecord::Node] {
            reading.ask_for(record, [question.trim().to_owned()]);
        }
        Ok(reading)
    }

    fn translate(&self, question: &str) -> Result<Translation, SearchError> {
        if has_thai(question) {
            // Without a dictionary every word is unknown, and would be taken for a name by its sound.
            if self.lexicon.is_empty() || !self.snapshot.holds("en") {
                return Ok(Translation::default());
            }
            let sounds = match self.sounds.get() {
                Some(sounds) => sounds,
                None => {
                    let table = SoundTable::new(self.snapshot.terms(self.snapshot.fields().names)?);
                    self.sounds.get_or_init(|| table)
                }
            };
            return Ok(self.lexicon.to_english(question, sounds));
        }
        Ok(if self.snapshot.holds("th") { self.lexicon.to_thai(question) } else { Translation::default() })
    }

    /// The question in the other language: a set for each unit, and the words and nodes that need no translation.
    fn translated_clauses(
        &self,
        question: &str,
        translation: &Translation,
        entities: &BTreeSet<String>,
    ) -> Vec<Clause> {
        if translation.sets.is_empty() {
            return Vec::new();
        }
        let fields = *self.snapshot.fields();
        let mut analyzer = word_analyzer();
        let mut clauses = Vec::new();
        for set in &translation.sets {
            let alternatives: Vec<Vec<Term>> = set
                .iter()
                .map(|phrase| {
                    let content = phrase.split_whitespace().filter(|word| !is_english_stop_word(word));
                    let content: Vec<&str> = content.collect();
                    let found = words(&mut analyzer, &content.join(" "));
                    found.into_iter().map(|word| Term::from_field_text(fields.body, &word.term)).collect()
                })
                .filter(|terms: &Vec<Term>| !terms.is_empty())
                .collect();
            if !alternatives.is_empty() {
                clauses.push(Clause { field: fields.body, alternatives, weight: 1.0 });
            }
        }
        if has_thai(question) {
            let latin: String =
                question.chars().map(|letter| if super::words::is_thai(letter) { ' ' } else { letter }).collect();
            let latin: BTreeSet<String> = words(&mut analyzer, &latin).into_iter().map(|word| word.term).collect();
            clauses.extend(latin.iter().map(|word| Clause::word(fields.body, word, 1.0)));
        }
        clauses.extend(entities.iter().map(|id| Clause::word(fields.entities, id, ENTITIES)));
        clauses
    }

    /// `vector` is that of [`Reading::passage`], where there is a model.
    pub fn search(
        &self,
        reading: &Reading,
        vector: Option<&[f32]>,
        filter: &Filter,
        mode: Mode,
        n_hits: usize,
    ) -> Result<Vec<Hit>, SearchError> {
        let condition = filter.condition(&self.snapshot);
        let allowed = match &condition {
            Some(condition) => Some(self.snapshot.matching(&**condition)?),
            None => None,
        };
        let narrowed = condition.as_deref().zip(allowed.as_ref());
        let lexical = match mode {
            Mode::Words | Mode::Both => self.lexical(reading, narrowed)?,
            Mode::Vectors => Stretched::default(),
        };
        // Of the question as it was asked, before what it found corrects it.
        let mut nearest = 0f64;
        let mut near = |vector: &[f32]| {
            let compared = self.vectors.compare(&self.links, vector, allowed.as_ref());
            let found = compared.best(DEPTH);
            nearest = highest(&found).min(1.0);
            (Stretched::vectors(found), compared)
        };
        let vector = vector.filter(|_| mode != Mode::Words && self.links.n_entries() > 0);
        let (mut fused, vectors) = match (vector, mode) {
            (None, _) => (lexical.clone().into_found(), None),
            (Some(vector), Mode::Vectors) => {
                let (vectors, _) = near(vector);
                (vectors.clone().into_found(), Some(vectors))
            }
            (Some(vector), _) => {
                let (first, compared) = near(vector);
                // A gloss is too coarse to be corrected by what it found.
                let corrected =
                    if reading.is_gloss { None } else { self.corrected(vector, self.fuse(&lexical, &first, VECTORS))? };
                match corrected {
                    Some(corrected) => {
                        let second = Stretched::vectors(compared.again(&corrected).best(DEPTH));
                        (self.fuse(&lexical, &second, VECTORS_AFTER_FEEDBACK), Some(second))
                    }
                    None => {
                        let weight = if reading.is_gloss { VECTORS_OF_GLOSS } else { VECTORS };
                        (self.fuse(&lexical, &first, weight), Some(first))
                    }
                }
            }
        };
        if mode != Mode::Vectors {
            self.prefer_subjects(reading, allowed.as_ref(), &mut fused)?;
            self.keep_named(reading, allowed.as_ref(), &mut fused)?;
            let known = self.known_share(reading)?.max(nearest);
            fused.iter_mut().for_each(|one| one.score *= known);
        }
        let asked = self.put_first(reading, allowed.as_ref(), &mut fused)?;
        let mut hits = self.hits(reading, fused, &lexical, vectors.as_ref(), n_hits)?;
        hits.iter_mut().for_each(|hit| hit.reason.is_asked = asked.contains(&hit.address));
        Ok(hits)
    }

    /// How much of a question the record knows, 0…1: every list is stretched until its best is 1, whatever little of the
    /// question it is about. Letters that merely look like a word count as they do beside words, and so do single ones of
    /// Thai, which is what nonsense is cut into.
    fn known_share(&self, reading: &Reading) -> Result<f64, SearchError> {
        let is_word = |term: &String| term.chars().count() > 1 || !has_thai(term);
        let is_translated = !reading.translated.is_empty() && reading.terms.iter().any(is_word);
        if !reading.entities.is_empty() || is_translated || reading.terms.is_empty() {
            return Ok(1.0);
        }
        let mut n_known = 0;
        for term in reading.terms.iter().filter(|term| is_word(term)) {
            n_known += u32::from(self.snapshot.knows(term)?);
        }
        Ok((f64::from(n_known) / reading.terms.len() as f64).max(GRAMS))
    }

    /// The question's own words and their translations: an entry is worth the better of both. A translation that finds less
    /// than the words themselves counts for as much less.
    fn lexical(&self, reading: &Reading, narrowed: Option<(&dyn Query, &Allowed)>) -> Result<Stretched, SearchError> {
        let native = lexical::search(&self.snapshot, &reading.native, narrowed, DEPTH)?;
        if reading.translated.is_empty() {
            return Ok(Stretched::words(native));
        }
        let translated = lexical::search(&self.snapshot, &reading.translated, narrowed, DEPTH)?;
        let share = (highest(&translated) / highest(&native).max(f64::MIN_POSITIVE)).min(1.0);
        let translated = Stretched::words(translated);
        Ok(Stretched::words(native).merge(&translated, |_, native, translated| native.max(share * translated)))
    }

    /// An entry that can have no vector is not punished for having none.
    fn fuse(&self, lexical: &Stretched, vectors: &Stretched, weight: f64) -> Vec<Found> {
        let fused = lexical.merge(vectors, |address, words, vector| {
            // What is near has a vector, without a look.
            if vector > 0.0 || self.links.has(address) { (1.0 - weight) * words + weight * vector } else { words }
        });
        fused.into_found()
    }

    /// The question's vector, moved towards the best hits.
    fn corrected(&self, vector: &[f32], mut best: Vec<Found>) -> Result<Option<Vec<f32>>, SearchError> {
        best.iter_mut().for_each(|one| one.score = rounded(one.score));
        let best = rank(&self.snapshot, best, FEEDBACK_HITS)?;
        let mean = self.vectors.mean(&self.links, best.iter().map(|found| found.address));
        if mean.is_empty() {
            return Ok(None);
        }
        let corrected = vector.iter().zip(mean).map(|(own, mean)| FEEDBACK_KEEPS * own + (1.0 - FEEDBACK_KEEPS) * mean);
        Ok(Some(corrected.collect()))
    }

    fn hits(
        &self,
        reading: &Reading,
        mut best: Vec<Found>,
        lexical: &Stretched,
        vectors: Option<&Stretched>,
        n_hits: usize,
    ) -> Result<Vec<Hit>, SearchError> {
        best.retain_mut(|one| {
            one.score = rounded(one.score.clamp(0.0, 1.0));
            one.score > 0.0
        });
        let best = rank(&self.snapshot, best, n_hits)?;
        let hit = |Found { address, score }| {
            let bm25 = lexical.get(address).map(rounded);
            let vector = vectors.and_then(|vectors| vectors.get(address)).map(rounded);
            Hit { address, score, reason: Reason { bm25, vector, ..Reason::default() } }
        };
        let mut hits: Vec<Hit> = best.into_iter().map(hit).collect();
        if !reading.entities.is_empty() {
            for hit in &mut hits {
                let named: BTreeSet<&str> =
                    self.gazetteer.find(&self.snapshot.entry(hit.address)?.passage()).into_iter().collect();
                let shared = reading.entities.iter().filter(|id| named.contains(id.as_str()));
                hit.reason.entities = shared.cloned().collect();
            }
        }
        Ok(hits)
    }

    pub fn entry(&self, hit: &Hit) -> Result<Entry, SearchError> {
        self.snapshot.entry(hit.address)
    }

    /// The key of a hit's entry, without reading the entry itself.
    pub fn key(&self, hit: &Hit) -> Result<String, SearchError> {
        self.snapshot.key(hit.address)
    }

    /// Whether a paper was withdrawn; `None` where the entry is no paper. A node that stands for a paper is as its document is.
    pub fn standing(&self, entry: &Entry) -> Result<Option<Standing>, SearchError> {
        if entry.record == EntryRecord::Document {
            return Ok(Some(entry.standing()));
        }
        if let Some(address) = self.snapshot.find(&key(EntryRecord::Document, &entry.id))? {
            return Ok(Some(self.snapshot.entry(address)?.standing()));
        }
        let is_paper = entry.categories.iter().any(|category| PAPER_CATEGORIES.contains(&category.as_str()));
        Ok(is_paper.then(Standing::default))
    }
}

/// To a millionth, so that the last bits of a sum do not decide an order.
fn rounded(score: f64) -> f64 {
    (score * 1e6).round() / 1e6
}
