//! `bench search`: how fast search is over generated documents.
//!
//! Words follow Zipf's law; vectors are drawn from the same seed, since embedding a million texts would take days. The
//! reference for words is tantivy itself with the same terms, the same number of candidates and the same index; both sides
//! answer each question in turn, so that they find the same pages in memory.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use contract::model::ModelCard;
use evidence::sealing::{Sealing, Subject};
use evidence::search::entry::{Entry, EntryRecord};
use evidence::search::filter::Filter;
use evidence::search::gazetteer::Gazetteer;
use evidence::search::hybrid::{Library, Mode};
use evidence::search::index::{Change, State, TextIndex, WHAT};
use evidence::search::lexicon::Lexicon;
use evidence::search::vectors::{Packed, Vectors};
use serde_json::json;
use tantivy::Term;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;

use crate::Verdict;
use crate::figures::{Latencies, print, rounded};

const WORDS: usize = 50_000;
const WORDS_PER_DOCUMENT: usize = 80;
const DIMENSIONS: usize = 384;
/// As many as a list of the fusion has.
const CANDIDATES: usize = 200;
const HITS: usize = 10;
const WORDS_RATIO_MIN: f64 = 0.8;
const BOTH_RATIO_MAX: f64 = 1.2;

#[derive(Debug, Clone, clap::Args)]
pub struct SearchPlan {
    /// Documents of each round
    #[arg(long, value_delimiter = ',', default_values_t = [10_000, 100_000, 1_000_000])]
    pub documents: Vec<usize>,
    #[arg(long, default_value_t = 300)]
    pub questions: usize,
}

pub fn run(plan: &SearchPlan) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::Met;
    for n_documents in &plan.documents {
        if measure(*n_documents, plan.questions)? == Verdict::Missed {
            verdict = Verdict::Missed;
        }
    }
    Ok(verdict)
}

fn measure(n_documents: usize, n_questions: usize) -> anyhow::Result<Verdict> {
    let mut dice = Dice(42);
    let folder = tempfile::tempdir().context("could not make a folder")?;
    let library = build(n_documents, folder.path(), &mut dice)?;
    let card = ModelCard {
        name: "generated".to_owned(),
        sha256: String::new(),
        n_dimensions: DIMENSIONS,
        languages: vec!["en".to_owned()],
    };
    let [mut bare, mut words, mut vectors, mut both] = std::array::from_fn(|_| Latencies::default());
    // The first questions read the index into memory; they do not count.
    for question in 0..n_questions + n_questions / 10 {
        let text = (0..3).map(|_| dice.word()).collect::<Vec<_>>().join(" ");
        let vector = dice.vector();
        let reading = library.read(&text, Some(&card))?;
        let ask = |mode| library.search(&reading, Some(&vector), &Filter::default(), mode, HITS);
        let times = [
            timed(|| search_bare(&library, &text))?,
            timed(|| Ok(ask(Mode::Words)?.len()))?,
            timed(|| Ok(ask(Mode::Vectors)?.len()))?,
            timed(|| Ok(ask(Mode::Both)?.len()))?,
        ];
        if question >= n_questions / 10 {
            for (latencies, time) in [&mut bare, &mut words, &mut vectors, &mut both].into_iter().zip(times) {
                latencies.push(time);
            }
        }
    }
    let words_ratio = bare.percentile_ms(50) / words.percentile_ms(50);
    let parts_ms = words.percentile_ms(50) + vectors.percentile_ms(50);
    let both_ratio = both.percentile_ms(50) / parts_ms;
    let ok = words_ratio >= WORDS_RATIO_MIN && both_ratio <= BOTH_RATIO_MAX;
    for (mode, latencies) in
        [("tantivy", &mut bare), ("bm25", &mut words), ("vector", &mut vectors), ("hybrid", &mut both)]
    {
        print(&json!({
            "bench": "search", "n_documents": n_documents, "mode": mode,
            "p50_ms": rounded(latencies.percentile_ms(50)), "p99_ms": rounded(latencies.percentile_ms(99)),
        }))?;
    }
    print(&json!({
        "bench": "search", "n_documents": n_documents,
        "bm25_ratio": rounded(words_ratio), "hybrid_ratio": rounded(both_ratio),
        "target": { "bm25_ratio_min": WORDS_RATIO_MIN, "hybrid_ratio_max": BOTH_RATIO_MAX },
        "ok": ok,
    }))?;
    Ok(if ok { Verdict::Met } else { Verdict::Missed })
}

fn timed(work: impl FnOnce() -> anyhow::Result<usize>) -> anyhow::Result<std::time::Duration> {
    let started = Instant::now();
    std::hint::black_box(work()?);
    Ok(started.elapsed())
}

fn build(n_documents: usize, folder: &std::path::Path, dice: &mut Dice) -> anyhow::Result<Library> {
    let gazetteer = Arc::new(Gazetteer::default());
    let mut index = TextIndex::open(folder, &Sealing::new(&[[7; 32]]).of(WHAT, &Subject::default()))?;
    let mut vectors = Vectors::new(DIMENSIONS);
    let mut changes = Vec::new();
    for number in 0..n_documents {
        let text = (0..WORDS_PER_DOCUMENT).map(|_| dice.word()).collect::<Vec<_>>().join(" ");
        let entry = Entry {
            record: EntryRecord::Document,
            id: format!("D{number}"),
            kind: "paper".to_owned(),
            title: String::new(),
            text,
            lang: "en".to_owned(),
            source: "generated".to_owned(),
            year: Some(2000),
            categories: Vec::new(),
            names: Vec::new(),
            about: None,
            abstract_by: None,
            retraction: None,
            is_verified: false,
        };
        vectors.insert(entry.content_hash().short(), &[Packed::of(&dice.vector())]);
        changes.push(Change::Put(Box::new(entry)));
        if changes.len() == 1_000 || number + 1 == n_documents {
            index.apply(&changes, &gazetteer)?;
            changes.clear();
        }
    }
    index.commit(&State { version: 1, ..State::default() })?;
    Ok(Library::new(index.snapshot()?, Arc::new(vectors), gazetteer, Arc::new(Lexicon::default())))
}

fn search_bare(library: &Library, text: &str) -> anyhow::Result<usize> {
    let searcher = library.snapshot().searcher();
    let field = searcher.schema().get_field("body")?;
    let terms = text.split(' ').map(|word| -> (Occur, Box<dyn Query>) {
        let term = Term::from_field_text(field, word);
        (Occur::Should, Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)))
    });
    let query = BooleanQuery::new(terms.collect());
    Ok(searcher.search(&query, &TopDocs::with_limit(CANDIDATES).order_by_score())?.len())
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// 0…1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// The n-th word about n times as rare as the first. Digits keep stems from falling together.
    fn word(&mut self) -> String {
        let rank = (WORDS as f64).powf(self.share()) as usize;
        format!("w{rank}")
    }

    fn vector(&mut self) -> Vec<f32> {
        let numbers: Vec<f32> = (0..DIMENSIONS).map(|_| (self.share() - 0.5) as f32).collect();
        let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
        numbers.into_iter().map(|number| number / length).collect()
    }
}
