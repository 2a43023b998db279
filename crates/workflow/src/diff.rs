//! What changed between two texts, line by line.

use std::time::{Duration, Instant};

use similar::{ChangeTag, TextDiff};

/// Two texts that differ everywhere take long to compare well; after this the comparison is only right, not short.
const COMPARED_WITHIN: Duration = Duration::from_millis(500);
const CONTEXT_LINES: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    pub text: String,
    pub n_lines_added: u32,
    pub n_lines_removed: u32,
}

pub fn unified(old: &str, new: &str) -> Diff {
    let compared = TextDiff::configure().deadline(Instant::now() + COMPARED_WITHIN).diff_lines(old, new);
    let count = |tag: ChangeTag| {
        let n = compared.iter_all_changes().filter(|change| change.tag() == tag).count();
        u32::try_from(n).unwrap_or(u32::MAX)
    };
    Diff {
        n_lines_added: count(ChangeTag::Insert),
        n_lines_removed: count(ChangeTag::Delete),
        text: compared.unified_diff().context_radius(CONTEXT_LINES).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_line_is_one_removed_and_one_added() {
        let diff = unified("a\nb\nc\n", "a\nB\nc\n");
        assert_eq!((diff.n_lines_added, diff.n_lines_removed), (1, 1));
        assert_eq!(diff.text, "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
        assert_eq!(unified("same\n", "same\n").text, "");
    }
}
