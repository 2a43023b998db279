//! The entries of a section, for criteria that speak of each of them: items of its lists and rows of its tables. A section
//! that has neither is read by its paragraphs.

use super::report::shown;
use crate::catalogue::Rule;
use crate::markdown::{Document, Line, Section, item};

/// An entry: an item with what stands below it, a row, a paragraph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub line: usize,
    /// Without the mark or number of its list.
    pub text: String,
}

struct Table {
    header: Vec<String>,
    /// Line and cells.
    rows: Vec<(usize, Vec<String>)>,
}

/// The entries of a section, subsections included.
pub fn entries(section: &Section<'_, '_>) -> Vec<Entry> {
    let found = listed(section);
    if found.is_empty() { paragraphs(&split_tables(section.lines).1) } else { found }
}

/// The items and rows of a section, subsections included.
pub fn listed(section: &Section<'_, '_>) -> Vec<Entry> {
    let (tables, rest) = split_tables(section.lines);
    let rows = tables.into_iter().flat_map(|table| table.rows);
    let rows = rows.map(|(line, cells)| Entry { line, text: cells.join(" | ") });
    let mut found: Vec<Entry> = rows.chain(items(&rest)).collect();
    found.sort_by_key(|entry| entry.line);
    found
}

/// Checks that every record of a section says what the criterion wants to know of it: in the columns of a table, else by
/// its labels.
pub fn check_columns(document: &Document<'_>, rule: &Rule, section: &Section<'_, '_>, problems: &mut Vec<String>) {
    let wanted = &rule.criterion.columns;
    let description = rule.criterion.description.trim_end_matches('.');
    let missing =
        || format!("line {}, '{}': expected: {description}", section.heading.line, shown(section.heading.title));
    let (tables, rest) = split_tables(section.lines);
    if !tables.is_empty() {
        let places =
            |table: &Table| wanted.iter().map(|word| find_column(&table.header, word)).collect::<Option<Vec<_>>>();
        let fitting: Vec<(&Table, Vec<usize>)> = tables
            .iter()
            .filter_map(|table| Some((table, places(table)?)))
            .filter(|(it, _)| !it.rows.is_empty())
            .collect();
        if fitting.is_empty() {
            problems.push(missing());
        }
        for (table, places) in fitting {
            for (line, cells) in &table.rows {
                let is_empty = |place: &&usize| !cells.get(**place).is_some_and(|cell| says_something(cell));
                let empty = places.iter().filter(is_empty).filter_map(|place| table.header.get(*place));
                problems.extend(empty.map(|header| format!("line {line}: '{}' is empty", shown(header))));
            }
        }
        return;
    }
    let parts: Vec<Entry> =
        document.subsections(section).map(|part| Entry { line: part.heading.line, text: part.text() }).collect();
    let records = match (parts.is_empty(), items(&rest)) {
        (false, _) => parts,
        (true, items) if items.is_empty() => paragraphs(&rest),
        (true, items) => items,
    };
    if records.is_empty() {
        problems.push(missing());
    }
    let lacks = |entry: &&Entry| !wanted.iter().all(|word| has_label(&entry.text, word));
    problems.extend(records.iter().filter(lacks).map(|entry| format!("line {}: expected: {description}", entry.line)));
}

fn find_column(header: &[String], word: &str) -> Option<usize> {
    header.iter().position(|cell| !places_of(cell, word).is_empty())
}

/// A dash in a cell says nothing.
fn says_something(cell: &str) -> bool {
    cell.contains(char::is_alphanumeric)
}

/// Where words begin as the wanted one does, whatever the case.
fn places_of(text: &str, word: &str) -> Vec<usize> {
    let (text, word) = (text.to_lowercase(), word.to_lowercase());
    let is_begin = |at: usize| !text.get(..at).is_some_and(|before| before.ends_with(char::is_alphanumeric));
    text.match_indices(word.as_str()).map(|(at, _)| at).filter(|at| is_begin(*at)).collect()
}

/// Whether a text gives a value to a label: `Likelihood: low`, `(likelihood low, …)`; not `no likelihood`.
fn has_label(text: &str, word: &str) -> bool {
    const DENIALS: &[&str] = &["no", "not", "without", "never", "nor", "nobody", "none"];
    let text = text.to_lowercase();
    places_of(&text, word).into_iter().any(|at| {
        let before = text.get(..at).unwrap_or_default().trim_end_matches(|c: char| !c.is_alphanumeric());
        let last = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let after = text.get(at..).unwrap_or_default().trim_start_matches(char::is_alphanumeric);
        let value =
            after.trim_start_matches([' ', '\t', ':', '*', '_', '`', '=', '(', ')', '–', '—', '-', '<', '>', '≤', '≥']);
        !DENIALS.contains(&last) && value.len() < after.len() && value.starts_with(char::is_alphanumeric)
    })
}

