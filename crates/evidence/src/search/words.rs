//! How text becomes words: one spelling, ICU's dictionary segmentation, which knows where Thai words end, lower case, English
//! stems.
//!
//! One analysis serves both languages, since neither step touches the other's letters. The dictionary constructor is
//! chosen by name: ICU's own choice would be a neural one that is slower and finds less.

use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};
use tantivy::tokenizer::{
    Language, LowerCaser, RemoveLongFilter, Stemmer, TextAnalyzer, Token, TokenStream, Tokenizer,
};

use super::spelling::Spelt;

/// Longer ones are data, not words.
const WORD_BYTES_MAX: usize = 120;
const GRAM_CHARS: usize = 3;

/// Cuts text into the segments of ICU and keeps those with a letter or a digit in them.
#[derive(Clone)]
pub struct WordTokenizer {
    segmenter: WordSegmenterBorrowed<'static>,
}

impl Default for WordTokenizer {
    fn default() -> WordTokenizer {
        WordTokenizer { segmenter: WordSegmenter::new_dictionary(WordBreakInvariantOptions::default()) }
    }
}

impl WordTokenizer {
    /// Byte ranges of the words of a text.
    pub fn ranges(&self, text: &str) -> Vec<(usize, usize)> {
        let mut ranges = Vec::new();
        let mut start = 0;
        for end in self.segmenter.segment_str(text) {
            if text.get(start..end).is_some_and(|piece| piece.chars().any(char::is_alphanumeric)) {
                ranges.push((start, end));
            }
            start = end;
        }
        ranges
    }
}

pub struct Pieces<'a> {
    text: Spelt<'a>,
    /// In that spelling.
    ranges: std::vec::IntoIter<(usize, usize)>,
    token: Token,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = Pieces<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Pieces<'a> {
        let text = Spelt::new(text);
        Pieces { ranges: self.ranges(&text.text).into_iter(), text, token: Token::default() }
    }
}

/// Every run of three letters. Names that no dictionary has are cut wrongly, but the same three letters stay together.
#[derive(Clone, Default)]
pub struct GramTokenizer;

impl Tokenizer for GramTokenizer {
    type TokenStream<'a> = Pieces<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Pieces<'a> {
        let text = Spelt::new(text);
        let mut ranges = Vec::new();
        let letters: Vec<(usize, char)> = text.text.char_indices().collect();
        for window in letters.windows(GRAM_CHARS) {
            if let ([(start, _), .., (last, letter)], true) = (window, window.iter().all(|(_, c)| is_part_of_word(*c)))
            {
                ranges.push((*start, last + letter.len_utf8()));
            }
        }
        Pieces { text, ranges: ranges.into_iter(), token: Token::default() }
    }
}

impl TokenStream for Pieces<'_> {
    fn advance(&mut self) -> bool {
        let Some((start, end)) = self.ranges.next() else { return false };
        self.token.position = self.token.position.wrapping_add(1);
        self.token.offset_from = self.text.place(start);
        self.token.offset_to = self.text.place(end);
        self.token.text.clear();
        self.token.text.push_str(self.text.text.get(start..end).unwrap_or_default());
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

pub fn word_analyzer() -> TextAnalyzer {
    TextAnalyzer::builder(WordTokenizer::default())
        .filter(RemoveLongFilter::limit(WORD_BYTES_MAX))
        .filter(LowerCaser)
        .filter(Stemmer::new(Language::English))
        .build()
}

pub fn gram_analyzer() -> TextAnalyzer {
    TextAnalyzer::builder(GramTokenizer).filter(LowerCaser).build()
}

/// A word of a text, as the index knows it, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub term: String,
    pub start: usize,
    pub end: usize,
}

/// The words of a text, by the analysis of the index.
pub fn words(analyzer: &mut TextAnalyzer, text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    let mut stream = analyzer.token_stream(text);
    while stream.advance() {
        let token = stream.token();
        found.push(Word { term: token.text.clone(), start: token.offset_from, end: token.offset_to });
    }
    found
}

pub fn is_thai(letter: char) -> bool {
    matches!(letter, '\u{0e01}'..='\u{0e5b}')
}

/// Thai vowels and tones above and below a letter belong to its word.
fn is_part_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || is_thai(letter)
}

pub fn has_thai(text: &str) -> bool {
    text.chars().any(is_thai)
}

/// `th` where most letters are Thai, else `en`: what the words of a text need, whatever its source says.
pub fn script_language(text: &str) -> &'static str {
    let (mut n_thai, mut n_other) = (0usize, 0usize);
    for letter in text.chars().filter(|letter| is_part_of_word(*letter)).take(2_000) {
        if is_thai(letter) { n_thai += 1 } else { n_other += 1 }
    }
    if n_thai > n_other { "th" } else { "en" }
}

/// The Thai parts of a text, for the field of three letters.
pub fn thai_parts(text: &str) -> String {
    text.chars().map(|letter| if is_thai(letter) { letter } else { ' ' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = words(&mut word_analyzer(), text).into_iter().map(|word| word.term).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn words_of_both_languages_are_found() {
        check("Anti-inflammatory effects, in 3.5 mg", &["anti", "inflammatori", "effect", "in", "3.5", "mg"]);
        check("ขมิ้นชันรักษาอาการท้องอืด", &["ขมิ้น", "ชัน", "รักษา", "อาการ", "ท้อง", "อืด"]);
        check("ใช้ warfarin ร่วมกับขิง", &["ใช้", "warfarin", "ร่วม", "กับ", "ขิง"]);
        check("— … !", &[]);
        check("ล\u{e4d}\u{e32}ไส้อักเสบ", &["ลำไส้", "อักเสบ"]);
    }

    #[test]
    fn grams_do_not_cross_the_borders_of_words() {
        let mut analyzer = gram_analyzer();
        let found: Vec<String> = words(&mut analyzer, "Ginger ขิง").into_iter().map(|word| word.term).collect();
        assert_eq!(found, ["gin", "ing", "nge", "ger", "ขิง"]);
    }

    #[test]
    fn the_language_is_that_of_most_letters() {
        assert_eq!(script_language("ยา warfarin กับสมุนไพรไทย"), "th");
        assert_eq!(script_language("warfarin and ขิง"), "en");
        assert_eq!(script_language(""), "en");
    }
}
