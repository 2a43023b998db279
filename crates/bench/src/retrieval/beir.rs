//! Folders in the form of BEIR: documents, questions, and which document answers which question how well.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context as _, bail};
use evidence::search::entry::{Entry, EntryRecord};
use evidence::search::words::script_language;
use flate2::read::MultiGzDecoder;
use serde::Deserialize;

pub struct Set {
    pub name: String,
    pub split: String,
    pub corpus: Vec<Entry>,
    /// Those that somebody judged.
    pub questions: Vec<Question>,
}

pub struct Question {
    pub text: String,
    /// Document → how well it answers; only those that do.
    pub judgements: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
struct Text {
    _id: String,
    #[serde(default)]
    title: String,
    text: String,
}

impl Set {
    pub fn read(folder: &Path, split: Option<&str>) -> anyhow::Result<Set> {
        let (split, judged) = judgements(&folder.join("qrels"), split)?;
        let mut questions = Vec::new();
        each_text(folder, "queries", |text| {
            if let Some(judgements) = judged.get(&text._id) {
                questions.push(Question { text: text.text, judgements: judgements.clone() });
            }
        })?;
        let mut corpus = Vec::new();
        each_text(folder, "corpus", |text| corpus.push(entry(text)))?;
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Set { name, split, corpus, questions })
    }
}

fn entry(text: Text) -> Entry {
    let lang = script_language(&format!("{} {}", text.title, text.text)).to_owned();
    Entry {
        record: EntryRecord::Document,
        id: text._id,
        kind: "paper".to_owned(),
        title: text.title,
        text: text.text,
        lang,
        source: "beir".to_owned(),
        year: None,
        categories: Vec::new(),
        names: Vec::new(),
        about: None,
        abstract_by: None,
        retraction: None,
        is_verified: false,
    }
}

fn each_text(folder: &Path, file: &str, mut take: impl FnMut(Text)) -> anyhow::Result<()> {
    let plain = folder.join(format!("{file}.jsonl"));
    let packed = folder.join(format!("{file}.jsonl.gz"));
    let reader: Box<dyn BufRead> = if plain.is_file() {
        Box::new(BufReader::new(File::open(&plain)?))
    } else {
        let file = File::open(&packed).with_context(|| format!("neither `{}` nor `.gz`", plain.display()))?;
        Box::new(BufReader::new(MultiGzDecoder::new(file)))
    };
    for line in reader.lines() {
        take(serde_json::from_str(&line?).with_context(|| format!("a line of `{file}` is no text with an `_id`"))?);
    }
    Ok(())
}

type Judged = BTreeMap<String, BTreeMap<String, f64>>;

fn judgements(folder: &Path, split: Option<&str>) -> anyhow::Result<(String, Judged)> {
    let mut splits: Vec<String> = fs::read_dir(folder)
        .with_context(|| format!("no folder `{}`", folder.display()))?
        .flatten()
        .filter_map(|file| file.file_name().to_str()?.strip_suffix(".tsv").map(str::to_owned))
        .collect();
    splits.sort();
    let split = match (split, splits.as_slice()) {
        (Some(split), _) => split.to_owned(),
        (None, [only]) => only.clone(),
        (None, several) if several.iter().any(|split| split == "test") => "test".to_owned(),
        (None, _) => bail!("`--split` must be one of {splits:?}"),
    };
    let path = folder.join(format!("{split}.tsv"));
    let text = fs::read_to_string(&path).with_context(|| format!("could not read `{}`", path.display()))?;
    let mut judged = Judged::new();
    for line in text.lines().skip(1) {
        let [question, document, score] = line.split('\t').collect::<Vec<_>>()[..] else {
            bail!("`{}` has a line without three columns", path.display())
        };
        let score: f64 = score.trim().parse().with_context(|| format!("`{score}` is no number"))?;
        if score > 0.0 {
            judged.entry(question.to_owned()).or_default().insert(document.to_owned(), score);
        }
    }
    Ok((split, judged))
}
