//! Sentence models: a tiny one with made-up weights against plain arithmetic, and the real one against published numbers.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests, where a panic is the failure report"
)]

mod tiny;

use std::path::PathBuf;

use contract::model::{Embedder as _, Side};
use model::SentenceModel;

fn close(a: &[f32], b: &[f32]) {
    assert_eq!(a.len(), b.len());
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4), "{a:?} {b:?}");
}

#[tokio::test]
async fn the_graph_computes_what_the_paper_says() {
    let folder = tiny::Folder::new();
    let model = SentenceModel::load(folder.path(), "tiny", vec!["en".to_owned()]).unwrap();
    assert_eq!(model.card().n_dimensions, tiny::HIDDEN);
    let texts = vec!["ginger eases nausea".to_owned(), "ginger".to_owned()];
    let vectors = model.embed(texts, Side::Passage).await.unwrap();
    close(&vectors[0], &folder.expected(&[1, 2, 3]));
    close(&vectors[1], &folder.expected(&[1]));
}

#[tokio::test]
async fn long_texts_are_cut_and_empty_ones_are_refused() {
    let folder = tiny::Folder::new();
    let model = SentenceModel::load(folder.path(), "tiny", vec!["en".to_owned()]).unwrap();
    let long = model.embed(vec!["ginger ".repeat(500)], Side::Passage).await.unwrap();
    close(&long[0], &folder.expected(&[1; tiny::POSITIONS]));
    assert!(model.embed(vec![String::new()], Side::Query).await.is_err());
}

#[test]
fn what_is_no_model_is_refused_with_its_place() {
    let folder = tiny::Folder::new();
    std::fs::write(folder.path().join("config.json"), r#"{"model_type":"t5"}"#).unwrap();
    assert!(SentenceModel::load(folder.path(), "x", vec![]).unwrap_err().to_string().contains("config.json"));
    std::fs::remove_file(folder.path().join("model.safetensors")).unwrap();
    let error = SentenceModel::load(folder.path(), "x", vec![]).unwrap_err().to_string();
    assert!(error.contains("neither `model.safetensors` nor `model.onnx`"), "{error}");
}

#[tokio::test]
async fn all_minilm_l6_v2_gives_the_numbers_of_its_authors() {
    let tools = std::env::var_os("MATERIA_TEST_TOOLS").expect("the model is installed: run `cargo xtask test`");
    let folder = PathBuf::from(tools).join("models").join("all-minilm-l6-v2");
    let model = SentenceModel::load(&folder, "all-minilm-l6-v2", vec!["en".to_owned()]).unwrap();
    let vectors = model.embed(vec!["This is an example sentence".to_owned()], Side::Query).await.unwrap();
    close(&vectors[0][..4], &[0.0676, 0.0635, 0.0487, 0.0793].map(|number: f32| number));
}
