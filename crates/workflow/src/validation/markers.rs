//! `marker_validation`: from version 2 on each open question carries one permitted marker with all its fields, and
//! questions that were answered are recorded as decisions.

use contract::workflow::checklists::AppliesTo;

use super::Subject;
use super::report::{Verdict, shown};
use crate::catalogue::{DocumentType, Marker, Rule};
use crate::markdown::{Document, Line, as_shown, parse_field};

/// An open question with the lines that belong to it.
#[derive(Debug)]
pub struct Question<'d, 'a> {
    pub line: usize,
    pub title: &'a str,
    lines: &'d [Line<'a>],
}

impl Question<'_, '_> {
    /// Markers in their order, as [`words`] writes them. Those in comments nobody sees.
    pub fn markers(&self, known: &[Marker]) -> Vec<String> {
        self.lines.iter().flat_map(|line| markers_in(known, &line.seen())).collect()
    }

    fn value(&self, field: &str) -> Option<String> {
        self.lines.iter().find_map(|line| {
            let seen = line.seen();
            let (_, value) = find_label(&seen).filter(|(label, _)| label.eq_ignore_ascii_case(field))?;
            Some(value.to_owned())
        })
    }
}

/// `**Label:** value` anywhere in a line.
fn find_label(line: &str) -> Option<(&str, &str)> {
    parse_field(line).or_else(|| line.find("**").and_then(|start| parse_field(line.get(start..)?)))
}

/// What stands in brackets, as if everybody wrote it alike: capitals, one space between two words, and nothing that its
/// reader does not see.
pub fn words(inner: &str) -> String {
    let line: String = inner.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    let shown = as_shown(&line).unwrap_or(line);
    shown.split_whitespace().map(str::to_uppercase).collect::<Vec<String>>().join(" ")
}

/// Whether words are a marker, or go on after it: `BLOCKED BY US-012`, `REQUIRES SPIKE: latency`. Spaces say nothing: what
/// takes no room may stand in the place of one. Nor is `REQUlRES` told from `REQUIRES`.
pub fn is_marked(words: &str, marker: &str) -> bool {
    let alike = |c: char| if ['I', 'L', '1', '|'].contains(&c) { 'I' } else { c };
    let mut rest = words;
    for wanted in marker.chars().filter(|c| !c.is_whitespace()) {
        let Some(after) = rest.trim_start().strip_prefix(|c| alike(c) == alike(wanted)) else { return false };
        rest = after;
    }
    !rest.starts_with(char::is_alphanumeric)
}

/// `[REQUIRES SPIKE]`: a known marker however it is written, or capitals in brackets that look like one: at least two
/// words of eight letters together.
fn markers_in(known: &[Marker], line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = line.get(at..).and_then(|rest| rest.find('[')).map(|index| index + at) {
        let Some(close) = line.get(open..).and_then(|rest| rest.find(']')).map(|index| index + open) else { break };
        let inner = line.get(open + 1..close).unwrap_or_default();
        // Of nested brackets the inner pair counts.
        let inner = inner.rsplit('[').next().unwrap_or(inner);
        let looks_like_one = inner.len() >= 8
            && inner.contains(' ')
            && inner
                .split(' ')
                .take(2)
                .all(|word| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase()));
        let words = words(inner);
        if looks_like_one || known.iter().any(|marker| is_marked(&words, &marker.marker)) {
            found.push(words);
        }
        at = close + 1;
    }
    found
}

/// The questions of the type's question sections, and the lines of those sections.
pub fn questions<'d, 'a>(known: &[Marker], kind: &DocumentType, document: &'d Document<'a>) -> Vec<Question<'d, 'a>> {
    let mut questions = Vec::new();
    for section in question_sections(kind, document) {
        let starts: Vec<usize> = section
            .iter()
            .enumerate()
            .filter(|(_, line)| !line.is_code && is_start(known, line.text))
            .map(|(index, _)| index)
            .collect();
        for (n, start) in starts.iter().enumerate() {
            let end = starts.get(n + 1).copied().unwrap_or(section.len());
            let (Some(first), Some(lines)) = (section.get(*start), section.get(*start..end)) else { continue };
            questions.push(Question { line: first.number, title: bare(first.text), lines });
        }
    }
    questions
}

