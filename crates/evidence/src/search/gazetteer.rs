//! Names of nodes, found in texts in one pass, whatever their language or script.

use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::{AhoCorasick, BuildError, MatchKind};

use super::spelling::Spelt;
use super::words::is_thai;

/// Shorter names stand for too much: `E`, `ขา`. Latin letters say less each than Thai ones.
const LATIN_CHARS_MIN: usize = 4;
const THAI_CHARS_MIN: usize = 3;

/// With one of these after it, and nothing more, the Thai name of a plant is that of another one: กระชายดำ is not กระชาย.
const OTHER_KINDS: [&str; 15] =
    ["ดำ", "แดง", "ขาว", "เหลือง", "เขียว", "ม่วง", "ทอง", "เทศ", "ป่า", "บ้าน", "น้ำ", "อ้อย", "หอม", "คน", "ไม้"];

#[derive(Debug, Default)]
pub struct Gazetteer {
    automaton: Option<AhoCorasick>,
    /// The ids behind each name; one name may belong to several nodes.
    ids: Vec<BTreeSet<String>>,
    /// The shortest name in Latin letters of each node that has one.
    latin: BTreeMap<String, String>,
}

impl Gazetteer {
    /// From pairs of a name and the id of its node.
    pub fn new<'a>(names: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Gazetteer, BuildError> {
        let mut by_name: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut latin: BTreeMap<String, String> = BTreeMap::new();
        for (name, id) in names {
            let name = fold(&Spelt::new(name.trim()).text);
            let n_chars = name.chars().count();
            let n_chars_min = if name.chars().any(is_thai) { THAI_CHARS_MIN } else { LATIN_CHARS_MIN };
            if n_chars >= n_chars_min {
                if !name.chars().any(is_thai) {
                    let shortest = latin.entry(id.to_owned()).or_insert_with(|| name.clone());
                    if (n_chars, &name) < (shortest.chars().count(), shortest) {
                        shortest.clone_from(&name);
                    }
                }
                by_name.entry(name).or_default().insert(id.to_owned());
            }
        }
        if by_name.is_empty() {
            return Ok(Gazetteer::default());
        }
        let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(by_name.keys())?;
        Ok(Gazetteer { automaton: Some(automaton), ids: by_name.into_values().collect(), latin })
    }

    /// The ids of the nodes that a text names, once per occurrence.
    pub fn find(&self, text: &str) -> Vec<&str> {
        self.occurrences(text).into_iter().flat_map(|(_, ids)| ids.iter().map(String::as_str)).collect()
    }

    /// The nodes that the whole text is a name of.
    pub fn named(&self, text: &str) -> BTreeSet<String> {
        match self.occurrences(text).as_slice() {
            [(range, ids)] if *range == (0..text.len()) => (*ids).clone(),
            _ => BTreeSet::new(),
        }
    }

    /// The text with a name in Latin letters in the place of each name that it holds, or with nothing there.
    pub fn without_names(&self, text: &str) -> String {
        let mut rest = String::with_capacity(text.len());
        let mut at = 0;
        for (range, ids) in self.occurrences(text) {
            rest.push_str(text.get(at..range.start).unwrap_or_default());
            let latin = ids.iter().find_map(|id| self.latin.get(id)).map_or("", String::as_str);
            rest.extend([" ", latin, " "]);
            at = range.end;
        }
        rest.push_str(text.get(at..).unwrap_or_default());
        rest
    }

    /// Where in the text which nodes are named. The longest name wins; Latin names must be whole words.
    pub fn occurrences(&self, text: &str) -> Vec<(std::ops::Range<usize>, &BTreeSet<String>)> {
        let Some(automaton) = &self.automaton else { return Vec::new() };
        let spelt = Spelt::new(text);
        let folded = fold(&spelt.text);
        let found = automaton.find_iter(&folded).filter(|found| is_whole(&folded, found.start(), found.end()));
        let found = found.filter_map(|found| Some((found.range(), self.ids.get(found.pattern().as_usize())?)));
        found.map(|(range, ids)| (spelt.place(range.start)..spelt.place(range.end), ids)).collect()
    }
}

/// Small letters, of the same length in bytes, so that places in the folded text are places in the text.
fn fold(text: &str) -> String {
    let small = |letter: char| {
        let mut lower = letter.to_lowercase();
        match (lower.next(), lower.next()) {
            (Some(one), None) if one.len_utf8() == letter.len_utf8() => one,
            _ => letter,
        }
    };
    text.chars().map(small).collect()
}

/// Thai writes words together, so only Latin letters and digits make a border wrong.
fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let continues = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() && !is_thai(letter));
    let before = text.get(..start).and_then(|before| before.chars().next_back());
    let after = text.get(end..).and_then(|after| after.chars().next());
    // A Thai letter's own vowels and tones may follow it: then the name is cut within a syllable.
    let is_cut =
        after.is_some_and(|letter| matches!(letter, '\u{0e31}' | '\u{0e34}'..='\u{0e3a}' | '\u{0e47}'..='\u{0e4e}'));
    let rest = text.get(end..).unwrap_or_default().trim_end();
    !continues(before) && !continues(after) && !is_cut && !OTHER_KINDS.contains(&rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gazetteer() -> Gazetteer {
        let names = [
            ("ฟ้าทะลายโจร", "H1"),
            ("Andrographis paniculata", "H1"),
            ("Andrographis", "G1"),
            ("Ginger", "H2"),
            ("ขิง", "H2"),
            ("E", "X"),
        ];
        Gazetteer::new(names).unwrap()
    }

    #[test]
    fn a_node_is_found_by_its_names_in_any_language() {
        let gazetteer = gazetteer();
        assert_eq!(gazetteer.find("ผลของฟ้าทะลายโจรและขิง"), ["H1", "H2"]);
        assert_eq!(gazetteer.find("น\u{e49}\u{e4d}\u{e32}ขิง"), ["H2"]);
        assert_eq!(gazetteer.find("andrographis PANICULATA, then Andrographis."), ["H1", "G1"]);
    }

    #[test]
    fn another_kind_of_plant_is_another_plant() {
        assert!(gazetteer().find("ขิงแดง").is_empty());
        assert_eq!(gazetteer().find("ขิงแดงกินได้ไหม ขิงแห้ง ขิงคนท้อง"), ["H2", "H2", "H2"]);
    }

    #[test]
    fn a_text_that_is_a_name_and_nothing_else_names_its_node() {
        let named = |text: &str| gazetteer().named(text).into_iter().collect::<Vec<_>>();
        assert_eq!(named("GINGER"), ["H2"]);
        assert_eq!(named("ขิง"), ["H2"]);
        assert!(named("ginger tea").is_empty() && named("ขิงกับฟ้าทะลายโจร").is_empty() && named("").is_empty());
    }

    #[test]
    fn names_give_way_to_latin_ones() {
        assert_eq!(gazetteer().without_names("กินฟ้าทะลายโจรกับขิงได้ไหม"), "กิน andrographis paniculata กับ ginger ได้ไหม");
        assert_eq!(gazetteer().without_names("nothing"), "nothing");
    }

    #[test]
    fn parts_of_words_and_single_letters_are_no_names() {
        let gazetteer = gazetteer();
        assert!(gazetteer.find("gingerbread, vitamin E").is_empty());
        assert!(gazetteer.find("").is_empty());
        assert!(Gazetteer::default().find("Ginger").is_empty());
    }
}
