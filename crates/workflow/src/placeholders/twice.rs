//! One placeholder, or one id by hand, that stands for two documents: both would have the same id.

use std::collections::{BTreeMap, BTreeSet};

use super::defined::find_defined_twice;
use super::title::Titled;
use super::{Kind, tokens};
use crate::catalogue::{Catalogue, DocumentType};
use crate::markdown::{Document, item, plain};

/// A placeholder or an id, and the two lines that give it different titles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Twice {
    pub token: String,
    pub first_line: usize,
    pub second_line: usize,
}

/// Where a title counts: a heading of another level, or a list elsewhere, may speak of the same document in other words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Headings { level: usize },
    List { section_line: usize },
}

impl Place {
    pub(super) fn is_list(self) -> bool {
        matches!(self, Place::List { .. })
    }
}

/// The first placeholder, or id of a document that this one is cut into, that the text gives to two documents.
pub fn find_twice(catalogue: &Catalogue, kind: &DocumentType, text: &str) -> Option<Twice> {
    find_placeholder_twice(catalogue, text).or_else(|| find_defined_twice(catalogue, kind, text))
}

/// The first placeholder that two headings of one level, or two items of one section, give different titles; or else two
/// rows of the first table that has it, where nothing but the table says what it stands for.
fn find_placeholder_twice(catalogue: &Catalogue, text: &str) -> Option<Twice> {
    let document = Document::parse(text);
    let mut seen: BTreeMap<(Place, String), (usize, String)> = BTreeMap::new();
    let mut section_line = 0;
    for line in document.lines().iter().filter(|line| !line.is_code) {
        let (place, said) = match (line.heading, item(line.text)) {
            (Some(heading), _) => {
                section_line = line.number;
                (Place::Headings { level: heading.level }, heading.title)
            }
            (None, Some(said)) => (Place::List { section_line }, said),
            (None, None) => continue,
        };
        let Some((token, title)) = titled(catalogue, said) else { continue };
        let (first_line, first) = seen.entry((place, token.clone())).or_insert_with(|| (line.number, title.clone()));
        if *first != title {
            let (first_line, second_line) = (*first_line, line.number);
            return Some(Twice { token, first_line, second_line });
        }
    }
    let titled = seen.into_keys().map(|(_, token)| token).collect();
    find_in_tables(catalogue, &document, &titled)
}

/// The first placeholder that two rows of a table give different titles. A table may also say more of documents that have
/// their `titled` places elsewhere, such as the risks of each, one by one; so may every table but the first.
fn find_in_tables(catalogue: &Catalogue, document: &Document<'_>, titled: &BTreeSet<String>) -> Option<Twice> {
    // By placeholder: the table, the line and the title.
    let mut seen: BTreeMap<String, (usize, usize, String)> = BTreeMap::new();
    let mut table = 0;
    for line in document.lines() {
        if line.is_code || !line.text.contains('|') {
            table = line.number;
            continue;
        }
        let Some((token, title)) = titled_row(catalogue, line.text).filter(|(token, _)| !titled.contains(token)) else {
            continue;
        };
        let (first_table, first_line, first) =
            seen.entry(token.clone()).or_insert_with(|| (table, line.number, title.clone()));
        if *first_table == table && *first != title {
            let (first_line, second_line) = (*first_line, line.number);
            return Some(Twice { token, first_line, second_line });
        }
    }
    None
}

/// `| HLS-AAA | Title | … |`, or the same after a number, or `| HLS-AAA: Title | … |`.
fn titled_row(catalogue: &Catalogue, line: &str) -> Option<(String, String)> {
    let mut cells = cells(line).into_iter();
    let mut cell = cells.next()?;
    if is_number(cell) {
        cell = cells.next()?;
    }
    if let Some(found) = titled(catalogue, cell) {
        return Some(found);
    }
    let bare = cell.trim_matches(is_mark);
    // Of a link, what is shown.
    let bare = bare.split_once("](").map_or(bare, |(shown, _)| shown).trim_matches(is_mark);
    let token = tokens(catalogue, bare).into_iter().next()?;
    let title = plain(cells.next()?);
    let is_alone = token.text == bare && token.kind() == Kind::Placeholder;
    (is_alone && !title.is_empty()).then(|| (token.text.to_owned(), title))
}

/// `1`, `2.`, `#`, or nothing.
pub(super) fn is_number(cell: &str) -> bool {
    cell.bytes().all(|byte| byte.is_ascii_digit() || [b'.', b')', b'#'].contains(&byte))
}

/// The cells of a table's row.
pub(super) fn cells(line: &str) -> Vec<&str> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut before = '|';
    let is_border = |c: char| {
        let is_escaped = before == '\\';
        before = c;
        c == '|' && !is_escaped
    };
    line.split(is_border).map(str::trim).collect()
}

pub(super) fn is_mark(c: char) -> bool {
    ['*', '_', '`', '[', ']'].contains(&c)
}

