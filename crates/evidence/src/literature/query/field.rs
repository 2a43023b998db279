//! The fields of PubMed that a term may end with, and what else of its language a term may not hold.

use contract::evidence::record::{Author, Document};

use super::{TRUNCATION, count, is_word, push_words, words};

/// Where a term has to stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Field {
    Title,
    TitleAbstract,
    Author,
    Journal,
    Mesh,
    /// From and to, both included.
    Year(i32, i32),
}

/// What a term holds and where, counted in characters from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{expected}; `{found}` stands at character {at}")]
pub struct Fault {
    pub expected: &'static str,
    pub found: String,
    pub at: usize,
}

const OPERATORS: [&str; 3] = ["AND", "OR", "NOT"];

/// The term without its field, and the field.
pub(super) fn parse(term: &str) -> Result<(String, Option<Field>), Fault> {
    let (text, tag) = cut(term);
    check_operators(text)?;
    check_parentheses(text)?;
    check_truncation(text)?;
    let field = tag.map(|tag| Field::parse(text, tag, term)).transpose()?;
    Ok((text.to_owned(), field))
}

/// `ginger[ti]` is a word and its field; `[6]-gingerol` is a word.
fn cut(term: &str) -> (&str, Option<&str>) {
    let end = term.trim_end();
    match end.rfind('[').map(|at| end.split_at(at)) {
        Some((text, tag)) if tag.ends_with(']') && !text.trim().is_empty() => (text.trim_end(), Some(tag)),
        Some(_) | None => (term, None),
    }
}

fn fault(text: &str, at_byte: usize, found: &str, expected: &'static str) -> Fault {
    let at = text.get(..at_byte).map_or(0, |before| before.chars().count()) + 1;
    Fault { expected, found: found.to_owned(), at }
}

/// Capitals between blanks outside quotation marks: PubMed would join by them, and here they would be words.
fn check_operators(text: &str) -> Result<(), Fault> {
    let mut at_byte = 0;
    for (part_at, part) in text.split('"').enumerate() {
        let mut at = at_byte;
        for word in part.split(' ') {
            let bare = word.trim_matches(['(', ')']);
            if part_at % 2 == 0 && bare.len() < text.trim().len() && OPERATORS.contains(&bare) {
                let expected = "a word or phrase without AND, OR and NOT, which join terms of their own";
                return Err(fault(text, at + word.find(bare).unwrap_or(0), bare, expected));
            }
            at += word.len() + 1;
        }
        at_byte += part.len() + 1;
    }
    Ok(())
}

/// A group that goes over several terms would be read as none.
fn check_parentheses(text: &str) -> Result<(), Fault> {
    let expected = "parentheses that are closed inside the term, as terms join from left to right";
    let mut open = Vec::new();
    for (at, character) in text.char_indices() {
        match character {
            '(' => open.push(at),
            ')' if open.pop().is_none() => return Err(fault(text, at, ")", expected)),
            _ => {}
        }
    }
    open.first().map_or(Ok(()), |at| Err(fault(text, *at, "(", expected)))
}

/// Letters that PubMed wants before the mark of truncation.
const BEGUN_CHARS_MIN: usize = 4;

/// A word that is only begun says enough of itself, and what begins with the mark says nothing. Inside a word it is none:
/// `HLA-B*57:01`.
fn check_truncation(text: &str) -> Result<(), Fault> {
    for (at, mark) in text.match_indices(TRUNCATION) {
        let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + mark.len()..).unwrap_or_default());
        let is_inside = before.chars().next_back().is_some_and(is_word) && after.chars().next().is_some_and(is_word);
        let n_begun = before.chars().rev().take_while(|it| is_word(*it)).count();
        if !is_inside && n_begun < BEGUN_CHARS_MIN {
            let expected = "at least four letters or digits before `*`, which ends a word that is only begun";
            return Err(fault(text, at, mark, expected));
        }
    }
    Ok(())
}

impl Field {
    fn parse(text: &str, tag: &str, term: &str) -> Result<Field, Fault> {
        let name = tag.trim_matches(['[', ']']).trim().to_ascii_lowercase();
        Ok(match name.as_str() {
            "ti" | "title" => Field::Title,
            "tiab" | "title/abstract" | "tw" | "text word" => Field::TitleAbstract,
            "au" | "author" | "1au" => Field::Author,
            "ta" | "journal" | "jour" => Field::Journal,
            "mh" | "mesh" | "mesh terms" => Field::Mesh,
            "dp" | "pdat" | "date - publication" | "publication date" => {
                let (from, to) = text.split_once(':').unwrap_or((text, text));
                // Papers are compared by their year alone: a month would be read as all of its year.
                let year = |text: &str| {
                    let text = text.trim().trim_matches('"').trim();
                    text.parse::<i32>().ok().filter(|_| text.len() == 4 && text.bytes().all(|it| it.is_ascii_digit()))
                };
                let expected = "a year or two (`2010:2015`) without month and day before `[dp]`";
                let (from, to) = year(from).zip(year(to)).ok_or_else(|| fault(text, 0, text, expected))?;
                Field::Year(from, to)
            }
            _ => {
                let expected = "one of the fields [ti], [tiab], [au], [ta], [mh], [dp]";
                return Err(fault(term, term.rfind('[').unwrap_or(0), tag, expected));
            }
        })
    }

    /// As PubMed writes it in full.
    pub(super) fn tag(&self) -> &'static str {
        match self {
            Field::Title => "Title",
            Field::TitleAbstract => "Title/Abstract",
            Field::Author => "Author",
            Field::Journal => "Journal",
            Field::Mesh => "MeSH Terms",
            Field::Year(..) => "Date - Publication",
        }
    }

    /// How often the words stand in a field beside title and abstract.
    pub(super) fn count(&self, wanted: &[String], document: &Document) -> u64 {
        let found = match self {
            Field::Title | Field::TitleAbstract => Vec::new(),
            Field::Author => return document.authors.iter().map(|author| count(wanted, &named(author))).sum(),
            Field::Journal => {
                let mut found = document.journal.as_deref().map(words).unwrap_or_default();
                document.attributes.get("journal_abbreviation").into_iter().for_each(|it| push_words(it, &mut found));
                found
            }
            Field::Mesh => {
                let mut found = Vec::new();
                document.attributes.get("mesh").into_iter().for_each(|it| push_words(it, &mut found));
                found
            }
            Field::Year(from, to) => {
                return u64::from(document.year.is_some_and(|year| (*from..=*to).contains(&year)));
            }
        };
        count(wanted, &found)
    }
}

/// Family name, initials, given names: libraries write both.
fn named(author: &Author) -> Vec<String> {
    let parts = [Some(&author.last), author.initials.as_ref(), author.fore.as_ref()];
    parts.into_iter().flatten().flat_map(|part| words(part)).collect()
}
