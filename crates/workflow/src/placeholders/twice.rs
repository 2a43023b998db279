//! One placeholder that stands for two documents: both would get the same id.

use std::collections::BTreeMap;

use super::{Kind, tokens};
use crate::catalogue::Catalogue;
use crate::markdown::{Document, Line, parse_heading, plain};

/// A placeholder and the two lines that give it different titles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Twice {
    pub token: String,
    pub first_line: usize,
    pub second_line: usize,
}

/// Where a title counts: a heading of another level, or a list elsewhere, may speak of the same document in other words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Headings { level: usize },
    List { section_line: usize },
}

/// The first placeholder that two headings of one level, or two items of one section, give different titles.
pub fn find_twice(catalogue: &Catalogue, text: &str) -> Option<Twice> {
    let document = Document::parse(text);
    let mut seen: BTreeMap<(Place, String), (usize, String)> = BTreeMap::new();
    let mut section_line = 0;
    for line in document.lines().iter().filter(|line| !line.is_code) {
        let (place, said) = match (parse_heading(line), item(line)) {
            (Some(heading), _) => {
                section_line = line.number;
                (Place::Headings { level: heading.level }, heading.title)
            }
            (None, Some(said)) => (Place::List { section_line }, said),
            (None, None) => continue,
        };
        let Some((token, title)) = titled(catalogue, said) else { continue };
        let (first_line, first) = seen.entry((place, token.to_owned())).or_insert_with(|| (line.number, title.clone()));
        if *first != title {
            let (first_line, second_line) = (*first_line, line.number);
            return Some(Twice { token: token.to_owned(), first_line, second_line });
        }
    }
    None
}

/// The text of a list's item: `- x`, `2. x`.
fn item<'a>(line: &Line<'a>) -> Option<&'a str> {
    let text = line.text.trim_start();
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest =
        if number.len() < text.len() { number.strip_prefix(['.', ')']) } else { text.strip_prefix(['-', '*', '+']) };
    rest.filter(|rest| rest.starts_with(' ')).map(str::trim_start)
}

/// `HLS-AAA: Title`, whatever marks stand around the placeholder.
fn titled<'a>(catalogue: &Catalogue, said: &'a str) -> Option<(&'a str, String)> {
    let is_mark = |c: char| ['*', '_', '`', '[', ']'].contains(&c);
    let said = said.trim_start_matches(is_mark);
    let token = tokens(catalogue, said).into_iter().next()?;
    let after = said.get(token.text.len()..)?.trim_start_matches(is_mark).trim_start();
    let title = plain(after.strip_prefix([':', '-', '–', '—'])?.trim_start_matches(is_mark));
    (token.start == 0 && token.kind() == Kind::Placeholder && !title.is_empty()).then_some((token.text, title))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn twice(text: &str) -> Option<(String, usize, usize)> {
        let found = find_twice(&Catalogue::built_in().unwrap(), text)?;
        Some((found.token, found.first_line, found.second_line))
    }

    #[test]
    fn one_placeholder_for_two_documents_is_named_with_both_lines() {
        for text in [
            "### HLS-AAA: Log in\ntext\n### HLS-AAA: Log out",
            "### **HLS-AAA**: Log in\n\n### [HLS-AAA] – Log out",
            "1. HLS-AAA: Log in\n\n2. HLS-AAA: Log out",
            "- **HLS-AAA:** Log in\n- HLS-BBB: x\n- **HLS-AAA:** Log out",
        ] {
            assert_eq!(twice(text).map(|(token, first, _)| (token, first)), Some(("HLS-AAA".to_owned(), 1)), "{text}");
        }
        let found = twice("# T\n### HLS-AAA: Log in\n### HLS-AAA: Log out").unwrap();
        assert_eq!((found.1, found.2), (2, 3));
    }

    #[test]
    fn whoever_speaks_of_one_document_again_is_left_alone() {
        for text in [
            "### HLS-AAA: Log in\n### HLS-BBB: Log out\n### HLS-AAA: Log in (continued)",
            "### HLS-AAA: Log in\n#### HLS-AAA: Steps",
            "### HLS-AAA: Log in\n- HLS-AAA: comes first\n## Risks\n- HLS-AAA: is large",
            "### HLS-AAA\n### HLS-AAA: Log in",
            "### HLS-001: Log in\n### HLS-001: Log out",
            "```\n### HLS-AAA: Log in\n### HLS-AAA: Log out\n```",
        ] {
            assert_eq!(twice(text), None, "{text}");
        }
    }
}