/// `HLS-AAA: Title`, whatever stands around the placeholder.
fn titled(catalogue: &Catalogue, said: &str) -> Option<(String, String)> {
    let Titled { id, kind, title, .. } = Titled::read(catalogue, said)?;
    let title = plain(&title);
    (kind == Kind::Placeholder && !title.is_empty()).then_some((id, title))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn twice(text: &str) -> Option<(String, usize, usize)> {
        let catalogue = Catalogue::built_in().unwrap();
        let found = find_twice(&catalogue, catalogue.find_type("prd").unwrap(), text)?;
        Some((found.token, found.first_line, found.second_line))
    }

    #[test]
    fn one_placeholder_for_two_documents_is_named_with_both_lines() {
        for text in [
            "### HLS-AAA: Log in\ntext\n### HLS-AAA: Log out",
            "### **HLS-AAA**: Log in\n\n### [HLS-AAA] – Log out",
            "1. HLS-AAA: Log in\n\n2. HLS-AAA: Log out",
            "- **HLS-AAA:** Log in\n- HLS-BBB: x\n- **HLS-AAA:** Log out",
            "### 1. HLS-AAA: Log in\n### 2. [HLS-AAA](x): Log out",
        ] {
            assert_eq!(twice(text).map(|(token, first, _)| (token, first)), Some(("HLS-AAA".to_owned(), 1)), "{text}");
        }
        let found = twice("# T\n### HLS-AAA: Log in\n### HLS-AAA: Log out").unwrap();
        assert_eq!((found.1, found.2), (2, 3));
    }

    #[test]
    fn one_id_by_hand_for_two_documents_is_named_with_both_lines() {
        for text in
            ["# T\n### HLS-050: Log in\n### HLS-050: Log out", "x\n### 1. HLS-050: Log in\n### hls-050: Log out"]
        {
            assert_eq!(twice(text), Some(("HLS-050".to_owned(), 2, 3)), "{text}");
        }
    }

    #[test]
    fn one_placeholder_for_two_rows_of_a_table_is_named_with_both_lines() {
        for text in [
            "| Id | Story |\n|---|---|\n| HLS-AAA | Log in |\n| HLS-AAA | Log out |",
            "Id | Story\n--- | ---\n**HLS-AAA** | Log in\n`HLS-AAA` | Log out",
            "| # | Id | Story |\n|---|---|---|\n| 1 | HLS-AAA | Log in |\n| 2. | [HLS-AAA](#x) | Log out | 3 |",
            "| Story | Points |\n|---|---|\n| HLS-AAA: Log in | 3 |\n| HLS-AAA: Log out | 3 |",
        ] {
            assert_eq!(twice(text), Some(("HLS-AAA".to_owned(), 3, 4)), "{text}");
        }
        let between = "| HLS-AAA | a \\| b |\n| HLS-BBB | c |\n| HLS-AAA | a |";
        assert_eq!(twice(between), Some(("HLS-AAA".to_owned(), 1, 3)));
    }

    #[test]
    fn a_table_that_says_more_of_a_document_is_left_alone() {
        for text in [
            "| HLS-AAA | Log in | 3 |\n| HLS-BBB | Log out | 3 |\n| HLS-AAA | Log in | 5 |",
            "### HLS-AAA: Log in\n| Story | Risk |\n|---|---|\n| HLS-AAA | slow |\n| HLS-AAA | dear |",
            "| HLS-AAA | Log in |\n\n| HLS-AAA | slow |\n| HLS-AAA | dear |",
            "| Risk | Story |\n|---|---|\n| slow | HLS-AAA |\n| dear | HLS-AAA |",
            "| HLS-AAA | |\n| HLS-AAA | Log in |",
            "| HLS-AAA, HLS-BBB | both |\n| HLS-AAA, HLS-BBB | again |",
            "```\n| HLS-AAA | Log in |\n| HLS-AAA | Log out |\n```",
        ] {
            assert_eq!(twice(text), None, "{text}");
        }
    }

    #[test]
    fn whoever_speaks_of_one_document_again_is_left_alone() {
        for text in [
            "### HLS-AAA: Log in\n### HLS-BBB: Log out\n### HLS-AAA: Log in (continued)",
            "### HLS-AAA: Log in\n#### HLS-AAA: Steps",
            "### HLS-AAA: Log in\n- HLS-AAA: comes first\n## Risks\n- HLS-AAA: is large",
            "### HLS-AAA\n### HLS-AAA: Log in",
            "### HLS-001: Log in\n### HLS-001: Log in (continued)\n#### HLS-001: Steps",
            "## Related Documents\n- HLS-001: comes first\n- HLS-001: is large",
            "```\n### HLS-AAA: Log in\n### HLS-AAA: Log out\n```",
        ] {
            assert_eq!(twice(text), None, "{text}");
        }
    }
}
