//! Markdown as far as the workflow reads it: headings, sections, metadata fields, and what is code.
//!
//! One pass over the lines; everything keeps its line number (from 1), so that messages can say which line to mend.

use std::collections::BTreeMap;

/// Headings deeper than this are text.
const LEVEL_MAX: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    pub number: usize,
    pub text: &'a str,
    /// Inside a fenced block, or one of its fences.
    pub is_code: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading<'a> {
    pub level: usize,
    pub title: &'a str,
    pub line: usize,
}

/// A heading with the lines below it, up to the next heading that is not deeper.
#[derive(Debug, Clone, Copy)]
pub struct Section<'d, 'a> {
    pub heading: &'d Heading<'a>,
    pub lines: &'d [Line<'a>],
}

/// `**Label:** value` in the metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    pub label: &'a str,
    pub value: &'a str,
    pub line: usize,
}

#[derive(Debug)]
pub struct Document<'a> {
    lines: Vec<Line<'a>>,
    headings: Vec<Heading<'a>>,
    fields: Vec<Field<'a>>,
}

impl<'a> Document<'a> {
    pub fn parse(text: &'a str) -> Document<'a> {
        let lines = lines(without_mark(text));
        let headings: Vec<Heading<'a>> = lines.iter().filter(|line| !line.is_code).filter_map(parse_heading).collect();
        let mut document = Document { lines, headings, fields: Vec::new() };
        let fields = document.metadata_lines().iter().filter(|line| !line.is_code).filter_map(|line| {
            let (label, value) = parse_field(line.text)?;
            Some(Field { label, value, line: line.number })
        });
        document.fields = fields.collect();
        document
    }

    /// The section `Metadata`; without one, what stands before the first second-level heading.
    fn metadata_lines(&self) -> &[Line<'a>] {
        if let Some(section) = self.find_section("Metadata") {
            return section.lines;
        }
        let end = self.headings.iter().find(|heading| heading.level >= 2).map_or(self.lines.len(), |it| it.line - 1);
        self.lines.get(..end).unwrap_or_default()
    }

    pub fn lines(&self) -> &[Line<'a>] {
        &self.lines
    }

    pub fn headings(&self) -> &[Heading<'a>] {
        &self.headings
    }

    pub fn fields(&self) -> &[Field<'a>] {
        &self.fields
    }

    /// The first metadata field with the label, whatever the case, that has a value.
    pub fn field(&self, label: &str) -> Option<Field<'a>> {
        self.fields.iter().find(|field| field.label.eq_ignore_ascii_case(label)).copied()
    }

    /// All metadata fields with the label, whatever the case.
    pub fn fields_of<'d>(&'d self, label: &'d str) -> impl Iterator<Item = Field<'a>> + use<'d, 'a> {
        self.fields.iter().filter(move |field| field.label.eq_ignore_ascii_case(label)).copied()
    }

    /// The first heading of the first level.
    pub fn title(&self) -> Option<&Heading<'a>> {
        self.headings.iter().find(|heading| heading.level == 1)
    }

    /// The first section of that title below the first level, matched loosely (see [`plain`]).
    pub fn find_section(&self, title: &str) -> Option<Section<'_, 'a>> {
        let wanted = plain(title);
        let index = self.headings.iter().position(|it| it.level >= 2 && matches(&plain(it.title), &wanted))?;
        self.section_at(index)
    }

    /// Headings inside a section, each with its lines.
    pub fn subsections<'s>(&'s self, section: &Section<'s, 'a>) -> impl Iterator<Item = Section<'s, 'a>> + use<'s, 'a> {
        let (from, level) = (section.heading.line, section.heading.level);
        let to = section.lines.last().map_or(from, |line| line.number);
        let inside = self.headings.iter().enumerate();
        let inside = inside.filter(move |(_, it)| it.line > from && it.line <= to && it.level > level);
        inside.filter_map(|(index, _)| self.section_at(index))
    }

    fn section_at(&self, index: usize) -> Option<Section<'_, 'a>> {
        let heading = self.headings.get(index)?;
        let next = self.headings.iter().skip(index + 1).find(|next| next.level <= heading.level);
        let end = next.map_or(self.lines.len(), |next| next.line - 1);
        Some(Section { heading, lines: self.lines.get(heading.line..end)? })
    }
}

/// The text without the byte order mark that some editors put before it: it belongs to no line.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

