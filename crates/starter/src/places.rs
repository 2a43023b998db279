//! Where in the files something stands.

use std::fmt;

/// A file, or a line of one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub file: String,
    /// From 1; absent where the whole file is meant.
    pub line: Option<usize>,
}

impl Place {
    pub fn file(file: &str) -> Place {
        Place { file: file.to_owned(), line: None }
    }

    pub fn line(file: &str, line: usize) -> Place {
        Place { file: file.to_owned(), line: Some(line) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => f.write_str(&self.file),
        }
    }
}
