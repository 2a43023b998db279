//! How a name sounds, coarsely enough that Thai and Latin spellings of it meet: its consonants in a few classes.

use std::collections::{BTreeSet, HashMap};

/// Shorter keys fit everything.
const KEY_CHARS_MIN: usize = 3;
/// From this length on one consonant may be missing on either side.
const LOOSE_CHARS_MIN: usize = 5;
/// Names that share a key beyond this many say nothing.
const LIKE_MAX: usize = 6;

/// Stands between consonants while a key is made.
const VOWEL: char = '.';

/// The key of a Thai spelling. A consonant under a cancellation mark is not spoken.
pub fn thai_key(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut key = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let next = letters.get(at + 1).copied();
        // The mark may stand on the letter, or on a vowel between them.
        let is_silent = next == Some('์') || (next.is_some_and(is_vowel_mark) && letters.get(at + 2) == Some(&'์'));
        // ห before a sonorant only changes its tone.
        let is_leading = *letter == 'ห' && next.is_some_and(|next| "งญนมยรลว".contains(next));
        match (thai_class(*letter), is_silent || is_leading) {
            (Some(class), false) => push(&mut key, class),
            (None, _) if !is_tone(*letter) => key.push(VOWEL),
            _ => {}
        }
    }
    key.replace(VOWEL, "")
}

fn is_tone(letter: char) -> bool {
    matches!(letter, '\u{0e47}'..='\u{0e4e}')
}

fn is_vowel_mark(letter: char) -> bool {
    matches!(letter, '\u{0e34}'..='\u{0e39}')
}

fn thai_class(letter: char) -> Option<char> {
    Some(match letter {
        'ก' | 'ข' | 'ฃ' | 'ค' | 'ฅ' | 'ฆ' => 'K',
        'จ' | 'ฉ' | 'ช' | 'ฌ' => 'C',
        'ซ' | 'ศ' | 'ษ' | 'ส' => 'S',
        'ด' | 'ฎ' | 'ต' | 'ฏ' | 'ถ' | 'ท' | 'ธ' | 'ฐ' | 'ฑ' | 'ฒ' => 'T',
        'น' | 'ณ' | 'ง' => 'N',
        'ญ' | 'ย' => 'Y',
        'บ' | 'ป' | 'พ' | 'ผ' | 'ภ' => 'P',
        'ฟ' | 'ฝ' => 'F',
        'ม' => 'M',
        'ร' | 'ล' | 'ฬ' => 'R',
        'ว' => 'W',
        _ => return None,
    })
}

/// Whether an R before a consonant or at the end is spoken. Thai spellings mostly cancel it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coda {
    Spoken,
    Silent,
}

/// The key of a Latin spelling, read roughly as English.
pub fn latin_key(word: &str, coda: Coda) -> String {
    let letters: Vec<char> = word.to_lowercase().chars().collect();
    let mut key = String::new();
    let mut at = 0;
    while let Some(letter) = letters.get(at) {
        let next = letters.get(at + 1).copied().unwrap_or(' ');
        let is_last = at + 1 == letters.len();
        let (classes, n_read) = match (*letter, next) {
            ('p', 'h') => ("F", 2),
            ('t', 'h') => ("T", 2),
            ('c' | 's', 'h') => ("C", 2),
            ('c', 'k') => ("K", 2),
            ('g', 'h') => ("", 2),
            ('n', 'g') => ("N", 2),
            ('k', 'n') | ('w', 'r') if at == 0 => ("", 1),
            ('c', 'e' | 'i' | 'y') => ("S", 1),
            ('t', 'i') if letters.get(at + 2) == Some(&'o') => ("C", 2),
            ('j', _) => ("C", 1),
            ('g', 'e' | 'i') => ("C", 1),
            ('c' | 'k' | 'q' | 'g', _) => ("K", 1),
            ('x', _) => ("KS", 1),
            ('s' | 'z', _) => ("S", 1),
            ('d' | 't', _) => ("T", 1),
            ('n', _) => ("N", 1),
            ('b' | 'p', _) => ("P", 1),
            ('f', _) => ("F", 1),
            ('m', _) => ("M", 1),
            ('r', next) if coda == Coda::Silent && at > 0 && !"aeiouyr".contains(next) => ("", 1),
            ('l' | 'r', _) => ("R", 1),
            ('v', _) => ("W", 1),
            ('w', _) if !is_last => ("W", 1),
            ('y', _) if at == 0 => ("Y", 1),
            _ => ("", 1),
        };
        if "aeiouy".contains(*letter) && classes.is_empty() {
            key.push(VOWEL);
        }
        classes.chars().for_each(|class| push(&mut key, class));
        at += n_read;
    }
    key.replace(VOWEL, "")
}