impl Section<'_, '_> {
    /// The text below the heading.
    pub fn text(&self) -> String {
        self.lines.iter().map(|line| line.text).collect::<Vec<_>>().join("\n")
    }
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let mut fence: Option<(u8, usize)> = None;
    let mut lines = Vec::new();
    for (index, text) in text.lines().enumerate() {
        let found = fence_of(text);
        let is_code = fence.is_some() || found.is_some();
        fence = match (fence, found) {
            (None, found) => found.map(|(mark, length, _)| (mark, length)),
            // A fence ends with one of its own kind that is at least as long and says nothing more.
            (Some((mark, length)), Some((other, n, true))) if mark == other && n >= length => None,
            (Some(open), _) => Some(open),
        };
        lines.push(Line { number: index + 1, text, is_code });
    }
    lines
}

/// Mark and length of a code fence, and whether nothing follows it.
fn fence_of(line: &str) -> Option<(u8, usize, bool)> {
    let text = line.trim_start_matches(' ');
    if line.len() - text.len() > 3 {
        return None;
    }
    let mark = *text.as_bytes().first().filter(|byte| [b'`', b'~'].contains(byte))?;
    let length = text.bytes().take_while(|byte| *byte == mark).count();
    let rest = text.get(length..).unwrap_or_default();
    let is_fence = length >= 3 && (mark == b'~' || !rest.contains('`'));
    is_fence.then_some((mark, length, rest.trim().is_empty()))
}

/// `## Title`.
pub fn parse_heading<'a>(line: &Line<'a>) -> Option<Heading<'a>> {
    let text = line.text.trim_start_matches(' ');
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    let rest = text.get(level..)?;
    let is_heading = line.text.len() - text.len() <= 3
        && (1..=LEVEL_MAX).contains(&level)
        && (rest.is_empty() || rest.starts_with([' ', '\t']));
    is_heading.then(|| Heading { level, title: rest.trim().trim_end_matches('#').trim_end(), line: line.number })
}

/// `- **Label:** value`, with or without the bullet, the colon inside or outside the bold.
pub fn parse_field(line: &str) -> Option<(&str, &str)> {
    let text = line.trim_start();
    let text = text.strip_prefix(['-', '*', '+']).filter(|rest| rest.starts_with(' ')).map_or(text, str::trim_start);
    let (label, rest) = text.strip_prefix("**")?.split_once("**")?;
    let (label, value) = match label.strip_suffix(':') {
        Some(label) => (label, rest),
        None => (label, rest.trim_start().strip_prefix(':')?),
    };
    let label = label.trim();
    (!label.is_empty()).then(|| (label, value.trim()))
}

/// The line with its inline code blanked out; bytes keep their places. Code stands between two runs of equally many
/// backticks; a run that has no such other is text, and so is what follows it.
pub fn without_code(line: &str) -> String {
    let runs = backticks(line);
    let last_of: BTreeMap<usize, usize> =
        runs.iter().enumerate().map(|(index, (_, length))| (*length, index)).collect();
    let mut shown = String::with_capacity(line.len());
    let (mut from, mut index) = (0, 0);
    while let Some((start, length)) = runs.get(index) {
        // Without this, a line of lone runs would be searched to its end for each.
        let has_end = last_of.get(length).is_some_and(|last| *last > index);
        let mut later = runs.iter().enumerate().skip(index + 1);
        let end = if has_end { later.find(|(_, (_, other))| other == length) } else { None };
        index += 1;
        if let Some((closing, (at, _))) = end {
            shown.push_str(line.get(from..*start).unwrap_or_default());
            from = at + length;
            shown.extend(std::iter::repeat_n(' ', from - start));
            index = closing + 1;
        }
    }
    shown.push_str(line.get(from..).unwrap_or_default());
    shown
}

/// Where runs of backticks begin, and how long they are. One after a backslash is a character like others.
fn backticks(line: &str) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let mut is_escaped = false;
    for (at, byte) in line.bytes().enumerate() {
        match runs.last_mut() {
            Some((start, length)) if byte == b'`' && *start + *length == at => *length += 1,
            _ if byte == b'`' && !is_escaped => runs.push((at, 1)),
            _ => {}
        }
        is_escaped = byte == b'\\' && !is_escaped;
    }
    runs
}

/// A title without what may surround it: `§1.`, numbers, emphasis, what stands in parentheses at its end, case.
pub fn plain(title: &str) -> String {
    let title = title.trim().trim_start_matches(['§', '*', '_', '`', ' ']);
    let title = title.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ')');
    let mut title = title.trim().trim_end_matches([':', '*', '_', '`', ' ']);
    while let Some((before, _)) = title.strip_suffix(')').and_then(|inner| inner.rsplit_once('(')) {
        title = before.trim_end();
    }
    let words = title.split_whitespace().map(|word| if word == "and" { "&".to_owned() } else { word.to_lowercase() });
    words.collect::<Vec<_>>().join(" ")
}

