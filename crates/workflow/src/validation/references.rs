//! `references_valid`: what a document points at is there.

use std::collections::{BTreeMap, BTreeSet};

use contract::workflow::checklists::Relation;

use super::report::{Verdict, shown};
use super::{Subject, citations};
use crate::catalogue::{Catalogue, Rule};
use crate::ids::find_canonical;
use crate::markdown::{Document, as_read, plain};
use crate::metadata;
use crate::placeholders::{Kind, tokens};

/// Documents that one text may mention and have looked up.
const MENTIONED_MAX: usize = 500;

/// The ids and research file names of a text, for whoever looks them up.
pub fn mentioned(catalogue: &Catalogue, text: &str) -> BTreeSet<String> {
    let document = Document::parse(text);
    let research = metadata::research(catalogue, &document).into_iter().filter_map(|research| research.key);
    let mut found: BTreeSet<String> = research.collect();
    for (id, _) in ids(catalogue, text) {
        if found.len() >= MENTIONED_MAX {
            break;
        }
        found.insert(id);
    }
    found
}

/// The ids of a text with their lines, as they are written and as a reader sees them.
fn ids(catalogue: &Catalogue, text: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let read = if line.is_ascii() { String::new() } else { as_read(line) };
        for line in [line, &read] {
            let ids = tokens(catalogue, line).into_iter().filter(|token| token.kind() == Kind::Final);
            found.extend(ids.map(|token| (token.text.to_owned(), index + 1)));
        }
    }
    found
}

pub fn check(subject: &Subject<'_>, rule: &Rule) -> Verdict {
    match rule.criterion.relation {
        Some(Relation::Parent) => check_parent(subject),
        Some(Relation::ApprovedParent) => check_approved_parent(subject),
        Some(Relation::Research) => check_research(subject),
        Some(Relation::Ids) | None => check_ids(subject),
        Some(Relation::Sections) => check_sections(subject),
        Some(Relation::Citations) => citations::check(subject, rule),
    }
}

/// Id and line of the parent.
fn parent(subject: &Subject<'_>) -> Result<(String, usize), Verdict> {
    let labels = subject.kind.parent_labels.first().map_or("Parent", String::as_str);
    let Some(field) = metadata::parent_field(subject.kind, &subject.document) else {
        return Err(Verdict::fail(format!("the metadata names no parent; add a line `**{labels}:**`")));
    };
    // What cannot be stored is not let through.
    if let (Some(_), Err(error)) = (
        metadata::leading_id(subject.catalogue, field.value),
        metadata::find_parent(subject.catalogue, subject.kind, &subject.document),
    ) {
        return Err(Verdict::fail(error.to_string()));
    }
    match metadata::leading_id(subject.catalogue, field.value) {
        Some(id) => Ok((id.to_owned(), field.line)),
        None => Err(Verdict::fail(format!("line {}: '{}' names no parent by its id", field.line, shown(field.value)))),
    }
}

fn check_parent(subject: &Subject<'_>) -> Verdict {
    let (id, line) = match parent(subject) {
        Ok(found) => found,
        Err(verdict) => return verdict,
    };
    let types = &subject.kind.parent_types;
    match subject.catalogue.type_of_id(&id) {
        Some(kind) if types.is_empty() || types.contains(&kind.name) => Verdict::pass(format!("Parent is {id}")),
        Some(_) | None => Verdict::fail(format!("line {line}: {id} is not of type {}", types.join(" or "))),
    }
}

