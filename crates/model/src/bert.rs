//! The encoder of a BERT as a graph of operators, for one text at a time.
//!
//! One text needs neither padding nor a mask, and its activations are plain matrices: less work than in batches, where
//! short texts wait for long ones.

use serde::Deserialize;

use crate::onnx::{Attribute, Graph};
use crate::safetensors::{TensorError, Tensors};

pub const TOKENS: &str = "input_ids";
pub const POSITIONS: &str = "position_ids";
pub const STATES: &str = "last_hidden_state";

/// `config.json` of a model folder.
#[derive(Debug, Clone, Deserialize)]
pub struct Config {
    pub model_type: String,
    pub vocab_size: usize,
    pub hidden_size: usize,
    pub num_hidden_layers: usize,
    pub num_attention_heads: usize,
    pub intermediate_size: usize,
    pub max_position_embeddings: usize,
    #[serde(default = "two")]
    pub type_vocab_size: usize,
    #[serde(default = "tiny")]
    pub layer_norm_eps: f32,
    #[serde(default)]
    pub hidden_act: Option<String>,
}

fn two() -> usize {
    2
}

fn tiny() -> f32 {
    1e-12
}

impl Config {
    fn head_size(&self) -> usize {
        self.hidden_size / self.num_attention_heads.max(1)
    }
}

/// The graph as ONNX. Inputs: [`TOKENS`] and [`POSITIONS`], one number per token each; output: [`STATES`], one row per
/// token.
pub fn graph(config: &Config, tensors: &Tensors) -> Result<Vec<u8>, TensorError> {
    let mut encoder = Encoder { config, tensors, graph: Graph::default() };
    encoder.graph.input(TOKENS);
    encoder.graph.input(POSITIONS);
    let heads = i64::try_from(config.num_attention_heads).unwrap_or(i64::MAX);
    let size = i64::try_from(config.head_size()).unwrap_or(i64::MAX);
    let hidden = i64::try_from(config.hidden_size).unwrap_or(i64::MAX);
    // Zero keeps the dimension that is there: the number of tokens.
    encoder.graph.integers("split_heads", &[0, heads, size]);
    encoder.graph.integers("join_heads", &[0, hidden]);
    let mut states = encoder.embeddings()?;
    for layer in 0..config.num_hidden_layers {
        states = encoder.layer(layer, &states)?;
    }
    let states = encoder.graph.operator("Identity", STATES.to_owned(), &[&states], vec![]);
    encoder.graph.output(&states);
    Ok(encoder.graph.into_bytes())
}

struct Encoder<'a> {
    config: &'a Config,
    tensors: &'a Tensors,
    graph: Graph,
}

