//! `bench retrieval --set DIR`: how well search finds what people judged to be right, on a folder in the form of BEIR.
//!
//! Prints a line per mode: words alone, vectors alone, both. Vectors of a corpus are kept below `target`, by the hash of
//! the text and of the model, since making them takes minutes.

mod beir;
mod cache;
mod measures;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, bail};
use contract::model::{Embedder, Side};
use evidence::search::embeddings;
use evidence::search::entry::{ContentHash, Entry};
use evidence::search::filter::Filter;
use evidence::search::gazetteer::Gazetteer;
use evidence::search::hybrid::{Library, Mode};
use evidence::search::index::{Change, State, TextIndex};
use evidence::search::lexicon::files::PAIRS;
use evidence::search::lexicon::{self, Lexicon};
use evidence::search::vectors::Vectors;
use model::SentenceModel;
use model::shelf::Shelf;
use serde_json::json;
use server::lexica;

use crate::Verdict;
use crate::figures::{Latencies, print, rounded};
use beir::Set;
use measures::Measures;

const MODEL: &str = "all-minilm-l6-v2";
const HITS: usize = 100;
/// Entries between two commits, so that memory stays bounded.
const CHANGES: usize = 1_000;

#[derive(Debug, Clone, clap::Args)]
pub struct RetrievalPlan {
    /// A folder with `corpus.jsonl`, `queries.jsonl` (both may be `.gz`) and `qrels/*.tsv`
    #[arg(long)]
    pub set: PathBuf,
    /// Which judgements count: the file below `qrels` without `.tsv`; `test` where there is one, else the only one
    #[arg(long)]
    pub split: Option<String>,
    /// Folder of the sentence model [default: pulled into target/models]
    #[arg(long)]
    pub model: Option<PathBuf>,
    /// Folder of the Thai-English lexica [default: pulled into target/lexica]
    #[arg(long)]
    pub lexica: Option<PathBuf>,
}

pub async fn run(plan: RetrievalPlan) -> anyhow::Result<Verdict> {
    let set = Set::read(&plan.set, plan.split.as_deref())?;
    let model = load_model(&plan)?;
    let lexicon = load_lexicon(&plan).await?;
    let gazetteer = Arc::new(Gazetteer::default());
    let mut index = TextIndex::in_memory()?;
    for entries in set.corpus.chunks(CHANGES) {
        let changes: Vec<Change> = entries.iter().map(|entry| Change::Put(Box::new(entry.clone()))).collect();
        index.apply(&changes, &gazetteer)?;
    }
    index.commit(&State { version: 1, ..State::default() })?;
    let vectors = embed(&set.corpus, &model, Path::new("target/bench-cache")).await?;
    let library = Library::new(index.snapshot()?, Arc::new(vectors), gazetteer, Arc::new(lexicon));
    for (name, mode) in [("bm25", Mode::Words), ("vector", Mode::Vectors), ("hybrid", Mode::Both)] {
        let (measures, mut latencies) = ask(&set, &library, &model, mode).await?;
        print(&json!({
            "mode": name,
            "ndcg@10": rounded(measures.ndcg_at_10),
            "recall@10": rounded(measures.recall_at_10),
            "recall@100": rounded(measures.recall_at_100),
            "mrr": rounded(measures.mrr),
            "p50_ms": rounded(latencies.percentile_ms(50)),
            "p99_ms": rounded(latencies.percentile_ms(99)),
            "set": set.name,
            "split": set.split,
            "n_queries": set.questions.len(),
            "n_documents": set.corpus.len(),
        }))?;
    }
    Ok(Verdict::Met)
}

fn load_model(plan: &RetrievalPlan) -> anyhow::Result<SentenceModel> {
    let folder = match &plan.model {
        Some(folder) => folder.clone(),
        None => {
            let shelf = Shelf::new(Path::new("target"));
            shelf.pull(MODEL).context("could not get the model")?;
            shelf.path(MODEL)
        }
    };
    SentenceModel::load(&folder, MODEL, vec!["en".to_owned()])
        .with_context(|| format!("no model in `{}`", folder.display()))
}

