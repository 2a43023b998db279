//! Vectors of one model in one file, by the hash of their text, as the model gives them: what search makes of them may
//! change without making them again. What was written when a run was interrupted stays.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;

use anyhow::Context as _;
use evidence::search::entry::ContentHash;
use serde_json::json;

pub struct Cache {
    file: File,
    vectors: HashMap<ContentHash, Vec<f32>>,
}

impl Cache {
    pub fn open(folder: &Path, model_sha256: &str) -> anyhow::Result<Cache> {
        fs::create_dir_all(folder).with_context(|| format!("could not make `{}`", folder.display()))?;
        let path = folder.join(format!("{}.jsonl", model_sha256.get(..16).unwrap_or(model_sha256)));
        let mut vectors = HashMap::new();
        if path.is_file() {
            // A line that broke off is made anew.
            for line in BufReader::new(File::open(&path)?).lines() {
                vectors.extend(parse(&line?));
            }
        }
        let file = OpenOptions::new().create(true).append(true).open(&path);
        Ok(Cache { file: file.with_context(|| format!("could not open `{}`", path.display()))?, vectors })
    }

    pub fn has(&self, hash: &ContentHash) -> bool {
        self.vectors.contains_key(hash)
    }

    pub fn find(&self, hash: &ContentHash) -> Option<&Vec<f32>> {
        self.vectors.get(hash)
    }

    pub fn insert(&mut self, hash: ContentHash, vector: Vec<f32>) -> anyhow::Result<()> {
        writeln!(self.file, "{}", json!([hash.0, vector])).context("could not write the cache")?;
        self.vectors.insert(hash, vector);
        Ok(())
    }
}

fn parse(line: &str) -> Option<(ContentHash, Vec<f32>)> {
    let (hash, vector): ([u8; 32], Vec<f32>) = serde_json::from_str(line).ok()?;
    Some((ContentHash(hash), vector))
}