impl Encoder<'_> {
    fn embeddings(&mut self) -> Result<String, TensorError> {
        let hidden = self.config.hidden_size;
        let (n_words, n_positions) = (self.config.vocab_size, self.config.max_position_embeddings);
        let words = self.tensors.floats("embeddings.word_embeddings.weight", &[n_words, hidden])?;
        let mut places = self.tensors.floats("embeddings.position_embeddings.weight", &[n_positions, hidden])?;
        let types =
            self.tensors.floats("embeddings.token_type_embeddings.weight", &[self.config.type_vocab_size, hidden])?;
        // Every token is of the first type, so its vector goes into those of the positions.
        for row in places.chunks_mut(hidden.max(1)) {
            row.iter_mut().zip(&types).for_each(|(place, kind)| *place += kind);
        }
        let words = self.graph.floats("words", &[n_words, hidden], &words);
        let places = self.graph.floats("places", &[n_positions, hidden], &places);
        let words = self.graph.operator("Gather", "word_states".to_owned(), &[&words, TOKENS], vec![]);
        let places = self.graph.operator("Gather", "place_states".to_owned(), &[&places, POSITIONS], vec![]);
        let sum = self.graph.operator("Add", "embedded".to_owned(), &[&words, &places], vec![]);
        self.normalise("embeddings.LayerNorm", &sum)
    }

    fn layer(&mut self, layer: usize, states: &str) -> Result<String, TensorError> {
        let at = format!("encoder.layer.{layer}");
        let hidden = self.config.hidden_size;
        let inner = self.config.intermediate_size;
        // The scale of the products is put into the queries' weights.
        let scale = 1.0 / (self.config.head_size() as f32).sqrt();
        let query = self.linear(&format!("{at}.attention.self.query"), states, [hidden, hidden], scale)?;
        let key = self.linear(&format!("{at}.attention.self.key"), states, [hidden, hidden], 1.0)?;
        let value = self.linear(&format!("{at}.attention.self.value"), states, [hidden, hidden], 1.0)?;
        let query = self.heads(&query, vec![1, 0, 2]);
        let key = self.heads(&key, vec![1, 2, 0]);
        let value = self.heads(&value, vec![1, 0, 2]);
        let products = self.graph.operator("MatMul", format!("{at}.products"), &[&query, &key], vec![]);
        let weights =
            self.graph.operator("Softmax", format!("{at}.weights"), &[&products], vec![Attribute::Int("axis", -1)]);
        let seen = self.graph.operator("MatMul", format!("{at}.seen"), &[&weights, &value], vec![]);
        let permutation = Attribute::Ints("perm", vec![1, 0, 2]);
        let seen = self.graph.operator("Transpose", format!("{seen}.turned"), &[&seen], vec![permutation]);
        let seen = self.graph.operator("Reshape", format!("{seen}.joined"), &[&seen, "join_heads"], vec![]);
        let seen = self.linear(&format!("{at}.attention.output.dense"), &seen, [hidden, hidden], 1.0)?;
        let sum = self.graph.operator("Add", format!("{at}.attended"), &[&seen, states], vec![]);
        let attended = self.normalise(&format!("{at}.attention.output.LayerNorm"), &sum)?;
        let wide = self.linear(&format!("{at}.intermediate.dense"), &attended, [hidden, inner], 1.0)?;
        let wide = self.graph.operator("Gelu", format!("{at}.active"), &[&wide], vec![]);
        let narrow = self.linear(&format!("{at}.output.dense"), &wide, [inner, hidden], 1.0)?;
        let sum = self.graph.operator("Add", format!("{at}.sum"), &[&narrow, &attended], vec![]);
        self.normalise(&format!("{at}.output.LayerNorm"), &sum)
    }

    fn heads(&mut self, states: &str, order: Vec<i64>) -> String {
        let split = self.graph.operator("Reshape", format!("{states}.split"), &[states, "split_heads"], vec![]);
        let permutation = Attribute::Ints("perm", order);
        self.graph.operator("Transpose", format!("{states}.heads"), &[&split], vec![permutation])
    }

    /// `states · weightᵀ + bias`, both times `scale`. The file has a row per output, the product wants a row per input.
    fn linear(&mut self, at: &str, states: &str, [n_in, n_out]: [usize; 2], scale: f32) -> Result<String, TensorError> {
        let rows = self.tensors.floats(&format!("{at}.weight"), &[n_out, n_in])?;
        let mut columns = vec![0.0; rows.len()];
        for (output, row) in rows.chunks(n_in.max(1)).enumerate() {
            for (cell, weight) in columns.iter_mut().skip(output).step_by(n_out.max(1)).zip(row) {
                *cell = weight * scale;
            }
        }
        let bias: Vec<f32> =
            self.tensors.floats(&format!("{at}.bias"), &[n_out])?.iter().map(|bias| bias * scale).collect();
        let weight = self.graph.floats(&format!("{at}.w"), &[n_in, n_out], &columns);
        let bias = self.graph.floats(&format!("{at}.b"), &[n_out], &bias);
        let product = self.graph.operator("MatMul", format!("{at}.product"), &[states, &weight], vec![]);
        Ok(self.graph.operator("Add", format!("{at}.linear"), &[&product, &bias], vec![]))
    }

    fn normalise(&mut self, at: &str, states: &str) -> Result<String, TensorError> {
        let hidden = self.config.hidden_size;
        let weight = self.tensors.floats(&format!("{at}.weight"), &[hidden])?;
        let bias = self.tensors.floats(&format!("{at}.bias"), &[hidden])?;
        let weight = self.graph.floats(&format!("{at}.w"), &[hidden], &weight);
        let bias = self.graph.floats(&format!("{at}.b"), &[hidden], &bias);
        let attributes = vec![Attribute::Int("axis", -1), Attribute::Float("epsilon", self.config.layer_norm_eps)];
        let name = format!("{at}.normal");
        Ok(self.graph.operator("LayerNormalization", name, &[states, &weight, &bias], attributes))
    }
}
