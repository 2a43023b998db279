//! What of an answer fits a model that reads it: the gravest first, whole rows while they fit, and what was left out.

use std::cmp::Reverse;

use contract::canonical;
use contract::detail::{LeftOut, tokens};
use contract::error::OpError;
use contract::evidence::contraindications::{Contraindication, FindContraindicationsOutput};
use contract::evidence::graph::{PathNode, QueryKgOutput};
use contract::evidence::record::Strength;
use evidence::contraindications::is_warning;
use serde::Serialize;
use serde_json::Value;

/// The rows of an answer have so many tokens at most. With their text and the rest of the answer that is some 4,000.
const ROWS_TOKENS_MAX: usize = 2_300;
/// Tells questions apart, as a cursor names them.
const QUESTION_DIGITS: usize = 12;
/// Of what a brief row says in words.
const EVIDENCE_CHARS_MAX: usize = 120;
/// Stands between what a statement says in English and in Thai.
const BETWEEN_LANGUAGES: &str = " / ";

/// A page of an answer: of which question, asked of which state of the record, and how many rows were on those before it.
pub struct Page {
    question: String,
    version: i64,
    offset: usize,
}

impl Page {
    /// The page that a cursor stands for. One of another question would leave out what nobody has seen, and pages of different
    /// states of the record do not fit together.
    pub fn of<T: Serialize>(question: &T, cursor: Option<&str>, version: i64) -> Result<Page, OpError> {
        let question = digest(question).map_err(OpError::internal)?;
        let Some(cursor) = cursor else { return Ok(Page { question, version, offset: 0 }) };
        let mut parts = cursor.split('.');
        let parsed = (parts.next(), parts.next().and_then(|n| n.parse().ok()), parts.next(), parts.next());
        let (Some(at), Some(offset), Some(of), None) = parsed else {
            return Err(OpError::invalid("cursor", "the `next_cursor` of a brief answer"));
        };
        if of != question {
            return Err(OpError::invalid("cursor", "the `next_cursor` of an answer to this very question"));
        }
        if at != version.to_string() {
            let expected = "one of the record as it is now: it changed since; ask again without";
            return Err(OpError::invalid("cursor", expected));
        }
        Ok(Page { question, version, offset })
    }

    /// There is no page without rows but the first.
    fn check(&self, n_rows: usize) -> Result<(), OpError> {
        if self.offset == 0 || self.offset < n_rows {
            return Ok(());
        }
        Err(OpError::invalid("cursor", "the `next_cursor` of a brief answer: there is nothing after this one"))
    }

    fn next(&self, n_shown: usize) -> String {
        format!("{}.{}.{}", self.version, self.offset + n_shown, self.question)
    }
}

/// The question without what only says how much of the answer is wanted.
fn digest<T: Serialize>(question: &T) -> Result<String, serde_json::Error> {
    let mut question = serde_json::to_value(question)?;
    if let Value::Object(members) = &mut question {
        members.retain(|name, _| !["cursor", "detail", "min_version"].contains(&name.as_str()));
    }
    Ok(canonical::hash_of(&question).chars().take(QUESTION_DIGITS).collect())
}

fn cost<T: Serialize>(row: &T) -> usize {
    serde_json::to_string(row).map_or(0, |text| tokens(&text))
}

/// How many rows fit, at least one.
fn fitting<T>(rows: impl Iterator<Item = T>, cost: impl Fn(&T) -> usize) -> usize {
    let mut left = ROWS_TOKENS_MAX;
    let fit = rows.take_while(|row| {
        let cost = cost(row);
        let fits = cost <= left;
        left = left.saturating_sub(cost);
        fits
    });
    fit.count().max(1)
}

/// Leaves a page of the paths. Where not all fit, what is critical comes first, then what warns, then the rest as it stood.
pub fn paths(output: &mut QueryKgOutput, page: &Page) -> Result<(), OpError> {
    let rows: Vec<Vec<PathNode<'_>>> = output.paths.iter().map(Iterator::collect).collect();
    let (n, offset) = (rows.len(), page.offset);
    page.check(n)?;
    if offset == 0 && fitting(rows.iter(), cost) >= n {
        return Ok(());
    }
    let mut places: Vec<usize> = (0..n).collect();
    places.sort_by_key(|place| rows.get(*place).map(|row| urgency(row)));
    let rest: Vec<usize> = places.into_iter().skip(offset).collect();
    let n_shown = fitting(rest.iter().filter_map(|place| rows.get(*place)), cost).min(rest.len());
    let shown: Vec<usize> = rest.into_iter().take(n_shown).collect();
    output.paths.keep(&shown);
    let n_after = n.saturating_sub(offset + n_shown);
    if n_after > 0 {
        let how = "send `next_cursor` as `cursor` for the next ones, or `detail`: `full` for all within `limit`";
        output.left_out = Some(LeftOut { rows: n_after, how: how.to_owned() });
        output.next_cursor = Some(page.next(n_shown));
    }
    Ok(())
}

