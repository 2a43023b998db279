//! Markdown as far as the workflow reads it: headings, sections, metadata fields, and what is code or a comment.
//!
//! What is code, a comment or a heading is for CommonMark to say ([`marks`]), line by line; the rules of the house stand
//! beside it and are stricter. Everything keeps its line number (from 1), so that messages can say which line to mend.

mod lines;
mod marks;
mod pairs;
mod shown;

use contract::character::is_invisible;

pub use lines::Line;
use lines::lines;
pub use shown::{as_read, as_shown};

/// Headings deeper than this are text.
const LEVEL_MAX: usize = 6;
/// What is longer and has a colon after it is a sentence.
const LABEL_BYTES_MAX: usize = 60;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

impl Field<'_> {
    /// Whether its label is this one to a reader, whatever the case.
    pub fn is_called(&self, label: &str) -> bool {
        let is_disguised = || !self.label.is_ascii() && as_read(self.label).eq_ignore_ascii_case(label);
        self.label.eq_ignore_ascii_case(label) || is_disguised()
    }
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
        let is_shown = |line: &&Line<'a>| !line.is_code && !line.is_hidden;
        let headings: Vec<Heading<'a>> = lines.iter().filter_map(|line| line.heading).collect();
        let mut document = Document { lines, headings, fields: Vec::new() };
        let fields = document.metadata_lines().into_iter().filter(is_shown).filter_map(|line| {
            let (label, value) = parse_field(line.text).or_else(|| parse_plain_field(line.text))?;
            Some(Field { label, value, line: line.number })
        });
        document.fields = fields.collect();
        document
    }

    /// The section `Metadata`, and any other of that name beside it: who says two things is told so. Without one, what
    /// stands before the first second-level heading.
    fn metadata_lines(&self) -> Vec<&Line<'a>> {
        if let Some(section) = self.find_section("Metadata") {
            let Heading { level, line, .. } = section.heading;
            let is_beside = |it: &Heading<'a>| {
                it.line > *line && (2..=*level).contains(&it.level) && matches(&plain(it.title), "metadata")
            };
            let beside = self.sections().filter(|section| is_beside(section.heading));
            return std::iter::once(section).chain(beside).flat_map(|section| section.lines).collect();
        }
        let end = self.headings.iter().find(|heading| heading.level >= 2).map_or(self.lines.len(), |it| it.line - 1);
        self.lines.get(..end).unwrap_or_default().iter().collect()
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
        self.fields.iter().find(|field| field.is_called(label)).copied()
    }

    /// All metadata fields with the label, whatever the case.
    pub fn fields_of<'d>(&'d self, label: &'d str) -> impl Iterator<Item = Field<'a>> + use<'d, 'a> {
        self.fields.iter().filter(move |field| field.is_called(label)).copied()
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

    /// Every heading with its lines.
    pub fn sections(&self) -> impl Iterator<Item = Section<'_, 'a>> {
        (0..self.headings.len()).filter_map(|index| self.section_at(index))
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
    /// The text below the heading, without comments.
    pub fn text(&self) -> String {
        self.lines.iter().map(Line::seen).collect::<Vec<_>>().join("\n")
    }
}

/// The level of a title with a line drawn below it. What asks or carries a marker is a question with a rule below it.
pub fn underline_level(title: &str, below: &str) -> Option<usize> {
    let (title, below) = (title.trim(), below.trim());
    let is_title = !title.is_empty() && !title.starts_with(['-', '|', '+']) && !title.contains(['?', '[']);
    let is_drawn = |mark: char| is_title && !below.is_empty() && below.chars().all(|c| c == mark);
    if is_drawn('=') { Some(1) } else { is_drawn('-').then_some(2) }
}

/// Level and title of `## Title`.
pub fn hashed(text: &str) -> Option<(usize, &str)> {
    let bare = text.trim_start_matches(' ');
    let level = bare.bytes().take_while(|byte| *byte == b'#').count();
    let rest = bare.get(level..)?;
    let is_heading = text.len() - bare.len() <= 3
        && (1..=LEVEL_MAX).contains(&level)
        && (rest.is_empty() || rest.starts_with([' ', '\t']));
    is_heading.then(|| (level, without_comment(rest).trim().trim_end_matches('#').trim_end()))
}

fn without_comment(title: &str) -> &str {
    title.split("<!--").next().unwrap_or_default().trim_end()
}

/// The text of a list's item: `- x`, `2. x`.
pub fn item(line: &str) -> Option<&str> {
    let text = line.trim_start();
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest =
        if number.len() < text.len() { number.strip_prefix(['.', ')']) } else { text.strip_prefix(['-', '*', '+']) };
    rest.filter(|rest| rest.starts_with(' ')).map(str::trim_start)
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
    (!label.is_empty() && !label.starts_with('*')).then(|| (label, value.trim()))
}

/// `- Label: value` as metadata have it too: in other emphasis or in none, in a numbered list, quoted.
fn parse_plain_field(line: &str) -> Option<(&str, &str)> {
    let is_emphasis = |c: char| ['*', '_', '`'].contains(&c);
    let text = line.trim_start_matches([' ', '\t', '>']);
    let (label, value) = item(text).unwrap_or(text).trim_start_matches(is_emphasis).split_once(':')?;
    let label = label.trim_end_matches(is_emphasis).trim();
    let is_label = label.starts_with(char::is_alphabetic)
        && label.len() <= LABEL_BYTES_MAX
        && label.chars().all(|c| c.is_alphanumeric() || is_invisible(c) || [' ', '-', '/', '&', '(', ')'].contains(&c));
    is_label.then(|| (label, value.trim_start_matches(is_emphasis).trim()))
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
    fn a_fence_inside_a_longer_fence_does_not_end_it() {
        let document = Document::parse("````\n```\n# x\n````\n# y\n");
        assert_eq!(document.headings().iter().map(|it| it.title).collect::<Vec<_>>(), ["y"]);
    }

    fn titles(text: &str) -> Vec<String> {
        Document::parse(text).headings().iter().map(|it| format!("{} {}", it.level, it.title)).collect()
    }

    #[test]
    fn what_a_comment_hides_is_no_part_of_the_document() {
        for (text, expected) in [
            ("# A\n<!--\n## B\n\n## C\n-->\n## D", vec!["1 A", "2 D"]),
            ("# A\n<!-- x --> <!--\n## B\n-->\n## D", vec!["1 A", "2 D"]),
            ("# A\n- <!--\n## B\n-->\n## D", vec!["1 A", "2 D"]),
            ("# A\n<!--\n```\n-->\n## D", vec!["1 A", "2 D"]),
            ("# A\n```\n<!--\n```\n## D <!-- x -->", vec!["1 A", "2 D"]),
            ("# A\n`<!--` and \n## D", vec!["1 A", "2 D"]),
            ("# A\n<!-->\n## D", vec!["1 A", "2 D"]),
            // Shown as it is written.
            ("# A\ntext <!-- x\n## D\n-->", vec!["1 A", "2 D"]),
            ("# A\n## <!-- B -->", vec!["1 A", "2 "]),
            ("# A\n<!--\n## B", vec!["1 A"]),
        ] {
            assert_eq!(titles(text), expected, "{text}");
        }
        let document = Document::parse("## A\none <!-- two --> three\nfour <!-- five\nsix --> seven\n<!-- `\n` -->");
        let text = document.find_section("A").unwrap().text();
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(words, ["one", "three", "four", "seven"]);
        let hidden = Document::parse("## Metadata\n<!--\n- **Status:** Draft\n-->\n");
        assert_eq!(hidden.fields(), []);
        // A comment that a list ends is shown, and so is what follows.
        let shown = Document::parse("## Metadata\n- **Status:** Draft <!-- x\n- **Parent Epic:** EPIC-001\n");
        assert_eq!(shown.fields().len(), 2);
    }

    #[test]
    fn a_title_with_a_line_below_it_is_a_heading() {
        for (text, expected) in [
            ("Title\n===\n\nSummary\n-------\ntext", vec!["1 Title", "2 Summary"]),
            ("# T\nSummary\n---", vec!["1 T", "2 Summary"]),
            ("# T\n\n**Status:** Draft\n---\n", vec!["1 T"]),
            ("# T\n\n- Summary\n---\n\n1. One\n---\n", vec!["1 T"]),
            ("# T\n\nThe end\nof a text.\n---\n", vec!["1 T"]),
            ("# T\n\n---\ntitle: x\n---\n", vec!["1 T"]),
            ("# T\n\n| A |\n---\n\n```\nA\n---\n```\n", vec!["1 T"]),
        ] {
            assert_eq!(titles(text), expected, "{text}");
        }
        let document = Document::parse("Summary\n---\ntext\n## Next\nmore");
        assert_eq!(document.find_section("Summary").unwrap().text(), "---\ntext");
    }

    #[test]
    fn fields_are_read_in_every_emphasis() {
        for line in [
            "- __Parent Epic:__ EPIC-001",
            "- *Parent Epic:* EPIC-001",
            "- _Parent Epic_: EPIC-001",
            "- Parent Epic: EPIC-001",
            "1. **Parent Epic:** EPIC-001",
            "2) Parent Epic: EPIC-001",
            "***Parent Epic:*** EPIC-001",
            "> **Parent Epic:** EPIC-001",
            "Parent Epic: EPIC-001",
        ] {
            let text = format!("## Metadata\n{line}\n## Scope\n- Parent Epic: EPIC-002");
            let document = Document::parse(&text);
            let found: Vec<(&str, &str)> = document.fields_of("parent epic").map(|it| (it.label, it.value)).collect();
            assert_eq!(found, [("Parent Epic", "EPIC-001")], "{line}");
        }
        for line in ["see https://x.org", "When it is done, and not before: then", ": x", "- [x] a: b"] {
            let text = format!("## Metadata\n{line}\n");
            assert!(Document::parse(&text).fields().iter().all(|it| it.label == "see https"), "{line}");
        }
    }

    #[test]
    fn a_heading_that_goes_on_after_a_dash_fits_and_a_longer_word_does_not() {
        assert!(matches(&plain("Definition of Ready / Done"), &plain("Definition of Ready")));
        assert!(matches(&plain("Scope — what we do"), &plain("Scope")));
        assert!(!matches(&plain("Scopes"), &plain("Scope")));
    }

    proptest::proptest! {
        #[test]
        fn any_text_parses_and_every_line_is_kept(text in "(?s)([#`~*: \n\\-=a-z(]|<!--|-->){0,200}") {
            let document = Document::parse(&text);
            proptest::prop_assert_eq!(document.lines().len(), text.lines().count());
            for (index, _) in document.headings().iter().enumerate() {
                proptest::prop_assert!(document.section_at(index).is_some());
            }
        }
    }
}
