//! Open questions that stand in the way of an approval.
//!
//! The checklist asks for one section of a certain form. Here every section that speaks of open questions counts,
//! however its heading and its markers are written: what is open must not be approved away.

use super::markers::{is_marked, words};
use crate::catalogue::{Catalogue, DocumentType};
use crate::markdown::{Document, as_shown, hashed, item, plain, underline_level};

/// A line in bold that stands for a heading is below all headings.
const LEVEL_OF_BOLD: usize = 7;
/// Before a title they say that nothing in it is open.
const CLOSED: &[&str] = &["resolved", "closed", "answered"];

/// What opens a marker.
const OPEN: [char; 3] = ['[', '［', '【'];
/// How far its words go at most. A text may be one long line.
const MARKER_BYTES_MAX: usize = 300;

/// How many open questions carry a marker that blocks approval.
pub fn n_blocking(catalogue: &Catalogue, kind: &DocumentType, document: &Document<'_>) -> usize {
    let blocking: Vec<&str> =
        catalogue.markers().iter().filter(|it| it.blocks_approval).map(|it| it.marker.as_str()).collect();
    let text = open_text(kind, document);
    let marked = text.match_indices(OPEN).filter(|(at, open)| {
        let rest = text.get(at + open.len()..).unwrap_or_default();
        // Of several that follow each other the last one opens.
        if rest.starts_with(OPEN) {
            return false;
        }
        // A marker may go on in the next line, and need not end.
        let near = rest.get(..rest.floor_char_boundary(MARKER_BYTES_MAX)).unwrap_or_default();
        let inner = near.split([']', '］', '】']).next().unwrap_or_default();
        let words = words(inner);
        blocking.iter().any(|marker| is_marked(&words, marker))
    });
    marked.count()
}

/// The lines of all sections of open questions, without quotation marks. Code is part of them, and its lines head nothing.
fn open_text(kind: &DocumentType, document: &Document<'_>) -> String {
    let wanted: Vec<String> = kind.question_sections.iter().map(|title| plain(title)).collect();
    let texts: Vec<&str> = document.lines().iter().map(|line| unquoted(line.text)).collect();
    let (mut text, mut level_open) = (String::new(), None);
    for (index, (line, line_text)) in document.lines().iter().zip(&texts).enumerate() {
        let below = texts.get(index + 1).copied().unwrap_or_default();
        if let Some((level, title)) = find_title(line_text, below).filter(|_| !line.is_code) {
            let is_question = is_question_title(&wanted, title);
            // A line in bold may be a question as well as a heading, and a line of a comment or of HTML heads nothing
            // that is seen: they begin a section and end none.
            let may_end = is_question || (level < LEVEL_OF_BOLD && line.is_in_heading);
            if may_end && level_open.is_none_or(|open| level <= open) {
                level_open = is_question.then_some(level);
            }
        }
        if level_open.is_some() {
            text.push_str(line_text);
            text.push('\n');
        }
    }
    text
}

fn unquoted(line: &str) -> &str {
    if line.trim_start().starts_with('>') { line.trim_start_matches(['>', ' ', '\t']) } else { line }
}

/// Level and title of `## Title`, as an item of a list too, of a title with a line drawn below it, or of a line in bold.
fn find_title<'a>(text: &'a str, below: &str) -> Option<(usize, &'a str)> {
    let mut inner = text;
    while let Some(said) = item(inner).filter(|_| hashed(inner).is_none()) {
        inner = unquoted(said);
    }
    let title = text.trim();
    let bold = || match title.strip_prefix("**")?.split_once("**")? {
        (_, "" | ":") => Some(LEVEL_OF_BOLD),
        (_, _) => None,
    };
    let drawn = || underline_level(title, below).or_else(bold).map(|level| (level, title));
    hashed(inner).or_else(drawn)
}