fn check_approved_parent(subject: &Subject<'_>) -> Verdict {
    if let Err(verdict) = parent(subject) {
        return verdict;
    }
    let named = metadata::own_parents(subject.catalogue, subject.kind, &subject.document);
    let kind_of = |id: &str| subject.catalogue.type_of_id(id);
    let mut problems = Vec::new();
    for (id, line) in &named {
        match subject.known.get(id) {
            None => problems.push(format!("line {line}: parent {id} is not stored in this project")),
            Some(known) if !kind_of(id).is_some_and(|kind| known.is_approved(kind)) => {
                problems.push(format!("line {line}: parent {id} is {}, and not approved", known.status(kind_of(id))));
            }
            Some(known) => {
                let above = known.parent_id.as_deref();
                let is_other = |(other, _): &&(String, usize)| {
                    above.is_some_and(|above| other != above && kind_of(above) == kind_of(other))
                };
                let other = named.iter().find(is_other).zip(above);
                problems.extend(other.map(|((other, line), above)| {
                    format!("line {line}: parent {id} is below {above}, and not below {other}")
                }));
            }
        }
    }
    let told =
        || named.iter().filter_map(|(id, _)| Some(format!("{id} is {}", subject.known.get(id)?.status(kind_of(id)))));
    Verdict::of(&problems, || format!("Parent {}", told().collect::<Vec<_>>().join(", ")))
}

fn check_research(subject: &Subject<'_>) -> Verdict {
    let found = metadata::research(subject.catalogue, &subject.document);
    let mut problems = Vec::new();
    for research in &found {
        let line = research.line;
        let kind = subject.catalogue.find_type(research.artifact_type);
        match research.key.as_ref().map(|key| (key, subject.known.get(key))) {
            None => problems.push(format!("line {line}: expected the file name of a research document")),
            Some((key, None)) => problems.push(format!("line {line}: {key}.md is not stored in this project")),
            Some((key, Some(known))) if !kind.is_some_and(|kind| known.is_approved(kind)) => {
                problems.push(format!("line {line}: {key}.md is {}, and not finalized", known.status(kind)));
            }
            Some(_) => {}
        }
    }
    Verdict::of(&problems, || format!("{} research documents are stored and finalized", found.len()))
}

fn check_ids(subject: &Subject<'_>) -> Verdict {
    let mut checked: BTreeMap<String, usize> = BTreeMap::new();
    for (id, line) in ids(subject.catalogue, subject.text) {
        checked.entry(id).or_insert(line);
    }
    let n_mentioned = checked.len();
    if n_mentioned > MENTIONED_MAX {
        return Verdict::fail(format!("{n_mentioned} documents are mentioned, expected at most {MENTIONED_MAX}"));
    }
    let is_missing = |id: &str| id != subject.artifact_id && !subject.known.contains_key(id);
    let mut missing: Vec<(usize, String)> =
        checked.into_iter().filter(|(id, _)| is_missing(id)).map(|(id, line)| (line, id)).collect();
    missing.sort_unstable();
    let mut problems: Vec<String> =
        missing.iter().map(|(line, id)| format!("line {line}: {id} is not stored in this project")).collect();
    for token in tokens(subject.catalogue, subject.text) {
        problems.extend(find_canonical(token.text).map(|id| format!("line {}: {} is {id}", token.line, token.text)));
    }
    Verdict::of(&problems, || format!("{n_mentioned} mentioned documents are known"))
}

