//! A sentence-transformers folder: tokenizer, encoder, pooling.
//!
//! The encoder is `model.safetensors` of a BERT, or an exported `model.onnx`. Texts run one by one, each on one thread:
//! over many texts that is faster than one text on many threads.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use contract::model::{EmbedError, Embedder, Embedding, ModelCard, Side};

use rten::{Model, NodeId, RunOptions, ThreadPool, Value, ValueOrView};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tokenizers::{Tokenizer, TruncationParams};
use tokio::sync::Semaphore;

use crate::bert::{self, Config};
use crate::safetensors::{TensorError, Tensors};

/// Longer windows made search no better and cost the square of their length.
const TOKENS_MAX: usize = 256;

#[derive(Debug, thiserror::Error)]
pub enum LoadModelError {
    #[error("could not read `{}`", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("`{}` is not JSON of the expected form", path.display())]
    Json { path: PathBuf, source: serde_json::Error },
    #[error("`{}` holds neither `model.safetensors` nor `model.onnx` nor `onnx/model.onnx`", .0.display())]
    NoEncoder(PathBuf),
    #[error("the model is of the type `{received}` with `{activation}`, expected `bert` with `gelu`")]
    Kind { received: String, activation: String },
    #[error("the weights in `{}` do not fit", path.display())]
    Weights { path: PathBuf, source: TensorError },
    #[error("the tokenizer in `{}` cannot be used", path.display())]
    Tokenizer { path: PathBuf, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("the encoder in `{}` cannot be used", path.display())]
    Encoder { path: PathBuf, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("the model does not work")]
    Trial(#[source] EmbedError),
}

#[derive(Debug, Default, Deserialize)]
struct Window {
    max_seq_length: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
struct Pooling {
    #[serde(default)]
    pooling_mode_cls_token: bool,
}

#[derive(Debug, Default, Deserialize)]
struct Prompts {
    #[serde(default)]
    prompts: PromptTexts,
}

#[derive(Debug, Default, Deserialize)]
struct PromptTexts {
    #[serde(default)]
    query: String,
    #[serde(default, alias = "document")]
    passage: String,
}

/// A model in memory. Cheap to clone.
#[derive(Debug, Clone)]
pub struct SentenceModel(Arc<Inner>);

struct Inner {
    card: ModelCard,
    tokenizer: Tokenizer,
    encoder: Encoder,
    is_first_token: bool,
    prompts: PromptTexts,
    /// One thread each; who takes one gives it back.
    pools: Mutex<Vec<Arc<ThreadPool>>>,
    turns: Arc<Semaphore>,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("SentenceModel").field("card", &self.card).finish_non_exhaustive()
    }
}

impl SentenceModel {
    /// `name` and `languages` are what the house calls it and what it is taken to understand.
    pub fn load(folder: &Path, name: &str, languages: Vec<String>) -> Result<SentenceModel, LoadModelError> {
        let mut hash = Sha256::new();
        let window: Window = read_json(folder, "sentence_bert_config.json")?.unwrap_or_default();
        let pooling: Pooling = read_json(folder, "1_Pooling/config.json")?.unwrap_or_default();
        let prompts: Prompts = read_json(folder, "config_sentence_transformers.json")?.unwrap_or_default();
        let (encoder, n_positions) = Encoder::load(folder, &mut hash)?;
        let n_tokens_max = window.max_seq_length.unwrap_or(TOKENS_MAX).min(TOKENS_MAX).min(n_positions);
        let tokenizer = load_tokenizer(folder, n_tokens_max, &mut hash)?;
        hash.update(format!("{n_tokens_max} {} {:?}", pooling.pooling_mode_cls_token, prompts.prompts));
        let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut inner = Inner {
            card: ModelCard { name: name.to_owned(), sha256: hex::encode(hash.finalize()), n_dimensions: 0, languages },
            tokenizer,
            encoder,
            is_first_token: pooling.pooling_mode_cls_token,
            prompts: prompts.prompts,
            pools: Mutex::new((0..n_threads).map(|_| Arc::new(ThreadPool::with_num_threads(1))).collect()),
            turns: Arc::new(Semaphore::new(n_threads)),
        };
        let trial = inner.embed(&["trial".to_owned()], Side::Query).map_err(LoadModelError::Trial)?;
        inner.card.n_dimensions = trial.first().map_or(0, Vec::len);
        Ok(SentenceModel(Arc::new(inner)))
    }
}

impl Embedder for SentenceModel {
    fn card(&self) -> &ModelCard {
        &self.0.card
    }

