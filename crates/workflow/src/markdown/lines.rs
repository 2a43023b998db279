//! A document line by line: what of each is code, a comment, or a heading.

use std::borrow::Cow;
use std::ops::Range;

use super::marks::Marks;
use super::pairs::Pairs;
use super::{Heading, hashed, item, parse_field, underline_level, without_comment};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<'a> {
    pub number: usize,
    pub text: &'a str,
    /// Inside a fenced block, or one of its fences.
    pub is_code: bool,
    /// It begins inside a comment.
    pub is_hidden: bool,
    /// What it heads, if it is the title of a section.
    pub heading: Option<Heading<'a>>,
    /// A reader sees it in a heading, which need not be one of the document: in a quote, in a list, over several lines.
    pub is_in_heading: bool,
    /// Within the line.
    code: Vec<Range<usize>>,
    comments: Vec<Range<usize>>,
}

impl<'a> Line<'a> {
    /// The text without comments; bytes keep their places.
    pub fn seen(&self) -> Cow<'a, str> {
        blanked(self.text, &self.comments)
    }

    /// The text without the code in it; bytes keep their places.
    pub fn without_code(&self) -> Cow<'a, str> {
        blanked(self.text, &self.code)
    }
}

pub fn blanked<'a>(text: &'a str, ranges: &[Range<usize>]) -> Cow<'a, str> {
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for range in ranges {
        shown.push_str(text.get(shown.len()..range.start).unwrap_or_default());
        shown.extend(std::iter::repeat_n(' ', range.end - shown.len()));
    }
    shown.push_str(text.get(shown.len()..).unwrap_or_default());
    Cow::Owned(shown)
}

pub fn lines(text: &str) -> Vec<Line<'_>> {
    let marks = Marks::read(text);
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut starts = Vec::new();
    let mut end = 0;
    let mut pairs = Pairs::default();
    for whole in text.split_inclusive('\n') {
        let start = end;
        end += whole.len();
        let line = whole.strip_suffix('\n').map_or(whole, |line| line.strip_suffix('\r').unwrap_or(line));
        // Other programs end a line at a lone CR, so that one part may be code and the other text.
        let is_whole = !line.contains('\r');
        let is_code = is_whole && touching(&marks.fenced, start..end).next().is_some();
        let below = text.get(end..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let code = if is_whole { within(&marks.code, start, line) } else { Vec::new() };
        starts.push(start);
        lines.push(Line {
            number: lines.len() + 1,
            text: line,
            is_code,
            is_hidden: touching(&marks.comments, start..end).any(|range| range.start < start),
            heading: None,
            is_in_heading: false,
            code: if is_code { Vec::new() } else { pairs.keep(line, below, code) },
            comments: within(&marks.comments, start, line),
        });
    }
    let index_of = |at: usize| starts.partition_point(|start| *start <= at).saturating_sub(1);
    for (range, level) in marks.headings {
        let (first, last) = (index_of(range.start), index_of(range.end.saturating_sub(1)));
        let heading = find_heading(&lines, first, last, level);
        for line in lines.iter_mut().take(last + 1).skip(first) {
            line.is_in_heading = true;
        }
        if let Some(line) = lines.get_mut(first) {
            line.heading = heading;
        }
    }
    lines
}

/// The ranges that have a part in another.
fn touching(ranges: &[Range<usize>], other: Range<usize>) -> impl Iterator<Item = &Range<usize>> {
    let first = ranges.partition_point(|range| range.end <= other.start);
    ranges.iter().skip(first).take_while(move |range| range.start < other.end)
}

/// What ranges of the text have of one of its lines.
fn within(ranges: &[Range<usize>], start: usize, line: &str) -> Vec<Range<usize>> {
    let parts = touching(ranges, start..start + line.len());
    parts.map(|range| range.start.saturating_sub(start)..(range.end - start).min(line.len())).collect()
}

/// What a heading to its readers is to the document. In a quote or as an item of a list it heads nothing; of those with
/// a line drawn below them, a list, a field and the end of a longer text head nothing either.
fn find_heading<'a>(lines: &[Line<'a>], first: usize, last: usize, level: usize) -> Option<Heading<'a>> {
    let line = lines.get(first).filter(|line| !line.is_hidden)?;
    if last == first {
        return Some(Heading { level, title: hashed(line.text)?.1, line: line.number });
    }
    let before = first.checked_sub(1).and_then(|before| lines.get(before));
    let is_alone =
        before.is_none_or(|it| it.is_code || it.is_hidden || it.heading.is_some() || it.seen().trim().is_empty());
    let is_field = parse_field(line.text).is_some_and(|(_, value)| !value.is_empty());
    let is_title = last == first + 1 && is_alone && !is_field && item(line.text).is_none();
    let level = underline_level(line.text, lines.get(last)?.text).filter(|_| is_title)?;
    Some(Heading { level, title: without_comment(line.text.trim()), line: line.number })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        lines(text).iter().map(Line::without_code).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn code_within_a_line_is_blanked_out() {
        assert_eq!(shown("a `[x y]` b"), "a         b");
        assert_eq!(shown("a ``x ` y`` b"), format!("a {} b", " ".repeat("``x ` y``".len())));
        assert_eq!(shown("`ก` b"), format!("{} b", " ".repeat("`ก`".len())));
    }

    #[test]
    fn a_backtick_without_another_hides_nothing() {
        for text in ["a ` b", "``a` b", "a \\` b \\` c", "`` a ``` b", "```", "a ` b\nc ` `d` ` e"] {
            assert_eq!(shown(text), text);
        }
        assert_eq!(shown("`` a `b` c"), "`` a     c");
        assert_eq!(shown("`a` b ` c"), "    b ` c");
        assert_eq!(shown("a ` b\n\n`c`"), "a ` b\n\n   ");
    }

    #[test]
    fn comments_and_code_are_not_looked_for_in_each_other() {
        for (text, expected) in [
            ("a <!-- b --> c <!-- d", "ac<!--d"),
            ("a <!-- b\nc -- > d\n--> e <!-- f -->", "ae"),
            ("`<!--` b -->", "`<!--`b-->"),
            ("<!-- ` --> <!-- ` c", ""),
            ("` <!-- ` b -->", "`<!--`b-->"),
            ("a <!--> b <!---> c <!----> d", "abcd"),
            ("<div> <!--\n\na\n--> b", "<div>b"),
            ("<div> <!--\n\na\n", "<div>"),
        ] {
            let seen: String = lines(text).iter().map(Line::seen).collect();
            assert_eq!(seen.split_whitespace().collect::<String>(), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_blanked_out_is_so_byte_by_byte(text in "([`~\\\\aก \r\n|>-]|<!--|-->|```){0,60}") {
            let all = lines(&text);
            proptest::prop_assert_eq!(all.iter().map(|line| line.text).collect::<Vec<_>>(), text.lines().collect::<Vec<_>>());
            for line in all {
                for shown in [line.without_code(), line.seen()] {
                    proptest::prop_assert_eq!(shown.len(), line.text.len());
                    proptest::prop_assert!(
                        shown.bytes().zip(line.text.bytes()).all(|(now, before)| now == b' ' || now == before)
                    );
                }
            }
        }
    }
}
