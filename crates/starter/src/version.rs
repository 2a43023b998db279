//! Which data set it is: a date that people give it, and a hash of what it holds.

use std::cmp::Ordering;
use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::files::Files;

/// The file that holds the first part.
pub const VERSION_FILE: &str = "VERSION";

const HASH_BYTES: usize = 4;

/// Such as `2026.11.16+0a1b2c3d`: numbers between dots, then the beginning of a SHA-256 over all files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataVersion {
    numbers: Vec<u32>,
    hash: String,
}

/// The version of a data set; `None` where `VERSION` is missing or holds no numbers between dots.
pub fn data_version(files: &Files) -> Option<DataVersion> {
    let text = std::str::from_utf8(files.get(VERSION_FILE)?).ok()?;
    let numbers = numbers(text.strip_suffix('\n').unwrap_or(text))?;
    let mut hash = Sha256::new();
    for (path, content) in files.iter() {
        // Lengths keep a file's end apart from the next one's beginning.
        hash.update(format!("{path}\n{}\n", content.len()));
        hash.update(content);
    }
    let hash = hex::encode(hash.finalize().iter().take(HASH_BYTES).copied().collect::<Vec<u8>>());
    Some(DataVersion { numbers, hash })
}

fn numbers(text: &str) -> Option<Vec<u32>> {
    let is_plain = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    text.split('.').map(|part| Some(part).filter(is_plain)?.parse().ok()).collect()
}

impl DataVersion {
    /// Reads what [`fmt::Display`] wrote.
    pub fn parse(text: &str) -> Option<DataVersion> {
        let (version, hash) = text.split_once('+')?;
        Some(DataVersion { numbers: numbers(version)?, hash: hash.to_owned() })
    }

    /// By the numbers alone: two sets of one day are neither older nor newer than each other.
    pub fn is_older_than(&self, other: &DataVersion) -> bool {
        self.numbers.cmp(&other.numbers) == Ordering::Less
    }
}

impl fmt::Display for DataVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.numbers.iter().map(|number| format!("{number:02}")).collect();
        write!(f, "{}+{}", numbers.join("."), self.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Option<String> {
        let mut all = Files::default();
        files.iter().for_each(|(path, text)| all.insert(path, text.as_bytes().to_vec()));
        data_version(&all).map(|version| version.to_string())
    }

    #[test]
    fn a_version_has_its_numbers_and_changes_with_any_file() {
        let one = of(&[("VERSION", "2026.01.05\n"), ("a", "1")]).unwrap();
        assert!(one.starts_with("2026.01.05+") && one.len() == "2026.01.05+00000000".len(), "{one}");
        assert_eq!(DataVersion::parse(&one).unwrap().to_string(), one);
        assert_ne!(of(&[("VERSION", "2026.01.05\n"), ("a", "2")]).unwrap(), one);
        assert_ne!(of(&[("VERSION", "2026.01.05\n"), ("b", "1")]).unwrap(), one);
        assert_eq!(of(&[("VERSION", "soon\n")]), None);
        assert_eq!(of(&[("a", "1")]), None);
    }

    #[test]
    fn versions_are_compared_by_their_numbers() {
        let version = |text: &str| DataVersion::parse(text).unwrap();
        assert!(version("2026.9.30+ffffffff").is_older_than(&version("2026.11.01+00000000")));
        assert!(!version("2026.11.01+00000000").is_older_than(&version("2026.11.01+11111111")));
        assert!(!version("2026.11.02+00000000").is_older_than(&version("2026.11.01+11111111")));
    }
}