    fn embed(&self, texts: Vec<String>, side: Side) -> Embedding {
        let inner = Arc::clone(&self.0);
        Box::pin(async move {
            let name = inner.card.name.clone();
            let failed = |source| EmbedError::Failed { name: name.clone(), source };
            let turn = Arc::clone(&inner.turns).acquire_owned().await.map_err(|error| failed(error.into()))?;
            let working = tokio::task::spawn_blocking(move || {
                let vectors = inner.embed(&texts, side);
                drop(turn);
                vectors
            });
            working.await.map_err(|error| failed(error.into()))?
        })
    }
}

impl Inner {
    fn embed(&self, texts: &[String], side: Side) -> Result<Vec<Vec<f32>>, EmbedError> {
        let pool = self.pools.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let options = || RunOptions::default().with_thread_pool(pool.clone());
        let vectors = texts.iter().map(|text| self.embed_one(text, side, options())).collect();
        if let Some(pool) = pool {
            self.pools.lock().unwrap_or_else(PoisonError::into_inner).push(pool);
        }
        vectors
    }

    fn embed_one(&self, text: &str, side: Side, options: RunOptions) -> Result<Vec<f32>, EmbedError> {
        let failed = |source| EmbedError::Failed { name: self.card.name.clone(), source };
        let prompt = match side {
            Side::Query => &self.prompts.query,
            Side::Passage => &self.prompts.passage,
        };
        let tokens = self.tokenizer.encode_fast(format!("{prompt}{text}"), true).map_err(failed)?;
        let tokens: Vec<i32> = tokens.get_ids().iter().map(|id| i32::try_from(*id).unwrap_or_default()).collect();
        if tokens.is_empty() {
            return Err(failed("the text has no words".into()));
        }
        let states = self.encoder.run(tokens, options).map_err(failed)?;
        let n_dimensions = states.n_dimensions.max(1);
        let mut pooled = vec![0f32; n_dimensions];
        let n_rows = if self.is_first_token { 1 } else { usize::MAX };
        for row in states.numbers.chunks(n_dimensions).take(n_rows) {
            pooled.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
        }
        let length = pooled.iter().map(|number| number * number).sum::<f32>().sqrt();
        if !length.is_finite() || length == 0.0 {
            return Err(failed("the vector has no direction".into()));
        }
        pooled.iter_mut().for_each(|number| *number /= length);
        Ok(pooled)
    }
}

/// Numbers of all tokens, one row after the other.
struct States {
    n_dimensions: usize,
    numbers: Vec<f32>,
}

struct Encoder {
    model: Model,
    /// A graph of our own takes plain lists, an exported one a batch.
    is_batched: bool,
}

impl Encoder {
    /// With the number of positions that it has.
    fn load(folder: &Path, hash: &mut Sha256) -> Result<(Encoder, usize), LoadModelError> {
        let weights = folder.join("model.safetensors");
        let (path, graph, is_batched, n_positions) = if weights.is_file() {
            let config: Config = read_json(folder, "config.json")?
                .ok_or_else(|| LoadModelError::NoEncoder(folder.join("config.json")))?;
            let activation = config.hidden_act.clone().unwrap_or_else(|| "gelu".to_owned());
            if config.model_type != "bert" || activation != "gelu" {
                return Err(LoadModelError::Kind { received: config.model_type, activation });
            }
            let bytes = read(&weights)?;
            hash.update(Sha256::digest(&bytes));
            let unfit = |source| LoadModelError::Weights { path: weights.clone(), source };
            let tensors = Tensors::parse(bytes).map_err(unfit)?;
            let graph = bert::graph(&config, &tensors).map_err(unfit)?;
            (weights, graph, false, config.max_position_embeddings)
        } else {
            let path =
                ["model.onnx", "onnx/model.onnx"].map(|file| folder.join(file)).into_iter().find(|path| path.is_file());
            let path = path.ok_or_else(|| LoadModelError::NoEncoder(folder.to_owned()))?;
            let bytes = read(&path)?;
            hash.update(Sha256::digest(&bytes));
            (path, bytes, true, TOKENS_MAX)
        };
        let model = Model::load(graph).map_err(|error| LoadModelError::Encoder { path, source: error.into() })?;
        Ok((Encoder { model, is_batched }, n_positions))
    }