/// A heading fits when it is the wanted one, or goes on after it with `:`, `-`, `/` or a dash.
fn matches(found: &str, wanted: &str) -> bool {
    match found.strip_prefix(wanted) {
        Some("") => !wanted.is_empty(),
        Some(rest) => !wanted.is_empty() && rest.trim_start().starts_with([':', '-', '–', '—', '/']),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# PRD-006: Title\n\n## §1. Metadata (required)\n\n- **PRD ID:** PRD-006\n**Status**: Draft (v3)\n\
        ```\n## Not a heading\n- **Hidden:** x\n```\n## 2. Goals and Success Metrics\ntext\n### Deeper\nmore\n## Last\n";

    #[test]
    fn sections_are_found_whatever_surrounds_their_titles() {
        let document = Document::parse(TEXT);
        for title in ["Metadata", "metadata", "Goals & Success Metrics", "Last"] {
            assert!(document.find_section(title).is_some(), "{title}");
        }
        for title in ["Not a heading", "Goals", "", "PRD-006: Title"] {
            assert!(document.find_section(title).is_none(), "{title}");
        }
    }

    #[test]
    fn a_section_ends_before_the_next_heading_that_is_not_deeper() {
        let document = Document::parse(TEXT);
        let goals = document.find_section("Goals & Success Metrics").unwrap();
        assert_eq!(goals.text(), "text\n### Deeper\nmore");
        let inside: Vec<(&str, usize)> =
            document.subsections(&goals).map(|it| (it.heading.title, it.heading.line)).collect();
        assert_eq!(inside, [("Deeper", 13)]);
    }

    #[test]
    fn fields_are_read_with_the_colon_on_either_side_and_never_from_code() {
        let document = Document::parse(TEXT);
        assert_eq!(document.field("prd id").map(|field| (field.value, field.line)), Some(("PRD-006", 5)));
        assert_eq!(document.field("Status").map(|field| field.value), Some("Draft (v3)"));
        assert_eq!(document.field("Hidden"), None);
    }

    #[test]
    fn without_a_metadata_section_the_fields_before_the_first_section_count() {
        let document = Document::parse("# A\n**Story ID:** US-001\n## B\n**Status:** Draft\n");
        assert_eq!(document.fields().len(), 1);
    }

    #[test]
    fn code_within_a_line_is_blanked_out() {
        assert_eq!(without_code("a `[x y]` b"), "a         b");
        assert_eq!(without_code("a ``x ` y`` b"), format!("a {} b", " ".repeat("``x ` y``".len())));
        assert_eq!(without_code("`ก` b"), format!("{} b", " ".repeat("`ก`".len())));
    }

    #[test]
    fn a_backtick_without_another_hides_nothing() {
        for text in ["a ` b", "``a` b", "a \\` b \\` c", "`` a ``` b", "```"] {
            assert_eq!(without_code(text), text);
        }
        assert_eq!(without_code("`` a `b` c"), "`` a     c");
        assert_eq!(without_code("`a` b ` c"), "    b ` c");
    }

    #[test]
    fn a_fence_inside_a_longer_fence_does_not_end_it() {
        let document = Document::parse("````\n```\n# x\n````\n# y\n");
        assert_eq!(document.headings().iter().map(|it| it.title).collect::<Vec<_>>(), ["y"]);
    }

    #[test]
    fn a_heading_that_goes_on_after_a_dash_fits_and_a_longer_word_does_not() {
        assert!(matches(&plain("Definition of Ready / Done"), &plain("Definition of Ready")));
        assert!(matches(&plain("Scope — what we do"), &plain("Scope")));
        assert!(!matches(&plain("Scopes"), &plain("Scope")));
    }

    proptest::proptest! {
        #[test]
        fn code_is_blanked_out_byte_by_byte(line in "[`\\\\aก ]{0,40}") {
            let shown = without_code(&line);
            proptest::prop_assert_eq!(shown.len(), line.len());
            proptest::prop_assert!(shown.bytes().zip(line.bytes()).all(|(now, before)| now == b' ' || now == before));
        }

        #[test]
        fn any_text_parses_and_every_line_is_kept(text in "(?s)[#`~*: \n\\-a-z(]{0,200}") {
            let document = Document::parse(&text);
            proptest::prop_assert_eq!(document.lines().len(), text.lines().count());
            for (index, _) in document.headings().iter().enumerate() {
                proptest::prop_assert!(document.section_at(index).is_some());
            }
        }
    }
}
