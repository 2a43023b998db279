//! `template_sections`: headings that must be there, and what must stand below them.

use std::collections::BTreeSet;

use contract::workflow::checklists::Entries;
use regex::Regex;

use super::report::{Verdict, shown};
use super::{Subject, citations, parts};
use crate::catalogue::Rule;
use crate::markdown::{Line, Section};

pub fn check(subject: &Subject<'_>, rule: &Rule) -> Verdict {
    let wanted = &rule.criterion.required_sections;
    let found: Vec<Section<'_, '_>> = wanted.iter().filter_map(|title| subject.document.find_section(title)).collect();
    let counted = format!("Found {}/{} required sections", found.len(), wanted.len());
    if found.len() < wanted.len() {
        let missing: Vec<&str> =
            wanted.iter().filter(|title| subject.document.find_section(title).is_none()).map(String::as_str).collect();
        return Verdict::fail(format!("{counted}; missing: {}", missing.join(", ")));
    }
    let mut problems = Vec::new();
    for section in &found {
        if !rule.criterion.columns.is_empty() {
            parts::check_columns(&subject.document, rule, section, &mut problems);
        }
        match (rule.criterion.entries, &rule.pattern) {
            _ if rule.heading_pattern.is_some() => check_subsections(subject, rule, section, &mut problems),
            (Some(entries), Some(pattern)) => check_entries(rule, section, entries, pattern, &mut problems),
            (_, _) => check_text(rule, section, Count::Matches, &mut problems),
        }
    }
    Verdict::of(&problems, || counted)
}

fn check_subsections(subject: &Subject<'_>, rule: &Rule, section: &Section<'_, '_>, problems: &mut Vec<String>) {
    let fits = |section: &Section<'_, '_>| {
        rule.heading_pattern.as_ref().is_none_or(|pattern| pattern.is_match(section.heading.title))
    };
    let inside: Vec<Section<'_, '_>> = subject.document.subsections(section).filter(fits).collect();
    check_count(rule, section, inside.len(), "subsections", problems);
    if inside.is_empty() && rule.criterion.min_matches.is_none() {
        problems.push(format!("{}: it has no subsections of this kind", place(section)));
    }
    for part in &inside {
        check_text(rule, part, Count::Subsections, problems);
    }
}

fn check_entries(
    rule: &Rule,
    section: &Section<'_, '_>,
    entries: Entries,
    pattern: &Regex,
    problems: &mut Vec<String>,
) {
    let description = rule.criterion.description.trim_end_matches('.');
    let found = parts::entries(section);
    let mut different: BTreeSet<String> = BTreeSet::new();
    let mut n_matches = 0;
    for entry in &found {
        match pattern.find(&entry.text) {
            Some(words) => {
                n_matches += 1;
                different.insert(words.as_str().split_whitespace().collect::<String>().to_uppercase());
            }
            None if entries == Entries::Each => problems.push(format!("line {}: expected: {description}", entry.line)),
            None => {}
        }
    }
    if found.is_empty() {
        problems.push(format!("{}: expected: {description}", place(section)));
    }
    let (n, what) = match rule.criterion.unique {
        true => (different.len(), "different entries that do"),
        false => (n_matches, "entries that do"),
    };
    let least =
        if entries == Entries::Some { rule.criterion.min_matches.or(Some(1)) } else { rule.criterion.min_matches };
    if !found.is_empty() && least.is_some_and(|least| u32::try_from(n).is_ok_and(|n| n < least)) {
        problems.push(format!("{}: expected: {description}; found {n} {what}", place(section)));
    }
}

/// What the counts of the criterion count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Count {
    Matches,
    Subsections,
}

fn check_text(rule: &Rule, section: &Section<'_, '_>, count: Count, problems: &mut Vec<String>) {
    if rule.pattern.is_none() && rule.all_patterns.is_empty() {
        return;
    }
    let text = section.text();
    let description = rule.criterion.description.trim_end_matches('.');
    if !rule.all_patterns.iter().all(|pattern| pattern.is_match(&text)) {
        problems.push(format!("{}: expected: {description}", place(section)));
    }
    let Some(pattern) = &rule.pattern else { return };
    let n_matches = match rule.criterion.unique {
        true => n_different(pattern, section),
        false => pattern.find_iter(&text).count(),
    };
    let what = if rule.criterion.unique { "different matches" } else { "places" };
    if n_matches == 0 {
        problems.push(format!("{}: expected: {description}", place(section)));
    } else if count == Count::Matches {
        check_count(rule, section, n_matches, what, problems);
    }
}

/// Written alike or not, the same words are the same, and so is the same source. Code is shown as an example of itself.
fn n_different(pattern: &Regex, section: &Section<'_, '_>) -> usize {
    let lines: Vec<_> = section.lines.iter().filter(|line| !line.is_code).map(Line::seen).collect();
    let text = lines.join("\n");
    let mut found: BTreeSet<String> = BTreeSet::new();
    for words in pattern.find_iter(&text).map(|it| it.as_str()) {
        let cited = if words.starts_with('[') { citations::cited(words) } else { Vec::new() };
        let different = if cited.is_empty() { vec![words.to_uppercase()] } else { cited };
        found.extend(different.iter().map(|it| it.split_whitespace().collect::<String>()));
    }
    found.len()
}

fn check_count(rule: &Rule, section: &Section<'_, '_>, n: usize, what: &str, problems: &mut Vec<String>) {
    let (least, most) = (rule.criterion.min_matches, rule.criterion.max_matches);
    let is_few = least.is_some_and(|least| u32::try_from(n).is_ok_and(|n| n < least));
    let is_many = most.is_some_and(|most| !u32::try_from(n).is_ok_and(|n| n <= most));
    let expected = match (least, most) {
        (Some(least), Some(most)) => format!("{least} to {most}"),
        (Some(least), None) => format!("at least {least}"),
        (None, Some(most)) => format!("at most {most}"),
        (None, None) => return,
    };
    if is_few || is_many {
        problems.push(format!("{}: found {n} {what}, expected {expected}", place(section)));
    }
}

fn place(section: &Section<'_, '_>) -> String {
    format!("line {}, '{}'", section.heading.line, shown(section.heading.title))
}
