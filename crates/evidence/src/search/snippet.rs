//! The part of a text that shows best why it was found.

use std::collections::BTreeSet;

use icu_segmenter::GraphemeClusterSegmenter;
use icu_segmenter::WordSegmenter;
use icu_segmenter::options::WordBreakInvariantOptions;

use super::words::{Word, word_analyzer, words};

/// Texts beyond this are looked at up to here.
const TEXT_BYTES_MAX: usize = 200_000;

/// A cut of a text with the places of what was searched for, counted in characters of the cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    pub text: String,
    pub matches: Vec<(usize, usize)>,
}

impl Snippet {
    /// The window of at most `n_chars_max` characters with the most different terms in it; the first of equal ones.
    /// Begins and ends where a word does, and never within a letter and its marks.
    pub fn cut(text: &str, terms: &BTreeSet<String>, n_chars_max: usize) -> Snippet {
        let text = text.get(..floor(text, TEXT_BYTES_MAX)).unwrap_or_default();
        let clusters: BTreeSet<usize> = GraphemeClusterSegmenter::new().segment_str(text).collect();
        // Where no dictionary knows the letters, a word may end between a letter and its marks: nobody can read such a piece.
        let is_whole = |word: &Word| clusters.contains(&word.start) && clusters.contains(&word.end);
        let found =
            words(&mut word_analyzer(), text).into_iter().filter(|word| terms.contains(&word.term) && is_whole(word));
        let found: Vec<Word> = found.collect();
        let breaks = breaks(text, &clusters);
        let start = best_start(text, &found, n_chars_max);
        // A little before the first match, so that it can be read.
        let lead = before(text, start, n_chars_max / 8);
        let begins_word =
            |place: &&usize| text.get(**place..).is_some_and(|rest| rest.starts_with(char::is_alphanumeric));
        let start = breaks.range(lead..=start).find(begins_word).copied().unwrap_or(start);
        let end_max = after(text, start, n_chars_max);
        let fits = |places: &BTreeSet<usize>| places.range(..=end_max).next_back().copied().filter(|end| *end > start);
        // A word that is longer than the window is cut between its letters.
        let end = fits(&breaks).or_else(|| fits(&clusters)).unwrap_or(start);
        let cut = text.get(start..end).unwrap_or_default();
        let trimmed = cut.trim_start();
        let start = start + (cut.len() - trimmed.len());
        let trimmed = trimmed.trim_end();
        let place = |byte: usize| text.get(start..byte).map_or(0, |before| before.chars().count());
        let within = found.iter().filter(|word| word.start >= start && word.end <= start + trimmed.len());
        let matches = within.map(|word| (place(word.start), place(word.end))).collect();
        Snippet { text: trimmed.to_owned(), matches }
    }
}

/// Where a text may be cut: borders of words that are borders of clusters too.
fn breaks(text: &str, clusters: &BTreeSet<usize>) -> BTreeSet<usize> {
    let segmenter = WordSegmenter::new_dictionary(WordBreakInvariantOptions::default());
    segmenter.segment_str(text).filter(|place| clusters.contains(place)).collect()
}

/// Where the window with the most different terms begins.
fn best_start(text: &str, found: &[Word], n_chars_max: usize) -> usize {
    let mut best = (0, 0);
    for (at, first) in found.iter().enumerate() {
        let end = after(text, first.start, n_chars_max * 7 / 8);
        let window = found.iter().skip(at).take_while(|word| word.end <= end);
        let n_terms = window.map(|word| &word.term).collect::<BTreeSet<_>>().len();
        if n_terms > best.0 {
            best = (n_terms, first.start);
        }
    }
    best.1
}

fn after(text: &str, start: usize, n_chars: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    rest.char_indices().nth(n_chars).map_or(text.len(), |(place, _)| start + place)
}

fn before(text: &str, end: usize, n_chars: usize) -> usize {
    let start = text.get(..end).unwrap_or_default();
    start.char_indices().rev().nth(n_chars).map_or(0, |(place, _)| place)
}

fn floor(text: &str, bytes_max: usize) -> usize {
    (0..=bytes_max.min(text.len())).rev().find(|place| text.is_char_boundary(*place)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, terms: &[&str], n_chars_max: usize, expected: &str) {
        let terms = terms.iter().map(|term| (*term).to_owned()).collect();
        let snippet = Snippet::cut(text, &terms, n_chars_max);
        assert!(snippet.text.chars().count() <= n_chars_max);
        let mut shown = String::new();
        for (at, letter) in snippet.text.chars().enumerate() {
            if snippet.matches.iter().any(|(start, _)| *start == at) {
                shown.push('[');
            }
            shown.push(letter);
            if snippet.matches.iter().any(|(_, end)| *end == at + 1) {
                shown.push(']');
            }
        }
        assert_eq!(shown, expected);
    }

    #[test]
    fn matches_are_shown_in_their_sentence() {
        check(
            "Ginger may raise the effect of warfarin.",
            &["ginger", "warfarin"],
            100,
            "[Ginger] may raise the effect of [warfarin].",
        );
    }

    #[test]
    fn the_window_holds_the_most_terms() {
        let text = "Ginger is a root. It is grown in many places of the world. Ginger with warfarin may bleed.";
        check(text, &["ginger", "warfarin"], 40, "[Ginger] with [warfarin] may bleed.");
    }

    #[test]
    fn thai_is_cut_between_words() {
        check("ขมิ้นชันรักษาอาการท้องอืด", &["รักษา"], 12, "[รักษา]อาการ");
        check("น้ำใจ", &[], 2, "");
    }

    #[test]
    fn no_match_begins_or_ends_between_a_letter_and_its_marks() {
        check("5 mg\u{e34} แล้ว 5 mg", &["mg"], 100, "5 mg\u{e34} แล้ว 5 [mg]");
        check("ลา\u{e38}\u{301}นา", &["ลา"], 100, "ลา\u{e38}\u{301}นา");
    }

    #[test]
    fn nothing_to_show_is_the_beginning() {
        check("One two three four", &["absent"], 8, "One two");
        check("", &["absent"], 8, "");
    }
}