/// What is critical, what warns, and the rest; of each the strongest first.
fn urgency(path: &[PathNode<'_>]) -> (usize, Reverse<Option<Strength>>) {
    let strongest = path.iter().filter_map(|node| node.via.as_ref()?.strength).max();
    (kind_of(path), Reverse(strongest))
}

fn kind_of(path: &[PathNode<'_>]) -> usize {
    let mut ways = path.iter().filter_map(|node| node.via.as_ref());
    let is_verified = ways.clone().all(|via| via.verified);
    if ways.clone().any(|via| via.critical) {
        0
    } else if ways.any(|via| is_warning(via.predicate) || via.capped) {
        // Nobody pushes what was verified out of sight, however much they bring.
        if is_verified { 1 } else { 2 }
    } else {
        3
    }
}

/// Leaves what fits of the results: as they are, if all do; else brief ones. Only those of low strength are ever left out.
pub fn contraindications(output: &mut FindContraindicationsOutput, page: &Page) -> Result<(), OpError> {
    let (n, offset) = (output.results.len(), page.offset);
    page.check(n)?;
    if offset == 0 && (n == 0 || fitting(output.results.iter(), cost) >= n) {
        return Ok(());
    }
    let mut rows: Vec<Contraindication> = output.results.drain(..).map(brief).collect();
    let n_needed = rows.iter().filter(|row| row.strength != Some(Strength::Low)).count();
    // Stable: the strongest stay first.
    rows.sort_by_key(|row| row.strength == Some(Strength::Low));
    let rest = rows.split_off(offset.min(n));
    let n_shown = fitting(rest.iter(), cost).max(n_needed.saturating_sub(offset)).min(rest.len());
    let n_after = rest.len() - n_shown;
    output.results = rest.into_iter().take(n_shown).collect();
    let how = if n_after > 0 {
        "results of low strength are left out: send `next_cursor` as `cursor` for them, or `detail`: `full` for everything"
    } else {
        "rows have no `also`, `edge_id`, `licence`, `references` and `same_as`, and the beginning of `evidence`: send `detail`: `full` for them"
    };
    output.left_out = Some(LeftOut { rows: n_after, how: how.to_owned() });
    output.next_cursor = (n_after > 0).then(|| page.next(n_shown));
    Ok(())
}

fn brief(row: Contraindication) -> Contraindication {
    let n_also = Some(row.also.len()).filter(|n| *n > 0);
    Contraindication {
        evidence: shortened(&row.evidence),
        references: Vec::new(),
        n_also,
        also: Vec::new(),
        same_as: None,
        edge_id: String::new(),
        licence: String::new(),
        ..row
    }
}

/// The beginning of what a source says, in the language it begins with.
fn shortened(evidence: &str) -> String {
    let first = evidence.split(BETWEEN_LANGUAGES).next().unwrap_or(evidence);
    if first.chars().nth(EVIDENCE_CHARS_MAX).is_none() {
        return first.to_owned();
    }
    let start: String = first.chars().take(EVIDENCE_CHARS_MAX).collect();
    let whole_words = start.rsplit_once(' ').map_or(start.as_str(), |(words, _)| words);
    format!("{whole_words} …")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_counts_for_its_question_and_the_record_it_was_made_of() {
        let question = |herb: &str, detail: Option<&str>| serde_json::json!({"herb_ids": [herb], "detail": detail});
        let first = Page::of(&question("ginger", None), None, 7).unwrap();
        let cursor = first.next(12);
        let second = Page::of(&question("ginger", Some("brief")), Some(&cursor), 7).unwrap();
        assert_eq!(second.offset, 12);
        assert!(second.check(13).is_ok() && second.check(12).is_err() && first.check(0).is_ok());
        assert!(Page::of(&question("turmeric", None), Some(&cursor), 7).is_err(), "of another question");
        assert!(Page::of(&question("ginger", None), Some(&cursor), 8).is_err(), "of another state of the record");
        for wrong in ["", "7", "7.12", "7.-1.0", "7.99999999999999999999.0", &format!("{cursor}.0"), &cursor[1..]] {
            assert!(Page::of(&question("ginger", None), Some(wrong), 7).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_said_is_cut_between_words_and_languages() {
        assert_eq!(shortened("Not in pregnancy. / ห้ามใช้ในหญิงตั้งครรภ์ (a book)"), "Not in pregnancy.");
        let long = "word ".repeat(40);
        let cut = shortened(&long);
        assert!(cut.ends_with("word …") && cut.chars().count() <= EVIDENCE_CHARS_MAX + 2, "{cut}");
    }
}
