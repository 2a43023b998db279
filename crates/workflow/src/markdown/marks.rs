//! What of a text its readers take for code, for a comment and for a heading, as ranges of its bytes.
//!
//! Code is hidden from checks that a text must not fail, so it is code only where every reader shows it so: CommonMark,
//! the same with tables, and the pages of this house, which use `marked`. In doubt it is text.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

/// In the order of the text; those of one kind do not overlap.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Fenced blocks with their fences.
    pub fenced: Vec<Range<usize>>,
    /// Code within a line, with its backticks.
    pub code: Vec<Range<usize>>,
    pub comments: Vec<Range<usize>>,
    /// With their levels, whatever they stand in.
    pub headings: Vec<(Range<usize>, usize)>,
}

impl Marks {
    pub fn read(text: &str) -> Marks {
        let text = &with_line_ends(text);
        let mut marks = Marks::read_as(text, Options::empty());
        let paged = as_pages_read(text);
        // What is in two cells for some is one text for others.
        if text.contains('|') || paged != *text {
            for other in [text, &paged] {
                let other = Marks::read_as(other, Options::ENABLE_TABLES);
                marks.fenced.retain(|range| is_of(&other.fenced, range));
                marks.code.retain(|range| is_of(&other.code, range));
            }
        }
        marks
    }

    fn read_as(text: &str, options: Options) -> Marks {
        let mut marks = Marks::default();
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => marks.fenced.push(range),
                Event::Start(Tag::Heading { level, .. }) => marks.headings.push((range, level as usize)),
                Event::Start(Tag::HtmlBlock) => marks.add_comments(text, range),
                Event::InlineHtml(html) if html.starts_with("<!--") => marks.add_comment(range),
                Event::Code(_) if !text.get(range.clone()).is_some_and(|code| code.contains('\n')) => {
                    marks.code.push(range);
                }
                _ => {}
            }
        }
        // Where the end of a list or a quote ends code, the pages go on with it, and take the next fence for its end.
        let open = marks.fenced.iter().find(|block| !is_closed(text, block)).map_or(text.len(), |block| block.end);
        marks.fenced.retain(|range| range.start < open);
        marks.code.retain(|range| range.start < open);
        marks
    }

    /// The comments of a block of HTML. A browser hides all that follows one that the block does not end.
    fn add_comments(&mut self, text: &str, block: Range<usize>) {
        let mut from = self.comments.last().map_or(0, |last| last.end).max(block.start);
        while let Some(start) = text.get(from..block.end).and_then(|rest| rest.find("<!--")).map(|at| from + at) {
            // `<!-->` is one, too.
            let end = text.get(start + 2..).and_then(|rest| rest.find("-->")).map(|at| start + 2 + at + "-->".len());
            from = end.unwrap_or(text.len());
            self.add_comment(start..from);
        }
    }

    fn add_comment(&mut self, range: Range<usize>) {
        match self.comments.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            Some(_) | None => self.comments.push(range),
        }
    }
}

/// Whether the last line of a fenced block is its second fence.
fn is_closed(text: &str, block: &Range<usize>) -> bool {
    let block = text.get(block.clone()).unwrap_or_default().trim_end();
    let (fence, last) = (leading_marks(block), block.rsplit('\n').next().unwrap_or_default());
    let end = last.trim_start_matches([' ', '\t', '>']);
    last.len() < block.len() && end.starts_with(fence) && leading_marks(end) == end
}

/// The backticks or tildes that a text begins with.
fn leading_marks(text: &str) -> &str {
    let rest = if text.starts_with('~') { text.trim_start_matches('~') } else { text.trim_start_matches('`') };
    text.strip_suffix(rest).unwrap_or_default()
}

/// A text whose lines all end with LF; bytes keep their places.
fn with_line_ends(text: &str) -> String {
    text.replace("\r\n", " \n").replace('\r', "\n")
}

/// A text in which CommonMark sees code where the pages do; bytes keep their places. They end code at a fence that goes on
/// with marks of the other kind, are at odds with tabs in lists, and take backticks for a part of an address. What follows
/// a reference (`[x]: y`) without an empty line, or in a list ```` ```x``` ````, every reader takes for something else, so that
/// from there on nothing is code.
fn as_pages_read(text: &str) -> String {
    let mut read = String::with_capacity(text.len());
    let (mut is_reference, mut is_lost) = (false, false);
    for line in text.split_inclusive('\n') {
        let said = line.trim_start_matches(|c: char| c.is_ascii_digit() || " \t>-+*.)".contains(c));
        let marks = leading_marks(said);
        let before = line.strip_suffix(said).unwrap_or_default();
        let after = said.strip_prefix(marks).unwrap_or_default();
        let is_fence = marks.len() >= 3;
        let is_odd = is_fence && !before.is_empty() && marks.starts_with('`') && after.contains('`');
        let was_reference = is_reference;
        is_reference = is_reference_to(said);
        is_lost |= is_odd || (was_reference && !is_reference && !is_empty(line));
        if is_lost || (is_fence && before.contains('\t')) {
            read.push_str(&line.replace(['`', '~'], "x"));
        } else if is_fence && after.trim_end().chars().all(|c| "`~".contains(c)) {
            read.extend([before, marks, &after.replace(['`', '~'], " ")]);
        } else {
            read.extend(line.split_inclusive(char::is_whitespace).map(without_marks_of_address));
        }
    }
    read
}

/// Whether a line has nothing in it, in a quote or not.
pub fn is_empty(line: &str) -> bool {
    line.trim_start_matches([' ', '\t', '>']).trim_end().is_empty()
}

/// Whether a line says what a reference leads to, or ends before it does.
fn is_reference_to(line: &str) -> bool {
    let named = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    named.is_some_and(|(_, rest)| rest.starts_with(':')) || line.trim_end().ends_with("]:")
}

fn without_marks_of_address(word: &str) -> Cow<'_, str> {
    let is_address = |word: String| word.contains("://") || word.contains("www.");
    let is_marked = word.contains('`') && is_address(word.to_ascii_lowercase());
    if is_marked { Cow::Owned(word.replace('`', "x")) } else { Cow::Borrowed(word) }
}

fn is_of(ranges: &[Range<usize>], one: &Range<usize>) -> bool {
    ranges.binary_search_by_key(&one.start, |range| range.start).is_ok_and(|at| ranges.get(at) == Some(one))
}
