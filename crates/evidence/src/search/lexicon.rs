//! Thai and English words for each other, from dictionaries that users pulled into the data folder.
//!
//! No model translates. Every Thai unit of a question brings all its translations as one set of synonyms, and its first
//! two as a gloss that an English model can read; names are matched by their sound.

pub mod convert;
pub mod files;
pub mod sound;

use std::collections::{BTreeSet, HashMap, HashSet};

use super::words::{WordTokenizer, has_thai};
use sound::SoundTable;

/// Segments that may be joined to one entry of a dictionary.
const JOINED_MAX: usize = 4;
/// Segments that may make up one name.
const NAME_SEGMENTS_MAX: usize = 5;
/// Translations of one unit that count, and words that each may have.
const TRANSLATIONS_MAX: usize = 6;
const TRANSLATION_WORDS_MAX: usize = 3;
const GLOSSES: usize = 2;

/// Dictionaries in one table, in the order in which they were added.
#[derive(Debug, Default)]
pub struct Lexicon {
    to_english: HashMap<String, Vec<String>>,
    to_thai: HashMap<String, Vec<String>>,
    thai_stop_words: HashSet<String>,
}

/// What a question means in the other language.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Translation {
    /// One set per unit; each member is a phrase of one to three words.
    pub sets: Vec<Vec<String>>,
    /// First meanings in the order of the question; empty where there are none.
    pub gloss: String,
}

impl Lexicon {
    pub fn is_empty(&self) -> bool {
        self.to_english.is_empty()
    }

    /// Adds a pair. Earlier translations of the same word come first.
    pub fn add(&mut self, thai: &str, english: &str) {
        let (thai, english) = (thai.trim().to_owned(), english.trim().to_lowercase());
        if !has_thai(&thai) || english.is_empty() || has_thai(&english) {
            return;
        }
        let translations = self.to_english.entry(thai.clone()).or_default();
        if !translations.contains(&english) {
            translations.push(english.clone());
            self.to_thai.entry(english).or_default().push(thai);
        }
    }

    pub fn add_thai_stop_word(&mut self, word: &str) {
        self.thai_stop_words.insert(word.trim().to_owned());
    }

    /// Whether it is one of the Thai words that say nothing alone.
    pub fn is_stop_word(&self, word: &str) -> bool {
        self.thai_stop_words.contains(word)
    }

    /// Thai to English. `names` are the capitalised words of the index by their sound.
    pub fn to_english(&self, question: &str, names: &SoundTable) -> Translation {
        let segments = Segment::cut(question);
        let mut translation = Translation::default();
        let mut gloss = Vec::new();
        let mut unknown = vec![false; segments.len()];
        let mut at = 0;
        while let Some(segment) = segments.get(at) {
            if !segment.is_thai {
                // A Latin word in a Thai question is searched as it stands; here it only helps the gloss.
                gloss.push(segment.text(question).to_owned());
                at += 1;
                continue;
            }
            let joined = self.longest(question, &segments, at);
            let text = segments.get(at + joined - 1).and_then(|last| question.get(segment.start..last.end));
            let text = text.unwrap_or_default();
            let translations = self.to_english.get(text).map(Vec::as_slice).unwrap_or_default();
            let phrases: Vec<&String> = translations
                .iter()
                .filter(|phrase| phrase.split_whitespace().count() <= TRANSLATION_WORDS_MAX)
                .take(TRANSLATIONS_MAX)
                .collect();
            if !self.is_stop_word(text) && !phrases.is_empty() {
                gloss.extend(phrases.iter().take(GLOSSES).map(|phrase| (*phrase).clone()));
                translation.sets.push(phrases.into_iter().cloned().collect());
            }
            if let Some(place) = unknown.get_mut(at) {
                *place = joined == 1 && translations.is_empty() && !self.is_stop_word(text);
            }
            at += joined;
        }
        for name in self.names(question, &segments, &unknown, names) {
            gloss.extend(name.iter().take(1).cloned());
            translation.sets.push(name);
        }
        translation.gloss = gloss.join(" ");
        translation
    }

    /// How many segments from here on make the longest entry of the dictionaries; one where there is none.
    fn longest(&self, question: &str, segments: &[Segment], at: usize) -> usize {
        let mut joined = 1;
        for (n_joined, text) in runs(question, segments, at, JOINED_MAX) {
            if self.to_english.contains_key(text) {
                joined = n_joined;
            }
        }
        joined
    }

