//! A lexicon in the data folder: pairs in a file of our own form, beside the licence of where they come from.

use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use super::Lexicon;

/// `thai<TAB>english`, the better translation first.
pub const PAIRS: &str = "pairs.tsv";
pub const STOP_WORDS: &str = "stop_words.txt";

#[derive(Debug, thiserror::Error)]
pub enum LexiconError {
    #[error("could not read `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
}

/// Reads every lexicon below a folder, in the order of their names. No folder is no lexicon.
pub fn load(folder: &Path) -> Result<Lexicon, LexiconError> {
    let mut lexicon = Lexicon::default();
    let mut folders: Vec<PathBuf> = match fs::read_dir(folder) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect(),
        Err(_) => return Ok(lexicon),
    };
    folders.sort();
    for folder in folders {
        each_line(&folder.join(PAIRS), |line| {
            if let Some((thai, english)) = line.split_once('\t') {
                lexicon.add(thai, english);
            }
        })?;
        each_line(&folder.join(STOP_WORDS), |line| lexicon.add_thai_stop_word(line))?;
    }
    Ok(lexicon)
}

fn each_line(path: &Path, mut take: impl FnMut(&str)) -> Result<(), LexiconError> {
    if !path.is_file() {
        return Ok(());
    }
    let unreadable = |source| LexiconError::Read { path: path.to_owned(), source };
    for line in BufReader::new(fs::File::open(path).map_err(unreadable)?).lines() {
        take(&line.map_err(unreadable)?);
    }
    Ok(())
}
