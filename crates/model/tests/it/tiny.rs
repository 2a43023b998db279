//! A BERT with two layers and made-up weights, as a folder and as plain arithmetic.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

pub const HIDDEN: usize = 8;
pub const POSITIONS: usize = 16;
const HEADS: usize = 2;
const INNER: usize = 12;
const WORDS: usize = 4;
const LAYERS: usize = 2;

pub struct Folder {
    folder: tempfile::TempDir,
    tensors: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
}

impl Folder {
    pub fn new() -> Folder {
        let mut tensors = BTreeMap::new();
        let mut state = 1u32;
        let mut add = |name: String, shape: Vec<usize>| {
            let numbers = (0..shape.iter().product::<usize>()).map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                f32::from(i16::try_from(state >> 17).unwrap() - 16_384) / 16_384.0
            });
            let numbers = numbers.collect();
            tensors.insert(name, (shape, numbers));
        };
        add("embeddings.word_embeddings.weight".to_owned(), vec![WORDS, HIDDEN]);
        add("embeddings.position_embeddings.weight".to_owned(), vec![POSITIONS, HIDDEN]);
        add("embeddings.token_type_embeddings.weight".to_owned(), vec![2, HIDDEN]);
        let mut norms = vec!["embeddings.LayerNorm".to_owned()];
        let mut linears = Vec::new();
        for layer in 0..LAYERS {
            let at = format!("encoder.layer.{layer}");
            for part in ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"]
            {
                linears.push((format!("{at}.{part}"), HIDDEN, HIDDEN));
            }
            linears.push((format!("{at}.intermediate.dense"), HIDDEN, INNER));
            linears.push((format!("{at}.output.dense"), INNER, HIDDEN));
            norms.push(format!("{at}.attention.output.LayerNorm"));
            norms.push(format!("{at}.output.LayerNorm"));
        }
        for (at, n_in, n_out) in linears {
            add(format!("{at}.weight"), vec![n_out, n_in]);
            add(format!("{at}.bias"), vec![n_out]);
        }
        for at in norms {
            add(format!("{at}.weight"), vec![HIDDEN]);
            add(format!("{at}.bias"), vec![HIDDEN]);
        }
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &tensors);
        Folder { folder, tensors }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    fn tensor(&self, name: &str) -> &[f32] {
        &self.tensors[name].1
    }

    /// The vector of these tokens, by loops.
    pub fn expected(&self, tokens: &[usize]) -> Vec<f32> {
        let rows = |name: &str, row: usize| self.tensor(name)[row * HIDDEN..(row + 1) * HIDDEN].to_vec();
        let embedded = tokens.iter().enumerate().map(|(place, token)| {
            let word = rows("embeddings.word_embeddings.weight", *token);
            let place = rows("embeddings.position_embeddings.weight", place);
            let kind = rows("embeddings.token_type_embeddings.weight", 0);
            word.iter().zip(place).zip(kind).map(|((word, place), kind)| word + place + kind).collect()
        });
        let embedded: Vec<Vec<f32>> = embedded.collect();
        let mut states = self.normal("embeddings.LayerNorm", embedded);
        for layer in 0..LAYERS {
            let at = format!("encoder.layer.{layer}");
            let seen = self.linear(&format!("{at}.attention.output.dense"), &self.attend(&at, &states));
            states = self.normal(&format!("{at}.attention.output.LayerNorm"), sum(&seen, &states));
            let mut wide = self.linear(&format!("{at}.intermediate.dense"), &states);
            wide.iter_mut().flatten().for_each(|number| *number = gelu(*number));
            let narrow = self.linear(&format!("{at}.output.dense"), &wide);
            states = self.normal(&format!("{at}.output.LayerNorm"), sum(&narrow, &states));
        }
        let pooled: Vec<f32> = (0..HIDDEN).map(|column| states.iter().map(|row| row[column]).sum()).collect();
        let length = pooled.iter().map(|number| number * number).sum::<f32>().sqrt();
        pooled.iter().map(|number| number / length).collect()
    }

    fn attend(&self, at: &str, states: &[Vec<f32>]) -> Vec<Vec<f32>> {
        let part = |part: &str| self.linear(&format!("{at}.attention.self.{part}"), states);
        let (query, key, value) = (part("query"), part("key"), part("value"));
        let size = HIDDEN / HEADS;
        let mut seen = vec![vec![0.0; HIDDEN]; states.len()];
        for head in 0..HEADS {
            let columns = head * size..(head + 1) * size;
            for (row, seen) in seen.iter_mut().enumerate() {
                let products = key.iter().map(|key| {
                    let product: f32 = columns.clone().map(|column| query[row][column] * key[column]).sum();
                    (product / (size as f32).sqrt()).exp()
                });
                let products: Vec<f32> = products.collect();
                let total: f32 = products.iter().sum();
                for (product, value) in products.iter().zip(&value) {
                    columns.clone().for_each(|column| seen[column] += product / total * value[column]);
                }
            }
        }
        seen
    }

    fn linear(&self, at: &str, states: &[Vec<f32>]) -> Vec<Vec<f32>> {
        let (weight, bias) = (self.tensor(&format!("{at}.weight")), self.tensor(&format!("{at}.bias")));
        let row = |state: &Vec<f32>| {
            let outputs = weight.chunks(state.len()).zip(bias);
            outputs.map(|(weights, bias)| bias + weights.iter().zip(state).map(|(a, b)| a * b).sum::<f32>()).collect()
        };
        states.iter().map(row).collect()
    }

    fn normal(&self, at: &str, mut states: Vec<Vec<f32>>) -> Vec<Vec<f32>> {
        let (weight, bias) = (self.tensor(&format!("{at}.weight")), self.tensor(&format!("{at}.bias")));
        for row in &mut states {
            let mean = row.iter().sum::<f32>() / HIDDEN as f32;
            let variance = row.iter().map(|number| (number - mean).powi(2)).sum::<f32>() / HIDDEN as f32;
            for (number, (weight, bias)) in row.iter_mut().zip(weight.iter().zip(bias)) {
                *number = (*number - mean) / (variance + 1e-12).sqrt() * weight + bias;
            }
        }
        states
    }
}

