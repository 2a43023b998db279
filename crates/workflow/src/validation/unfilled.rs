//! `no_placeholders`: what of the template is still there.
//!
//! Brackets are unfilled unless they are a link, a checkbox, a footnote, a citation or a marker. Ids that are still to
//! be given are allowed in the first status.

use std::sync::LazyLock;

use regex::Regex;

use super::Subject;
use super::markers::{is_marked, words};
use super::report::{Verdict, shown};
use crate::markdown::as_shown;
use crate::placeholders::{self, Defined, HOW_WRITTEN, NO_ID, UNSHOWN};

/// Words that stand for something still to be written.
#[expect(clippy::expect_used, reason = "the expression is a constant, and the tests use it")]
static WORDS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(?:TBD|TODO|FIXME|XXX)\b|\{\{[^}\n]*\}\}|(?i:\blorem ipsum\b)").expect("a regex"));

pub fn check(subject: &Subject<'_>) -> Verdict {
    let mut problems = Vec::new();
    for line in subject.document.lines().iter().filter(|line| !line.is_code) {
        let text = line.without_code();
        let mut found = unfilled(subject, &text);
        if found.is_empty() {
            found = as_shown(&text).map(|text| unfilled(subject, &text)).unwrap_or_default();
        }
        problems.extend(found.iter().map(|it| format!("line {}: `{it}` is not filled in", line.number)));
    }
    for token in placeholders::find_template_tokens(subject.catalogue, subject.text) {
        problems.push(format!("line {}: `{}` is a token of the template", token.line, token.text));
    }
    if let Some((word, line)) = placeholders::find_hidden(subject.catalogue, subject.text) {
        problems.push(format!("line {line}: `{}` is written as no placeholder is; {HOW_WRITTEN}", shown(&word)));
    }
    if let Some((word, line)) = placeholders::find_unnumbered(subject.catalogue, subject.kind, subject.text) {
        problems.push(format!("line {line}: `{}` {NO_ID}", shown(&word)));
    }
    if let Some(twice) = placeholders::find_twice(subject.catalogue, subject.kind, subject.text) {
        let placeholders::Twice { token, first_line, second_line } = twice;
        problems.push(format!("lines {first_line} and {second_line}: `{token}` stands for two documents"));
    }
    if let Some(token) = placeholders::find_foreign(subject.catalogue, subject.kind, subject.text) {
        let (line, name) = (token.line, &subject.kind.name);
        problems.push(format!(
            "line {line}: `{}` cannot be given an id: a document of type {name} is not cut into such documents",
            token.text
        ));
    }
    if let Some(token) = placeholders::find_second(subject.catalogue, subject.kind, subject.text) {
        let (line, name) = (token.line, &subject.kind.name);
        problems.push(format!(
            "line {line}: `{}`: a document of type {name} is cut into one document of its own number",
            token.text
        ));
    }
    if let Some(token) = placeholders::find_unshown(subject.catalogue, subject.text) {
        problems.push(format!("line {}: `{}` {UNSHOWN}", token.line, token.text));
    }
    if let Some(Defined { id, line }) = placeholders::find_odd(subject.catalogue, subject.kind, subject.text) {
        problems.push(format!("line {line}: {id} is written otherwise than ids are; write `{id}`"));
    }
    let waiting = placeholders::find(subject.catalogue, subject.text);
    if !subject.is_first_status {
        problems.extend(waiting.iter().map(|it| format!("line {}: `{}` has no final id yet", it.line, it.text)));
    }
    Verdict::of(&problems, || match waiting.len() {
        0 => "Nothing is left unfilled".to_owned(),
        n => format!("Nothing is left unfilled; {n} ids will be given at approval"),
    })
}

/// The brackets and then the words of a line that are not filled in.
fn unfilled(subject: &Subject<'_>, text: &str) -> Vec<String> {
    let brackets = unfilled_brackets(text).into_iter().filter(|inner| !is_marker(subject, inner));
    let words = WORDS.find_iter(text).filter(|found| !is_part_of_id(text, found.start()));
    let brackets = brackets.map(|inner| format!("[{}]", shown(inner)));
    brackets.chain(words.map(|found| shown(found.as_str()))).collect()
}

/// `XXX` of `US-XXX` is reported as the token it is.
fn is_part_of_id(text: &str, start: usize) -> bool {
    text.get(..start).is_some_and(|before| before.ends_with('-'))
}

fn is_marker(subject: &Subject<'_>, inner: &str) -> bool {
    let words = words(inner);
    subject.catalogue.markers().iter().any(|marker| is_marked(&words, &marker.marker))
}

fn unfilled_brackets(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    let mut before = None;
    while let Some((head, tail)) = rest.split_once('[') {
        before = head.chars().next_back().or(before.filter(|_| head.is_empty()));
        let Some((inner, after)) = tail.split_once(']') else { break };
        // Of nested brackets the inner pair counts.
        let inner = inner.rsplit('[').next().unwrap_or(inner);
        let is_link = after.starts_with(['(', '[', ':']) || before == Some(']') || before == Some('!');
        if !is_link && is_instruction(inner) {
            found.push(inner);
        }
        before = Some(']');
        rest = after;
    }
    found
}

/// `[Title]` and `[What it does]`, but not `[ ]`, `[x]`, `[1]`, `[^note]`, `[PMID:123]` or `[a-z]`.
fn is_instruction(inner: &str) -> bool {
    let is_citation = || {
        let (word, rest) = inner.split_at(inner.find([':', ' ', '-']).unwrap_or(inner.len()));
        let is_label = word.len() >= 2 && word.bytes().all(|byte| byte.is_ascii_uppercase());
        is_label
            && rest
                .trim_start_matches([':', ' ', '-'])
                .starts_with(|c: char| c.is_ascii_alphanumeric() && !c.is_lowercase())
            && rest.contains(|c: char| c.is_ascii_digit())
    };
    let n_letters = inner.chars().filter(|c| c.is_alphabetic()).count();
    n_letters >= 2 && inner.starts_with(char::is_alphabetic) && !is_citation()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_of_the_template_are_found_and_others_are_not() {
        for (line, expected) in [
            ("As a [persona], I want [capability].", vec!["persona", "capability"]),
            ("- [ ] open, [x] done, [1], [^note]", vec![]),
            ("[text](url), ![alt](url), [text][ref], [ref]: url", vec![]),
            ("cited [PMID:123], [PMID 123], [DOI:10.1/x2], [REF-12]", vec![]),
            ("| [Goal] | [Value today] |", vec!["Goal", "Value today"]),
            ("unclosed [bracket", vec![]),
            ("[[Title]]", vec!["Title"]),
        ] {
            assert_eq!(unfilled_brackets(line), expected, "{line}");
        }
    }
}