    fn run(&self, tokens: Vec<i32>, options: RunOptions) -> Result<States, Box<dyn std::error::Error + Send + Sync>> {
        let output = *self.model.output_ids().first().ok_or("the graph has no output")?;
        let mut inputs: Vec<(NodeId, ValueOrView<'_>)> = Vec::new();
        let n_tokens = tokens.len();
        for id in self.model.input_ids() {
            let name = self.model.node_info(*id).and_then(|info| info.name().map(str::to_owned)).unwrap_or_default();
            let numbers = match name.as_str() {
                bert::TOKENS => tokens.clone(),
                bert::POSITIONS => (0..).take(n_tokens).collect(),
                "attention_mask" => vec![1; n_tokens],
                "token_type_ids" => vec![0; n_tokens],
                _ => return Err(format!("the graph wants the unknown input `{name}`").into()),
            };
            let value = if self.is_batched {
                Value::from_shape([1, n_tokens].as_slice(), numbers)?
            } else {
                Value::from_shape([n_tokens].as_slice(), numbers)?
            };
            inputs.push((*id, value.into()));
        }
        let [states] = self.model.run_n(inputs, [output], Some(options))?;
        let (n_dimensions, numbers) = if self.is_batched {
            let ([_, _, n_dimensions], numbers) = states.into_shape_vec::<f32, 3>()?;
            (n_dimensions, numbers)
        } else {
            let ([_, n_dimensions], numbers) = states.into_shape_vec::<f32, 2>()?;
            (n_dimensions, numbers)
        };
        Ok(States { n_dimensions, numbers })
    }
}

fn load_tokenizer(folder: &Path, n_tokens_max: usize, hash: &mut Sha256) -> Result<Tokenizer, LoadModelError> {
    let path = folder.join("tokenizer.json");
    let bytes = read(&path)?;
    hash.update(Sha256::digest(&bytes));
    let unusable = |source| LoadModelError::Tokenizer { path: path.clone(), source };
    let mut tokenizer = Tokenizer::from_bytes(&bytes).map_err(unusable)?;
    let truncation = TruncationParams { max_length: n_tokens_max, ..TruncationParams::default() };
    tokenizer.with_truncation(Some(truncation)).map_err(unusable)?;
    tokenizer.with_padding(None);
    Ok(tokenizer)
}

fn read(path: &Path) -> Result<Vec<u8>, LoadModelError> {
    fs::read(path).map_err(|source| LoadModelError::Read { path: path.to_owned(), source })
}

/// `None` where the folder has no such file.
fn read_json<T: serde::de::DeserializeOwned>(folder: &Path, file: &str) -> Result<Option<T>, LoadModelError> {
    let path = folder.join(file);
    if !path.is_file() {
        return Ok(None);
    }
    serde_json::from_slice(&read(&path)?).map(Some).map_err(|source| LoadModelError::Json { path, source })
}
