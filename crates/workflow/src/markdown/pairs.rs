//! Which of the code within lines is code to every reader, whatever stands above in the same lines of text.
//!
//! Readers differ in what they take for one paragraph, and so in which backticks pair; up to the first that is without
//! its pair in its own line, they agree.

use std::ops::Range;

use super::lines::blanked;
use super::marks::is_empty;

/// Of the lines since the last empty one.
#[derive(Debug, Default)]
pub struct Pairs {
    are_broken: bool,
    is_table: bool,
}

impl Pairs {
    /// The ranges of a line that are code to all. The line below may make this one the head of a table.
    pub fn keep(&mut self, line: &str, below: &str, mut code: Vec<Range<usize>>) -> Vec<Range<usize>> {
        if is_empty(line) {
            *self = Pairs::default();
            return Vec::new();
        }
        let of = |range: &Range<usize>| line.get(range.clone()).unwrap_or_default();
        // Some pages look for the end of a link's name in code, too.
        let ends_name = |range: &Range<usize>| of(range).split_once("](").is_some_and(|(name, _)| !name.contains('['));
        self.are_broken |= code.iter().any(ends_name);
        if self.are_broken {
            return Vec::new();
        }
        self.are_broken = blanked(line, &code).replace("\\`", "").contains('`');
        self.is_table |= is_delimiter(line) || is_delimiter(below);
        code.retain(|range| !self.is_table || !of(range).contains('|'));
        code
    }
}

/// `|---|:--:|`
fn is_delimiter(line: &str) -> bool {
    line.contains('-') && line.contains(['|', ':']) && line.chars().all(|c| "|:- \t>".contains(c))
}