fn sum(a: &[Vec<f32>], b: &[Vec<f32>]) -> Vec<Vec<f32>> {
    a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect()).collect()
}

/// `x · Φ(x)`, with the error function by Abramowitz and Stegun 7.1.26.
fn gelu(x: f32) -> f32 {
    let z = f64::from(x).abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let series = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let erf = 1.0 - series.iter().fold(0.0, |sum, factor| (sum + factor) * t) * (-z * z).exp();
    let erf = if x < 0.0 { -erf } else { erf };
    (f64::from(x) * 0.5 * (1.0 + erf)) as f32
}

fn write(folder: &Path, tensors: &BTreeMap<String, (Vec<usize>, Vec<f32>)>) {
    let config = json!({"model_type": "bert", "vocab_size": WORDS, "hidden_size": HIDDEN, "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS, "intermediate_size": INNER, "max_position_embeddings": POSITIONS, "hidden_act": "gelu"});
    let tokenizer = json!({"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "ginger": 1, "eases": 2, "nausea": 3}, "unk_token": "[UNK]"}});
    let mut header = serde_json::Map::new();
    let mut data = Vec::new();
    for (name, (shape, numbers)) in tensors {
        let start = data.len();
        data.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        header.insert(name.clone(), json!({"dtype": "F32", "shape": shape, "data_offsets": [start, data.len()]}));
    }
    let header = Value::Object(header).to_string();
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.bytes());
    bytes.extend(data);
    std::fs::write(folder.join("config.json"), config.to_string()).unwrap();
    std::fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    std::fs::write(folder.join("model.safetensors"), bytes).unwrap();
}