fn question_sections<'d, 'a>(kind: &DocumentType, document: &'d Document<'a>) -> Vec<&'d [Line<'a>]> {
    let mut sections: Vec<&'d [Line<'a>]> = Vec::new();
    for title in &kind.question_sections {
        let Some(section) = document.find_section(title) else { continue };
        let is_new = sections
            .iter()
            .all(|known| known.first().map(|line| line.number) != section.lines.first().map(|line| line.number));
        if is_new {
            sections.push(section.lines);
        }
    }
    sections
}

/// A question begins with `Q1`, a heading, or a line at the margin that asks or carries a marker.
fn is_start(known: &[Marker], line: &str) -> bool {
    let text = bare(line);
    let is_numbered = text.strip_prefix('Q').is_some_and(|rest| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0 && rest.get(digits..).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '.', ' ', ')']))
    });
    let is_at_margin = !line.starts_with([' ', '\t']);
    let is_field = find_label(line).is_some();
    is_numbered
        || line.trim_start().starts_with("###")
        || (is_at_margin && !is_field && (text.contains('?') || !markers_in(known, line).is_empty()))
}

/// The text of a line without bullets, numbers, emphasis and heading marks.
fn bare(line: &str) -> &str {
    let text = line.trim().trim_start_matches(['#', '-', '*', '+', ' ']);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let text = match text.get(digits..) {
        Some(rest) if digits > 0 && rest.starts_with(['.', ')']) => rest.trim_start_matches(['.', ')', ' ', '*']),
        Some(_) | None => text,
    };
    text.trim_end_matches(['*', ' '])
}

pub fn check(subject: &Subject<'_>, rule: &Rule) -> Verdict {
    let criterion = &rule.criterion;
    let holds = match criterion.applies_to.unwrap_or_default() {
        AppliesTo::All => true,
        AppliesTo::First => subject.version == 1,
        AppliesTo::Later => subject.version > 1,
    };
    if !holds {
        return Verdict::pass(format!("Version {} is exempt", subject.version));
    }
    let mut problems = Vec::new();
    for title in &criterion.required_sections {
        match subject.document.find_section(title) {
            None => problems.push(format!("the section '{title}' is missing")),
            Some(section) => check_decisions(section.lines, &mut problems),
        }
    }
    if question_sections(subject.kind, &subject.document).is_empty() {
        let title = subject.kind.question_sections.first().map_or("Open Questions", String::as_str);
        problems.push(format!("the section '{title}' is missing"));
    }
    let known = subject.catalogue.markers();
    let questions = questions(known, subject.kind, &subject.document);
    for question in &questions {
        check_question(known, rule, question, &mut problems);
    }
    for line in question_sections(subject.kind, &subject.document).into_iter().flatten().filter(|line| !line.is_code) {
        // A bold warning may say how many questions still lack a marker.
        let is_warning = line.text.trim_start().starts_with("**⚠");
        if !is_warning && rule.prohibited_patterns.iter().any(|pattern| pattern.is_match(line.text)) {
            problems.push(told(rule, "free_text", line.number, "", "", &shown(line.text.trim())));
        }
    }
    Verdict::of(&problems, || format!("{} open questions carry their markers", questions.len()))
}