/// Doubled sounds are one, unless a vowel stands between them.
fn push(key: &mut String, class: char) {
    if !key.ends_with(class) {
        key.push(class);
    }
}

/// Latin names by their keys, and by their keys with one consonant left out.
#[derive(Debug, Default)]
pub struct SoundTable {
    exact: HashMap<String, Vec<String>>,
    loose: HashMap<String, Vec<String>>,
}

impl SoundTable {
    pub fn new(names: impl IntoIterator<Item = String>) -> SoundTable {
        let mut table = SoundTable::default();
        for name in names {
            let keys = BTreeSet::from([latin_key(&name, Coda::Spoken), latin_key(&name, Coda::Silent)]);
            for key in keys.into_iter().filter(|key| key.len() >= KEY_CHARS_MIN) {
                if key.len() >= LOOSE_CHARS_MIN {
                    for shorter in without_one(&key) {
                        table.loose.entry(shorter).or_default().push(name.clone());
                    }
                }
                table.exact.entry(key).or_default().push(name.clone());
            }
        }
        table
    }

    /// Names that sound like it: exactly, else with one consonant more or less.
    pub fn find(&self, key: &str) -> Vec<&str> {
        if key.len() < KEY_CHARS_MIN {
            return Vec::new();
        }
        let mut found: Vec<&str> = listed(&self.exact, key).collect();
        if found.is_empty() {
            // The longer of both keys is at least so long.
            if key.len() + 1 >= LOOSE_CHARS_MIN {
                found.extend(listed(&self.loose, key));
            }
            if key.len() >= LOOSE_CHARS_MIN {
                for shorter in without_one(key) {
                    found.extend(listed(&self.exact, &shorter));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        if found.len() > LIKE_MAX { Vec::new() } else { found }
    }
}

fn listed<'a>(table: &'a HashMap<String, Vec<String>>, key: &str) -> impl Iterator<Item = &'a str> {
    table.get(key).into_iter().flatten().map(String::as_str)
}

fn without_one(key: &str) -> impl Iterator<Item = String> {
    (0..key.len())
        .map(|left_out| key.chars().enumerate().filter(|(at, _)| *at != left_out).map(|(_, class)| class).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_of_a_name_meet() {
        for (thai, latin) in [
            ("แพนเธอร์ส", "Panthers"),
            ("เดนเวอร์", "Denver"),
            ("นิวตัน", "Newton"),
            ("บรองโกส์", "Broncos"),
            ("แมนนิง", "Manning"),
            ("วาร์ฟาริน", "Warfarin"),
            ("เมตฟอร์มิน", "Metformin"),
            ("แอสไพริน", "Aspirin"),
        ] {
            let table = SoundTable::new([latin.to_lowercase()]);
            assert_eq!(
                table.find(&thai_key(thai)),
                [latin.to_lowercase()],
                "{} {}",
                thai_key(thai),
                latin_key(latin, Coda::Silent)
            );
        }
    }

    #[test]
    fn short_keys_find_nothing() {
        assert!(SoundTable::new(["to".to_owned()]).find(&thai_key("ตา")).is_empty());
        assert!(SoundTable::default().find("").is_empty());
    }
}
