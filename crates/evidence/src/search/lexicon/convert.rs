//! Foreign dictionaries into pairs of our own form.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Row as _};

use super::files::{PAIRS, STOP_WORDS};

#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    #[error("could not read `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("could not write `{}`", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("`{}` is not the expected database", path.display())]
    Database { path: PathBuf, source: sqlx::Error },
    #[error("`{}` is not the expected JSON", path.display())]
    Json { path: PathBuf, source: serde_json::Error },
}

type Pairs = Vec<(String, String)>;

/// Writes a lexicon: its pairs, each once and in their order, and the words that say nothing alone.
pub fn write(folder: &Path, pairs: &[(String, String)], stop_words: &[String]) -> Result<usize, ConvertError> {
    let unwritable = |source| ConvertError::Write { path: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(unwritable)?;
    let mut seen = BTreeSet::new();
    let mut file = BufWriter::new(fs::File::create(folder.join(PAIRS)).map_err(unwritable)?);
    for (thai, english) in pairs {
        let (thai, english) = (thai.trim(), english.trim());
        let fits =
            !thai.is_empty() && !english.is_empty() && !thai.contains(['\t', '\n']) && !english.contains(['\t', '\n']);
        if fits && seen.insert((thai, english)) {
            writeln!(file, "{thai}\t{english}").map_err(unwritable)?;
        }
    }
    file.flush().map_err(unwritable)?;
    if !stop_words.is_empty() {
        fs::write(folder.join(STOP_WORDS), stop_words.join("\n")).map_err(unwritable)?;
    }
    Ok(seen.len())
}

/// The Thai-English transliterations of PyThaiNLP: `th<TAB>en<TAB>checked` below a header.
pub fn transliterations(file: &Path) -> Result<Pairs, ConvertError> {
    let text = read(file)?;
    let rows = text.lines().skip(1).filter_map(|line| {
        let mut columns = line.split('\t');
        Some((columns.next()?.to_owned(), columns.next()?.to_owned()))
    });
    Ok(rows.collect())
}

/// A list of words, one per line.
pub fn word_list(file: &Path) -> Result<Vec<String>, ConvertError> {
    let text = read(file)?;
    let words =
        text.lines().map(|line| line.trim_matches(|letter: char| letter.is_whitespace() || letter == '\u{feff}'));
    Ok(words.filter(|word| !word.is_empty()).map(str::to_owned).collect())
}

/// Thai WordNet (synset → Thai word) with the English words of the same synsets in WordNet 3.0.
pub async fn wordnets(thai: &Path, english: &Path) -> Result<Pairs, ConvertError> {
    let mut synsets: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (kind, file) in [("n", "data.noun"), ("v", "data.verb"), ("a", "data.adj"), ("r", "data.adv")] {
        for line in read(&english.join(file))?.lines() {
            if let Some((offset, words)) = synset(line) {
                synsets.insert(format!("{offset}-{kind}"), words);
            }
        }
    }
    let unreadable = |source| ConvertError::Database { path: thai.to_owned(), source };
    let options = SqliteConnectOptions::new().filename(thai).read_only(true);
    let mut connection = options.connect().await.map_err(unreadable)?;
    let rows = sqlx::query("SELECT synsetid, li FROM word_synset ORDER BY rowid").fetch_all(&mut connection).await;
    let mut pairs = Vec::new();
    for row in rows.map_err(unreadable)? {
        let id: String = row.try_get(0).map_err(unreadable)?;
        let word: String = row.try_get(1).map_err(unreadable)?;
        // A satellite of an adjective is an adjective.
        let words = synsets.get(&id.replace("-s", "-a")).into_iter().flatten();
        pairs.extend(words.map(|english| (word.replace('_', " "), english.clone())));
    }
    Ok(pairs)
}

/// A line of `data.*`: offset, file number, kind, number of words in hex, then a word and a number for each.
fn synset(line: &str) -> Option<(String, Vec<String>)> {
    if line.starts_with(' ') {
        return None;
    }
    let mut columns = line.split(' ');
    let offset = columns.next()?.to_owned();
    let n_words = usize::from_str_radix(columns.nth(2)?, 16).ok()?;
    let words = columns.step_by(2).take(n_words).map(|word| {
        // Adjectives carry where they may stand: `galore(ip)`.
        word.split('(').next().unwrap_or(word).replace('_', " ")
    });
    Some((offset, words.collect()))
}

#[derive(Deserialize)]
struct Row {
    search: String,
    #[serde(default)]
    result: String,
    #[serde(default)]
    relate: Vec<String>,
}

/// LEXiTRON as the package `thaidict` has it: the translation first, then its relatives.
pub fn lexitron(file: &Path) -> Result<Pairs, ConvertError> {
    let rows: Vec<Row> =
        serde_json::from_str(&read(file)?).map_err(|source| ConvertError::Json { path: file.to_owned(), source })?;
    let mut pairs = Vec::new();
    for row in rows {
        pairs.push((row.search.clone(), row.result));
        pairs.extend(row.relate.into_iter().map(|word| (row.search.clone(), word)));
    }
    Ok(pairs)
}

fn read(path: &Path) -> Result<String, ConvertError> {
    fs::read_to_string(path).map_err(|source| ConvertError::Read { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_wordnet_gives_its_words() {
        let line = "00002137 03 n 02 abstraction 0 abstract_entity 0 010 @ 00001740 n 0000 | a general concept";
        assert_eq!(
            synset(line),
            Some(("00002137".to_owned(), vec!["abstraction".to_owned(), "abstract entity".to_owned()]))
        );
        let line = "00014490 00 s 01 galore(ip) 0 001 & 00013887 a 0000 | existing in abundance";
        assert_eq!(synset(line), Some(("00014490".to_owned(), vec!["galore".to_owned()])));
        assert_eq!(synset("  1 This software and database is being provided"), None);
    }
}
