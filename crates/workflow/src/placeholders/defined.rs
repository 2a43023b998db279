//! Final ids under which a document is cut into others: `### HLS-012: Log in`. Whoever writes one by hand says that this
//! id is taken, and by whom.

use std::collections::{BTreeMap, BTreeSet};

use super::title::Titled;
use super::twice::Place;
use super::{Kind, Twice};
use crate::catalogue::{Catalogue, DocumentType, Numbering};
use crate::markdown::{Document, item, plain};

/// A final id, and the line that it is the title of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defined {
    pub id: String,
    pub line: usize,
}

/// The final ids of one prefix that are the titles of headings, or of items in a section where the template of the type
/// has such items. Each once, at its first line.
pub fn find_defined(catalogue: &Catalogue, kind: &DocumentType, prefix: &str, text: &str) -> Vec<Defined> {
    let mut seen = BTreeSet::new();
    let titles = definitions(catalogue, kind, prefix, text).into_iter().map(|it| (it.titled.id, it.line));
    titles.filter(|(id, _)| seen.insert(id.clone())).map(|(id, line)| Defined { id, line }).collect()
}

/// The first id that the text gives to two documents: headings of one level, or items of one section, with different
/// titles.
pub(super) fn find_defined_twice(catalogue: &Catalogue, kind: &DocumentType, text: &str) -> Option<Twice> {
    let mut seen: BTreeMap<(Place, String), (usize, String)> = BTreeMap::new();
    for prefix in prefixes(catalogue, kind) {
        for Title { titled, line, place, .. } in definitions(catalogue, kind, prefix, text) {
            let title = plain(&titled.title);
            if title.is_empty() {
                continue;
            }
            let (first_line, first) = seen.entry((place, titled.id.clone())).or_insert_with(|| (line, title.clone()));
            if *first != title {
                return Some(Twice { token: titled.id, first_line: *first_line, second_line: line });
            }
        }
    }
    None
}

/// The first title that has an id in a writing of its own (`hls-012`): whoever looks for the id would not find it.
pub fn find_odd(catalogue: &Catalogue, kind: &DocumentType, text: &str) -> Option<Defined> {
    prefixes(catalogue, kind).find_map(|prefix| {
        let odd = definitions(catalogue, kind, prefix, text).into_iter().find(|it| it.titled.is_odd)?;
        Some(Defined { id: odd.titled.id, line: odd.line })
    })
}

/// The prefixes of what a document of this type is cut into, where that is more than one document of its own number.
fn prefixes<'c>(catalogue: &'c Catalogue, kind: &'c DocumentType) -> impl Iterator<Item = &'c str> {
    let children = kind.decomposes_into.iter().filter(|child| child.numbering == Numbering::Reserved);
    children.filter_map(|child| catalogue.find_type(&child.artifact_type)?.prefix.as_deref())
}

/// The titles that give a final id of one prefix to a document.
fn definitions(catalogue: &Catalogue, kind: &DocumentType, prefix: &str, text: &str) -> Vec<Title> {
    let template = catalogue.find_template(&kind.name).unwrap_or_default();
    let is_of = |it: &Title, kind: Kind| it.titled.prefix == prefix && it.titled.kind == kind;
    let listing: BTreeSet<String> = titles(catalogue, template)
        .into_iter()
        .filter(|it| it.place.is_list() && is_of(it, Kind::Placeholder))
        .map(|it| it.section)
        .collect();
    let mut found = titles(catalogue, text);
    found.retain(|it| is_of(it, Kind::Final) && (!it.place.is_list() || listing.contains(&it.section)));
    found
}

/// An id at the beginning of a heading or of an item.
struct Title {
    titled: Titled,
    line: usize,
    place: Place,
    /// The heading above, as plain words.
    section: String,
}

fn titles(catalogue: &Catalogue, text: &str) -> Vec<Title> {
    let document = Document::parse(text);
    let (mut found, mut section, mut section_line) = (Vec::new(), String::new(), 0);
    for line in document.lines().iter().filter(|line| !line.is_code) {
        let (said, place) = match (line.heading, item(line.text)) {
            (Some(heading), _) => {
                (section, section_line) = (plain(heading.title).to_lowercase(), line.number);
                // The first heading is the title of the document itself.
                if heading.level == 1 {
                    continue;
                }
                (heading.title, Place::Headings { level: heading.level })
            }
            (None, Some(said)) => (said, Place::List { section_line }),
            (None, None) => continue,
        };
        if let Some(titled) = Titled::read(catalogue, said) {
            found.push(Title { titled, line: line.number, place, section: section.clone() });
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
            "# P\n### HLS-002: Log in\n### **HLS-003** – Log out\n### HLS-004\n### §3.1 HLS-005: x\n### [HLS-006](x): y",
            &[("HLS-002", 2), ("HLS-003", 3), ("HLS-004", 4), ("HLS-005", 5), ("HLS-006", 6)],
        );
        check(
            "hls",
            "US",
            "## Decomposition into Backlog Stories\n1. US-005: Log in\n- US-006: Log out",
            &[("US-005", 2), ("US-006", 3)],
        );
    }

    #[test]
    fn an_id_in_a_writing_of_its_own_is_named_with_its_line() {
        let catalogue = Catalogue::built_in().unwrap();
        let prd = catalogue.find_type("prd").unwrap();
        for title in ["HLS\u{2011}030: Mine", "hls-030: Mine", "2. **HLS**-030: Mine"] {
            let odd = Defined { id: "HLS-030".to_owned(), line: 2 };
            assert_eq!(find_odd(&catalogue, prd, &format!("# P\n### {title}")), Some(odd), "{title}");
        }
        for line in ["### 1. [HLS-030](x): Mine", "see hls-030", "- hls-030: comes first", "`hls-030`"] {
            assert_eq!(find_odd(&catalogue, prd, &format!("# P\n{line}")), None, "{line}");
        }
    }

    #[test]
    fn whoever_only_speaks_of_a_document_defines_none() {
        check("prd", "HLS", "## Dependencies\n- HLS-002: comes first\n\nAfter HLS-003.\n### After HLS-004", &[]);
        check("prd", "HLS", "```\n### HLS-002: Log in\n```\n### HLS-AAA: Log in\n### US-001: other", &[]);
        check("prd", "HLS", "### HLS-002 and others", &[]);
    }
}