/// The tables of some lines, and the lines that belong to none. Code and comments are no text.
fn split_tables<'s, 'a>(lines: &'s [Line<'a>]) -> (Vec<Table>, Vec<&'s Line<'a>>) {
    let is_hidden = |line: &Line<'_>| line.is_hidden && line.seen().trim().is_empty();
    let shown: Vec<&Line<'_>> = lines.iter().filter(|line| !line.is_code && !is_hidden(line)).collect();
    let (mut tables, mut rest) = (Vec::new(), Vec::new());
    let mut open: Option<Table> = None;
    for (index, line) in shown.iter().enumerate() {
        let below = shown.get(index + 1);
        let is_header = below.is_some_and(|below| below.number == line.number + 1 && is_delimiter(&below.seen()));
        match &mut open {
            Some(_) if is_delimiter(&line.seen()) => {}
            Some(table) if line.seen().contains('|') => table.rows.push((line.number, cells(&line.seen()))),
            Some(_) | None => {
                tables.extend(open.take());
                if is_header && line.seen().contains('|') {
                    open = Some(Table { header: cells(&line.seen()), rows: Vec::new() });
                } else {
                    rest.push(*line);
                }
            }
        }
    }
    tables.extend(open);
    (tables, rest)
}

/// `|---|:--:|`
fn is_delimiter(line: &str) -> bool {
    let line = line.trim();
    line.contains('-') && line.contains('|') && line.chars().all(|c| ['|', '-', ':', ' '].contains(&c))
}

fn cells(row: &str) -> Vec<String> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let row = row.strip_suffix('|').unwrap_or(row);
    let mut cells = vec![String::new()];
    let mut is_escaped = false;
    for c in row.chars() {
        match (c, cells.last_mut()) {
            ('|', _) if !is_escaped => cells.push(String::new()),
            (_, Some(cell)) => cell.push(c),
            (_, None) => {}
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// The items that stand furthest out, each with what is below it.
fn items(lines: &[&Line<'_>]) -> Vec<Entry> {
    let mut found: Vec<Entry> = Vec::new();
    // How far the items of the list at hand stand in; none outside a list.
    let mut outermost: Option<usize> = None;
    let mut was_blank = false;
    for line in lines {
        let seen = line.seen();
        let indent = seen.len() - seen.trim_start().len();
        let is_blank = seen.trim().is_empty();
        match (item(&seen), outermost) {
            (None, _) if is_blank => {}
            (Some(text), None) => {
                outermost = Some(indent);
                found.push(Entry { line: line.number, text: text.to_owned() });
            }
            (Some(text), Some(outer)) if indent <= outer => {
                outermost = Some(indent);
                found.push(Entry { line: line.number, text: text.to_owned() });
            }
            (None, _) if line.heading.is_some() => outermost = None,
            (None, Some(outer)) if was_blank && indent <= outer => outermost = None,
            (_, Some(_)) => {
                if let Some(entry) = found.last_mut() {
                    entry.text.push('\n');
                    entry.text.push_str(seen.trim());
                }
            }
            (None, None) => {}
        }
        was_blank = is_blank;
    }
    found
}

fn paragraphs(lines: &[&Line<'_>]) -> Vec<Entry> {
    let mut found: Vec<Entry> = Vec::new();
    let mut is_open = false;
    for line in lines {
        let seen = line.seen();
        let is_text = !seen.trim().is_empty() && line.heading.is_none();
        match found.last_mut().filter(|_| is_open && is_text) {
            Some(entry) => {
                entry.text.push('\n');
                entry.text.push_str(seen.trim());
            }
            None if is_text => found.push(Entry { line: line.number, text: seen.trim().to_owned() }),
            None => {}
        }
        is_open = is_text;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(usize, &str)]) {
        let text = format!("## Part\n{text}");
        let document = Document::parse(&text);
        let found = entries(&document.find_section("Part").unwrap());
        assert_eq!(found.iter().map(|it| (it.line, it.text.as_str())).collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn entries_are_items_rows_and_else_paragraphs() {
        check("a\nb\n\nc\n", &[(2, "a\nb"), (5, "c")]);
        check("As follows:\n\n- a\n  more\n  - inner\n- b\n\nAfterwards.\n", &[(4, "a\nmore\n- inner"), (7, "b")]);
        check("1. a\n2) b\n### Heading\n* c\n", &[(2, "a"), (3, "b"), (5, "c")]);
        check("| A | B |\n|---|:-:|\n| x \\| y | |\n| z |\n\n- a\n", &[(4, "x \\| y | "), (5, "z"), (7, "a")]);
        check("```\n- code\n```\n<!-- - hidden -->\n- a\n", &[(6, "a")]);
    }

    #[test]
    fn a_label_has_a_value_and_is_not_denied() {
        for text in ["Target: 2 hours", "**Target:** 2", "(target 2)", "target ≥ 2", "- Targets: all"] {
            assert!(has_label(text, "Target"), "{text}");
        }
        for text in ["No target, nobody", "no target yet", "Target:", "Target, somehow", "starget: 2", ""] {
            assert!(!has_label(text, "Target"), "{text}");
        }
    }
}