/// `§ Title`, `§2.1` and `](#anchor)`. A section of another document (`PRD-006 §3`) is not ours to judge.
fn check_sections(subject: &Subject<'_>) -> Verdict {
    let headings = subject.document.headings();
    let titles: BTreeSet<String> = headings.iter().map(|heading| plain(heading.title)).collect();
    let numbers: BTreeSet<String> = headings.iter().filter_map(|heading| number(heading.title)).collect();
    let anchors = anchors(headings.iter().map(|heading| heading.title));
    let heading_lines: BTreeSet<usize> = headings.iter().map(|heading| heading.line).collect();
    let (mut problems, mut n_checked) = (Vec::new(), 0_usize);
    for line in subject.document.lines().iter().filter(|line| !line.is_code && !heading_lines.contains(&line.number)) {
        for (start, _) in line.text.match_indices('§') {
            // Only what stands near is looked at: a line may be the whole of a long text.
            let before = tail(line.text.get(..start).unwrap_or_default()).trim_end();
            if before.ends_with('§') {
                continue;
            }
            let last = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
            if last.ends_with(".md") || !tokens(subject.catalogue, last).is_empty() {
                continue;
            }
            n_checked += 1;
            let after = line.text.get(start..).unwrap_or_default().trim_start_matches('§');
            let after = head(after).trim_start();
            let leads = match number(after) {
                Some(number) => numbers.contains(&number),
                None => leads_to(&titles, after),
            };
            if !leads {
                let name: String = after.split(['.', ',', ';', ')']).next().unwrap_or_default().to_owned();
                problems.push(format!("line {}: no section '§{}'", line.number, shown(&name)));
            }
        }
        for (start, _) in line.text.match_indices("](#") {
            n_checked += 1;
            let anchor = line.text.get(start + 3..).and_then(|rest| head(rest).split(')').next()).unwrap_or_default();
            if !anchors.contains(anchor) {
                problems.push(format!("line {}: no heading for `#{}`", line.number, shown(anchor)));
            }
        }
    }
    Verdict::of(&problems, || format!("{n_checked} section references lead to a heading"))
}

/// The bytes before and after a sign that may belong to it.
const NEAR_BYTES: usize = 400;

fn head(text: &str) -> &str {
    text.get(..text.floor_char_boundary(NEAR_BYTES)).unwrap_or_default()
}

fn tail(text: &str) -> &str {
    text.get(text.ceil_char_boundary(text.len().saturating_sub(NEAR_BYTES))..).unwrap_or_default()
}

/// Whether the words after `§` begin with a title. Titles are short, so only so many words are tried.
fn leads_to(titles: &BTreeSet<String>, after: &str) -> bool {
    const WORDS_MAX: usize = 12;
    let words: Vec<&str> = after.split_whitespace().take(WORDS_MAX).collect();
    (1..=words.len()).any(|n| {
        let candidate = words.get(..n).unwrap_or_default().join(" ");
        let candidate = candidate.trim_end_matches(|c: char| c.is_ascii_punctuation() && c != ')');
        titles.contains(&plain(candidate)) || titles.contains(&plain(candidate.trim_end_matches(')')))
    })
}

/// The number at the beginning of a title: `2.1` of `2.1. Scope` and of `§2.1`.
fn number(title: &str) -> Option<String> {
    let digits: String =
        title.trim_start_matches(['§', ' ']).chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let digits = digits.trim_end_matches('.');
    digits.starts_with(|c: char| c.is_ascii_digit()).then(|| digits.to_owned())
}

/// Anchors as the usual renderers make them: lower case, punctuation gone, spaces to hyphens, repeats numbered.
fn anchors<'t>(titles: impl Iterator<Item = &'t str>) -> BTreeSet<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut anchors = BTreeSet::new();
    for title in titles {
        let kept = title.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        let anchor: String = kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect();
        let count = counts.entry(anchor.clone()).or_default();
        anchors.insert(if *count == 0 { anchor } else { format!("{anchor}-{count}") });
        *count += 1;
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_those_that_renderers_make() {
        let found = anchors(["Goals & Success Metrics", "Scope", "Scope", "HLS-AAA: Title"].into_iter());
        let expected = ["goals--success-metrics", "hls-aaa-title", "scope", "scope-1"];
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_section_reference_may_be_followed_by_more_words() {
        let titles = BTreeSet::from([plain("High-Level User Stories"), plain("Scope (v2)")]);
        assert!(leads_to(&titles, "High-Level User Stories subsections are"));
        assert!(leads_to(&titles, "Scope), and"));
        assert!(!leads_to(&titles, "Scopes"));
        assert_eq!(number("§2.1. Scope").as_deref(), Some("2.1"));
        assert_eq!(number("Scope"), None);
    }
}