    /// Names of the index that sound like a run of segments; one set per run.
    fn names(&self, question: &str, segments: &[Segment], unknown: &[bool], names: &SoundTable) -> Vec<Vec<String>> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        for at in 0..segments.len() {
            for (n_joined, text) in runs(question, segments, at, NAME_SEGMENTS_MAX) {
                // Known words are words, and together they sound like any name; only a run with something in it that
                // no dictionary has is likely to be one.
                if !unknown.iter().skip(at).take(n_joined).any(|unknown| *unknown) {
                    continue;
                }
                let like: Vec<String> = names.find(&sound::thai_key(text)).into_iter().map(str::to_owned).collect();
                if !like.is_empty() && seen.insert(like.clone()) {
                    found.push(like);
                }
            }
        }
        found
    }

    /// English to Thai: each word, or the longest run of words that an entry has.
    pub fn to_thai(&self, question: &str) -> Translation {
        let lower = question.to_lowercase();
        let words: Vec<&str> = lower.split(|letter: char| !letter.is_alphanumeric() && letter != '-').collect();
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty() && !has_thai(word)).collect();
        let mut translation = Translation::default();
        let mut at = 0;
        while at < words.len() {
            let longest = (1..=TRANSLATION_WORDS_MAX).rev().find_map(|n_joined| {
                let phrase = words.get(at..at + n_joined)?.join(" ");
                Some((n_joined, self.to_thai.get(&phrase).or_else(|| self.to_thai.get(singular(&phrase)?))?))
            });
            let Some((n_joined, thai)) = longest else {
                at += 1;
                continue;
            };
            let set: Vec<String> =
                thai.iter().filter(|word| !self.is_stop_word(word)).take(TRANSLATIONS_MAX).cloned().collect();
            let is_stop_word = n_joined == 1 && words.get(at).is_some_and(|word| is_english_stop_word(word));
            if !set.is_empty() && !is_stop_word {
                translation.sets.push(set);
            }
            at += n_joined;
        }
        translation
    }
}

fn singular(word: &str) -> Option<&str> {
    word.strip_suffix('s').filter(|rest| rest.len() > 2)
}

/// Words of English that say nothing alone. Only these are kept out of translations; a search in English keeps all.
pub fn is_english_stop_word(word: &str) -> bool {
    const STOP_WORDS: [&str; 84] = [
        "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "by", "can", "could",
        "did", "do", "does", "for", "from", "had", "has", "have", "he", "her", "him", "his", "how", "i", "if", "in",
        "into", "is", "it", "its", "may", "me", "might", "must", "my", "no", "not", "of", "on", "one", "or", "other",
        "our", "shall", "she", "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there",
        "these", "they", "this", "to", "too", "us", "very", "was", "we", "were", "what", "when", "where", "which",
        "while", "who", "why", "will", "with", "would", "you", "your",
    ];
    STOP_WORDS.binary_search(&word).is_ok()
}

struct Segment {
    start: usize,
    end: usize,
    is_thai: bool,
}

impl Segment {
    fn cut(text: &str) -> Vec<Segment> {
        let ranges = WordTokenizer::default().ranges(text).into_iter();
        ranges.map(|(start, end)| Segment { start, end, is_thai: text.get(start..end).is_some_and(has_thai) }).collect()
    }

    fn text<'a>(&self, question: &'a str) -> &'a str {
        question.get(self.start..self.end).unwrap_or_default()
    }
}

/// Runs of Thai segments without a gap that begin here, with how many each has.
fn runs<'a>(
    question: &'a str,
    segments: &'a [Segment],
    at: usize,
    n_max: usize,
) -> impl Iterator<Item = (usize, &'a str)> {
    let from = segments.get(at..).unwrap_or_default();
    let start = from.first().map_or(0, |first| first.start);
    let mut end = start;
    from.iter().take(n_max).enumerate().map_while(move |(n_before, segment)| {
        if !segment.is_thai || segment.start != end {
            return None;
        }
        end = segment.end;
        Some((n_before + 1, question.get(start..end)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lexicon() -> Lexicon {
        let mut lexicon = Lexicon::default();
        for (thai, english) in [
            ("ยา", "medicine"),
            ("ยา", "drug"),
            ("ความดัน", "pressure"),
            ("ความดันโลหิต", "blood pressure"),
            ("ลด", "reduce"),
            ("ที่", "at"),
        ] {
            lexicon.add(thai, english);
        }
        lexicon.add_thai_stop_word("ที่");
        lexicon
    }

    #[test]
    fn the_longest_entry_wins_and_its_translations_are_one_set() {
        let translation = lexicon().to_english("ยาที่ลดความดันโลหิต", &SoundTable::default());
        assert_eq!(translation.sets, [vec!["medicine", "drug"], vec!["reduce"], vec!["blood pressure"]]);
        assert_eq!(translation.gloss, "medicine drug reduce blood pressure");
    }

    #[test]
    fn the_way_back_uses_the_same_entries() {
        let translation = lexicon().to_thai("Drugs for blood pressure");
        assert_eq!(translation.sets, [vec!["ยา"], vec!["ความดันโลหิต"]]);
    }

    #[test]
    fn names_are_found_by_their_sound() {
        let names = SoundTable::new(["panthers", "denver", "survival"].map(str::to_owned));
        let translation = lexicon().to_english("แพนเธอร์ส", &names);
        assert_eq!(translation.sets, [vec!["panthers"]]);
    }

    #[test]
    fn the_english_stop_words_can_be_searched() {
        assert!(is_english_stop_word("a") && is_english_stop_word("with") && !is_english_stop_word("drug"));
    }
}
