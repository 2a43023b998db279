//! What of a line is code or a comment.

use std::collections::BTreeMap;
use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Code,
    Comment,
}

/// The line with its inline code blanked out; bytes keep their places. Code stands between two runs of equally many
/// backticks; a run that has no such other is text, and so is what follows it.
pub fn without_code(line: &str) -> String {
    blanked(line, false, Kind::Code)
}

/// The line with what is of a kind blanked out.
pub fn blanked(line: &str, is_open: bool, kind: Kind) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut from = 0;
    for (range, _) in spans(line, is_open).0.into_iter().filter(|(_, found)| *found == kind) {
        shown.push_str(line.get(from..range.start).unwrap_or_default());
        shown.extend(std::iter::repeat_n(' ', range.len()));
        from = range.end;
    }
    shown.push_str(line.get(from..).unwrap_or_default());
    shown
}

/// Code and comments in their order, for a line that begins inside a comment or not; and whether one is open at its end.
/// What begins first counts: neither is looked for in the other.
pub fn spans(line: &str, is_open: bool) -> (Vec<(Range<usize>, Kind)>, bool) {
    let runs = backticks(line);
    let last_of: BTreeMap<usize, usize> =
        runs.iter().enumerate().map(|(index, (_, length))| (*length, index)).collect();
    let mut starts = line.match_indices("<!--").map(|(at, _)| at).peekable();
    let mut ends = line.match_indices("-->").map(|(at, _)| at + 3).peekable();
    let (mut found, mut at, mut index) = (Vec::new(), 0, 0);
    let mut open = is_open.then_some(0);
    loop {
        if let Some(start) = open.take() {
            // `<!-->` is one, too.
            let least = if start == 0 && is_open && found.is_empty() { 3 } else { start + 5 };
            while ends.next_if(|end| *end < least).is_some() {}
            let Some(end) = ends.peek().copied() else {
                found.push((start..line.len(), Kind::Comment));
                return (found, true);
            };
            found.push((start..end, Kind::Comment));
            at = end;
        }
        while starts.next_if(|start| *start < at).is_some() {}
        while runs.get(index).is_some_and(|(start, _)| *start < at) {
            index += 1;
        }
        match (runs.get(index), starts.peek().copied()) {
            (None, None) => return (found, false),
            (Some((run, length)), start) if start.is_none_or(|start| *run < start) => {
                // Without this, a line of lone runs would be searched to its end for each.
                let has_end = last_of.get(length).is_some_and(|last| *last > index);
                let mut later = runs.iter().skip(index + 1);
                let closing = if has_end { later.find(|(_, other)| other == length) } else { None };
                at = closing.map_or(run + length, |(closing, _)| closing + length);
                if closing.is_some() {
                    found.push((*run..at, Kind::Code));
                }
            }
            (_, start) => open = start,
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn comments_and_code_are_not_looked_for_in_each_other() {
        let seen = |line: &str, is_open| blanked(line, is_open, Kind::Comment).split_whitespace().collect::<String>();
        for (line, is_open, expected, is_open_after) in [
            ("a <!-- b --> c <!-- d", false, "ac", true),
            ("a --> b", true, "b", false),
            ("a -- > b", true, "", true),
            ("--> b <!-- c -->", true, "b", false),
            ("`<!--` b", false, "`<!--`b", false),
            ("<!-- ` --> <!-- ` c", false, "", true),
            ("` <!-- ` b -->", false, "`<!--`b-->", false),
            ("<!--> b <!---> c <!----> d", false, "bcd", false),
        ] {
            assert_eq!((seen(line, is_open).as_str(), spans(line, is_open).1), (expected, is_open_after), "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn code_is_blanked_out_byte_by_byte(line in "([`\\\\aก ]|<!--|-->){0,40}") {
            let shown = without_code(&line);
            proptest::prop_assert_eq!(shown.len(), line.len());
            proptest::prop_assert!(shown.bytes().zip(line.bytes()).all(|(now, before)| now == b' ' || now == before));
        }
    }
}
