//! `id_format`: the form of the id, of a metadata field, or of numbers that a document gives out itself.

use std::collections::BTreeMap;

use regex::Regex;

use super::report::{Verdict, shown};
use super::{Subject, parts};
use crate::approval::ApprovalError;
use crate::catalogue::Rule;
use crate::markdown::Line;
use crate::metadata::{self, MetadataError};

pub fn check(subject: &Subject<'_>, rule: &Rule) -> Verdict {
    let Some(pattern) = &rule.pattern else {
        return Verdict::fail("the criterion has no pattern".to_owned());
    };
    if rule.criterion.unique {
        return check_unique(subject, rule, pattern);
    }
    match &rule.criterion.field {
        Some(label) => check_field(subject, rule, pattern, label),
        None => check_id(subject, pattern),
    }
}

fn check_id(subject: &Subject<'_>, pattern: &Regex) -> Verdict {
    let id = subject.artifact_id;
    if !pattern.is_match(id) {
        return Verdict::fail(format!("`{}` does not have the form `{pattern}`", shown(id)));
    }
    match metadata::find_id(subject.catalogue, &subject.document) {
        Ok(Some(found)) if found == id && subject.given_by.is_some() => {
            let (id, owner) = (id.to_owned(), subject.given_by.unwrap_or_default().to_owned());
            Verdict::fail(ApprovalError::GivenToOther { id, owner }.to_string())
        }
        Ok(Some(found)) if found == id => Verdict::pass(format!("`{id}` has the form of its type")),
        Ok(Some(found)) => Verdict::fail(format!("the document says it is `{}`, not `{id}`", shown(&found))),
        Ok(None) => Verdict::fail(format!("the metadata has no line with the id, such as `**ID:** {id}`")),
        Err(error) => Verdict::fail(error.to_string()),
    }
}

fn check_field(subject: &Subject<'_>, rule: &Rule, pattern: &Regex, label: &str) -> Verdict {
    let Some(field) = subject.document.field(label) else {
        return Verdict::fail(format!("the metadata has no line `**{label}:**`"));
    };
    let is_status = label.eq_ignore_ascii_case("Status");
    // A status is stored as the ladder writes it, however the document does.
    let status = metadata::status_of(subject.kind, field.value).filter(|_| is_status);
    if pattern.is_match(field.value) || status.is_some_and(|status| pattern.is_match(status)) {
        let problems = if is_status { unstorable(subject) } else { Vec::new() };
        return Verdict::of(&problems, || format!("{label} is '{}'", shown(field.value)));
    }
    let description = rule.criterion.description.trim_end_matches('.');
    Verdict::fail(format!("line {}: {label} is '{}'; expected: {description}", field.line, shown(field.value)))
}

/// What of status, version and title no document is stored with: the pattern may be content with the first of two
/// statuses, and no criterion of its own asks for the others.
fn unstorable(subject: &Subject<'_>) -> Vec<String> {
    let (kind, document) = (subject.kind, &subject.document);
    let errors = [
        metadata::find_status(kind, document).err(),
        metadata::version(document).err(),
        metadata::find_title(document, kind).err(),
    ];
    let told = |error: MetadataError| match error {
        MetadataError::Missing { field, expected } => format!("`{field}`: expected {expected}"),
        MetadataError::Wrong { .. } | MetadataError::Traversal { .. } | MetadataError::Contradiction { .. } => {
            error.to_string()
        }
    };
    errors.into_iter().flatten().map(told).collect()
}

/// A number is defined where it begins a line, a list item, a table row or a heading; elsewhere it is only referred to.
fn check_unique(subject: &Subject<'_>, rule: &Rule, pattern: &Regex) -> Verdict {
    let mut defined: BTreeMap<&str, usize> = BTreeMap::new();
    let mut problems = Vec::new();
    let is_shown = |line: &&Line<'_>| !line.is_code && !line.is_hidden;
    for line in subject.document.lines().iter().filter(is_shown) {
        let Some(found) = pattern.find(line.text) else { continue };
        if !is_definition(line.text, found.start()) {
            continue;
        }
        match defined.get(found.as_str()) {
            Some(first) => {
                problems.push(format!("line {}: `{}` is already defined in line {first}", line.number, found.as_str()));
            }
            None => {
                defined.insert(found.as_str(), line.number);
            }
        }
    }
    problems.extend(find_unnumbered(subject, rule, pattern));
    let least = rule.criterion.min_matches.unwrap_or(0);
    if u32::try_from(defined.len()).is_ok_and(|n| n < least) {
        problems.push(format!("found {}, expected at least {least} of the form `{pattern}`", defined.len()));
    }
    Verdict::of(&problems, || format!("{} are defined, each once", defined.len()))
}

/// Whether a number begins what the text says.
fn is_definition(text: &str, start: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    before.chars().all(|c| c.is_whitespace() || c.is_ascii_digit() || "-*+|#>_`.)[".contains(c))
}

/// The entries without a number below the headings where each has one. What stands below a heading with a number belongs
/// to that.
fn find_unnumbered(subject: &Subject<'_>, rule: &Rule, pattern: &Regex) -> Vec<String> {
    let Some(wanted) = &rule.heading_pattern else { return Vec::new() };
    let headings = subject.document.headings();
    let mut problems = Vec::new();
    for section in subject.document.sections().filter(|section| wanted.is_match(section.heading.title)) {
        for entry in parts::listed(&section) {
            let n_before = headings.partition_point(|it| it.line < entry.line);
            let nearest = n_before.checked_sub(1).and_then(|index| headings.get(index));
            let has_number = pattern.find(&entry.text).is_some_and(|found| is_definition(&entry.text, found.start()));
            if !has_number && !nearest.is_some_and(|it| pattern.is_match(it.title)) {
                problems.push(format!("line {}: it has no number of the form `{pattern}`", entry.line));
            }
        }
    }
    problems
}
