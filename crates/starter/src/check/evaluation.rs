//! Questions: the passages are there, and no question repeats the words of its passage.

use std::collections::BTreeSet;

use super::Desk;
use super::index::Index;
use super::things::check_text;
use crate::parse::Set;
use crate::rows::{Passage, QuestionKind};

/// A run of so many words in common is too much.
const WORDS_MAX: usize = 5;
/// Thai has no spaces between words.
const THAI_CHARS_MAX: usize = 20;
/// What an answer needs.
const PASSAGES_MIN: usize = 3;
const SOURCES_MIN: usize = 2;

pub fn check(set: &Set, index: &Index<'_>, desk: &mut Desk) {
    for question in &set.questions {
        let (place, row) = (&question.place, &question.row);
        let id = row.id.as_str();
        check_text(desk, place, &format!("{id} question"), &row.question);
        if row.answerable == (row.kind == QuestionKind::Unanswerable) {
            desk.note(place, format!("{id} kind"), "another one", "`unanswerable` where it is, and only there");
        }
        if !row.answerable && !row.passages.is_empty() {
            desk.note(place, format!("{id} passages"), "some", "none: it cannot be answered");
        }
        let sources: BTreeSet<&str> = row.passages.iter().map(|passage| source(&passage.document)).collect();
        if row.answerable && (row.passages.len() < PASSAGES_MIN || sources.len() < SOURCES_MIN) {
            let found = format!("{} passages of {} sources", row.passages.len(), sources.len());
            desk.note(place, format!("{id} passages"), found, format!("{PASSAGES_MIN} of {SOURCES_MIN}"));
        }
        for (number, passage) in row.passages.iter().enumerate() {
            let at = format!("{id} passages/{number}");
            let Some(texts) = texts(index, passage) else {
                let section = passage.section.as_deref().map(|it| format!(" {it}")).unwrap_or_default();
                let found = format!("`{}{section}`, which is not there", passage.document);
                desk.note(place, at, found, "a section of a monograph, or a paper");
                continue;
            };
            if let Some(run) = texts.iter().find_map(|text| shared_run(&row.question, text)) {
                desk.note(place, at, format!("`{run}` in question and passage"), "a question in other words");
            }
        }
        if row.passages.iter().enumerate().any(|(at, passage)| row.passages.iter().skip(at + 1).any(|it| it == passage))
        {
            desk.note(place, format!("{id} passages"), "a passage twice", "each once");
        }
    }
}

/// The language versions of one monograph are one source.
fn source(document: &str) -> &str {
    match document.strip_prefix("monograph:").and_then(|rest| rest.split_once(':')) {
        Some((id, _)) => id,
        None => document,
    }
}

fn texts<'a>(index: &Index<'a>, passage: &Passage) -> Option<Vec<&'a str>> {
    let Some(rest) = passage.document.strip_prefix("monograph:") else {
        let paper = *index.papers.get(passage.document.as_str()).filter(|_| passage.section.is_none())?;
        let summary = paper.summary.iter().flat_map(|summary| [summary.en.as_str(), summary.th.as_str()]);
        return Some(std::iter::once(paper.title.as_str()).chain(summary).collect());
    };
    let (id, lang) = rest.split_once(':')?;
    let monograph = *index.monographs.get(id)?;
    let sections = match lang {
        "en" => &monograph.en,
        "th" => &monograph.th,
        _ => return None,
    };
    match &passage.section {
        Some(section) => Some(vec![sections.find(section)?]),
        None => Some(sections.all().map(|(_, text)| text).to_vec()),
    }
}

/// The first run of words, or of Thai characters, that both texts have.
pub fn shared_run(question: &str, passage: &str) -> Option<String> {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric());
        words.filter(|word| !word.is_empty() && word.is_ascii()).map(str::to_lowercase).collect()
    };
    let passage_words = words(passage);
    let runs: BTreeSet<&[String]> = passage_words.windows(WORDS_MAX).collect();
    let question_words = words(question);
    if let Some(run) = question_words.windows(WORDS_MAX).find(|run| runs.contains(run)) {
        return Some(run.join(" "));
    }
    let thai = |text: &str| -> Vec<char> { text.chars().filter(|c| ('\u{0e00}'..='\u{0e7f}').contains(c)).collect() };
    let passage_thai = thai(passage);
    let runs: BTreeSet<&[char]> = passage_thai.windows(THAI_CHARS_MAX).collect();
    let question_thai = thai(question);
    question_thai.windows(THAI_CHARS_MAX).find(|run| runs.contains(run)).map(|run| run.iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, passage: &str, expected: Option<&str>) {
        assert_eq!(shared_run(question, passage).as_deref(), expected);
    }

    #[test]
    fn five_words_or_twenty_thai_characters_in_common_are_too_many() {
        check("May it be taken with blood thinners?", "It may be taken with food.", None);
        check(
            "Can ginger be taken with blood thinners",
            "GINGER be taken, with blood.",
            Some("ginger be taken with blood"),
        );
        check("ใช้ขิงกับยาละลายลิ่มเลือดได้ไหม", "ควรเลี่ยงการใช้ขิงกับยาละลายลิ่มเลือด", Some("ใช้ขิงกับยาละลายลิ่ม"));
        check("ใช้ขิงได้ไหม", "ควรเลี่ยงการใช้ขิง", None);
    }
}