fn is_question_title(wanted: &[String], title: &str) -> bool {
    let shown = as_shown(title);
    let title = plain(shown.as_deref().unwrap_or(title));
    let is_named = |wanted: &String| {
        title.match_indices(wanted.as_str()).any(|(at, _)| {
            let before = title.get(..at).and_then(|before| before.chars().next_back());
            let after = title.get(at + wanted.len()..).and_then(|after| after.chars().next());
            !wanted.is_empty() && ![before, after].into_iter().flatten().any(char::is_alphanumeric)
        })
    };
    wanted.iter().any(is_named) && !title.split(' ').next().is_some_and(|first| CLOSED.contains(&first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_long_line_of_brackets_takes_no_longer_than_many_short_ones() {
        let catalogue = Catalogue::built_in().unwrap();
        let kind = catalogue.find_type("backlog_story").unwrap();
        for sign in ["[", "[ ", "[REQUIRES "] {
            let took = |n: usize| {
                let text = format!("# US-001\n\n## Open Questions\n\n{}\n", sign.repeat(n));
                let document = Document::parse(&text);
                let once = || {
                    let started = std::time::Instant::now();
                    n_blocking(&catalogue, kind, &document);
                    started.elapsed()
                };
                // The best of some: others use the machine too.
                (0..3).map(|_| once()).min().unwrap()
            };
            let (small, large) = (took(3_000), took(12_000));
            assert!(large < small * 10, "{sign}: {small:?} for 3,000, {large:?} for 12,000");
        }
    }

    fn check(text: &str, expected: usize) {
        let catalogue = Catalogue::built_in().unwrap();
        let kind = catalogue.find_type("backlog_story").unwrap();
        assert_eq!(n_blocking(&catalogue, kind, &Document::parse(text)), expected, "{text}");
    }

    #[test]
    fn a_blocking_marker_blocks_however_it_is_written() {
        for marker in [
            "[REQUIRES SPIKE]",
            "[requires spike]",
            "[Requires  ADR]",
            "[REQUIRES\u{a0}SPIKE]",
            "[REQUIRES\u{200b}SPIKE]",
            "[ REQUIRES\tSPIKE ]",
            "[REQUIRES\nADR]",
            "> [REQUIRES\n> ADR]",
            "[REQUIRES SPIKE: latency]",
            "[REQUIRES SPIKE – latency]",
            "[see [REQUIRES ADR]",
            "[REQUIRES ADR [1]]",
            "[**REQUIRES ADR**]",
            "[REQUIRES **ADR**]",
            "[REQUIRES <b>SPIKE</b>]",
            "[REQUIRES&nbsp;SPIKE]",
            "[REQUIRES&#32;ADR<br>soon]",
            "[REQ\u{ad}UIRES `SPIKE`]",
            "[REQUIR\u{415}S SPIKE]",
            "[R\u{13ac}QUIRES SPIKE]",
            "[REQU\u{4c0}RES SPIKE]",
            "[REQUlRES SPlKE]",
            "[REQUIRES\u{fe0f} SPI\u{34f}K\u{e0045}E]",
        ] {
            check(&format!("## Open Questions\n{marker}\n"), 1);
        }
        for other in ["[REQUIRES ADRIAN]", "[requires a spike]", "requires spike", "`x`", "[REQUIRES TECH LEAD]"] {
            check(&format!("## Open Questions\n{other}\n"), 0);
        }
    }

    #[test]
    fn every_section_of_open_questions_counts_however_its_heading_is_written() {
        for heading in [
            "# Open Questions",
            "> ## Open Questions",
            "- ## Open Questions",
            "1. > ## Open Questions",
            "## Open Questions\n<div>\n## Decisions\n</div>",
            "## \u{41e}pen Questions",
            "## Open Que\u{fe0f}stions",
            "## Outstanding Open Questions",
            "## §9. Open\u{a0}Questions (v2)",
            "### Risks and Open Questions",
            "Open Questions\n--------------",
            "Open Questions\n===",
            "**Open Questions:**",
            "## Open&#32;Questions",
            "## Open&nbsp;<b>Questions</b>",
            "## Open Questions\n```\n## Decisions",
            "**Open Questions**\n\n**Q1: First**",
            "## Open Questions\n\nQ0?\n---",
            "## Open Questions\n<!--\n## Decisions\n-->",
            "<!--\n```\n-->\n## Open Questions",
            "<!--\n## Open Questions",
            "1. Open Questions\n---",
            "as said\nOpen Questions\n---",
            "## Open Questions\nnone\n## Scope\n## Open Questions",
            "## Open Questions & Implementation Uncertainties\nnone\n## Open Questions",
        ] {
            check(&format!("# US-001: Title\n\n## Scope\n\n{heading}\n\nQ1? [REQUIRES ADR]\n\n## After\n"), 1);
        }
    }

    #[test]
    fn what_is_said_elsewhere_blocks_nothing() {
        for text in [
            "## Open Questions\nnone\n## Decisions Made\nwas [REQUIRES ADR]\n",
            "```\n## Open Questions\n```\n[REQUIRES ADR]\n",
            "## Resolved Open Questions\n[REQUIRES ADR]\n",
            "## Reopen Questionsnaires\n[REQUIRES ADR]\n",
        ] {
            check(text, 0);
        }
    }
}
