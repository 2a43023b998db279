//! Files of derived state that other hands wrote, who can write to the data folder and have neither key nor database.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use contract::canonical;
use contract::evidence::record::Record;
use evidence::graph::live::snapshot_path;
use evidence::record::batches;
use evidence::sealing::{Sealing, Subject};
use evidence::search::entry::Entry;
use evidence::search::gazetteer::Gazetteer;
use evidence::search::index::{Change, State, TextIndex, WHAT};
use ops::operations::OPERATIONS;
use serde_json::{Value, json};

use super::herbs::{edge, node, put, source};
use crate::script::{Stage, keyring, on_sqlite};

fn names(name: &str) -> Value {
    json!([{"text": name, "lang": "en"}])
}

fn paper(text: &str) -> Value {
    json!({"record": "document", "id": "P1", "kind": "paper", "title": "Comfrey tea", "text": text, "lang": "en",
        "year": 2020, "source": "herbal"})
}

fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let places = bytes.windows(from.len()).enumerate().filter(|(_, window)| *window == from.as_bytes());
    let places: Vec<usize> = places.map(|(at, _)| at).collect();
    assert!(!places.is_empty(), "nothing to forge");
    let mut forged = bytes.to_vec();
    places.into_iter().for_each(|at| forged[at..at + to.len()].copy_from_slice(to.as_bytes()));
    forged
}

#[tokio::test]
async fn a_contraindication_does_not_vanish_by_a_forged_snapshot() {
    let stage = on_sqlite(OPERATIONS).await;
    let statement = edge("E1", "H1", "contraindicated_in", "C1");
    put(
        &stage,
        &[source(), node("H1", "herb", names("comfrey")), node("C1", "condition", names("pregnancy")), statement],
    )
    .await;
    let pattern = "herb -contraindicated_in-> condition";
    let asked = json!({"start": {"type": "herb", "id": "comfrey"}, "pattern": pattern});
    let n_paths = async |stage: &Stage| {
        let reply = stage.call("viewer", "query_kg", asked.clone()).await;
        reply.result.unwrap().output["paths"].as_array().unwrap().len()
    };
    assert_eq!(n_paths(&stage).await, 1);
    let graphs = stage.platform.services().evidence.graphs().unwrap();
    graphs.rebuild("here").await.unwrap();
    let path = snapshot_path(&stage.files.path().join("evidence"), "here");
    let kept = fs::read(&path).unwrap();
    let mut forged = replaced(&kept, "contraindicated_in", "contraindicated_by");
    let end = forged.len() - 32;
    let hash = canonical::digest(&forged[..end]);
    forged[end..].copy_from_slice(&hash);
    fs::write(&path, &forged).unwrap();
    assert_eq!(n_paths(&stage.again().await).await, 1);
    // Whoever throws it away gets the record's own again.
    fs::write(&path, &forged).unwrap();
    graphs.rebuild("here").await.unwrap();
    assert_eq!(fs::read(&path).unwrap(), kept);
}

/// The one folder of indexes below `search`.
fn index_folder(stage: &Stage) -> PathBuf {
    let folders: Vec<_> =
        fs::read_dir(stage.files.path().join("search")).unwrap().map(|it| it.unwrap().path()).collect();
    let [folder] = folders.as_slice() else { panic!("{folders:?}") };
    folder.clone()
}

fn copy_files(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(from).unwrap().map(|it| it.unwrap()) {
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

async fn batch(stage: &Stage) -> String {
    let mut reader = stage.store.read().await.unwrap();
    batches::hash_of(&mut reader, "here", 1).await.unwrap().unwrap()
}

async fn snippets(stage: &Stage) -> (Vec<String>, Option<String>) {
    let output = stage.call("viewer", "hybrid_search", json!({"query": "comfrey tea"})).await.result.unwrap().output;
    let hits = output["hits"].as_array().unwrap().iter();
    let texts = hits.map(|hit| hit["snippet"].as_str().unwrap().to_owned()).collect();
    (texts, output.get("note").and_then(Value::as_str).map(str::to_owned))
}

const TRUE: &str = "Comfrey harms the liver.";
const FALSE: &str = "Comfrey is good for the liver.";

#[tokio::test]
async fn a_text_of_another_index_is_not_quoted() {
    let [ours, theirs] = [on_sqlite(OPERATIONS).await, on_sqlite(OPERATIONS).await];
    put(&ours, &[source(), paper(TRUE)]).await;
    put(&theirs, &[source(), paper(FALSE)]).await;
    assert_eq!(snippets(&theirs).await.0, [FALSE]);
    let folder = index_folder(&theirs);
    let forged = ours.files.path().join("search").join(folder.file_name().unwrap());
    copy_files(&folder, &forged);
    let meta = fs::read(forged.join("meta.json")).unwrap();
    fs::write(forged.join("meta.json"), replaced(&meta, &batch(&theirs).await, &batch(&ours).await)).unwrap();
    assert_eq!(snippets(&ours).await, (vec![TRUE.to_owned()], None));
    // The one that was made anew is believed by the next process.
    assert_eq!(snippets(&ours.again_elsewhere().await).await, (vec![TRUE.to_owned()], None));
}

#[tokio::test]
async fn what_an_index_says_against_the_record_is_left_out_and_the_index_made_anew() {
    let stage = on_sqlite(OPERATIONS).await;
    put(&stage, &[source(), paper(TRUE)]).await;
    let mut reader = stage.store.read().await.unwrap();
    let subject = Subject::find(&mut reader, "here").await.unwrap();
    drop(reader);
    let seal = Sealing::new(&keyring().secrets("materia derived v1")).of(WHAT, &subject);
    let folder = stage.files.path().join("search").join(&canonical::hash_text("here")[..16]);
    let mut index = TextIndex::open(&folder, &seal).unwrap();
    let Record::Document(document) = serde_json::from_value(paper(FALSE)).unwrap() else { panic!("a document") };
    index.apply(&[Change::Put(Box::new(Entry::of_document(&document)))], &Gazetteer::default()).unwrap();
    index.commit(&State { version: 1, batch: batch(&stage).await }).unwrap();
    drop(index);
    let (texts, note) = snippets(&stage).await;
    assert_eq!(texts, Vec::<String>::new());
    assert!(note.unwrap().contains("1 hit was left out"), "the caller is told");
    // It is made anew in the background, and whoever asks meanwhile waits for it or is told the same.
    let made_anew = async {
        loop {
            let (texts, note) = snippets(&stage).await;
            if note.is_none() {
                return texts;
            }
            assert_eq!(texts, Vec::<String>::new());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let texts = tokio::time::timeout(Duration::from_secs(30), made_anew).await.expect("the index is made anew");
    assert_eq!(texts, [TRUE]);
}
