//! What a check found.

use serde::Serialize;

use crate::places::Place;

/// Something that must not ship.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The row, and where in it: `khing facts/3/sources`.
    pub at: String,
    pub found: String,
    pub expected: String,
}

impl Problem {
    pub fn new(place: &Place, at: impl Into<String>, found: impl Into<String>, expected: impl Into<String>) -> Problem {
        Problem {
            file: place.file.clone(),
            line: place.line,
            at: at.into(),
            found: found.into(),
            expected: expected.into(),
        }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = Place { file: self.file.clone(), line: self.line };
        let at = if self.at.is_empty() { String::new() } else { format!(" {}:", self.at) };
        write!(f, "{place}:{at} found {}, expected {}", self.found, self.expected)
    }
}

/// How many there are of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Count {
    pub kind: &'static str,
    pub n: usize,
    /// Those whose source was read and says so; absent for kinds that state nothing by themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_verified: Option<usize>,
}

impl Count {
    pub(crate) fn of(kind: &'static str, n: usize) -> Count {
        Count { kind, n, n_verified: None }
    }

    pub(crate) fn verified(kind: &'static str, verified: impl IntoIterator<Item = bool>) -> Count {
        let (mut n, mut n_verified) = (0, 0);
        for is_verified in verified {
            n += 1;
            n_verified += usize::from(is_verified);
        }
        Count { kind, n, n_verified: Some(n_verified) }
    }

    /// In per cent, rounded down.
    pub fn share_verified(&self) -> Option<usize> {
        self.n_verified?.checked_mul(100)?.checked_div(self.n)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Absent where `VERSION` cannot be read, which is a problem too.
    pub data_version: Option<String>,
    pub counts: Vec<Count>,
    /// In the order of files and lines.
    pub problems: Vec<Problem>,
}

impl Report {
    pub fn count(&self, kind: &str) -> Option<&Count> {
        self.counts.iter().find(|count| count.kind == kind)
    }
}