fn check_question(known: &[Marker], rule: &Rule, question: &Question<'_, '_>, problems: &mut Vec<String>) {
    let criterion = &rule.criterion;
    let title = shown(question.title);
    let mut tell = |kind: &str, fields: &str, value: &str| {
        problems.push(told(rule, kind, question.line, &title, fields, value));
    };
    let markers = question.markers(known);
    let (Some(found), None) = (markers.first(), markers.get(1)) else {
        return tell(if markers.is_empty() { "missing_marker" } else { "several_markers" }, "", "");
    };
    let is_allowed = |allowed: &&String| is_marked(found, allowed.trim_matches(['[', ']']));
    let Some(marker) = criterion.allowed_markers.iter().find(is_allowed) else {
        return tell("forbidden_marker", "", &format!("[{found}]"));
    };
    let fields = criterion.marker_sub_fields.get(marker).map(Vec::as_slice).unwrap_or_default();
    let missing: Vec<&str> = fields
        .iter()
        .filter(|field| question.value(field).is_none_or(|value| value.is_empty()))
        .map(String::as_str)
        .collect();
    if !missing.is_empty() {
        tell("missing_fields", &missing.join(", "), "");
    }
    for special in criterion.special_validations.iter().filter(|special| &special.marker == marker) {
        let value = question.value(&special.field).unwrap_or_default();
        if !value.is_empty() && !special.valid_values.contains(&value) {
            tell("wrong_value", "", &shown(&value));
        }
    }
}

/// `**Q1: …**` in the decisions has a decision, a reason and a name.
fn check_decisions(lines: &[Line<'_>], problems: &mut Vec<String>) {
    let is_entry =
        |line: &&Line<'_>| !line.is_code && line.text.trim_start().trim_start_matches(['-', ' ']).starts_with("**Q");
    let starts: Vec<usize> = lines.iter().filter(is_entry).map(|line| line.number).collect();
    for (n, start) in starts.iter().enumerate() {
        let end = starts.get(n + 1).copied().unwrap_or(usize::MAX);
        let inside: Vec<_> =
            lines.iter().filter(|line| line.number >= *start && line.number < end).map(Line::seen).collect();
        let has = |field: &&&str| {
            inside.iter().filter_map(|line| find_label(line)).any(|(label, _)| label.eq_ignore_ascii_case(field))
        };
        let missing: Vec<&str> =
            ["Decision", "Rationale", "Decided By"].iter().filter(|field| !has(field)).copied().collect();
        if !missing.is_empty() {
            problems.push(format!("line {start}: the decision lacks {}", missing.join(", ")));
        }
    }
}

fn told(rule: &Rule, kind: &str, line: usize, question: &str, fields: &str, value: &str) -> String {
    let text =
        rule.criterion.error_message_templates.get(kind).map_or("{question} {missing_fields} {value}", String::as_str);
    let text = text.replace("{question}", question).replace("{missing_fields}", fields).replace("{value}", value);
    format!("line {line}: {text}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;

    fn found(line: &str) -> Vec<String> {
        markers_in(Catalogue::built_in().unwrap().markers(), line)
    }

    #[test]
    fn markers_are_known_words_or_capital_words_in_brackets() {
        assert_eq!(
            found("x [REQUIRES SPIKE] y [REQUIRES PM + TECH LEAD]"),
            ["REQUIRES SPIKE", "REQUIRES PM + TECH LEAD"]
        );
        assert_eq!(found("[REQUIRES **ADR**] [Requires&nbsp;<b>Spike</b>]"), ["REQUIRES ADR", "REQUIRES SPIKE"]);
        assert_eq!(found("[BLOCKED BY US-012] [REQUIRES MAGIC]"), ["BLOCKED BY US-012", "REQUIRES MAGIC"]);
        assert_eq!(found("[ ] [x] [Title] [OK] [link](x) [requires magic] [unclosed"), Vec::<String>::new());
    }

    #[test]
    fn questions_begin_at_numbers_headings_and_question_marks() {
        let catalogue = Catalogue::built_in().unwrap();
        let kind = catalogue.find_type("prd").unwrap();
        let text = "## Open Questions\n\n**Q1: First**\n- **Decision Needed:** who?\n\n2. Second one?\n   more\n### Third\ntext\n";
        let document = Document::parse(text);
        let found: Vec<(usize, &str)> =
            questions(catalogue.markers(), kind, &document).iter().map(|it| (it.line, it.title)).collect();
        assert_eq!(found, [(3, "Q1: First"), (6, "Second one?"), (8, "Third")]);
    }
}