async fn load_lexicon(plan: &RetrievalPlan) -> anyhow::Result<Lexicon> {
    let folder = match &plan.lexica {
        Some(folder) => folder.clone(),
        None => {
            let folder = PathBuf::from("target/lexica");
            for offer in lexica::OFFERS.iter().filter(|offer| !folder.join(offer.name).join(PAIRS).is_file()) {
                if let Err(error) = lexica::pull(offer, &folder).await {
                    eprintln!("without `{}`: {error}", offer.name);
                }
            }
            folder
        }
    };
    let lexicon = lexicon::files::load(&folder).context("could not read the lexica")?;
    if lexicon.is_empty() {
        eprintln!("no lexica in `{}`: Thai and English do not meet", folder.display());
    }
    Ok(lexicon)
}

/// Vectors of everything in a language that the model declares.
async fn embed(corpus: &[Entry], model: &SentenceModel, folder: &Path) -> anyhow::Result<Vectors> {
    let card = model.card();
    let mut cache = cache::Cache::open(folder, &card.sha256)?;
    let mut vectors = Vectors::new(card.n_dimensions);
    let spoken: Vec<&Entry> = corpus.iter().filter(|entry| card.speaks(&entry.lang)).collect();
    let mut missing: BTreeMap<ContentHash, String> = BTreeMap::new();
    for text in spoken.iter().flat_map(|entry| embeddings::texts(entry)) {
        let hash = ContentHash::of(&text);
        if !cache.has(&hash) {
            missing.insert(hash, text);
        }
    }
    if !missing.is_empty() {
        eprintln!("embedding {} texts of {} documents …", missing.len(), spoken.len());
    }
    let missing: Vec<(ContentHash, String)> = missing.into_iter().collect();
    let started = Instant::now();
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut n_done = 0;
    for batch in missing.chunks(16 * n_threads) {
        let embed = |part: &[(ContentHash, String)]| {
            let texts = part.iter().map(|(_, text)| text.clone()).collect();
            tokio::spawn(model.embed(texts, Side::Passage))
        };
        let parts: Vec<_> = batch.chunks(16).map(embed).collect();
        for (part, working) in batch.chunks(16).zip(parts) {
            for ((hash, _), vector) in part.iter().zip(working.await.context("a thread broke")??) {
                cache.insert(*hash, vector)?;
            }
        }
        n_done += batch.len();
        if n_done % 320 == 0 {
            eprintln!("{n_done} after {:.0} s", started.elapsed().as_secs_f64());
        }
    }
    for entry in spoken {
        let texts = embeddings::texts(entry);
        let made = texts.iter().map(|text| cache.find(&ContentHash::of(text)).cloned());
        let Some(made) = made.collect() else { bail!("the cache lost a vector") };
        vectors.insert(entry.content_hash().short(), &embeddings::vectors(entry, made));
    }
    Ok(vectors)
}

async fn ask(set: &Set, library: &Library, model: &SentenceModel, mode: Mode) -> anyhow::Result<(Measures, Latencies)> {
    let mut measures = Vec::new();
    let mut latencies = Latencies::default();
    for question in &set.questions {
        let started = Instant::now();
        let reading = library.read(&question.text, Some(model.card()))?;
        let vector = match &reading.passage {
            Some(passage) if mode != Mode::Words => model.embed(vec![passage.clone()], Side::Query).await?.pop(),
            _ => None,
        };
        let hits = library.search(&reading, vector.as_deref(), &Filter::default(), mode, HITS)?;
        latencies.push(started.elapsed());
        let keys: Vec<String> = hits.iter().map(|hit| library.key(hit)).collect::<Result<_, _>>()?;
        let ids: Vec<&str> = keys.iter().filter_map(|key| key.split_once(':').map(|(_, id)| id)).collect();
        measures.push(Measures::of(&ids, &question.judgements));
    }
    Ok((Measures::mean(&measures), latencies))
}
