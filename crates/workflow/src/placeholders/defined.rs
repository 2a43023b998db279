//! Final ids under which a document is cut into others: `### HLS-012: Log in`. Whoever writes one by hand says that this
//! id is taken, and by whom.

use std::collections::BTreeSet;

use super::twice::is_mark;
use super::{Kind, Token, tokens};
use crate::catalogue::{Catalogue, DocumentType};
use crate::markdown::{Document, item, parse_heading, plain};

/// A final id, and the line that it is the title of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defined {
    pub id: String,
    pub line: usize,
}

/// The final ids of one prefix that are the titles of headings, or of items in a section where the template of the type
/// has such items. Each once, at its first line.
pub fn find_defined(catalogue: &Catalogue, kind: &DocumentType, prefix: &str, text: &str) -> Vec<Defined> {
    let template = catalogue.find_template(&kind.name).unwrap_or_default();
    let listing: BTreeSet<String> = titles(catalogue, template)
        .into_iter()
        .filter(|it| it.is_item && it.token.prefix == prefix && it.token.kind() == Kind::Placeholder)
        .map(|it| it.section)
        .collect();
    let mut seen = BTreeSet::new();
    titles(catalogue, text)
        .into_iter()
        .filter(|it| it.token.prefix == prefix && it.token.kind() == Kind::Final)
        .filter(|it| !it.is_item || listing.contains(&it.section))
        .filter(|it| seen.insert(it.token.text))
        .map(|it| Defined { id: it.token.text.to_owned(), line: it.line })
        .collect()
}

/// An id at the beginning of a heading or of an item.
struct Title<'a> {
    token: Token<'a>,
    line: usize,
    is_item: bool,
    /// The heading above, as plain words.
    section: String,
}

fn titles<'a>(catalogue: &Catalogue, text: &'a str) -> Vec<Title<'a>> {
    let document = Document::parse(text);
    let (mut found, mut section) = (Vec::new(), String::new());
    for line in document.lines().iter().filter(|line| !line.is_code) {
        let (said, is_item) = match (parse_heading(line), item(line.text)) {
            (Some(heading), _) => {
                section = plain(heading.title).to_lowercase();
                // The first heading is the title of the document itself.
                if heading.level == 1 {
                    continue;
                }
                (heading.title, false)
            }
            (None, Some(said)) => (said, true),
            (None, None) => continue,
        };
        let said = said.trim_start_matches(is_mark);
        let Some(token) = tokens(catalogue, said).into_iter().next().filter(|token| token.start == 0) else { continue };
        let after = said.get(token.text.len()..).unwrap_or_default().trim_start_matches(is_mark).trim_start();
        if after.is_empty() || after.starts_with([':', '-', '–', '—']) {
            found.push(Title { token, line: line.number, is_item, section: section.clone() });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(artifact_type: &str, prefix: &str, text: &str, expected: &[(&str, usize)]) {
        let catalogue = Catalogue::built_in().unwrap();
        let found = find_defined(&catalogue, catalogue.find_type(artifact_type).unwrap(), prefix, text);
        let found: Vec<(&str, usize)> = found.iter().map(|it| (it.id.as_str(), it.line)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn headings_and_the_items_of_the_sections_that_list_what_follows_define_ids() {
        check(
            "prd",
            "HLS",
            "# P\n### HLS-002: Log in\n### **HLS-003** – Log out\n### HLS-004",
            &[("HLS-002", 2), ("HLS-003", 3), ("HLS-004", 4)],
        );
        check(
            "hls",
            "US",
            "## Decomposition into Backlog Stories\n1. US-005: Log in\n- US-006: Log out",
            &[("US-005", 2), ("US-006", 3)],
        );
    }

    #[test]
    fn whoever_only_speaks_of_a_document_defines_none() {
        check("prd", "HLS", "## Dependencies\n- HLS-002: comes first\n\nAfter HLS-003.\n### After HLS-004", &[]);
        check("prd", "HLS", "```\n### HLS-002: Log in\n```\n### HLS-AAA: Log in\n### US-001: other", &[]);
        check("prd", "HLS", "### HLS-002 and others", &[]);
    }
}
