//! Open questions that stand in the way of an approval.
//!
//! The checklist asks for one section of a certain form. Here every section that speaks of open questions counts,
//! however its heading and its markers are written: what is open must not be approved away.

use super::markers::{is_marked, words};
use crate::catalogue::{Catalogue, DocumentType};
use crate::markdown::{Comment, Document, Heading, Line, as_shown, parse_heading, plain, underline_level};

/// A line in bold that stands for a heading is below all headings.
const LEVEL_OF_BOLD: usize = 7;
/// Before a title they say that nothing in it is open.
const CLOSED: &[&str] = &["resolved", "closed", "answered"];

/// How many open questions carry a marker that blocks approval.
pub fn n_blocking(catalogue: &Catalogue, kind: &DocumentType, document: &Document<'_>) -> usize {
    let blocking: Vec<&str> =
        catalogue.markers().iter().filter(|it| it.blocks_approval).map(|it| it.marker.as_str()).collect();
    let text = open_text(kind, document);
    let marked = text.match_indices(['[', '［', '【']).filter(|(at, open)| {
        let rest = text.get(at + open.len()..).unwrap_or_default();
        // A marker may go on in the next line, and need not end.
        let inner = rest.split([']', '］', '】']).next().unwrap_or_default();
        let words = words(inner);
        blocking.iter().any(|marker| is_marked(&words, marker))
    });
    marked.count()
}

/// The lines of all sections of open questions, without quotation marks. Code is part of them, and its lines head nothing.
fn open_text(kind: &DocumentType, document: &Document<'_>) -> String {
    let wanted: Vec<String> = kind.question_sections.iter().map(|title| plain(title)).collect();
    let lines: Vec<Line<'_>> =
        document.lines().iter().map(|line| Line { text: unquoted(line.text), ..*line }).collect();
    let (mut text, mut level_open) = (String::new(), None);
    for (index, line) in lines.iter().enumerate() {
        if let Some(heading) = find_heading(line, lines.get(index + 1)).filter(|_| !line.is_code) {
            let is_question = is_question_title(&wanted, heading.title);
            // A line in bold may be a question as well as a heading, and one in a comment is not seen: they begin a
            // section and end none.
            let may_end = is_question || (heading.level < LEVEL_OF_BOLD && line.comment == Comment::None);
            if may_end && level_open.is_none_or(|level| heading.level <= level) {
                level_open = is_question.then_some(heading.level);
            }
        }
        if level_open.is_some() {
            text.push_str(line.text);
            text.push('\n');
        }
    }
    text
}

fn unquoted(line: &str) -> &str {
    if line.trim_start().starts_with('>') { line.trim_start_matches(['>', ' ', '\t']) } else { line }
}

/// `## Title`, a title with a line drawn below it, or a line in bold.
fn find_heading<'a>(line: &Line<'a>, next: Option<&Line<'a>>) -> Option<Heading<'a>> {
    let title = line.text.trim();
    let level = match (parse_heading(line), title.strip_prefix("**").and_then(|rest| rest.split_once("**"))) {
        (Some(heading), _) => return Some(heading),
        (None, bold) => match (underline_level(title, next.map_or("", |next| next.text)), bold) {
            (Some(level), _) => level,
            (None, Some((_, "" | ":"))) => LEVEL_OF_BOLD,
            (None, _) => return None,
        },
    };
    Some(Heading { level, title, line: line.number })
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
