//! What of an answer fits a model that reads it: the gravest first, whole rows while they fit, and what was left out.

use contract::detail::{LeftOut, tokens};
use contract::error::OpError;
use contract::evidence::contraindications::{Contraindication, FindContraindicationsOutput};
use contract::evidence::graph::{PathNode, QueryKgOutput};
use contract::evidence::record::Strength;
use evidence::contraindications::is_warning;
use serde::Serialize;

/// The rows of an answer have so many tokens at most. With their text and the rest of the answer that is some 4,000.
const ROWS_TOKENS_MAX: usize = 2_300;
/// Of what a brief row says in words.
const EVIDENCE_CHARS_MAX: usize = 120;
/// Members that a brief row of a contraindication does not have.
const WITHOUT: [&str; 5] = ["also", "edge_id", "licence", "references", "same_as"];
/// Stands between what a statement says in English and in Thai.
const BETWEEN_LANGUAGES: &str = " / ";

/// Where the page before ended. Pages of different states of the record do not fit together.
pub fn offset(cursor: Option<&str>, version: i64) -> Result<usize, OpError> {
    let Some(cursor) = cursor else { return Ok(0) };
    let parsed = cursor.split_once('.').and_then(|(at, n)| Some((at.parse::<i64>().ok()?, n.parse::<usize>().ok()?)));
    match parsed {
        Some((at, n)) if at == version => Ok(n),
        Some(_) => {
            Err(OpError::invalid("cursor", "one of the record as it is now: it changed since; ask again without"))
        }
        None => Err(OpError::invalid("cursor", "the `next_cursor` of a brief answer")),
    }
}

fn cursor(version: i64, n: usize) -> String {
    format!("{version}.{n}")
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
pub fn paths(output: &mut QueryKgOutput, offset: usize, version: i64) {
    let rows: Vec<Vec<PathNode<'_>>> = output.paths.iter().map(Iterator::collect).collect();
    let n = rows.len();
    if offset == 0 && fitting(rows.iter(), cost) >= n {
        return;
    }
    let mut places: Vec<usize> = (0..n).collect();
    places.sort_by_key(|place| rows.get(*place).map_or(usize::MAX, |row| urgency(row)));
    let page: Vec<usize> = places.into_iter().skip(offset).collect();
    let n_shown = fitting(page.iter().filter_map(|place| rows.get(*place)), cost).min(page.len());
    let shown: Vec<usize> = page.into_iter().take(n_shown).collect();
    output.paths.keep(&shown);
    let n_after = n.saturating_sub(offset + n_shown);
    if n_after > 0 {
        let how = "send `next_cursor` as `cursor` for the next ones, or `detail`: `full` for all at once";
        output.left_out = Some(LeftOut { rows: n_after, members: Vec::new(), how: how.to_owned() });
        output.next_cursor = Some(cursor(version, offset + n_shown));
    }
}

fn urgency(path: &[PathNode<'_>]) -> usize {
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
pub fn contraindications(output: &mut FindContraindicationsOutput, offset: usize, version: i64) {
    let n = output.results.len();
    if offset == 0 && (n == 0 || fitting(output.results.iter(), cost) >= n) {
        return;
    }
    let mut rows: Vec<Contraindication> = output.results.drain(..).map(brief).collect();
    let n_needed = rows.iter().filter(|row| row.strength != Some(Strength::Low)).count();
    // Stable: the strongest stay first.
    rows.sort_by_key(|row| row.strength == Some(Strength::Low));
    let offset = offset.min(n);
    let page = rows.split_off(offset);
    let n_shown = fitting(page.iter(), cost).max(n_needed.saturating_sub(offset)).min(page.len());
    let n_after = page.len() - n_shown;
    output.results = page.into_iter().take(n_shown).collect();
    let how = if n_after > 0 {
        "results of low strength are left out: send `next_cursor` as `cursor` for them, or `detail`: `full` for everything"
    } else {
        "send `detail`: `full` for these members and for the whole of `evidence`"
    };
    let members = WITHOUT.iter().map(|name| (*name).to_owned()).collect();
    output.left_out = Some(LeftOut { rows: n_after, members, how: how.to_owned() });
    output.next_cursor = (n_after > 0).then(|| cursor(version, offset + n_shown));
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
    fn a_cursor_counts_for_the_record_it_was_made_of() {
        assert_eq!(offset(None, 7).unwrap(), 0);
        assert_eq!(offset(Some(&cursor(7, 12)), 7).unwrap(), 12);
        for wrong in ["", "7", "7.x", "8.12", "seven.12"] {
            assert!(offset(Some(wrong), 7).is_err(), "{wrong}");
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
